"""LU factors of sparse matrices of finite elements, in an order by nested dissection.

Rows and columns are put in one order in which separators of the graph of A + A^T come last (METIS: Karypis and Kumar
1998), and SuperLU factorises with pivots on the diagonal where they are large enough. Matrices of finite elements in
volumes have 220 b (n / (15,625 b))^0.44 entries of L in a row, with b unknowns at a node, by measurement with quadratic
elements: half of what minimum degree leaves, and a fifth of its time. Thin shells, one layer of tetrahedra, have some
two thirds of it.
"""

import importlib.util
import time
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import SuperLU, splu
from scipy.sparse.linalg import norm as sparse_norm

from calderon.backends import require_memory
from calderon.backends.threads import one_thread
from calderon.solvers.lu import Factorisation, norm_estimate
from calderon.solvers.preconditioners import is_structurally_symmetric

SINGULAR = 1e13
"""The condition from which a matrix counts as singular: that of thin steel shells is 1e9 away from their resonances."""
STABLE = 1e-9
"""Relative residual of factors with small pivots, above which they are made again with the largest ones."""


class Fill(NamedTuple):
    """Entries of L in a row of a matrix with `rows` rows and one unknown at a node, and the power of its growth; what
    a minimum degree ordering leaves more; flops by the square of the entries of a row, and by those of a step."""

    entries: float = 220.0
    rows: float = 15_625.0
    growth: float = 0.44
    by_degree: float = 1.8


FILL = Fill()


def has_metis() -> bool:
    """Whether pymetis, which orders by nested dissection, is installed."""
    return importlib.util.find_spec("pymetis") is not None


def nested_dissection(matrix: Any) -> NDArray[np.int64]:
    """(n,) the order of rows and columns of a sparse matrix (n, n) by METIS: `matrix[order][:, order]` has few entries
    in its factors. ImportError without pymetis."""
    import pymetis

    pattern = sp.csr_array(matrix, copy=True)
    pattern.data = np.ones(len(pattern.data))
    graph = (pattern + pattern.T).tocsr()
    graph.setdiag(0)
    graph.eliminate_zeros()
    if not graph.nnz:
        return np.arange(matrix.shape[0])
    order, _ = pymetis.nested_dissection(pymetis.CSRAdjacency(graph.indptr.tolist(), graph.indices.tolist()))
    return np.asarray(order, np.int64)


def unknowns_at_nodes(matrix: Any) -> int:
    """How many rows after each other have their entries in the same columns: 3, 2 or 1 unknowns of a node."""
    rows = sp.csr_array(matrix)
    marks = np.random.default_rng(0).integers(1, 2**40, rows.shape[1])
    sums = sp.csr_array((np.ones(rows.nnz, np.int64), rows.indices, rows.indptr), rows.shape) @ marks
    for count in (3, 2):
        if len(sums) % count == 0 and (np.ptp(sums.reshape(-1, count), axis=1) == 0).mean() > 0.9:
            return count
    return 1


def factor_bytes(matrix: Any) -> int:
    """Bytes that `SparseLU` of a sparse matrix takes, before it is made: entries of L and U with their rows, and the
    matrix in the order of elimination."""
    size, nodes = matrix.shape[0], unknowns_at_nodes(matrix)
    item = 16 if np.dtype(matrix.dtype).kind == "c" else 8
    entries = FILL.entries * nodes * (size / nodes / FILL.rows) ** FILL.growth * size
    entries *= 1.0 if has_metis() else FILL.by_degree
    dense = 0.5 * float(size) ** 2  # of a small matrix there are no more
    return int(2 * min(entries, dense) * (item + 2) + matrix.nnz * (item + 4))


