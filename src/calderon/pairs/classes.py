"""Which pairs of triangles touch, which are near, and how near."""

from collections.abc import Callable, Hashable
from typing import Any, NamedTuple, TypeVar
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from calderon.backends import run_tasks
from calderon.backends.memory import array_bytes
from calderon.backends.numba import read_only
from calderon.mesh.geometry import Extents, extents
from calderon.mesh.locality import sorted_keys
from calderon.pairs.grouping import arranged, grouped
from calderon.pairs.search import (
    Cells,
    distance_scratch,
    put_distances,
    search_near,
    search_touching,
)

Index = NDArray[np.int64]
Vertices = NDArray[np.integer]
Numbers = NDArray[np.int32]
"""Numbers of triangles: there are many pairs, and they are kept while a matrix is made."""
Order = NDArray[np.int8]
SEARCH = 4096
"""Test triangles that are searched at a time."""
GUESS = 24
"""Near pairs of a triangle for which there is room at first."""
MOST_CELLS = 1_000_000
"""Cells along one direction."""
KEPT_BYTES = 1 << 20
"""Bytes of pairs that are kept with a mesh for its next matrix, such as that of the next frequency: those of some 3,000
triangles, whose search takes a few percent of the time of a matrix; of larger meshes it takes less, and pairs would be
a noticeable part of the memory."""
_KEPT: WeakKeyDictionary[Any, dict[Hashable, Any]] = WeakKeyDictionary()
"""Pairs by mesh and by what was searched for. References are weak: no mesh lives longer for it."""
T = TypeVar("T")


def kept_with(mesh: Any, key: Hashable, search: Callable[[], T]) -> T:
    """The result of a search, arrays or tuples of them, which are not changed afterwards: kept as long as the mesh
    where all of its results together are small. key: says all that was searched for on this mesh."""
    found = _KEPT.setdefault(mesh, {})
    if key not in found:
        result = search()
        if sum(map(array_bytes, [*found.values(), result])) > KEPT_BYTES:
            return result
        found[key] = result
    return found[key]


class TouchingPairs(NamedTuple):
    """Pairs (n, 2) of test and trial triangle that share `shared` (n,) vertices; orders (n, 3) put those first."""

    pairs: Numbers
    shared: NDArray[np.int8]
    test_order: Order
    trial_order: Order

    def part(self, which: NDArray[np.bool_]) -> "TouchingPairs":
        """Some of the pairs."""
        order = np.flatnonzero(which)
        pairs, first, second = (arranged(each, order) for each in (self.pairs, self.test_order, self.trial_order))
        return TouchingPairs(pairs, self.shared[order], first, second)

    def exchanged(self) -> "TouchingPairs":
        """Test and trial triangles exchanged, common vertices as the new test triangle has them."""
        places = np.arange(3)
        key = np.where(places < self.shared[:, None], self.trial_order, 3 + places)
        order = np.argsort(key, axis=1)
        test, trial = (np.take_along_axis(each, order, axis=1) for each in (self.trial_order, self.test_order))
        return TouchingPairs(self.pairs[:, ::-1], self.shared, test, trial)


class Pairs(NamedTuple):
    """Pairs (n, 2) of triangles that share a rule, and the vertices (n, 3) of each in the order of the rule."""

    triangles: NDArray[np.int32]
    test_order: NDArray[np.int8]
    trial_order: NDArray[np.int8]

    def part(self, which: Any) -> "Pairs":
        """Some of the pairs."""
        return Pairs(*(each[which] for each in self))

    def exchanged(self) -> "Pairs":
        """Test and trial triangles exchanged."""
        return Pairs(np.ascontiguousarray(self.triangles[:, ::-1]), self.trial_order, self.test_order)


def touching_pairs(test: Vertices, trial: Vertices, upper: bool = False) -> TouchingPairs:
    """Find the pairs of triangles (n, 3), given by vertex numbers, that share at least one vertex, in the order of the
    test triangles; upper: only those with trial number >= test number."""
    count = int(max(test.max(), trial.max())) + 1
    starts, corners = grouped(trial.ravel(), count)
    test, trial = (read_only(np.ascontiguousarray(each, np.int32)) for each in (test, trial))

    def find(low: int, high: int) -> tuple[NDArray[Any], ...]:
        around = starts[test[low:high] + 1] - starts[test[low:high]]
        most = int(around.sum())
        room = np.empty((most, 2), np.int32), np.empty(most, np.int8), *np.empty((2, most, 3), np.int8)
        most = search_touching(test, trial, starts, corners, upper, low, high, *room)
        return tuple(each[:most].copy() for each in room)

    return TouchingPairs(*_searched(find, _runs(len(test))))


