"""Sums, multiples, transposes and tables of sparse operators as sparse matrices."""

import math
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from calderon.backends import format_bytes, require_memory
from calderon.galerkin.limits import checked_range
from calderon.operators.algebra import BoundaryOperator
from calderon.operators.methods import DENSE_BYTES
from calderon.operators.tree import local_matrix, terms_of


def is_sparse(operator: BoundaryOperator) -> bool:
    """Whether all terms of an expression have sparse matrices."""
    return all(term.atom.is_local for term in terms_of(operator))


class SparseMatrix(LinearOperator):
    """A matrix of few entries. `tocsr()`, `to_array()`, `nbytes`, `seconds`, `backend`; works wherever SciPy takes a
    LinearOperator."""

    backend = "numba"

    def __init__(self, matrix: sp.csr_array, label: str = "", seconds: float = 0.0) -> None:
        super().__init__(dtype=matrix.dtype, shape=matrix.shape)
        self._matrix, self.label, self.seconds = matrix, label, seconds

    @property
    def nbytes(self) -> int:
        """Memory of the entries and their places in bytes."""
        return sum(int(each.nbytes) for each in (self._matrix.data, self._matrix.indices, self._matrix.indptr))

    def tocsr(self) -> sp.csr_array:
        """The matrix by rows (not a copy)."""
        return self._matrix

    def to_array(self) -> NDArray[Any]:
        """All entries, a new array; MemoryError where there is no room."""
        needed = self.shape[0] * self.shape[1] * self.dtype.itemsize
        require_memory(needed, f"all entries of a sparse matrix of {self.shape[0]} x {self.shape[1]}", "use tocsr()")
        return np.asarray(self._matrix.toarray())

    toarray = to_array

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """All entries, zeros included, for np.asarray(matrix)."""
        return np.asarray(self.to_array(), dtype=dtype)

    def _matvec(self, x: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(self._matrix @ x)

    _matmat = _matvec

    def _rmatvec(self, x: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(self._matrix.conj().T @ x)

    _rmatmat = _rmatvec

    def __str__(self) -> str:
        size = (
            f"{self.shape[0]} x {self.shape[1]} {self.dtype}, {self._matrix.nnz} entries, {format_bytes(self.nbytes)}"
        )
        what = f", {self.label}" if self.label else ""
        return f"sparse matrix {size}, backend {self.backend}, {self.seconds:.2f} s{what}"

    __repr__ = __str__


def sparse_matrix(operator: BoundaryOperator, dtype: np.dtype[Any]) -> sp.csr_array:
    """The matrix of an expression for which `is_sparse` holds; ValueError for entries beyond the range of the type."""
    for term in terms_of(operator):
        if largest := float(np.abs(term.factor * term.atom.matrix.data).max(initial=0.0)):
            checked_range(dtype, largest, largest, f"the {term.atom.name}")
    return local_matrix(operator).astype(dtype)


def require_few_zeros(operator: BoundaryOperator, dtype: np.dtype[Any]) -> None:
    """ValueError where a dense matrix would hold more than DENSE_BYTES of the zeros of sparse blocks, and more of them
    than of other entries: finite elements next to a surface are products, or are eliminated."""
    rows, columns = (np.zeros(size, bool) for size in operator.shape)
    for term in terms_of(operator):
        if not term.atom.is_local:
            (top, left, (height, width)) = term.region
            rows[top : top + height], columns[left : left + width] = True, True
    filled = int(rows.sum()) * int(columns.sum()) * dtype.itemsize  # of all that may have entries
    zeros = math.prod(operator.shape) * dtype.itemsize - filled
    if zeros > max(DENSE_BYTES, filled):
        raise ValueError(
            f"method='dense' would store {format_bytes(zeros)} of zeros next to {format_bytes(filled)} of entries, "
            f"since {operator!r} has sparse rows or columns: use 'hmatrix', 'mlfmm', 'fmm' or 'matrix-free', whose "
            "products keep sparse blocks as they are, or eliminate the sparse block (calderon.solvers.SchurComplement)"
        )


def sparse_bytes(operator: BoundaryOperator, dtype: np.dtype[Any]) -> int:
    """Memory that `sparse_matrix` takes at most: entries with their places twice, and the first of each row."""
    entries = sum(term.atom.matrix.nnz for term in terms_of(operator))
    return 2 * entries * (dtype.itemsize + 16) + 8 * operator.shape[0]
