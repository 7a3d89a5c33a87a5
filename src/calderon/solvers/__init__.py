"""Solvers of linear systems; the iterations use a matrix through its products A @ x only."""

from calderon.solvers.block_gmres import block_gmres
from calderon.solvers.cg import cg
from calderon.solvers.compression import CompressedSides
from calderon.solvers.gmres import gmres
from calderon.solvers.iteration import ConvergenceError, SolverInfo
from calderon.solvers.lu import LU, Factorisation, lu
from calderon.solvers.preconditioners import jacobi, sparse_inverse
from calderon.solvers.refinement import refined, wide_product
from calderon.solvers.sparse_cholesky import factorised_inverse, factorised_matrix
from calderon.solvers.sparse_lu import SparseLU, factor_bytes

__all__ = [
    "LU",
    "CompressedSides",
    "ConvergenceError",
    "Factorisation",
    "SolverInfo",
    "SparseLU",
    "block_gmres",
    "cg",
    "factor_bytes",
    "factorised_inverse",
    "factorised_matrix",
    "gmres",
    "jacobi",
    "lu",
    "refined",
    "sparse_inverse",
    "wide_product",
]
