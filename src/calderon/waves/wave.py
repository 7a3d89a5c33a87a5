"""What an incident field is: a function of points with a gradient, and sums of such functions."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from calderon.validation import along_normals, finite_number


class Wave(ABC):
    """A field given in closed form, with wavenumber k: Laplace u + k^2 u = 0 away from its sources.

    Waves of the same wavenumber add, and are multiplied by numbers.
    """

    wavenumber: complex
    __array_ufunc__ = None  # NumPy's scalars leave the product to the wave

    @abstractmethod
    def __call__(self, x: ArrayLike, n: ArrayLike | None = None) -> np.ndarray:
        """The field (n,) at points x (n, 3); normals n, if given, are ignored (load vectors pass them)."""

    @abstractmethod
    def gradient(self, x: ArrayLike) -> np.ndarray:
        """The gradient (n, 3) at points x (n, 3)."""

    def normal_derivative(self, x: ArrayLike, n: ArrayLike) -> np.ndarray:
        """n . grad u (n,) at points x (n, 3) with normals n (n, 3)."""
        return along_normals(self.gradient(x), n)

    def __add__(self, other: "Wave") -> "Superposition":
        if not isinstance(other, Wave):
            return NotImplemented
        return Superposition((*_terms(self), *_terms(other)))

    def __mul__(self, factor: complex) -> "Superposition":
        return Superposition(tuple((weight * factor, wave) for weight, wave in _terms(self)))

    __rmul__ = __mul__

    def __neg__(self) -> "Superposition":
        return self * -1

    def __sub__(self, other: "Wave") -> "Superposition":
        return self + -other if isinstance(other, Wave) else NotImplemented


@dataclass(frozen=True)
class Superposition(Wave):
    """sum_j c_j u_j for terms (c_j, u_j) of one wavenumber."""

    terms: tuple[tuple[complex, Wave], ...]

    def __post_init__(self) -> None:
        for weight, _ in self.terms:
            finite_number(weight, "the factor of a wave")
        wavenumbers = {complex(wave.wavenumber) for _, wave in self.terms}
        if len(wavenumbers) != 1:
            raise ValueError(f"waves add only at one wavenumber, got {sorted(wavenumbers, key=abs)}")

    @property
    def wavenumber(self) -> complex:  # type: ignore[override]
        return self.terms[0][1].wavenumber

    def __call__(self, x: ArrayLike, n: ArrayLike | None = None) -> np.ndarray:
        return np.sum([weight * wave(x) for weight, wave in self.terms], axis=0)

    def gradient(self, x: ArrayLike) -> np.ndarray:
        return np.sum([weight * wave.gradient(x) for weight, wave in self.terms], axis=0)


def _terms(wave: Wave) -> tuple[tuple[complex, Wave], ...]:
    return wave.terms if isinstance(wave, Superposition) else ((1.0, wave),)
