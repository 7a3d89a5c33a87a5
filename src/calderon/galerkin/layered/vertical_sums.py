"""Compiled sums over pairs of triangles of which one or both are vertical, with all five components."""

import math

import numpy as np

from calderon.backends.numba import kernel
from calderon.layers.tables import sum_series


@kernel
def rest_products(pairs, low, high, points, functions, weights, charges, areas, heights, table, k0, out):  # type: ignore[no-untyped-def]
    """out (n, 9) = i k0 int int (f . G g - K div f div g / k0^2) of the pairs low to high, with G and K from a table.

    Of both sides: points (n, 2, Q), functions (n, 3, 3, Q): local function, component, point; charges (n, 3) their
    divergence, areas (n,), heights (n, Q, nodes): Lagrange polynomials. weights (Q,) of sum 1.
    table: `RestTable.data` and its numbers of nodes.
    """
    parts, interval, ends, series, many, nodes = table
    size = len(weights)
    count = size * size
    r, x, y = np.empty(count), np.empty(count), np.empty(count)
    values, total, e = np.empty(count), np.empty((10, count)), np.empty((3, 3), np.complex128)
    for n in range(low, high):
        i, j = pairs[n, 0], pairs[n, 1]
        nearest, farthest = 1e300, 0.0
        for p in range(size):
            for q in range(size):
                at = p * size + q
                x[at], y[at] = points[0][i, 0, p] - points[1][j, 0, q], points[0][i, 1, p] - points[1][j, 1, q]
                r[at] = math.sqrt(x[at] * x[at] + y[at] * y[at])
                nearest, farthest = min(nearest, r[at]), max(farthest, r[at])
        first = interval[min(int(nearest * parts), len(interval) - 1)]
        last = interval[min(int(farthest * parts), len(interval) - 1)]
        total[:] = 0.0
        for a in range(many):
            for b in range(nodes):
                for c in range(10):
                    for m in range(first, last + 1):
                        middle, scale = ends[2 * m], ends[2 * m + 1]
                        bottom = middle - 1.0 / scale if m > first else -1.0
                        place = 12 * (((m * many + a) * nodes + b) * 10 + c)
                        sum_series(r, count, bottom, middle, scale, series, place, values, 0)
                    for p in range(size):
                        w = heights[0][i, p, a]
                        for q in range(size):
                            total[c, p * size + q] += w * heights[1][j, q, b] * values[p * size + q]
        e[:] = 0.0
        charge = 0j
        for p in range(size):
            for q in range(size):
                at, w = p * size + q, weights[p] * weights[q]
                inverse = 1.0 / r[at] if r[at] > 0.0 else 0.0
                ux, uy = x[at] * inverse, y[at] * inverse
                xx, zx = w * complex(total[0, at], total[1, at]), w * complex(total[4, at], total[5, at])
                xz, zz = w * complex(total[6, at], total[7, at]), w * complex(total[8, at], total[9, at])
                charge += w * complex(total[2, at], total[3, at])
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


@kernel
def cross_products(pairs, orders, low, high, corners, scales, places, weights, part, k0, out):  # type: ignore[no-untyped-def]
    """out (n, 9) = i k0 int int (xz f_t . u T g_z + zx f_z T u . g_t) / (4 pi), u from the source to the observer, of
    the pairs low to high: T of `quasi_static`.

    Of both sides: orders (n, 3) of the vertices, corners (n, 3, 3), scales (n, 3) of the functions scale (x - v),
    places (Q, 3), barycentric coordinates of points. weights (Q,) of sum 1 / 4. part: zx, xz, k, mirrored, mirror.
    """
    zx, xz, k, mirrored, mirror = part
    e, x, y = np.empty((3, 3), np.complex128), np.empty(3), np.empty(3)
    area = np.empty(2)
    for n in range(low, high):
        i, j = pairs[n, 0], pairs[n, 1]
        for side in range(2):
            t = corners[side][i if side == 0 else j]
            a0, a1, a2 = t[1, 0] - t[0, 0], t[1, 1] - t[0, 1], t[1, 2] - t[0, 2]
            b0, b1, b2 = t[2, 0] - t[0, 0], t[2, 1] - t[0, 1], t[2, 2] - t[0, 2]
            c0, c1, c2 = a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0
            area[side] = math.sqrt(c0 * c0 + c1 * c1 + c2 * c2)
        e[:] = 0.0
        for p in range(len(weights)):
            x[:] = 0.0
            y[:] = 0.0
            for v in range(3):
                for c in range(3):
                    x[c] += places[0][p, v] * corners[0][i, orders[0][n, v], c]
                    y[c] += places[1][p, v] * corners[1][j, orders[1][n, v], c]
            dx, dy = x[0] - y[0], x[1] - y[1]
            s = abs(x[2] - 2.0 * mirror + y[2]) if mirrored else abs(x[2] - y[2])
            square = dx * dx + dy * dy
            r = math.sqrt(square + s * s)
            half = 0.5 * k * square / (r + s)  # of the phase between r and s
            ratio = np.sin(half) / half if abs(half) > 1e-8 else 1.0 + 0j
            t = np.exp(1j * k * s) / (r * (r + s)) * (1.0 - 1j * k * s * ratio * np.exp(1j * half))
            t = weights[p] * t / (4.0 * math.pi)
            for a in range(3):
                f, fz = scales[0][i, a], x[2] - corners[0][i, a, 2]
                fu = (x[0] - corners[0][i, a, 0]) * dx + (x[1] - corners[0][i, a, 1]) * dy
                for b in range(3):
                    g, gz = scales[1][j, b], y[2] - corners[1][j, b, 2]
                    gu = (y[0] - corners[1][j, b, 0]) * dx + (y[1] - corners[1][j, b, 1]) * dy
                    e[a, b] += f * g * t * (xz * fu * gz + zx * fz * gu)
        for a in range(3):
            for b in range(3):
                out[n, 3 * a + b] = 1j * k0 * area[0] * area[1] * e[a, b]
