"""A formulation from outside of the package, by the recipe of CONTRIBUTING.md: the equation, its data, its solution."""

from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import pytest

import calderon as cal
from calderon.formulations.laplace.potential_solution import PotentialSolution
from calderon.formulations.linear_system import LinearSystem
from calderon.formulations.problem import Problem


@dataclass(frozen=True, eq=False)
class DirectDirichlet(Problem[PotentialSolution]):
    """The harmonic u inside of a surface with u = g there, by the direct equation for q = du/dn,

    V q = (I/2 + K) g,      u = (single-layer potential of q) - (double-layer potential of g).
    """

    mesh: cal.TriangleMesh
    title: ClassVar[str] = "interior Laplace problem by its normal derivative"

    @cached_property
    def function_space(self):
        return cal.P0(self.mesh)

    def _build_system(self):
        operator = cal.single_layer(cal.Laplace(), self.function_space)
        return LinearSystem("V q = (I/2 + K) g", operator, (self.function_space,))

    def _right_hand_side(self, data):
        values, space = self._boundary_values(data), self.function_space
        operator = 0.5 * cal.identity(values.space, space) + cal.double_layer(cal.Laplace(), values.space, space)
        return operator.assemble() @ values.coefficients

    def _solution(self, data, coefficients, info):
        slope, values = cal.Function(self.function_space, coefficients), self._boundary_values(data)
        layers = (
            cal.single_layer_potential(cal.Laplace(), slope),
            cal.double_layer_potential(cal.Laplace(), -1 * values),
        )
        return PotentialSolution(data, "interior", info, slope, layers)

    def _boundary_values(self, data):
        return cal.P1(self.mesh).interpolation(data)


POINTS = np.array([[0.0, 0.0, 0.0], [0.3, -0.2, 0.1]])


def harmonic(x):
    return x[:, 0] ** 2 - x[:, 1] ** 2 + x[:, 2]


@pytest.fixture(scope="module")
def problem():
    return DirectDirichlet(cal.mesh.sphere(1.0, 0.25))


def test_it_has_the_harmonic_function(problem):
    """The potential and its normal derivative 2 x^2 - 2 y^2 + z; the residual has the tolerance of every problem."""
    solution = problem.solve(harmonic)
    assert np.abs(solution.field(POINTS) - harmonic(POINTS)).max() < 2e-3
    centres = problem.mesh.centroids / np.linalg.norm(problem.mesh.centroids, axis=1)[:, None]
    exact = 2 * centres[:, 0] ** 2 - 2 * centres[:, 1] ** 2 + centres[:, 2]
    assert np.linalg.norm(solution.surface.coefficients - exact) < 0.05 * np.linalg.norm(exact)
    assert solution.info.residual < 1e-5


def test_it_solves_and_plans_like_every_problem(problem):
    """Several data at once, by LU, by an H-matrix, and the estimate of what that takes."""
    first = problem.solve(harmonic).surface.coefficients
    both = problem.solve_all([harmonic, 1.0], solver="lu")
    assert np.allclose(both[0].surface.coefficients, first, atol=1e-3)
    assert np.abs(both[1].field(POINTS) - 1).max() < 1e-3
    compressed = problem.solve(harmonic, method="hmatrix").surface.coefficients
    assert np.allclose(compressed, first, atol=1e-3)
    assert problem.plan(method="hmatrix").nbytes > 0
    with pytest.raises(ValueError, match="preconditioner"):
        problem.solve(harmonic, preconditioner="osrc")
