"""Compiled sums over pairs of triangles of i k0 int int (G_xx f . g - K div f div g / k0^2), f = s (x - v).

The moments of G_xx with 1, xi, eta and xi . eta, and that of K, serve all nine products of the local functions of two
triangles (forms/electric.py, `put_products`).
"""

import math

import numpy as np

from calderon.backends.numba import jitable_part, kernel
from calderon.galerkin.forms.electric import put_products
from calderon.layers.tables import look_up


@jitable_part
def _put_distances(r, scale, dx, dy, points, i, j, weights, divided):
    """Put the distances of the points of triangles i and j, whose centroids are dx, dy apart, into r (Q Q,), and the
    weights of the second points, divided by the distance if `divided`, into scale (Q Q,).

    points (n, 2, Q), flat, of all triangles from their centroids; weights (Q Q,): of the second points for each first
    one. Inverse roots are those of single precision after a step of Newton's method, to 1e-14.
    """
    count = len(weights)
    size = int(math.sqrt(count + 0.5))
    one, two = points[2 * size * i : 2 * size * (i + 1)], points[2 * size * j : 2 * size * (j + 1)]
    xs, ys = two[:size], two[size:]
    for p in range(size):
        px, py = dx + one[p], dy + one[size + p]
        for q in range(size):
            x, y = px - xs[q], py - ys[q]
            r[p * size + q] = x * x + y * y
    if divided:
        for n in range(count):
            square = r[n]
            root = np.float64(np.float32(1.0) / np.sqrt(np.float32(square)))
            root = root * (1.5 - 0.5 * square * root * root)
            r[n], scale[n] = square * root, weights[n] * root
    else:
        for n in range(count):
            r[n], scale[n] = math.sqrt(r[n]), weights[n]


@jitable_part
def _weigh(values, scale):
    """Multiply values (4, Q Q), flat, by the numbers scale (Q Q,)."""
    size = len(scale)
    for c in range(4):
        part = values[c * size : (c + 1) * size]
        for n in range(size):
            part[n] *= scale[n]


@jitable_part
def _put_moments(m, values, points, i, j, weights):
    """Put the moments of triangles i and j into m (14,), as `put_products` reads them, of weighed values (4, Q Q),
    flat: Re and Im of G and K; points, weights (Q,): as in `add_pairs`."""
    size = len(weights)
    one, two = points[2 * size * i : 2 * size * (i + 1)], points[2 * size * j : 2 * size * (j + 1)]
    step = size * size
    for c in range(14):
        m[c] = 0.0
    for p in range(size):
        g, gi, gx, gxi, gy, gyi, k, ki = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for q in range(size):
            n, qx, qy = p * size + q, two[q], two[size + q]
            a, ai = values[n], values[step + n]
            k, ki = k + values[2 * step + n], ki + values[3 * step + n]
            g, gi, gx, gxi, gy, gyi = g + a, gi + ai, gx + a * qx, gxi + ai * qx, gy + a * qy, gyi + ai * qy
        w, wx, wy = weights[p], weights[p] * one[p], weights[p] * one[size + p]
        m[0], m[1], m[2], m[3] = m[0] + w * g, m[1] + w * gi, m[2] + wx * g, m[3] + wx * gi
        m[4], m[5], m[6], m[7] = m[4] + wy * g, m[5] + wy * gi, m[6] + w * gx, m[7] + w * gxi
        m[8], m[9] = m[8] + w * gy, m[9] + w * gyi
        m[10], m[11] = m[10] + wx * gx + wy * gy, m[11] + wx * gxi + wy * gyi
        m[12], m[13] = m[12] + w * k, m[13] + w * ki


