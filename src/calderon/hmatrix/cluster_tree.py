"""Cluster trees: unknowns sorted so that neighbours stand together, and a binary tree of runs of that order."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.operators.compiled_rows import Clusters


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

    @property
    def clusters(self) -> Clusters:
        """What assembly of rows and columns needs to know."""
        return Clusters(self.order, self.start, self.stop)

    @property
    def size(self) -> NDArray[np.int64]:
        """(clusters,) unknowns in each cluster."""
        return self.stop - self.start

    @property
    def diameter(self) -> NDArray[np.float64]:
        """(clusters,) diagonals of the boxes, in metres."""
        return np.linalg.norm(self.boxes[:, 1] - self.boxes[:, 0], axis=1)

    @property
    def is_leaf(self) -> NDArray[np.bool_]:
        """(clusters,) whether a cluster has no children."""
        return self.children[:, 0] < 0

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
    centres = np.ascontiguousarray(boxes.mean(axis=1))
    order = np.arange(len(boxes))
    start, stop, level = [0], [len(boxes)], [0]
    children: list[tuple[int, int]] = []
    while len(children) < len(start):
        cluster = len(children)
        lo, hi = start[cluster], stop[cluster]
        if hi - lo <= leaf:
            children.append((-1, -1))
            continue
        half = leaf * math.ceil(math.ceil((hi - lo) / leaf) / 2)
        points = centres[order[lo:hi]]
        axis = np.argmax(points.max(axis=0) - points.min(axis=0))
        order[lo:hi] = order[lo:hi][np.argpartition(points[:, axis], half)]
        children.append((len(start), len(start) + 1))
        start += [lo, lo + half]
        stop += [lo + half, hi]
        level += [level[cluster] + 1] * 2
    low, high = (np.append(boxes[order, side], boxes[:1, side], axis=0) for side in (0, 1))
    ends = np.stack([start, stop], axis=1)
    found = np.empty((len(start), 2, 3))
    levels = np.asarray(level)
    for each in range(level[-1] + 1):
        here = levels == each
        found[here, 0] = np.minimum.reduceat(low, ends[here].ravel(), axis=0)[::2]
        found[here, 1] = np.maximum.reduceat(high, ends[here].ravel(), axis=0)[::2]
    return ClusterTree(order, ends[:, 0], ends[:, 1], found, np.asarray(children), levels)
