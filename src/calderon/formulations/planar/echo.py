"""Plane waves that metal in layers scatters."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.exact.angular import RECEIVERS, line_of_sight, radar_cross_section
from calderon.exact.vacuum import VACUUM_IMPEDANCE
from calderon.formulations.planar.layered_currents import PRODUCTS_AT_ONCE, LayeredCurrents
from calderon.formulations.planar.radiator import Complex, Radiator
from calderon.layers.plane_wave import plane_wave
from calderon.validation import one_of

POLARIZATIONS = [receive + transmit for receive in RECEIVERS for transmit in RECEIVERS]


class EchoPower(NamedTuple):
    """Time-averaged powers in W: what the currents take from the wave and its reflection, what they radiate into open
    half-spaces and into surface waves, and what is lost in layers, walls, metal and loads."""

    taken: float
    radiated: float
    surface_waves: float
    lost: float


@dataclass(frozen=True, eq=False)
class PlanarEcho(LayeredCurrents):
    """Currents of a plane wave of 1 V/m, peak value, time factor exp(-i omega t).

    The wave comes from (theta, phi), polarised along theta-hat ("V") or phi-hat ("H"), with phase 0 at the origin if
    there were no stack. The scattered field is that of the currents: what the stack alone reflects and transmits is not
    part of it, but of `electric` and `magnetic`.

    feed_currents (p,): in A at the ports, which are short-circuited. loads (dimension,): int f . E in V m of the wave
    and what the stack makes of it.
    """

    theta: float
    phi: float
    polarization: str
    feed_currents: Complex
    loads: Complex

    def rcs(
        self, theta: ArrayLike, phi: ArrayLike | None = None, polarization: str | None = None
    ) -> NDArray[np.float64]:
        """4 pi |F|^2 in m^2 in directions as for `far_field`; of the part along "V" or "H", or of all of it (None)."""
        return radar_cross_section(self.far_field, 1.0, theta, phi, polarization)

    def _near_fields(self, points: NDArray[np.float64]) -> tuple[Complex, Complex]:
        """E and H of the currents, the wave, and what the stack makes of it."""
        radial, *vectors = (each[0] for each in line_of_sight([self.theta], [self.phi]))
        electric, magnetic = plane_wave(self.sections, radial, vectors["VH".index(self.polarization)], points)
        found = super()._near_fields(points)
        return found[0] + electric, found[1] + magnetic / VACUUM_IMPEDANCE

    @cached_property
    def power(self) -> EchoPower:
        """Where the power goes that the currents take; lost is what is left."""
        taken = float(np.vdot(self.surface.coefficients, self.loads).real / 2)
        radiated, waves = self.radiated_power(), self.carried_power()
        return EchoPower(taken, radiated, waves, taken - radiated - waves)

    def _require_consistent(self) -> None:
        super()._require_consistent()
        one_of(self.polarization, RECEIVERS, "polarization")
        dimension = len(self.surface.coefficients)
        if self.loads.shape != (dimension,) or self.feed_currents.ndim != 1:
            raise ValueError(f"loads of the shape {self.loads.shape} for {dimension} functions")

    def __str__(self) -> str:
        angles = f"theta {np.degrees(self.theta):.4g}, phi {np.degrees(self.phi):.4g} degrees"
        return f"{self.frequency / 1e9:.6g} GHz, wave {self.polarization} from {angles}, {self.power}"


def received_from(radiator: Radiator, theta: ArrayLike, phi: ArrayLike | None) -> Complex:
    """(n, 2, dimension) `Radiator.received` from n directions; ValueError for those from which no wave comes."""
    radial, _, phi_hat = line_of_sight(theta, phi)
    flat, around = radial.reshape(-1, 3), phi_hat.reshape(-1, 3)
    out, grazing = np.empty((len(flat), 2, radiator.space.dimension), complex), 1e-6  # a cosine of theta
    for side, sign in ((-1, 1.0), (0, -1.0)):
        chosen = np.flatnonzero(sign * flat[:, 2] > grazing)
        if len(chosen) and not radiator.radiates(side):
            where = "above" if side else "below"
            raise ValueError(
                f"theta: no plane wave comes from {where}, where the stack ends with a wall or a lossy medium: choose "
                f"angles {'above' if side else 'below'} pi / 2"
            )
        if len(chosen):
            out[chosen] = radiator.received(flat[chosen], around[chosen], side)
    if np.any(np.abs(flat[:, 2]) <= grazing):
        raise ValueError("theta = pi / 2: a wave along the layers does not reach the metal, choose another angle")
    return out


def monostatic(
    radiator: Radiator,
    solved: Callable[[Complex], Complex],
    theta: ArrayLike,
    phi: ArrayLike | None,
    polarization: str,
) -> NDArray[np.float64]:
    """RCS (...) in m^2 toward where the waves come from, with the receiver's polarisation first; solved: coefficients
    (dimension, n) of currents for right-hand sides."""
    receive, transmit = ("VH".index(letter) for letter in polarization)
    radial = line_of_sight(theta, phi)[0]
    flat, step = radial.reshape(-1, 3), max(1, PRODUCTS_AT_ONCE // radiator.space.dimension)
    out = np.empty(len(flat))
    for low in range(0, len(flat), step):
        part = flat[low : low + step]
        loads = received_from(radiator, part, None)
        currents = solved(-loads[:, transmit].T / VACUUM_IMPEDANCE)
        mu = radiator.sections.mu[np.where(part[:, 2] > 0, -1, 0)]
        amplitude = VACUUM_IMPEDANCE * radiator.sections.k0 * mu / (4 * np.pi) * (loads[:, receive].T * currents).sum(0)
        out[low : low + step] = 4 * np.pi * np.abs(amplitude) ** 2
    return out.reshape(radial.shape[:-1])
