"""The solution of composite bodies with voltages at their ports."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from calderon.formulations.composite.region_fields import RegionFields
from calderon.formulations.composite.wired_currents import WiredCurrents, WireSources
from calderon.formulations.electromagnetic.antenna_solution import AntennaSolution
from calderon.formulations.electromagnetic.dielectric_regions import Region


@dataclass(frozen=True, eq=False)
class CompositeAntennaSolution(RegionFields, AntennaSolution):
    """The field of an antenna with bodies of several materials; see `AntennaSolution` for feeds and gains,
    `RegionFields` for currents and regions."""

    saved_classes: ClassVar[Sequence[type]] = (*AntennaSolution.saved_classes, Region, WiredCurrents, WireSources)

    def _require_consistent(self) -> None:
        super()._require_consistent()
        self._require_regions()
