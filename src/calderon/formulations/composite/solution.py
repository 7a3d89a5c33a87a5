"""The solution of composite bodies: fields in every region, far fields, powers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from calderon.formulations.composite.region_fields import RegionFields
from calderon.formulations.electromagnetic.dielectric_regions import Region
from calderon.formulations.electromagnetic.scattering_solution import ElectromagneticSolution
from calderon.spaces import VectorFunction


@dataclass(frozen=True, eq=False)
class CompositeSolution(RegionFields, ElectromagneticSolution):
    """The field of an incident wave and bodies of several materials and metal.

    names: of the regions. electric_currents J = n x H in A/m, or "E0/eta", magnetic_currents M = -n x E in V/m: of each
    region on all surfaces at it, n into the region; of a sheet within the region the sum of both sides. regions: their
    media. leaving: of each region and triangle of its mesh 1 where the normal leaves the region, -1 where it enters, 0
    on sheets. unbounded: the number of the region around all others. metal_power: what metal and sheets absorb, in
    `power_unit`. E and H are total fields in every region, 0 in metal; on a surface the mean over both sides of the
    field of one region, with a warning.
    """

    saved_classes: ClassVar[Sequence[type]] = (*ElectromagneticSolution.saved_classes, Region)

    electric_currents: tuple[VectorFunction, ...]
    magnetic_currents: tuple[VectorFunction, ...]
    regions: tuple[Region, ...]
    names: tuple[str, ...]
    leaving: tuple[NDArray[np.int64], ...]
    unbounded: int
    metal_power: float = 0.0

    @property
    def is_lossless(self) -> bool:  # type: ignore[override]
        """Whether every medium is."""
        return self.metal_power == 0 and not any(
            np.imag(each.permittivity) or np.imag(each.permeability) for each in self.regions
        )

    def absorption_cross_section(self) -> float:
        """Power absorbed in all regions and in metal over the incident intensity |E_inc|^2 / (2 eta), in m^2."""
        return (
            (sum(self.absorbed_power().values()) + self.metal_power)
            * 2
            * complex(self.incident.impedance).real
            / self.incident_amplitude**2
        )

    def _require_consistent(self) -> None:
        super()._require_consistent()
        self._require_regions()

    def __str__(self) -> str:
        return f"field of {self.incident} in {', '.join(self.names)}\n{self.info}"
