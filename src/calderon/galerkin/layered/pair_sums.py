"""Compiled sums over pairs of triangles of i k0 int int (G_xx f . g - K div f div g / k0^2), f = s (x - v).

With x = c + xi and v = c + alpha, and beta and eta of the other triangle, f . g = s t (xi - alpha) . (eta - beta): the
moments of G_xx with 1, xi, eta and xi . eta, and that of K, serve all nine products.
"""

import math

import numpy as np

from calderon.backends.numba import jitable_part, kernel
from calderon.layers.tables import look_up


@jitable_part
def _put_distances(r, dx, dy, points, i, j, size):  # type: ignore[no-untyped-def]
    """Distances of the points of two triangles whose centroids are dx, dy apart; points: (n, size, 2), flat."""
    for p in range(size):
        at = 2 * (i * size + p)
        px, py = dx + points[at], dy + points[at + 1]
        for q in range(size):
            other = 2 * (j * size + q)
            x, y = px - points[other], py - points[other + 1]
            r[p * size + q] = math.sqrt(x * x + y * y)


@jitable_part
def _put_moments(m, r, values, points, i, j, weights, divided):  # type: ignore[no-untyped-def]
    """Re and Im of int int G, G xi, G eta, G xi . eta, K in m (14,), of the values of G and K, divided by r if so."""
    size = len(weights)
    for c in range(14):
        m[c] = 0.0
    for p in range(size):
        g, gi, gx, gxi, gy, gyi, k, ki = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for q in range(size):
            n, other = p * size + q, 2 * (j * size + q)
            qx, qy = points[other], points[other + 1]
            w = weights[q] / r[n] if divided else weights[q]
            a, ai = w * values[n], w * values[size * size + n]
            k, ki = k + w * values[2 * size * size + n], ki + w * values[3 * size * size + n]
            g, gi, gx, gxi, gy, gyi = g + a, gi + ai, gx + a * qx, gxi + ai * qx, gy + a * qy, gyi + ai * qy
        w, at = weights[p], 2 * (i * size + p)
        wx, wy = w * points[at], w * points[at + 1]
        m[0], m[1], m[2], m[3] = m[0] + w * g, m[1] + w * gi, m[2] + wx * g, m[3] + wx * gi
        m[4], m[5], m[6], m[7] = m[4] + wy * g, m[5] + wy * gi, m[6] + w * gx, m[7] + w * gxi
        m[8], m[9] = m[8] + w * gy, m[9] + w * gyi
        m[10], m[11] = m[10] + wx * gx + wy * gy, m[11] + wx * gxi + wy * gyi
        m[12], m[13] = m[12] + w * k, m[13] + w * ki


@jitable_part
def _put_products(e, m, i, j, vertices, factors, charge):  # type: ignore[no-untyped-def]
    """Products (9,) of the local functions of two triangles, of the moments m; charge: 4 / k0^2."""
    for a in range(3):
        at = 2 * (3 * i + a)
        u, v, s = vertices[at], vertices[at + 1], factors[3 * i + a]
        re0, im0 = m[10] - u * m[6] - v * m[8] - charge * m[12], m[11] - u * m[7] - v * m[9] - charge * m[13]
        rex, imx, rey, imy = u * m[0] - m[2], u * m[1] - m[3], v * m[0] - m[4], v * m[1] - m[5]
        for b in range(3):
            other = 2 * (3 * j + b)
            x, y, st = vertices[other], vertices[other + 1], s * factors[3 * j + b]
            e[3 * a + b] = complex(st * (re0 + x * rex + y * rey), st * (im0 + x * imx + y * imy))


@kernel
def add_distant(  # type: ignore[no-untyped-def]
    tests, trials, low, half, flat, points, weights, tables, skips, factor, charge, places, out
):
    """out += factor times the products of all pairs but those to skip; half: pairs of a triangle and later ones alone.

    tests, trials: rows of the triangles; low: place of the first test among the trials if half. points (n Q 2,) from
    the centroids and weights (Q,) of sum 1 on all triangles; skips: starts and increasing trial places of the pairs to
    skip of each test; places: rows (tests, 3) and columns (trials, 3) of the local functions, -1 for none.
    """
    (centres, vertices, factors, areas, heights), (starts, skipped), (rows, columns) = flat, skips, places
    number, parts, first, interval, ends, series, far = tables
    size = len(weights)
    m, e, r, values = np.empty(14), np.empty(9, np.complex128), np.empty(size * size), np.empty(4 * size * size)
    for t in range(len(tests)):
        i, at, end = tests[t], starts[t], starts[t + 1]
        for n in range(low + t + 1 if half else 0, len(trials)):
            while at < end and skipped[at] < n:
                at += 1
            if at < end and skipped[at] == n:
                continue
            j = trials[n]
            table = number[heights[i], heights[j]]
            dx, dy = centres[2 * i] - centres[2 * j], centres[2 * i + 1] - centres[2 * j + 1]
            _put_distances(r, dx, dy, points, i, j, size)
            start, stop, kind = first[table], first[table + 1], far[table]
            look_up(r, size * size, parts[table], start, stop, interval, ends, series, kind, values)
            _put_moments(m, r, values, points, i, j, weights, kind == 0)
            _put_products(e, m, i, j, vertices, factors, charge)
            f = factor * (areas[i] * areas[j])
            for a in range(3):
                row = rows[t, a]
                if row >= 0:
                    for b in range(3):
                        column = columns[n, b]
                        if column >= 0:
                            out[row, column] += f * e[3 * a + b]


@kernel
def near_products(pairs, low, high, flat, points, weights, tables, factor, charge, out):  # type: ignore[no-untyped-def]
    """Products (n, 9) of the local functions of pairs (n, 2), low to high, without the direct part."""
    centres, vertices, factors, areas, heights = flat
    number, parts, first, interval, ends, series, _ = tables
    size = len(weights)
    m, e, r, values = np.empty(14), np.empty(9, np.complex128), np.empty(size * size), np.empty(4 * size * size)
    for n in range(low, high):
        i, j = pairs[n, 0], pairs[n, 1]
        table = number[heights[i], heights[j]]
        dx, dy = centres[2 * i] - centres[2 * j], centres[2 * i + 1] - centres[2 * j + 1]
        _put_distances(r, dx, dy, points, i, j, size)
        look_up(r, size * size, parts[table], first[table], first[table + 1], interval, ends, series, 4, values)
        _put_moments(m, r, values, points, i, j, weights, False)
        _put_products(e, m, i, j, vertices, factors, charge)
        for c in range(9):
            out[n, c] = factor * (areas[i] * areas[j]) * e[c]
