"""The triangles that carry each function of a space, and boxes around them, by which compression orders functions."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


def support_boxes(space: Any) -> NDArray[np.float64]:
    """(dimension, 2, 3) lower and upper corners of the boxes around the triangles of each function, in m.

    space: a Space, an EdgeSpace or DualTests, with triangles (n,) and dofs (n, L).
    """
    corners = space.mesh.flat_triangles(space.triangles, "a box around functions").corners
    boxes = np.stack([corners.min(axis=1), corners.max(axis=1)], axis=1)  # of the triangles
    local, size = space.dofs.ravel(), space.dofs.shape[1]
    if size == 1 and np.array_equal(local, np.arange(space.dimension)):
        return boxes
    order = np.argsort(local, kind="stable")
    order = order[np.searchsorted(local[order], 0) :]  # without the local functions numbered -1
    sides, starts = boxes[order // size], np.searchsorted(local[order], np.arange(space.dimension))
    parts = [least.reduceat(sides[:, side], starts, axis=0) for side, least in enumerate((np.minimum, np.maximum))]
    return np.stack(parts, axis=1)


def support_middles(space: Any) -> NDArray[np.float64]:
    """(dimension, 3) means of the centroids of the triangles of each function, in m; of a space as above. On a body of
    flat faces they tell functions on different edges and faces apart, which middles of boxes do not."""
    local, size = space.dofs.ravel(), space.dofs.shape[1]
    own = np.flatnonzero(local >= 0)
    middles = space.mesh.vertices[space.mesh.triangles[space.triangles]].mean(axis=1)[own // size]
    counts = np.bincount(local[own], minlength=space.dimension)
    sums = [np.bincount(local[own], middles[:, axis], space.dimension) for axis in range(3)]
    return np.stack(sums, axis=1) / counts[:, None]


class Carriers(NamedTuple):
    """Rows of dofs: those with function f stand from start[f] to start[f + 1] in `rows`."""

    start: NDArray[np.int64]
    rows: NDArray[np.int64]

    def of(self, functions: NDArray[np.int64]) -> NDArray[np.int64]:
        """The rows of dofs with any of these functions, in order."""
        first, count = self.start[functions], self.start[functions + 1] - self.start[functions]
        ends = np.cumsum(count)
        places = np.repeat(first - ends + count, count) + np.arange(count.sum())
        return np.unique(self.rows[places])


def carriers_of(dofs: NDArray[np.int64], dimension: int) -> Carriers:
    """From dofs (n, L), numbers of functions, -1 for none."""
    rows, local = np.nonzero(dofs >= 0)
    functions = dofs[rows, local]
    order = np.argsort(functions, kind="stable")
    return Carriers(np.searchsorted(functions[order], np.arange(dimension + 1)), rows[order])
