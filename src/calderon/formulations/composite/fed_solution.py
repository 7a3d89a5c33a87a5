"""The solution of composite bodies with voltages at their ports."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from calderon.formulations.composite.region_fields import RegionFields
from calderon.formulations.electromagnetic.antenna_solution import AntennaSolution
from calderon.formulations.electromagnetic.dielectric_regions import Region
from calderon.spaces import VectorFunction


@dataclass(frozen=True, eq=False)
class CompositeAntennaSolution(RegionFields, AntennaSolution):
    """The field of an antenna with bodies of several materials; see `AntennaSolution` for feeds and gains,
    `CompositeSolution` for currents and regions."""

    saved_classes: ClassVar[Sequence[type]] = (*AntennaSolution.saved_classes, Region)

    electric_currents: tuple[VectorFunction, ...] = ()
    magnetic_currents: tuple[VectorFunction, ...] = ()
    regions: tuple[Region, ...] = ()
    names: tuple[str, ...] = ()
    leaving: tuple[NDArray[np.int64], ...] = ()
    unbounded: int = 0
    metal_power: float = 0.0

    def _require_consistent(self) -> None:
        super()._require_consistent()
        self._require_regions()
