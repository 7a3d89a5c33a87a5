"""Solutions of fed metal in a stack of layers: currents, gain, beam, power."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.formulations.planar.layered_currents import LayeredCurrents
from calderon.formulations.ports.feeds import Feeds
from calderon.view import Scene, Viewable

Complex = NDArray[np.complex128]


class PlanarPower(NamedTuple):
    """Time-averaged powers in W: accepted at the ports, radiated into open half-spaces, in surface waves far away, and
    lost in layers, walls and metal."""

    accepted: float
    radiated: float
    surface_waves: float
    lost: float

    def __str__(self) -> str:
        parts = ", ".join(
            f"{100 * value / self.accepted:.2f} % {name}"
            for name, value in (
                ("radiated", self.radiated), ("in surface waves", self.surface_waves), ("lost", self.lost),
            )
        )  # fmt: skip
        return f"{self.accepted:.5g} W accepted: {parts}"


@dataclass(frozen=True, eq=False)
class PlanarSolution(LayeredCurrents, Feeds, Viewable):
    """Currents for voltages (p,) in V at the ports; peak values, time factor exp(-i omega t).

    feed_currents (p,): in A, into the metal. surface: the surface current in A/m, that of contacts included. height: z
    in m at which probes end; probes: the places and currents in A of vertical currents from the ground to it.
    """

    voltages: Complex
    feed_currents: Complex

    @cached_property
    def power(self) -> PlanarPower:
        """Where the power goes; that of surface waves and what is left, lost, apply to layers of small loss."""
        accepted, radiated, waves = self.input_power, self.radiated_power(), self.carried_power()
        return PlanarPower(accepted, radiated, waves, accepted - radiated - waves)

    @property
    def _eta(self) -> float:
        found = {self.radiator.impedance(side) for side in (-1, 0) if self.radiator.radiates(side)}
        if len(found) != 1:
            raise ValueError("files of far fields are those of one medium around: this stack has none, or two")
        return found.pop()

    def _eta_toward(self, radial: NDArray[np.float64]) -> Any:
        return np.where(radial[..., 2] >= 0, self.radiator.impedance(-1), self.radiator.impedance(0))

    def scene(self) -> Scene:
        """The surface current."""
        return replace(self.surface.scene(), subtitle=f"{self.frequency / 1e9:g} GHz")

    def _require_consistent(self) -> None:
        super()._require_consistent()
        if not self.voltages.shape == self.feed_currents.shape == (len(self.voltages),):
            raise ValueError("voltages and currents of another number of ports")

    @property
    def brief(self) -> str:
        """Frequency and impedances."""
        return f"{self.frequency / 1e9:.6g} GHz, Z = {', '.join(f'{z:.5g}' for z in self.input_impedances)} ohm"

    def __str__(self) -> str:
        lines = [f"{self.frequency / 1e9:.6g} GHz"]
        for n, (u, i) in enumerate(zip(self.voltages, self.feed_currents, strict=True), start=1):
            z = u / i
            lines.append(f"port {n}: U = {u:.5g} V, I = {i:.5g} A, Z = {z:.5g} ohm")
        return "\n".join([*lines, str(self.power)])
