"""Compiled sums over pairs of triangles of which one or both are vertical, with all five components."""

import math

import numpy as np

from calderon.backends.numba import jitable_part, kernel


@jitable_part
def put_sums(sums, series, heights, many):  # type: ignore[no-untyped-def]
    """In sums (Q, m, 10) of series (many, m, 10), flat, with the factors heights (Q, many)."""
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
def rest_products(pairs, low, high, points, functions, weights, charges, areas, heights, table, k0, out):  # type: ignore[no-untyped-def]
    """out (n, 9) = i k0 int int (f . G g - K div f div g / k0^2) of the pairs low to high, with G and K from a table.

    Of both sides: points (n, 2, Q), functions (n, 3, 3, Q): local function, component, point; charges (n, 3) their
    divergence, areas (n,), heights (n, Q, nodes): Lagrange polynomials. weights (Q,) of sum 1.
    table: `RestTable.data` and its numbers of nodes. Pairs are sorted by test triangle: sums of series over its nodes
    serve all its trial triangles.
    """
    parts, interval, ends, series, many, nodes = table
    size, rows = len(weights), 12 * nodes
    sums, done = np.empty((len(ends) // 2, size, rows, 10)), np.full(len(ends) // 2, -1)
    polynomials, v, e = np.ones(12), np.empty(10), np.empty((3, 3), np.complex128)
    for n in range(low, high):
        i, j = pairs[n, 0], pairs[n, 1]
        e[:] = 0.0
        charge = 0j
        for p in range(size):
            for q in range(size):
                dx, dy = points[0][i, 0, p] - points[1][j, 0, q], points[0][i, 1, p] - points[1][j, 1, q]
                r = math.sqrt(dx * dx + dy * dy)
                m = interval[min(int(r * parts), len(interval) - 1)]
                if done[m] != i:
                    put_sums(sums[m], series[m * many * rows * 10 :], heights[0][i], many)
                    done[m] = i
                x = (r - ends[2 * m]) * ends[2 * m + 1]
                polynomials[1] = x
                for k in range(2, 12):
                    polynomials[k] = 2.0 * x * polynomials[k - 1] - polynomials[k - 2]
                part = sums[m, p]
                for c in range(10):
                    v[c] = 0.0
                for k in range(12):
                    for b in range(nodes):
                        w = polynomials[k] * heights[1][j, q, b]
                        for c in range(10):
                            v[c] += w * part[k * nodes + b, c]
                inverse, w = 1.0 / r if r > 0.0 else 0.0, weights[p] * weights[q]
                ux, uy = dx * inverse, dy * inverse
                xx, zx, xz = w * complex(v[0], v[1]), w * complex(v[4], v[5]), w * complex(v[6], v[7])
                zz = w * complex(v[8], v[9])
                charge += w * complex(v[2], v[3])
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
            if k.imag == 0.0:
                h, ks = half.real, k.real * s
                ratio = math.sin(h) / h if h > 1e-8 else 1.0
                t = complex(math.cos(ks), math.sin(ks)) * (1.0 - 1j * ks * ratio * complex(math.cos(h), math.sin(h)))
            else:
                lossy = np.sin(half) / half if abs(half) > 1e-8 else 1.0 + 0j
                t = np.exp(1j * k * s) * (1.0 - 1j * k * s * lossy * np.exp(1j * half))
            t = t / (r * (r + s))
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
