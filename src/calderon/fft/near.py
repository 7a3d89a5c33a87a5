"""Pairs of functions near each other: exact entries less those of the grid."""

from typing import Any

import numpy as np
import scipy
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.backends import counted, run_tasks
from calderon.backends.threads import in_parts
from calderon.fft.grid import Grid
from calderon.fft.kernels import grid_subtraction
from calderon.galerkin.layered.matrix import LayeredMatrix


def boxes(grid: Grid, reach: float) -> list[NDArray[np.int64]]:
    """Functions, ascending, by boxes whose sides are one and a half near radii: those of one are computed together."""
    box = np.floor((grid.middles - grid.middles.min(axis=0)) / (1.5 * _farthest(grid, reach))).astype(np.int64)
    number = np.unique(box, axis=0, return_inverse=True)[1].ravel()
    order = np.argsort(number, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(number[order])) + 1)


def _farthest(grid: Grid, reach: float) -> float:
    """The largest distance of middles of near functions."""
    return max(reach, 2 * float(grid.radii.max()))


def near_pairs(grid: Grid, reach: float, groups: list[NDArray[np.int64]]) -> sp.csr_array:
    """The pattern of functions closer than reach, or so close that their triangles may touch, on any planes.

    It has one order of each pair, in which the box of the column is not before that of the row.
    """
    pairs = scipy.spatial.cKDTree(grid.middles).query_pairs(_farthest(grid, reach), output_type="ndarray")
    distance = np.linalg.norm(grid.middles[pairs[:, 0]] - grid.middles[pairs[:, 1]], axis=1)
    pairs = pairs[distance <= np.maximum(reach, grid.radii[pairs].sum(axis=1))]
    own, rank = np.arange(len(grid.middles)), np.empty(len(grid.middles), np.int64)
    rank[np.concatenate(groups)] = own
    swapped = rank[pairs[:, 0]] > rank[pairs[:, 1]]
    pairs[swapped] = pairs[swapped, ::-1]
    rows, columns = np.concatenate([pairs[:, 0], own]), np.concatenate([pairs[:, 1], own])
    pattern = sp.coo_array((np.ones(len(rows), np.bool_), (rows, columns)), (len(own), len(own))).tocsr()
    pattern.sort_indices()
    return pattern


def exact_entries(
    matrix: LayeredMatrix,
    grid: Grid,
    pattern: sp.csr_array,
    groups: list[NDArray[np.int64]],
    reach: float,
    advance: Any,
) -> sp.csr_array:
    """The entries of the pattern: those of special pairs of triangles, and of distant ones, box by box."""
    values = np.zeros(pattern.nnz, dtype=complex)
    far = _farthest(grid, reach) + 2 * float(grid.radii.max())
    step = counted(advance, len(groups))

    def work(group: int) -> None:
        rows = groups[group]
        part = pattern[rows]
        columns = np.unique(part.indices)
        block = matrix.distant_block(rows, columns, far)
        local = np.repeat(np.arange(len(rows)), np.diff(part.indptr))
        to = np.arange(part.nnz) + np.repeat(pattern.indptr[rows] - part.indptr[:-1], np.diff(part.indptr))
        values[to] = block[local, np.searchsorted(columns, part.indices)]

    run_tasks(work, len(groups), None, None, step)
    total = sp.csr_array((values, pattern.indices, pattern.indptr), pattern.shape)
    total = total + matrix.near[0].multiply(pattern).tocsr()
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
