"""Impedances of walls as functions of the frequency, from what they are made of; time factor exp(-i omega t).

Z is the pressure over the velocity into the wall, in Pa s/m: a stiffness K per area is +iK / omega, a mass m per area
-i omega m.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from calderon.formulations.acoustic.fluid import Fluid
from calderon.validation import LARGEST


class WallLaw:
    """An impedance that depends on the frequency and the fluid."""

    def impedance(self, omega: complex, fluid: Fluid) -> complex:
        """Z in Pa s/m at the angular frequency omega in 1/s, real or continued, next to a fluid."""
        raise NotImplementedError


@dataclass(frozen=True)
class RelativeImpedance(WallLaw):
    """ratio: Z / (rho c), without unit."""

    ratio: complex

    def impedance(self, omega: complex, fluid: Fluid) -> complex:
        return self.ratio * fluid.impedance


@dataclass(frozen=True, eq=False)
class TabulatedImpedance(WallLaw):
    """Measured values: frequencies (n,) in Hz, ascending, and values (n,) in Pa s/m; between them linear, beyond them
    refused."""

    frequencies: NDArray[np.float64]
    values: NDArray[np.complex128]

    def impedance(self, omega: complex, fluid: Fluid) -> complex:
        if np.imag(omega) != 0:
            raise ValueError(
                "a table of impedances says nothing of complex frequencies, which resonances need: give a number, or a "
                "law, Impedance.porous or .perforated"
            )
        frequency, low, high = np.real(omega) / (2 * np.pi), self.frequencies[0], self.frequencies[-1]
        if not low * (1 - 1e-9) <= frequency <= high * (1 + 1e-9):
            raise ValueError(
                f"the impedance is given from {low:g} to {high:g} Hz, and the problem is at {frequency:g} Hz: extend "
                "the table"
            )
        real, imaginary = (
            np.interp(frequency, self.frequencies, part) for part in (self.values.real, self.values.imag)
        )
        return complex(real, imaginary)


@dataclass(frozen=True)
class PorousLayer(WallLaw):
    """A porous layer on a rigid back by Miki's formulas, with X = frequency / flow_resistivity,

        Zc / (rho c) = 1 + 0.070 X^-0.632 + 0.107i X^-0.632,    k = (omega / c) (1 + 0.109 X^-0.618 + 0.160i X^-0.618),

    Z = i Zc cot(k d). flow_resistivity: in Pa s/m^2. thickness: d in m. Measured for 0.01 < X < 1.

    Y. Miki, J. Acoust. Soc. Jpn. (E) 11 (1990) 19.
    """

    flow_resistivity: float
    thickness: float

    def impedance(self, omega: complex, fluid: Fluid) -> complex:
        X = omega / (2 * np.pi) / self.flow_resistivity
        inside = fluid.impedance * (1 + (0.070 + 0.107j) * X**-0.632)
        k = omega / fluid.speed_of_sound * (1 + (0.109 + 0.160j) * X**-0.618)
        return complex(1j * inside / np.tan(k * self.thickness))


@dataclass(frozen=True)
class PerforatedPanel(WallLaw):
    """A panel with round holes in front of a cavity of that depth on a rigid back, or, without a cavity, the transfer
    impedance of the panel alone.

    hole: diameter d in m. thickness: t of the panel in m. porosity: area of holes over that of the panel. cavity: depth
    D in m, or None. viscosity: eta in Pa s. In a hole the air moves by Poiseuille's and Stokes' law, with
    x = d sqrt(omega rho / (4 eta)) and the ends' resistance sqrt(2) eta x / d and mass 0.85 rho d:

        Z = [-i omega rho t / (1 - 2 J1(y) / (y J0(y))) + sqrt(2) eta x / d - 0.85i omega rho d] / porosity
            + i rho c cot(omega D / c),    y = x sqrt(i).

    D.-Y. Maa, J. Acoust. Soc. Am. 104 (1998) 2861.
    """

    hole: float
    thickness: float
    porosity: float
    cavity: float | None
    viscosity: float

    def impedance(self, omega: complex, fluid: Fluid) -> complex:
        x = self.hole * np.sqrt(omega * fluid.density / (4 * self.viscosity))
        mass = -1j * omega * fluid.density
        y = x * np.sqrt(1j)
        hole = (
            mass * self.thickness / (1 - 2 * scipy.special.jve(1, y) / (y * scipy.special.jve(0, y)))
        )  # scaled: wide holes
        ends = np.sqrt(2) * self.viscosity * x / self.hole + 0.85 * mass * self.hole
        panel = complex((hole + ends) / self.porosity)
        if self.cavity is None:
            return panel
        return panel + complex(1j * fluid.impedance / np.tan(omega * self.cavity / fluid.speed_of_sound))


def absorbing_ratio(alpha: float) -> float:
    """Z / (rho c) = (1 + R) / (1 - R), R = sqrt(1 - alpha), of a wall that absorbs the part alpha of a wave that comes
    along its normal; infinite for 0."""
    reflected = float(np.sqrt(1 - alpha))
    return np.inf if reflected == 1 else (1 + reflected) / (1 - reflected)


def passive(values: Any, gain: bool) -> None:
    """ValueError for impedances with a negative real part, unless gain is True."""
    real = np.real(np.asarray(values))
    lowest = float(real[np.isfinite(real)].min(initial=0.0))
    if lowest < 0 and not gain:
        raise ValueError(
            f"an impedance with the real part {lowest:.4g} Pa s/m gives energy to the sound: with the time factor "
            "exp(-i omega t) a passive wall has Re Z >= 0, a stiffness is +iK/omega and a mass -i omega m; a wall that "
            "is driven is Impedance(..., gain=True)"
        )


def admitted(z: NDArray[np.complex128], name: str, gain: bool, at_zero: str) -> NDArray[np.complex128]:
    """1 / Z of impedances, 0 for infinite ones; ValueError for values of the wall of that name that are 0, or not
    passive unless gain is True. at_zero: what to do where Z = 0."""
    rigid = np.isinf(z)
    real, size = np.where(rigid, 0.0, z.real), np.where(rigid, 1.0, np.abs(z))
    if (size < 1 / LARGEST).any() or (real.min() < 0 and not gain):
        raise ValueError(
            f"the impedance of {name} is 0 or has a negative real part at some points, down to {real.min():.4g} "
            f"Pa s/m: passive walls have Re Z >= 0; {at_zero}"
        )
    return np.asarray(np.where(rigid, 0.0, 1 / np.where(rigid, 1.0, z)))
