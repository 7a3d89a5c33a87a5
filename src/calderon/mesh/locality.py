"""Orders in which neighbours come together, so that what is used together lies together in memory."""

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree


def locality_order(points: NDArray[np.float64], leaf: int = 32) -> NDArray[np.int64]:
    """Permutation that puts neighbours together: recursive bisection at the median of the longest extent."""
    return np.asarray(cKDTree(points, leafsize=leaf, balanced_tree=True, compact_nodes=True).indices)
