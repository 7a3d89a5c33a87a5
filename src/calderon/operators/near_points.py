"""Points near a surface: which triangles are near which points, cut into pieces that a rule integrates."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from calderon.mesh import TriangleMesh
from calderon.operators.near import CHILDREN

DEGREE = 10
DEEPEST = 12


class PointPieces(NamedTuple):
    """Parts of triangles near points: `pair` (n,) the pair, corners (n, 3, 3) barycentric, share (n,) of the area,
    the degree
    of the rule, and the pairs (m,) whose point lies on the triangle to within h/4096."""

    pair: NDArray[np.int64]
    corners: NDArray[np.float64]
    share: NDArray[np.float64]
    degree: int
    on_surface: NDArray[np.int64]


def near_sources(
    mesh: TriangleMesh, triangles: NDArray[np.int64], points: NDArray[np.float64], reach: float
) -> tuple[NDArray[np.int64], PointPieces]:
    """Pairs (n, 2) of point and place in `triangles` nearer than `reach` times the triangle's size, and their
    pieces."""
    corners = mesh.vertices[mesh.triangles[triangles]]
    size = mesh.diameters[triangles]
    centres = corners.mean(axis=1)
    lists = cKDTree(points).query_ball_point(centres, (reach + 0.6) * size, return_sorted=False)
    lengths = np.fromiter(map(len, lists), dtype=np.int64, count=len(lists))
    flat = np.fromiter((j for each in lists for j in each), dtype=np.int64, count=int(lengths.sum()))
    pairs = np.stack([flat, np.repeat(np.arange(len(lists)), lengths)], axis=1)
    x, whole = points[pairs[:, 0]], corners[pairs[:, 1]]
    near = point_distances(x, whole) < reach * size[pairs[:, 1]]
    pairs = pairs[near]
    return pairs, _pieces(x[near], whole[near])


def _pieces(x: NDArray[np.float64], whole: NDArray[np.float64]) -> PointPieces:
    """Cut triangles (n, 3, 3) toward points (n, 3) until each part is no larger than its distance."""
    pair = np.arange(len(x))
    corners = np.broadcast_to(np.eye(3), (len(x), 3, 3))
    done_pair, done_corners, done_share = [], [], []
    on_surface = np.zeros(0, dtype=np.int64)
    for level in range(DEEPEST + 1):
        parts = corners @ whole[pair]
        size = np.linalg.norm(parts - np.roll(parts, 1, axis=1), axis=2).max(axis=1)
        far = point_distances(x[pair], parts) >= size
        if level == DEEPEST:
            on_surface = np.unique(pair[~far])
            far[:] = True
        done_pair.append(pair[far])
        done_corners.append(corners[far])
        done_share.append(np.full(int(far.sum()), 0.25**level))
        if far.all():
            break
        corners = (CHILDREN[None] @ corners[~far][:, None]).reshape(-1, 3, 3)
        pair = np.repeat(pair[~far], 4)
    return PointPieces(
        np.concatenate(done_pair), np.concatenate(done_corners), np.concatenate(done_share), DEGREE, on_surface
    )


def point_distances(points: NDArray[np.float64], corners: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n,) distances of points (n, 3) from triangles (n, 3, 3)."""
    a, u, v = corners[:, 0], corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    w = points - a

    def dot(p: NDArray[np.float64], q: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.einsum("ni,ni->n", p, q)

    uu, vv, uv, wu, wv = dot(u, u), dot(v, v), dot(u, v), dot(w, u), dot(w, v)
    determinant = uu * vv - uv * uv
    s, t = (vv * wu - uv * wv) / determinant, (uu * wv - uv * wu) / determinant
    inside = (s >= 0) & (t >= 0) & (s + t <= 1)
    best = np.where(inside, np.linalg.norm(w - s[:, None] * u - t[:, None] * v, axis=1), np.inf)
    for i in range(3):
        start, along = corners[:, i], corners[:, (i + 1) % 3] - corners[:, i]
        place = np.clip(dot(points - start, along) / dot(along, along), 0, 1)
        best = np.minimum(best, np.linalg.norm(points - start - place[:, None] * along, axis=1))
    return best
