"""Laplace's equation with a given normal derivative."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from calderon.formulations.checks import closed_surface, separate_parts, space_named, warn_thin
from calderon.formulations.laplace.potential_solution import PotentialSolution
from calderon.formulations.linear_system import LinearSystem, ThinTerm
from calderon.formulations.options import SolveOptions
from calderon.formulations.problem import Problem
from calderon.formulations.solution_info import SolutionInfo
from calderon.greens import Laplace
from calderon.mesh import TriangleMesh
from calderon.operators import BoundaryOperator, double_layer, identity, single_layer
from calderon.potentials import double_layer_potential
from calderon.potentials import single_layer_potential as single_potential
from calderon.spaces import P0, Function, Space
from calderon.validation import one_of


@dataclass(frozen=True, eq=False)
class LaplaceNeumann(Problem[PotentialSolution]):
    """The harmonic u with du/dn = g on a closed surface, n outward, for the values of u on the surface,

        exterior: (I/2 - K) u = -V g,   u = (double layer of u) - (single layer of g),   u -> 0 at infinity
        interior: (I/2 + K) u = V g,    u = (single layer of g) - (double layer of u).

    The interior problem needs int g = 0 over each component of the surface, and its solution is fixed by int u = 0
    there: the term 1/area (int u) 1 lifts the constants, which I/2 + K maps to zero. A net flux above 1 % of int |g| is
    refused with ValueError; a smaller one is an error of the discretisation and is subtracted. space: of u, "P1"
    or "P2"; g enters by its mean over each triangle, which costs no order, as V smooths by one. Data: a number, f(x) or
    f(x, n) as in `Space.load_vector`.

    K. E. Atkinson, The Numerical Solution of Integral Equations of the Second Kind (1997), section 7.1.
    """

    mesh: TriangleMesh
    side: Literal["exterior", "interior"] = "exterior"
    space: Literal["P1", "P2"] = "P1"

    def __post_init__(self) -> None:
        one_of(self.side, ("exterior", "interior"), "side")
        closed_surface(self.mesh, "LaplaceNeumann")
        separate_parts(self.mesh, "LaplaceNeumann")
        warn_thin(self.mesh)
        _ = self.system

    @cached_property
    def function_space(self) -> Space:
        """The space of u on the surface."""
        return space_named(self.space, ("P1", "P2"), self.mesh)

    @cached_property
    def data_space(self) -> Space:
        """The space of du/dn on the surface."""
        return P0(self.mesh)

    @property
    def _sign(self) -> float:
        return -1.0 if self.side == "exterior" else 1.0

    def _build_system(self) -> LinearSystem:
        space = self.function_space
        operator: BoundaryOperator = 0.5 * identity(space) + self._sign * double_layer(Laplace(), space)
        if self.side == "exterior":
            return LinearSystem("(I/2 - K) u = -V g", operator, (space,))
        means = self._means / np.sqrt(self._areas)
        lift = ThinTerm(f"the mean over each of {means.shape[1]} component(s)", means, means)
        return LinearSystem("(I/2 + K) u = V g, int u = 0", operator, (space,), lambda: lift)

    @cached_property
    def _indicators(self) -> NDArray[np.float64]:
        """(triangles, m) which of the m components each triangle belongs to."""
        return np.eye(self.mesh.number_of_components)[self.mesh.components]

    @cached_property
    def _areas(self) -> NDArray[np.float64]:
        """(m,) areas of the components."""
        return self._indicators.T @ self.mesh.areas

    @cached_property
    def _members(self) -> NDArray[np.float64]:
        """(dimension, m) which component each basis function lives on."""
        dofs = self.function_space.dofs
        members = np.zeros((self.function_space.dimension, self.mesh.number_of_components))
        members[dofs.ravel(), np.repeat(self.mesh.components, dofs.shape[1])] = 1
        return members

    @cached_property
    def _means(self) -> NDArray[np.float64]:
        """(dimension, m) integrals of the basis functions over each component."""
        return self.function_space.load_vector(1.0)[:, None] * self._members

    def _checked(self, data: Any) -> Function:
        given = Function.project(self.data_space, data, "normal derivative", "V/m")
        if self.side == "exterior":
            return given
        per_triangle = given.coefficients * self.mesh.areas
        net = self._indicators.T @ per_triangle
        size = self._indicators.T @ np.abs(per_triangle)
        wrong = np.flatnonzero(np.abs(net) > 1e-2 * size)  # less is the error of the faceted surface
        if len(wrong):
            raise ValueError(
                f"the interior Neumann problem has no solution: the integral of du/dn over component {wrong[0]} of the "
                f"surface is {net[wrong[0]]:.4g}, it must be 0 (no source inside); take the mean "
                f"{net[wrong[0]] / self._areas[wrong[0]]:.4g} off the data"
            )
        mean = self._indicators @ (net / self._areas)
        return Function(self.data_space, given.coefficients - mean, given.label, given.unit)

    def _prepare(self, options: SolveOptions) -> float:
        return self._fluxes.assemble(replace(options, matrix_file=None))

    def _right_hand_side(self, data: Function) -> NDArray[Any]:
        return self._sign * (self._fluxes.matrix @ data.coefficients)

    @cached_property
    def _fluxes(self) -> LinearSystem:
        """V from du/dn in P0 to the test functions: assembled by the same options as the system, and kept as long."""
        operator = single_layer(Laplace(), self.data_space, self.function_space)
        return LinearSystem("V g", operator, (self.data_space,))

    def _solution(self, data: Function, coefficients: NDArray[Any], info: SolutionInfo) -> PotentialSolution:
        if self.side == "interior":
            coefficients = coefficients - self._members @ ((self._means.T @ coefficients) / self._areas)
        potential = Function(self.function_space, coefficients, "potential", "V")
        layers = (
            double_layer_potential(Laplace(), -self._sign * potential),
            single_potential(Laplace(), self._sign * data),
        )
        return PotentialSolution(data, self.side, info, potential, layers)

    @property
    def title(self) -> str:  # type: ignore[override]
        return f"{self.side} Laplace problem with given normal derivative"
