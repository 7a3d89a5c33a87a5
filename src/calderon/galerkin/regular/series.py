"""Pairs of distant triangles by Taylor's series of c / r and of its normal derivative about their centroids, from one
value and moments.

With D = c - e of the centroids, r = |D|, the corners w_a of the test triangle and v_b of the trial triangle less their
centroids, and local points xi and eta

    1 / |D + xi - eta| = sum_n (-1)^n / n! ((xi - eta) . grad)^n ...,   E[xi xi^T] = sum_a w_a w_a^T / 12,
    E[xi_i xi_j xi_k] = sum_a (w_a)_i (w_a)_j (w_a)_k / 30,

where E is the mean over a triangle. Between constants the terms up to the third order are, with u_a = D . w_a and z_b =
D . v_b, whose sums over the three corners vanish,

    E[1 / |x - y|] = 1/r { 1 + [3 (sum u^2 + sum z^2) / r^2 - sum |w|^2 - sum |v|^2] / (24 r^2)
                           + [(sum u |w|^2 - sum z |v|^2) / 20 - (u_0 u_1 u_2 - z_0 z_1 z_2) / (4 r^2)] / r^4 }.

Between linear functions l_a and l_b those up to the second order are

    E[l_a l_b / |x - y|] = 1/r { 1/9 + P_a - Q_b + (w_a . v_b - 3 u_a z_b / r^2) / (144 r^2) },
    P_a = [3 (sum u^2 + 2 u_a^2) / r^2 - sum |w|^2 - 2 |w_a|^2] / (360 r^2) - u_a / (36 r^2),

and -Q_b the same of the trial triangle with -z_b. Double layers are the slope h = G'/r times the distance of a point of
one triangle from the plane of the other: f + d_a at the corners of the first triangle, with sum d_a = 0. With E[l_a xi
xi^T] = (sum w_b w_b^T + 2 w_a w_a^T) / 60 and E[l_a xi_i xi_j xi_k] = (w_a)_i (w_a)_j (w_a)_k / 30 the terms up to the
second order, and those of the third order that are left with constants on one side, are

    E[l_a l_b h (f + d)] = h { f [1/9 + S_a + T_b + (w_a . v_b - 5 u_a z_b / r^2) / (48 r^2)]
                               + d_a [1/36 - u_a / (30 r^2) + t_a / (60 r^2) + t' / (288 r^2) + z_b / (48 r^2)]
                               - sum d u / (60 r^2) + [v_b . sum d w - 5 z_b sum d u / r^2] / (144 r^2) },
    S_a = [t + 2 t_a - 10 u_a] / (120 r^2) + u_a [3 |w_a|^2 - 7 u_a^2 / r^2] / (36 r^4)
          + 5 [w_a . sum z v - (t' / 2 + sum z^2 / r^2) u_a] / (144 r^4),

t_a = 5 u_a^2 / r^2 - |w_a|^2, t = sum t_a, t' the same sum of the other triangle, and T_b the number S of that
one, with -z_b and -u_a. All numbers but the value come from centroid_distances.py.
"""

from collections.abc import Callable
from typing import Any

from calderon.backends.vectors import jitable, lanes, number, store, where_less, zero
from calderon.galerkin.regular.centroid_distances import along, dot
from calderon.galerkin.regular.element_tables import LANES
from calderon.galerkin.regular.flush import add_three
from calderon.galerkin.regular.point_sums import three
from calderon.greens import Radial
from calderon.greens.elementary import inverse_square_root_multiple, root_scaled
from calderon.integrands import Component
from calderon.pairs.zones import DistantRule

POINTS = 3
"""Points y in the working memory of `linear_series`, one for each trial function."""
SLOPE = 2
"""The place of G'/r, real and imaginary, among the values of a Green's function."""


def series_sums(rule: DistantRule, radial: Radial, component: Component, constant: bool) -> Callable[..., Any]:
    """The compiled sums by a series, for constants or for three linear functions; component: as in
    `pair_sums.pair_sums`."""
    if rule == "slopes":
        return slope_series(radial, component.normal == "test")
    return constant_series(radial) if constant else linear_series(radial)