@jitable_part
def add_pairs(tests, trials, low, half, flat, points, weights, tables, skips, factor, charge, places, out, reach):
    """Add factor times the products of local functions of all pairs but those to skip to `out`; half: pairs of a
    triangle and later ones alone.

    tests, trials: rows of the triangles; low: place of the first test among the trials if half. flat, tables:
    metal.Flat and metal.Tables. points (n 2 Q,) from the centroids and weights (Q,) of sum 1 on all triangles; skips:
    starts and increasing trial places of the pairs to skip of each test; factor, charge: i k0 and 4 / k0^2; places:
    rows (tests, 3) and columns (trials, 3) of the local functions, -1 for none; reach: distance of the centroids up to
    which pairs count.
    """
    centres, vertices, factors, areas, radii, heights = flat
    (starts, skipped), (rows, columns) = skips, places
    number, parts, first, interval, ends, series, kinds = tables
    size = len(weights)
    both, scale = np.empty(size * size), np.empty(size * size)
    for n in range(size * size):
        both[n] = weights[n % size]
    m, e, r, values = np.empty(14), np.empty(9, np.complex128), np.empty(size * size), np.empty(4 * size * size)
    for t in range(len(tests)):
        i, at, end = tests[t], starts[t], starts[t + 1]
        for n in range(low + t + 1 if half else 0, len(trials)):
            # pairs to skip, and pairs too far apart
            while at < end and skipped[at] < n:
                at += 1
            if at < end and skipped[at] == n:
                continue
            j = trials[n]
            table = number[heights[i], heights[j]]
            dx, dy = centres[2 * i] - centres[2 * j], centres[2 * i + 1] - centres[2 * j + 1]
            if dx * dx + dy * dy > reach * reach:
                continue
            # values of G and K at all distances, from the table between the two heights
            apart, around, kind = math.sqrt(dx * dx + dy * dy), radii[i] + radii[j], kinds[table]
            _put_distances(r, scale, dx, dy, points, i, j, both, kind == 0)
            place = parts[table], first[table], first[table + 1], interval, ends, series
            look_up(r, size * size, apart - around, apart + around, place, kind, values)
            # moments, products of local functions, and their places
            _weigh(values, scale)
            _put_moments(m, values, points, i, j, weights)
            put_products(e, m, i, j, vertices, factors, charge)
            f = factor * (areas[i] * areas[j])
            for a in range(3):
                row = rows[t, a]
                if row >= 0:
                    for b in range(3):
                        column = columns[n, b]
                        if column >= 0:
                            out[row, column] += f * e[3 * a + b]


@kernel
def add_distant(tests, trials, low, half, flat, points, weights, tables, skips, factor, charge, places, out, reach):
    """Add the products of all pairs of triangles but those to skip to `out`: `add_pairs` as a kernel, arguments
    as in `add_pairs`."""
    add_pairs(tests, trials, low, half, flat, points, weights, tables, skips, factor, charge, places, out, reach)


@kernel
def near_products(pairs, low, high, whole, flat, points, weights, tables, factor, charge, out):
    """Store factor times the products of the local functions of pairs (n, 2), low to high, in out (n, 9), without the
    direct part unless `whole`; flat, points, weights, tables, charge: as in `add_pairs`."""
    centres, vertices, factors, areas, radii, heights = flat
    number, parts, first, interval, ends, series, kinds = tables
    size = len(weights)
    both, scale = np.empty(size * size), np.empty(size * size)
    for n in range(size * size):
        both[n] = weights[n % size]
    m, e, r, values = np.empty(14), np.empty(9, np.complex128), np.empty(size * size), np.empty(4 * size * size)
    for n in range(low, high):
        i, j = pairs[n, 0], pairs[n, 1]
        table = number[heights[i], heights[j]]
        dx, dy = centres[2 * i] - centres[2 * j], centres[2 * i + 1] - centres[2 * j + 1]
        # values of G and K at all distances, then moments and products as in `add_pairs`
        apart, around, kind = math.sqrt(dx * dx + dy * dy), radii[i] + radii[j], kinds[table] if whole else 4
        _put_distances(r, scale, dx, dy, points, i, j, both, kind == 0)
        place = parts[table], first[table], first[table + 1], interval, ends, series
        look_up(r, size * size, apart - around, apart + around, place, kind, values)
        _weigh(values, scale)
        _put_moments(m, values, points, i, j, weights)
        put_products(e, m, i, j, vertices, factors, charge)
        for c in range(9):
            out[n, c] = factor * (areas[i] * areas[j]) * e[c]
