"""Boxes around the supports of functions: where compression sees the unknowns of a space."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.spaces import EdgeSpace, Space


def support_boxes(space: Space | EdgeSpace) -> NDArray[np.float64]:
    """(dimension, 2, 3) lower and upper corners of the boxes around the triangles of each function, in m."""
    mesh: Any = space.mesh
    corners = mesh.vertices[mesh.triangles[space.triangles]]
    local = space.dofs.ravel()
    order = np.argsort(local, kind="stable")
    order = order[np.searchsorted(local[order], 0) :]  # without local functions that are none
    triangles, starts = order // space.dofs.shape[1], np.searchsorted(local[order], np.arange(space.dimension))
    boxes = np.empty((space.dimension, 2, 3))
    boxes[:, 0] = np.minimum.reduceat(corners.min(axis=1)[triangles], starts, axis=0)
    boxes[:, 1] = np.maximum.reduceat(corners.max(axis=1)[triangles], starts, axis=0)
    return boxes