def _runs(count: int) -> list[tuple[int, int]]:
    """Beginnings and ends of the test triangles that are searched at a time."""
    return [(low, min(low + SEARCH, count)) for low in range(0, count, SEARCH)]


def _searched(find: Callable[..., tuple[NDArray[Any], ...]], tasks: list[Any]) -> list[NDArray[Any]]:
    """The arrays that `find` gives for the tasks, which several threads share, joined in the order of the tasks."""
    found: list[tuple[NDArray[Any], ...]] = [()] * len(tasks)

    def work(number: int) -> None:
        found[number] = find(*tasks[number])

    run_tasks(work, len(tasks))
    return [np.concatenate(each) for each in zip(*found, strict=True)]


def joined_orders(orders: list[Order], order: NDArray[np.int32]) -> Order:
    """Orders of vertices one after the other, then in that order; of near pairs, where all are one, without memory."""
    if orders and all(each.strides[0] == 0 for each in orders):
        return np.broadcast_to(np.arange(3, dtype=np.int8), (len(order), 3))
    return arranged(np.concatenate(orders), order)


def unchanged_orders(count: int) -> Order:
    """(count, 3) orders that change nothing, in memory of their own."""
    return np.frombuffer(bytearray((0, 1, 2)) * count, np.int8).reshape(-1, 3)


def near_pairs(
    test: NDArray[np.float64],
    trial: NDArray[np.float64],
    vertices: tuple[Vertices, Vertices],
    reach: float,
    upper: bool = False,
) -> tuple[Numbers, NDArray[np.float64]]:
    """Pairs (n, 2) of triangles with corners (m, 3, 3) whose distance is below `reach` times the longer of their
    diameters, and that ratio (n,); in the order of the test triangles where all trial triangles are of like size.
    Pairs that share one of the vertices (m, 3) are not among them. upper: only pairs with trial number > test number.
    """
    one = extents(test)
    two = one if trial is test else extents(trial)
    octave = np.floor(np.log2(two.size)).astype(int)  # triangles of like size, within a factor of two
    levels = [_cells(two, np.flatnonzero(octave == level), reach) for level in np.unique(octave)]
    tasks = [(level, *run) for run in _runs(len(test)) for level in levels]
    numbers = tuple(read_only(np.ascontiguousarray(each, np.int32)) for each in vertices)
    corners = np.ascontiguousarray(test), np.ascontiguousarray(trial)

    def find(cells: Cells, low: int, high: int) -> tuple[NDArray[Any], ...]:
        scratch = distance_scratch()
        pairs, ratio, count = np.empty((0, 2), np.int32), np.empty(0), GUESS * (high - low)
        while count > len(ratio):
            pairs, ratio = np.empty((count, 2), np.int32), np.empty(count)
            count = search_near(corners, (one, two), numbers, cells, reach, upper, low, high, scratch, pairs, ratio)
        return pairs[:count].copy(), ratio[:count].copy()

    pairs, ratios = _searched(find, tasks)
    return pairs, ratios


def _cells(extents: Extents, members: Index, reach: float) -> Cells:
    """Triangles of like size in cells about as wide as the distance in which they are near to each other."""
    centre = extents.centre[members]
    radius, size = float(extents.radius[members].max()), float(extents.size[members].max())
    low, high = centre.min(axis=0), centre.max(axis=0)
    edge = max(2 * radius + reach * size, float((high - low).max()) / MOST_CELLS)
    inverse = 1 / edge
    counts = ((high - low) * inverse).astype(np.int64) + 1
    x, y, z = ((centre - low) * inverse).astype(np.int64).T
    keys = (x * counts[1] + y) * counts[2] + z
    keys, order = sorted_keys(keys)
    return Cells(keys, members[order], low, counts, np.array([inverse, radius, size]))


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
    room = distance_scratch(), distance, places
    put_distances(np.ascontiguousarray(first), np.ascontiguousarray(second), pairs, *room)
    return distance, places
