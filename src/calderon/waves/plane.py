"""Plane waves: of sound, of the electromagnetic field, and of the latter as a function of time."""

from dataclasses import InitVar, dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.exact.vacuum import SPEED_OF_LIGHT, VACUUM_IMPEDANCE
from calderon.validation import (
    finite_number,
    nonzero_wavenumber,
    points_in_space,
    positive_length,
    real_number,
    transverse_polarization,
    unit_vector,
)
from calderon.waves.field import ElectromagneticWave, Wave, described_wavenumber, reflected
from calderon.waves.given import Given


@dataclass(frozen=True, eq=False)
class ElectromagneticPlaneWave(ElectromagneticWave):
    """E(x) = amplitude e exp(ik d . x),  H = d x E / eta, travelling along d; time factor exp(-i omega t).

    direction: d (3,), any length but zero; it is normalised.
    polarization: e (3,), real or complex (circular waves: (1, +-i, 0) / sqrt 2), orthogonal to d to 1e-6; it is
        normalised and made orthogonal to rounding.
    wavenumber: k in 1/m, real or with positive imaginary part (loss: the wave decays along d); without it, that of the
        problem which is solved for the wave.
    amplitude: peak value of E at the origin in V/m, complex for a phase.
    impedance: eta of the medium in ohm; without it, that of the problem which is solved for the wave, or 1, with
        which H is in units of E over eta.

    `PlaneWave` with a polarization is this wave.
    """

    direction: Given
    polarization: Given
    wavenumber: complex = None  # type: ignore[assignment]
    amplitude: complex = 1.0
    impedance: complex = None  # type: ignore[assignment]
    takes_impedance: bool = field(default=True, init=False, repr=False)

    def __post_init__(self) -> None:
        direction = unit_vector(self.direction, "the direction of a plane wave")
        object.__setattr__(self, "direction", direction)
        object.__setattr__(self, "polarization", transverse_polarization(self.polarization, direction))
        if self.wavenumber is not None:
            k = nonzero_wavenumber(self.wavenumber, "the wavenumber of a plane wave")
            object.__setattr__(self, "wavenumber", k)
        object.__setattr__(self, "amplitude", finite_number(self.amplitude, "the amplitude of a plane wave"))
        self._settle_impedance()

    def electric(self, points: ArrayLike) -> np.ndarray:
        """E (n, 3), complex, in V/m at points (n, 3)."""
        return self._scalar(points)[:, None] * self.polarization

    def magnetic(self, points: ArrayLike) -> np.ndarray:
        """H = d x E / eta (n, 3) at points (n, 3), in A/m for eta in ohm."""
        return self._scalar(points)[:, None] * (np.cross(self.direction, self.polarization) / self.impedance)

    def mirrored(self, plane: str) -> Self:
        given: Any = None if self.takes_impedance else self.impedance
        vectors = reflected(self.direction, plane), reflected(self.polarization, plane)
        return replace(self, direction=vectors[0], polarization=vectors[1], impedance=given)

    def __str__(self) -> str:
        d = ", ".join(f"{component:.4g}" for component in self.direction)
        real = not np.any(self.polarization.imag)
        e = ", ".join(f"{c.real:.4g}" if real else f"{c:.4g}" for c in self.polarization)
        return (
            f"electromagnetic plane wave along [{d}], E along [{e}], {described_wavenumber(self)}, "
            f"amplitude {self.amplitude:.4g} V/m"
        )

    def _scalar(self, points: ArrayLike) -> np.ndarray:
        return self.amplitude * np.exp(1j * self._known_wavenumber * (points_in_space(points) @ self.direction))


