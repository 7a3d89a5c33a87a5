"""Plane waves."""

from dataclasses import InitVar, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from calderon.validation import finite_number, nonzero_wavenumber, points_in_space, unit_vector
from calderon.waves.electromagnetic_plane import ElectromagneticPlaneWave
from calderon.waves.wave import Wave


@dataclass(frozen=True, eq=False)
class PlaneWave(Wave):
    """u(x) = amplitude exp(ik d . x), travelling along d; time factor exp(-i omega t).

    direction: (3,), any length but zero; it is normalised.
    wavenumber: k in 1/m, real or with positive imaginary part (loss: the wave decays along d).
    amplitude: peak value at the origin, complex for a phase.
    polarization: E along this vector. `PlaneWave(..., polarization=e)` returns an `ElectromagneticPlaneWave`, another
        class, with the arguments of that one (impedance too); without it, this class, a wave of sound.

    `PlaneWave` is scalar, u(x); `ElectromagneticPlaneWave` is a pair E(x), H(x); both are complex amplitudes of one
    frequency. `TransientPlaneWave` is E(x, t), H(x, t) in vacuum for MaxwellDG.
    """

    direction: np.ndarray
    wavenumber: complex
    amplitude: complex = 1.0
    polarization: InitVar[ArrayLike | None] = None

    def __new__(cls, *arguments: Any, **options: Any) -> Any:
        """The wave, or an ElectromagneticPlaneWave where a polarization is given."""
        names = ("direction", "wavenumber", "amplitude", "polarization")
        ordered = dict(zip(names, arguments, strict=False))
        if len(arguments) > len(names) or (ordered | options).get("polarization") is None:
            return super().__new__(cls)
        return ElectromagneticPlaneWave(**ordered, **options)

    def __post_init__(self, polarization: ArrayLike | None) -> None:
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
