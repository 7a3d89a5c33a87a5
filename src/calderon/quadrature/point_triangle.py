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

Sources: D. R. Wilton, S. M. Rao, A. W. Glisson, D. H. Schaubert, O. M. Al-Bundak, C. M. Butler, IEEE Trans. Antennas
Propag. 32 (1984) 276; R. D. Graglia, IEEE Trans. Antennas Propag. 41 (1993) 1448; S. Jarvenpaa, M. Taskinen,
P. Yla-Oijala, IEEE Trans. Antennas Propag. 54 (2006) 42.
"""

import math

from calderon.backends.numba import jitable_part

POWERS = 5
"""q = -3, -1, 1, 3, 5."""
EDGE = 6 + 2 * POWERS
"""Numbers of an edge: m, e, t, t^2 + z^2, I_q, J_q."""
LEAST = 1e-300
"""Squared distance from an edge that counts at least."""


@jitable_part
def edge_integrals(corners, d0, d1, z, powers, edges):  # type: ignore[no-untyped-def]
    """Fill edges (3, EDGE) for the triangle with corners (3, 2), counter-clockwise, and the point (d0, d1, z) in the
    frame of its plane, for the first `powers` q; return the angle of the triangle as seen from the point,
    |z| int R^-3 dS, between 0 and 2 pi."""
    angle, height = 0.0, abs(z)
    for n in range(3):
        a0, a1 = corners[n, 0] - d0, corners[n, 1] - d1
        b0, b1 = corners[(n + 1) % 3, 0] - d0, corners[(n + 1) % 3, 1] - d1
        length = math.sqrt((b0 - a0) ** 2 + (b1 - a1) ** 2)
        e0, e1 = (b0 - a0) / length, (b1 - a1) / length
        m0, m1 = e1, -e0
        t, low, high = a0 * m0 + a1 * m1, a0 * e0 + a1 * e1, b0 * e0 + b1 * e1
        square = max(t * t + z * z, LEAST)
        r, p = math.sqrt(low * low + square), math.sqrt(high * high + square)
        g = edges[n]
        g[0], g[1], g[2], g[3], g[4], g[5] = m0, m1, e0, e1, t, square
        if low >= 0.0:
            g[7] = math.log((p + high) / (r + low))
            g[6] = 1.0 / (r * (r + low)) - 1.0 / (p * (p + high))
        elif high <= 0.0:
            g[7] = math.log((r - low) / (p - high))
            g[6] = 1.0 / (p * (p - high)) - 1.0 / (r * (r - low))
        else:
            g[7] = math.log((p + high) / square * (r - low))
            g[6] = (high / p - low / r) / square
        g[6 + POWERS], g[7 + POWERS] = (p - r) / (p * r), p - r
        u, v, uu, vv = p, r, p * p, r * r  # R^q at both ends
        for k in range(2, powers):
            q = 2.0 * k - 3.0
            g[6 + k] = (high * u - low * v + q * square * g[5 + k]) / (q + 1.0)
            u, v = u * uu, v * vv
            g[6 + POWERS + k] = (u - v) / (q + 2.0)
        one, two = square + height * p, square + height * r
        angle += math.atan2(t * (high * two - low * one), one * two + t * t * high * low)
    return min(max(angle, 0.0), 2.0 * math.pi)


@jitable_part
def surface_integrals(edges, angle, z, powers, moments):  # type: ignore[no-untyped-def]
    """Fill moments (POWERS, 6) with int R^q (1, P_0, P_1, P_0^2, P_0 P_1, P_1^2) dS of the first `powers` - 1 q, from
    the solid angle, positive where z is: for q = -3 the first is that angle, z int R^-3 dS, itself."""
    moments[0, 0] = angle
    for k in range(1, powers):
        q = 2.0 * k - 3.0
        total = edges[0, 4] * edges[0, 6 + k] + edges[1, 4] * edges[1, 6 + k] + edges[2, 4] * edges[2, 6 + k]
        before = z * angle if k == 1 else z * z * moments[k - 1, 0]
        moments[k, 0] = (q * before + total) / (q + 2.0)
    for k in range(powers - 1):
        factor = 1.0 / (2.0 * k - 1.0)
        s0, s1, s2, s3, s4 = 0.0, 0.0, 0.0, 0.0, 0.0
        for n in range(3):
            g = edges[n]
            along, line = g[7 + k], g[7 + POWERS + k]
            v0, v1 = g[4] * g[0] * along + g[2] * line, g[4] * g[1] * along + g[3] * line
            s0, s1 = s0 + g[0] * along, s1 + g[1] * along
            s2, s3, s4 = s2 + g[0] * v0, s3 + g[0] * v1, s4 + g[1] * v1
        moments[k, 1], moments[k, 2] = factor * s0, factor * s1
        moments[k, 3], moments[k, 4] = factor * (s2 - moments[k + 1, 0]), factor * s3
        moments[k, 5] = factor * (s4 - moments[k + 1, 0])


@jitable_part
def along_edge(g, f, k):  # type: ignore[no-untyped-def]
    """int f R^q ds over an edge g for the place k of q, of f = f_0 + f_1 P_0 + f_2 P_1 + f_3 P_0^2 + f_4 P_0 P_1 +
    f_5 P_1^2."""
    p0, p1 = g[4] * g[0], g[4] * g[1]
    constant = f[0] + p0 * (f[1] + f[3] * p0 + f[4] * p1) + p1 * (f[2] + f[5] * p1)
    slope = g[2] * (f[1] + 2.0 * f[3] * p0 + f[4] * p1) + g[3] * (f[2] + f[4] * p0 + 2.0 * f[5] * p1)
    square = g[2] * (f[3] * g[2] + f[4] * g[3]) + f[5] * g[3] * g[3]
    return constant * g[6 + k] + slope * g[6 + POWERS + k] + square * (g[7 + k] - g[5] * g[6 + k])


@jitable_part
def over_triangle(moments, f):  # type: ignore[no-untyped-def]
    """int f R^q dS from a row of moments."""
    total = f[0] * moments[0]
    for n in range(1, 6):
        total += f[n] * moments[n]
    return total
