"""Where the results of a block of trial triangles go: sums of the results of one column, added to rows of the matrix.

A vertex has six triangles, so that most results of a block meet others of the same column. Rows are taken as many at a
time as a vector has numbers: transposed, the results of one local function stand side by side for all of them, and one
addition of vectors does what would be one of numbers, with a scattered load each.
"""

import functools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.backends.vector_loads import transpose_apart
from calderon.backends.vectors import jitable, lanes, load, number, prefetch, put, store


class Columns(NamedTuple):
    """Output columns of the n = L * LANES results of each block, for a sum without conflicts.

    distinct (blocks, n) the columns that occur, those that occur most often first; source (blocks, n) the numbers of
    their results, column after column; level[b, m - 1] is how many columns have m results or more. first (blocks,) is
    the first column where the results are consecutive columns, else -1.
    """

    distinct: NDArray[np.uint32]
    source: NDArray[np.uint32]
    level: NDArray[np.int64]
    first: NDArray[np.int64]


def columns_of(columns: NDArray[np.int64]) -> Columns:
    """The tables of columns for the column (blocks, L * LANES) of each result, -1 for none."""
    blocks, size = columns.shape
    order = np.argsort(columns, axis=1, kind="stable")
    ordered = np.take_along_axis(columns, order, axis=1)
    new, given = np.diff(ordered, axis=1, prepend=-1) != 0, ordered >= 0  # -1 comes first, and is not new
    run = np.where(given, np.cumsum(new, axis=1) - 1, size - 1)
    row, at = np.nonzero(given)
    count = np.bincount(row * size + run[row, at], minlength=blocks * size).reshape(blocks, size)
    found = np.zeros((blocks, size), np.int64)
    found[row, run[row, at]] = ordered[row, at]
    often = np.argsort(-count, axis=1, kind="stable")
    distinct = np.take_along_axis(found, often, axis=1).astype(np.uint32)
    rank = np.argsort(often, axis=1)
    last = np.argsort(np.where(given, np.take_along_axis(rank, run, axis=1), size), axis=1, kind="stable")
    source = np.where(np.take_along_axis(given, last, axis=1), np.take_along_axis(order, last, axis=1), 0)
    level = np.stack([(count >= m).sum(axis=1) for m in range(1, max(1, int(count.max(initial=0))) + 1)], axis=1)
    consecutive = (np.diff(columns, axis=1) == 1).all(axis=1) & (columns[:, 0] >= 0)
    return Columns(distinct, source.astype(np.uint32), level, np.where(consecutive, columns[:, 0], -1))


def column_scratch(size: int, width: int) -> int:
    """Numbers of working memory to add `size` results of as many rows as a vector has numbers: real, imaginary, and as
    much to sum one of them."""
    return 3 * size * width


@jitable
def across(results, turned):
    """results (width, n) of some rows, transposed: turned (n, width)."""
    step = lanes(results)
    size = results.size // step
    for j in range(0, size, step):
        transpose_apart(results, j, size, turned, j * step, step)


@jitable
def column_sums(turned, sums, level, source, start):
    """Store in sums (columns, width) those of the results turned (n, width) of one block, and return how many there
    are; source[start:], level: those of the block in `Columns`."""
    step = lanes(turned)
    place, column = start, 0
    for m in range(level.size, 0, -1):
        last = number(level, m - 1)
        while column < last:
            total = load(turned, number(source, place) * step)
            for k in range(place + 1, place + m):
                total = total + load(turned, number(source, k) * step)
            store(sums, column * step, total)
            place += m
            column += 1
    return column


@jitable
def summed(turned, sums, level, source, start):
    """Replace results turned (n, width) by sums (width, columns) in the same memory; level, source, start as in
    `column_sums`; sums: as much memory again."""
    step = lanes(turned)
    size = turned.size // step
    count = column_sums(turned, sums, level, source, start)
    for j in range(0, count, step):
        transpose_apart(sums, j * step, step, turned, j, size)


@jitable
def fetched(out, pitch, row_ids, top, count, columns, b):
    """Prefetch the entries that `adding_results` will add to; arguments as in `adding_results`."""
    distinct, begin = columns.distinct.reshape(-1), b * columns.distinct.shape[1]
    end = begin + columns.level[b, 0]
    for r in range(top, top + count):
        row = number(row_ids, r) * pitch
        for c in range(begin, end):
            prefetch(out, row + number(distinct, c))


@functools.lru_cache(maxsize=2)
def adding_results(is_complex: bool) -> tuple[Callable[..., None], Callable[..., None]]:
    """The functions that add the results of block b to columns of a real or a complex matrix, and to the transposed
    places: rows of the matrix are then the columns of the block, and row_ids their columns.

    add(out, pitch, row_ids, top, count, columns, b, turned, imaginary, work): results for `count` rows, at most as many
    as a vector has numbers, to rows row_ids[top:] of the matrix, which begin at multiples of `pitch` in `out`. turned
    (n, width), and imaginary of a complex matrix, are overwritten; work: as much as one.
    """

    @jitable
    def entry(values, imaginary, place):
        """The number at values[place], complex with the one at imaginary[place]."""
        if is_complex:
            return complex(number(values, place), number(imaginary, place))
        return number(values, place)

    @jitable
    def add_columns(out, pitch, row_ids, top, count, columns, b, turned, imaginary, work):
        """Add sums of the results of each column to `count` rows."""
        distinct, level, source = columns.distinct.reshape(-1), columns.level[b], columns.source.reshape(-1)
        size = turned.size // lanes(turned)
        begin, number_of = b * columns.source.shape[1], number(level, 0)
        summed(turned, work, level, source, begin)
        if is_complex:
            summed(imaginary, work, level, source, begin)
        for r in range(count):
            row, here = number(row_ids, top + r) * pitch, r * size
            for c in range(number_of):
                place = row + number(distinct, begin + c)
                put(out, place, number(out, place) + entry(turned, imaginary, here + c))

    @jitable
    def add_rows(out, pitch, row_ids, top, count, columns, b, turned, imaginary, work):
        """Add sums of the results of each column to a row of the matrix."""
        distinct, source, step = columns.distinct.reshape(-1), columns.source.reshape(-1), lanes(turned)
        begin, level = b * columns.source.shape[1], columns.level[b]
        # real sums to the working memory, then imaginary ones where the real results were
        number_of = column_sums(turned, work, level, source, begin)
        if is_complex:
            column_sums(imaginary, turned, level, source, begin)
        for c in range(number_of):
            row = number(distinct, begin + c) * pitch
            for r in range(count):
                place = row + number(row_ids, top + r)
                put(out, place, number(out, place) + entry(work, turned, c * step + r))

    return add_columns, add_rows
