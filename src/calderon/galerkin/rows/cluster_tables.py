"""One side of a Galerkin matrix in cluster order, as compiled rows and columns read it.

In a row the test function is fixed and the trial functions of a cluster vary; in a column it is the other way round. So
each side is tabulated twice: unknown by unknown, as the triangles, points and weights of its function, and cluster by
cluster, as the triangles on which functions of a cluster live.
"""

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from calderon.backends.numba import jitable_part, kernel, read_only
from calderon.backends.vectors import jitable, number
from calderon.galerkin.rows.entry_kernels import Clusters
from calderon.pairs.grouping import grouped
from calderon.spaces.supports import carriers_of

CHUNK = 64
"""Triangles of a cluster that are worked on at a time: what belongs to them stays in the first-level cache."""
PITCH = CHUNK + 16
"""Numbers from one row of a chunk to the next: not a power of two, which would meet few places of the cache."""
WORD = 32
"""Bits of a word: one for each triangle, and one for each of these words."""
BITS = np.zeros(37, np.int64)
BITS[[(1 << _n) % 37 for _n in range(WORD)]] = np.arange(WORD)
"""The number of a bit by the remainder of its power of two, which all have different ones."""


class Header(NamedTuple):
    """Places in the header of RowSide.integers: of sizes, then of where its parts begin, as `RowSide` says."""

    functions: int
    own: int
    length: int
    width: int
    chunks: int
    row: int
    records: int
    starts: int
    triangles: int
    locals: int
    first: int
    sizes: int
    list_starts: int
    places: int
    runs: int
    lists: int


SIDE = Header(*range(len(Header._fields)))
TOO_MANY = "{} triangles are too many for compiled rows: at most some 30 million"


class RowSide(NamedTuple):
    """The n unknowns of one side by their positions in cluster order, with their T triangles and L local functions, in
    two arrays: a call with twenty would cost as much as a short row.

    numbers holds a table of the local functions, then a record of LENGTH numbers for each triangle from RECORDS on. A
    chunk of triangles is WIDTH rows of numbers, what the loops need of each triangle as a part of a cluster; where
    triangles have their OWN function all of them are one chunk, in rows of ROW numbers from CHUNKS on, and those of a
    cluster follow each other.

    integers begins with FUNCTIONS (= L), these sizes and the places where its parts begin: the triangles of position i
    are TRIANGLES[STARTS[i] : STARTS[i + 1]], where its function is the local one LOCALS of the same place; run r is
    the positions from FIRST[r], SIZES[r] of them, cluster c the runs RUNS[c] .. RUNS[c + 1], one where triangles have
    their OWN function and on devices; its triangles are LISTS[LIST_STARTS[c] : LIST_STARTS[c + 1]], increasing, unless
    they are its OWN; PLACES (T, L) has the position of each local function, -1 for none.
    """

    numbers: NDArray[np.floating]
    integers: NDArray[np.int32]


@jitable
def item(index, part, k):
    """Entry k of a part of the integers of a RowSide, index."""
    return number(index, number(index, part) + k)


def row_side(
    places: NDArray[np.int64],
    clusters: Clusters,
    table: NDArray[np.float64],
    records: NDArray[np.float64],
    chunk: NDArray[np.float64],
    real: DTypeLike,
) -> RowSide:
    """Tabulate a side. places (T, L): the position of each local function, -1 for none; records (T, LENGTH); chunk
    (T, WIDTH)."""
    integers = row_integers(places, clusters, table.size, records.shape[1], chunk.shape[1])
    pitch = int(integers[SIDE.row])
    rows = np.pad(chunk.T, [(0, 0), (0, pitch - len(chunk))]) if pitch else np.zeros(0)
    numbers = np.concatenate([table.ravel(), records.ravel(), rows.ravel()], dtype=real, casting="same_kind")
    return RowSide(numbers, integers)


def row_integers(
    places: NDArray[np.int64], clusters: Clusters, table: int, length: int, width: int
) -> NDArray[np.int32]:
    """RowSide.integers of a side; table, length, width: how many numbers a table, a record and a triangle of a chunk
    have. ValueError for too many triangles."""
    count, functions = places.shape
    incident = carriers_of(places, len(clusters.order))
    own = functions == 1 and np.array_equal(places[:, 0], np.arange(count))
    # the last vectors are read beyond the end; rows should not lie a multiple of 4096 bytes apart
    pitch, records = (count - (count + 16) % 512 + 544 if own else 0), table + length * count
    if records + width * pitch >= 2**31:
        raise ValueError(TOO_MANY.format(count))
    sizes = functions, own, length, width, records, pitch, table
    return _integers(sizes, incident, places.ravel(), clusters)


