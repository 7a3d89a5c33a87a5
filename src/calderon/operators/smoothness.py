"""How many Gauss points an integral over a pair of triangles needs along each of its coordinates.

Let x - y = D(t) with D linear in one coordinate t of [0, 1], all others fixed. Then 1/|D| is analytic inside the
ellipse with foci 0 and 1 through the complex zeros of D . D, and the ratio of its axis to the distance of the foci is
E = (|D(0)| + |D(1)|) / |D(1) - D(0)|: the triangle inequality, and how far it is from an equality. n Gauss points leave
an error like rho^(-2 n), rho = E + sqrt(E^2 - 1) (Trefethen, Approximation Theory and Approximation Practice (2013),
theorem 19.3). So n = L / (2 arccosh E) for an error exp(-L), different along every coordinate: a needle needs many
points along itself and few across, and none of either toward what lies beyond its tip.
"""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.backends.numba import STAMP, kernel

COUNTS = np.array([3, 4, 5, 6, 8, 12, 20, 36, 60])
"""Numbers of Gauss points in use: few, so that many pairs share a rule."""


class Lines(NamedTuple):
    """Sample points (n, 4) of a parametrisation, as u1, u2, v1, v2 in the two triangles, and lines between them along
    single coordinates: coordinate, first and last point of each (m, 3)."""

    points: NDArray[np.float64]
    lines: NDArray[np.int64]


def sample_lines(maps: list[Callable[..., tuple[NDArray[np.float64], ...]]], names: list[tuple[int, ...]]) -> Lines:
    """Lines of maps (t_0, ..., t_k) -> (u1, u2, v1, v2), linear in each coordinate: the others at 0, 1/2 and 1.

    names: which coordinate of the result (0, 1, ...) each t_i of a map is.
    """
    points: list[NDArray[np.float64]] = []
    lines: list[NDArray[np.int64]] = []
    for mapping, name in zip(maps, names, strict=True):
        dimension = len(name)
        grid = np.stack(np.meshgrid(*[[0.0, 0.5, 1.0]] * dimension, indexing="ij"), axis=-1)
        number = np.arange(3**dimension).reshape(grid.shape[:-1]) + sum(len(each) for each in points)
        ones = np.ones(3**dimension)
        points.append(np.stack([each * ones for each in mapping(*grid.reshape(-1, dimension).T)], axis=1))
        for axis, coordinate in enumerate(name):
            ends = np.take(number, 0, axis).ravel(), np.take(number, 2, axis).ravel()
            lines.append(np.stack([np.full(ends[0].size, coordinate), *ends], axis=1))
    return Lines(np.concatenate(points), np.concatenate(lines))


def points_needed(
    ellipses: NDArray[np.float64], accuracy: float, counts: NDArray[np.int64] = COUNTS
) -> NDArray[np.int64]:
    """The numbers of Gauss points, of `counts`, for an error of exp(-accuracy); 99 where COUNTS does not reach that."""
    bounds = np.cosh(accuracy / (2 * counts[::-1]))  # increasing
    return np.append(99, counts[::-1])[np.searchsorted(bounds, ellipses, side="right")]


@functools.lru_cache(maxsize=1)
def ellipse_kernel() -> Callable[..., Any]:
    """Compiled ellipses(test, trial, pairs, lines, out): out (n, coordinates) gets the least E over the lines of each
    coordinate, for pairs (sides.Pairs) of triangles with corners (m, 3, 3)."""
    stamp = STAMP

    @kernel
    def ellipses(test, trial, pairs, lines, out):  # type: ignore[no-untyped-def]
        _ = stamp
        count = lines.points.shape[0]
        d, norm = np.empty((count, 3)), np.empty(count)
        for n in range(pairs.triangles.shape[0]):
            x, y = test[pairs.triangles[n, 0]], trial[pairs.triangles[n, 1]]
            a, b = pairs.test_order[n], pairs.trial_order[n]
            for c in range(3):
                o = x[a[0], c] - y[b[0], c]
                e, f = x[a[1], c] - x[a[0], c], x[a[2], c] - x[a[0], c]
                g, h = y[b[1], c] - y[b[0], c], y[b[2], c] - y[b[0], c]
                for p in range(count):
                    u = lines.points[p]
                    d[p, c] = o + u[0] * e + u[1] * f - u[2] * g - u[3] * h
            for p in range(count):
                norm[p] = np.sqrt(d[p, 0] ** 2 + d[p, 1] ** 2 + d[p, 2] ** 2)
            for axis in range(out.shape[1]):
                out[n, axis] = 1e3
            for m in range(lines.lines.shape[0]):
                axis, p, q = lines.lines[m]
                d0, d1, d2 = d[q, 0] - d[p, 0], d[q, 1] - d[p, 1], d[q, 2] - d[p, 2]
                length = norm[p] + norm[q]
                square = d0 * d0 + d1 * d1 + d2 * d2
                if length * length < out[n, axis] * out[n, axis] * square:
                    out[n, axis] = length / np.sqrt(square)

    return ellipses
