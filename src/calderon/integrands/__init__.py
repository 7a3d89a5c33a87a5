"""Integrands: what stands under the double integral, apart from Green's function and basis."""

from calderon.integrands.component import Component, Components, monomials
from calderon.integrands.integrand import (
    ADJOINT_DOUBLE_LAYER,
    DOUBLE_LAYER,
    ELECTRIC_FIELD,
    HYPERSINGULAR,
    MAGNETIC_FIELD,
    SINGLE_LAYER,
    VECTOR_POTENTIAL,
    Integrand,
)

__all__ = [
    "ADJOINT_DOUBLE_LAYER",
    "DOUBLE_LAYER",
    "ELECTRIC_FIELD",
    "HYPERSINGULAR",
    "MAGNETIC_FIELD",
    "SINGLE_LAYER",
    "VECTOR_POTENTIAL",
    "Component",
    "Components",
    "Integrand",
    "monomials",
]
