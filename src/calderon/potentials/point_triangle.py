"""Potentials of flat triangles at points near them: the singular part in closed form, the smooth rest by quadrature.

4 pi G = e^(ikr)/r = 1/r - k^2 r/2 + k^4 r^3/24 + rest(r), for complex k; odd powers of r are singular, and those three
are integrated by quadrature/point_triangle.py. The rest begins with i k and has its first singular term at r^5. With
the density f, a polynomial in the plane of the triangle, and a term R^q, the divergence theorem leaves

    int f R^q,                                                                      the single layer,
    -q z int f R^(q - 2),                                                           the double layer,
    int grad f R^q - sum m int_e f R^q,   normal  q z int f R^(q - 2),              the gradient of the single layer,
    q z (sum m int_e f R^(q - 2) - int grad f R^(q - 2)),
        normal  q (sum t int_e f R^(q - 2) - (q + 1) int f R^(q - 2) - int P.grad f R^(q - 2)),      of the double one.
"""

import functools
import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.backends import run_tasks, thread_count
from calderon.backends.numba import jitable_part, kernel
from calderon.quadrature import triangle_rule
from calderon.quadrature.point_triangle import (
    EDGE,
    POWERS,
    along_edge,
    edge_integrals,
    over_triangle,
    surface_integrals,
)

DEGREES = ((0.05, 4), (0.2, 6), (0.6, 8), (1.5, 12), (np.inf, 20))
"""(|k| times the size of a triangle, degree of the rule for the rest) up to which it is accurate to nine digits."""
LARGEST = 2.0
"""|k r| up to which the rest is summed as a series."""
REACH = 4.0
"""Sizes of a triangle within which its points are, as a rule: farther ones take no series."""
SHARE = 512
"""Pairs of one task."""


class Plane(NamedTuple):
    """Triangles in frames of their own: frames (n, 4, 3) centroid, two tangents, normal; corners (n, 3, 2) in that
    frame; densities (n, D, 6, 2): coefficients of 1, x, y, x^2, x y, y^2 of each density, Re and Im."""

    frames: NDArray[np.float64]
    corners: NDArray[np.float64]
    densities: NDArray[np.float64]

    @staticmethod
    def of(corners: NDArray[np.float64], normals: NDArray[np.float64], densities: NDArray[np.complex128]) -> "Plane":
        """Of corners (n, 3, 3), unit normals (n, 3) and densities (n, D, 1, 3 or 6) as coefficients of 1, u, v, u^2,
        u v, v^2 in reference coordinates. NotImplementedError for more coefficients."""
        if densities.shape[2] > 6:
            raise NotImplementedError(
                "potentials near a surface accept densities of degree 0 to 2: project the density on P2, or choose "
                "points at a distance of some triangles"
            )
        centres = corners.mean(axis=1)
        one = corners[:, 1] - corners[:, 0]
        one = one / np.linalg.norm(one, axis=1, keepdims=True)
        frames = np.stack([centres, one, np.cross(normals, one), normals], axis=1)
        flat = np.einsum("nmc,ntc->nmt", corners - centres[:, None], frames[:, 1:3])
        sides = np.stack([flat[:, 1] - flat[:, 0], flat[:, 2] - flat[:, 0]], axis=2)
        inverse = np.linalg.inv(sides)
        start = -np.einsum("nuc,nc->nu", inverse, flat[:, 0])  # (u, v) at the centroid: (1/3, 1/3)
        given = np.zeros((*densities.shape[:2], 6), complex)
        given[..., : densities.shape[2]] = densities
        quadratic = np.empty((*densities.shape[:2], 2, 2), complex)
        quadratic[..., 0, 0], quadratic[..., 1, 1] = given[..., 3], given[..., 5]
        quadratic[..., 0, 1] = quadratic[..., 1, 0] = given[..., 4] / 2
        linear = given[..., 1:3] + 2 * np.einsum("ndab,nb->nda", quadratic, start)
        constant = given[..., 0] + np.einsum("nda,na->nd", (linear + given[..., 1:3]) / 2, start)
        linear = np.einsum("nda,nac->ndc", linear, inverse)
        quadratic = np.einsum("nae,ndab,nbf->ndef", inverse, quadratic, inverse, optimize=True)
        parts = [constant, linear[..., 0], linear[..., 1], quadratic[..., 0, 0], 2 * quadratic[..., 0, 1],
                 quadratic[..., 1, 1]]  # fmt: skip
        table = np.stack(parts, axis=-1)
        return Plane(frames, flat, np.ascontiguousarray(np.stack([table.real, table.imag], axis=-1)))