def constant_series(radial: Radial) -> Callable[..., Any]:
    """The compiled mean E[G] of a Green's function c / r, as the sum over all points.

    sums(x, o, m, c, shapes, record, weights, y, here, pitch, e, n, around, there, steps, pairs, ones, measure,
    parameters, tiny, missing, kept, s, w): arguments and results are those of the sums of `pair_sums.pair_sums`;
    points, weights and steps are not read.
    """
    radial_value = radial.multiple or radial.value

    @jitable
    def sums(
        x, o, m, c, shapes, record, weights, y, here, pitch, e, n, around, there, steps, pairs, ones, measure,
        parameters, tiny, missing, kept, s, w,
    ):  # fmt: skip
        """Expand to the third order about the centroids of a fixed triangle and a vector of others."""
        nothing, (square, inverse, u, z) = zero(s), centred(c, e, shapes, record, around, there, pitch, tiny)
        (u0, u1, u2), (z0, z1, z2), (b0, b1, b2) = u, z, three(around, there + 6 * pitch, pitch)
        a0, a1, a2 = number(shapes, record + 6), number(shapes, record + 7), number(shapes, record + 8)
        value = radial_value(square, parameters, square)[0]
        even = 1.5 * (inverse * (squares(u) + squares(z))) - 0.5 * (a0 + a1 + a2 + (b0 + b1 + b2))
        odd = 0.05 * (u0 * (a0 - a2) + u1 * (a1 - a2) - (z0 * (b0 - b2) + z1 * (b1 - b2)))
        odd = odd - 0.25 * (inverse * (u0 * u1 * u2 - z0 * z1 * z2))
        value = value + value * (inverse * ((1 / 12) * even + inverse * odd))
        return nothing + 1.0, nothing, (value, nothing), (nothing, nothing)

    return sums


def linear_series(radial: Radial) -> Callable[..., Any]:
    """The compiled means E[l_a l_b G] of a Green's function c / r, as the sum with test function a at trial point b of
    `POINTS`.

    sums(x, o, m, c, shapes, record, weights, y, here, pitch, e, n, around, there, steps, pairs, ones, measure,
    parameters, tiny, missing, kept, s, w): arguments and results are those of the sums of `pair_sums.pair_sums`;
    points, weights and steps are not read.
    """
    radial_value = radial.multiple or radial.value

    @jitable
    def sums(
        x, o, m, c, shapes, record, weights, y, here, pitch, e, n, around, there, steps, pairs, ones, measure,
        parameters, tiny, missing, kept, s, w,
    ):  # fmt: skip
        """Expand to the second order about the centroids of a fixed triangle and a vector of others."""
        nothing, (square, inverse, u, z) = zero(s), centred(c, e, shapes, record, around, there, pitch, tiny)
        a = number(shapes, record + 6), number(shapes, record + 7), number(shapes, record + 8)
        value = radial_value(square, parameters, square)[0]
        # terms of one side; then products of both
        p0, p1, p2 = terms(inverse, u, a, -1 / 36)
        q0, q1, q2 = terms(inverse, z, three(around, there + 6 * pitch, pitch), 1 / 36)
        v0, v1 = three(around, there, pitch), three(around, there + 3 * pitch, pitch)
        g0, h0 = dot(shapes, record, v0[0], v0[1], v0[2]), dot(shapes, record + 3, v0[0], v0[1], v0[2])
        g1, h1 = dot(shapes, record, v1[0], v1[1], v1[2]), dot(shapes, record + 3, v1[0], v1[1], v1[2])
        p, step, triple = (p0 + 1 / 9, p1 + 1 / 9, p2 + 1 / 9), lanes(s), 3.0 * inverse
        scaled, mixed = value * inverse * (1 / 144), (triple * u[0], triple * u[1], triple * u[2])
        put_entries(s, w + 3 * step, value, scaled, p, q0, mixed, z[0], g0, h0)
        put_entries(s, w + 9 * step, value, scaled, p, q1, mixed, z[1], g1, h1)
        put_entries(s, w + 15 * step, value, scaled, p, q2, mixed, z[2], -(g0 + g1), -(h0 + h1))
        return nothing + 1.0, nothing, (nothing, nothing), (nothing, nothing)

    return sums


