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
