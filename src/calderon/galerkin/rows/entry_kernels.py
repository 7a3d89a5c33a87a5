"""Rows, columns and blocks of a matrix as compiled functions: all that compression sees of it.

Rows and columns are numbered in cluster order: a cluster is a run start[c] .. stop[c] of an order of the unknowns, so
that what belongs to a block of clusters is contiguous.
"""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.backends.by_address import SIZE, call_function, write_function
from calderon.backends.numba import jitable_part, kernel

ROW, COLUMN, BLOCK = range(0, 24, 8)
"""Places of the functions on a board."""
NO_MEMORY = "no memory is left for a part of a matrix"


class Clusters(NamedTuple):
    """Clusters of the unknowns of one side: order (n,) the unknown at each position; start, stop positions of each
    cluster, or of each run if clusters consist of several: cluster c of the runs joined[c] .. joined[c + 1]."""

    order: NDArray[np.int64]
    start: NDArray[np.int64]
    stop: NDArray[np.int64]
    joined: NDArray[np.int64] | None = None

    @property
    def run_starts(self) -> NDArray[np.int64]:
        """(clusters + 1,) where the runs of each cluster begin."""
        return np.arange(len(self.start) + 1) if self.joined is None else self.joined


class CompiledRows(NamedTuple):
    """A matrix by its rows, columns and blocks; the functions are jitable_part, and kernels call them by `functions`.

    row(data, i, cluster, scratch, out): out[:n] = A[i, start[cluster] : stop[cluster]] of the column clusters.
    column(data, cluster, j, scratch, out): out[:m] = A[start[cluster] : stop[cluster], j] of the row clusters.
    block(data, row_cluster, column_cluster, scratch, out): out[:m, :n] = the whole block, without its special pairs
    (touching and near ones), which rows and columns treat like all others: they are for separated clusters only.
    data: a tuple of arrays. scratch: numbers of type `real` that a thread must bring along.
    special: the special pairs' part of the matrix, in cluster order, to be added to blocks that `block` filled;
    overlap(): what rows and columns have instead of it, so that special - overlap() corrects blocks made of those. It
    holds near pairs alone, no entries that special does not have: rows of functions that touch mean nothing. A
    function, as few matrices have near pairs in such blocks.
    symmetric: A[i, j] = A[j, i] in cluster order. found: the search for special pairs (special_pairs.FoundPairs), for
    other operators on the same spaces.
    """

    shape: tuple[int, int]
    dtype: np.dtype[Any]
    real: np.dtype[Any]
    row: Callable[..., None]
    column: Callable[..., None]
    block: Callable[..., None]
    data: tuple[Any, ...]
    scratch: int
    special: sp.csr_array
    overlap: Callable[[], sp.csr_array]
    symmetric: bool
    found: Any = None

    def functions(self) -> "RowFunctions":
        """The functions that kernels call with `row`, `column` and `block` of this module; these rows must live as
        long."""
        board, bind = np.zeros(SIZE, np.int64), binding_kernel(self.row, self.column, self.block)
        line, square = np.zeros(0, self.dtype), np.zeros((0, 0), self.dtype)
        bind(self.data, np.zeros(0, self.real), line, square, board)
        return RowFunctions(board, bind)


class RowFunctions(NamedTuple):
    """Addresses of row, column and block with their data (`by_address`), and the kernel that has their code."""

    board: NDArray[np.int64]
    code: Callable[..., None]


@functools.lru_cache(maxsize=64)
def binding_kernel(row: Callable[..., None], column: Callable[..., None], block: Callable[..., None]) -> Any:
    """The kernel with the code of the three functions. Compression and near blocks call it by address, so that they are
    compiled once for all forms.

    bind(data, scratch, line, square, board) writes `data` and the addresses of row, column and block on the board
    (`RowFunctions`). scratch (0,), line (0,) and square (0, 0) are empty: their types are those of the working memory,
    of `out` of rows and columns, and of that of blocks.
    """

    @kernel
    def bind(data, scratch, line, square, board):
        write_function(row, (data,), (0, 0, scratch, line), board, ROW)
        write_function(column, (data,), (0, 0, scratch, line), board, COLUMN)
        write_function(block, (data,), (0, 0, scratch, square), board, BLOCK)

    return bind


@jitable_part
def row(board, i, cluster, scratch, out):
    """Store row i in the columns of a cluster, as in `CompiledRows`, of the matrix whose functions are on the board."""
    if call_function(board, ROW, (i, cluster, scratch, out)) != 0:
        raise MemoryError(NO_MEMORY)


@jitable_part
def column(board, cluster, j, scratch, out):
    """Store column j in the rows of a cluster, as in `CompiledRows`, of the matrix whose functions are on the board."""
    if call_function(board, COLUMN, (cluster, j, scratch, out)) != 0:
        raise MemoryError(NO_MEMORY)


@jitable_part
def block(board, row_cluster, column_cluster, scratch, out):
    """Store the block of two clusters, as in `CompiledRows`, of the matrix whose functions are on the board."""
    if call_function(board, BLOCK, (row_cluster, column_cluster, scratch, out)) != 0:
        raise MemoryError(NO_MEMORY)
