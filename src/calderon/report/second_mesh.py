"""The error of a solution from another one on a second mesh of the same surface: Richardson's rule.

If a quantity q(h) on edges of length h deviates by c h^p from that of the problem, one on edges of length r h tells by
how much,

    |c h^p| = |q(r h) - q(h)| / |r^p - 1|.

p = 2 on closed surfaces, 1 on open ones, at whose edges the solution is singular. Sharp edges of bodies lie between,
and the result is an order of magnitude: on spheres within a factor of two of the true error.
"""

import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from calderon.mesh import AccuracyWarning, MeshWarning, TriangleMesh
from calderon.mesh.errors import OrientationWarning
from calderon.report.stages import Stages
from calderon.solvers import ConvergenceError

P = TypeVar("P")


@dataclass(frozen=True)
class SecondMesh:
    """error: of the quantity, relative; ratio: of the edges of the second mesh to those of the first; at: the frequency
    as a clause, of a sweep."""

    quantity: str
    error: float
    ratio: float
    at: str = ""

    @property
    def meaning(self) -> str:
        return f"error estimate: {self.quantity}, from a mesh with edges {self.ratio:.2g} times as long{self.at}"

    @property
    def entries(self) -> dict[str, float]:
        """The entries of summary.json."""
        name = f"estimated_error_of_{self.quantity.replace(' ', '_')}"
        return {name: self.error, "edges_of_second_mesh_over_edges": self.ratio}


def second_mesh(
    quantity: str, value: NDArray[Any], second: NDArray[Any], mesh: TriangleMesh, other: TriangleMesh
) -> SecondMesh | None:
    """The rule for values on two meshes, of several the root of the mean squares; None for a quantity that is zero."""
    ratio, order = _ratio(other, mesh), 2 if mesh.is_closed else 1
    size = float(np.linalg.norm(value))
    if not size:
        return None
    return SecondMesh(quantity, float(np.linalg.norm(second - value)) / abs(ratio**order - 1) / size, ratio)


def estimated(
    others: Iterator[tuple[TriangleMesh, P]],
    compare: Callable[[TriangleMesh, P], SecondMesh | None],
    stages: Stages,
    announced: Callable[[P], str] = lambda problem: "",
) -> SecondMesh | None:
    """The error by the first of other meshes on which the problem can be posed; None, with a warning, where the problem
    cannot be solved there.

    compare(mesh, problem): solves the problem on that mesh. announced(problem): what is said of it meanwhile.
    """
    with warnings.catch_warnings():
        for kind in (AccuracyWarning, OrientationWarning):
            warnings.simplefilter("ignore", kind)  # a coarser mesh is there to differ
        try:
            for mesh, problem in others:
                with stages.stage("second mesh", announced(problem)):
                    return compare(mesh, problem)
            return None
        except (MemoryError, ConvergenceError) as error:
            reason = str(error)
    warnings.warn(f"the error is not estimated: on the second mesh, {reason}", MeshWarning, stacklevel=2)
    return None


def other_meshes(
    h: float | None,
    mesh: TriangleMesh,
    longer: Callable[[float], tuple[TriangleMesh, P]],
    on: Callable[[TriangleMesh], P],
) -> Iterator[tuple[TriangleMesh, P]]:
    """Meshes that may serve as the second with the problem on them, in the order of preference.

    h: the edge length by which a shape or a CAD model is meshed, with longer edges; None for other surfaces, whose
    triangles are divided, which keeps the surface as it is given. Boxes that select triangles select others on longer
    edges, so such a surface is divided too. longer(h): see `longer_edges`. on(mesh): the problem on a mesh.
    """
    if h is not None:
        yield from longer_edges(h, mesh, longer)
        return
    divided = mesh.divided()
    with suppress(ValueError):
        yield divided, on(divided)


def longer_edges(
    h: float, mesh: TriangleMesh, posed: Callable[[float], tuple[TriangleMesh, P]]
) -> Iterator[tuple[TriangleMesh, P]]:
    """Problems with longer edges than h, and their meshes, whose edges differ from those of `mesh` by enough to tell.

    posed(h): the mesh and the problem of an edge length, which is left out where there is none, as by ValueError. A
    shape has whole numbers of cells, so that a small factor may change nothing and further ones follow.
    """
    for factor in (1.5, 2.0, 3.0):
        with suppress(ValueError):
            other, problem = posed(factor * h)
            if _ratio(other, mesh) > 1.2:
                yield other, problem


def _ratio(second: TriangleMesh, mesh: TriangleMesh) -> float:
    return second.mean_edge_length / mesh.mean_edge_length
