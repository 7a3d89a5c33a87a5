"""What an incident electromagnetic field is: E and H as functions of points, and sums of such fields."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from calderon.waves.field import IncidentField, SumOfFields


class ElectromagneticWave(IncidentField):
    """A field given in closed form in a medium of wavenumber k and impedance eta, time factor exp(-i omega t):
    curl E = ik eta H and curl H = -(ik / eta) E away from its sources.

    Waves of the same medium add, and are multiplied by numbers.
    """

    impedance: complex

    @abstractmethod
    def electric(self, points: ArrayLike) -> np.ndarray:
        """E (n, 3) in V/m at points (n, 3)."""

    @abstractmethod
    def magnetic(self, points: ArrayLike) -> np.ndarray:
        """H (n, 3) in A/m at points (n, 3)."""


@dataclass(frozen=True)
class ElectromagneticSuperposition(SumOfFields, ElectromagneticWave):
    """sum_j c_j E_j and sum_j c_j H_j for terms (c_j, wave_j) of one medium."""

    terms: tuple[tuple[complex, ElectromagneticWave], ...]
    constants: ClassVar[dict[str, str]] = {"wavenumber": "wavenumber", "impedance": "impedance of the medium"}

    @property
    def impedance(self) -> complex:  # type: ignore[override]
        return self.terms[0][1].impedance

    def electric(self, points: ArrayLike) -> np.ndarray:
        return self._sum(lambda wave: wave.electric(points))

    def magnetic(self, points: ArrayLike) -> np.ndarray:
        return self._sum(lambda wave: wave.magnetic(points))


ElectromagneticWave.sums = ElectromagneticSuperposition
