"""The sound at a thin sheet: fields on both sides, far fields, what it takes."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calderon.formulations.acoustic.scattering_solution import ScatteringSolution
from calderon.formulations.mirrors import lies_in


@dataclass(frozen=True, eq=False)
class SheetSolution(ScatteringSolution):
    """The field p_inc + p_s of an incident wave and a thin sheet, on both sides of it.

    surface: the jump of the pressure in Pa, that on the side of the normals less that on the other side. taken: int
    |[p]|^2 Re(rho c / z) in Pa^2 m^2, 2 rho c times the power that the sheet takes. Other fields as of
    `ScatteringSolution`.
    """

    taken: float = 0.0

    def _has_field(self, points: NDArray[np.float64]) -> NDArray[np.bool_]:
        return np.asarray(np.ones(len(points), bool) & lies_in(self.half_space, points))

    def _absorption(self) -> float:
        if np.imag(self.wavenumber) != 0:
            raise ValueError("absorbed power is defined here for a surrounding fluid without loss (a real wavenumber)")
        return self._share * self.taken
