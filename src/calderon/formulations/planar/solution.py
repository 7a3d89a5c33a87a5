"""Solutions of fed metal in a stack of layers: currents, gain, beam, power."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.exact.angular import line_of_sight
from calderon.formulations.planar.layered_currents import LayeredCurrents
from calderon.formulations.ports.feeds import Feeds
from calderon.validation import positive_length, real_number, truth
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

    @property
    def input_impedances(self) -> Complex:
        """(p,) U / I in ohm of each port while the others have their voltages too."""
        return self.voltages / self.feed_currents

    def gain(self, theta: ArrayLike, phi: ArrayLike | None = None, *, decibels: bool = False) -> NDArray[np.float64]:
        """4 pi U / (accepted power), U = |F|^2 / (2 eta); decibels: 10 log10 of it, in dBi."""
        return self._relative(theta, phi, self.power.accepted, decibels)

    def directivity(
        self, theta: ArrayLike, phi: ArrayLike | None = None, *, decibels: bool = False
    ) -> NDArray[np.float64]:
        """4 pi U / (radiated power)."""
        return self._relative(theta, phi, self.power.radiated, decibels)

    def axial_ratio(
        self, theta: ArrayLike, phi: ArrayLike | None = None, *, decibels: bool = False
    ) -> NDArray[np.float64]:
        """Axial ratio of the polarisation, from 1 (circular) to infinity (linear); decibels: 20 log10 of it."""
        _, theta_hat, phi_hat = line_of_sight(theta, phi)
        field = self.far_field(theta, phi)
        value = ellipse_ratio((field * theta_hat).sum(axis=-1), (field * phi_hat).sum(axis=-1))
        return np.asarray(20 * np.log10(value) if truth(decibels, "decibels") else value)

    def beam_width(self, phi: float, level: float = 0.5) -> float:
        """Angle in radians around the strongest direction of the upper half-space in the plane of the azimuth phi,
        within which the gain is above `level` of the largest there."""
        phi, level = real_number(phi, "phi in radians"), positive_length(level, "level")
        theta = np.linspace(-np.pi / 2, np.pi / 2, 721)
        gain = self.gain(np.abs(theta), np.where(theta < 0, phi + np.pi, phi))
        top = int(gain.argmax())
        below = np.flatnonzero(gain < level * gain[top])
        left, right = below[below < top].max(initial=-1), below[below > top].min(initial=len(theta))
        return float(theta[min(right, len(theta) - 1)] - theta[max(left, 0)])

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

    def _relative(self, theta: ArrayLike, phi: ArrayLike | None, power: float, decibels: bool) -> NDArray[np.float64]:
        radial = line_of_sight(theta, phi)[0]
        eta = np.where(radial[..., 2] >= 0, self.radiator.impedance(-1), self.radiator.impedance(0))
        square = (np.abs(self.far_field(theta, phi)) ** 2).sum(axis=-1)
        value = 4 * np.pi * square / (2 * eta * power)
        if not truth(decibels, "decibels"):
            return np.asarray(value)
        with np.errstate(divide="ignore"):
            return np.asarray(10 * np.log10(value))

    def scene(self) -> Scene:
        """The surface current."""
        return replace(self.surface.scene(), subtitle=f"{self.frequency / 1e9:g} GHz")

    def _require_shapes(self, dimension: int) -> None:
        super()._require_shapes(dimension)
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


def ellipse_ratio(first: Complex, second: Complex) -> NDArray[np.float64]:
    """Large over small axis of the ellipse that two orthogonal components draw: (|L| + |R|) / ||L| - |R|| of circular
    ones."""
    left, right = np.abs(first + 1j * second), np.abs(first - 1j * second)
    with np.errstate(divide="ignore"):
        return np.asarray((left + right) / np.abs(left - right))
