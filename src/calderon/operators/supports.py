"""Boxes around the supports of functions: where compression sees the unknowns of a space."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.spaces import EdgeSpace, Space


def support_boxes(space: Space | EdgeSpace) -> NDArray[np.float64]:
    """(dimension, 2, 3) lower and upper corners of the boxes around the triangles of each function, in m."""
    mesh: Any = space.mesh
    corners = mesh.vertices[mesh.triangles[space.triangles]]
    boxes = np.empty((space.dimension, 2, 3))
    boxes[:, 0], boxes[:, 1] = np.inf, -np.inf
    for local in space.dofs.T:
        kept = local >= 0
        np.minimum.at(boxes[:, 0], local[kept], corners[kept].min(axis=1))
        np.maximum.at(boxes[:, 1], local[kept], corners[kept].max(axis=1))
    return boxes
