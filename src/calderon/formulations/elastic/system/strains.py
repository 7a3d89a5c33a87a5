"""Strains on the surface of a body as a matrix of its unknowns: what small triangles amplify."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

Array = NDArray[np.float64]
CORNERS = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
"""The corners of the reference triangle."""


def strain_matrix(space: Any, free: sp.csr_array, bound: sp.csr_array) -> sp.csr_array:
    """(k, unknowns) from displacements q and tractions s of E = 1 to the strains e_11, e_22, 2 e_12 in the plane of
    triangles, at their corners, and to the tractions; u = free q at the nodes of a space. Of triangles all of whose
    nodes move freely, if there are any."""
    scalar, mesh = space.scalar, space.mesh
    corners = CORNERS if scalar.element.degree > 1 else CORNERS.mean(axis=0, keepdims=True)
    moving = np.asarray(abs(free).sum(axis=1)).ravel().reshape(-1, 3) > 0
    chosen = np.asarray(moving.all(axis=1))[scalar.dofs].all(axis=1)
    points = np.repeat(chosen if chosen.any() else ~chosen, len(corners))
    first = mesh.vertices[mesh.triangles[:, 1]] - mesh.vertices[mesh.triangles[:, 0]]
    first = first / np.linalg.norm(first, axis=1, keepdims=True)
    axes = [np.repeat(each, len(corners), axis=0)[points] for each in (first, np.cross(mesh.normals, first))]
    slopes = [each[points] for each in scalar.surface_gradient(corners)]

    def along(one: Array, other: Array) -> Any:
        """one . (other . grad) u."""
        slope = sum(sp.diags_array(other[:, c]) @ slopes[c] for c in range(3))
        return sum(sp.kron(sp.diags_array(one[:, c]) @ slope, np.eye(3)[c : c + 1]) for c in range(3))

    one, two = axes
    strains = sp.vstack([along(one, one), along(two, two), along(one, two) + along(two, one)])
    return sp.block_diag([strains @ free, bound[np.diff(bound.indptr) > 0]], format="csr")
