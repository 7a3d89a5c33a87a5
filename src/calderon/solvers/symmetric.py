"""Sparse symmetric matrices, real or complex, as L D L^T: one analysis for all combinations of a few matrices.

Without pivoting, which is stable for positive definite real or imaginary parts, also after a rotation e^(i t) A (N. J.
Higham, Math. Comp. 67 (1998) 1591): mass matrices M, and M - b L with positive semidefinite L and b off the positive
axis.
The factor takes half of the memory of L and U, and BLAS is not called for small pieces, where its threads wait for each
other longer than they work.

The ordering is nested dissection by coordinates: halves of a set of nodes come first, the nodes between them last (A.
George, SIAM J. Numer. Anal. 10 (1973) 345). Factors row by row along the elimination tree: T. A. Davis, ACM Trans.
Math. Software 31 (2005) 587.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import DTypeLike, NDArray

from calderon.backends.numba import kernel
from calderon.solvers.system import by_parts


@dataclass(frozen=True, eq=False)
class SymmetricPencil:
    """Combinations sum_i c_i A_i of real symmetric sparse matrices A_i (n, n) at nodes `points` (n, 3).

    order (n,): the node that is eliminated at each step.
    """

    matrices: tuple[sp.csr_array, ...]
    points: NDArray[np.float64]

    @cached_property
    def order(self) -> NDArray[np.int64]:
        return nested_dissection(self._union, self.points)

    @cached_property
    def _union(self) -> sp.csr_array:
        """Ones where some matrix has an entry, and on the diagonal."""
        ones = [sp.csr_array((np.ones(a.nnz), a.indices, a.indptr), a.shape) for a in self.matrices]
        return sum(ones, sp.eye_array(len(self.points)).tocsr())

    @cached_property
    def _entries(self) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.float64]]:
        """Starts of rows and columns of the union in the order of elimination, and the values of each matrix there."""
        permuted = _permuted(self._union, self.order)
        values = np.zeros((len(self.matrices), permuted.nnz))
        numbers = _numbers(permuted)
        for row, matrix in zip(values, self.matrices, strict=True):
            each = _permuted(matrix, self.order)
            row[np.searchsorted(numbers, _numbers(each))] = each.data
        return permuted.indptr.astype(np.int64), permuted.indices.astype(np.int32), values

    @cached_property
    def _tree(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]:
        """The parent of each node in the elimination tree, starts of the columns of L and their row numbers."""
        starts, columns, _ = self._entries
        n = len(self.points)
        parent, count = np.full(n, -1, np.int64), np.zeros(n, np.int64)
        eliminate(starts, columns, parent, count, np.zeros(n + 1, np.int64), np.empty(0, np.int32))
        start = np.concatenate([[0], np.cumsum(count)])
        rows = np.empty(start[-1], np.int32)
        eliminate(starts, columns, parent, count, start, rows)
        return parent, start, rows

    def nbytes(self, dtype: DTypeLike) -> int:
        """Bytes of the values of factors, in numbers of this type."""
        _, _, rows = self._tree
        return (len(rows) + len(self.points)) * np.dtype(dtype).itemsize

    def factorise(self, *coefficients: complex, single: bool = False) -> "SymmetricFactors":
        """L D L^T of the combination with these coefficients, one for each matrix; LinAlgError for a zero pivot.
        single: numbers are computed in double, and kept in single precision."""
        starts, columns, values = self._entries
        parent, start, rows = self._tree
        data = np.asarray(coefficients) @ values
        kept = np.dtype(f"{data.dtype.kind}{data.dtype.itemsize // (2 if single else 1)}")
        below, pivots = np.empty(len(rows), kept), np.empty(len(parent), data.dtype)
        bad = factor(starts, columns, data, parent, start, rows, below, pivots)
        if bad >= 0:
            raise np.linalg.LinAlgError(f"pivot {bad} of {len(parent)} of a sparse symmetric matrix is zero")
        return SymmetricFactors(self.order, start, rows, below, pivots)


def _permuted(matrix: sp.csr_array, order: NDArray[np.int64]) -> sp.csr_array:
    permuted = matrix.tocsr()[order][:, order]
    permuted.sort_indices()
    return permuted


def _numbers(matrix: sp.csr_array) -> NDArray[np.int64]:
    """Row times size plus column of each entry."""
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    return rows * matrix.shape[1] + matrix.indices


@dataclass(frozen=True, eq=False)
class SymmetricFactors:
    """P A P^T = L D L^T: columns of L from start[j] to start[j + 1], D (n,)."""

    order: NDArray[np.int64]
    start: NDArray[np.int64]
    rows: NDArray[np.int32]
    below: NDArray[Any]
    pivots: NDArray[Any]

    @property
    def nbytes(self) -> int:
        """Memory of the values; rows are shared by all matrices of the pattern."""
        return self.below.nbytes + self.pivots.nbytes

    def solve(self, right_hand_side: NDArray[Any]) -> NDArray[Any]:
        """A^-1 b for b (n,) or (n, m); real factors accept complex b, too."""
        b = np.asarray(right_hand_side)
        if b.dtype.kind == "c" and self.pivots.dtype.kind != "c":
            return by_parts(self.solve, b.reshape(len(b), -1)).reshape(b.shape)
        columns = np.ascontiguousarray(b.reshape(len(b), -1)[self.order], dtype=self.pivots.dtype)
        substitute(self.start, self.rows, self.below, self.pivots, columns)
        x = np.empty_like(columns)
        x[self.order] = columns
        return x.reshape(b.shape)


def nested_dissection(matrix: sp.csr_array, points: NDArray[np.float64]) -> NDArray[np.int64]:
    """The order of elimination (n,) of the graph of `matrix` with nodes at `points` (n, 3).

    All sets of a level are cut at once, at the median of their longest axis; nodes of the lower half that touch the
    upper one separate them. A node's place is a number in base 3: 0 lower, 1 upper, 2 separator, digit by digit.
    """
    n = len(points)
    edges = sp.triu(matrix, 1).tocoo().coords
    group, place = np.zeros(n, np.int64), np.zeros(n, np.int64)
    alive = np.ones(n, bool)
    for _ in range(max(0, int(np.ceil(np.log2(max(n, 1) / 16))))):  # up to sets of 16 nodes
        nodes = np.flatnonzero(alive)
        upper = np.zeros(n, bool)
        upper[nodes] = _upper_half(group[nodes], points[nodes])
        i, j = edges
        cut = alive[i] & alive[j] & (group[i] == group[j]) & (upper[i] != upper[j])
        separator = np.zeros(n, bool)
        separator[np.where(upper[i[cut]], j[cut], i[cut])] = True
        digit = np.where(upper, 1, 0)
        digit[separator | ~alive] = 2
        place = 3 * place + digit
        alive &= ~separator
        group = 2 * group + upper
    return np.argsort(place, kind="stable")


def _upper_half(group: NDArray[np.int64], points: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Which points lie beyond the median along the longest axis of their group."""
    by_group = np.argsort(group, kind="stable")
    starts = np.flatnonzero(np.diff(group[by_group], prepend=-1))
    sizes = np.diff(starts, append=len(group))
    number = np.empty(len(group), np.int64)
    number[by_group] = np.repeat(np.arange(len(starts)), sizes)
    extent = np.maximum.reduceat(points[by_group], starts) - np.minimum.reduceat(points[by_group], starts)
    along = points[np.arange(len(group)), np.argmax(extent, axis=1)[number]]
    sorted_nodes = np.lexsort((along, number))
    upper = np.empty(len(group), bool)
    upper[sorted_nodes] = np.arange(len(group)) - starts[number[sorted_nodes]] >= (sizes // 2)[number[sorted_nodes]]
    return upper


@kernel
def eliminate(indptr, indices, parent, count, start, rows):
    """Compute the elimination tree, the numbers of entries in the columns of L and, where `rows` has room, their rows.

    indptr (n + 1,), indices: a symmetric matrix by rows, columns ascending, of which the lower half is read. parent
    (n,): parent of each node, -1 at the root; count (n,): entries of each column below the diagonal; start (n + 1,):
    first of them in rows, read only where rows is not empty. (T. A. Davis, ACM Trans. Math. Softw. 31 (2005) 587, LDL.)
    """
    n = len(parent)
    flag = np.empty(n, np.int64)
    fill = len(rows) > 0
    for k in range(n):
        # row k of L has entries at all nodes on the paths from its entries in A to k; flag = k where one has been
        flag[k] = k
        count[k] = 0
        for p in range(indptr[k], indptr[k + 1]):
            i = np.int64(indices[p])
            if i >= k:
                break
            while flag[i] != k:
                if parent[i] == -1:
                    parent[i] = k
                if fill:
                    rows[start[i] + count[i]] = k
                count[i] += 1
                flag[i] = k
                i = parent[i]


@kernel
def factor(indptr, indices, values, parent, start, rows, below, pivots):
    """Fill the columns `below` of L and the pivots (n,) of D; -1, or the number of a pivot that is zero.

    values: entries of the matrix in the order of `indices`; rows, below: rows and values of the entries of L by
    columns; indptr, indices, parent and start as in `eliminate`.
    """
    n = len(parent)
    flag, path, stack = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n, np.int64)
    filled = np.empty(n, np.int64)
    y = np.zeros_like(pivots)
    for k in range(n):
        flag[k] = k
        filled[k] = start[k]
        # scatter row k into y, and list the columns of L that reach it, from the elimination tree, in stack[top:]
        top = n
        pivot = y[k]
        for p in range(indptr[k], indptr[k + 1]):
            i = np.int64(indices[p])
            if i > k:
                break
            if i == k:
                pivot += values[p]
                break
            y[i] += values[p]
            length = 0
            while flag[i] != k:
                path[length] = i
                length += 1
                flag[i] = k
                i = parent[i]
            while length > 0:
                length -= 1
                top -= 1
                stack[top] = path[length]
        # solve with these columns for row k of L, and update the pivot
        for t in range(top, n):
            i = stack[t]
            value = y[i]
            y[i] = 0
            for p in range(start[i], filled[i]):
                y[rows[p]] -= below[p] * value
            # L_ki = value / D_i is the next entry of column i
            entry = value / pivots[i]
            pivot -= entry * value
            below[filled[i]] = entry
            filled[i] += 1
        pivots[k] = pivot
        y[k] = 0
        if pivot == 0:
            return k
    return -1


@kernel
def substitute(start, rows, below, pivots, x):
    """Replace x (n, m) by (L D L^T)^-1 x; start, rows, below and pivots as in `factor`."""
    n, m = x.shape
    # L^-1, column by column
    for j in range(n):
        for p in range(start[j], start[j + 1]):
            i, entry = rows[p], below[p]
            for c in range(m):
                x[i, c] -= entry * x[j, c]
    # D^-1, then L^-T from the last row to the first
    for j in range(n - 1, -1, -1):
        inverse = 1 / pivots[j]
        for c in range(m):
            x[j, c] *= inverse
        for p in range(start[j], start[j + 1]):
            i, entry = rows[p], below[p]
            for c in range(m):
                x[j, c] -= entry * x[i, c]
