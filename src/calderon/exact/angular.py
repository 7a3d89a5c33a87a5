"""Directions on the sphere, and the angular functions of electromagnetic multipoles.

pi_n = P_n^1 / sin t and tau_n = dP_n^1 / dt at x = cos t, P_n^1 = sin t dP_n/dx (without the sign (-1)^m):
  pi_0 = 0, pi_1 = 1,  (n - 1) pi_n = (2n - 1) x pi_(n-1) - n pi_(n-2),  tau_n = n x pi_n - (n + 1) pi_(n-1),
stable upward on [-1, 1]. C. F. Bohren and D. R. Huffman, Absorption and Scattering of Light by Small Particles (1983),
eq. 4.47.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.polynomial.legendre import legval
from numpy.typing import ArrayLike

from calderon.validation import broadcast, unit_vectors, unmasked


def multipole_angles(last: int, cosine: np.ndarray) -> Iterator[tuple[int, np.ndarray, np.ndarray]]:
    """(n, pi_n, tau_n) for n = 1 .. last at cosine (p,) in [-1, 1]."""
    below, here = np.zeros_like(cosine), np.ones_like(cosine)
    for n in range(1, last + 1):
        yield n, here, n * cosine * here - (n + 1) * below
        below, here = here, ((2 * n + 1) * cosine * here - (n + 1) * below) / n


def unit_directions(theta: ArrayLike, phi: ArrayLike | None = None) -> np.ndarray:
    """Unit vectors (..., 3), from angles or from vectors: the one convention of all far fields.

    theta, phi: angles in radians, up to pi and 4 pi, arrays that are broadcast to the shape (...); theta is
    counted from the z axis, phi from x toward y. Without phi, theta is an array of vectors (n, 3) of any length but
    zero, or one unit vector (3,), and the result is (n, 3) or (1, 3).

    Raises TypeError for what are no real numbers, ValueError for shapes that do not fit, NaN, infinity and vectors of
    length zero, and where vectors could be meant as angles or angles as vectors.
    """
    return _directions(theta, phi)[0]


def line_of_sight(theta: ArrayLike, phi: ArrayLike | None = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Unit vectors r, theta-hat (V) and phi-hat (H), each (..., 3), toward an observer; directions and errors as for
    `unit_directions`. Of vectors along the z axis phi is 0."""
    radial, ct, st, cp, sp = _directions(theta, phi)
    return radial, np.stack([ct * cp, ct * sp, -st], axis=-1), np.stack([-sp, cp, np.zeros_like(sp)], axis=-1)