@jitable
def centred(c, e, shapes, record, around, there, pitch, tiny):
    """r^2 and 1 / r^2, (D . w_0, D . w_1, D . w_2) and (D . v_0, D . v_1, D . v_2).

    c, e: centroids; shapes[record:], around[there:]: the records of centroid_distances.py of the fixed triangle and of
    the others, numbers `pitch` apart; tiny: what is added to r^2.
    """
    d0, d1, d2 = c[0] - e[0], c[1] - e[1], c[2] - e[2]
    square = d0 * d0 + tiny + d1 * d1 + d2 * d2
    root = inverse_square_root_multiple(square)
    inverse = root_scaled(root_scaled(root * root, root), root)
    u0, u1 = dot(shapes, record, d0, d1, d2), dot(shapes, record + 3, d0, d1, d2)
    z0, z1 = along(around, there, pitch, d0, d1, d2), along(around, there + 3 * pitch, pitch, d0, d1, d2)
    return square, inverse, (u0, u1, -(u0 + u1)), (z0, z1, -(z0 + z1))


@jitable
def squares(u):
    """The sum of the squares of three vectors, u."""
    return u[0] * u[0] + u[1] * u[1] + u[2] * u[2]


@jitable
def terms(inverse, u, a, first):
    """The terms P_a of one side, a = 0, 1, 2: inverse, 1 / r^2; u: D . w_a; a: |w_a|^2; first: the factor of u_a /
    r^2."""
    triple, small, start = 3.0 * inverse, inverse * (1 / 360), inverse * first
    every = triple * squares(u) - (a[0] + a[1] + a[2])
    return (
        start * u[0] + small * (every + 2.0 * (triple * (u[0] * u[0]) - a[0])),
        start * u[1] + small * (every + 2.0 * (triple * (u[1] * u[1]) - a[1])),
        start * u[2] + small * (every + 2.0 * (triple * (u[2] * u[2]) - a[2])),
    )


@jitable
def put_entries(s, place, value, scaled, p, q, mixed, z, g, h):
    """Store the means with the three test functions for one trial function at s[place:].

    value: 1 / r; scaled: value / (144 r^2); p, q: terms of both sides; mixed: 3 u_a / r^2; z: D . v_b; g, h: w_0 . v_b
    and w_1 . v_b.
    """
    step = lanes(s)
    store(s, place, value * (p[0] + q) + scaled * (g - mixed[0] * z))
    store(s, place + step, value * (p[1] + q) + scaled * (h - mixed[1] * z))
    store(s, place + 2 * step, value * (p[2] + q) - scaled * ((g + h) + mixed[2] * z))


def add_of_series(complex_out: bool) -> Callable[..., Any]:
    """The function that adds the entries of three test and three trial functions that `linear_series` stored, in
    the place of `tile.add_of_functions`; complex_out: as in `TileKind`."""

    @jitable
    def add_entries(t, base, imaginary, w, begin, table, units, f_re, f_im, tile_rows, i, first):
        """Add the entries of test triangle i of the tile with a vector of others to its rows from t[base:] on, from the
        means at t[w:] times f_re + i f_im, imaginary parts `imaginary` numbers further; tile_rows, first: of the tile,
        and the first local function of the group; begin, table and units are not read."""
        step, nothing = lanes(t), (zero(t), zero(t), zero(t))
        at = w + POINTS * step
        for a in range(3):
            row = base + tile_rows[i, first + a] * 3 * step
            add_three(t, row, imaginary, three(t, at + a * step, 6 * step), nothing, f_re, f_im, complex_out)

    return add_entries


