"""An approximate inverse for elastic solids: blocks of neighbouring unknowns, and rigid motions of clusters of them.

First a small problem for the rigid motions of clusters of unknowns, then the inverses of diagonal blocks applied to
what is left of the residual (M. Bebendorf 2008, section 3; two levels, multiplicative).
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from calderon.formulations.elastic.balance import rigid_motions
from calderon.formulations.elastic.equations import Equation
from calderon.mesh.locality import block_order

Array = NDArray[np.float64]
LEAF, CLUSTER = 60, 400
"""Unknowns of a block, and of a cluster that moves as a rigid body."""
FEWEST = 30
"""Unknowns of a kind, displacements or tractions, that a cluster has rigid motions for."""


def clusters(points: Array, size: int) -> list[NDArray[np.int64]]:
    """The numbers of points (n, 3) in groups of `size` neighbours."""
    return np.split(block_order(points, size), np.arange(size, len(points), size))


def rigid_columns(equation: Equation) -> Array:
    """(n, k) orthonormal columns: rigid motions of the displacements and of the tractions of each cluster."""
    count = len(equation.points)
    found = []
    for cluster in clusters(equation.points, CLUSTER):
        displacements = cluster < equation.displacements
        for part in (cluster[displacements], cluster[~displacements]):
            if len(part) < FEWEST:
                continue
            motions = rigid_motions(equation.points[part], equation.points[part].mean(axis=0))
            columns = np.zeros((count, 6))
            columns[part] = np.einsum("ni,nik->nk", equation.axes[part], motions)
            found.append(columns)
    if not found:
        return np.zeros((count, 0))
    left, sizes, _ = np.linalg.svd(np.concatenate(found, axis=1), full_matrices=False)
    return np.asarray(left[:, sizes > 1e-8 * sizes[0]])


def two_levels(equation: Equation) -> Any:
    """The preconditioner as a LinearOperator."""
    matrix, count = equation.operator, equation.unknowns
    coarse = rigid_columns(equation)
    images = matrix @ coarse if coarse.shape[1] else coarse
    inverse = np.linalg.inv(coarse.T @ images) if coarse.shape[1] else np.zeros((0, 0))
    leaves = [np.sort(leaf) for leaf in clusters(equation.points, LEAF)]
    blocks = [(leaf, np.linalg.inv(equation.block(leaf))) for leaf in leaves]

    def apply(residual: Array) -> Array:
        r = residual.ravel()
        rough = inverse @ (coarse.T @ r)
        x, rest = coarse @ rough, r - images @ rough
        for leaf, block in blocks:
            x[leaf] += block @ rest[leaf]
        return np.asarray(x)

    return LinearOperator((count, count), matvec=apply, dtype=np.float64)
