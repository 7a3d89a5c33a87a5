"""Which tetrahedron a point lies in."""

import numpy as np
import scipy
from numpy.typing import NDArray

from calderon.mesh.tetrahedra import TetrahedralMesh
from calderon.mesh.tolerances import TOLERANCES
from calderon.validation import points_in_space


class Search:
    """Which tetrahedron of a mesh holds a point. Candidates are those with the nearest centroids: a point farther from
    its own tetrahedron's centroid than from 512 others' is not found, which happens in extreme needles only."""

    def __init__(self, mesh: TetrahedralMesh) -> None:
        corners = mesh.vertices[mesh.tetrahedra]
        self._origins = corners[:, 0]
        self._inverse = np.linalg.inv(np.swapaxes(corners[:, 1:] - corners[:, :1], 1, 2))
        self._tree = scipy.spatial.cKDTree(mesh.centroids)

    def find(self, points: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """(n,) tetrahedra, -1 for points outside, and (n, 3) reference coordinates of points (n, 3).

        ValueError for points of another shape, NaN or infinity.
        """
        points = points_in_space(points)
        found, local = np.full(len(points), -1), np.zeros((len(points), 3))
        for tried in (8, 64, 512):
            count = min(tried, len(self._origins))
            missing = np.flatnonzero(found < 0)
            chunk = max(1, 160_000 // count)  # bounds the memory
            for first in range(0, len(missing), chunk):
                own = missing[first : first + chunk]
                found[own], local[own] = self.among_nearest(points[own], count)
            if count == len(self._origins):
                break
        return found, local

    def among_nearest(self, points: NDArray[np.float64], count: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Tetrahedra of points, searched as by `find`, among the `count` with the nearest centroids, or all if there
        are fewer."""
        candidates = self._tree.query(points, k=min(count, len(self._origins)))[1].reshape(len(points), -1)
        offsets = points[:, None] - self._origins[candidates]
        local = np.einsum("nkij,nkj->nki", self._inverse[candidates], offsets)
        lowest = np.minimum(local.min(axis=2), 1 - local.sum(axis=2))
        best = lowest.argmax(axis=1)
        rows = np.arange(len(points))
        inside = lowest[rows, best] >= -TOLERANCES.same  # points on faces belong to some tetrahedron
        return np.where(inside, candidates[rows, best], -1), local[rows, best] * inside[:, None]


def locate(mesh: TetrahedralMesh, points: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """(n,) tetrahedra and (n, 3) reference coordinates of points (n, 3); ValueError for points outside the mesh, and as
    `Search.find`."""
    found, local = Search(mesh).find(points)
    if (found < 0).any():
        outside = np.flatnonzero(found < 0)
        raise ValueError(
            f"{len(outside)} points are outside the mesh, the first is number {outside[0]}: {points[outside[0]]}"
        )
    return found, local
