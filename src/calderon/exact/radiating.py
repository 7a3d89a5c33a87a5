"""Radiation from a sphere that vibrates in one of its modes.

du/dr = P_n(cos g) on r = a  radiates  u = h_n(kr) / (k h_n'(ka)) P_n(cos g). Order 0 is the pulsating sphere, with
u = -a^2 exp(ik(r - a)) / ((1 - ika) r); order 1 the sphere that moves along the axis as a whole. For u the pressure,
du/dr = i omega rho v with the radial velocity v (time factor exp(-i omega t)).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from calderon.exact.bessel import spherical_hankel
from calderon.exact.sphere import OutgoingSeries
from calderon.validation import nonzero_wavenumber, positive_length, unit_vector


@dataclass(frozen=True, eq=False)
class RadiatingSphere(OutgoingSeries):
    """wavenumber k, radius a, order n, axis (3,): the field of du/dr = P_n on the sphere about the origin.

    far_field(theta, phi): F (...) with u ~ F exp(ikr) / r.
    """

    wavenumber: complex
    radius: float
    order: int
    axis: np.ndarray

    @property
    def outgoing_terms(self) -> np.ndarray:  # type: ignore[override]
        surface = spherical_hankel(self.order, self.wavenumber * self.radius)
        terms = np.zeros(self.order + 1, complex)
        terms[-1] = surface.values[-1, 0] / surface.slopes[-1, 0] / self.wavenumber
        return terms

    def __call__(self, points: ArrayLike, normals: ArrayLike | None = None) -> np.ndarray:
        """u (n,) at points (n, 3) outside or on the sphere; normals, if given, are ignored."""
        return self._outside(points, slope=False)

    def radial_derivative(self, points: ArrayLike) -> np.ndarray:
        """du/dr (n,) at points (n, 3) outside or on the sphere; on it, the prescribed P_n."""
        return self._outside(points, slope=True)

    def radiated_power(self, density: float, sound_speed: float) -> float:
        """Time-averaged power in W for u the pressure in Pa (peak value): int |F|^2 / (2 rho c); real k only."""
        if np.imag(self.wavenumber) != 0:
            raise ValueError("the radiated power needs a real wavenumber")
        peak = self.far_field(self.axis[None])[0]
        return float(4 * np.pi / (2 * self.order + 1) * abs(peak) ** 2 / (2 * density * sound_speed))


def radiating_sphere(k: complex, radius: float = 1.0, order: int = 0, axis: ArrayLike = (0, 0, 1)) -> RadiatingSphere:
    """The sphere with du/dr = P_order(cos of the angle from `axis`) at r = radius."""
    if not (isinstance(order, int | np.integer) and order >= 0):
        raise ValueError(f"order must be an integer of at least 0, got {order!r}")
    return RadiatingSphere(
        nonzero_wavenumber(k), positive_length(radius, "radius"), int(order), unit_vector(axis, "axis")
    )