class Series(NamedTuple):
    """Of the rest g, of h = g'/r and of w = h'/r in powers of r: coefficients (3, n, 2), Re and Im, up to the distance
    `reach`."""

    coefficients: NDArray[np.float64]
    reach: float

    @staticmethod
    def of(k: complex, size: float) -> "Series":
        """For triangles of that size: e^(ikr)/r = sum (ik)^n r^(n - 1) / n!, of which n = 0, 2 and 4 are no rest."""
        largest = min(LARGEST, abs(k) * REACH * size)
        count = next(n for n in range(6, 60) if largest**n / math.factorial(n) < 1e-17)
        powers = [(1j * k) ** n / math.factorial(n) * (n not in (0, 2, 4)) for n in range(count + 6)]
        rows = [
            [powers[n + 1] for n in range(count)],
            [(n + 2) * powers[n + 3] for n in range(count)],
            [(n + 4) * (n + 2) * powers[n + 5] for n in range(count)],
        ]
        table = np.array(rows)
        return Series(np.stack([table.real, table.imag], axis=2), largest / abs(k) if k else 0.0)


@jitable_part
def _sum(row, r):  # type: ignore[no-untyped-def]
    """A row of a series at r."""
    re, im = 0.0, 0.0
    for n in range(row.shape[0] - 1, -1, -1):
        re, im = re * r + row[n, 0], im * r + row[n, 1]
    return complex(re, im)


@jitable_part
def _rest(k, r):  # type: ignore[no-untyped-def]
    """What is left of g = e^(ikr)/r, of h = g'/r and of w = h'/r without those of 1/r - k^2 r/2 + k^4 r^3/24."""
    x, power, square = 1j * k * r, r * r, k * k
    e = np.exp(x) / r
    slope = e * (x - 1.0) / power
    g = e - 1.0 / r + square * r / 2.0 - square * square * r * power / 24.0
    h = slope + 1.0 / (power * r) + square / (2.0 * r) - square * square * r / 8.0
    w = -(square * e + 3.0 * slope) / power - 3.0 / (power * power * r) - square / (2.0 * power * r)
    return g, h, w - square * square / (8.0 * r)


@jitable_part
def _shifted(c, d0, d1, part, f):  # type: ignore[no-untyped-def]
    """Fill f with the coefficients in P = (x, y) - (d0, d1) of the polynomial c (6, 2), its real or imaginary part."""
    f[3], f[4], f[5] = c[3, part], c[4, part], c[5, part]
    f[0] = c[0, part] + d0 * (c[1, part] + f[3] * d0 + f[4] * d1) + d1 * (c[2, part] + f[5] * d1)
    f[1] = c[1, part] + 2.0 * f[3] * d0 + f[4] * d1
    f[2] = c[2, part] + f[4] * d0 + 2.0 * f[5] * d1


