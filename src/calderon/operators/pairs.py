"""Which pairs of triangles touch, which are near, and how near."""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from calderon.backends import run_tasks
from calderon.backends.numba import STAMP, kernel

Index = NDArray[np.int64]
Numbers = NDArray[np.int32]
"""Numbers of triangles: there are many pairs, and they are kept while a matrix is made."""
Order = NDArray[np.int8]
SEARCH = 512
"""Test triangles whose candidates are held at a time."""


class TouchingPairs(NamedTuple):
    """Pairs (n, 2) of test and trial triangle that share `shared` (n,) vertices; orders (n, 3) put those first."""

    pairs: Numbers
    shared: NDArray[np.int8]
    test_order: Order
    trial_order: Order

    def part(self, which: NDArray[np.bool_]) -> "TouchingPairs":
        """Some of the pairs."""
        return TouchingPairs(*(each[which] for each in self))  # type: ignore[arg-type]

    def exchanged(self) -> "TouchingPairs":
        """Test and trial triangles exchanged, common vertices as the new test triangle has them."""
        places = np.arange(3)
        key = np.where(places < self.shared[:, None], self.trial_order, 3 + places)
        order = np.argsort(key, axis=1)
        test, trial = (np.take_along_axis(each, order, axis=1) for each in (self.trial_order, self.test_order))
        return TouchingPairs(self.pairs[:, ::-1], self.shared, test, trial)


def touching_pairs(test: Index, trial: Index, upper: bool = False) -> TouchingPairs:
    """Find the pairs of triangles (n, 3), given by vertex numbers, that share at least one vertex; upper: only those
    with trial number >= test number."""
    count = int(max(test.max(), trial.max())) + 1

    def incidence(triangles: Index) -> sp.csr_array:
        rows = np.repeat(np.arange(len(triangles)), 3)
        return sp.coo_array((np.ones(rows.size, np.int8), (rows, triangles.ravel())), (len(triangles), count)).tocsr()

    table = (incidence(test) @ incidence(trial).T).tocoo()
    pairs, shared = np.stack(table.coords, axis=1).astype(np.int32), table.data.astype(np.int8)
    if upper:
        kept = pairs[:, 1] >= pairs[:, 0]
        pairs, shared = pairs[kept], shared[kept]
    equal = test[pairs[:, 0]][:, :, None] == trial[pairs[:, 1]][:, None, :]
    return TouchingPairs(pairs, shared, *common_vertices(equal))


def common_vertices(equal: NDArray[np.bool_]) -> tuple[Order, Order]:
    """Orders (n, 3) of both triangles of a pair that put the common vertices first, alike in both: equal (n, 3, 3) says
    which are the same."""
    test_order = np.argsort(~equal.any(axis=2), axis=1, kind="stable")
    rank = np.argsort(test_order, axis=1)  # place of each test vertex in the new order
    partner = np.where(equal.any(axis=1), np.take_along_axis(rank, equal.argmax(axis=1), axis=1), 3)
    trial_order = np.argsort(partner, axis=1, kind="stable")
    return test_order.astype(np.int8), trial_order.astype(np.int8)