def slope_series(radial: Radial, of_fixed: bool) -> Callable[..., Any]:
    """The compiled means E[l_a l_b k] of h d . m, with the normal m of the fixed triangle (of_fixed), or of -h d . n
    with the normals n of the others, stored as those of `linear_series`.

    sums(x, o, m, c, shapes, record, weights, y, here, pitch, e, n, around, there, steps, pairs, ones, measure,
    parameters, tiny, missing, kept, s, w): arguments and results are those of the sums of `pair_sums.pair_sums`;
    points, weights and steps are not read.
    """
    radial_value = radial.multiple or radial.value

    @jitable
    def sums(
        x, o, m, c, shapes, record, weights, y, here, pitch, e, n, around, there, steps, pairs, ones, measure,
        parameters, tiny, missing, kept, s, w,
    ):  # fmt: skip
        """Expand about the centroids of a fixed triangle and a vector of others."""
        nothing, step = zero(s), lanes(s)
        d, square, inverse, first, second, p, q, g = slope_parts(c, e, shapes, record, around, there, pitch, tiny)
        value = finite_slope(radial_value(square, parameters, square)[SLOPE], square, tiny)
        if of_fixed:
            along_m = behind(d, m, around, there, pitch)
            rows = turned(slope_means(value, inverse, along_m, second, first, q, p, columns_of_two(g), -1.0))
        else:
            rows = slope_means(value, inverse, ahead(d, n, shapes, record), first, second, p, q, g, 1.0)
        put_each(s, w + 3 * step, 6 * step, rows[0])
        put_each(s, w + 4 * step, 6 * step, rows[1])
        put_each(s, w + 5 * step, 6 * step, rows[2])
        return nothing + 1.0, nothing, (nothing, nothing), (nothing, nothing)

    return sums


def adding_slopes(radial: Radial, complex_out: bool) -> Callable[..., None]:
    """The function that adds both orders of a test triangle with a vector of others by series, instead of that of
    `mutual_tile.adding_pair`.

    add_pair(x, o, c, d, e, m, n, factor, y, there, weights, gammas, ones, measure, shapes, part, around, others, steps,
    products, square, missing, kept, parameters, tiny, reference, t, begin, imaginary, other, f_re, f_im, table, units,
    tile_rows, i, slot, s): arguments are those of that function; points, weights, tables and steps are not read.
    """
    radial_value = radial.multiple or radial.value

    @jitable
    def add_pair(
        x, o, c, d, e, m, n, factor, y, there, weights, gammas, ones, measure, shapes, part, around, others, steps,
        products, square, missing, kept, parameters, tiny, reference, t, begin, imaginary, other, f_re, f_im, table,
        units, tile_rows, i, slot, s,
    ):  # fmt: skip
        """Add A and B of test triangle i of the tile."""
        nothing, step = (zero(t), zero(t), zero(t)), lanes(t)
        d, square, inverse, first, second, p, q, g = slope_parts(c, e, shapes, part, around, others, LANES, tiny)
        value = finite_slope(radial_value(square, parameters, square)[SLOPE], square, tiny) * factor
        of_trial = slope_means(value, inverse, ahead(d, n, shapes, part), first, second, p, q, g, 1.0)
        along_m = behind(d, m, around, others, LANES)
        of_test = turned(slope_means(value, inverse, along_m, second, first, q, p, columns_of_two(g), -1.0))
        # to the rows of A and of B of the three test functions
        r0, r1 = begin + 3 * tile_rows[i, slot] * step, begin + 3 * tile_rows[i, slot + 1] * step
        r2 = begin + 3 * tile_rows[i, slot + 2] * step
        add_three(t, r0, imaginary, of_trial[0], nothing, f_re, f_im, complex_out)
        add_three(t, r1, imaginary, of_trial[1], nothing, f_re, f_im, complex_out)
        add_three(t, r2, imaginary, of_trial[2], nothing, f_re, f_im, complex_out)
        add_three(t, other + r0, imaginary, of_test[0], nothing, f_re, f_im, complex_out)
        add_three(t, other + r1, imaginary, of_test[1], nothing, f_re, f_im, complex_out)
        add_three(t, other + r2, imaginary, of_test[2], nothing, f_re, f_im, complex_out)

    return add_pair


