"""Electromagnetic plane waves."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from calderon.validation import (
    finite_number,
    nonzero_wavenumber,
    points_in_space,
    transverse_polarization,
    unit_vector,
    wave_impedance,
)
from calderon.waves.electromagnetic import ElectromagneticWave


@dataclass(frozen=True, eq=False)
class ElectromagneticPlaneWave(ElectromagneticWave):
    """E(x) = amplitude e exp(ik d . x),  H = d x E / eta, travelling along d; time factor exp(-i omega t).

    direction: d (3,), any length but zero; it is normalised.
    polarization: e (3,), real or complex (circular waves: (1, +-i, 0) / sqrt 2), orthogonal to d to 1e-6; it is
        normalised and made orthogonal to rounding.
    wavenumber: k in 1/m, real or with positive imaginary part (loss: the wave decays along d).
    amplitude: peak value of E at the origin in V/m, complex for a phase.
    impedance: eta of the medium; with 1, H has the unit of E.

    `PlaneWave` with a polarization is this wave.
    """

    direction: np.ndarray
    polarization: np.ndarray
    wavenumber: complex
    amplitude: complex = 1.0
    impedance: complex = 1.0

    def __post_init__(self) -> None:
        direction = unit_vector(self.direction, "the direction of a plane wave")
        object.__setattr__(self, "direction", direction)
        object.__setattr__(self, "polarization", transverse_polarization(self.polarization, direction))
        object.__setattr__(self, "wavenumber", nonzero_wavenumber(self.wavenumber, "the wavenumber of a plane wave"))
        object.__setattr__(self, "amplitude", finite_number(self.amplitude, "the amplitude of a plane wave"))
        object.__setattr__(self, "impedance", wave_impedance(self.impedance))

    def electric(self, points: ArrayLike) -> np.ndarray:
        """E (n, 3), complex, in V/m at points (n, 3)."""
        return self._scalar(points)[:, None] * self.polarization

    def magnetic(self, points: ArrayLike) -> np.ndarray:
        """H = d x E / eta (n, 3) in A/m at points (n, 3)."""
        return self._scalar(points)[:, None] * (np.cross(self.direction, self.polarization) / self.impedance)

    def __str__(self) -> str:
        d = ", ".join(f"{component:.4g}" for component in self.direction)
        real = not np.any(self.polarization.imag)
        e = ", ".join(f"{c.real:.4g}" if real else f"{c:.4g}" for c in self.polarization)
        return (
            f"electromagnetic plane wave along [{d}], E along [{e}], k = {self.wavenumber:.6g} 1/m, "
            f"amplitude {self.amplitude:.4g} V/m"
        )

    def _scalar(self, points: ArrayLike) -> np.ndarray:
        return self.amplitude * np.exp(1j * self.wavenumber * (points_in_space(points) @ self.direction))
