"""What an incident field is: a function of points with a gradient, and sums of such functions."""

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from calderon.validation import along_normals
from calderon.waves.field import IncidentField, SumOfFields


class Wave(IncidentField):
    """A field given in closed form, with wavenumber k: Laplace u + k^2 u = 0 away from its sources.

    Waves of the same wavenumber add, and are multiplied by numbers.
    """

    @abstractmethod
    def __call__(self, x: ArrayLike, n: ArrayLike | None = None) -> np.ndarray:
        """The field (n,) at points x (n, 3); normals n, if given, are ignored (load vectors pass them)."""

    @abstractmethod
    def gradient(self, x: ArrayLike) -> np.ndarray:
        """The gradient (n, 3) at points x (n, 3)."""

    def normal_derivative(self, x: ArrayLike, n: ArrayLike) -> np.ndarray:
        """n . grad u (n,) at points x (n, 3) with normals n (n, 3)."""
        return along_normals(self.gradient(x), n)


@dataclass(frozen=True)
class Superposition(SumOfFields, Wave):
    """sum_j c_j u_j for terms (c_j, u_j) of one wavenumber."""

    terms: tuple[tuple[complex, Wave], ...]

    def __call__(self, x: ArrayLike, n: ArrayLike | None = None) -> np.ndarray:
        return self._sum(lambda wave: wave(x))

    def gradient(self, x: ArrayLike) -> np.ndarray:
        return self._sum(lambda wave: wave.gradient(x))


Wave.sums = Superposition