@jitable_part
def _static(f, edges, moments, k, z, double, gradient, v):  # type: ignore[no-untyped-def]
    """Fill v: the integral for the place k of q, in the frame; moments of q - 2 = -3 are z times themselves at the
    first place."""
    q = 2.0 * k - 3.0
    here, before = moments[k], moments[k - 1]
    if k == 1:  # z int f R^-3
        height = f[0] * before[0] + z * (over_triangle(before, f) - f[0] * before[0])
        g0 = f[1] * before[0] + z * (2.0 * f[3] * before[1] + f[4] * before[2])
        g1 = f[2] * before[0] + z * (f[4] * before[1] + 2.0 * f[5] * before[2])
    else:
        height = z * over_triangle(before, f)
        g0 = z * (f[1] * before[0] + 2.0 * f[3] * before[1] + f[4] * before[2])
        g1 = z * (f[2] * before[0] + f[4] * before[1] + 2.0 * f[5] * before[2])
    if not gradient:
        v[0] = -q * height if double else over_triangle(here, f)
    elif not double:
        v[0] = f[1] * here[0] + 2.0 * f[3] * here[1] + f[4] * here[2]
        v[1] = f[2] * here[0] + f[4] * here[1] + 2.0 * f[5] * here[2]
        for n in range(3):
            line = along_edge(edges[n], f, k)
            v[0] -= edges[n, 0] * line
            v[1] -= edges[n, 1] * line
        v[2] = q * height
    else:
        radial = f[1] * before[1] + f[2] * before[2]
        radial += 2.0 * (f[3] * before[3] + f[4] * before[4] + f[5] * before[5])
        if k > 1:
            radial += (q + 1.0) * over_triangle(before, f)
        s0, s1, s2 = 0.0, 0.0, 0.0
        for n in range(3):
            line = along_edge(edges[n], f, k - 1)
            s0, s1, s2 = s0 + edges[n, 0] * line, s1 + edges[n, 1] * line, s2 + edges[n, 4] * line
        v[0], v[1], v[2] = q * (z * s0 - g0), q * (z * s1 - g1), q * (s2 - radial)


@jitable_part
def _put_static(c, edges, moments, k, d0, d1, z, double, gradient, f, v, out):  # type: ignore[no-untyped-def]
    """out (1 or 3) = the integrals of the density c for all terms in closed form; f (6,) and v (3,) are working
    memory."""
    total = np.zeros(3, np.complex128)
    for part in range(2):
        unit = 1j if part == 1 else 1.0 + 0j
        _shifted(c, d0, d1, part, f)
        _static(f, edges, moments, 1, z, double, gradient, v)
        for n in range(out.size):
            total[n] += unit * v[n]
        if k != 0.0:
            for place in range(2, 4):
                factor = unit * (-k * k / 2.0 if place == 2 else k * k * k * k / 24.0)
                _static(f, edges, moments, place, z, double, gradient, v)
                for n in range(out.size):
                    total[n] += factor * v[n]
    for n in range(out.size):
        out[n] = total[n]


@jitable_part
def _rest_near(k, r, series, reach, double, gradient):  # type: ignore[no-untyped-def]
    """The rest as `_rest` gives it, up to the distance `reach` those of its functions that are used, by series."""
    if r > reach:
        return _rest(k, r)
    g, h, w = 0j, 0j, 0j
    if not (double or gradient):
        g = _sum(series[0], r)
    else:
        h = _sum(series[1], r)
        if double and gradient:
            w = _sum(series[2], r)
    return g, h, w


@jitable_part
def _density(c, x, y):  # type: ignore[no-untyped-def]
    """The polynomial c (6, 2) in the plane of a triangle."""
    re = c[0, 0] + x * (c[1, 0] + c[3, 0] * x + c[4, 0] * y) + y * (c[2, 0] + c[5, 0] * y)
    im = c[0, 1] + x * (c[1, 1] + c[3, 1] * x + c[4, 1] * y) + y * (c[2, 1] + c[5, 1] * y)
    return complex(re, im)


