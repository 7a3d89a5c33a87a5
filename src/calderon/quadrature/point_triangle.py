"""Integrals over a flat triangle of powers of the distance from a point, in closed form, at any distance.

The point x has the height z above the plane of the triangle, P is the vector from its foot to a point y of the
triangle, in coordinates of the plane, and R^2 = |P|^2 + z^2. For q = -3, -1, 1, 3, 5 (place (q + 3) / 2) the divergence
theorem in the plane reduces integrals over the triangle to its edges, where P = t m + s e with the outward normal m and
the direction e:

    I_q = int R^q ds,    J_q = int s R^q ds = [R^(q + 2)] / (q + 2),    (q + 1) I_q = [s R^q] + q (t^2 + z^2) I_(q - 2),
    (q + 2) int R^q dS = q z^2 int R^(q - 2) dS + sum t I_q,
    (q + 2) int P R^q dS = sum m I_(q + 2),
    (q + 2) int P P^T R^q dS = sum m (t m I_(q + 2) + e J_(q + 2))^T - 1 int R^(q + 2) dS,

starting from the solid angle  z int R^-3 dS  and the logarithms I_-1. The solid angle jumps by 4 pi across the
triangle.

The lanes of a vector are points; the triangle is the same for all of them.

Sources: D. R. Wilton, S. M. Rao, A. W. Glisson, D. H. Schaubert, O. M. Al-Bundak, C. M. Butler, IEEE Trans. Antennas
Propag. 32 (1984) 276; R. D. Graglia, IEEE Trans. Antennas Propag. 41 (1993) 1448; S. Jarvenpaa, M. Taskinen,
P. Yla-Oijala, IEEE Trans. Antennas Propag. 54 (2006) 42.
"""

import math

from calderon.backends.log_and_angle import angle, logarithm
from calderon.backends.numba import jitable_part
from calderon.backends.vectors import jitable, lanes, load, number, smaller, square_root, store, where_less, zero

POWERS = 5
"""q = -3, -1, 1, 3, 5."""
SIDE = 6
"""Numbers of an edge: its first corner, m, e."""
EDGE = 2 + 2 * POWERS
"""Vectors of an edge: t, t^2 + z^2, I_q, J_q."""
MOMENTS = 3 * EDGE
"""Place of the first moment, after the edges."""
ROOM = MOMENTS + 6 * POWERS
"""Vectors of edges and moments."""
LEAST = 1e-300
"""Squared distance from an edge that counts at least."""


@jitable_part
def put_sides(corners, sides):
    """Fill sides (3 * SIDE,) for a triangle with corners (3, 2), counter-clockwise."""
    for n in range(3):
        a0, a1 = corners[n, 0], corners[n, 1]
        e0, e1 = corners[(n + 1) % 3, 0] - a0, corners[(n + 1) % 3, 1] - a1
        length = math.sqrt(e0 * e0 + e1 * e1)
        e0, e1 = e0 / length, e1 / length
        i = SIDE * n
        sides[i], sides[i + 1], sides[i + 2], sides[i + 3], sides[i + 4], sides[i + 5] = a0, a1, e1, -e0, e0, e1


@jitable
def edge_integrals(s, sides, d0, d1, z, powers):
    """Store the edges of the triangle, for points (d0, d1, z) in the frame of its plane and the first `powers` q;
    return the angle of the triangle as seen from the points, |z| int R^-3 dS, between 0 and 2 pi.

    s (ROOM, lanes), flat: vectors of edges and moments, those of edge n from EDGE n on; sides (3 * SIDE,): see
    `put_sides`.
    """
    step, total = lanes(s), zero(s)
    height = where_less(z, 0.0, -z, z)
    for n in range(3):
        i, j, g = SIDE * n, SIDE * ((n + 1) % 3), EDGE * n * step
        # normal m and direction e of the edge, its ends a and b relative to the foot of the point
        m0, m1, e0, e1 = number(sides, i + 2), number(sides, i + 3), number(sides, i + 4), number(sides, i + 5)
        a0, a1, b0, b1 = (
            number(sides, i) - d0,
            number(sides, i + 1) - d1,
            number(sides, j) - d0,
            number(sides, j + 1) - d1,
        )
        # distance t from the line of the edge, its ends low and high along it, their distances r and p from the point
        t, low, high = a0 * m0 + a1 * m1, a0 * e0 + a1 * e1, b0 * e0 + b1 * e1
        square = t * t + z * z
        square = where_less(square, LEAST, LEAST, square)
        r, p = square_root(low * low + square), square_root(high * high + square)
        beyond_r, beyond_p = r + where_less(low, 0.0, -low, low), p + where_less(high, 0.0, -high, high)
        # the foot on the line of an edge is before it (low >= 0), behind it (high <= 0) or on it
        over = where_less(low, 0.0, where_less(0.0, high, beyond_p * beyond_r, beyond_r), beyond_p)
        under = where_less(low, 0.0, where_less(0.0, high, square, beyond_p), beyond_r)
        before = 1.0 / (r * beyond_r) - 1.0 / (p * beyond_p)
        on = (high / p - low / r) / square
        # t, t^2 + z^2, I_-3, I_-1, then J_-3 and J_-1
        store(s, g, t)
        store(s, g + step, square)
        store(s, g + 2 * step, where_less(low, 0.0, where_less(0.0, high, on, -before), before))
        store(s, g + 3 * step, logarithm(over / under))
        store(s, g + (2 + POWERS) * step, (p - r) / (p * r))
        store(s, g + (3 + POWERS) * step, p - r)
        # I_q and J_q for q = 1, 3, 5 by recursion
        u, v, uu, vv = p, r, p * p, r * r  # R^q at both ends
        for k in range(2, powers):
            q = 2.0 * k - 3.0
            last = load(s, g + (1 + k) * step)
            store(s, g + (2 + k) * step, (high * u - low * v + q * square * last) * (1.0 / (q + 1.0)))
            u, v = u * uu, v * vv
            store(s, g + (2 + POWERS + k) * step, (u - v) * (1.0 / (q + 2.0)))
        # the part of the solid angle that this edge adds
        one, two = square + height * p, square + height * r
        total = total + angle(t * (high * two - low * one), one * two + t * t * high * low)
    return smaller(where_less(total, 0.0, 0.0, total), 2.0 * math.pi)


