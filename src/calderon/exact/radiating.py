"""Radiation from a sphere that vibrates in one of its modes.

du/dr = P_n(cos g) on r = a  radiates  u = h_n(kr) / (k h_n'(ka)) P_n(cos g). Order 0 is the pulsating sphere, with
u = -a^2 exp(ik(r - a)) / ((1 - ika) r); order 1 the sphere that moves along the axis as a whole. For u the pressure,
du/dr = i omega rho v with the radial velocity v (time factor exp(-i omega t)).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from calderon.exact.angular import legendre_sum, unit_directions
from calderon.exact.bessel import spherical_hankel
from calderon.validation import nonzero_wavenumber, points_in_space, positive_length, unit_vector


@dataclass(frozen=True, eq=False)
class RadiatingSphere:
    """wavenumber k, radius a, order n, axis (3,): the field of du/dr = P_n on the sphere about the origin."""

    wavenumber: complex
    radius: float
    order: int
    axis: np.ndarray

    def __call__(self, points: ArrayLike, normals: ArrayLike | None = None) -> np.ndarray:
        """u (n,) at points (n, 3) outside or on the sphere; normals, if given, are ignored."""
        return self._radial(points)[0]

    def radial_derivative(self, points: ArrayLike) -> np.ndarray:
        """du/dr (n,) at points (n, 3) outside or on the sphere; on it, the prescribed P_n."""
        return self._radial(points)[1]

    def far_field(self, theta: ArrayLike, phi: ArrayLike | None = None) -> np.ndarray:
        """F (...) with u ~ F exp(ikr) / r, in directions given by angles or vectors, see `unit_directions`."""
        toward = unit_directions(theta, phi)
        _, mode = self._mode(toward.reshape(-1, 3))
        surface = spherical_hankel(self.order, self.wavenumber * self.radius)
        slope = surface.slopes[-1, 0] * surface.scale[-1, 0]
        return (-1j) ** (self.order + 1) / (self.wavenumber**2 * slope) * mode.reshape(toward.shape[:-1])

    def radiated_power(self, density: float, sound_speed: float) -> float:
        """Time-averaged power in W for u the pressure in Pa (peak value): int |F|^2 / (2 rho c); real k only."""
        if np.imag(self.wavenumber) != 0:
            raise ValueError("the radiated power needs a real wavenumber")
        peak = self.far_field(self.axis[None])[0]
        return float(4 * np.pi / (2 * self.order + 1) * abs(peak) ** 2 / (2 * density * sound_speed))

    def _mode(self, points: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        x = points_in_space(points)
        distance = np.linalg.norm(x, axis=1)
        if np.any(distance == 0):
            raise ValueError("points must not be zero")
        terms = np.zeros(self.order + 1)
        terms[-1] = 1
        return distance, legendre_sum(terms, np.clip(x @ self.axis / distance, -1, 1)).real

    def _radial(self, points: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
        distance, mode = self._mode(points)
        if np.any(distance < self.radius * (1 - 1e-9)):
            raise ValueError("a point lies inside the sphere, where there is no field")
        surface = spherical_hankel(self.order, self.wavenumber * self.radius)
        outside = spherical_hankel(self.order, self.wavenumber * np.maximum(distance, self.radius))
        ratio = outside.scale_over(surface)[-1] / surface.slopes[-1] * mode
        return ratio * outside.values[-1] / self.wavenumber, ratio * outside.slopes[-1]


def radiating_sphere(k: complex, radius: float = 1.0, order: int = 0, axis: ArrayLike = (0, 0, 1)) -> RadiatingSphere:
    """The sphere with du/dr = P_order(cos of the angle from `axis`) at r = radius."""
    if not (isinstance(order, int | np.integer) and order >= 0):
        raise ValueError(f"order must be an integer of at least 0, got {order!r}")
    return RadiatingSphere(
        nonzero_wavenumber(k), positive_length(radius, "radius"), int(order), unit_vector(axis, "axis")
    )
