"""Touching and near pairs of triangles on a device: their search, their rules and their list (search.c).

A thread takes one test triangle, or some. The processor sorts triangles by the cells of grids, and learns how many
pairs there are, which rules occur, and which pairs it has to integrate itself.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.backends import Device, Kernels, Source, real_name, require_device_memory
from calderon.backends.numba import jitable_part, kernel
from calderon.backends.records import Record
from calderon.mesh.geometry import Extents
from calderon.pairs.classes import MOST_CELLS, TouchingPairs
from calderon.pairs.gauss_counts import COUNTS
from calderon.pairs.grouping import grouped
from calderon.pairs.near import RULES
from calderon.pairs.rules import EXCHANGED, Wanted, fibre_points, fibre_steps
from calderon.pairs.touching import TOUCH, Limits, angular_lines, code_of

Array = NDArray[np.float64]
Index = NDArray[np.int64]
GROUP = 64
"""Threads of a group."""
RUNS = 4096
"""Runs of test triangles whose pairs one thread numbers, about: a card has some 10,000 threads at work."""
NEAR_RULES = 3
PROCESSOR, IDLE, TOUCHING = range(NEAR_RULES, NEAR_RULES + 3)
"""Codes in search.c of pairs for the processor, of idle pairs, and of touching pairs from there on; near ones begin at
0."""
POINTS = np.append(np.union1d(COUNTS, TOUCH.coarse), 99)
"""Numbers of Gauss points, in usual and in coarse steps, by the number that a shape has for them; the last one is too
many."""
SHAPES = sum(len(POINTS) ** axes for axes in (1, 2, 3))
OTHER = 9
"""Integers of a pair for the processor: triangles, how many vertices they share, and both orders."""
TRIANGLE_OF_PAIRS = Record("TRIANGLE", corners=9, centre=3, radius=1, size=1, stretch=1)
"""The numbers of a triangle in triangle_pair.h: corners and extents."""
HASH = np.array([73856093, 19349663, 83492791], np.uint32)
"""Factors of the coordinates of a cell in the number of its bucket (Teschner et al. 2003)."""


class PairSide(NamedTuple):
    """Triangles of one side: their extents; records on a device, with the parts of TRIANGLE_OF_PAIRS; vertices (n, 3)
    in the numbers of both sides, numbers (n,) in the mesh: pairs take the points of the order in which these
    increase."""

    found: Extents
    records: Any
    vertices: NDArray[np.int32]
    numbers: Index

    def sent(self, device: Device) -> tuple[Any, Any]:
        """Records and integers on a device, as triangle_pair.h reads them."""
        integers = self.vertices, self.numbers[:, None]
        return self.records, device.array(np.concatenate(integers, axis=1, dtype=np.int32, casting="same_kind"))


class Candidates:
    """The trial triangles that may be near to each test triangle, on a device: those of triangle i stand in `seconds`
    from starts[i] up to, without, starts[i + 1].

    sides: records and integers of both sides; counts: triangles of both; largest: the longest edge.
    """

    def __init__(
        self, device: Device, real: np.dtype[Any], test: PairSide, trial: PairSide, same_mesh: bool, reach: float
    ) -> None:
        """Search; real: type of coordinates; same_mesh: whether both sides are on one mesh; reach: the ratio of
        distance to size below which a pair is near."""
        self.device, self.real, self.same_mesh, self.reach = device, real, same_mesh, reach
        self.counts = len(test.numbers), len(trial.numbers)
        sent = [side.sent(device) for side in ([trial] if test is trial else [test, trial])]
        self.sides = *sent[0], *sent[-1]
        self.largest = max(float(each.found.size.max(initial=0.0)) for each in (test, trial))
        self.kernels = Kernels(device, Source("pairs/search.c", real_name(real)), GROUP)
        triangles, grids = (sent[0][0], sent[-1][0]), self._grids(trial.found)
        counted = device.empty((self.counts[0],), np.int32)
        self._list(*triangles, *grids, 0, counted, device.empty((1,), np.int32))
        starts = ends_of(device.to_host(counted))
        what = "the list of pairs of triangles that may be near"
        require_device_memory(device, 8 * int(starts[-1]), what, 'try a coarser mesh, or backend="numba"')
        self.starts, self.seconds = sent_indices(device, starts), device.empty((int(starts[-1]),), np.int32)
        self._list(*triangles, *grids, 1, self.starts, self.seconds)

    def _list(self, *given: Any) -> None:
        *before, stores, starts, seconds = given
        arguments = *before, self.counts[0], self.real.type(self.reach), stores, starts, seconds
        self.kernels.launch("list_candidates", self.counts[0], *arguments)

    def _grids(self, own: Extents) -> tuple[Any, ...]:
        """Arguments of `list_candidates`: grids of triangles of like size, within a factor of two, whose cells are as
        wide as the distance in which these are near to each other; buckets, one or two for each triangle."""
        lowest, highest = np.frexp([own.size.min(initial=np.inf), own.size.max(initial=0.0)])[1].tolist()
        octaves = max(1, highest - lowest + 1) if len(own.size) else 0
        low, high = np.full((octaves, 3), np.inf), np.full((octaves, 3), -np.inf)
        radius, size, count = np.zeros(octaves), np.zeros(octaves), np.zeros(octaves, np.int64)
        put_sizes(own, lowest, low, high, radius, size, count)
        used, there = np.flatnonzero(count), np.cumsum(count > 0) - 1
        low, high, radius, size, count = (each[used] for each in (low, high, radius, size, count))
        inverse = 1 / np.maximum(2 * radius + self.reach * size, (high - low).max(axis=1, initial=0) / MOST_CELLS)
        rooms = np.array([1 << int(each).bit_length() for each in count], np.int64)
        first = np.cumsum(rooms) - rooms
        cells, buckets = np.empty((len(own.size), 3), np.int32), np.empty(len(own.size), np.int32)
        put_cells(own, lowest, there, low, inverse, (first, rooms - 1), cells, buckets)
        begins, members = grouped(buckets, int(rooms.sum()))
        numbers = np.column_stack([low, inverse, radius, size])
        most = ((high - low) * inverse[:, None]).astype(np.int64) + 1
        integers = np.column_stack([first, rooms - 1, np.cumsum(count) - count, count, most])
        tables = (self.device.array(each.astype(np.int32, copy=False)) for each in (integers, begins, members, cells))
        integers_there, *others = tables
        return self.device.array(np.asarray(numbers, self.real)), integers_there, len(integers), *others


@jitable_part
def octave_of(size, lowest):
    """Which factor of two a size is in, from `lowest` on, as math.frexp counts these."""
    return math.frexp(size)[1] - lowest


@kernel
def put_sizes(own, lowest, low, high, radius, size, count):
    """Fill for each factor of two of sizes the lowest and the highest corner of the box around centroids, low and high
    (n, 3), infinite before, the largest radius and size (n,), and count (n,), zeros before, for triangles with extents
    `own`."""
    for n in range(own.size.size):
        octave = octave_of(own.size[n], lowest)
        count[octave] += 1
        radius[octave], size[octave] = max(radius[octave], own.radius[n]), max(size[octave], own.size[n])
        for c in range(3):
            place = own.centre[n, c]
            low[octave, c], high[octave, c] = min(low[octave, c], place), max(high[octave, c], place)


@kernel
def put_cells(own, lowest, there, low, inverse, rooms, cells, buckets):
    """Fill cells (n, 3) with those of centroids in the grid of their factor of two, and buckets (n,) with the numbers
    of their buckets, those of all grids in turn, by HASH.

    own: extents of triangles; lowest: as in `octave_of`; there: the grid of each factor of two; low (grids, 3),
    inverse: lowest corners and 1 / edge; rooms: the first bucket of each grid, and how many follow it.
    """
    for n in range(own.size.size):
        key, grid = np.uint32(0), there[octave_of(own.size[n], lowest)]
        for c in range(3):
            cells[n, c] = int((own.centre[n, c] - low[grid, c]) * inverse[grid])
            key ^= np.uint32(np.uint32(cells[n, c]) * HASH[c])
        buckets[n] = rooms[0][grid] + (key & np.uint32(rooms[1][grid]))


class SentPairs(NamedTuple):
    """Pairs on a device: triangles (n, 2), the vertices (n, 3) of each in the order of the rule, and rules (n,)."""

    triangles: Any
    test_order: Any
    trial_order: Any
    rules: Any


class DevicePairs:
    """The touching and near pairs of a matrix on a device, sorted by rule.

    sent: the pairs; ordered: how many of them have a rule, counts (rules,): each of `codes`, which are those of
    rules.py; others follow up to, without, `specials`, which the processor integrates: touching, and near with their
    ratios. Then idle ones, which are zero.
    """

    def __init__(self, candidates: Candidates, wanted: Wanted, half: bool, vanishing: bool) -> None:
        """Find the pairs among the candidates; wanted: requirements of rules; half: of pairs in one order; vanishing:
        whether integrals over a triangle and itself are zero."""
        self._candidates, device, count = candidates, candidates.device, candidates.counts[0]
        codes = self._rules(wanted, half, vanishing)
        used = np.flatnonzero(device.to_host(codes[1]))
        degrees = RULES.degrees[wanted.digits]
        self.codes = [decoded(int(each), degrees) for each in used if each < PROCESSOR or each >= TOUCHING]
        rule_of = np.full(codes[1].shape, -1, np.int32)
        rule_of[[*used[(used < PROCESSOR) | (used >= TOUCHING)], PROCESSOR, IDLE]] = np.arange(len(self.codes) + 2)
        size = max(1, -(-count // RUNS))
        runs, there = -(-count // size), device.array(rule_of)
        # how many there are, of each triangle and of each rule
        kept, tallies = device.empty((count,), np.int32), device.array(np.zeros((len(self.codes) + 2, runs), np.int32))
        lists = candidates.starts, candidates.seconds
        candidates.kernels.launch(
            "count_pairs", runs, *lists, there, count, int(half), size, runs, codes[0], kept, tallies
        )  # fmt: skip
        self.kept, ends = device.to_host(kept), ends_of(device.to_host(tallies).ravel())
        self.counts = np.diff(ends[::runs])[: len(self.codes)]
        self.ordered, self.specials, total = (int(each) for each in ends[[-1 - 2 * runs, -1 - runs, -1]])
        # each in its place
        require_device_memory(device, 18 * total, "touching and near pairs of triangles", "try a coarser mesh")
        kinds = ((2, np.int32), (3, np.int8), (3, np.int8), (1, np.int32))
        self.sent = SentPairs(*(device.empty((total, width), kind) for width, kind in kinds))
        number = self.specials - self.ordered
        others, ratios = device.empty((number, OTHER), np.int32), device.empty((number,), candidates.real)
        candidates.kernels.launch(
            "number_pairs", runs, *candidates.sides, *lists, there, count, int(candidates.same_mesh), size, runs,
            self.ordered, sent_indices(device, ends[:-1]), codes[0], *self.sent, others, ratios,
        )  # fmt: skip
        self._codes = codes[0]
        self._keep_others(device.to_host(others), device.to_host(ratios))

    def _rules(self, wanted: Wanted, half: bool, vanishing: bool) -> tuple[Any, Any]:
        """Codes of the rules of all candidates, and which codes occur."""
        given, device = self._candidates, self._candidates.device
        lines, numbers, counts, degrees = rule_tables(wanted, vanishing)
        nodes = int(fibre_points(np.array([wanted.wavenumber * given.largest * 1.001]), wanted.degree)[0])
        codes = device.empty(given.seconds.shape, np.int32)
        used = device.array(np.zeros(TOUCHING + 2 * (nodes + 1) * SHAPES, np.int32))
        real = (device.array(each.astype(given.real)) for each in (lines, numbers))
        given.kernels.launch(
            "find_rules", given.counts[0], *given.sides, *real, device.array(counts.astype(np.int32)),
            device.array(degrees.astype(given.real)), given.counts[0], given.real.type(given.reach), int(half),
            int(given.same_mesh), given.starts, given.seconds, codes, used,
        )  # fmt: skip
        return codes, used

    def _keep_others(self, others: NDArray[np.int32], ratios: NDArray[np.floating]) -> None:
        """The pairs of the processor, in the order in which they are numbered."""
        self.others, shared = others[:, :2], others[:, 2].astype(np.int8)
        orders = (others[:, low : low + 3].astype(np.int8) for low in (3, 6))
        chosen = shared > 0
        self.touching = TouchingPairs(self.others, shared, *orders).part(chosen)
        self.near, self.ratios = self.others[~chosen], ratios[~chosen].astype(np.float32)

    def listed(self, *orders: NDArray[np.integer]) -> tuple[Any, Any]:
        """The pairs by test triangle: `skips`, as listed.h reads them, and the number of each pair, -1 - number if its
        triangles are exchanged; orders: which triangle each row and each column is, their own number unless given.
        Candidates are let go."""
        candidates, device = self._candidates, self._candidates.device
        rows, columns = orders or (np.arange(each, dtype=np.int32) for each in candidates.counts)
        starts = ends_of(self.kept.take(rows))
        require_device_memory(device, 8 * int(starts[-1]), "the list of touching and near pairs", "try a coarser mesh")
        skips = device.empty((len(starts) + int(starts[-1]),), np.int32)
        device.put((starts + len(starts)).astype(np.int32), skips)
        numbers, places = device.empty((int(starts[-1]),), np.int32), np.empty(len(columns), np.int32)
        places[columns] = np.arange(len(columns), dtype=np.int32)
        order = sent_indices(device, rows), device.array(places)
        lists = candidates.starts, candidates.seconds, self._codes
        candidates.kernels.launch("list_pairs", len(rows), *lists, *order, len(rows), skips, numbers)
        del self._candidates, self._codes
        return skips, numbers


def ends_of(counts: NDArray[np.int32]) -> Index:
    """(n + 1,) where each of n lists begins; ValueError for 2^31 pairs and more."""
    ends = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, dtype=np.int64, out=ends[1:])
    if ends[-1] >= 2**31:
        raise ValueError(f"{ends[-1]} pairs of triangles are too many: at most 2^31")
    return ends


def sent_indices(device: Device, numbers: NDArray[np.integer]) -> Any:
    """Integers on a device."""
    return device.array(numbers.astype(np.int32, copy=False))


def rule_tables(wanted: Wanted, vanishing: bool) -> tuple[Array, Array, Index, Array]:
    """Lines, numbers and integers of the rules of touching pairs, as triangle_pair.h reads them, and the ratios from
    which on near pairs have a rule."""
    limits = [Limits.of(shared, wanted.singular, wanted.mirrored) for shared in (3, 2, 1)]
    sampled = [angular_lines(shared) for shared in (3, 2, 1)]
    lines = np.concatenate([each.points[each.lines[:, 1:]].reshape(-1, 8) for each in sampled])
    steps = limits[0].usual, limits[0].coarse
    bounds, nodes = fibre_steps(wanted.degree)
    missing = (0, 5 - len(bounds))
    numbers = np.concatenate([
        *(each.bounds for each in steps), np.pad(bounds, missing), np.pad(nodes, missing),
        [wanted.wavenumber, TOUCH.stretched],
    ])  # fmt: skip
    points = [each.points for each in steps]
    integers = np.concatenate([
        np.cumsum([0, *(len(each.lines) for each in sampled)]),
        *points, *(np.searchsorted(POINTS, each) for each in points),
        [len(bounds), TOUCH.large, *(each.most for each in limits), wanted.mirrored, vanishing],
        *(each.lines[:, 0] for each in sampled),
    ])  # fmt: skip
    ratios = [ratio for ratio, _ in RULES.degrees[wanted.digits]]
    return lines, numbers, integers, np.pad(ratios, (0, NEAR_RULES - len(ratios)), constant_values=np.inf)


def decoded(code: int, degrees: Any) -> int:
    """The code in rules.py of a rule with that code in search.c; degrees: (ratio, degree) of near pairs."""
    if code < PROCESSOR:
        return code_of(0, degrees[code][1], 0, 0, 0)
    left, exchanged = divmod(code - TOUCHING, 2)
    nodes, shape = divmod(left, SHAPES)
    axes, size = 1, len(POINTS)
    while shape >= size**axes:
        shape -= size**axes
        axes += 1
    points = [int(POINTS[shape // size**place % size]) for place in reversed(range(axes))]
    return code_of(4 - axes, nodes, *points, *[1] * (3 - axes)) + EXCHANGED * exchanged
