"""Specific absorption rates of solutions that know density and absorbed power at any point."""

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.data.sar import AveragedSAR, averaged_sar, voxel_midpoints
from calderon.validation import one_or_more_points, positive_length


class AbsorptionRates:
    """Rates of a solution with `currents` and a `power_unit`. Absorbed is, by peak values, omega / 2 (Im(eps) |E|^2 +
    Im(mu) |H|^2), which is sigma |E|^2 / 2 for a conductivity. Tissue is what has a density."""

    currents: Any

    @property
    @abstractmethod
    def power_unit(self) -> str: ...

    @abstractmethod
    def _tissue_vertices(self) -> NDArray[np.float64]:
        """(n, 3) points on the hull of the tissue; ValueError where nothing has a density."""

    @abstractmethod
    def _absorbed(self, x: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Densities (n,) in kg/m^3 and absorbed powers (n,) in W/m^3 at points (n, 3), 0 outside of tissue."""

    def local_sar(self, points: ArrayLike) -> NDArray[np.float64]:
        """(n,) specific absorption rates in W/kg at points (n, 3), absorbed power over density; NaN where no density is
        given. On a surface between media it is that of one side, or of the mean field with a warning. ValueError unless
        a body has a density and the fields have SI units."""
        x = one_or_more_points(points)
        self._tissue_in_watts()
        density, power = self._absorbed(x)
        return np.divide(power, density, where=density > 0, out=np.full(len(x), np.nan))

    def averaged_sar(self, mass: float = 0.010, voxel: float = 0.002) -> AveragedSAR:
        """Rates averaged over cubes that hold `mass` (in kg) of tissue, 0.001 or 0.010 by convention, and over the
        whole body, on voxels with the side `voxel` (in m).

        The field is evaluated at the midpoints of the voxels, at eight points where tissues meet; tissue is what has a
        density. The rules are those of fields in time, of IEC/IEEE 62704-1; see `calderon.data.sar`. Errors: ValueError
        as of `local_sar`, where there is too little tissue, and above a ground, where the image of the body would
        count; MemoryError.
        """
        mass, voxel, hull = positive_length(mass, "mass"), positive_length(voxel, "voxel"), self._tissue_in_watts()
        if self.currents.share < 1:
            raise ValueError("averages above a ground would count the image of the body as tissue: take local_sar")
        return averaged_sar(self._absorbed, *voxel_midpoints(hull, voxel), voxel, mass)

    def _tissue_in_watts(self) -> NDArray[np.float64]:
        """The points of `_tissue_vertices`; ValueError where fields have no units."""
        hull = self._tissue_vertices()
        if self.power_unit != "W":
            raise ValueError("absorption rates in W/kg need fields in SI units: give the problem frequency=")
        return hull
