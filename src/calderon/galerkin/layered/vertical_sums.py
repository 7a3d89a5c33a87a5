"""Compiled sums over pairs of triangles of which one or both are vertical, with all five components."""

import math

import numpy as np

from calderon.backends.numba import jitable_part, kernel
from calderon.backends.vectors import aligned, jitable, lanes, load, store, where_less, width, zero
from calderon.greens.elementary import decaying_exponential, inverse_square_root, sine_cosine


@jitable_part
def put_sums(sums, series, heights, many):
    """Store in sums (Q, m, 10) those of the flat series (many, m, 10) with the factors heights (Q, many)."""
    count = sums.shape[1]
    for p in range(len(heights)):
        for k in range(count):
            for c in range(10):
                sums[p, k, c] = 0.0
        for a in range(many):
            w = heights[p, a]
            for k in range(count):
                for c in range(10):
                    sums[p, k, c] += w * series[(a * count + k) * 10 + c]


@kernel
def rest_products(pairs, low, high, points, functions, weights, charges, areas, heights, table, k0, out):
    """out (n, 9) = i k0 int int (f . G g - K div f div g / k0^2) of the pairs low to high, with G and K from a table.

    Of both sides: points (n, 2, Q), functions (n, 3, 3, Q): local function, component, point; charges (n, 3) their
    divergence, areas (n,), heights (n, Q, nodes): Lagrange polynomials. weights (Q,) of sum 1.
    table: `RestTable.data` and its numbers of nodes. Pairs are sorted by test triangle: sums of series over its nodes
    serve all its trial triangles.
    """
    parts, interval, ends, series, many, nodes = table
    size, rows, step = len(weights), 12 * nodes, lanes(ends)
    wide = 2 * step  # of 10 numbers, so that they are vectors
    sums, done = np.zeros((len(ends) // 2, size, rows, wide)), np.full(len(ends) // 2, -1)
    flat, polynomials, v, e = sums.reshape(-1), np.ones(12), np.empty(wide), np.empty((3, 3), np.complex128)
    for n in range(low, high):
        i, j, charge = pairs[n, 0], pairs[n, 1], 0j
        e[:] = 0.0
        # pairs of points of the rule: the interval of the distance, sums of its series over the heights of the tests
        for p in range(size):
            for q in range(size):
                dx, dy = points[0][i, 0, p] - points[1][j, 0, q], points[0][i, 1, p] - points[1][j, 1, q]
                r = math.sqrt(dx * dx + dy * dy)
                m = interval[min(int(r * parts), len(interval) - 1)]
                if done[m] != i:
                    put_sums(sums[m], series[m * many * rows * 10 :], heights[0][i], many)
                    done[m] = i
                # Chebyshev polynomials of the distance
                x = (r - ends[2 * m]) * ends[2 * m + 1]
                polynomials[1] = x
                for k in range(2, 12):
                    polynomials[k] = 2.0 * x * polynomials[k - 1] - polynomials[k - 2]
                # sums over them and over the heights of the trial point, two of them at a time
                one = two = one_odd = two_odd = zero(flat)
                at = (m * size + p) * rows * wide
                for k in range(0, 12, 2):
                    even, odd, last = polynomials[k], polynomials[k + 1], at + nodes * wide
                    for b in range(nodes):
                        w, w_odd = even * heights[1][j, q, b], odd * heights[1][j, q, b]
                        one, two = one + w * load(flat, at), two + w * load(flat, at + step)
                        one_odd = one_odd + w_odd * load(flat, last)
                        two_odd = two_odd + w_odd * load(flat, last + step)
                        at, last = at + wide, last + wide
                    at = last
                store(v, 0, one + one_odd)
                store(v, step, two + two_odd)
                # f . G g of all functions, and the integral of K
                inverse, w = 1.0 / r if r > 0.0 else 0.0, weights[p] * weights[q]
                ux, uy = dx * inverse, dy * inverse
                xx, zx, xz = w * complex(v[0], v[1]), w * complex(v[4], v[5]), w * complex(v[6], v[7])
                zz, charge = w * complex(v[8], v[9]), charge + w * complex(v[2], v[3])
                for a in range(3):
                    fx, fy, fz = functions[0][i, a, 0, p], functions[0][i, a, 1, p], functions[0][i, a, 2, p]
                    ex, ey = xx * fx + zx * fz * ux, xx * fy + zx * fz * uy
                    ez = xz * (fx * ux + fy * uy) + zz * fz
                    for b in range(3):
                        gx, gy, gz = functions[1][j, b, 0, q], functions[1][j, b, 1, q], functions[1][j, b, 2, q]
                        e[a, b] += ex * gx + ey * gy + ez * gz
        factor = 1j * k0 * areas[0][i] * areas[1][j]
        for a in range(3):
            for b in range(3):
                out[n, 3 * a + b] = factor * (e[a, b] - charge * charges[0][i, a] * charges[1][j, b] / (k0 * k0))


@jitable
def _wave(s, square, r2, kr, kl):
    """Re and Im of T / rho of `quasi_static` for k = kr + i kl: exp(iks) (1 - (s/b) (exp(ikb) - 1)) / (r (r + s)) with
    b = r - s = rho^2 / (r + s).

    s: difference of the heights, >= 0; square: rho^2; r2: r^2 = rho^2 + s^2. Below rho = 1e-7 s the result loses
    digits, as exp(-kl b) - 1 does: callers multiply it by the horizontal distance, of length rho, and the error of T
    itself is at most 1e-8 of T at rho = s.
    """
    w = inverse_square_root(r2)
    r = r2 * w
    inverse = 1.0 / (r + s)
    b = square * inverse
    sin_half, cos_half = sine_cosine(0.5 * kr * b)
    sin_s, cos_s = sine_cosine(kr * s)
    across, along = decaying_exponential(kl * b), decaying_exponential(kl * s)
    less = 2.0 * sin_half * sin_half
    ratio = s * (r + s) / (square + r2 * 1e-20)  # not zero above each other
    re = 1.0 - ratio * ((across - 1.0) * (1.0 - less) - less)
    im = -ratio * (across * 2.0 * sin_half * cos_half)
    scale = along * w * inverse
    return scale * (cos_s * re - sin_s * im), scale * (cos_s * im + sin_s * re)


@jitable_part
def _put_triangle(s, first, corners, triangle, orders, pair):
    """Store the second and the third vertex less the first one at s[first:] (6,), then twice the area.

    corners (n, 3, 3): those of all triangles; triangle: its number; orders[pair]: the order of its vertices in the
    rule.
    """
    o0, o1, o2 = orders[pair, 0], orders[pair, 1], orders[pair, 2]
    for c in range(3):
        origin = corners[triangle, o0, c]
        s[first + c], s[first + 3 + c] = corners[triangle, o1, c] - origin, corners[triangle, o2, c] - origin
    a0, a1, a2, b0, b1, b2 = s[first], s[first + 1], s[first + 2], s[first + 3], s[first + 4], s[first + 5]
    c0, c1, c2 = a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0
    s[first + 6] = math.sqrt(c0 * c0 + c1 * c1 + c2 * c2)


@jitable_part
def _put_moments(m, s, places, weights, offset, part):
    """Store in m (10,), complex, the sums of T / rho times (x . d) (1, y_z), (y . d) (1, x_z), d (1, y_z, x_z), where d
    is the horizontal distance, and x and y are from the first vertices.

    s: both triangles (`_put_triangle`, at 0 and 7), then room; places (4, Q) of both points, flat, and weights (Q,) of
    pairs, filled up to whole vectors; offset: from the first trial vertex, or its image, to the first test vertex;
    part: Re k, Im k, and whether trial triangles are mirrored.
    """
    kr, kl, mirrored = part
    step, size = lanes(weights), len(weights)
    a0, a1, a2, b0, b1, b2 = s[0], s[1], s[2], s[3], s[4], s[5]
    e0, e1, e2, f0, f1, f2 = s[7], s[8], s[9], s[10], s[11], s[12]
    turn = -1.0 if mirrored else 1.0
    d0, d1, d2 = offset
    none = zero(weights)
    p0 = p1 = q0 = q1 = x0 = x1 = y0 = y1 = g0 = g1 = none
    h0 = h1 = xz0 = xz1 = yz0 = yz1 = u0 = u1 = v0 = v1 = none
    for n in range(0, size, step):
        # points of both triangles from their first vertices, and distances
        i, j = load(places, n), load(places, size + n)
        k, l = load(places, 2 * size + n), load(places, 3 * size + n)
        xx, xy, xz = i * a0 + j * b0, i * a1 + j * b1, i * a2 + j * b2
        yx, yy, yz = k * e0 + l * f0, k * e1 + l * f1, k * e2 + l * f2
        dx, dy, height = xx - yx + d0, xy - yy + d1, xz - yz * turn + d2
        height = where_less(height, none, none - height, height)
        square = dx * dx + dy * dy
        re, im = _wave(height, square, square + height * height, kr, kl)
        w = load(weights, n)
        re, im = w * re, w * im
        # sums of one vector after the other
        one, two = xx * dx + xy * dy, yx * dx + yy * dy
        p0, p1, q0, q1 = p0 + re * one, p1 + im * one, q0 + re * two, q1 + im * two
        g0, g1, h0, h1 = g0 + re * dx, g1 + im * dx, h0 + re * dy, h1 + im * dy
        re_y, im_y, re_x, im_x = re * yz, im * yz, re * xz, im * xz
        x0, x1, y0, y1 = x0 + re_y * one, x1 + im_y * one, y0 + re_x * two, y1 + im_x * two
        xz0, xz1, yz0, yz1 = xz0 + re_y * dx, xz1 + im_y * dx, yz0 + re_y * dy, yz1 + im_y * dy
        u0, u1, v0, v1 = u0 + re_x * dx, u1 + im_x * dx, v0 + re_x * dy, v1 + im_x * dy
    # over the lanes
    sums = p0, p1, x0, x1, q0, q1, y0, y1, g0, g1, h0, h1, xz0, xz1, yz0, yz1, u0, u1, v0, v1
    for n in range(20):
        store(s, 16 + step * n, sums[n])
    for n in range(10):
        re, im = 0.0, 0.0
        for c in range(step):
            re += s[16 + step * 2 * n + c]
            im += s[16 + step * (2 * n + 1) + c]
        m[n] = complex(re, im)


@kernel
def cross_products(pairs, orders, low, high, corners, scales, places, weights, part, k0, scratch, out):
    """out (n, 9) = i k0 int int (xz f_t . u T g_z + zx f_z T u . g_t) / (4 pi), u from the source to the observer, of
    the pairs low to high: T of `quasi_static`.

    Of both sides: orders (n, 3) of the vertices, corners (n, 3, 3), scales (n, 3) of the functions scale (x - v).
    places (4, Q), flat: barycentric coordinates of the second and third vertex of test and trial points, weights (Q,)
    of sum 1 / 4, both filled up to whole vectors. part: zx, xz, k, mirrored, mirror. scratch: see `cross_scratch`.
    """
    zx, xz, k, mirrored, mirror = part
    m = np.empty(10, np.complex128)
    for n in range(low, high):
        i, j = pairs[n, 0], pairs[n, 1]
        _put_triangle(scratch, 0, corners[0], i, orders[0], n)
        _put_triangle(scratch, 7, corners[1], j, orders[1], n)
        # both triangles, and the trial one as its image if so
        o, q = orders[0][n, 0], orders[1][n, 0]
        z = 2.0 * mirror - corners[1][j, q, 2] if mirrored else corners[1][j, q, 2]
        offset = (
            corners[0][i, o, 0] - corners[1][j, q, 0], corners[0][i, o, 1] - corners[1][j, q, 1],
            corners[0][i, o, 2] - z,
        )  # fmt: skip
        _put_moments(m, scratch, places, weights, offset, (k.real, k.imag, mirrored))
        # moments about the vertices of each pair of functions
        factor = 1j * k0 * scratch[6] * scratch[13] / (4.0 * math.pi)
        for a in range(3):
            ax, ay = corners[0][i, a, 0] - corners[0][i, o, 0], corners[0][i, a, 1] - corners[0][i, o, 1]
            az = corners[0][i, a, 2] - corners[0][i, o, 2]
            f = scales[0][i, a] * factor
            one, two = m[0] - ax * m[4] - ay * m[5], m[1] - ax * m[6] - ay * m[7]
            for b in range(3):
                bx, by = corners[1][j, b, 0] - corners[1][j, q, 0], corners[1][j, b, 1] - corners[1][j, q, 1]
                bz = corners[1][j, b, 2] - corners[1][j, q, 2]
                left = two - bz * one
                right = (m[3] - bx * m[8] - by * m[9]) - az * (m[2] - bx * m[4] - by * m[5])
                out[n, 3 * a + b] = f * scales[1][j, b] * (xz * left + zx * right)


def cross_scratch() -> np.ndarray:
    """The working memory that a thread of `cross_products` must bring along."""
    return aligned(16 + 20 * width(float), float)
