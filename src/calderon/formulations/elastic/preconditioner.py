"""An approximate inverse for elastic solids: blocks of neighbouring unknowns, and rigid motions of clusters of them.

First a small problem for the rigid motions of clusters of unknowns, then the inverses of diagonal blocks applied to
what is left of the residual (M. Bebendorf 2008, section 3; two levels, multiplicative).
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from calderon.formulations.elastic.equations import Equation

Array = NDArray[np.float64]
LEAF, CLUSTER = 60, 400
"""Unknowns of a block, and of a cluster that moves as a rigid body."""
FEWEST = 30
"""Unknowns of a kind, displacements or tractions, that a cluster has rigid motions for."""


def clusters(points: Array, numbers: NDArray[np.int64], size: int) -> list[NDArray[np.int64]]:
    """The numbers in groups of at most so many, halved along the longest side of their box."""
    if len(numbers) <= size:
        return [numbers]
    axis = int(np.argmax(np.ptp(points[numbers], axis=0)))
    order = numbers[np.argsort(points[numbers, axis], kind="stable")]
    middle = len(order) // 2
    return clusters(points, order[:middle], size) + clusters(points, order[middle:], size)


def rigid_columns(equation: Equation) -> Array:
    """(n, k) orthonormal columns: rigid motions of the displacements and of the tractions of each cluster."""
    count = len(equation.points)
    found = []
    for cluster in clusters(equation.points, np.arange(count), CLUSTER):
        displacements = cluster < equation.displacements
        for part in (cluster[displacements], cluster[~displacements]):
            if len(part) < FEWEST:
                continue
            x, axes = equation.points[part] - equation.points[part].mean(axis=0), equation.axes[part]
            for axis in np.eye(3):
                for values in (axes @ axis, np.einsum("ni,ni->n", axes, np.cross(axis, x))):
                    column = np.zeros(count)
                    column[part] = values
                    found.append(column)
    if not found:
        return np.zeros((count, 0))
    left, sizes, _ = np.linalg.svd(np.stack(found, axis=1), full_matrices=False)
    return np.asarray(left[:, sizes > 1e-8 * sizes[0]])


def two_levels(equation: Equation) -> Any:
    """The preconditioner as a LinearOperator."""
    matrix, count = equation.operator, equation.unknowns
    coarse = rigid_columns(equation)
    images = matrix @ coarse if coarse.shape[1] else coarse
    inverse = np.linalg.inv(coarse.T @ images) if coarse.shape[1] else np.zeros((0, 0))
    leaves = [np.sort(leaf) for leaf in clusters(equation.points, np.arange(count), LEAF)]
    blocks = [(leaf, np.linalg.inv(equation.block(leaf))) for leaf in leaves]

    def apply(residual: Array) -> Array:
        r = residual.ravel()
        rough = inverse @ (coarse.T @ r)
        x, rest = coarse @ rough, r - images @ rough
        for leaf, block in blocks:
            x[leaf] += block @ rest[leaf]
        return np.asarray(x)

    return LinearOperator((count, count), matvec=apply, dtype=np.float64)
