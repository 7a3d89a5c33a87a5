"""Laplace's equation with given boundary values."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal, Unpack

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from calderon.exact import VACUUM_PERMITTIVITY
from calderon.formulations.checks import closed_surface, surface_mesh, warn_thin
from calderon.formulations.laplace.potential_solution import PotentialSolution
from calderon.formulations.linear_system import LinearSystem
from calderon.formulations.mirrors import Mirrored, Mirrors
from calderon.formulations.options import SolveChoices, named_options
from calderon.formulations.preconditioners import space_inverse
from calderon.formulations.problem import Problem
from calderon.formulations.solution_info import SolutionInfo
from calderon.greens import Laplace
from calderon.mesh import TriangleMesh
from calderon.operators import single_layer, transformed
from calderon.potentials import single_layer_potential
from calderon.spaces import Function
from calderon.validation import describe, one_of, positive_length


@dataclass(frozen=True, eq=False)
class LaplaceDirichlet(Mirrored, Problem[PotentialSolution]):
    """The harmonic u with u = g on the surface, by the single-layer potential of a surface charge sigma,

        V sigma = g,      u = (single-layer potential of sigma).

    V is symmetric and positive definite, so sigma is unique. sigma is the jump of du/dn, inside minus outside; on a
    conductor (g constant) it is the charge density over eps0, and `solution.surface.integral()` the charge over eps0.
    side: "exterior" (u tends to 0 at infinity; the surface may be open, such as a plate) or "interior" (closed).
    space: of sigma, "P0", "DP1" or "P1". mirrors: planes in which u is "even" or "odd" (0 in the plane, as above a
    grounded one), {"z": "odd"}; the mesh is then the part on one side of them, where data are given, and solutions and
    charges are those of the whole, `mesh.mirrored("z")`. Data: a number, f(x) or f(x, n) as in `Space.load_vector`.

    W. McLean, Strongly Elliptic Systems and Boundary Integral Equations (2000), theorem 8.12.
    """

    mesh: TriangleMesh
    side: Literal["exterior", "interior"] = "exterior"
    space: Literal["P0", "DP1", "P1"] = "P0"
    mirrors: Mirrors = field(default=None, kw_only=True)

    spaces: ClassVar[tuple[str, ...]] = ("P0", "DP1", "P1")

    def __post_init__(self) -> None:
        one_of(self.side, ("exterior", "interior"), "side")
        surface_mesh(self.mesh)
        self.surface.require_planes("LaplaceDirichlet")
        if self.side == "interior":
            closed_surface(self.surface.whole, "LaplaceDirichlet(side='interior')")
        warn_thin(self.surface.whole, "charges")
        _ = self.system

    @named_options
    def capacitance_matrix(
        self,
        conductors: Sequence[int | str | Iterable[int | str]] | None = None,
        permittivity: float = VACUUM_PERMITTIVITY,
        **options: Unpack[SolveChoices],
    ) -> NDArray[np.float64]:
        """C (n, n) in F: Q_i = sum_j C_ij U_j for the charges Q in C and potentials U in V of n conductors, symmetric,
        negative away from the diagonal. With mirrors each conductor has its images, whose potentials and charges count
        with the sign of the mirror: above a grounded plane C is twice that of the conductors and the plane.

        conductors: their tags (numbers, names, or lists of them), which together have all triangles; by default the
        parts of the surface that do not touch. permittivity: of the medium around, in F/m. Options as in `solve`.
        ValueError for conductors that share triangles or leave some out, and for interior problems.

            C = cal.LaplaceDirichlet(plates).capacitance_matrix(["upper", "lower"])
        """
        if self.side != "exterior":
            raise ValueError("capacitances are those of conductors in free space: side='exterior'")
        permittivity = positive_length(permittivity, "permittivity")
        functions = self.functions
        loads = np.stack([functions.load_vector(1.0, own) for own in self._members(conductors)], axis=1)
        densities, _ = self.system.solve(loads, self._options(options))
        return np.asarray(permittivity * (functions.extended(loads).T @ functions.extended(densities)))

    def _members(self, conductors: Sequence[int | str | Iterable[int | str]] | None) -> NDArray[np.bool_]:
        """(n, triangles) which triangles each conductor has."""
        mesh = self.mesh
        if conductors is None:
            return np.arange(mesh.number_of_components)[:, None] == mesh.components
        if not isinstance(conductors, Sequence) or isinstance(conductors, str | bytes) or not len(conductors):
            raise TypeError(f"conductors are a list with the tags of each, got {describe(conductors)}")
        chosen = [mesh.tag_numbers(tags) for tags in conductors]  # None is refused
        member = np.stack([np.isin(mesh.tags, tags) for tags in chosen])
        if wrong := int(np.count_nonzero(member.sum(axis=0) != 1)):
            raise ValueError(f"{wrong} of {mesh.number_of_triangles} triangles belong to no conductor or to several")
        return np.asarray(member)

    def _build_system(self) -> LinearSystem:
        functions = self.functions
        layer = single_layer(Laplace(), self.function_space, functions.part)
        return LinearSystem("V sigma = g", transformed(layer, right=functions.images), (functions,))

    def _right_hand_side(self, data: Any) -> NDArray[Any]:
        return self.functions.load_vector(data, np.ones(self.mesh.number_of_triangles, bool))

    def _solution(self, data: Any, coefficients: NDArray[Any], info: SolutionInfo) -> PotentialSolution:
        charge = Function(self.function_space, self.functions.extended(coefficients), "surface charge / eps0", "V/m")
        return PotentialSolution(data, self.side, info, charge, (single_layer_potential(Laplace(), charge),))

    @property
    def preconditioners(self) -> tuple[str, ...]:
        """ "factorised" of "P0" and "DP1": sparse factors of the inverse, of any method; "mass"."""
        return ("mass",) if self.space == "P1" else ("factorised", "mass")

    def _factorised_inverse(self) -> LinearOperator:
        return self.functions.inverse(space_inverse(self.function_space))

    @property
    def title(self) -> str:  # type: ignore[override]
        return f"{self.side} Laplace problem with given boundary values"
