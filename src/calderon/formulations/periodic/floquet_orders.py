"""Plane waves that leave a periodic surface."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

POLARISATIONS = ("TM", "TE")


@dataclass(frozen=True, eq=False)
class FloquetOrders:
    """Waves of the orders m that propagate in a half-space, (0, 0) first.

    orders (n, 2). theta, phi (n,): where they travel to, theta from +z, in radians. amplitudes (n, 2, 2) without unit:
    [m, p, q] of the polarisation p (0: TM, 1: TE) for incident waves of the polarisation q, of which the squared
    magnitude is the part of the incident power.
    """

    orders: NDArray[np.int64]
    theta: NDArray[np.float64]
    phi: NDArray[np.float64]
    amplitudes: NDArray[np.complex128]

    @property
    def specular(self) -> NDArray[np.complex128]:
        """(2, 2) amplitudes of the order (0, 0)."""
        return self.amplitudes[0]

    @property
    def power(self) -> NDArray[np.float64]:
        """(n, 2) parts of the power of incident TM and TE waves that each order carries away."""
        return np.asarray((np.abs(self.amplitudes) ** 2).sum(axis=1))

    def __str__(self) -> str:
        lines = ["order     theta      phi   of TM power   of TE power"]
        for (first, second), theta, phi, power in zip(
            self.orders, np.degrees(self.theta), np.degrees(self.phi), self.power, strict=True
        ):
            lines.append(f"{first:3d}{second:3d} {theta:7.2f}° {phi:7.2f}°  {power[0]:12.6f}  {power[1]:12.6f}")
        return "\n".join(lines)
