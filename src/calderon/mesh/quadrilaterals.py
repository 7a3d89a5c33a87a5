"""Quadrilaterals cut into triangles."""

import numpy as np
from numpy.typing import NDArray


def split_quadrilaterals(quads: NDArray, points: NDArray) -> NDArray[np.int64]:
    """Triangles (2 n, 3), two after each other for each of the quads (n, 4) with corners among the points (np, 2 or 3).

    They are cut along the shorter diagonal, or along the inner one where the other lies outside or on an edge: its two
    triangles do not face the same side.
    """
    cuts = np.array([[[0, 1, 2], [0, 2, 3]], [[0, 1, 3], [1, 2, 3]]])
    corners = np.zeros((*quads.shape, 3))
    corners[..., : points.shape[1]] = points[quads]
    lengths = [np.linalg.norm(corners[:, i] - corners[:, i + 2], axis=1) for i in (0, 1)]
    inner = []
    for cut in cuts:
        a, b, c = np.moveaxis(corners[:, cut], 2, 0)
        normals = np.cross(b - a, c - a)
        inner.append(np.einsum("ni,ni->n", normals[:, 0], normals[:, 1]) > 0)
    shorter = lengths[0] <= lengths[1] * (1 + 1e-12)
    first = np.where(inner[0] == inner[1], shorter, inner[0])
    return np.asarray(np.where(first[:, None, None], quads[:, cuts[0]], quads[:, cuts[1]]).reshape(-1, 3))