@functools.lru_cache(maxsize=8)
def point_triangle_kernel(double: bool, gradient: bool) -> Callable[..., None]:
    """Compiled integrate(points, frames, corners, densities, numbers, k, series, reach, rule, weights, side, lo, hi,
    out): out[n] (D, 1 or 3), complex, for n = lo..hi gets int 4 pi G f dS or int 4 pi dG/dn_y f dS, or its gradient,
    at the point points[n] (n, 3) of the triangle numbers[n] and its D densities f.

    frames, corners, densities: see Plane; k: the wavenumber, complex; series, reach: see Series; rule (Q, 3), weights
    (Q,): barycentric points of the rest. side: that of the normal (1), of the other (-1), or the mean of both (0), for
    points in the plane of a triangle.
    """

    @kernel
    def integrate(points, frames, corners, densities, numbers, k, series, reach, rule, weights, side, lo, hi, out):  # type: ignore[no-untyped-def]
        edges, moments = np.empty((3, EDGE)), np.zeros((POWERS, 6))
        f, v = np.empty(6), np.zeros(3)
        static = k == 0.0
        powers = 3 if static else POWERS
        for n in range(lo, hi):
            frame, flat, table = frames[numbers[n]], corners[numbers[n]], densities[numbers[n]]
            x0, x1, x2 = points[n, 0] - frame[0, 0], points[n, 1] - frame[0, 1], points[n, 2] - frame[0, 2]
            d0 = x0 * frame[1, 0] + x1 * frame[1, 1] + x2 * frame[1, 2]
            d1 = x0 * frame[2, 0] + x1 * frame[2, 1] + x2 * frame[2, 2]
            z = x0 * frame[3, 0] + x1 * frame[3, 1] + x2 * frame[3, 2]
            angle = edge_integrals(flat, d0, d1, z, powers, edges)
            sign = 1.0 if z > 0.0 else (-1.0 if z < 0.0 else side)
            surface_integrals(edges, sign * angle, z, powers, moments)
            for j in range(table.shape[0]):
                _put_static(table[j], edges, moments, k, d0, d1, z, double, gradient, f, v, out[n, j])
            if not static:
                area = (flat[1, 0] - flat[0, 0]) * (flat[2, 1] - flat[0, 1])
                area -= (flat[2, 0] - flat[0, 0]) * (flat[1, 1] - flat[0, 1])
                for m in range(weights.size):
                    y0 = rule[m, 0] * flat[0, 0] + rule[m, 1] * flat[1, 0] + rule[m, 2] * flat[2, 0]
                    y1 = rule[m, 0] * flat[0, 1] + rule[m, 1] * flat[1, 1] + rule[m, 2] * flat[2, 1]
                    p0, p1 = y0 - d0, y1 - d1
                    g, h, w = _rest_near(k, math.sqrt(p0 * p0 + p1 * p1 + z * z), series, reach, double, gradient)
                    for j in range(table.shape[0]):
                        charge = area * weights[m] * _density(table[j], y0, y1)
                        if not gradient:
                            out[n, j, 0] += -z * h * charge if double else g * charge
                        else:
                            s = -z * w * charge if double else h * charge
                            out[n, j, 0] -= s * p0
                            out[n, j, 1] -= s * p1
                            out[n, j, 2] += s * z - h * charge if double else s * z
            if gradient:  # from the frame of the triangle
                for j in range(table.shape[0]):
                    a, b, c = out[n, j, 0], out[n, j, 1], out[n, j, 2]
                    for i in range(3):
                        out[n, j, i] = a * frame[1, i] + b * frame[2, i] + c * frame[3, i]

    return integrate


def point_triangle_integrals(
    points: NDArray[np.float64],
    plane: Plane,
    numbers: NDArray[np.int64],
    wavenumber: complex,
    double: bool,
    gradient: bool,
    side: float = 0.0,
) -> NDArray[np.complex128]:
    """(n, D, 1 or 3) int 4 pi G f dS, or int 4 pi dG/dn_y f dS (`double`), or the gradients, at points (n, 3), each
    with the triangle of that number (n,); G = exp(ikr)/(4 pi r), k = 0 for Laplace.

    side: to which side of a triangle the points in its plane belong: that of its normal (1), the other (-1), the mean
    of both (0).
    """
    out = np.empty((len(points), plane.densities.shape[1], 3 if gradient else 1), complex)
    k = complex(wavenumber)
    size = np.abs(plane.corners).max(initial=0.0) * 2
    degree = next(degree for bound, degree in DEGREES if abs(k) * size <= bound)
    rule = triangle_rule(degree)
    run = point_triangle_kernel(double, gradient)
    arrays = points, plane.frames, plane.corners, plane.densities, numbers
    smooth = k, *Series.of(k, size), rule.barycentric, rule.weights, float(side)
    share = max(SHARE, -(-len(points) // (8 * thread_count())))
    starts = range(0, len(points), share)
    run_tasks(lambda n: run(*arrays, *smooth, starts[n], min(starts[n] + share, len(points)), out), len(starts))
    return out
