"""Fingerprints of matrices: named texts of the operator a matrix belongs to, which can be compared and reported."""

import hashlib
from typing import Any

import numpy as np

from calderon.operators.algebra import BoundaryOperator
from calderon.operators.boundary import IntegralOperator
from calderon.operators.layered import LayeredElectricField
from calderon.operators.tree import expression_signature, integrals_of


def fingerprint(operator: IntegralOperator | LayeredElectricField) -> dict[str, str]:
    """The integrand, the Green's function with its wavenumber or the layers, the mesh by a digest of its vertices and
    triangles, the spaces by one of their functions, the quadrature."""
    one: Any = operator
    medium = f"layers {digest(*one.sections.data)}" if operator.is_layered else repr(one.green)
    both = operator.trial, operator.test
    spaces = " to ".join(f"{each.name} {digest(each.triangles, each.dofs)}" for each in both)
    meshes = (each.mesh for each in both)
    return {
        "operator": operator.integrand.name,
        "Green's function": medium,
        "mesh": " to ".join(dict.fromkeys(digest(each.vertices, each.triangles) for each in meshes)),
        "spaces": spaces,
        "quadrature": repr(operator.quadrature),
    }


def fingerprint_of_all(operator: BoundaryOperator) -> dict[str, str]:
    """Fingerprints of all integral operators of an expression, and a digest of how it is made of them."""
    parts = [fingerprint(each) for each in integrals_of(operator)]
    expression = digest(np.frombuffer(repr((operator.shape, expression_signature(operator))).encode(), np.uint8))
    names = dict.fromkeys(name for part in parts for name in part)
    return {name: " and ".join(dict.fromkeys(part[name] for part in parts)) for name in names} | {
        "expression": expression
    }


def digest(*arrays: Any) -> str:
    """A digest of arrays of numbers."""
    total = hashlib.sha256()
    for array in arrays:
        total.update(np.ascontiguousarray(array).tobytes())
    return total.hexdigest()[:12]
