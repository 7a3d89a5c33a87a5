"""The solution of composite bodies: fields in every region, far fields, powers."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from calderon.formulations.composite.region_fields import RegionFields
from calderon.formulations.composite.wires.wired_currents import WiredCurrents, WireSources
from calderon.formulations.electromagnetic.dielectric_regions import Region
from calderon.formulations.electromagnetic.scattering_solution import ElectromagneticSolution


@dataclass(frozen=True, eq=False)
class CompositeSolution(RegionFields, ElectromagneticSolution):
    """The field of an incident wave and bodies of several materials and metal; see `RegionFields` for currents and
    regions."""

    saved_classes: ClassVar[Sequence[type]] = (
        *ElectromagneticSolution.saved_classes,
        Region,
        WiredCurrents,
        WireSources,
    )

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
