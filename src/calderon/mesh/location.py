"""Which tetrahedron a point lies in."""

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from calderon.mesh.tetrahedra import TetrahedralMesh

TOLERANCE = 1e-9
"""Barycentric coordinates may be that much below zero: points on faces and on the boundary belong to some element."""


def locate(mesh: TetrahedralMesh, points: NDArray[np.float64]) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """(n,) tetrahedra and (n, 3) reference coordinates of points (n, 3).

    Candidates are the tetrahedra of the nearest centroids, then those whose circumscribed spheres hold the point.
    Raises ValueError for points of another shape, NaN, and points outside the mesh.
    """
    if points.ndim != 2 or points.shape[1] != 3 or not np.isfinite(points).all():
        raise ValueError(f"points of shape {points.shape}: finite numbers of shape (n, 3) are needed")
    corners = mesh.vertices[mesh.tetrahedra]
    inverse = np.linalg.inv(np.swapaxes(corners[:, 1:] - corners[:, :1], 1, 2))
    tree = cKDTree(mesh.centroids)
    found = np.full(len(points), -1)
    local = np.zeros((len(points), 3))
    tried = 8
    while (found < 0).any() and tried <= 8 * mesh.number_of_tetrahedra:
        open_points = np.flatnonzero(found < 0)
        count = min(tried, mesh.number_of_tetrahedra)
        candidates = tree.query(points[open_points], k=count)[1].reshape(len(open_points), -1)
        offsets = points[open_points, None] - corners[candidates, 0]
        xi = np.einsum("nkij,nkj->nki", inverse[candidates], offsets)
        lowest = np.minimum(xi.min(axis=2), 1 - xi.sum(axis=2))
        best = lowest.argmax(axis=1)
        rows = np.arange(len(open_points))
        inside = lowest[rows, best] >= -TOLERANCE
        found[open_points[inside]] = candidates[rows, best][inside]
        local[open_points[inside]] = xi[rows, best][inside]
        if count == mesh.number_of_tetrahedra or tried >= 512:
            break
        tried *= 8
    if (found < 0).any():
        outside = np.flatnonzero(found < 0)
        raise ValueError(
            f"{len(outside)} points are outside the mesh, the first is number {outside[0]}: {points[outside[0]]}"
        )
    return found, local
