"""Cluster trees: unknowns sorted so that neighbours stand together, and a binary tree of runs of that order."""

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.backends.numba import jitable_part, kernel
from calderon.galerkin.rows.entry_kernels import Clusters


@dataclass(frozen=True, eq=False)
class ClusterTree:
    """Clusters of n unknowns; number 0 is the root, children come after their parents, level by level.

    order (n,): the unknown at each position. start, stop (clusters,): positions of each cluster. boxes (clusters, 2,
    3): lowest and highest corner of the supports of its unknowns, in metres. children (clusters, 2): -1 for a leaf.
    level (clusters,): 0 for the root.
    """

    order: NDArray[np.int64]
    start: NDArray[np.int64]
    stop: NDArray[np.int64]
    boxes: NDArray[np.float64]
    children: NDArray[np.int64]
    level: NDArray[np.int64]

    @cached_property
    def clusters(self) -> Clusters:
        """The clusters as assembly of rows and columns reads them."""
        return Clusters(self.order, self.start, self.stop)

    @property
    def size(self) -> NDArray[np.int64]:
        """(clusters,) unknowns in each cluster."""
        return self.stop - self.start

    @cached_property
    def diameter(self) -> NDArray[np.float64]:
        """(clusters,) diagonals of the boxes, in metres."""
        return np.linalg.norm(self.boxes[:, 1] - self.boxes[:, 0], axis=1)

    @cached_property
    def is_leaf(self) -> NDArray[np.bool_]:
        """(clusters,) whether a cluster has no children."""
        return self.children[:, 0] < 0

    @property
    def parent(self) -> NDArray[np.int64]:
        """(clusters,) the cluster that each is a part of; the root is its own."""
        parent, divided = np.zeros(len(self.start), np.int64), np.flatnonzero(~self.is_leaf)
        parent[self.children[divided].ravel()] = np.repeat(divided, 2)
        return parent

    def __repr__(self) -> str:
        return f"cluster tree of {len(self.order)} unknowns, {len(self.start)} clusters, {self.level.max() + 1} levels"


def cluster_tree(boxes: ArrayLike, leaf: int = 32) -> ClusterTree:
    """Bisect at the median of the longest side until at most `leaf` unknowns are left.

    boxes (n, 2, 3): lowest and highest corner of the support of each unknown; (n, 3) for points. Clusters are cut at
    multiples of `leaf`, so that all leaves but the last are full. ValueError for other shapes and for leaf < 1.
    """
    boxes = np.asarray(boxes, dtype=float)
    if boxes.ndim == 2:
        boxes = np.repeat(boxes[:, None], 2, axis=1)
    if boxes.ndim != 3 or boxes.shape[1:] != (2, 3) or not len(boxes):
        raise ValueError(f"a cluster tree needs boxes (n, 2, 3) or points (n, 3) of n > 0 unknowns, got {boxes.shape}")
    if leaf < 1:
        raise ValueError(f"leaf={leaf}: a leaf holds at least one unknown, such as 32")
    most = 2 * math.ceil(len(boxes) / leaf)  # all leaves but the last are full
    order, level = np.arange(len(boxes)), np.zeros(most, np.int64)
    ends, children = np.empty((most, 2), np.int64), np.empty((most, 2), np.int64)
    found = np.empty((most, 2, 3))
    count = bisect(np.ascontiguousarray(boxes.mean(axis=1)), np.ascontiguousarray(boxes), leaf, order, ends, children,
                   level, found)  # fmt: skip
    ends = ends[:count].copy()
    return ClusterTree(
        order, ends[:, 0], ends[:, 1], found[:count].copy(), children[:count].copy(), level[:count].copy()
    )


@jitable_part
def select(values, order, lo, hi, place):
    """Put order[lo:hi] so that values before `place` are none larger, those from there on none smaller (C. A. R. Hoare,
    Comm. ACM 4 (1961) 321)."""
    low, high = lo, hi - 1
    while low < high:
        # the median of three as pivot; swap pairs on its wrong sides
        first, middle, last = values[order[low]], values[order[(low + high) // 2]], values[order[high]]
        pivot = max(min(first, middle), min(max(first, middle), last))
        i, j = low, high
        while i <= j:
            while values[order[i]] < pivot:
                i += 1
            while values[order[j]] > pivot:
                j -= 1
            if i <= j:
                order[i], order[j] = order[j], order[i]
                i += 1
                j -= 1
        # go on in the part that holds `place`
        if place <= j:
            high = j
        elif place >= i:
            low = i
        else:
            return


@kernel
def bisect(centres, supports, leaf, order, ends, children, level, boxes):
    """Fill the arrays of a ClusterTree by bisection along the longest axis; return the number of clusters.

    centres (n, 3): places of the unknowns; supports (n, 2, 3): corners of the boxes around their supports; leaf:
    unknowns of a leaf at most; order (n,): the unknowns, sorted here; ends, children (clusters, 2), level (clusters,),
    boxes (clusters, 2, 3): see `ClusterTree`, ends are start and stop.
    """
    count, cluster = 1, 0
    ends[0, 0], ends[0, 1] = 0, len(order)
    values = np.empty(len(order))
    while cluster < count:
        lo, hi = ends[cluster]
        children[cluster] = -1
        if hi - lo > leaf:
            # the longest axis of the box of centres
            axis, longest = 0, -1.0
            for c in range(3):
                least = most = centres[order[lo], c]
                for k in range(lo + 1, hi):
                    value = centres[order[k], c]
                    least, most = min(least, value), max(most, value)
                if most - least > longest:
                    axis, longest = c, most - least
            # two halves along it, with whole leaves in the first one
            for k in range(lo, hi):
                values[order[k]] = centres[order[k], axis]
            leaves = (hi - lo + leaf - 1) // leaf
            half = lo + leaf * ((leaves + 1) // 2)
            select(values, order, lo, hi, half)
            for side in range(2):
                children[cluster, side] = count + side
                level[count + side] = level[cluster] + 1
            ends[count, 0], ends[count, 1] = lo, half
            ends[count + 1, 0], ends[count + 1, 1] = half, hi
            count += 2
        cluster += 1
    # boxes of supports, from leaves up
    for cluster in range(count - 1, -1, -1):
        for c in range(3):
            low, high = np.inf, -np.inf
            if children[cluster, 0] < 0:
                for k in range(ends[cluster, 0], ends[cluster, 1]):
                    low, high = min(low, supports[order[k], 0, c]), max(high, supports[order[k], 1, c])
            for child in children[cluster]:
                if child >= 0:
                    low, high = min(low, boxes[child, 0, c]), max(high, boxes[child, 1, c])
            boxes[cluster, 0, c], boxes[cluster, 1, c] = low, high
    return count
