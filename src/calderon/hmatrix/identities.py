"""What the matrix of an operator belongs to, as a few named texts that can be compared and told."""

import hashlib
from typing import Any

import numpy as np

from calderon.operators.boundary import IntegralOperator


def identity_of(operator: IntegralOperator) -> dict[str, str]:
    """Names and texts: the integrand, the Green's function with its wavenumber, the mesh by a digest of its vertices
    and triangles, the spaces by one of their functions, the quadrature."""
    both = operator.trial, operator.test
    spaces = " to ".join(f"{each.name} {_digest(each.triangles, each.dofs)}" for each in both)
    meshes = (each.mesh for each in both)
    return {
        "operator": operator.integrand.name,
        "Green's function": repr(operator.green),
        "mesh": " to ".join(dict.fromkeys(_digest(each.vertices, each.triangles) for each in meshes)),
        "spaces": spaces,
        "quadrature": repr(operator.quadrature),
    }


def _digest(*arrays: Any) -> str:
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()[:12]
