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

from calderon.backends.numba import jitable_part, kernel, read_only
from calderon.backends.threads import in_parts
from calderon.backends.vectors import (
    add,
    aligned,
    jitable,
    lanes,
    load,
    number,
    square_root,
    store,
    where_less,
    width,
    zero,
)
from calderon.potentials.sources.runs import end_of_run, give_values, put_points
from calderon.quadrature import triangle_rule
from calderon.quadrature.point_triangle import (
    POWERS,
    ROOM,
    SIDE,
    along_edge,
    beyond_constant,
    distance_from_edge,
    edge_integrals,
    moment,
    put_sides,
    surface_integrals,
)

DEGREES = ((0.05, 4), (0.2, 6), (0.6, 8), (1.5, 12), (np.inf, 20))
"""(|k| times the size of a triangle, degree of the rule for the rest) up to which it is accurate to nine digits."""
LARGEST = 6.0
"""|k r| up to which the rest is summed as a series."""
REACH = 4.0
"""Sizes of a triangle within which its points are, as a rule: farther ones take no series."""


class Plane(NamedTuple):
    """Triangles in frames of their own: frames (n, 4, 3) centroid, two tangents, normal; corners (n, 3, 2) in that
    frame; densities (n, D, 6, 2): coefficients of 1, x, y, x^2, x y, y^2 of each density, Re and Im."""

    frames: NDArray[np.float64]
    corners: NDArray[np.float64]
    densities: NDArray[np.float64]

    @staticmethod
    def of(corners: NDArray[np.float64], normals: NDArray[np.float64], densities: NDArray[np.complex128]) -> "Plane":
        """The planes of triangles with corners (n, 3, 3), unit normals (n, 3) and densities (n, D, 1, 3 or 6) as
        coefficients of 1, u, v, u^2, u v, v^2 in reference coordinates. NotImplementedError for more coefficients."""
        if densities.shape[2] > 6:
            raise NotImplementedError(
                "potentials near a surface accept densities of degree 0 to 2: project the density on P2, or choose "
                "points at a distance of some triangles"
            )
        # a frame of each triangle, and its corners there
        centres = corners.mean(axis=1)
        one = corners[:, 1] - corners[:, 0]
        one = one / np.linalg.norm(one, axis=1, keepdims=True)
        frames = np.stack([centres, one, np.cross(normals, one), normals], axis=1)
        flat = np.einsum("nmc,ntc->nmt", corners - centres[:, None], frames[:, 1:3])
        sides = np.stack([flat[:, 1] - flat[:, 0], flat[:, 2] - flat[:, 0]], axis=2)
        inverse = np.linalg.inv(sides)
        start = -np.einsum("nuc,nc->nu", inverse, flat[:, 0])  # (u, v) at the centroid: (1/3, 1/3)
        # polynomials in (u, v) from the centroid, then in (x, y) of the frame
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
    """Power series in r of the rest g, of h = g'/r and of w = h'/r: coefficients (3, n, 2), Re and Im, up to the
    distance `reach`."""

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
def _rest(k, r):
    """The rest of g = e^(ikr)/r, of h = g'/r and of w = h'/r without those of 1/r - k^2 r/2 + k^4 r^3/24, three
    complex numbers at the complex wavenumber k and the distance r."""
    x, power, square = 1j * k * r, r * r, k * k
    e = np.exp(x) / r
    slope = e * (x - 1.0) / power
    g = e - 1.0 / r + square * r / 2.0 - square * square * r * power / 24.0
    h = slope + 1.0 / (power * r) + square / (2.0 * r) - square * square * r / 8.0
    w = -(square * e + 3.0 * slope) / power - 3.0 / (power * power * r) - square / (2.0 * power * r)
    return g, h, w - square * square / (8.0 * r)


@jitable
def _sum(s, series, row, terms, r):
    """Re and Im of row `row` of a series (3, terms, 2), flat, at r, by Horner's rule; s: working memory, for its
    type."""
    re, im = zero(s), zero(s)
    for n in range(2 * (row * terms + terms) - 2, 2 * row * terms - 2, -2):
        re, im = re * r + number(series, n), im * r + number(series, n + 1)
    return re, im


@jitable
def _rest_beyond(s, place, k, r, row):
    """Re and Im of function `row` (g, h or w) of `_rest` at distances r that a series does not reach, for the
    complex k; s: working memory, two vectors from `place` on."""
    step = lanes(s)
    store(s, place, r)
    for n in range(step):
        g, h, w = _rest(k, s[place + n])
        value = g if row == 0 else (h if row == 1 else w)
        s[place + n], s[place + step + n] = value.real, value.imag
    return load(s, place), load(s, place + step)


