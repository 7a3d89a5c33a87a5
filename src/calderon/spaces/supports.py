"""Boxes around the supports of functions: where compression sees the unknowns of a space."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.spaces import DualTests, EdgeSpace, Space


def support_boxes(space: Space | EdgeSpace | DualTests) -> NDArray[np.float64]:
    """(dimension, 2, 3) lower and upper corners of the boxes around the triangles of each function, in m."""
    mesh: Any = space.mesh
    corners = mesh.vertices[mesh.triangles[space.triangles].T]
    boxes = np.stack([corners.min(axis=0), corners.max(axis=0)], axis=1)  # of the triangles
    local, size = space.dofs.ravel(), space.dofs.shape[1]
    if size == 1 and np.array_equal(local, np.arange(space.dimension)):
        return boxes
    order = np.argsort(local, kind="stable")
    order = order[np.searchsorted(local[order], 0) :]  # without local functions that are none
    sides, starts = boxes[order // size], np.searchsorted(local[order], np.arange(space.dimension))
    parts = [least.reduceat(sides[:, side], starts, axis=0) for side, least in enumerate((np.minimum, np.maximum))]
    return np.stack(parts, axis=1)
