"""A body with a surface impedance: du/dn + ik b u = 0."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from calderon.formulations.checks import finite_complex, space_named
from calderon.formulations.info import SolutionInfo
from calderon.formulations.linear_system import LinearSystem
from calderon.formulations.scattering import ScatteringProblem
from calderon.formulations.scattering_solution import ScatteringSolution
from calderon.operators import (
    Potential,
    adjoint_double_layer,
    double_layer,
    double_layer_potential,
    hypersingular,
    identity,
    single_layer,
    single_layer_potential,
)
from calderon.spaces import Function, Space


@dataclass(frozen=True, eq=False)
class ImpedanceScattering(ScatteringProblem):
    """Total field phi on a locally reacting body, dphi/dn = -ik b phi, by the equation of Burton and Miller,

        (I/2 - K + eta D) phi - ik b (V + eta (I/2 + K')) phi = u_inc + eta du_inc/dn.

    admittance: b = rho c / Z without unit, Re b >= 0; or impedance: Z / (rho c) = 1/b. Exactly one of the two, a number
    for the whole surface; 0 is sound-hard. coupling: eta, default i/Re k. space: "P1" or "P2".

    The problem has one solution for Re b >= 0 at real k. D. Colton and R. Kress, Integral Equation Methods in
    Scattering Theory (1983), section 3.7.
    """

    admittance: complex | None = None
    impedance: complex | None = None
    coupling: complex | None = None
    space: str = "P1"

    title: ClassVar[str] = "scattering by a body with a surface impedance"

    def _check_fields(self) -> None:
        if (self.admittance is None) == (self.impedance is None):
            raise ValueError("give either admittance= (rho c / Z) or impedance= (Z / (rho c)), both without unit")
        if self.impedance is not None and finite_complex(self.impedance, "impedance") == 0:
            raise ValueError("impedance 0 is a sound-soft surface: use SoundSoftScattering")
        if self.admittance is not None:
            finite_complex(self.admittance, "admittance")
        if self.b.real < 0:
            raise ValueError(
                f"the admittance {self.b:.4g} has a negative real part: the surface would create energy; "
                "with the time factor exp(-i omega t) a passive surface has Re(rho c / Z) >= 0"
            )
        if self.coupling is not None:
            finite_complex(self.coupling, "coupling")
        _ = self.function_space

    @property
    def b(self) -> complex:
        """The admittance rho c / Z."""
        if self.admittance is not None:
            return complex(self.admittance)
        assert self.impedance is not None
        return 1 / complex(self.impedance)

    @property
    def eta(self) -> complex:
        """The coupling parameter in use."""
        return 1j / np.real(self.wavenumber) if self.coupling is None else complex(self.coupling)

    @property
    def _slope(self) -> complex:
        """du/dn over u on the surface, -ik b in 1/m."""
        return -1j * self.wavenumber * self.b

    @cached_property
    def function_space(self) -> Space:
        return space_named(self.space, ("P1", "P2"), self.mesh)

    def _build_system(self) -> LinearSystem:
        green, space, eta, slope = self.green, self.function_space, self.eta, self._slope
        operator = (0.5 + 0.5 * slope * eta) * identity(space) - double_layer(green, space)
        if eta != 0:
            operator = operator + eta * hypersingular(green, space)
        if slope != 0:
            operator = operator + slope * single_layer(green, space)
        if slope * eta != 0:
            operator = operator + (slope * eta) * adjoint_double_layer(green, space)
        equation = (
            "Burton-Miller (I/2 - K + eta D) phi - ik b (V + eta (I/2 + K')) phi = u_inc + eta du_inc/dn, "
            f"b = {self.b:.4g}, eta = {eta:.4g} m"
        )
        return LinearSystem(equation, operator, (space,))

    def _rhs(self, value: NDArray[Any], derivative: NDArray[Any]) -> NDArray[Any]:
        return value + self.eta * derivative

    def _far_load(self, value: NDArray[Any], derivative: NDArray[Any]) -> NDArray[Any]:
        return derivative - self._slope * value

    def _potentials(self, coefficients: NDArray[Any]) -> tuple[Any, tuple[Potential, ...]]:
        total = Function(self.function_space, coefficients, "total pressure", "Pa")
        layers: tuple[Potential, ...] = (double_layer_potential(self.green, total),)
        if self._slope != 0:
            layers += (single_layer_potential(self.green, -self._slope * total),)
        return total, layers

    def _solution(self, data: Any, coefficients: NDArray[Any], info: SolutionInfo) -> ScatteringSolution:
        total, layers = self._potentials(coefficients)
        return ScatteringSolution(data, self.mesh, self.wavenumber, info, total, layers, admittance=self.b)