def _directions(
    theta: ArrayLike, phi: ArrayLike | None
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Unit vectors (..., 3), the cosine and sine of theta and those of phi (...)."""
    if phi is None:
        radial = _checked_vectors(theta)
        x, y, ct = radial.T
        st = np.hypot(x, y)
        safe = np.where(st > 0, st, 1.0)
        return radial, ct, st, np.where(st > 0, x / safe, 1.0), y / safe
    t, p = _checked_angles(theta, phi)
    ct, st, cp, sp = np.cos(t), np.sin(t), np.cos(p), np.sin(p)
    return np.stack([st * cp, st * sp, ct], axis=-1), ct, st, cp, sp


def _checked_vectors(vectors: ArrayLike) -> np.ndarray:
    """Unit vectors (n, 3)."""
    given = unmasked(vectors, "directions")
    if given.ndim not in (1, 2) or given.shape[-1] != 3:
        raise ValueError(
            f"directions must have shape (n, 3), got {given.shape} and no phi: give vectors, or angles theta and phi "
            "in radians"
        )
    unit = unit_vectors(given)
    if given.ndim == 1 and abs(np.linalg.norm(given) - 1) > 1e-6:
        raise ValueError(
            f"three numbers {given.tolist()} without phi may be angles or a vector: give phi, a vector of length 1, or "
            "vectors of shape (n, 3)"
        )
    return unit


def _checked_angles(theta: ArrayLike, phi: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Both in double precision and of one shape."""
    if isinstance(phi, str):
        raise TypeError(
            f"phi must be angles in radians, got {phi!r}: name the options that follow, as polarization='V'"
        )
    t, p = broadcast({"theta": theta, "phi": phi}, "angles in radians")
    for name, values, turns in (("theta", t, 1), ("phi", p, 4)):
        largest = float(np.abs(values).max(initial=0.0))
        if largest > turns * np.pi * (1 + 1e-6):  # single precision rounds pi upward
            raise ValueError(
                f"{name} = {largest:.6g}: angles are in radians, theta from -pi to pi, phi from -4 pi to 4 pi; give "
                f"degrees as np.radians({name})"
            )
    given = np.asarray(theta)
    if given.ndim == 2 and given.shape[1] == 3 and given.size and np.allclose(np.sum(given**2, axis=1), 1, atol=1e-9):
        raise ValueError(
            f"theta of shape {given.shape} holds unit vectors: give these without phi, or angles theta and phi"
        )
    return t, p


RECEIVERS = "V", "H"
"""Polarizations of receivers, in the order of their unit vectors in a `line_of_sight`."""


def radar_cross_section(
    far_field: Callable[[np.ndarray], np.ndarray],
    amplitude: complex,
    theta: ArrayLike,
    phi: ArrayLike | None,
    polarization: str | None = None,
) -> np.ndarray:
    """4 pi |F|^2 / |amplitude|^2 in m^2 in directions as for `unit_directions`, F = far_field(directions (n, 3)) in V
    for an incident wave of that amplitude in V/m; of its part along the polarization "V" or "H", of all of it for None.
    """
    if polarization is not None and not (isinstance(polarization, str) and polarization in RECEIVERS):
        raise ValueError(f"unknown polarization {polarization!r}: choose 'V' (theta), 'H' (phi) or None (both)")
    frame = line_of_sight(theta, phi)
    far = far_field(frame[0].reshape(-1, 3)).reshape(frame[0].shape) / amplitude
    if polarization is None:
        return 4 * np.pi * np.sum(np.abs(far) ** 2, axis=-1)
    return 4 * np.pi * np.abs(np.sum(far * frame[1 + RECEIVERS.index(polarization)], axis=-1)) ** 2


@dataclass(frozen=True, eq=False)
class PolarFrame:
    """Spherical coordinates of points (p, 3) about an axis d, and the components of a vector e orthogonal to d.

    distance (p,); cosine, sine of the angle from d (p,); radial, polar, azimuthal: unit vectors (p, 3).
    even, odd (p,): with e as x axis, e_x cos(azimuth) and e_x sin(azimuth); e may be complex.
    """

    distance: np.ndarray
    cosine: np.ndarray
    sine: np.ndarray
    radial: np.ndarray
    polar: np.ndarray
    azimuthal: np.ndarray
    even: np.ndarray
    odd: np.ndarray

    @classmethod
    def of(cls, points: np.ndarray, axis: np.ndarray, vector: np.ndarray) -> "PolarFrame":
        """The frame at points (p, 3); on the axis the azimuth is arbitrary, at the origin the axis is taken."""
        height = points @ axis
        transverse = points - height[:, None] * axis
        across = np.linalg.norm(transverse, axis=1)
        distance = np.hypot(height, across)
        on_axis = across <= 1e-14 * distance
        safe = np.where(distance > 0, distance, 1.0)
        cosine = np.where(distance > 0, height / safe, 1.0)
        sine = np.where(on_axis, 0.0, across / safe)
        other = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
        other = other / np.linalg.norm(other)
        outward = np.where(on_axis[:, None], other, transverse / np.where(on_axis, 1.0, across)[:, None])
        azimuthal = np.cross(axis, outward)
        polar = cosine[:, None] * outward - sine[:, None] * axis
        radial = sine[:, None] * outward + cosine[:, None] * axis
        return cls(distance, cosine, sine, radial, polar, azimuthal, outward @ vector, -(azimuthal @ vector))

    def vectors(self, radial: np.ndarray, polar: np.ndarray, azimuthal: np.ndarray) -> np.ndarray:
        """Vectors (p, 3) of the given components (p,)."""
        return radial[:, None] * self.radial + polar[:, None] * self.polar + azimuthal[:, None] * self.azimuthal


def legendre_sum(terms: np.ndarray, cosine: np.ndarray) -> np.ndarray:
    """sum_n terms_n P_n(cosine), shape (p,); terms (N + 1,) or (N + 1, p), cosine (p,) in [-1, 1]."""
    return np.asarray(legval(cosine, terms.astype(np.complex128, copy=False), tensor=False))
