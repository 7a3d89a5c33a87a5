"""Fields of solutions with currents around several regions, and what media absorb there."""

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.data.sar import AveragedSAR, averaged_sar, voxel_midpoints
from calderon.formulations.electromagnetic.dielectric_regions import Region
from calderon.formulations.electromagnetic.radiating_currents import RadiatedField, RadiatingCurrents
from calderon.mesh import TriangleMesh
from calderon.validation import one_or_more_points, positive_length

METAL = -1
"""The number of the region of a point in metal, where there is no field."""


class FieldsInRegions(RadiatedField):
    """A solution with total fields in each of its regions, 0 in metal; on a surface the mean over its sides of the
    field of one region, with a warning. regions: their media. Absorbed is, by peak values, omega / 2 (Im(eps) |E|^2 +
    Im(mu) |H|^2), which is sigma |E|^2 / 2 for a conductivity."""

    regions: tuple[Region, ...]

    @property
    @abstractmethod
    def _around(self) -> int:
        """The number of the region around all others."""

    @abstractmethod
    def _regions_at(self, points: NDArray[np.float64]) -> NDArray[np.int64]:
        """(n,) numbers of the regions of points (n, 3), METAL where there is none."""

    @abstractmethod
    def _currents_of(self, number: int) -> RadiatingCurrents:
        """The currents that radiate the field in a bounded region, conjugated where its operators are."""

    @abstractmethod
    def _walls_of(self, number: int) -> TriangleMesh:
        """A surface that encloses a bounded region."""

    def _has_field(self, points: NDArray[np.float64]) -> NDArray[np.bool_]:
        return np.asarray(self._regions_at(points) != METAL)

    def _total(self, name: str, points: ArrayLike, backend: str, precision: str) -> NDArray[np.complex128]:
        x = one_or_more_points(points)
        numbers = self._regions_at(x)
        total = np.zeros((len(x), 3), np.complex128)
        for number in np.unique(numbers[numbers != METAL]):
            here = numbers == number
            if number == self._around:
                total[here] = super()._total(name, x[here], backend, precision)
            else:
                total[here] = self._within(int(number), name, x[here], backend, precision)
        return total

    def _within(
        self, number: int, name: str, x: NDArray[np.float64], backend: str = "numba", precision: str = "double"
    ) -> NDArray[Any]:
        """The field "electric" or "magnetic" (n, 3) at points (n, 3) of a bounded region."""
        values = getattr(self._currents_of(number), name)(x, backend, precision)
        return np.asarray(values.conj() if self.regions[number].conjugated else values)

    def local_sar(self, points: ArrayLike) -> NDArray[np.float64]:
        """(n,) specific absorption rates in W/kg at points (n, 3), absorbed power over density; NaN where no density is
        given. On a surface of the mesh the field is a mean over both sides, with a warning. ValueError unless a bounded
        region is a `Material` with a density and the fields have SI units."""
        x = one_or_more_points(points)
        density, power = self._absorbed(x, self._tissue())
        return np.divide(power, density, where=density > 0, out=np.full(len(x), np.nan))

    def averaged_sar(self, mass: float = 0.010, voxel: float = 0.002) -> AveragedSAR:
        """Rates averaged over cubes that hold `mass` (in kg) of tissue, 0.001 or 0.010 by convention, and over the
        whole body, on voxels with the side `voxel` (in m).

        The field is evaluated at the midpoints of the voxels, at eight points where tissues meet; tissue is what has a
        density. The rules are those of fields in time, of IEC/IEEE 62704-1; see `calderon.data.sar`. Errors: ValueError
        as of `local_sar`, where there is too little tissue, and above a ground, where the image of the body would
        count; MemoryError.
        """
        mass, voxel, tissue = positive_length(mass, "mass"), positive_length(voxel, "voxel"), self._tissue()
        if self.currents.share < 1:
            raise ValueError("averages above a ground would count the image of the body as tissue: take local_sar")
        walls = [self._walls_of(number) for number in tissue]
        corner, shape = voxel_midpoints(np.concatenate([each.vertices[each.used_vertices] for each in walls]), voxel)
        return averaged_sar(lambda x: self._absorbed(x, tissue), corner, shape, voxel, mass)

    def _tissue(self) -> list[int]:
        """Numbers of the bounded regions with a density; ValueError where there are none, or fields without units."""
        bounded = [number for number in range(len(self.regions)) if number != self._around]
        found = [number for number in bounded if self.regions[number].density is not None]
        if not found:
            raise ValueError(
                "absorption rates need a density: give the medium of a body as Material(..., density=1000.0), in kg/m^3"
            )
        if self.power_unit != "W":
            raise ValueError("absorption rates in W/kg need fields in SI units: give the problem frequency=")
        return found

    def _absorbed(self, x: NDArray[np.float64], tissue: list[int]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Densities (n,) in kg/m^3 and absorbed powers (n,) in W/m^3 at points (n, 3), 0 outside of tissue."""
        numbers, density, power = self._regions_at(x), np.zeros(len(x)), np.zeros(len(x))
        k, eta = float(np.real(self.currents.wavenumber)), float(np.real(self.currents.impedance))
        for number in tissue:
            here, medium = np.flatnonzero(numbers == number), self.regions[number]
            density[here] = medium.density
            # omega eps_0 = k / eta and omega mu_0 = k eta, of the region around
            for name, loss in (("electric", np.imag(medium.permittivity) / eta),
                               ("magnetic", np.imag(medium.permeability) * eta)):  # fmt: skip
                if loss and len(here):
                    power[here] += k * loss / 2 * (np.abs(self._within(number, name, x[here])) ** 2).sum(axis=1)
        return density, power
