"""Orders in which neighbours come together, so that data used together are close in memory."""

from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray


def locality_order(points: NDArray[np.float64], leaf: int = 32) -> NDArray[np.int64]:
    """Permutation that puts neighbours together: recursive bisection at the median of the longest extent."""
    return np.asarray(scipy.spatial.cKDTree(points, leafsize=leaf, balanced_tree=True, compact_nodes=True).indices)


def are_in_order(triangles: NDArray[np.integer], mesh: Any) -> bool:
    """Whether these are all triangles of a mesh in the order of its `locality`, which somebody wanted before."""
    return "locality" in vars(mesh) and np.array_equal(triangles, mesh.locality)


def block_order(points: NDArray[np.float64], size: int) -> NDArray[np.int64]:
    """Permutation that puts neighbours into one block of `size`: as `locality_order`, but bisected at whole blocks,
    so that none straddles two ends of the tree."""
    order = np.arange(len(points))
    waiting = [(0, len(points))]
    while waiting:
        first, end = waiting.pop()
        blocks = -(-(end - first) // size)
        if blocks < 2:
            continue
        inside = order[first:end]
        some = points[inside]
        along = some[:, np.argmax(np.ptp(some, axis=0))]
        half = blocks // 2 * size
        order[first:end] = inside[np.argpartition(along, half)]
        waiting += [(first, first + half), (first + half, end)]
    return order
