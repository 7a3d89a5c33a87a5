"""Fields in the regions of composite bodies, from the currents of each."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.formulations.composite.skeleton import RegionWalls, located
from calderon.formulations.composite.wires.wired_currents import WiredCurrents, WireSources
from calderon.formulations.electromagnetic.dielectric_regions import Region
from calderon.formulations.electromagnetic.radiating_currents import RadiatingCurrents
from calderon.formulations.fields_in_regions import METAL, FieldsInRegions
from calderon.formulations.wires.tubes import tubes
from calderon.mesh import TriangleMesh
from calderon.spaces import VectorFunction
from calderon.validation import one_or_more_points
from calderon.view import Scene


@dataclass(frozen=True, eq=False, kw_only=True)
class RegionFields(FieldsInRegions):
    """A solution with currents in several regions.

    names: of the regions. electric_currents J = n x H in A/m, or "E0/eta", magnetic_currents M = -n x E in V/m: of each
    region on all surfaces at it, n into the region; of a sheet within the region the sum of both sides. regions: their
    media. leaving: of each region and triangle of its mesh 1 where the normal leaves the region, -1 where it enters, 0
    on sheets. unbounded: the number of the region around all others. metal_power: what metal and sheets absorb, in
    `power_unit`, or in W of antennas. wired_regions: numbers of bounded regions with wires, region_wires: their
    currents, wire_powers: what they give to the medium. E and H are total fields in every region, 0 in metal; on a
    surface the mean over both sides of the field of one region, with a warning.
    """

    electric_currents: tuple[VectorFunction, ...]
    magnetic_currents: tuple[VectorFunction, ...]
    regions: tuple[Region, ...]
    names: tuple[str, ...]
    leaving: tuple[NDArray[np.int64], ...]
    unbounded: int
    metal_power: float = 0.0
    wired_regions: tuple[int, ...] = ()
    region_wires: tuple[WireSources, ...] = ()
    wire_powers: tuple[float, ...] = ()

    @cached_property
    def _walls(self) -> tuple[RegionWalls, ...]:
        pairs = zip(self.electric_currents, self.leaving, strict=True)
        return tuple(RegionWalls(j.space.mesh, own, n == self.unbounded) for n, (j, own) in enumerate(pairs))

    def region_names(self, points: ArrayLike) -> list[str | None]:
        """The name of the region of each point (n, 3), None in metal."""
        found = located(self._walls, one_or_more_points(points))
        return [None if number == METAL else self.names[number] for number in found]

    @property
    def _around(self) -> int:
        return self.unbounded

    def _regions_at(self, points: NDArray[np.float64]) -> NDArray[np.int64]:
        return located(self._walls, points)

    def _walls_of(self, number: int) -> TriangleMesh:
        return self._walls[number].mesh

    def _currents_of(self, number: int) -> RadiatingCurrents:
        found = self._on_walls(number)
        if number not in self.wired_regions:
            return found
        wires = self.region_wires[self.wired_regions.index(number)]
        given = found.electric_currents, found.magnetic_currents
        return WiredCurrents(found.wavenumber, found.impedance, *given, wires=wires)

    def _on_walls(self, number: int) -> RadiatingCurrents:
        region, j, m = self.regions[number], self.electric_currents[number], self.magnetic_currents[number]
        impedance = complex(self.currents.impedance) * region.impedance
        if region.conjugated:
            j, m = (VectorFunction(each.space, each.coefficients.conj()) for each in (j, m))
            impedance = impedance.conjugate()
        return RadiatingCurrents(region.wavenumber, impedance, (j,), (m,) if m.coefficients.any() else ())

    def absorbed_power(self) -> dict[str, float]:
        """Time-averaged power absorbed in each bounded region, by its name, in `power_unit`: what the currents give to
        the medium, 1/2 Re int (conj(J) . E + conj(M) . H) with the fields that they have in it. It takes as long as an
        assembly of T and K."""
        bounded = [number for number in range(len(self.names)) if number != self.unbounded]
        with_wires = dict(zip(self.wired_regions, self.wire_powers, strict=True))
        return {self.names[number]: self._on_walls(number).delivered_power() + with_wires.get(number, 0.0)
                for number in bounded}  # fmt: skip

    def _scene(self, rows: int) -> Scene:
        """Surface currents and the pattern, and wires as tubes."""
        shown: Scene = super()._scene(rows)  # type: ignore[safe-super]
        drawn = [self.currents.wires] if isinstance(self.currents, WiredCurrents) else []
        layers = [tubes(each.segments, each.currents) for each in (*drawn, *self.region_wires)]
        return replace(shown, layers=(*shown.layers, *layers))

    def _require_regions(self) -> None:
        """ValueError for currents and regions that do not fit together."""
        count = len(self.names)
        given = self.electric_currents, self.magnetic_currents, self.regions, self.leaving
        if not all(len(each) == count for each in given) or not 0 <= self.unbounded < count:
            raise ValueError(f"currents or media of another number of regions than {count}")
        if not len(self.wired_regions) == len(self.region_wires) == len(self.wire_powers):
            raise ValueError("wires of another number of regions than their powers")
        if not set(self.wired_regions) <= set(range(count)) - {self.unbounded}:
            raise ValueError(f"wires in bounded regions {self.wired_regions}, of {count} regions")
        for j, m, own in zip(self.electric_currents, self.magnetic_currents, self.leaving, strict=True):
            if j.space.mesh is not m.space.mesh or own.shape != (j.space.mesh.number_of_triangles,):
                raise ValueError("currents of a region on two meshes, or walls of another one")
            if not np.isin(own, (-1, 0, 1)).all():
                raise ValueError("walls whose normals neither leave nor enter a region")