def near_pairs(
    test: NDArray[np.float64], trial: NDArray[np.float64], reach: float, upper: bool = False
) -> tuple[Numbers, NDArray[np.float64]]:
    """Pairs (n, 2) of triangles with corners (m, 3, 3) whose distance is below `reach` times the longer of their
    diameters, and that ratio (n,). Touching pairs are among them, with ratio 0. upper: only pairs with trial number >
    test number.

    Candidates come from centroids within the reach of the largest triangles of two octaves of size.
    """
    test_centre, test_radius, test_size = _extents(test)
    trial_centre, trial_radius, trial_size = _extents(trial)
    levels = [(columns, cKDTree(trial_centre[columns])) for columns in _octaves(trial_size)]
    pieces = [rows for octave in _octaves(test_size) for rows in np.array_split(octave, -(-len(octave) // SEARCH))]
    found = [(np.zeros((0, 2), np.int32), np.zeros(0))] * (len(pieces) * len(levels))

    def search(number: int) -> None:
        rows, (columns, tree) = pieces[number // len(levels)], levels[number % len(levels)]
        size = np.maximum(test_size[rows].max(), trial_size[columns].max())
        radius = test_radius[rows].max() + trial_radius[columns].max() + reach * size
        close = cKDTree(test_centre[rows]).sparse_distance_matrix(tree, radius, output_type="ndarray")
        i, j = rows[close["i"]], columns[close["j"]]
        longest = np.maximum(test_size[i], trial_size[j])
        kept = close["v"] < test_radius[i] + trial_radius[j] + reach * longest
        if upper:
            kept &= j > i
        pairs = np.stack([i[kept], j[kept]], axis=1).astype(np.int32)
        ratio = np.round(distances(test, trial, pairs) / longest[kept], 9)  # the same for (j, i), also at a bound
        near = ratio < reach
        found[number] = (pairs[near], ratio[near])

    run_tasks(search, len(found))
    pairs, ratios = zip(*found, strict=True)
    return np.concatenate(pairs), np.concatenate(ratios)


def without(pairs: Numbers, ratio: NDArray[np.float64], touching: TouchingPairs) -> tuple[Numbers, NDArray[np.float64]]:
    """The near pairs that do not touch; only ratios that are almost zero are looked up."""
    zero = np.flatnonzero(ratio < 1e-6)
    count = 1 + max(int(pairs.max(initial=0)), int(touching.pairs.max(initial=0)))
    kept = np.ones(len(pairs), bool)
    known, asked = np.sort(_keys(touching.pairs, count)), _keys(pairs[zero], count)
    if len(known):
        kept[zero] = known[np.minimum(np.searchsorted(known, asked), len(known) - 1)] != asked
    return pairs[kept], ratio[kept]


def _keys(pairs: Numbers, count: int) -> Index:
    """(n,) one number for each pair of numbers below `count`."""
    return pairs[:, 0].astype(np.int64) * count + pairs[:, 1]


def _octaves(size: NDArray[np.float64]) -> list[Index]:
    """The triangles of like size: within a factor of two."""
    octave = np.floor(np.log2(size)).astype(int)
    return [np.flatnonzero(octave == level) for level in np.unique(octave)]


def _extents(corners: NDArray[np.float64]) -> tuple[NDArray[np.float64], ...]:
    """Centroids (n, 3), largest distance of a corner from it (n,), longest edges (n,)."""
    centre = corners.mean(axis=1)
    radius = np.linalg.norm(corners - centre[:, None], axis=2).max(axis=1)
    return centre, radius, longest_edges(corners)


def longest_edges(corners: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n,) of triangles with corners (n, 3, 3)."""
    return np.asarray(np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max(axis=1))


def distances(
    first: NDArray[np.float64], second: NDArray[np.float64], pairs: Numbers | None = None
) -> NDArray[np.float64]:
    """(n,) distances between triangles with corners (n, 3, 3), or between those of `pairs` (n, 2); for triangles that
    cross it is not zero but small."""
    return _closest(first, second, pairs)[0]


def closest_points(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n, 4) reference coordinates, in the first and in the second, of the closest points of triangles with corners
    (n, 3, 3)."""
    return _closest(first, second, None)[1]


def _closest(
    first: NDArray[np.float64], second: NDArray[np.float64], pairs: Numbers | None
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    if pairs is None:
        pairs = np.repeat(np.arange(len(first), dtype=np.int32)[:, None], 2, axis=1)
    distance, places = np.empty(len(pairs)), np.empty((len(pairs), 4))
    _distance_kernel()(np.ascontiguousarray(first), np.ascontiguousarray(second), pairs, distance, places)
    return distance, places


@functools.lru_cache(maxsize=1)
def _distance_kernel() -> Callable[..., Any]:
    stamp = STAMP

    @kernel
    def run(first, second, pairs, out, places):  # type: ignore[no-untyped-def]
        """Least distance over nine pairs of edges and six of corner and interior."""
        _ = stamp
        for n in range(pairs.shape[0]):
            one, two = first[pairs[n, 0]], second[pairs[n, 1]]
            best = 1e300
            for side in range(2):
                t, o = (one, two) if side == 0 else (two, one)
                u0, u1, u2 = t[1, 0] - t[0, 0], t[1, 1] - t[0, 1], t[1, 2] - t[0, 2]
                v0, v1, v2 = t[2, 0] - t[0, 0], t[2, 1] - t[0, 1], t[2, 2] - t[0, 2]
                uu, vv, uv = u0 * u0 + u1 * u1 + u2 * u2, v0 * v0 + v1 * v1 + v2 * v2, u0 * v0 + u1 * v1 + u2 * v2
                determinant = uu * vv - uv * uv
                for c in range(3):
                    w0, w1, w2 = o[c, 0] - t[0, 0], o[c, 1] - t[0, 1], o[c, 2] - t[0, 2]
                    wu, wv = w0 * u0 + w1 * u1 + w2 * u2, w0 * v0 + w1 * v1 + w2 * v2
                    a, b = (vv * wu - uv * wv) / determinant, (uu * wv - uv * wu) / determinant
                    if a >= 0 and b >= 0 and a + b <= 1:
                        r0, r1, r2 = w0 - a * u0 - b * v0, w1 - a * u1 - b * v1, w2 - a * u2 - b * v2
                        square = r0 * r0 + r1 * r1 + r2 * r2
                        if square < best:
                            best = square
                            places[n, 2 * side], places[n, 2 * side + 1] = a, b
                            places[n, 2 - 2 * side] = 1.0 if c == 1 else 0.0
                            places[n, 3 - 2 * side] = 1.0 if c == 2 else 0.0
            for i in range(3):
                for j in range(3):
                    p, q, r, s = one[i], one[(i + 1) % 3], two[j], two[(j + 1) % 3]
                    u0, u1, u2 = q[0] - p[0], q[1] - p[1], q[2] - p[2]
                    v0, v1, v2 = s[0] - r[0], s[1] - r[1], s[2] - r[2]
                    w0, w1, w2 = p[0] - r[0], p[1] - r[1], p[2] - r[2]
                    a, b, c = u0 * u0 + u1 * u1 + u2 * u2, u0 * v0 + u1 * v1 + u2 * v2, v0 * v0 + v1 * v1 + v2 * v2
                    d, e = u0 * w0 + u1 * w1 + u2 * w2, v0 * w0 + v1 * w1 + v2 * w2
                    determinant = a * c - b * b
                    x = min(max((b * e - c * d) / determinant, 0.0), 1.0) if determinant > 1e-14 * a * c else 0.5
                    y = min(max((b * x + e) / c, 0.0), 1.0)
                    x = min(max((b * y - d) / a, 0.0), 1.0)
                    r0, r1, r2 = w0 + x * u0 - y * v0, w1 + x * u1 - y * v1, w2 + x * u2 - y * v2
                    square = r0 * r0 + r1 * r1 + r2 * r2
                    if square < best:
                        best = square
                        places[n, 0] = x if i == 0 else 1 - x if i == 1 else 0.0
                        places[n, 1] = x if i == 1 else 1 - x if i == 2 else 0.0
                        places[n, 2] = y if j == 0 else 1 - y if j == 1 else 0.0
                        places[n, 3] = y if j == 1 else 1 - y if j == 2 else 0.0
            out[n] = np.sqrt(best)

    return run
