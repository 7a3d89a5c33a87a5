"""Pairs of functions near each other: exact entries less those of the grid."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.backends import counted, require_memory, run_tasks
from calderon.backends.threads import in_parts
from calderon.fft.grid import Grid
from calderon.fft.kernels import grid_subtraction, put_neighbours
from calderon.galerkin.layered.matrix import LayeredMatrix
from calderon.pairs.grouping import grouped

TIE = 1e-9
"""Relative difference up to which a distance is the near radius: lattices have many pairs exactly that far apart, which
rounding would decide on."""
NEAR_BYTES = 70
"""Memory of a near entry while they are made."""


def boxes(grid: Grid, reach: float) -> list[NDArray[np.int64]]:
    """Functions, ascending, by boxes whose sides are one and a half near radii: those of one are computed together."""
    box = np.floor((grid.middles - grid.middles.min(axis=0)) / (1.5 * _farthest(grid, reach))).astype(np.int64)
    number = np.unique(box, axis=0, return_inverse=True)[1].ravel()
    order = np.argsort(number, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(number[order])) + 1)


def _farthest(grid: Grid, reach: float) -> float:
    """The largest distance of middles of near functions."""
    return max(reach, 2 * float(grid.radii.max()))


def near_counts(grid: Grid, reach: float) -> tuple[NDArray[np.int64], tuple[Any, ...]]:
    """(n,) how many functions are near each function, itself among them, and the cells by which they are found."""
    # functions by cells, a little larger than the radius: quotients of places exactly that far apart, whose integer
    # parts differ by one, are rounded to either side, and near functions are in neighbouring cells still
    radii, reach = grid.radii * (1 + TIE), reach * (1 + TIE)
    size = _farthest(grid, reach) * (1 + 2 * TIE)
    cells = np.floor((grid.middles - grid.middles.min(axis=0)) / size).astype(np.int64)
    shape = cells.max(axis=0) + 1
    begins, order = grouped(cells[:, 0] * shape[1] + cells[:, 1], int(shape.prod()))
    found = cells, shape, begins, order, grid.middles, radii, reach
    counts = np.zeros(len(cells), np.int64)
    put_neighbours(*found, counts, np.zeros(0, np.int32))
    return counts, found


def near_pairs(grid: Grid, reach: float, added: sp.csr_array | None = None) -> sp.csr_array:
    """The symmetric pattern of functions closer than reach, or so close that their triangles may touch, on any planes,
    and of the entries of a matrix that is added, however far apart; columns of each row increase. MemoryError before
    there is no room for the near entries."""
    counts, given = near_counts(grid, reach)
    number, starts = len(counts), np.concatenate([[0], np.cumsum(counts)])
    require_memory(NEAR_BYTES * int(starts[-1]), f"{starts[-1]} near entries", "choose a smaller near= or spacing=")
    columns = np.empty(starts[-1], np.int32)
    put_neighbours(*given, starts[:-1].copy(), columns)
    kind = np.int32 if starts[-1] <= np.iinfo(np.int32).max else np.int64
    near = sp.csr_array((np.ones(starts[-1], np.bool_), columns, starts.astype(kind)), (number, number))
    return near if added is None or not added.nnz else sp.csr_array(near + added.astype(np.bool_))


def one_order(pattern: sp.csr_array, groups: list[NDArray[np.int64]]) -> sp.csr_array:
    """A symmetric pattern with one order of each pair, in which the box of the column is not before that of the row."""
    rank = np.empty(pattern.shape[0], np.int64)
    rank[np.concatenate(groups)] = np.arange(len(rank))
    kept = np.repeat(rank, np.diff(pattern.indptr)) <= rank[pattern.indices]
    starts = np.concatenate([[0], np.cumsum(kept)])[pattern.indptr].astype(pattern.indptr.dtype)
    return sp.csr_array((pattern.data[kept], pattern.indices[kept], starts), pattern.shape)


def exact_entries(
    matrix: LayeredMatrix,
    factor: complex,
    special: sp.csr_array,
    grid: Grid,
    pattern: sp.csr_array,
    reach: float,
    advance: Any,
) -> sp.csr_array:
    """Half of a symmetric pattern: `special` entries, and factor times distant pairs of triangles, box by box."""
    groups = boxes(grid, reach)
    pattern = one_order(pattern, groups)
    values = np.zeros(pattern.nnz, dtype=complex)
    middles, margin = grid.middles, 2 * float(grid.radii.max())
    step = counted(advance, len(groups))

    def work(group: int) -> None:
        rows = groups[group]
        part = pattern[rows]
        columns = np.unique(part.indices)
        local = np.repeat(np.arange(len(rows)), np.diff(part.indptr))
        far = float(np.linalg.norm(middles[rows[local]] - middles[part.indices], axis=1).max()) + margin
        block = matrix.distant_block(rows, columns, far)
        to = np.arange(part.nnz) + np.repeat(pattern.indptr[rows] - part.indptr[:-1], np.diff(part.indptr))
        values[to] = block[local, np.searchsorted(columns, part.indices)]

    run_tasks(work, len(groups), None, None, step)
    total = sp.csr_array((factor * values, pattern.indices, pattern.indptr), pattern.shape)
    total = total + special.multiply(pattern).tocsr()
    total.sort_indices()
    return total


def subtract_grid(
    near: sp.csr_array, grid: Grid, greens: NDArray[np.complex128], factors: NDArray[np.complex128]
) -> None:
    """Subtract from entries, in place, what the grid gives."""
    subtract, number = grid_subtraction(grid.order + 1), near.shape[0]

    given = grid.first, grid.plane, grid.weights, greens, factors[1:]
    in_parts(lambda low, high: subtract(near.indptr, near.indices, near.data, low, high, *given), number)


def both_orders(entries: sp.csr_array) -> sp.csr_array:
    """The symmetric matrix of entries of one order of each pair."""
    whole = (entries + entries.T).tocsr()
    whole.setdiag(entries.diagonal())
    return whole