@jitable
def _shifted(c, i, d0, d1):
    """Coefficients in P = (x, y) - (d0, d1) of the polynomial whose numbers begin at c[i], two apart."""
    c1, c2, c3, c4, c5 = number(c, i + 2), number(c, i + 4), number(c, i + 6), number(c, i + 8), number(c, i + 10)
    f0 = number(c, i) + d0 * (c1 + c3 * d0 + c4 * d1) + d1 * (c2 + c5 * d1)
    return f0, c1 + 2.0 * c3 * d0 + c4 * d1, c2 + c4 * d0 + 2.0 * c5 * d1, c3, c4, c5


@jitable
def _static(s, sides, f, k, z, double, gradient):
    """The integral for the place k of q, in the frame of the triangle: one value or three.

    s, sides: filled by `edge_integrals` and `surface_integrals`; f (6,): coefficients of the density, see `_shifted`;
    z: heights of the points; double: of the double layer; gradient: of its gradient.
    """
    q, lead = 2.0 * k - 3.0, moment(s, k - 1, 0)
    if k > 1:  # for q - 2 = -3 it is z times itself
        lead = z * lead
    # the single layer: int f R^q
    if not (double or gradient):
        total = f[0] * moment(s, k, 0) + beyond_constant(s, f, k)
        return total, total, total
    # the double layer -q z int f R^(q - 2), or the gradient of the single one, in the plane by sums over edges
    if not (double and gradient):
        height = f[0] * lead + z * beyond_constant(s, f, k - 1)
        if double:
            return -q * height, height, height
        v0 = f[1] * moment(s, k, 0) + 2.0 * f[3] * moment(s, k, 1) + f[4] * moment(s, k, 2)
        v1 = f[2] * moment(s, k, 0) + f[4] * moment(s, k, 1) + 2.0 * f[5] * moment(s, k, 2)
        for n in range(3):
            line = along_edge(s, sides, n, f, k)
            v0 = v0 - number(sides, SIDE * n + 2) * line
            v1 = v1 - number(sides, SIDE * n + 3) * line
        return v0, v1, q * height
    # the gradient of the double layer: q z times sums over edges and moments
    one, two = moment(s, k - 1, 1), moment(s, k - 1, 2)
    g0 = f[1] * lead + z * (2.0 * f[3] * one + f[4] * two)
    g1 = f[2] * lead + z * (f[4] * one + 2.0 * f[5] * two)
    radial = f[1] * one + f[2] * two
    radial = radial + 2.0 * (f[3] * moment(s, k - 1, 3) + f[4] * moment(s, k - 1, 4) + f[5] * moment(s, k - 1, 5))
    if k > 1:
        radial = radial + (q + 1.0) * (f[0] * moment(s, k - 1, 0) + beyond_constant(s, f, k - 1))
    s0, s1, s2 = zero(s), zero(s), zero(s)
    for n in range(3):
        line = along_edge(s, sides, n, f, k - 1)
        s0 = s0 + number(sides, SIDE * n + 2) * line
        s1 = s1 + number(sides, SIDE * n + 3) * line
        s2 = s2 + distance_from_edge(s, n) * line
    return q * (z * s0 - g0), q * (z * s1 - g1), q * (s2 - radial)


@jitable
def _add_static(s, out, sides, c, i, factors, places, point, double, gradient):
    """Add to the sums at `out` those of the density c[i : i + 12] for all terms in closed form.

    factors: complex, of the places 1 to `places` - 1 of q, flat; point: (d0, d1, z) in the frame; other arguments as in
    `_static`.
    """
    step, (d0, d1, z) = lanes(s), point
    for part in range(2):
        if not _is_zero(c, i + part):
            f = _shifted(c, i + part, d0, d1)
            for k in range(1, places):
                v0, v1, v2 = _static(s, sides, f, k, z, double, gradient)
                re, im = number(factors, 2 * k), number(factors, 2 * k + 1)
                if part == 1:
                    re, im = -im, re
                _add_product(s, out, v0, re, im)
                if gradient:
                    _add_product(s, out + 2 * step, v1, re, im)
                    _add_product(s, out + 4 * step, v2, re, im)


@jitable
def _is_zero(c, i):
    """Whether the six coefficients of a density, c[i], c[i + 2], ..., are zero."""
    for n in range(i, i + 12, 2):
        if c[n] != 0.0:
            return False
    return True


