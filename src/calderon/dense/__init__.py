"""Storing methods: dense matrices and products without a matrix."""

from calderon.dense.dense import DenseMatrix, assemble_dense, plan_dense
from calderon.dense.matrix_free import MatrixFree, assemble_matrix_free

__all__ = ["DenseMatrix", "MatrixFree", "assemble_dense", "assemble_matrix_free", "plan_dense"]
