"""Laplace's equation with given boundary values."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

from numpy.typing import NDArray

from calderon.formulations.checks import closed_surface, space_named, surface_mesh, warn_thin
from calderon.formulations.linear_system import LinearSystem, SolutionInfo
from calderon.formulations.potential_solution import PotentialSolution
from calderon.formulations.problem import Problem
from calderon.greens import Laplace
from calderon.mesh import TriangleMesh
from calderon.operators import single_layer
from calderon.potentials import single_layer_potential
from calderon.spaces import Function, Space
from calderon.validation import one_of


@dataclass(frozen=True, eq=False)
class LaplaceDirichlet(Problem[PotentialSolution]):
    """The harmonic u with u = g on the surface, by the single-layer potential of a surface charge sigma,

        V sigma = g,      u = (single-layer potential of sigma).

    V is symmetric and positive definite, so sigma is unique. sigma is the jump of du/dn, inside minus outside; on a
    conductor (g constant) it is the charge density over eps0, and `solution.surface.integral()` the charge over eps0.
    side: "exterior" (u tends to 0 at infinity; the surface may be open, such as a plate) or "interior" (closed).
    space: of sigma, "P0", "DP1" or "P1". Data: a number, f(x) or f(x, n) as in `Space.load_vector`.

    W. McLean, Strongly Elliptic Systems and Boundary Integral Equations (2000), theorem 8.12.
    """

    mesh: TriangleMesh
    side: str = "exterior"
    space: str = "P0"

    def __post_init__(self) -> None:
        one_of(self.side, ("exterior", "interior"), "side")
        if self.side == "interior":
            closed_surface(self.mesh, "LaplaceDirichlet(side='interior')")
        surface_mesh(self.mesh)
        warn_thin(self.mesh, "charges")
        _ = self.system

    @cached_property
    def function_space(self) -> Space:
        """The space of the surface charge."""
        return space_named(self.space, ("P0", "DP1", "P1"), self.mesh)

    def _build_system(self) -> LinearSystem:
        return LinearSystem("V sigma = g", single_layer(Laplace(), self.function_space), (self.function_space,))

    def _right_hand_side(self, data: Any) -> NDArray[Any]:
        return self.function_space.load_vector(data)

    def _solution(self, data: Any, coefficients: NDArray[Any], info: SolutionInfo) -> PotentialSolution:
        charge = Function(self.function_space, coefficients, "surface charge / eps0", "V/m")
        return PotentialSolution(data, self.side, info, charge, (single_layer_potential(Laplace(), charge),))

    @property
    def title(self) -> str:  # type: ignore[override]
        return f"{self.side} Laplace problem with given boundary values"
