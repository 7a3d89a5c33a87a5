"""What is known of fed metal in a stack of layers: currents, far field, gain, power."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.exact.angular import line_of_sight
from calderon.exact.vacuum import VACUUM_IMPEDANCE
from calderon.layers import Sections
from calderon.layers.radiation import SurfaceWave, responses, surface_waves
from calderon.layers.sections import OPEN
from calderon.quadrature import gauss, triangle_rule
from calderon.spaces import VectorFunction

RULE = 6
THETAS, PHIS = 24, 48
"""Directions in a half-space for the power, and around the axis."""
CUT = 721
"""Directions of a cut through the pattern."""
CHUNK = 256
"""Directions at a time."""
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
class PlanarSolution:
    """Currents for voltages (p,) in V at the ports; peak values, time factor exp(-i omega t).

    feed_currents (p,): in A, into the metal. surface: the surface current in A/m, that of contacts included. height: z
    in m at which probes end; probes: the places and currents in A of vertical currents from the ground to it.
    """

    sections: Sections
    frequency: float
    voltages: Complex
    feed_currents: Complex
    surface: VectorFunction
    height: float
    probes: list[tuple[Any, complex]]

    @property
    def input_impedances(self) -> Complex:
        """(p,) U / I in ohm of each port while the others have their voltages too."""
        return self.voltages / self.feed_currents

    def far_field(self, theta: ArrayLike, phi: ArrayLike | None = None) -> Complex:
        """F (..., 3) in V: E ~ F exp(i k r) / r in an open half-space, by stationary phase.

        theta, phi: in radians, or vectors, as for `exact.unit_directions`. k is that of the half-space. F is zero
        behind a wall, in a lossy half-space, and along the layers at theta = pi / 2.
        """
        radial, theta_hat, phi_hat = line_of_sight(theta, phi)
        flat, around = radial.reshape(-1, 3), phi_hat.reshape(-1, 3)
        out = np.zeros((len(flat), 2), complex)
        for side, sign in ((-1, 1.0), (0, -1.0)):
            chosen = np.flatnonzero(sign * flat[:, 2] > 0)
            if len(chosen) and self._radiates(side):
                out[chosen] = self._amplitudes(flat[chosen], around[chosen], side)
        out = out.reshape(*radial.shape[:-1], 2)
        return np.asarray(out[..., :1] * theta_hat + out[..., 1:] * phi_hat)

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
        """Of the ellipse of polarisation, from 1 (circular) to infinity (linear); decibels: 20 log10 of it."""
        _, theta_hat, phi_hat = line_of_sight(theta, phi)
        field = self.far_field(theta, phi)
        value = ellipse_ratio((field * theta_hat).sum(axis=-1), (field * phi_hat).sum(axis=-1))
        return np.asarray(20 * np.log10(value) if decibels else value)

    def beam_width(self, phi: float, level: float = 0.5) -> float:
        """Angle in radians around the strongest direction of the upper half-space in the plane of the azimuth phi,
        within which the gain is above `level` of the largest there."""
        theta = np.linspace(-np.pi / 2, np.pi / 2, CUT)
        gain = self.gain(np.abs(theta), np.where(theta < 0, phi + np.pi, phi))
        top = int(gain.argmax())
        below = np.flatnonzero(gain < level * gain[top])
        left, right = below[below < top].max(initial=-1), below[below > top].min(initial=CUT)
        return float(theta[min(right, CUT - 1)] - theta[max(left, 0)])

    @cached_property
    def power(self) -> PlanarPower:
        """Where the power goes; that of surface waves and what is left, lost, apply to layers of small loss."""
        accepted = float(np.sum(self.voltages * self.feed_currents.conj()).real / 2)
        radiated, waves = self._radiated(), float(sum(self._carried(wave) for wave in self.surface_waves))
        return PlanarPower(accepted, radiated, waves, accepted - radiated - waves)

    @cached_property
    def surface_waves(self) -> list[SurfaceWave]:
        """The surface waves that horizontal currents at `height` excite."""
        return surface_waves(self.sections, self.height, bool(self.probes))

    def _radiated(self) -> float:
        """int |F|^2 / (2 eta) over the open half-spaces."""
        cosines, weights = gauss(THETAS).points, gauss(THETAS).weights
        phi = 2 * np.pi * np.arange(PHIS) / PHIS
        total = 0.0
        for side, sign in ((-1, 1.0), (0, -1.0)):
            if self._radiates(side):
                field = self.far_field(np.arccos(sign * cosines)[:, None], phi)
                square = (np.abs(field) ** 2).sum(axis=(1, 2)) * 2 * np.pi / PHIS
                total += float(weights @ square) / (2 * self._impedance(side))
        return total

    def _carried(self, wave: SurfaceWave) -> float:
        """Power in W of a surface wave: half of the real part of i pi times the residue, over all directions."""
        phi = 2 * np.pi * np.arange(PHIS) / PHIS
        unit = np.stack([np.cos(phi), np.sin(phi)], axis=1)
        k = wave.k.real
        horizontal, vertical = self._transforms(k * unit)
        across = np.stack([-unit[:, 1], unit[:, 0]], axis=1)
        along = (horizontal * (unit if wave.kind == "TM" else across)).sum(axis=1) + wave.vertical * vertical
        mean = float(np.mean(np.abs(along) ** 2))
        return VACUUM_IMPEDANCE * k / 4 * mean * (-1j * wave.residue).real

    def _amplitudes(self, radial: NDArray[np.float64], around: NDArray[np.float64], side: int) -> Complex:
        """(n, 2) F along theta-hat and phi-hat in V, in directions (n, 3) with phi-hat `around` (n, 3)."""
        sections = self.sections
        k, face = sections.wavenumbers[side].real, float(sections.low[-1] if side else sections.high[0])
        horizontal, vertical = self._transforms(k * radial[:, :2])
        size = np.linalg.norm(radial[:, :2], axis=1)
        found = responses(sections, k * size + 0j, face, self.height, bool(self.probes))
        along = horizontal[:, 0] * around[:, 1] - horizontal[:, 1] * around[:, 0]
        across = (horizontal * around[:, :2]).sum(axis=1)
        c = radial[:, 2]
        e_u, e_v = found.tm * along + found.vertical * vertical, found.te * across
        factor = -1j * k * np.abs(c) / (2 * np.pi) * VACUUM_IMPEDANCE * np.exp(-1j * k * c * face)
        values = np.stack([factor * e_u / c, factor * e_v], axis=1)
        return values

    def _transforms(self, k: NDArray[np.float64]) -> tuple[Complex, Complex]:
        """Transforms (n, 2) in A m of the horizontal and (n,) in A of the vertical currents at wavenumbers k (n, 2)."""
        space: Any = self.surface.space
        rule = triangle_rule(RULE)
        corners = space.mesh.vertices[space.mesh.triangles[space.triangles]][..., :2]
        points = (rule.barycentric @ corners).reshape(-1, 2)
        local = np.where(space.dofs >= 0, self.surface.coefficients[space.dofs], 0)
        current = np.einsum("naqc,na,q,n->nqc", space.values(rule.points)[..., :2], local, 2 * rule.weights,
                            space.mesh.areas[space.triangles]).reshape(-1, 2)  # fmt: skip
        horizontal = np.concatenate(
            [np.exp(-1j * k[n : n + CHUNK] @ points.T) @ current for n in range(0, len(k), CHUNK)]
        )
        vertical = np.zeros(len(k), complex)
        for place, each in self.probes:
            vertical += each * np.exp(-1j * k @ np.asarray(place))
        return horizontal, vertical

    def _radiates(self, side: int) -> bool:
        """Whether there is a half-space without loss."""
        return bool(self.sections.ends[side] == OPEN and self.sections.wavenumbers[side].imag == 0)

    def _impedance(self, side: int) -> float:
        return VACUUM_IMPEDANCE * float(np.sqrt(self.sections.mu[side] / self.sections.eps[side]).real)

    def _relative(self, theta: ArrayLike, phi: ArrayLike | None, power: float, decibels: bool) -> NDArray[np.float64]:
        radial = line_of_sight(theta, phi)[0]
        eta = np.where(radial[..., 2] >= 0, self._impedance(-1), self._impedance(0))
        square = (np.abs(self.far_field(theta, phi)) ** 2).sum(axis=-1)
        value = 4 * np.pi * square / (2 * eta * power)
        if not decibels:
            return np.asarray(value)
        with np.errstate(divide="ignore"):
            return np.asarray(10 * np.log10(value))

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
