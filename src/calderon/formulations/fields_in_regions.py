"""Fields of solutions with currents around several regions, and what media absorb there."""

from abc import abstractmethod
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.data.absorption_rates import AbsorptionRates
from calderon.formulations.electromagnetic.dielectric_regions import Region
from calderon.formulations.electromagnetic.radiating_currents import RadiatedField, RadiatingCurrents
from calderon.mesh import TriangleMesh
from calderon.validation import one_or_more_points

METAL = -1
"""The number of the region of a point in metal, where there is no field."""


class FieldsInRegions(RadiatedField, AbsorptionRates):
    """A solution with total fields in each of its regions, 0 in metal; on a surface the mean over its sides of the
    field of one region, with a warning. regions: their media."""

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

    def _tissue(self) -> list[int]:
        """Numbers of the bounded regions with a density; ValueError where there are none."""
        bounded = [number for number in range(len(self.regions)) if number != self._around]
        found = [number for number in bounded if self.regions[number].density is not None]
        if not found:
            raise ValueError(
                "absorption rates need a density: give the medium of a body as Material(..., density=1000.0), in kg/m^3"
            )
        return found

    def _tissue_vertices(self) -> NDArray[np.float64]:
        walls = [self._walls_of(number) for number in self._tissue()]
        return np.concatenate([each.vertices[each.used_vertices] for each in walls])

    def _absorbed(self, x: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        numbers, density, power = self._regions_at(x), np.zeros(len(x)), np.zeros(len(x))
        k, eta = float(np.real(self.currents.wavenumber)), float(np.real(self.currents.impedance))
        for number in self._tissue():
            here, medium = np.flatnonzero(numbers == number), self.regions[number]
            density[here] = medium.density
            # omega eps_0 = k / eta and omega mu_0 = k eta, of the region around
            for name, loss in (("electric", np.imag(medium.permittivity) / eta),
                               ("magnetic", np.imag(medium.permeability) * eta)):  # fmt: skip
                if loss and len(here):
                    power[here] += k * loss / 2 * (np.abs(self._within(number, name, x[here])) ** 2).sum(axis=1)
        return density, power