@jitable
def _add_product(s, place, value, re, im):
    """Add a real value times re + i im to the complex sum at `place` of s."""
    add(s, place, value * re)
    add(s, place + lanes(s), value * im)


@jitable_part
def _put_charges(rule, weights, flat, c, nodes):
    """Fill nodes (Q, 2 + 2 D), flat, with the points of a rule on a triangle and its D densities there times weights;
    c: their coefficients, flat."""
    area = (flat[1, 0] - flat[0, 0]) * (flat[2, 1] - flat[0, 1]) - (flat[2, 0] - flat[0, 0]) * (flat[1, 1] - flat[0, 1])
    stride = nodes.size // max(1, weights.size)
    for m in range(weights.size):
        x = rule[m, 0] * flat[0, 0] + rule[m, 1] * flat[1, 0] + rule[m, 2] * flat[2, 0]
        y = rule[m, 0] * flat[0, 1] + rule[m, 1] * flat[1, 1] + rule[m, 2] * flat[2, 1]
        nodes[m * stride], nodes[m * stride + 1] = x, y
        for n in range(stride - 2):
            i = 12 * (n // 2) + n % 2
            value = c[i] + x * (c[i + 2] + c[i + 6] * x + c[i + 8] * y) + y * (c[i + 4] + c[i + 10] * y)
            nodes[m * stride + 2 + n] = area * weights[m] * value


@jitable
def _add_rest(s, out, nodes, i, count, h, w, p0, p1, z, double, gradient):
    """Add to the sums at `out` the rest of `count` densities at a point of the rule: h, or where it has a row of its
    own w, as complex numbers times the charges nodes[i], ...; p0, p1: from the foot of the points x to y; z: their
    heights; s, double, gradient: as in `_static`."""
    step = lanes(s)
    # the kernel along d: that of the layer, or its derivative along the normal
    if double and gradient:
        along = -z * w[0], -z * w[1]
    elif double:
        along = -z * h[0], -z * h[1]
    else:
        along = h
    # times the charge of each density: one value, or along P and along the normal
    for j in range(count):
        c, ci = number(nodes, i + 2 * j), number(nodes, i + 2 * j + 1)
        a, b = along[0] * c - along[1] * ci, along[0] * ci + along[1] * c
        if not gradient:
            add(s, out, a)
            add(s, out + step, b)
            out += 2 * step
        else:
            add(s, out, -p0 * a)
            add(s, out + step, -p0 * b)
            add(s, out + 2 * step, -p1 * a)
            add(s, out + 3 * step, -p1 * b)
            a, b = z * a, z * b
            if double:
                a, b = a - (h[0] * c - h[1] * ci), b - (h[0] * ci + h[1] * c)
            add(s, out + 4 * step, a)
            add(s, out + 5 * step, b)
            out += 6 * step


@jitable
def _add_rests(s, out, nodes, stride, smooth, farthest, d0, d1, z, double, gradient):
    """Add to the sums at `out` the rest at points whose distance from the centroid is at most `farthest`; nodes: see
    `_put_charges`, in rows of `stride` numbers; d0, d1, z: the points in the frame; smooth: see
    `point_triangle_kernel`; s, double, gradient: as in `_static`."""
    k, _, series, reach = smooth
    row, terms = 1 if double or gradient else 0, series.size // 6
    for i in range(0, nodes.size, stride):
        p0, p1 = number(nodes, i) - d0, number(nodes, i + 1) - d1
        r = square_root(p0 * p0 + p1 * p1 + z * z)
        if farthest <= reach:
            h = _sum(s, series, row, terms, r)
            w = _sum(s, series, 2, terms, r) if double and gradient else h
        else:
            h = _rest_beyond(s, 0, k, r, row)
            w = _rest_beyond(s, 0, k, r, 2) if double and gradient else h
        _add_rest(s, out, nodes, i + 2, (stride - 2) // 2, h, w, p0, p1, z, double, gradient)


@jitable
def _to_space(s, out, frame):
    """Turn a complex gradient at `out` of s from the frame (4, 3) of a triangle into space."""
    step = lanes(s)
    for part in range(2):
        place = out + part * step
        a, b, c = load(s, place), load(s, place + 2 * step), load(s, place + 4 * step)
        for i in range(3):
            store(s, place + 2 * i * step, a * frame[1, i] + b * frame[2, i] + c * frame[3, i])


@functools.lru_cache(maxsize=8)
def point_triangle_kernel(double: bool, gradient: bool) -> Callable[..., None]:
    """Compiled integrate(points, numbers, plane, smooth, rule, side, lo, hi, s, out): out (D V, 2, n), V = 1 or 3,
    for the pairs lo to hi gets Re and Im of int 4 pi G f dS or int 4 pi dG/dn_y f dS, or its gradient, at the points
    (n, 3) of the triangles numbers (n,) and their D densities f. Runs of equal numbers share a vector.

    plane: see Plane; smooth: the wavenumber, complex, factors (4, 2), flat, of the places 1 to 3, and a Series, flat,
    with the distance from a centroid up to which it is right; rule: barycentric points (Q, 3) and weights (Q,) of the
    rest, none for k = 0. side: that of the normal (1), of the other (-1), or the mean of both (0), for points in the
    plane of a triangle. s: working memory.
    """
    values = 3 if gradient else 1

    @kernel
    def integrate(points, numbers, plane, smooth, rule, side, lo, hi, s, out):
        frames, corners, densities = plane
        barycentric, weights = rule
        count, powers = densities.shape[1], POWERS if weights.size else 3
        step, here, before, stop = lanes(s), ROOM * lanes(s), -1, lo
        at = here + 2 * values * count * step
        sides, nodes = np.empty(3 * SIDE), np.empty((2 + 2 * count) * weights.size)
        while stop < hi:
            # a vector of points of one triangle
            start, triangle = stop, numbers[stop]
            stop = end_of_run(numbers, start, min(hi, start + step))
            frame, c = frames[triangle], densities[triangle].reshape(-1)
            if triangle != before:
                put_sides(corners[triangle], sides)
                _put_charges(barycentric, weights, corners[triangle], c, nodes)
                before = triangle
            # the points in its frame
            farthest = put_points(s, at, points, frame[0], start, stop)
            x0, x1, x2 = load(s, at), load(s, at + step), load(s, at + 2 * step)
            d0 = x0 * frame[1, 0] + x1 * frame[1, 1] + x2 * frame[1, 2]
            d1 = x0 * frame[2, 0] + x1 * frame[2, 1] + x2 * frame[2, 2]
            z = x0 * frame[3, 0] + x1 * frame[3, 1] + x2 * frame[3, 2]
            # integrals over edges and moments
            solid = edge_integrals(s, sides, d0, d1, z, powers)
            solid = where_less(0.0, z, solid, where_less(z, 0.0, -solid, side * solid))
            surface_integrals(s, sides, solid, z, powers)
            # terms in closed form, then the rest by a rule
            for n in range(2 * values * count):
                store(s, here + n * step, zero(s))
            for j in range(count):
                place = here + 2 * values * j * step
                _add_static(s, place, sides, c, 12 * j, smooth[1], powers - 1, (d0, d1, z), double, gradient)
            if weights.size:
                _add_rests(s, here, nodes, 2 + 2 * count, smooth, farthest, d0, d1, z, double, gradient)
            if gradient:
                for j in range(count):
                    _to_space(s, here + 6 * j * step, frame)
            give_values(s, here, 2 * values * count, out.reshape(-1), start, stop)

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
    with the triangle of that number (n,); G = exp(ikr)/(4 pi r), k = 0 for Laplace. Fastest where equal numbers follow
    one another.

    side: to which side of a triangle the points in its plane belong: that of its normal (1), the other (-1), the mean
    of both (0).
    """
    k, count, values = complex(wavenumber), plane.densities.shape[1], 3 if gradient else 1
    out = np.empty((count * values, 2, len(points)))
    # the rule and the series of the rest, which vanishes for k = 0
    size = np.abs(plane.corners).max(initial=0.0) * 2
    degree = next(degree for bound, degree in DEGREES if abs(k) * size <= bound)
    chosen = triangle_rule(degree)
    rule = (chosen.barycentric, chosen.weights) if k else (np.empty((0, 3)), read_only(np.empty(0)))
    factors = np.array([0, 1, -(k**2) / 2, k**4 / 24], complex).view(float)
    series = Series.of(k, size)
    smooth = k, factors, series.coefficients.reshape(-1), series.reach - size / 2
    run = point_triangle_kernel(double, gradient)

    def work(low: int, high: int) -> None:
        scratch = aligned((ROOM + 2 * values * count + 3) * width(float), float)
        run(points, numbers, plane, smooth, rule, float(side), low, high, scratch, out)

    in_parts(work, len(points), most=4096)
    re, im = np.moveaxis(out.reshape(count, values, 2, len(points)), (2, 3), (0, 1))
    return np.asarray(re + 1j * im)
