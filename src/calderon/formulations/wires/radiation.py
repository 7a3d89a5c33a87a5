"""Fields of piecewise linear currents on wires,

    E = ik eta [ int I t G ds + k^-2 int I' grad G ds ],     H = int grad G x t I ds,     G = exp(ikR) / (4 pi R),  (1)

with the direction t of a wire, its current I and I' = dI/ds. With s = s0 + rho sinh(tau), s0 the foot of the
perpendicular from a point and rho its length, ds = R dtau removes the peak of 1/R next to a wire.
"""

import numpy as np
from numpy.typing import NDArray

Complex = NDArray[np.complex128]
CLOSE = np.polynomial.legendre.leggauss(24)
"""Points in tau: fields to 1e-6 from one thousandth of a segment's length on."""
FEW, NARROW = np.polynomial.legendre.leggauss(8), 0.5
"""Points in tau where its interval is shorter than this, as it is two lengths from a segment: fields to 1e-10."""
FAR = np.polynomial.legendre.leggauss(6)
"""Points of far fields: segments are shorter than a wavelength."""
CHUNK = 1_000_000
"""Pairs of a point and a node of the rule that are computed together."""


def with_images(segments: NDArray[np.float64], currents: Complex) -> tuple[NDArray[np.float64], Complex]:
    """Segments (n, 8) and currents (n, 2) with their images in a perfect conductor in z = 0."""
    images = segments.copy()
    images[:, [2, 5]] *= -1
    return np.concatenate([segments, images]), np.concatenate([currents, -currents])


def near_fields(
    segments: NDArray[np.float64], currents: Complex, k: complex, eta: complex, points: NDArray[np.float64]
) -> tuple[Complex, Complex]:
    """E (m, 3) in V/m and H (m, 3) in A/m at points (m, 3) off the axes; segments (n, 8) as `reactions.half_matrix`,
    currents (n, 2) in A at both ends."""
    electric, magnetic = (np.zeros((len(points), 3), np.complex128) for _ in range(2))
    step = max(1, CHUNK // (len(CLOSE[0]) * len(segments)))
    along, length = segments[:, 3:6], segments[:, 6]
    slope = (currents[:, 1] - currents[:, 0]) / length
    for low in range(0, len(points), step):
        s0, across, rho = _feet(segments, points[low : low + step])
        begin, end = np.arcsinh(-s0 / rho), np.arcsinh((length - s0) / rho)
        # integrals over each segment, one column for each of _integrals
        found = np.empty((*rho.shape, 4), np.complex128)
        narrow = end - begin < NARROW
        for rule, there in ((CLOSE, ~narrow), (FEW, narrow)):
            n = np.nonzero(there)[1]
            interval = (end - begin)[there] / 2, (begin + end)[there] / 2
            linear = currents[n, 0] + slope[n] * s0[there], slope[n]
            found[there] = _integrals(rule, interval, rho[there], linear, k)
        part, charge, moved, turning = np.moveaxis(found, -1, 0)
        electric[low : low + step] += 1j * k * eta * (part @ along)
        for factor, vector in ((charge * slope, across), (moved * slope, along)):
            electric[low : low + step] += (
                1j * eta / k * np.einsum("mn,mni->mi", factor, np.broadcast_to(vector, across.shape))
            )
        magnetic[low : low + step] += np.einsum("mn,mni->mi", turning, np.cross(across, along))
    return electric, magnetic


def turnings(segments: NDArray[np.float64], k: complex, points: NDArray[np.float64]) -> Complex:
    """curl int G phi_b t ds (m, n, 2, 3) at points (m, 3), of both linear functions on each segment (n, 8)."""
    along, length = segments[:, 3:6], segments[:, 6]
    s0, across, rho = _feet(segments, points)
    begin, end = np.arcsinh(-s0 / rho).ravel(), np.arcsinh((length - s0) / rho).ravel()
    interval = (end - begin) / 2, (begin + end) / 2
    one = np.ones(s0.size, np.complex128)
    found = _integrals(CLOSE, interval, rho.ravel(), (one, 0 * one), k).reshape(*s0.shape, 4)
    upper = (s0 * found[..., 1] - found[..., 2]) / length  # s = s0 - (s0 - s)
    both = np.stack([found[..., 1] - upper, upper], axis=-1)
    return np.asarray(both[..., None] * np.cross(across, along)[:, :, None])


def _feet(segments: NDArray[np.float64], points: NDArray[np.float64]) -> tuple[NDArray[np.float64], ...]:
    """The feet (m, n) of perpendiculars from points (m, 3) to the axes of segments, by their distances from the
    beginning, the vectors (m, n, 3) from them to the points, and lengths (m, n) of these, not zero."""
    along, length = segments[:, 3:6], segments[:, 6]
    x = points[:, None, :] - segments[None, :, :3]
    s0 = np.einsum("mni,ni->mn", x, along)
    across = x - s0[..., None] * along
    return s0, across, np.maximum(np.linalg.norm(across, axis=-1), 1e-12 * length)


def _integrals(
    rule: tuple[NDArray[np.float64], NDArray[np.float64]],
    interval: tuple[NDArray[np.float64], NDArray[np.float64]],
    rho: NDArray[np.float64],
    linear: tuple[Complex, Complex],
    k: complex,
) -> Complex:
    """Integrals (p, 4) over tau for p pairs of a point and a segment: of I G, G'/R, (s0 - s) G'/R and I G'/R. interval:
    its half length and its middle; linear: the current at the foot and its slope."""
    half, middle = interval
    tau = middle[:, None] + half[:, None] * rule[0]
    from_foot = rho[:, None] * np.sinh(tau)
    r = rho[:, None] * np.cosh(tau)
    current = linear[0][:, None] + linear[1][:, None] * from_foot
    green_ds = (half / (4 * np.pi))[:, None] * rule[1] * np.exp(1j * k * r)  # G ds = exp(ikR) / (4 pi) dtau
    gradient = green_ds * (1j * k - 1 / r) / r  # times the vector from the source
    pairs = (green_ds, current), (gradient, np.ones_like(r)), (gradient, -from_foot), (gradient, current)
    return np.stack([np.einsum("pq,pq->p", *each) for each in pairs], axis=1)


def far_fields(
    segments: NDArray[np.float64], currents: Complex, k: complex, eta: float, directions: NDArray[np.float64]
) -> Complex:
    """F (m, 3) in V toward unit vectors (m, 3): E ~ F exp(ikr) / r about the origin."""
    part = (FAR[0] + 1) / 2
    points = segments[:, None, :3] + part[:, None] * (segments[:, None, 6:7] * segments[:, None, 3:6])
    current = currents[:, :1] * (1 - part) + currents[:, 1:] * part
    moments = (current * (segments[:, 6:7] * FAR[1] / 2))[..., None] * segments[:, None, 3:6]
    points, moments = points.reshape(-1, 3), moments.reshape(-1, 3)
    found = np.empty((len(directions), 3), np.complex128)
    step = max(1, CHUNK // len(points))
    for low in range(0, len(directions), step):
        found[low : low + step] = np.exp(-1j * k * (directions[low : low + step] @ points.T)) @ moments
    found -= np.einsum("mi,mi->m", found, directions)[:, None] * directions
    return np.asarray(1j * k * eta / (4 * np.pi) * found)
