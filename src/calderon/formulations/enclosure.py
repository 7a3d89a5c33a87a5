"""Which points a closed surface encloses."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.mesh import TriangleMesh

_PAIRS_AT_ONCE = 2_000_000


def winding_numbers(mesh: TriangleMesh, points: ArrayLike) -> NDArray[np.float64]:
    """(n,) solid angle of the surface over 4 pi at points (n, 3): 1 inside and 0 outside of a closed surface.

    Sum over triangles of the signed solid angle w, with the corners a, b, c seen from the point,
    tan(w/2) = a.(b x c) / (|a||b||c| + (a.b)|c| + (a.c)|b| + (b.c)|a|):
    A. van Oosterom and J. Strackee, IEEE Trans. Biomed. Eng. 30 (1983) 125.
    """
    x = np.asarray(points, dtype=float)
    corners = mesh.vertices[mesh.triangles]
    turns = np.empty(len(x))
    step = max(1, _PAIRS_AT_ONCE // len(corners))
    for first in range(0, len(x), step):
        part = slice(first, first + step)
        a, b, c = (corners[None, :, i] - x[part, None] for i in range(3))
        la, lb, lc = (np.linalg.norm(v, axis=2) for v in (a, b, c))
        ab, ac, bc = (np.einsum("pti,pti->pt", v, w) for v, w in ((a, b), (a, c), (b, c)))
        volume = np.einsum("pti,pti->pt", a, np.cross(b, c))
        angles = 2 * np.arctan2(volume, la * lb * lc + ab * lc + ac * lb + bc * la)
        turns[part] = angles.sum(axis=1) / (4 * np.pi)
    return turns


def enclosed(mesh: TriangleMesh, points: ArrayLike) -> NDArray[np.bool_]:
    """(n,) whether each point (n, 3) lies inside the closed surface."""
    return winding_numbers(mesh, points) > 0.5
