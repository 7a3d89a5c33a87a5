"""Where unknowns are, as the choice of rows and columns that judge a block needs it."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.hmatrix.tree.block_tree import BlockTree
from calderon.hmatrix.tree.cluster_tree import ClusterTree

FLAT = 1e-2
"""Extent by the largest one below which clusters are flat along an axis, which counts for no more."""


class Places(NamedTuple):
    """points (3, n): of the unknowns in cluster order. scales (clusters, 3): one over the extents of each cluster."""

    points: NDArray[Any]
    scales: NDArray[Any]

    @classmethod
    def of(cls, tree: ClusterTree, points: NDArray[np.float64] | None, real: np.dtype[Any]) -> "Places":
        """The places of points (n, 3) in the order of the unknowns; without points unknowns stand in line in cluster
        order."""
        count = len(tree.order)
        if points is None:
            line = np.zeros((count, 3))
            line[:, 0] = np.arange(count)
        else:
            line = points[tree.order]
        low, high = (_over_clusters(tree, line, least) for least in (np.minimum, np.maximum))
        extents = high - low
        extents = np.maximum(extents, FLAT * extents.max(axis=1, keepdims=True))
        scales = 1 / np.where(extents > 0, extents, 1.0)
        return cls(np.ascontiguousarray((line - line.mean(axis=0)).T, real), scales.astype(real))


def places_of(
    tree: BlockTree, points: tuple[NDArray[np.float64], NDArray[np.float64]] | None, real: np.dtype[Any]
) -> tuple[NDArray[Any], ...]:
    """Points and scales of the rows, then of the columns of a block tree; points: of both, None for none."""
    one, other = points or (None, None)
    rows = Places.of(tree.rows, one, real)
    return (*rows, *(rows if tree.rows is tree.columns and one is other else Places.of(tree.columns, other, real)))


def _over_clusters(tree: ClusterTree, values: NDArray[np.float64], least: np.ufunc) -> NDArray[np.float64]:
    """(clusters, 3) the least value in each cluster, from the leaves up."""
    found = np.empty((len(tree.start), 3))
    leaves = np.flatnonzero(tree.is_leaf)
    leaves = leaves[np.argsort(tree.start[leaves])]
    found[leaves] = least.reduceat(values, tree.start[leaves], axis=0)
    for level in range(int(tree.level.max()) - 1, -1, -1):
        parents = np.flatnonzero((tree.level == level) & ~tree.is_leaf)
        found[parents] = least(found[tree.children[parents, 0]], found[tree.children[parents, 1]])
    return found