@dataclass(frozen=True, eq=False)
class PlaneWave(Wave):
    """u(x) = amplitude exp(ik d . x), travelling along d; time factor exp(-i omega t).

    direction: (3,), any length but zero; it is normalised.
    wavenumber: k in 1/m, real or with positive imaginary part (loss: the wave decays along d); without it, that of the
        problem which is solved for the wave.
    amplitude: peak value at the origin, complex for a phase.
    polarization: E along this vector. `PlaneWave(..., polarization=e)` returns an `ElectromagneticPlaneWave`, another
        class, with the arguments of that one (impedance too); without it, this class, a wave of sound.

    `PlaneWave` is scalar, u(x); `ElectromagneticPlaneWave` is a pair E(x), H(x); both are complex amplitudes of one
    frequency. `TransientPlaneWave` is E(x, t), H(x, t) in vacuum for MaxwellDG.
    """

    direction: Given
    wavenumber: complex = None  # type: ignore[assignment]
    amplitude: complex = 1.0
    polarization: InitVar[ArrayLike | None] = None

    def __new__(
        cls,
        direction: ArrayLike = (),
        wavenumber: complex | None = None,
        amplitude: complex = 1.0,
        polarization: ArrayLike | None = None,
        *,
        impedance: complex | None = None,
    ) -> Any:
        """The wave, or an ElectromagneticPlaneWave where a polarization is given."""
        if polarization is None:
            return super().__new__(cls)
        return ElectromagneticPlaneWave(direction, polarization, wavenumber, amplitude, impedance)  # type: ignore[arg-type]

    def __post_init__(self, polarization: ArrayLike | None) -> None:
        object.__setattr__(self, "direction", unit_vector(self.direction, "the direction of a plane wave"))
        if self.wavenumber is not None:
            k = nonzero_wavenumber(self.wavenumber, "the wavenumber of a plane wave")
            object.__setattr__(self, "wavenumber", k)
        object.__setattr__(self, "amplitude", finite_number(self.amplitude, "the amplitude of a plane wave"))

    def __call__(self, x: ArrayLike, n: ArrayLike | None = None) -> np.ndarray:
        """The field (n,), complex, at points (n, 3); normals are ignored."""
        return self.amplitude * np.exp(1j * self._known_wavenumber * (points_in_space(x) @ self.direction))

    def gradient(self, x: ArrayLike) -> np.ndarray:
        """ik d u(x), shape (n, 3)."""
        return (1j * self._known_wavenumber * self(x))[:, None] * self.direction

    def mirrored(self, plane: str) -> Self:
        return replace(self, direction=reflected(self.direction, plane))

    def __str__(self) -> str:
        d = ", ".join(f"{component:.4g}" for component in self.direction)
        return f"plane wave along [{d}], {described_wavenumber(self)}, amplitude {self.amplitude:.4g}"


@dataclass(frozen=True, eq=False)
class TransientPlaneWave:
    """A plane wave of one frequency as a function of points and time, for `MaxwellDG`:

    E = Re amplitude e exp(i(k d . x - w t)), H = d x E / Z0 in vacuum, w = 2 pi frequency, k = w / c.

    direction: d (3,), normalised. polarization: e (3,), real or complex, orthogonal to d, normalised. frequency: in Hz.
    amplitude: peak value of E in V/m. Points in m, times in s. Errors as for ElectromagneticPlaneWave.
    """

    direction: ArrayLike
    polarization: ArrayLike
    frequency: float
    amplitude: complex = 1.0

    def __post_init__(self) -> None:
        positive_length(self.frequency, "frequency")
        assert self.amplitudes is not None

    @property
    def angular_frequency(self) -> float:
        """w in 1/s."""
        return 2 * np.pi * self.frequency

    @cached_property
    def amplitudes(self) -> ElectromagneticPlaneWave:
        """The complex amplitudes of E and H as functions of points."""
        wavenumber = self.angular_frequency / SPEED_OF_LIGHT
        direction: Any = self.direction
        polarization: Any = self.polarization
        return ElectromagneticPlaneWave(direction, polarization, wavenumber, self.amplitude, impedance=VACUUM_IMPEDANCE)

    def _turn(self, time: float) -> complex:
        """exp(-i w t)."""
        return complex(np.exp(-1j * self.angular_frequency * real_number(time, "time")))

    def electric(self, points: ArrayLike, time: float) -> NDArray[np.float64]:
        """(n, 3) E in V/m at points (n, 3) and a time."""
        return np.real(self.amplitudes.electric(points) * self._turn(time))

    def magnetic(self, points: ArrayLike, time: float) -> NDArray[np.float64]:
        """(n, 3) H in A/m at points (n, 3) and a time."""
        return np.real(self.amplitudes.magnetic(points) * self._turn(time))