@jitable
def finite_slope(value, square, tiny):
    """The slope `value`, and 0 for triangles with nearly one centroid, by `square`, r^2: pairs that are not distant
    meet the factor zero, and 1 / r^5 leaves the range of single precision, where `tiny` is 1e-20, at r^2 = 4e-16."""
    nothing = square - square
    return where_less(square, nothing + 1e6 * tiny, nothing, value)


@jitable
def slope_parts(c, e, shapes, record, around, there, pitch, tiny):
    """D, r^2 and 1 / r^2; `slope_side` of the fixed triangle and of the others; S_a and T_b, each with 1/18; the
    products w_a . v_b of a, b = 0, 1 as two rows. Arguments as in `centred`."""
    square, inverse, u, z = centred(c, e, shapes, record, around, there, pitch, tiny)
    a = number(shapes, record + 6), number(shapes, record + 7), number(shapes, record + 8)
    first, second = slope_side(inverse, u, a), slope_side(inverse, z, three(around, there + 6 * pitch, pitch))
    v0, v1 = three(around, there, pitch), three(around, there + 3 * pitch, pitch)
    g0, h0 = dot(shapes, record, v0[0], v0[1], v0[2]), dot(shapes, record + 3, v0[0], v0[1], v0[2])
    g1, h1 = dot(shapes, record, v1[0], v1[1], v1[2]), dot(shapes, record + 3, v1[0], v1[1], v1[2])
    p = slope_terms(inverse, first, second, ((g0, g1), (h0, h1)), 1.0)
    q = slope_terms(inverse, second, first, ((g0, h0), (g1, h1)), -1.0)
    return (c[0] - e[0], c[1] - e[1], c[2] - e[2]), square, inverse, first, second, p, q, ((g0, g1), (h0, h1))


@jitable
def slope_side(inverse, u, a):
    """Three u_a / r^2 of one side, u_a^2 / r^2 and t_a, and the sums of these: inverse, 1 / r^2; u: u_a, or z_b; a:
    |w_a|^2."""
    x0, x1, x2 = inverse * u[0], inverse * u[1], inverse * u[2]
    p0, p1, p2 = x0 * u[0], x1 * u[1], x2 * u[2]
    t0, t1, t2 = 5.0 * p0 - a[0], 5.0 * p1 - a[1], 5.0 * p2 - a[2]
    return (x0, x1, x2), (p0, p1, p2), (t0, t1, t2), p0 + p1 + p2, t0 + t1 + t2


@jitable
def slope_terms(inverse, side, other, g, sign):
    """1/18 and the terms S_a of one side: inverse, 1 / r^2; side, other: `slope_side`; g: rows of the products of
    corners 0 and 1; sign: 1, or -1 for T_b, whose u_a and z_b have the other sign."""
    (x0, x1, x2), (p0, p1, p2), (t0, t1, t2), _, total = side
    small, cross, twelfth = inverse * (1 / 60), inverse * (sign * 5 / 144), inverse * (sign / 12)
    start, of_u = 1 / 18 + 0.5 * small * total, -sign / 12 - 0.5 * cross * (other[4] + 2.0 * other[3])
    c0, c1 = cross * with_corners(g[0], other[0]), cross * with_corners(g[1], other[0])
    return (
        start + small * t0 + x0 * (of_u + twelfth * ((8 / 3) * p0 - t0)) + c0,
        start + small * t1 + x1 * (of_u + twelfth * ((8 / 3) * p1 - t1)) + c1,
        start + small * t2 + x2 * (of_u + twelfth * ((8 / 3) * p2 - t2)) - (c0 + c1),
    )


@jitable
def with_corners(g, y):
    """The sum of g_b y_b over three corners: g holds two of three numbers whose sum is 0, y all three."""
    return g[0] * (y[0] - y[2]) + g[1] * (y[1] - y[2])


