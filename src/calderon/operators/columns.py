"""Where the results of a block of trial triangles go: sums of the results of one column, added to rows of the matrix.

A vertex has six triangles, so that most results of a block meet others of the same column. Rows are taken as many at a
time as a vector has numbers: transposed, the results of one local function stand side by side for all of them, and one
addition of vectors does what would be one of numbers, with a scattered load each.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.backends.vectors import jitable, lanes, load, number, prefetch, store, transpose


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
    """From the column (blocks, L * LANES) of each result, -1 for none."""
    blocks, size = columns.shape
    distinct, source = np.zeros((blocks, size), np.uint32), np.zeros((blocks, size), np.uint32)
    levels: list[NDArray[np.int64]] = []
    for b, block in enumerate(columns):
        order = np.argsort(block, kind="stable")
        order = order[np.searchsorted(block[order], 0) :]  # without the -1
        found, which, count = np.unique(block[order], return_inverse=True, return_counts=True)
        often = np.argsort(-count, kind="stable")
        distinct[b, : len(found)] = found[often]
        rank = np.empty(len(found), np.int64)
        rank[often] = np.arange(len(found))
        source[b, : len(order)] = order[np.argsort(rank[which], kind="stable")]
        levels.append(np.cumsum(np.bincount(count, minlength=2)[:0:-1])[::-1])
    level = np.zeros((blocks, max(map(len, levels))), np.int64)
    for row, each in zip(level, levels, strict=True):
        row[: len(each)] = each
    consecutive = (np.diff(columns, axis=1) == 1).all(axis=1) & (columns[:, 0] >= 0)
    return Columns(distinct, source, level, np.where(consecutive, columns[:, 0], -1))


def column_scratch(size: int, width: int) -> int:
    """Numbers of working memory to add `size` results of as many rows as a vector has numbers, real and imaginary."""
    return 2 * size * width


@jitable
def across(results, turned, level, source):  # type: ignore[no-untyped-def]
    """results (width, n) of some rows become sums (columns, width) in the same memory, and their number; turned: as
    much again."""
    step = lanes(results)
    size = results.size // step
    rows, side = results.reshape((step, size)), turned.reshape((size, step))
    for j in range(0, size, step):
        transpose(rows, 0, j, side, j, 0)
    place, column = 0, 0
    for m in range(level.size, 0, -1):
        last = level[m - 1]
        while column < last:
            total = load(turned, number(source, place) * step)
            for k in range(place + 1, place + m):
                total = total + load(turned, number(source, k) * step)
            store(results, column * step, total)
            place += m
            column += 1
    return column


@jitable
def summed(results, turned, level, source):  # type: ignore[no-untyped-def]
    """results (width, n) of some rows become sums (width, columns) in the other memory, `turned`, of the same size."""
    step = lanes(results)
    size = results.size // step
    count = across(results, turned, level, source)
    sums, side = results.reshape((size, step)), turned.reshape((step, size))
    for j in range(0, count, step):
        transpose(sums, j, 0, side, 0, j)


@jitable
def add_real_columns(out, row_ids, count, columns, b, results, imaginary, work):  # type: ignore[no-untyped-def]
    """Add the results of block b for `count` rows, at most as many as a vector has numbers, to their columns of those
    rows of the matrix. results (width, n), and imaginary of a complex one, are overwritten; work: as much as both."""
    distinct, level = columns.distinct[b], columns.level[b]
    size, n = results.size, level[0]
    for r in range(count):
        for c in range(n):
            prefetch(out[row_ids[r]], distinct[c])
    summed(results, work[:size], level, columns.source[b])
    pitch = size // lanes(work)
    for r in range(count):
        target, sums = out[row_ids[r]], work[r * pitch : (r + 1) * pitch]
        for c in range(n):
            target[distinct[c]] += sums[c]


@jitable
def add_complex_columns(out, row_ids, count, columns, b, results, imaginary, work):  # type: ignore[no-untyped-def]
    """The same for a complex matrix."""
    distinct, level = columns.distinct[b], columns.level[b]
    size, n = results.size, level[0]
    for r in range(count):
        for c in range(n):
            prefetch(out[row_ids[r]], distinct[c])
    summed(results, work[:size], level, columns.source[b])
    summed(imaginary, work[size : 2 * size], level, columns.source[b])
    pitch = size // lanes(work)
    for r in range(count):
        target = out[row_ids[r]]
        re = work[r * pitch : (r + 1) * pitch]
        im = work[size + r * pitch : size + (r + 1) * pitch]
        for c in range(n):
            target[distinct[c]] += complex(re[c], im[c])


@jitable
def add_real_rows(out, columns, b, sums, begin, imaginary, row_ids):  # type: ignore[no-untyped-def]
    """Add the sums of block b to the transposed places: rows of the matrix are the columns of the block, and row_ids
    their columns. sums[begin:]: what `across` made of some row_ids after the other."""
    distinct, count, step = columns.distinct[b], columns.level[b, 0], lanes(sums)
    size = columns.source.shape[1] * step
    for c in range(count):
        target, place = out[distinct[c]], begin + c * step
        for top in range(0, row_ids.size, step):
            for r in range(min(step, row_ids.size - top)):
                target[row_ids[top + r]] += sums[place + r]
            place += size


@jitable
def add_complex_rows(out, columns, b, sums, begin, imaginary, row_ids):  # type: ignore[no-untyped-def]
    """The same for a complex matrix; `imaginary` further are the imaginary parts."""
    distinct, count, step = columns.distinct[b], columns.level[b, 0], lanes(sums)
    size = columns.source.shape[1] * step
    for c in range(count):
        target, place = out[distinct[c]], begin + c * step
        for top in range(0, row_ids.size, step):
            for r in range(min(step, row_ids.size - top)):
                target[row_ids[top + r]] += complex(sums[place + r], sums[imaginary + place + r])
            place += size
