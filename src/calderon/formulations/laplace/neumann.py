"""Laplace's equation with a given normal derivative."""

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from calderon.formulations.checks import closed_surface, separate_parts, surface_mesh, warn_thin
from calderon.formulations.laplace.potential_solution import PotentialSolution
from calderon.formulations.linear_system import LinearSystem, ThinTerm
from calderon.formulations.mirrors import Mirrored, Mirrors
from calderon.formulations.options import SolveOptions
from calderon.formulations.problem import Problem
from calderon.formulations.solution_info import SolutionInfo
from calderon.greens import Laplace
from calderon.mesh import TriangleMesh
from calderon.operators import BoundaryOperator, double_layer, identity, single_layer, transformed
from calderon.potentials import double_layer_potential
from calderon.potentials import single_layer_potential as single_potential
from calderon.spaces import P0, Function, Space
from calderon.spaces.element import Element
from calderon.validation import one_of


@dataclass(frozen=True, eq=False)
class LaplaceNeumann(Mirrored, Problem[PotentialSolution]):
    """The harmonic u with du/dn = g on a closed surface, n outward, for the values of u on the surface,

        exterior: (I/2 - K) u = -V g,   u = (double layer of u) - (single layer of g),   u -> 0 at infinity
        interior: (I/2 + K) u = V g,    u = (single layer of g) - (double layer of u).

    The interior problem needs int g = 0 over each component of the surface, and its solution is fixed by int u = 0
    there: the term 1/area (int u) 1 lifts the constants, which I/2 + K maps to zero. A net flux above 1 % of int |g| is
    refused with ValueError; a smaller one is an error of the discretisation and is subtracted. space: of u, "P1"
    or "P2"; g enters by its mean over each triangle, which costs no order, as V smooths by one. Data: a number, f(x) or
    f(x, n) as in `Space.load_vector`. mirrors: planes in which u is "even" or "odd", {"z": "even"}; the mesh is then
    the part on one side of them, where data are given, and solutions are those of the whole, `mesh.mirrored("z")`.

    K. E. Atkinson, The Numerical Solution of Integral Equations of the Second Kind (1997), section 7.1.
    """

    mesh: TriangleMesh
    side: Literal["exterior", "interior"] = "exterior"
    space: Literal["P1", "P2"] = "P1"
    mirrors: Mirrors = field(default=None, kw_only=True)

    def __post_init__(self) -> None:
        one_of(self.side, ("exterior", "interior"), "side")
        surface_mesh(self.mesh)
        self.surface.require_planes("LaplaceNeumann")
        closed_surface(self.surface.whole, "LaplaceNeumann")
        separate_parts(self.surface.whole, "LaplaceNeumann")
        warn_thin(self.surface.whole)
        _ = self.system

    @cached_property
    def data_space(self) -> Space:
        """The space of du/dn on the whole surface."""
        return P0(self.surface.whole)

    @property
    def _sign(self) -> float:
        return -1.0 if self.side == "exterior" else 1.0

    def _build_system(self) -> LinearSystem:
        space, functions, test = self.function_space, self.functions, self.functions.part
        rows: BoundaryOperator = 0.5 * identity(space, test) + self._sign * double_layer(Laplace(), space, test)
        operator = transformed(rows, right=functions.images)
        if self.side == "exterior":
            return LinearSystem("(I/2 - K) u = -V g", operator, (functions,))
        # an odd field has the mean 0 on what crosses a mirror, whose columns are 0
        means = self._means / np.sqrt(self._areas)
        name = f"the mean over each of {means.shape[1]} component(s)"
        lift = ThinTerm(name, means[functions.functions], functions.summed(means))
        return LinearSystem("(I/2 + K) u = V g, int u = 0", operator, (functions,), lambda: lift)

    @cached_property
    def _indicators(self) -> NDArray[np.float64]:
        """(triangles, m) which of the m components each triangle belongs to."""
        return np.eye(self.surface.whole.number_of_components)[self.surface.whole.components]

    @cached_property
    def _areas(self) -> NDArray[np.float64]:
        """(m,) areas of the components."""
        return self._indicators.T @ self.surface.whole.areas

    @cached_property
    def _members(self) -> NDArray[np.float64]:
        """(dimension, m) which component each basis function lives on."""
        dofs, mesh = self.function_space.dofs, self.surface.whole
        members = np.zeros((self.function_space.dimension, mesh.number_of_components))
        members[dofs.ravel(), np.repeat(mesh.components, dofs.shape[1])] = 1
        return members

    @cached_property
    def _means(self) -> NDArray[np.float64]:
        """(dimension, m) integrals of the basis functions over each component."""
        return self.function_space.load_vector(1.0)[:, None] * self._members

    def _checked(self, data: Any) -> Function:
        part = Function.project(P0(self.surface.part), data, "normal derivative", "V/m")
        values = self.surface.extended(part.coefficients[:, None], Element(0)).ravel()
        given = Function(self.data_space, values, part.label, part.unit)
        if self.side == "exterior":
            return given
        per_triangle = given.coefficients * self.surface.whole.areas
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
        operator = single_layer(Laplace(), self.data_space, self.functions.part)
        return LinearSystem("V g", operator, (self.data_space,))

    def _solution(self, data: Function, coefficients: NDArray[Any], info: SolutionInfo) -> PotentialSolution:
        coefficients = self.functions.extended(coefficients)
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
