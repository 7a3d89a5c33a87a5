"""Sparse matrices from local matrices of pairs of triangles, row by row, without a list of all their entries."""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.backends import run_tasks
from calderon.backends.numba import jitable_part, kernel
from calderon.backends.threads import in_parts
from calderon.galerkin.rows.cluster_tables import SIDE, RowSide, item
from calderon.galerkin.rows.sorting import sort

Index = NDArray[np.int64]
Numbers = NDArray[np.int32]
ROWS = 1024
"""Rows that are summed in one task."""


class Neighbours(NamedTuple):
    """Pairs of triangles by their first triangle: those of triangle t stand from starts[t] up to, without, starts[t +
    1]. triangles: the second triangle, increasing; pairs: the number of the pair, -1 - number if its triangles are
    exchanged."""

    starts: Numbers
    triangles: Numbers
    pairs: Numbers


def neighbours(first: Numbers, second: Numbers, counts: tuple[int, int], half: bool) -> Neighbours:
    """The pairs of triangles by their first triangle, sorted; arguments and errors as of `listed_pairs`."""
    starts, keys = listed_pairs(first, second, counts, half)
    found = Neighbours(starts.astype(np.int32), *np.empty((2, len(keys)), np.int32))
    in_parts(lambda low, high: _sort_neighbours(starts, keys, found, low, high), counts[0])
    return found


def listed_pairs(first: Numbers, second: Numbers, counts: tuple[int, int], half: bool) -> tuple[Index, Index]:
    """The pairs of triangles (first[n], second[n]) by their first triangle: where the list of each begins, and keys, as
    `_list_neighbours` has them.

    counts: numbers of triangles of both sides; half: list pairs of different triangles also with these exchanged.
    ValueError for 2^31 pairs and more.
    """
    total = 2 * len(first) - int((first == second).sum()) if half else len(first)
    if total >= 2**31:
        raise ValueError(f"{total} touching and near pairs of triangles are too many: at most 2^31")
    starts, keys = np.zeros(counts[0] + 1, np.int64), np.empty(total, np.int64)
    _list_neighbours(first, second, half, starts, keys)
    return starts, keys


@jitable_part
def cumulate(starts):
    """Replace the numbers in each list, starts[1:], by the ends of the lists."""
    for k in range(starts.size - 1):
        starts[k + 1] += starts[k]


@jitable_part
def shift(starts):
    """Turn ends into starts, in place: starts[k], moved on to the end of list k while that was filled, becomes its
    start again."""
    for k in range(starts.size - 1, 0, -1):
        starts[k] = starts[k - 1]
    starts[0] = 0


@kernel
def _list_neighbours(first, second, half, starts, keys):
    """List the pairs of `neighbours` by their first triangle, in their order.

    first, second (n,): triangles of each pair; half: whether (j, i) is listed with (i, j); starts: zeros, one more than
    there are triangles, where the list of each begins afterwards; keys (pairs,): 2^32 times the second triangle, and
    twice the number of the pair, and 1 if its triangles are exchanged.
    """
    # how long the lists are
    for n in range(first.size):
        i, j = first[n], second[n]
        starts[i + 1] += 1
        if half and i != j:
            starts[j + 1] += 1
    cumulate(starts)
    # the lists
    for n in range(first.size):
        i, j = first[n], second[n]
        keys[starts[i]] = (np.int64(j) << 32) + 2 * n
        starts[i] += 1
        if half and i != j:
            keys[starts[j]] = (np.int64(i) << 32) + 2 * n + 1
            starts[j] += 1
    shift(starts)


@kernel
def _sort_neighbours(starts, keys, found, low, high):
    """Store the lists of the triangles low up to, without, high in found (`Neighbours`), with increasing second
    triangles; starts, keys: of `_list_neighbours`, which are sorted."""
    for t in range(low, high):
        sort(keys, keys, starts[t], starts[t + 1])
        for at in range(starts[t], starts[t + 1]):
            pair = (keys[at] & 0xFFFFFFFF) >> 1
            found.triangles[at] = keys[at] >> 32
            found.pairs[at] = -1 - pair if keys[at] & 1 else pair