def regrouped(side: RowSide, clusters: Clusters) -> RowSide:
    """The unknowns of a side in other clusters, which have the same order of all unknowns; the numbers are shared."""
    index = side.integers
    begins = [*index[SIDE.starts : len(SIDE)].tolist(), len(index)]
    parts = dict(zip(Header._fields[SIDE.starts :], (index[a:b] for a, b in pairwise(begins)), strict=True))
    incident = parts["starts"], parts["triangles"], parts["locals"]
    return RowSide(side.numbers, _integers(tuple(index[: SIDE.starts].tolist()), incident, parts["places"], clusters))


def _integers(
    sizes: tuple[int, ...], incident: tuple[NDArray[Any], ...], places: NDArray[Any], clusters: Clusters
) -> NDArray[np.int32]:
    """RowSide.integers: sizes, FUNCTIONS to RECORDS, in the header; then STARTS, TRIANGLES and LOCALS, the clusters,
    PLACES, flat, and the lists, which are written where they stay."""
    own = bool(sizes[SIDE.own])
    list_starts = np.zeros(1 if own else len(clusters.run_starts), np.int64)
    parts = [*incident, clusters.start, clusters.stop - clusters.start, list_starts, places, clusters.run_starts]
    begins = len(SIDE) + np.cumsum([0, *(each.size for each in parts)])
    before = int(begins[-1])
    integers = np.empty(before, np.int32)
    # triangles by cluster, unless each has its own function
    if not own:
        list_starts[:], integers = triangle_lists(incident[0], incident[1], clusters, before)
    if len(integers) >= 2**31:
        raise ValueError(TOO_MANY.format(len(places) // max(1, sizes[SIDE.functions])))
    np.concatenate([np.array([*sizes, *begins]), *parts], out=integers[:before], casting="same_kind")
    return integers


def positions(places: NDArray[np.int64], clusters: Clusters, unknowns: int) -> NDArray[np.int64]:
    """Positions in cluster order of unknowns, -1 for none; ValueError unless each of so many unknowns has one: compiled
    loops would leave their tables."""
    times = np.bincount(clusters.order, minlength=unknowns)
    if len(times) > unknowns or (times != 1).any():
        raise ValueError(
            f"clusters with {len(clusters.order)} places for {unknowns} unknowns do not have one place for each: give "
            "clusters of the unknowns of the form, and of pieces of functions those of the form on these pieces"
        )
    if np.array_equal(clusters.order, np.arange(unknowns)):
        return places
    position = np.empty(unknowns + 1, np.int64)
    position[clusters.order] = np.arange(len(clusters.order))
    position[-1] = -1
    return position[places]


def triangle_order(places: NDArray[np.int64]) -> NDArray[np.int64]:
    """Order of triangles by the first of the positions (T, L) of their functions."""
    first, none = np.empty(len(places), np.int32), int(places.max(initial=-1)) + 1
    _put_first(read_only(places), none, first)
    return grouped(first, none + 1)[1].astype(np.int64)


@kernel
def _put_first(places, none, first):
    """Fill first (T,) with the least of the places (T, L) of each triangle that are 0 or more, `none` where none is."""
    for t in range(first.size):
        least = none
        for place in places[t]:
            if 0 <= place < least:
                least = place
        first[t] = least


def triangle_lists(
    starts: NDArray[np.int64], triangles: NDArray[np.integer], clusters: Clusters, before: int = 0
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """LIST_STARTS and LISTS of a RowSide from STARTS and TRIANGLES; before: numbers for which there is room in front
    of LISTS."""
    words = int(triangles.max(initial=-1)) // WORD + 1
    seen, held = np.zeros(words, np.int64), np.zeros(words // WORD + 1, np.int64)
    first, stop, runs = (each.astype(np.int64) for each in (clusters.start, clusters.stop, clusters.run_starts))
    ends, at = np.zeros(len(runs), np.int64), np.full(int(stop.max(initial=0)) + 1, -1)
    most = int((starts[stop] - starts[first]).sum())  # takes no memory where nothing is written
    lists = np.empty(before + most, np.int32)
    begin = _list_triangles(starts, triangles, first, stop, runs, seen, held, at, ends, lists[before:])
    return ends - begin, lists[begin:]


@kernel
def _list_triangles(starts, triangles, first, stop, runs, seen, held, at, ends, lists):
    """List the triangles of each cluster once, increasing, from the last cluster and the end of `lists` on; return
    where they begin.

    starts, triangles: STARTS and TRIANGLES of a `RowSide`; first, stop (R,): positions of the unknowns of each run;
    runs (C + 1,): where the runs of each cluster begin; seen, held: a bit of 0 for each triangle, and for each word of
    these; at (positions,): -1; those of cluster c are written to lists from ends[c] up to, without, ends[c + 1], which
    is filled in, too.
    """
    place = ends[-1] = lists.size
    for c in range(runs.size - 2, -1, -1):
        ends[c] = place
        if runs[c + 1] == runs[c]:
            continue
        # two clusters that follow each other and make up this one: their lists are merged, from behind
        r, one = runs[c], at[first[runs[c]]]
        other = at[stop[runs[one]]] if one >= 0 else -1
        at[first[r]] = c if runs[c + 1] == r + 1 else -1
        if at[first[r]] == c and other >= 0 and stop[runs[other]] == stop[r]:
            m, n = ends[one + 1] - 1, ends[other + 1] - 1
            while m >= ends[one] or n >= ends[other]:
                a = lists[m] if m >= ends[one] else -1
                b = lists[n] if n >= ends[other] else -1
                place -= 1
                lists[place] = max(a, b)
                m -= a >= b
                n -= b >= a
            ends[c] = place
            continue
        # else bits of triangles, each counted once, and of the words that they are in
        count, low, high = place, held.size, -1
        for r in range(runs[c], runs[c + 1]):
            for m in range(starts[first[r]], starts[stop[r]]):
                t = np.int64(triangles[m])
                word, bit = t // WORD, np.int64(1) << (t % WORD)
                if seen[word] & bit == 0:
                    seen[word] |= bit
                    group = word // WORD
                    held[group] |= np.int64(1) << (word % WORD)
                    low, high = min(low, group), max(high, group)
                    count -= 1
        # then the triangles of these bits, from the lowest on; in cluster order they are near each other
        m = count
        for group in range(low, high + 1):
            words, held[group] = held[group], 0
            while words:
                word = group * WORD + BITS[(words & -words) % 37]
                words &= words - 1
                bits, seen[word] = seen[word], 0
                while bits:
                    lists[m] = word * WORD + BITS[(bits & -bits) % 37]
                    bits &= bits - 1
                    m += 1
        ends[c] = place = count
    return place


@jitable
def list_of(index, cluster):
    """First and last triangle of a cluster in the lists of a side with integers `index`, or in the order of all."""
    if number(index, SIDE.own):
        first = item(index, SIDE.first, cluster)
        return first, first + item(index, SIDE.sizes, cluster)
    return item(index, SIDE.list_starts, cluster), item(index, SIDE.list_starts, cluster + 1)


@jitable
def size_of(index, cluster):
    """The number of unknowns of a cluster of a side with integers `index`."""
    size = 0
    for run in range(item(index, SIDE.runs, cluster), item(index, SIDE.runs, cluster + 1)):
        size += item(index, SIDE.sizes, run)
    return size


@jitable_part
def columns_of(index, cluster, chunk, count):
    """(count * L,) the unknown of the cluster, from 0, that each local function of a chunk of its triangles is, or -1.

    index: `RowSide.integers`; chunk, count: the first triangle of the chunk, as `list_of` numbers them, and how many.
    """
    functions = number(index, SIDE.functions)
    columns = np.full(count * functions, -1, np.int32)
    if number(index, SIDE.own):
        # the triangles of a cluster are its unknowns, in their order
        for k in range(count):
            columns[k] = chunk + k - item(index, SIDE.first, cluster)
        return columns
    # a function of the triangle belongs to the cluster if its position lies in one of the runs
    for k in range(count):
        triangle = item(index, SIDE.lists, chunk + k)
        for f in range(functions):
            place, before = item(index, SIDE.places, triangle * functions + f), 0
            for run in range(item(index, SIDE.runs, cluster), item(index, SIDE.runs, cluster + 1)):
                column = place - item(index, SIDE.first, run)
                if 0 <= column < item(index, SIDE.sizes, run):
                    columns[k * functions + f] = before + column
                    break
                before += item(index, SIDE.sizes, run)
    return columns


@jitable_part
def marking(skips, t, index, chunk, count, scratch, mask, value):
    """Put a value at the triangles of a chunk that triangle t of the other side skips; return whether there are any.

    skips: those of t are skips[skips[t] : skips[t + 1]], increasing. index: `RowSide.integers` of the side of the
    chunk; chunk, count: as in `columns_of`; scratch[mask + k] is the place of triangle k of the chunk.
    """
    found, k = False, 0
    own = number(index, SIDE.own)
    low = chunk if own else item(index, SIDE.lists, chunk)
    high = chunk + count - 1 if own else item(index, SIDE.lists, chunk + count - 1)
    # both lists increase: walk through them together
    for m in range(skips[t], skips[t + 1]):
        skipped = skips[m]
        if skipped > high:
            break
        if skipped < low:
            continue
        if own:
            scratch[mask + skipped - chunk] = value
            found = True
        else:
            while item(index, SIDE.lists, chunk + k) < skipped:
                k += 1
            if item(index, SIDE.lists, chunk + k) == skipped:
                scratch[mask + k] = value
                found = True
    return found
