"""Meshes made by gmsh."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.mesh.errors import warn
from calderon.mesh.orientation import signed_volumes
from calderon.mesh.shapes.gmsh_session import gmsh_model

EDGE_GROWTH = 0.4
"""How fast edges may grow away from a finer part."""
UNTANGLING = "Netgen"
"""The optimiser that leaves the fewest slivers: see docs/decisions/27-time-domain-sources-and-results.md."""


def only_own_sizes(gmsh: Any) -> None:
    """Leave the lengths of edges to a callback, or to the least and the largest size."""
    for option in ("MeshSizeFromPoints", "MeshSizeFromCurvature", "MeshSizeExtendFromBoundary"):
        gmsh.option.setNumber(f"Mesh.{option}", 0)


def fill(gmsh: Any, size: Callable[[float, float, float], float]) -> None:
    """Mesh the volumes of the model with edges of the length size(x, y, z), and move vertices until few tetrahedra
    are flat."""
    only_own_sizes(gmsh)
    gmsh.model.mesh.setSizeCallback(lambda dim, tag, x, y, z, given: size(x, y, z))
    gmsh.model.mesh.generate(3)
    gmsh.model.mesh.optimize(UNTANGLING)


def mesh_surfaces(gmsh: Any, h: float) -> None:
    """Mesh the surfaces of the model with edges of the mean length h: the size of all is changed until the mean is
    within 3 % of h, up to 1.3 h where short features need short edges (edges reach 1.4 sizes), four times at most.
    MeshWarning for a mean that differs by more than 10 %."""
    only_own_sizes(gmsh)
    means: dict[float, float] = {}
    size = best = h
    while len(means) < 4 and size not in means and abs(means.get(best, 0.0) / h - 1) > 0.03:
        means[size] = mean_edge(gmsh, size)
        best = min(means, key=lambda each: abs(means[each] / h - 1))
        last, size = size, min(size * h / means[size], 1.3 * h)
    if best != last:
        mean_edge(gmsh, best)
    if not h / 1.1 < means[best] < h * 1.1:
        warn(
            f"the mean edge is {means[best] / h:.3g} h: features that are shorter than h need shorter edges, and on "
            "other sides a whole number of edges must fit; a smaller h comes closer to its mean"
        )


def mean_edge(gmsh: Any, size: float) -> float:
    """Mesh the surfaces with edges of that size; their mean."""
    gmsh.option.setNumber("Mesh.MeshSizeMin", size)
    gmsh.option.setNumber("Mesh.MeshSizeMax", size)
    gmsh.model.mesh.generate(2)
    meshed = MeshedModel(gmsh)
    corners = meshed.vertices[meshed.elements(3, -1)]
    return float(np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).mean())


class MeshedModel:
    """Vertices (nv, 3) of a meshed model, and its elements by the numbers of its volumes and surfaces."""

    def __init__(self, gmsh: Any) -> None:
        self._gmsh = gmsh
        number, points, _ = gmsh.model.mesh.getNodes()
        self.vertices: NDArray[np.float64] = points.reshape(-1, 3).copy()
        self._place = np.zeros(int(number.max()) + 1, np.int64)
        self._place[number.astype(np.int64)] = np.arange(len(number))

    def elements(self, corners: int, entity: int) -> NDArray[np.int64]:
        """(n, corners) vertices of the triangles of a surface, or of the tetrahedra of a volume; -1 stands for all."""
        kind = {3: 2, 4: 4}[corners]  # gmsh's numbers of triangles and tetrahedra
        nodes = self._gmsh.model.mesh.getElementsByType(kind, entity)[1]
        return np.asarray(self._place[nodes.astype(np.int64)].reshape(-1, corners))


def concentric_spheres(
    radii: list[float], sizes: list[float]
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Vertices, tetrahedra, layer of each (0 innermost) and outermost faces of concentric spheres."""
    with gmsh_model("concentric spheres") as gmsh:
        balls = [(3, gmsh.model.occ.addSphere(0, 0, 0, radius)) for radius in radii]
        if len(balls) > 1:
            gmsh.model.occ.fragment(balls[:1], balls[1:])
        gmsh.model.occ.synchronize()
        shells = sorted(gmsh.model.getEntities(3), key=lambda each: gmsh.model.getBoundingBox(*each)[3])
        fill(gmsh, lambda x, y, z: _size_by_radius(float(np.sqrt(x * x + y * y + z * z)), radii, sizes))
        meshed = MeshedModel(gmsh)
        groups = [meshed.elements(4, tag) for _, tag in shells]
        outermost = gmsh.model.getBoundary([shells[-1]], oriented=False)
        faces = meshed.elements(3, max(outermost, key=lambda each: gmsh.model.getBoundingBox(*each)[3])[1])
    tags = np.repeat(np.arange(len(groups)), [len(group) for group in groups])
    return meshed.vertices, np.concatenate(groups), tags, faces


def _size_by_radius(r: float, radii: list[float], sizes: list[float]) -> float:
    """Edge length at a distance from the centre: the finer of both sides at an interface."""
    near = [s for (low, high), s in zip(zip([0.0, *radii[:-1]], radii, strict=True), sizes, strict=True)
            if low * (1 - 1e-6) <= r <= high * (1 + 1e-6)]  # fmt: skip
    if near:
        low = max([0.0, *(each for each in radii if each < r * (1 - 1e-6))])
        fine = sizes[max(0, int(np.searchsorted(radii, low)))] if low else sizes[0]
        return min([*near, fine + EDGE_GROWTH * (r - low)] if low else near)
    return sizes[-1]


def keep_volume(vertices: NDArray[np.float64], inside: NDArray[np.int64], semi_axes: NDArray[np.float64]) -> None:
    """Move the vertices on an ellipsoid about the origin so that the tetrahedra inside have its volume."""
    on = np.abs(np.linalg.norm(vertices / semi_axes, axis=1) - 1) < 1e-6
    for _ in range(3):
        volume = np.abs(signed_volumes(vertices, inside)).sum()
        vertices[on] *= (4 / 3 * np.pi * np.prod(semi_axes) / volume) ** (1 / 3)