@jitable
def ahead(d, n, shapes, record):
    """The number D . n of the centroid of the fixed triangle and the plane of the others, then what its three corners
    add to it; d: D; shapes[record:]: the record of the fixed triangle."""
    d0, d1 = dot(shapes, record, n[0], n[1], n[2]), dot(shapes, record + 3, n[0], n[1], n[2])
    return d[0] * n[0] + d[1] * n[1] + d[2] * n[2], d0, d1, -(d0 + d1)


@jitable
def behind(d, m, around, there, pitch):
    """The number -D . m of the centroids of the others, then what their three corners add to it; d: D; m: the normal of
    the fixed triangle; around, there, pitch: as in `centred`."""
    d0, d1 = along(around, there, pitch, m[0], m[1], m[2]), along(around, there + 3 * pitch, pitch, m[0], m[1], m[2])
    return -(d[0] * m[0] + d[1] * m[1] + d[2] * m[2]), d0, d1, -(d0 + d1)


@jitable
def slope_means(value, inverse, distances, side, other, p, q, g, sign):
    """Three rows of the means with three functions of the side whose corners have the distances -f - d_a from the plane
    of the other side, each with three functions of that side.

    value: h; inverse: 1 / r^2; distances: f, then d_a; side, other: `slope_side`; p, q, g: `slope_terms` of both and
    the products of corners; sign: as in `slope_terms`.
    """
    value = -value
    (x0, x1, x2), (y0, y1, y2), (t0, t1, t2) = side[0], other[0], side[2]
    f, d0, d1, d2 = value * distances[0], value * distances[1], value * distances[2], value * distances[3]
    # rows: f S_a, and d_a times what does not depend on b
    small, start, of_x = inverse * (1 / 60), inverse * (1 / 288) * other[4] + 1 / 36, -sign / 30
    r0 = f * p[0] + d0 * (start + small * t0 + of_x * x0)
    r1 = f * p[1] + d1 * (start + small * t1 + of_x * x1)
    r2 = f * p[2] + d2 * (start + small * t2 + of_x * x2)
    # columns: f T_b, and sums over the corners a
    total, of_g = d0 * x0 + d1 * x1 + d2 * x2, inverse * (1 / 144)
    every, of_y = (-sign / 60) * total, (-5 / 144) * total
    c0, c1 = (
        of_g * with_corners((g[0][0], g[1][0]), (d0, d1, d2)),
        of_g * with_corners((g[0][1], g[1][1]), (d0, d1, d2)),
    )
    c0, c1, c2 = (
        every + of_y * y0 + f * q[0] + c0,
        every + of_y * y1 + f * q[1] + c1,
        every + of_y * y2 + f * q[2] - (c0 + c1),
    )
    # products of both, whose sums over either side are zero
    of_g, e0, e1 = inverse * f * (1 / 48), (sign / 48) * d0 - (5 / 48) * f * x0, (sign / 48) * d1 - (5 / 48) * f * x1
    n00, n01, n10, n11 = (
        of_g * g[0][0] + e0 * y0,
        of_g * g[0][1] + e0 * y1,
        of_g * g[1][0] + e1 * y0,
        of_g * g[1][1] + e1 * y1,
    )
    n02, n12 = n00 + n01, n10 + n11
    return (
        (r0 + c0 + n00, r0 + c1 + n01, r0 + c2 - n02),
        (r1 + c0 + n10, r1 + c1 + n11, r1 + c2 - n12),
        (r2 + c0 - (n00 + n10), r2 + c1 - (n01 + n11), r2 + c2 + (n02 + n12)),
    )


@jitable
def columns_of_two(g):
    """Two rows g of two as columns."""
    return (g[0][0], g[1][0]), (g[0][1], g[1][1])


@jitable
def turned(g):
    """Three rows g of three as columns."""
    return (
        (g[0][0], g[1][0], g[2][0]),
        (g[0][1], g[1][1], g[2][1]),
        (g[0][2], g[1][2], g[2][2]),
    )


@jitable
def put_each(out, place, stride, values):
    """Store three vectors, `values`, at out[place:], `stride` numbers apart."""
    store(out, place, values[0])
    store(out, place + stride, values[1])
    store(out, place + 2 * stride, values[2])
