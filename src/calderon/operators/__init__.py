"""Boundary operators and potentials."""

from calderon.operators.accuracy import AccuracyWarning
from calderon.operators.blocks import BlockOperator, blocks
from calderon.operators.boundary import (
    BoundaryOperator,
    adjoint_double_layer,
    double_layer,
    hypersingular,
    identity,
    laplace_beltrami,
    single_layer,
)
from calderon.operators.current_field import CurrentField, electric_potential, magnetic_potential
from calderon.operators.dense import DenseMatrix, assemble_dense
from calderon.operators.electromagnetic import electric_field, magnetic_field
from calderon.operators.matrix_free import MatrixFree, assemble_matrix_free
from calderon.operators.options import Quadrature
from calderon.operators.osrc import osrc_dtn, osrc_ntd
from calderon.operators.potential import Potential, double_layer_potential, single_layer_potential
from calderon.operators.surface_operator import SurfaceOperator, SurfaceProduct

__all__ = [
    "AccuracyWarning",
    "BlockOperator",
    "BoundaryOperator",
    "CurrentField",
    "DenseMatrix",
    "MatrixFree",
    "Potential",
    "Quadrature",
    "SurfaceOperator",
    "SurfaceProduct",
    "adjoint_double_layer",
    "assemble_dense",
    "assemble_matrix_free",
    "blocks",
    "double_layer",
    "double_layer_potential",
    "electric_field",
    "electric_potential",
    "hypersingular",
    "identity",
    "laplace_beltrami",
    "magnetic_field",
    "magnetic_potential",
    "osrc_dtn",
    "osrc_ntd",
    "single_layer",
    "single_layer_potential",
]
