"""Compiled loops between functions and the nodes of grids, and of sparse near entries.

Function n has the nodes first[n, 0] to first[n, 0] + m - 1 and first[n, 1] to first[n, 1] + m - 1 of the grid plane[n],
and weights[n, c, m a + b] of J_x, J_y and div J (c).
"""

import functools
from typing import Any

import numpy as np

from calderon.backends.numba import kernel


@kernel
def scatter(x, order, low, high, first, plane, weights, m, out):
    """out (planes, 3, nx, ny) += weights x of the functions order[low:high].

    x (n,): values of the functions; first (n, 2), plane (n,): first node and number of the plane of each; weights (n,
    3, m^2): of the m x m nodes, for currents along x and y and for charges.
    """
    for place in range(low, high):
        n = order[place]
        value, p, i, j = x[n], plane[n], first[n, 0], first[n, 1]
        for c in range(3):
            for a in range(m):
                for b in range(m):
                    out[p, c, i + a, j + b] += weights[n, c, m * a + b] * value


@kernel
def gather(field, low, high, first, plane, weights, m, factors, y):
    """y (n,) of the functions low to high: the weighted sums of field (planes, 3, nx, ny), times factors (3,); first,
    plane, weights and m as in `scatter`."""
    for n in range(low, high):
        p, i, j = plane[n], first[n, 0], first[n, 1]
        total = 0j
        for c in range(3):
            part = 0j
            for a in range(m):
                for b in range(m):
                    part += weights[n, c, m * a + b] * field[p, c, i + a, j + b]
            total += factors[c] * part
        y[n] = total


@kernel
def put_weights(sides, lengths, vertices, triangles, barycentric, rule, corner, spacing, first, m, low, high, weights):
    """Add int f L_a(x) L_b(y) of both components of f and of its divergence to weights (n, 3, m^2) of the functions low
    to high by a rule; L: the polynomials of degree m - 1 that are 1 at one node.

    sides (n, 2): places 3 t + a of vertex a of triangle t opposite to the edge, + and -; lengths (n,): of edges in m;
    vertices, triangles: of the mesh; barycentric (Q, 3), rule (Q,): points and weights of sum 1/2; corner (2,),
    spacing: of the grid in m; first (n, 2): first nodes.
    """
    basis = np.empty((2, m))
    for n in range(low, high):
        for side in range(2):
            t, local = sides[n, side] // 3, sides[n, side] % 3
            for q in range(len(rule)):
                # int f = l / (2 A) 2 A sum of weights times (x - v)
                flow = (1.0 - 2.0 * side) * lengths[n] * rule[q]
                x, y = 0.0, 0.0
                for v in range(3):
                    x += barycentric[q, v] * vertices[triangles[t, v], 0]
                    y += barycentric[q, v] * vertices[triangles[t, v], 1]
                fx, fy = flow * (x - vertices[triangles[t, local], 0]), flow * (y - vertices[triangles[t, local], 1])
                for a in range(m):
                    basis[0, a], basis[1, a] = 1.0, 1.0
                    for b in range(m):
                        if a != b:
                            basis[0, a] *= ((x - corner[0]) / spacing - first[n, 0] - b) / (a - b)
                            basis[1, a] *= ((y - corner[1]) / spacing - first[n, 1] - b) / (a - b)
                for a in range(m):
                    for b in range(m):
                        value = basis[0, a] * basis[1, b]
                        weights[n, 0, m * a + b] += fx * value
                        weights[n, 1, m * a + b] += fy * value
                        weights[n, 2, m * a + b] += 2.0 * flow * value


@kernel
def put_neighbours(cells, shape, begins, order, middles, radii, reach, ends, columns):
    """Put the functions closer than `reach`, or than the sum of their radii, to each function i from ends[i] on, which
    becomes where they end, in increasing order; without columns, count them there.

    cells (n, 2): of a table of cells of that shape, those of near functions being neighbours; begins, order: functions
    by cells; middles (n, 2), radii (n,).
    """
    for j in range(len(cells)):
        x, y = cells[j, 0], cells[j, 1]
        for a in range(max(x - 1, 0), min(x + 2, shape[0])):
            first, last = a * shape[1] + max(y - 1, 0), a * shape[1] + min(y + 1, shape[1] - 1)
            for place in range(begins[first], begins[last + 1]):
                i = order[place]
                dx, dy = middles[i, 0] - middles[j, 0], middles[i, 1] - middles[j, 1]
                if dx * dx + dy * dy <= max(reach, radii[i] + radii[j]) ** 2:
                    if len(columns):
                        columns[ends[i]] = j
                    ends[i] += 1


@functools.lru_cache(maxsize=6)
def grid_subtraction(m: int) -> Any:
    """The kernel for m nodes along each axis: values of the rows low to high of a sparse matrix less what grids give.

    greens (planes, planes, 2, nx, ny): G_xx and K between nodes; factors: of currents and of charges. Weights of a pair
    are correlated first: (2m - 1)^2 values of Green's functions are read instead of m^4.
    """
    d = 2 * m - 1
    last = m * m - 1

    @kernel
    def subtract_grid(starts, columns, values, low, high, first, plane, weights, greens, factors):
        """Subtract from values, those of a sparse matrix (starts, columns, values) in its rows low to high, the
        products by the grid. first, plane, weights as in `scatter`; greens (planes, planes, 2, nx, ny): G_xx and K
        between nodes;
        factors (2,): of currents and of charges."""
        current, charge = np.empty(d * d), np.empty(d * d)
        for i in range(low, high):
            for at in range(starts[i], starts[i + 1]):
                j = columns[at]
                # correlate the weights of both functions, by the difference (u, v) of their nodes
                for n in range(d * d):
                    current[n], charge[n] = 0.0, 0.0
                for ax in range(m):
                    for ay in range(m):
                        x, y, q = weights[i, 0, m * ax + ay], weights[i, 1, m * ax + ay], weights[i, 2, m * ax + ay]
                        for bx in range(m):  # of the other function's nodes in reverse order
                            to = d * (ax + bx) + ay
                            for by in range(m):
                                b = last - m * bx - by
                                current[to + by] += x * weights[j, 0, b] + y * weights[j, 1, b]
                                charge[to + by] += q * weights[j, 2, b]
                # sum Green's functions between the nodes with the correlated weights
                dx, dy = first[i, 0] - first[j, 0] - m + 1, first[i, 1] - first[j, 1] - m + 1
                p, s = plane[i], plane[j]
                vector, scalar = 0j, 0j
                for u in range(d):
                    k = abs(dx + u)
                    for v in range(d):
                        n = abs(dy + v)
                        vector += current[d * u + v] * greens[p, s, 0, k, n]
                        scalar += charge[d * u + v] * greens[p, s, 1, k, n]
                values[at] -= factors[0] * vector + factors[1] * scalar

    return subtract_grid


@kernel
def add_rows(starts, columns, values, x, low, high, y):
    """y += A x in the rows low to high of a sparse matrix A (starts, columns, values)."""
    for i in range(low, high):
        total = 0j
        for at in range(starts[i], starts[i + 1]):
            total += values[at] * x[columns[at]]
        y[i] += total
