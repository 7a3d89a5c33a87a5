"""A current dipole in concentric conductors, a head as brain, skull and scalp: potential and magnetic field."""

from collections.abc import Sequence

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from calderon.exact.vacuum import VACUUM_PERMEABILITY
from calderon.validation import one_or_more_points, one_point, positive_numbers

ORDERS = 400
"""Highest order that is summed."""
SMALLEST = 1e-14
"""Size of an order, over the first ones, at which a sum ends."""


def layered_head(
    radii: Sequence[float], conductivities: Sequence[float], position: ArrayLike, moment: ArrayLike, points: ArrayLike
) -> NDArray[np.float64]:
    """The potential (n,) in V on the outermost of concentric spheres about the origin, insulated outside, of a current
    dipole in the innermost one; its mean over the sphere is 0.

    radii: in m, from inside. conductivities: in S/m, of the ball and the shells between them. position: (3,) in m,
    moment (3,) in A m. points: (n, 3), of which the directions from the origin count.

    With u = A r^n + B r^-(n+1) in each shell for the orders n of Legendre functions, u and sigma du/dr continuous.
    J. C. de Munck, J. Appl. Phys. 64 (1988), 464. ValueError for radii that do not grow and a dipole outside of the
    first one.
    """
    r = positive_numbers(radii, "radii", "radii in m are needed, one or more")
    sigma = positive_numbers(conductivities, "conductivities", "conductivities in S/m are needed, one for each radius")
    if len(r) != len(sigma) or (np.diff(r) <= 0).any():
        raise ValueError(f"radii grow from inside, each with a conductivity, got {r.tolist()} and {sigma.tolist()}")
    y, m, x = one_point(position, "position"), one_point(moment, "moment"), one_or_more_points(points)
    depth = float(np.linalg.norm(y))
    if depth >= r[0]:
        raise ValueError(f"the dipole lies at the radius {depth:g}, which has to be below the first one, {r[0]:g}")
    # the axis through the dipole, and the moment along and across it
    axis = y / depth if depth else np.array([0.0, 0.0, 1.0])
    radial = float(m @ axis)
    tangent = m - radial * axis
    directions = x / np.linalg.norm(x, axis=1, keepdims=True)
    cosine = np.clip(directions @ axis, -1.0, 1.0)
    across = directions - cosine[:, None] * axis
    along = (across @ tangent) / np.maximum(np.linalg.norm(across, axis=1), np.finfo(float).tiny)
    # orders, in units of the outermost radius
    total, ratio, bounds = np.zeros(len(x)), depth / r[-1], r / r[-1]
    largest = 0.0
    for n in range(1, ORDERS + 1):
        share = _on_outermost(n, bounds, sigma) * ratio ** (n - 1)
        part = share * (n * radial * scipy.special.lpmv(0, n, cosine) - along * scipy.special.lpmv(1, n, cosine))
        total += part
        size = abs(share) * n * n
        largest = max(largest, size)
        if size < SMALLEST * largest:
            break
    return np.asarray(total / (4 * np.pi * sigma[0] * r[-1] ** 2))


def head_magnetic_field(position: ArrayLike, moment: ArrayLike, points: ArrayLike) -> NDArray[np.float64]:
    """The magnetic field B (n, 3) in T outside of concentric spheres about the origin of a current dipole in them,
    whatever their radii and conductivities.

    position: (3,) in m, moment (3,) in A m. points: (n, 3), farther from the origin than the dipole. With the vector a
    from the dipole to a point r,

        B = mu_0 / (4 pi F^2) (F m x y - (m x y . r) grad F),        F = |a| (|r| |a| + |r|^2 - y . r).

    A radial dipole, or one in the centre, has none. J. Sarvas, Phys. Med. Biol. 32 (1987), 11, equation 25. ValueError
    for points that are not farther out.
    """
    y, m, r = one_point(position, "position"), one_point(moment, "moment"), one_or_more_points(points)
    away = np.linalg.norm(r, axis=1, keepdims=True)
    if (away <= np.linalg.norm(y)).any():
        raise ValueError("the formula is for points outside: each has to be farther from the origin than the dipole")
    a = r - y
    near = np.linalg.norm(a, axis=1, keepdims=True)
    along, turn = np.einsum("ni,ni->n", a, r)[:, None], np.cross(m, y)
    size = near * (away * near + away**2 - (r @ y)[:, None])
    slope = (near**2 / away + along / near + 2 * (near + away)) * r - (near + 2 * away + along / near) * y
    return np.asarray(VACUUM_PERMEABILITY / (4 * np.pi) * (size * turn - (r @ turn)[:, None] * slope) / size**2)


def _on_outermost(n: int, radii: NDArray[np.float64], sigma: NDArray[np.float64]) -> float:
    """u on the outermost sphere, of radius 1, insulated, for the source r^-(n+1) in the innermost one."""
    ends = []
    for a, b in ((1.0, 0.0), (0.0, 1.0)):  # A and B of a shell times r^n and r^-(n+1) at its outer radius
        scale = 0.0
        for number, radius in enumerate(radii):
            if number:
                inside = radii[number - 1] / radius
                a, b = a * inside**-n, b * inside ** (n + 1)
                size = max(abs(a), abs(b))
                a, b, scale = a / size, b / size, scale + np.log(size)
            if number < len(radii) - 1:
                value, slope = a + b, sigma[number] / sigma[number + 1] * (n * a - (n + 1) * b)
                a, b = ((n + 1) * value + slope) / (2 * n + 1), (n * value - slope) / (2 * n + 1)
        ends.append((a + b, n * a - (n + 1) * b, scale))
    (regular, slope, grown), (source, its_slope, other) = ends
    found = source - its_slope / slope * regular
    return float(found * np.exp(other - (n + 1) * np.log(radii[0])))
