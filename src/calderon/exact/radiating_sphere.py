"""Radiation of sound by a sphere that vibrates with any velocity about an axis, and by a cap of it.

With du/dr = sum_n s_n P_n(cos g) on r = a, g the angle from the axis, the field outside is

    u = sum_n s_n h_n(kr) / (k h_n'(ka)) P_n(cos g).

For u the pressure, du/dr = i omega rho v with the radial velocity v, time factor exp(-i omega t). P. M. Morse and K. U.
Ingard, Theoretical Acoustics (1968), section 7.2.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import ArrayLike

from calderon.exact.bessel import spherical_hankel
from calderon.exact.sphere import OutgoingSeries
from calderon.validation import (
    finite_numbers,
    nonzero_wavenumber,
    positive_length,
    real_number,
    unit_vector,
    unmasked,
    whole_number,
)

CAP_TERMS = 400
"""Orders of a cap beyond k a: its slopes fall like n^(-1/2), the pressure that they cause on it like n^(-2)."""
MOST_WAVES = 2e5
"""The largest k a of a cap, as of other series of partial waves."""


@dataclass(frozen=True, eq=False)
class RadiatingSphere(OutgoingSeries):
    """The field of du/dr = sum_n s_n P_n on a sphere about the origin.

    wavenumber: k. radius: a. slope_terms (N + 1,): s_n. axis (3,): from which the angle is counted. far_field(theta,
    phi): F (...) with u ~ F exp(ikr) / r.
    """

    wavenumber: complex
    radius: float
    slope_terms: np.ndarray
    axis: np.ndarray

    def __repr__(self) -> str:
        degrees = len(self.slope_terms) - 1
        return f"RadiatingSphere(k = {self.wavenumber:g}, radius {self.radius:g}, degrees up to {degrees})"

    @property
    def outgoing_terms(self) -> np.ndarray:  # type: ignore[override]
        surface = spherical_hankel(len(self.slope_terms) - 1, self.wavenumber * self.radius)
        return np.asarray(self.slope_terms * surface.values[:, 0] / surface.slopes[:, 0] / self.wavenumber)

    def __call__(self, points: ArrayLike, normals: ArrayLike | None = None) -> np.ndarray:
        """u (n,) at points (n, 3) outside or on the sphere; normals, if given, are ignored."""
        return self._outside(points, slope=False)

    def radial_derivative(self, points: ArrayLike) -> np.ndarray:
        """du/dr (n,) at points (n, 3) outside or on the sphere; on it, the prescribed one."""
        return self._outside(points, slope=True)

    def complex_power(self, density: float, sound_speed: float) -> complex:
        """1/2 int p conj(v) over the sphere in W, for u the pressure p in Pa (peak values), rho in kg/m^3 and c in m/s;
        real k only. The real part is radiated; divided by 1/2 int |v|^2 it is the radiation impedance in Pa s/m."""
        impedance = self._impedance(density, sound_speed)
        squares = 4 * np.pi * self.radius**2 / (2 * np.arange(len(self.slope_terms)) + 1)  # int P_n^2
        work = np.sum(squares * self.outgoing_terms * self.slope_terms.conj())
        return complex(work / np.conj(1j * self.wavenumber * impedance) / 2)

    def radiated_power(self, density: float, sound_speed: float) -> float:
        """Time-averaged power in W for u the pressure in Pa (peak value): int |F|^2 / (2 rho c); real k only."""
        impedance = self._impedance(density, sound_speed)
        orders = np.arange(len(self.slope_terms))
        return float(4 * np.pi * np.sum(np.abs(self._far_terms) ** 2 / (2 * orders + 1)) / (2 * impedance))

    def directivity_index(self) -> float:
        """10 log10 of the intensity along the axis over its mean in all directions, far away, in dB; real k only."""
        return float(10 * np.log10(abs(self._far_terms.sum()) ** 2 / 2 / self.radiated_power(1.0, 1.0) * 4 * np.pi))

    def _impedance(self, density: float, sound_speed: float) -> float:
        """rho c in Pa s/m."""
        if np.imag(self.wavenumber) != 0:
            raise ValueError("the radiated power needs a real wavenumber")
        return positive_length(density, "density") * positive_length(sound_speed, "sound_speed")


def radiating_sphere(
    k: complex,
    radius: float = 1.0,
    order: int = 0,
    axis: ArrayLike = (0, 0, 1),
    slopes: Sequence[complex] | None = None,
) -> RadiatingSphere:
    """The sphere with du/dr = P_order(cos of the angle from `axis`) at r = radius, or with du/dr = sum_n slopes_n P_n.

    Order 0 is the pulsating sphere, u = -a^2 exp(ik(r - a)) / ((1 - ika) r); order 1 the sphere that moves along the
    axis as a whole. slopes: coefficients of Legendre's polynomials from order 0 on, in which case order stays 0.
    """
    k, radius, axis = nonzero_wavenumber(k), positive_length(radius, "radius"), unit_vector(axis, "axis")
    if slopes is None:
        return RadiatingSphere(k, radius, np.eye(1, whole_number(order, "order", 0) + 1, order)[0], axis)
    if order != 0:
        raise ValueError(f"give order= or slopes=, not both: got order={order!r}")
    count = len(np.atleast_1d(unmasked(slopes, "slopes")))
    terms = finite_numbers(slopes, count, "slopes", "coefficients of Legendre's polynomials, one at least")
    if not count:
        raise ValueError("slopes are coefficients of Legendre's polynomials: one at least is needed")
    return RadiatingSphere(k, radius, terms, axis)


def radiating_cap(k: complex, radius: float, angle: float, axis: ArrayLike = (0, 0, 1)) -> RadiatingSphere:
    """The rigid sphere of which a cap vibrates: du/dr = 1 at r = radius within `angle` (rad) of the axis, else 0.

    s_n = (P_(n-1)(cos angle) - P_(n+1)(cos angle)) / 2, s_0 = (1 - cos angle) / 2, cut 400 orders above k a: the
    pressure on the cap has 4 digits then, fields off the surface all.
    """
    k, radius, axis = nonzero_wavenumber(k), positive_length(radius, "radius"), unit_vector(axis, "axis")
    half = real_number(angle, "angle")
    if not 0 < half <= np.pi:
        raise ValueError(f"angle = {angle!r}: the half angle of a cap is above 0 and at most pi, in radians")
    if abs(k) * radius > MOST_WAVES:
        raise ValueError(f"k a = {abs(k) * radius:.3g} is too large for partial waves: at most {MOST_WAVES:g}")
    orders = np.arange(int(np.ceil(abs(k) * radius)) + CAP_TERMS)
    values = np.append(1.0, scipy.special.eval_legendre(np.arange(len(orders) + 1), np.cos(half)))  # P_(-1) = 1
    return RadiatingSphere(k, radius, (values[:-2] - values[2:]) / 2, axis)
