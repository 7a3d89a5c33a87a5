"""Results of a reflectarray, ready to be written."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from calderon.case import CaseFile, ReflectarrayCase
from calderon.formulations import PlanarEcho, ReflectArray


@dataclass(frozen=True)
class ReflectarrayResults:
    """The design, the currents of all elements together, and |E| over that of the wave on two lines through the focus:
    across (n,) in m, levels (2, n) along x and y."""

    file: CaseFile[ReflectarrayCase]
    array: ReflectArray
    echo: PlanarEcho
    across: NDArray[np.float64]
    levels: NDArray[np.float64]
    seconds: dict[str, float] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()

    @property
    def focus(self) -> float:
        """|E| at the focus over that of the wave."""
        return float(self.levels[0, len(self.across) // 2])

    @property
    def phases(self) -> NDArray[np.float64]:
        """(n, m) of the elements in degrees, from -180 to 180."""
        array = self.array
        return np.degrees(np.angle(np.exp(1j * (array.required + array.offset + array.errors))))