@jitable
def surface_integrals(s, sides, solid, z, powers):
    """Store the moments (POWERS, 6), int R^q (1, P_0, P_1, P_0^2, P_0 P_1, P_1^2) dS of the first `powers` - 1 q, from
    the angle `solid`, positive where z is: for q = -3 the first is that angle, z int R^-3 dS, itself. s and sides as in
    `edge_integrals`."""
    step = lanes(s)
    store(s, MOMENTS * step, solid)
    # moments of 1, from those of the power below and the edges
    last, height = solid, z
    for k in range(1, powers):
        q, total = 2.0 * k - 3.0, zero(s)
        for n in range(3):
            total = total + load(s, EDGE * n * step) * load(s, (EDGE * n + 2 + k) * step)
        last = (q * height * last + total) * (1.0 / (q + 2.0))
        height = z * z
        store(s, (MOMENTS + 6 * k) * step, last)
    # moments of P and P P^T, from I and J of the edges and the moments of 1 of the power above
    for k in range(powers - 1):
        factor = 1.0 / (2.0 * k - 1.0)
        s0, s1, s2, s3, s4 = zero(s), zero(s), zero(s), zero(s), zero(s)
        for n in range(3):
            i, g = SIDE * n, EDGE * n
            m0, m1, e0, e1 = number(sides, i + 2), number(sides, i + 3), number(sides, i + 4), number(sides, i + 5)
            along, line = load(s, (g + 3 + k) * step), load(s, (g + 3 + POWERS + k) * step)
            away = load(s, g * step) * along
            v0, v1 = m0 * away + e0 * line, m1 * away + e1 * line
            s0, s1 = s0 + m0 * along, s1 + m1 * along
            s2, s3, s4 = s2 + m0 * v0, s3 + m0 * v1, s4 + m1 * v1
        place, after = (MOMENTS + 6 * k) * step, load(s, (MOMENTS + 6 * (k + 1)) * step)
        store(s, place + step, factor * s0)
        store(s, place + 2 * step, factor * s1)
        store(s, place + 3 * step, factor * (s2 - after))
        store(s, place + 4 * step, factor * s3)
        store(s, place + 5 * step, factor * (s4 - after))


@jitable
def along_edge(s, sides, n, f, k):
    """int f R^q ds over the edge n for the place k of q, of f = f_0 + f_1 P_0 + f_2 P_1 + f_3 P_0^2 + f_4 P_0 P_1 +
    f_5 P_1^2, f (6,) vectors; s and sides as in `edge_integrals`."""
    step, i, g = lanes(s), SIDE * n, EDGE * n
    m0, m1, e0, e1 = number(sides, i + 2), number(sides, i + 3), number(sides, i + 4), number(sides, i + 5)
    t, square = load(s, g * step), load(s, (g + 1) * step)
    here, after, line = load(s, (g + 2 + k) * step), load(s, (g + 3 + k) * step), load(s, (g + 2 + POWERS + k) * step)
    p0, p1 = t * m0, t * m1
    constant = f[0] + p0 * (f[1] + f[3] * p0 + f[4] * p1) + p1 * (f[2] + f[5] * p1)
    slope = e0 * (f[1] + 2.0 * f[3] * p0 + f[4] * p1) + e1 * (f[2] + f[4] * p0 + 2.0 * f[5] * p1)
    curved = e0 * (f[3] * e0 + f[4] * e1) + f[5] * e1 * e1
    return constant * here + slope * line + curved * (after - square * here)


@jitable
def distance_from_edge(s, n):
    """Distance t of the point from the line of the edge n; s as in `edge_integrals`."""
    return load(s, EDGE * n * lanes(s))


@jitable
def moment(s, k, n):
    """The moment n (of 6) for the place k of q; s as in `edge_integrals`."""
    return load(s, (MOMENTS + 6 * k + n) * lanes(s))


@jitable
def beyond_constant(s, f, k):
    """int (f - f_0) R^q dS for the place k of q; s and f as in `along_edge`."""
    linear = f[1] * moment(s, k, 1) + f[2] * moment(s, k, 2)
    return linear + (f[3] * moment(s, k, 3) + f[4] * moment(s, k, 4) + f[5] * moment(s, k, 5))
