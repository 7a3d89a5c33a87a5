"""The solution of scattering by penetrable bodies: fields in every region, far fields, powers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.formulations.electromagnetic.dielectric_regions import Region, innermost, regions_between
from calderon.formulations.electromagnetic.radiating_currents import RadiatingCurrents
from calderon.formulations.electromagnetic.scattering_solution import ElectromagneticSolution
from calderon.formulations.fields_in_regions import METAL, FieldsInRegions
from calderon.formulations.options import largest_dense
from calderon.mesh import TriangleMesh
from calderon.spaces import VectorFunction
from calderon.validation import one_of


@dataclass(frozen=True, eq=False)
class DielectricSolution(FieldsInRegions, ElectromagneticSolution):
    """The field of an incident wave and penetrable bodies.

    electric_currents J = n x H in A/m, or "E0/eta", magnetic_currents M = -n x E in V/m: on each surface in turn, n
    outward. parents: for each surface the one directly around it, -1 for none. regions: the surroundings, then what
    lies directly inside of each surface. E and H are total fields in every region; on a surface they are the mean over
    its sides of a field that is zero on the other one, with a warning.
    """

    saved_classes: ClassVar[Sequence[type]] = (*ElectromagneticSolution.saved_classes, Region)

    electric_currents: tuple[VectorFunction, ...]
    magnetic_currents: tuple[VectorFunction, ...]
    regions: tuple[Region, ...]
    parents: NDArray[np.int64]

    @property
    def _around(self) -> int:
        return 0

    def _regions_at(self, points: NDArray[np.float64]) -> NDArray[np.int64]:
        numbers = self.region_numbers(points)
        conductors = [number for number, region in enumerate(self.regions) if region.is_conductor]
        return np.where(np.isin(numbers, conductors), METAL, numbers)

    def _walls_of(self, number: int) -> TriangleMesh:
        return self.electric_currents[number - 1].space.mesh

    def _require_consistent(self) -> None:
        super()._require_consistent()
        parents, count = self.parents, len(self.electric_currents)
        if parents.shape != (count,) or not all(-1 <= p < count and p != i for i, p in enumerate(parents)):
            raise ValueError(f"surfaces within {parents}")
        above = parents.copy()
        for _ in range(count):  # a surface within itself, through others, would never end
            above = np.where(above >= 0, parents[above], -1)
        if (above >= 0).any():
            raise ValueError(f"surfaces within each other: {parents}")
        constants = [[getattr(each, name) for each in self.regions[1:]] for name in ("permittivity", "permeability")]
        again = regions_between(parents, float(np.real(self.wavenumber)), *constants)
        same = [each.surfaces for each in again] == [each.surfaces for each in self.regions]
        if not same or len(self.magnetic_currents) != count:
            raise ValueError("regions or currents of another number of surfaces")

    @property
    def is_lossless(self) -> bool:  # type: ignore[override]
        """Whether every medium is."""
        return not any(np.imag(each.permittivity) or np.imag(each.permeability) for each in self.regions[1:])

    def region_numbers(self, points: ArrayLike) -> NDArray[np.int64]:
        """(n,) the region of each point (n, 3): 0 around all bodies, i + 1 directly inside of surface i."""
        return innermost([current.space.mesh for current in self.electric_currents], points)

    def _currents_of(self, number: int) -> RadiatingCurrents:
        region = self.regions[number]

        def here(currents: tuple[VectorFunction, ...]) -> tuple[VectorFunction, ...]:
            found = [(currents[i].space, np.asarray(sign * currents[i].coefficients)) for i, sign in region.surfaces]
            return tuple(VectorFunction(space, x.conj() if region.conjugated else x) for space, x in found)

        impedance = complex(self.incident.impedance) * region.impedance
        impedance = impedance.conjugate() if region.conjugated else impedance
        return RadiatingCurrents(
            region.wavenumber, impedance, here(self.electric_currents), here(self.magnetic_currents)
        )

    def absorbed_power(self, by: str = "auto") -> NDArray[np.float64]:
        """(surfaces,) time-averaged power absorbed directly inside of each surface, outside of those within it, in
        `power_unit`.

        by: "fields", the power that the currents give to the medium of a region, 1/2 Re int (conj(J) . E + conj(M) . H)
        with the fields E, H that they have in it, which for the PMCHWT equations adds up with what is scattered to the
        extinction to the accuracy of solver and quadrature, and takes as long as an assembly of T and K; "flux", the
        flow of power through the surfaces from J and M alone, at once, with two to ten times the error; "auto",
        the first up to 8192 unknowns, the second above. ValueError for another word.
        """
        one_of(by, ("auto", "fields", "flux"), "by")
        unknowns = sum(len(j.coefficients) + len(m.coefficients) for j, m in self._current_pairs())
        if by == "fields" or (by == "auto" and unknowns <= largest_dense()):
            inside = enumerate(self.regions[1:], start=1)
            powers = [0.0 if r.is_conductor else self._currents_of(n).delivered_power() for n, r in inside]
            return self.currents.share * np.array(powers)
        inward = np.array([inward_power(*pair) for pair in self._current_pairs()])
        absorbed = inward.copy()
        for number, parent in enumerate(self.parents):
            if parent >= 0:
                absorbed[parent] -= inward[number]
        return self.currents.share * absorbed

    def absorption_cross_section(self, by: str = "auto") -> float:
        """Absorbed power over incident intensity |E_inc|^2 / (2 eta), in m^2; `by` as in `absorbed_power`."""
        return float(self.absorbed_power(by).sum()) * 2 * self.incident.impedance.real / self.incident_amplitude**2

    def _current_pairs(self) -> list[tuple[VectorFunction, VectorFunction]]:
        return list(zip(self.electric_currents, self.magnetic_currents, strict=True))

    def __str__(self) -> str:
        units = f"[{self.electric_currents[0].unit}] and [{self.magnetic_currents[0].unit}]"
        return f"field of {self.incident}: surface currents {units} on the interfaces\n{self.info}"


def inward_power(electric: VectorFunction, magnetic: VectorFunction) -> float:
    """-1/2 Re int (E x H*) . n = 1/2 Re int J* . (n x M) over a surface, in W."""
    rotated = magnetic.perpendicular()
    mass = rotated.space.mass_matrix(electric.space)
    return float(0.5 * np.vdot(electric.coefficients, mass @ rotated.coefficients).real)
