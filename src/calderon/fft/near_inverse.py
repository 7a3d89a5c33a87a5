"""Preconditioner of one-piece circuits: incomplete factors of the exact entries of pairs that are near."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, spilu

from calderon.fft.near import subtract_grid
from calderon.fft.operator import GridOperator
from calderon.fft.spectra import node_greens


def exact_near(operator: GridOperator, radius: float) -> sp.csr_array:
    """The entries of the matrix of functions up to `radius` spacings apart, or with common triangles."""
    middles, both = operator.grid.middles, (operator.near, operator.touching)
    (i, j), (k, l) = (each.tocoo().coords for each in both)
    close = np.linalg.norm(middles[i] - middles[j], axis=1) <= radius * operator.grid.spacing
    rows, columns = np.concatenate([i[close], k]), np.concatenate([j[close], l])
    pattern = sp.coo_array((np.ones(len(rows), np.bool_), (rows, columns)), operator.shape).tocsr()
    kept = operator.near.multiply(pattern).tocsr()
    kept.sort_indices()
    on_grid = sp.csr_array((np.zeros(kept.nnz, complex), kept.indices, kept.indptr), kept.shape)
    subtract_grid(on_grid, operator.grid, node_greens(operator.matrix.metal, operator.grid), operator.factors)
    return sp.csr_array(kept - on_grid)


def near_inverse(operator: GridOperator, radius: float = 3.0) -> LinearOperator:
    """An approximate inverse for `gmres(..., preconditioner=)`, by incomplete LU factors of `exact_near`; radius: in
    spacings of the grid.

    For circuits of one piece; `cell_inverse` is better for arrays of equal separate elements.
    """
    matrix: Any = sp.csc_matrix(exact_near(operator, radius))
    symmetric: Any = {"permc_spec": "MMD_AT_PLUS_A", "diag_pivot_thresh": 0.0, "options": {"SymmetricMode": True}}
    # entries below a thousandth of their column are dropped, unless there are 20 times as many as those given
    factors = spilu(matrix, drop_tol=1e-3, fill_factor=20.0, **symmetric)

    def solve(x: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(factors.solve(np.ascontiguousarray(x, complex)))

    return LinearOperator(matrix.shape, matvec=solve, matmat=solve, dtype=np.dtype(complex))