class SparseLU(Factorisation):
    """L U factors of a sparse matrix A (n, n), real ones where A is: `solve(b)` for b (n,) or (n, m), real or complex,
    `solve(b, adjoint=True)`, `factors @ b`, `as_preconditioner()`.

    order: name of the order of elimination. nbytes: of the factors. seconds: what they took. condition: an estimate of
    |A| |A^-1| in the 1-norm, from a few solutions; `is_singular` compares it with SINGULAR.

    Raises TypeError and ValueError for what is no square sparse matrix of finite numbers, MemoryError before there is
    no room, numpy.linalg.LinAlgError where a pivot is zero.
    """

    def __init__(self, matrix: Any) -> None:
        self._matrix = _checked(matrix)
        self.shape, self.dtype = self._matrix.shape, self._matrix.dtype
        require_memory(factor_bytes(self._matrix), f"LU factors of a sparse matrix of {self.shape[0]} rows",
                       "take a coarser volume, or solve the whole system by GMRES")  # fmt: skip
        began = time.perf_counter()
        if has_metis():
            self.order, self._places = "nested dissection", nested_dissection(self._matrix)
        else:
            self.order = "minimum degree, as pymetis is not installed (pip install 'calderon[fem]')"
            self._places = np.arange(self.shape[0])
        self.pivots = "diagonal"
        self._factors = self._factorised(0.01)
        if self._unstable():
            self.pivots = "largest"
            self._factors = self._factorised(1.0)
        self.seconds = time.perf_counter() - began
        self.nbytes = self._factors.nnz * (self.dtype.itemsize + 2)
        self.where = f", sparse, {self._factors.nnz / self.shape[0]:.0f} entries a row, {self.order}"

    def _factorised(self, threshold: float) -> SuperLU:
        """The factors whose pivots on the diagonal are at least `threshold` times the largest entry of their column."""
        ordered = sp.csc_matrix(self._matrix[self._places][:, self._places])
        symmetric = is_structurally_symmetric(ordered)
        order = "NATURAL" if has_metis() else "MMD_AT_PLUS_A" if symmetric else "COLAMD"
        options = {"SymmetricMode": True} if symmetric and threshold < 1 else {}
        try:
            with one_thread:  # supernodes are small: several threads wait for each other far longer than they work
                return splu(ordered, permc_spec=order, diag_pivot_thresh=threshold, options=options)
        except RuntimeError as error:
            raise np.linalg.LinAlgError(
                f"the sparse matrix of {self.shape[0]} rows has no LU factors ({error}): a resonance of what it stands "
                "for, a body that is free at frequency 0, or unknowns of no element; shift the frequency, add loss, or "
                "solve the whole system by GMRES"
            ) from None

    def _unstable(self) -> bool:
        """Whether the residual of a solution is large against rounding, relative to A, x and b."""
        x = np.random.default_rng(0).standard_normal((self.shape[0], 1)).astype(self.dtype)
        b = self._matrix @ x
        found = self._solve(b, False)
        left = np.linalg.norm(self._matrix @ found - b)
        return not left <= STABLE * max(np.linalg.norm(b), np.finfo(float).tiny)

    @cached_property
    def condition(self) -> float:
        """An estimate of |A| |A^-1| in the 1-norm (Higham and Tisseur 2000)."""
        return float(sparse_norm(self._matrix, 1)) * norm_estimate(self.as_preconditioner())

    @property
    def is_singular(self) -> bool:
        """Whether the condition is at least SINGULAR, so that solutions have few digits."""
        return not self.condition < SINGULAR

    def _solve(self, columns: NDArray[Any], adjoint: bool) -> NDArray[Any]:
        ordered = np.ascontiguousarray(columns[self._places], self.dtype)
        solution = np.empty_like(ordered)
        with one_thread:
            solution[self._places] = self._factors.solve(ordered, "H" if adjoint else "N")
        return solution

    def residual(self, x: NDArray[Any], b: NDArray[Any]) -> float:
        """|A x - b| / |b| of solutions (n, m)."""
        return float(np.linalg.norm(self._matrix @ x - b) / max(np.linalg.norm(b), np.finfo(float).tiny))


def _checked(matrix: Any) -> sp.csr_array:
    """A square sparse matrix of finite numbers in double precision, by rows; TypeError or ValueError for others."""
    if not sp.issparse(matrix) or matrix.dtype.kind not in "biufc":
        kind = f" of {matrix.dtype}" if hasattr(matrix, "dtype") else ""
        raise TypeError(f"sparse LU factors are of a sparse matrix of SciPy with numbers, got "
                        f"{type(matrix).__name__}{kind}: lu(A) factorises arrays")  # fmt: skip
    if matrix.shape[0] != matrix.shape[1] or not matrix.shape[0]:
        raise ValueError(f"LU factors are of a square matrix that is not empty, got shape {matrix.shape}")
    checked = sp.csr_array(matrix, dtype=complex if matrix.dtype.kind == "c" else float)
    if bad := int((~np.isfinite(checked.data)).sum()):
        raise ValueError(f"{bad} of {checked.nnz} entries of the sparse matrix are NaN or infinite")
    return checked
