"""The solution of composite bodies with voltages at their ports."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from calderon.formulations.composite.region_fields import RegionFields
from calderon.formulations.composite.wires.wired_currents import WiredCurrents, WireSources
from calderon.formulations.electromagnetic.antenna_solution import AntennaSolution
from calderon.formulations.electromagnetic.dielectric_regions import Region
from calderon.formulations.ports.feeds import available_power
from calderon.formulations.ports.power_waves import Reference
from calderon.mesh.errors import warn_of_accuracy

MOST = 0.05
"""Part of the accepted power by which the power that is radiated and absorbed may differ without a warning."""


@dataclass(frozen=True, eq=False)
class CompositeAntennaSolution(RegionFields, AntennaSolution):
    """The field of an antenna with bodies of several materials; see `AntennaSolution` for feeds and gains,
    `RegionFields` for currents and regions. power_ratio: what is radiated and absorbed over what ports accept, of gaps
    of finite width, whose error it shows; None for others. waves: (m,) amplitudes in W^(1/2) of the waves into modes of
    waveguides, which are the first feeds."""

    power_ratio: float | None = None
    waves: NDArray[np.complex128] = field(default_factory=lambda: np.zeros(0, np.complex128))

    saved_classes: ClassVar[Sequence[type]] = (*AntennaSolution.saved_classes, Region, WiredCurrents, WireSources)

    @property
    def is_lossy(self) -> bool:
        """Whether a medium absorbs."""
        return any(np.imag(each.permittivity) or np.imag(each.permeability) for each in self.regions)

    def available_power(self, reference: Reference = 50.0) -> float:
        """Power in W of the waves into waveguides, sum |a|^2 / 2, and of generators of the internal impedances
        `reference` (ohm) that give the ports these voltages; see `AntennaSolution.available_power`."""
        modes = len(self.waves)
        generators = available_power(self.voltages[modes:], self.feed_currents[modes:], reference)
        return float((np.abs(self.waves) ** 2).sum() / 2 + generators)

    def __str__(self) -> str:
        if self.power_ratio is None:
            return super().__str__()
        return f"{super().__str__()}\nradiated and absorbed: {100 * self.power_ratio:.4g} % of the input power"

    def _require_consistent(self) -> None:
        super()._require_consistent()
        self._require_regions()
        if self.waves.ndim != 1 or len(self.waves) > len(self.feeds):
            raise ValueError(f"waves of shape {self.waves.shape} into guides, of {len(self.feeds)} feeds")


def checked_ratio(solution: CompositeAntennaSolution) -> float:
    """The `power_ratio` of a solution, with an AccuracyWarning beyond 5 %."""
    absorbed = sum(solution.absorbed_power().values()) if solution.is_lossy else 0.0
    spent = solution.radiated_power() + absorbed + solution.metal_power + float(solution.load_powers().sum())
    ratio = spent / solution.input_power
    if abs(ratio - 1) > MOST:
        warn_of_accuracy(
            f"ports in gaps of finite width accept {solution.input_power:.4g} W, and {spent:.4g} W are radiated and "
            "absorbed: refine the cells of the gap and around it"
        )
    return ratio
