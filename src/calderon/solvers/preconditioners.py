"""Approximate inverses from the entries of a matrix; those that depend on the physics lie with their equations."""

from functools import partial
from typing import Any

import numpy as np
from scipy.sparse import csc_matrix, diags_array, issparse
from scipy.sparse.linalg import LinearOperator, aslinearoperator, splu

from calderon.backends.threads import one_thread


def jacobi(matrix: Any) -> LinearOperator:
    """The inverse of the diagonal of `matrix` (anything with ``diagonal()``, or ``to_array()``)."""
    if not hasattr(matrix, "diagonal") and hasattr(matrix, "to_array"):
        matrix = matrix.to_array()
    if not hasattr(matrix, "diagonal"):
        raise TypeError(f"jacobi needs the diagonal of a matrix, which {type(matrix).__name__} does not give")
    diagonal = np.asarray(matrix.diagonal())
    zeros = np.flatnonzero((diagonal == 0) | ~np.isfinite(diagonal))
    if len(zeros):
        raise ValueError(f"{len(zeros)} diagonal entries are zero or not finite, the first in row {zeros[0]}")
    return aslinearoperator(diags_array(1 / diagonal))


def sparse_inverse(matrix: Any) -> LinearOperator:
    """The inverse of a sparse matrix, such as a mass matrix, by a sparse LU factorisation (SuperLU) that is kept.

    Unknowns are ordered by minimum degree: of A + A^T where entries lie symmetrically, as those of Galerkin matrices
    do, which halves the factors of a surface, else of A^T A.
    """
    if not issparse(matrix):
        raise TypeError(
            f"sparse_inverse needs a SciPy sparse matrix, got {type(matrix).__name__}: use lu for a dense one"
        )
    if matrix.shape[0] != matrix.shape[1]:
        raise ValueError(f"sparse_inverse needs a square matrix, got shape {matrix.shape}")
    dtype = np.dtype(np.complex128 if matrix.dtype.kind == "c" else np.float64)
    columns = csc_matrix(matrix, dtype=dtype)
    ordering = "MMD_AT_PLUS_A" if is_structurally_symmetric(columns) else "COLAMD"
    try:
        with one_thread:
            factors = splu(columns, permc_spec=ordering)
    except RuntimeError as error:
        raise np.linalg.LinAlgError(f"the sparse matrix of shape {matrix.shape} is singular") from error

    # real factors solve for the parts of complex columns
    def solve(x: np.ndarray, trans: str) -> np.ndarray:
        if dtype.kind != "c" and np.iscomplexobj(x):  # real and imaginary parts as columns
            parts = np.ascontiguousarray(x, np.complex128).reshape(len(x), -1).view(np.float64)
            return np.ascontiguousarray(factors.solve(parts, trans)).view(np.complex128).reshape(x.shape)
        return np.asarray(factors.solve(np.ascontiguousarray(x, dtype), trans))

    forward, adjoint = partial(solve, trans="N"), partial(solve, trans="H")
    return LinearOperator(matrix.shape, matvec=forward, rmatvec=adjoint, matmat=forward, rmatmat=adjoint, dtype=dtype)


def is_structurally_symmetric(matrix: csc_matrix) -> bool:
    """Whether an entry is stored at (j, i) for each that is stored at (i, j)."""
    sides = matrix.copy(), csc_matrix(matrix.T)
    for each in sides:
        each.sum_duplicates()
    same = (np.array_equal(*(getattr(each, name) for each in sides)) for name in ("indptr", "indices"))
    return all(same)
