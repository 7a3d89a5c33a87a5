"""What an incident electromagnetic field is: E and H as functions of points, and sums of such fields."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from calderon.validation import finite_number


class ElectromagneticWave(ABC):
    """A field given in closed form in a medium of wavenumber k and impedance eta, time factor exp(-i omega t):
    curl E = ik eta H and curl H = -(ik / eta) E away from its sources.

    Waves of the same medium add, and are multiplied by numbers.
    """

    wavenumber: complex
    impedance: complex
    __array_ufunc__ = None  # NumPy's scalars leave the product to the wave

    @abstractmethod
    def electric(self, points: ArrayLike) -> np.ndarray:
        """E (n, 3) in V/m at points (n, 3)."""

    @abstractmethod
    def magnetic(self, points: ArrayLike) -> np.ndarray:
        """H (n, 3) in A/m at points (n, 3)."""

    def __add__(self, other: "ElectromagneticWave") -> "ElectromagneticSuperposition":
        if not isinstance(other, ElectromagneticWave):
            return NotImplemented
        return ElectromagneticSuperposition((*_terms(self), *_terms(other)))

    def __mul__(self, factor: complex) -> "ElectromagneticSuperposition":
        return ElectromagneticSuperposition(tuple((weight * factor, wave) for weight, wave in _terms(self)))

    __rmul__ = __mul__

    def __neg__(self) -> "ElectromagneticSuperposition":
        return self * -1

    def __sub__(self, other: "ElectromagneticWave") -> "ElectromagneticSuperposition":
        return self + -other if isinstance(other, ElectromagneticWave) else NotImplemented


@dataclass(frozen=True)
class ElectromagneticSuperposition(ElectromagneticWave):
    """sum_j c_j E_j and sum_j c_j H_j for terms (c_j, wave_j) of one medium."""

    terms: tuple[tuple[complex, ElectromagneticWave], ...]

    def __post_init__(self) -> None:
        for weight, _ in self.terms:
            finite_number(weight, "the factor of a wave")
        for name, of in (("wavenumber", "wavenumber"), ("impedance", "impedance of the medium")):
            values = {complex(getattr(wave, name)) for _, wave in self.terms}
            if len(values) != 1:
                raise ValueError(f"waves add only at one {of}, got {sorted(values, key=abs)}")

    @property
    def wavenumber(self) -> complex:  # type: ignore[override]
        return self.terms[0][1].wavenumber

    @property
    def impedance(self) -> complex:  # type: ignore[override]
        return self.terms[0][1].impedance

    def electric(self, points: ArrayLike) -> np.ndarray:
        return np.sum([weight * wave.electric(points) for weight, wave in self.terms], axis=0)

    def magnetic(self, points: ArrayLike) -> np.ndarray:
        return np.sum([weight * wave.magnetic(points) for weight, wave in self.terms], axis=0)


def _terms(wave: ElectromagneticWave) -> tuple[tuple[complex, ElectromagneticWave], ...]:
    return wave.terms if isinstance(wave, ElectromagneticSuperposition) else ((1.0, wave),)
