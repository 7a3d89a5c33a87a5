"""Where the results of blocks of trial triangles go: sums of the results of each column, added to rows of the matrix.

A vertex has six triangles, so that most results of a block meet others of the same column, and blocks that follow each
other share columns. The results of one vector of trial triangles are transposed: those of one local function and one
triangle then stand side by side for as many rows as a vector has numbers, and are added to the sums of their column,
which stay in the second-level cache, (columns, kept) for all rows of a tile. The sums of a group of blocks are added to
the matrix together: each cache line of the matrix is a way to the memory and back.
"""

import functools
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.backends.vector_loads import transpose_apart
from calderon.backends.vectors import jitable, lanes, number, prefetch, put, store, zero

TOGETHER = 192
"""Columns of a group of blocks at most, unless one block has more."""


class Columns(NamedTuple):
    """Output columns of the n = L * LANES results of each block, in groups of blocks.

    place (blocks, n): the number of the column of each result among those of its group, their count for none. group
    (blocks,): the group of each block; distinct[start[g] : start[g + 1]]: the columns of group g, increasing. first
    (blocks,) is the first column where the results are consecutive columns, else -1.
    """

    place: NDArray[np.uint32]
    group: NDArray[np.int64]
    start: NDArray[np.int64]
    distinct: NDArray[np.int64]
    first: NDArray[np.int64]


def columns_of(columns: NDArray[np.int64], bounds: Sequence[int] = ()) -> Columns:
    """The tables of columns for the column (blocks, L * LANES) of each result, -1 for none; bounds: blocks at which a
    group has to begin."""
    blocks, _ = columns.shape
    found = [np.unique(each[each >= 0]) for each in columns]
    together = max(1, TOGETHER // max(1, max((len(each) for each in found), default=1)))
    edges, group = [0, *sorted(bounds), blocks], np.zeros(blocks, np.int64)
    begins = np.unique(np.concatenate([np.arange(a, b, together) for a, b in zip(edges[:-1], edges[1:], strict=True)]))
    group[begins.astype(np.int64)] = 1
    group = np.cumsum(group) - 1
    place, distinct = np.zeros(columns.shape, np.uint32), []
    for g in range(int(group[-1]) + 1 if blocks else 0):
        own = np.flatnonzero(group == g)
        distinct.append(np.unique(np.concatenate([found[b] for b in own])))
        place[own] = np.where(columns[own] < 0, len(distinct[-1]), np.searchsorted(distinct[-1], columns[own]))
    start = np.concatenate([[0], np.cumsum([len(each) for each in distinct])]).astype(np.int64)
    consecutive = (np.diff(columns, axis=1) == 1).all(axis=1) & (columns[:, 0] >= 0)
    first = np.where(consecutive, columns[:, 0], -1)
    return Columns(place, group, start, np.concatenate([np.zeros(0, np.int64), *distinct]).astype(np.int64), first)


@jitable
def room_for(start, step):
    """Columns for which sums have room, in whole vectors of `step` numbers: those of the largest group, `start` as in
    `Columns`, and one for results without a column."""
    most = 0
    for g in range(start.size - 1):
        most = max(most, start[g + 1] - start[g])
    return (most // step + 1) * step


@jitable
def clear(values, begin, end):
    """values[begin:end] = 0, whole vectors."""
    for v in range(begin, end, lanes(values)):
        store(values, v, zero(values))


@functools.lru_cache(maxsize=2)
def adding_sums(is_complex: bool) -> tuple[Callable[..., None], Callable[..., None]]:
    """The functions that add the sums of group g to columns of a real or a complex matrix, and to the transposed
    places: rows of the matrix are then the columns of the group, and row_ids their columns.

    add(out, pitch, row_ids, columns, g, s, begin, imaginary, kept, turned): sums (columns, kept) that begin at
    s[begin], imaginary ones `imaginary` numbers further, to rows row_ids of the matrix, which begin at multiples of
    `pitch` in `out`; what is added is replaced by zeros. turned: room for the sums of a vector of rows, real and
    imaginary.
    """

    @jitable
    def entry(values, place, place_i):
        """The number at values[place], complex with the one at values[place_i]."""
        if is_complex:
            return complex(number(values, place), number(values, place_i))
        return number(values, place)

    @jitable
    def add_columns(out, pitch, row_ids, columns, g, s, begin, imaginary, kept, turned):
        """Add the sums to rows of the matrix."""
        distinct, here, step, rows = columns.distinct, columns.start[g], lanes(s), row_ids.size
        count, size = columns.start[g + 1] - here, turned.size // 2 // lanes(s)
        for top in range(0, rows, step):
            for r in range(top, min(top + step, rows)):
                row = number(row_ids, r) * pitch
                for c in range(here, here + count):
                    prefetch(out, row + number(distinct, c))
            for c in range(0, count, step):
                transpose_apart(s, begin + c * kept + top, kept, turned, c, size)
                if is_complex:
                    transpose_apart(s, begin + imaginary + c * kept + top, kept, turned, step * size + c, size)
            for r in range(min(step, rows - top)):
                row, there = number(row_ids, top + r) * pitch, r * size
                for c in range(count):
                    place = row + number(distinct, here + c)
                    put(out, place, number(out, place) + entry(turned, there + c, (step + r) * size + c))
        clear_sums(s, begin, imaginary, kept, count)

    @jitable
    def add_rows(out, pitch, row_ids, columns, g, s, begin, imaginary, kept, turned):
        """Add the sums to columns of the matrix."""
        distinct, here, rows = columns.distinct, columns.start[g], row_ids.size
        count = columns.start[g + 1] - here
        for c in range(count):
            row, there = number(distinct, here + c) * pitch, begin + c * kept
            ahead = number(distinct, here + min(c + 1, count - 1)) * pitch
            for r in range(rows):
                prefetch(out, ahead + number(row_ids, r))
                place = row + number(row_ids, r)
                put(out, place, number(out, place) + entry(s, there + r, imaginary + there + r))
        clear_sums(s, begin, imaginary, kept, count)

    @jitable
    def clear_sums(s, begin, imaginary, kept, count):
        """Replace the sums of `count` columns and of results without a column by zeros."""
        clear(s, begin, begin + (count + 1) * kept)
        if is_complex:
            clear(s, begin + imaginary, begin + imaginary + (count + 1) * kept)

    return add_columns, add_rows
