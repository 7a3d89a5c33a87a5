"""Results of a periodic surface, ready to be written."""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from calderon.case import CaseFile, PeriodicCase
from calderon.formulations import CellSolution, PeriodicCell


@dataclass(frozen=True)
class PeriodicResults:
    """Solutions at the frequencies of a case, in its order."""

    file: CaseFile[PeriodicCase]
    cell: PeriodicCell
    solutions: tuple[CellSolution, ...]
    seconds: dict[str, float] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    @property
    def frequencies(self) -> NDArray[np.float64]:
        """In Hz."""
        return np.array([each.frequency for each in self.solutions])

    @cached_property
    def waves(self) -> dict[str, NDArray[np.complex128]]:
        """Amplitudes (frequencies, 2, 2) of the order (0, 0): "reflection", and "transmission" where there is one."""
        found = {"reflection": np.array([each.reflection for each in self.solutions])}
        if self.solutions[0].transmitted is not None:
            found["transmission"] = np.array([each.transmission for each in self.solutions])
        return found

    @property
    def power(self) -> NDArray[np.float64]:
        """(frequencies, 2) of all orders over that of the incident TM and TE waves."""
        return np.array([each.power for each in self.solutions])