def summed(
    around: Neighbours,
    values: NDArray[Any],
    rows: RowSide,
    columns: RowSide,
    shape: tuple[int, int],
    weights: tuple[int, int] = (0, 0),
) -> sp.csr_array:
    """The sparse matrix of this shape that sums the local matrices of pairs of triangles.

    around: pairs by their test triangle; values (n, A, B): local matrices by the number of the pair; pairs with numbers
    from n on have none and add nothing. rows, columns: unknowns of both sides. weights = (size, begin): a local matrix
    has rows for A = size parts k of a test function a, whose row is sum_k w_ak values[n, k]; the weights w_ak of the
    functions of a triangle stand in its record (`RowSide`) from place begin + size a on. weights = (0, 0): the A rows
    of local matrices are those of the local functions.
    """
    chunks = range(0, shape[0], ROWS)
    found: list[tuple[Numbers, Numbers, NDArray[Any]]] = [(np.zeros(0, np.int32),) * 3] * len(chunks)

    def work(number: int) -> None:
        """Sum the rows of a chunk: the first pass, without room, counts the entries that they can have at most."""
        low, high = chunks[number], min(chunks[number] + ROWS, shape[0])
        given = around, values, rows.numbers, rows.integers, columns.integers, *weights, low, high
        most = _add_rows(*given, *_room(0, high - low, shape[1], values))
        room = _room(most, high - low, shape[1], values)
        count = _add_rows(*given, *room)
        found[number] = room[0], room[2][:count].copy(), room[3][:count].copy()

    run_tasks(work, len(chunks))
    if not found:
        return sp.csr_array(shape, dtype=values.dtype)
    starts = np.append(0, np.cumsum(np.concatenate([each[0] for each in found]), dtype=np.int64))
    indices, data = np.empty(starts[-1], np.int32), np.empty(starts[-1], values.dtype)

    def join(number: int) -> None:
        """Copy the entries of a chunk to those of all."""
        place = slice(starts[chunks[number]], starts[min(chunks[number] + ROWS, shape[0])])
        indices[place], data[place] = found[number][1:]

    run_tasks(join, len(chunks))
    matrix = sp.csr_array((data, indices, starts.astype(np.int32)), shape=shape)
    matrix.has_sorted_indices = matrix.has_canonical_format = True
    return matrix


def _room(most: int, rows: int, columns: int, values: NDArray[Any]) -> tuple[Numbers, Numbers, Numbers, NDArray[Any]]:
    """Room for lengths of rows, the place where each column was seen last, columns and values of `most` entries."""
    return (
        np.zeros(rows, np.int32),
        np.empty(columns if most else 0, np.int32),
        np.empty(most, np.int32),
        np.empty(most, values.dtype),
    )


@kernel
def _add_rows(
    around, values, weights, near, far, size, begin, low, high, lengths, seen, keys, data
):  # fmt: skip
    """Store the rows low up to, without, high of a matrix from local matrices; return the number of their entries, or,
    if keys is empty, the most that they can have, and store nothing.

    around: the pairs (`Neighbours`); values (n, A, B): local matrices; near, far: integers of the row and of the column
    side (`RowSide`), weights: numbers of the row side, where those of the functions of a triangle, `size` of each
    (0: none), stand at `begin` of its record. lengths (rows,): entries of each row; seen (columns,): the last place of
    each column, anything before, as `keys` says whether it is there; keys, data: columns and entries, row after row,
    sorted.
    """
    width = far[SIDE.functions]
    count = 0
    for i in range(low, high):
        start = count
        for e in range(item(near, SIDE.starts, i), item(near, SIDE.starts, i + 1)):
            t, a = item(near, SIDE.triangles, e), item(near, SIDE.locals, e)
            # the pairs of each triangle of the function of this row, which the first call counts
            first, last = around.starts[t], around.starts[t + 1]
            if keys.size == 0:
                count += width * (last - first)
                continue
            # local row a of all pairs of triangle t
            record = near[SIDE.records] + near[SIDE.length] * t + begin + size * a
            for at in range(first, last):
                s, pair = around.triangles[at], around.pairs[at]
                number = pair if pair >= 0 else -1 - pair
                if number >= len(values):
                    continue
                for b in range(width):
                    column = item(far, SIDE.places, s * width + b)
                    if column < 0:
                        continue
                    if size == 0:
                        value = values[number, a, b] if pair >= 0 else values[number, b, a]
                    else:
                        value = weights[record] * values[number, 0, b]
                        for k in range(1, size):
                            value += weights[record + k] * values[number, k, b]
                    # add to the entry if this row has it already
                    place = seen[column]
                    if start <= place < count and keys[place] == column:
                        data[place] += value
                    else:
                        seen[column] = count
                        keys[count], data[count] = column, value
                        count += 1
        if keys.size:
            sort(keys, data, start, count)
            lengths[i - low] = count - start
    return count
