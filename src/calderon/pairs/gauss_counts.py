"""How many Gauss points an integral over a pair of triangles needs along each of its coordinates.

Let x - y = D(t) with D linear in one coordinate t of [0, 1], all others fixed. Then 1/|D| is analytic inside the
ellipse with foci 0 and 1 through the complex zeros of D . D, and the ratio of its axis to the distance of the foci is
E = (|D(0)| + |D(1)|) / |D(1) - D(0)|: the triangle inequality, and how far it is from an equality. n Gauss points leave
an error like rho^(-2 n), rho = E + sqrt(E^2 - 1) (Trefethen, Approximation Theory and Approximation Practice (2013),
theorem 19.3). So n = L / (2 arccosh E) for an error exp(-L), different along every coordinate: a needle needs many
points along itself and few across, and none of either toward what lies beyond its tip.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.backends.numba import jitable_part, kernel
from calderon.backends.vectors import aligned, lanes, load, number, put, square_root, store, where_less, width, zero

COUNTS = np.array([3, 4, 5, 6, 8, 12, 20, 36, 60])
"""Numbers of Gauss points in use: few, so that many pairs share a rule."""
COORDINATES = 4
"""Coordinates of a pair at most."""


class Lines(NamedTuple):
    """Sample points (n, 4) of a parametrisation, as u1, u2, v1, v2 in the two triangles, and lines between them along
    single coordinates: coordinate, first and last point of each (m, 3)."""

    points: NDArray[np.float64]
    lines: NDArray[np.int64]


def sample_lines(
    maps: list[Callable[..., tuple[NDArray[np.float64], ...]]], names: list[tuple[int, ...]], others: int = 3
) -> Lines:
    """Lines of maps (t_0, ..., t_k) -> (u1, u2, v1, v2), linear in each coordinate: the other coordinates at so many
    equidistant values from 0 to 1.

    names: which coordinate of the result (0, 1, ...) each t_i of a map is.
    """
    ends: list[NDArray[np.float64]] = []
    coordinates: list[int] = []
    for mapping, name in zip(maps, names, strict=True):
        for axis, coordinate in enumerate(name):
            values = [np.linspace(0.0, 1.0, 2 if each == axis else others) for each in range(len(name))]
            grid = np.moveaxis(np.stack(np.meshgrid(*values, indexing="ij")), axis + 1, 1).reshape(len(name), -1)
            points = np.stack([each * np.ones(grid.shape[1]) for each in mapping(*grid)], axis=1)
            ends.append(points.reshape(2, -1, COORDINATES))
            coordinates += [coordinate] * ends[-1].shape[1]
    joined = np.concatenate(ends, axis=1)
    distinct, places = np.unique(joined.reshape(-1, COORDINATES), axis=0, return_inverse=True)
    return Lines(distinct, np.stack([np.array(coordinates), *places.reshape(2, -1)], axis=1))


class Steps(NamedTuple):
    """Numbers of Gauss points in steps: points[k] where k of the increasing bounds are at most E."""

    bounds: NDArray[np.float64]
    points: NDArray[np.int64]

    @staticmethod
    def of(accuracy: float, counts: NDArray[np.int64]) -> "Steps":
        """Steps to the numbers `counts` for an error of exp(-accuracy); 99 where they do not reach that."""
        return Steps(np.cosh(accuracy / (2 * counts[::-1])), np.append(99, counts[::-1]))


def points_needed(
    ellipses: NDArray[np.float64], accuracy: float, counts: NDArray[np.int64] = COUNTS
) -> NDArray[np.int64]:
    """The numbers of Gauss points, of `counts`, for an error of exp(-accuracy); 99 where COUNTS does not reach that."""
    steps = Steps.of(accuracy, counts)
    return np.asarray(steps.points[np.searchsorted(steps.bounds, ellipses, side="right")])


@jitable_part
def put_points(ellipses, steps, counts):
    """Store the numbers of points for ellipses (m,) in counts (>= m,), and return their product; steps: `Steps`."""
    product = 1
    for axis in range(ellipses.size):
        k = 0
        while k < steps.bounds.size and steps.bounds[k] <= ellipses[axis]:
            k += 1
        counts[axis] = steps.points[k]
        product *= counts[axis]
    return product


def ellipse_scratch(lines: Lines) -> NDArray[np.float64]:
    """Working memory of one thread of `put_ellipses`, in vectors: corners and edges of some pairs, D and |D| at each
    point, the least E of each coordinate."""
    return aligned((15 + 4 * len(lines.points) + COORDINATES) * width(float), float)


@kernel
def put_ellipses(test, trial, pairs, lines, scratch, out):
    """Fill out (n, coordinates) with the least E of each coordinate over the lines (`Lines`), for pairs (`Pairs`) of
    triangles with corners test, trial (m, 3, 3); scratch: `ellipse_scratch`."""
    s, step = scratch, lanes(scratch)
    points, ends, count = lines.points.reshape(-1), lines.lines.reshape(-1), lines.points.shape[0]
    corners, results = (test.reshape(-1), trial.reshape(-1)), out.reshape(-1)
    triangles, orders = pairs.triangles.reshape(-1), (pairs.test_order.reshape(-1), pairs.trial_order.reshape(-1))
    norms, least, axes = 15 + 3 * count, (15 + 4 * count) * step, out.shape[1]
    for begin in range(0, out.shape[0], step):  # a vector of pairs, one a lane
        # distance of the first corners (0 to 2), edges of the test (3, 9) and of the trial triangle (6, 12)
        for lane in range(step):
            n = min(begin + lane, out.shape[0] - 1)
            x, y = 9 * number(triangles, 2 * n), 9 * number(triangles, 2 * n + 1)
            x0, y0 = x + 3 * number(orders[0], 3 * n), y + 3 * number(orders[1], 3 * n)
            for c in range(3):
                first, second = number(corners[0], x0 + c), number(corners[1], y0 + c)
                put(s, c * step + lane, first - second)
                for a in range(1, 3):
                    one, two = x + 3 * number(orders[0], 3 * n + a), y + 3 * number(orders[1], 3 * n + a)
                    put(s, (6 * a - 3 + c) * step + lane, number(corners[0], one + c) - first)
                    put(s, (6 * a + c) * step + lane, number(corners[1], two + c) - second)
        # D = x - y and |D| at each point of the lines
        for p in range(count):
            u1, u2 = number(points, 4 * p), number(points, 4 * p + 1)
            v1, v2 = number(points, 4 * p + 2), number(points, 4 * p + 3)
            square = zero(s)
            for c in range(3):
                edges = u1 * load(s, (3 + c) * step) + u2 * load(s, (9 + c) * step)
                across = v1 * load(s, (6 + c) * step) + v2 * load(s, (12 + c) * step)
                d = load(s, c * step) + edges - across
                store(s, (15 + 3 * p + c) * step, d)
                square = square + d * d
            store(s, (norms + p) * step, square_root(square))
        # squares of E = (|D_p| + |D_q|) / |D_q - D_p| of the lines from p to q, the least of each coordinate
        for axis in range(axes):
            store(s, least + axis * step, zero(s) + 1e6)
        for m in range(lines.lines.shape[0]):
            here, p, q = least + number(ends, 3 * m) * step, number(ends, 3 * m + 1), number(ends, 3 * m + 2)
            square = zero(s)
            for c in range(3):
                d = load(s, (15 + 3 * q + c) * step) - load(s, (15 + 3 * p + c) * step)
                square = square + d * d
            length = load(s, (norms + p) * step) + load(s, (norms + q) * step)
            length, best = length * length, load(s, here)
            store(s, here, where_less(length, best * square, length / square, best))
        # their roots, from lanes to rows
        for axis in range(axes):
            store(s, least + axis * step, square_root(load(s, least + axis * step)))
            for lane in range(min(step, out.shape[0] - begin)):
                put(results, (begin + lane) * axes + axis, number(s, least + axis * step + lane))
