"""Plane waves."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from calderon.exact.checks import finite_number, nonzero_wavenumber, points_in_space, unit_vector
from calderon.waves.wave import Wave


@dataclass(frozen=True, eq=False)
class PlaneWave(Wave):
    """u(x) = amplitude exp(ik d . x), travelling along d; time factor exp(-i omega t).

    direction: (3,), any length but zero; it is normalised.
    wavenumber: k in 1/m, real or with positive imaginary part (loss: the wave decays along d).
    amplitude: peak value at the origin, complex for a phase.
    """

    direction: np.ndarray
    wavenumber: complex
    amplitude: complex = 1.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "direction", unit_vector(self.direction, "the direction of a plane wave"))
        object.__setattr__(self, "wavenumber", nonzero_wavenumber(self.wavenumber, "the wavenumber of a plane wave"))
        object.__setattr__(self, "amplitude", finite_number(self.amplitude, "the amplitude of a plane wave"))

    def __call__(self, x: ArrayLike, n: ArrayLike | None = None) -> np.ndarray:
        """The field (n,), complex, at points (n, 3); normals are ignored."""
        return self.amplitude * np.exp(1j * self.wavenumber * (points_in_space(x) @ self.direction))

    def gradient(self, x: ArrayLike) -> np.ndarray:
        """ik d u(x), shape (n, 3)."""
        return (1j * self.wavenumber * self(x))[:, None] * self.direction

    def __str__(self) -> str:
        d = ", ".join(f"{component:.4g}" for component in self.direction)
        return f"plane wave along [{d}], k = {self.wavenumber:.6g} 1/m, amplitude {self.amplitude:.4g}"
