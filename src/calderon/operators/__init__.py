"""Boundary operators as lazy values, and their algebra."""

from calderon.integrands import Component
from calderon.operators.algebra import BoundaryOperator
from calderon.operators.blocks import BlockOperator, blocks, transformed
from calderon.operators.boundary import (
    adjoint_double_layer,
    double_layer,
    hypersingular,
    identity,
    laplace_beltrami,
    single_layer,
)
from calderon.operators.electromagnetic import electric_field, magnetic_field
from calderon.operators.form import Form
from calderon.operators.layered import layered_electric_field
from calderon.operators.sparse_factors import VolumeSpace

__all__ = [
    "BlockOperator",
    "BoundaryOperator",
    "Component",
    "Form",
    "VolumeSpace",
    "adjoint_double_layer",
    "blocks",
    "double_layer",
    "electric_field",
    "hypersingular",
    "identity",
    "laplace_beltrami",
    "layered_electric_field",
    "magnetic_field",
    "single_layer",
    "transformed",
]
