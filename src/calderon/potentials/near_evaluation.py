"""Points near a surface: which triangles are near which points, cut into pieces that a rule integrates."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial import cKDTree

from calderon.mesh import TriangleMesh
from calderon.pairs.near import CHILDREN
from calderon.validation import one_or_more_points

DEGREE = 10
DEEPEST = 12
"""A triangle of size h is halved so many times at most, to h/4096."""
ON = 0.5**DEEPEST
"""Points nearer to a triangle than so many times its size lie on it."""
BESIDE = 4 * ON
"""And are moved off that many times its size: far enough for the smallest pieces, on edges of 30 degrees or more."""
FLAT = 0.1
"""Length of the mean of unit normals below which they say nothing about a side: on edges of less than 11 degrees both
points may then lie on the same side."""
FLOOR = 0.25
"""Distance, in sizes of the smallest pieces, below which a point counts as that far."""
FARTHEST = 1e15
"""Diameters of the surface within which points may lie: squares of their distances fit into single precision, from
which the kernels start their square roots."""


class PointPieces(NamedTuple):
    """Parts of triangles near points: `pair` (n,) the pair, corners (n, 3, 3) barycentric, share (n,) of the area, the
    distance (n,) that counts at least, and the degree of the rule."""

    pair: NDArray[np.int64]
    corners: NDArray[np.float64]
    share: NDArray[np.float64]
    floor: NDArray[np.float64]
    degree: int


class Beside(NamedTuple):
    """Points (m, 3) instead of n, two for each that lies on the surface; owner (m,) which of the n each is; on (k,)
    those on the surface."""

    points: NDArray[np.float64]
    owner: NDArray[np.int64]
    on: NDArray[np.int64]

    def means(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """(n, ...) from values (m, ...): the mean of both sides."""
        if not len(self.on):
            return values
        count = np.bincount(self.owner)
        total = np.zeros((len(count), *values.shape[1:]))
        np.add.at(total, self.owner, values)
        return total / count.reshape(-1, *[1] * (values.ndim - 1))


def beside_surface(mesh: TriangleMesh, triangles: NDArray[np.int64], points: NDArray[np.float64]) -> Beside:
    """Points (n, 3) on some of the triangles, replaced by one on either side, along the mean normal of those they lie
    on: kernels and their gradients have limits there, and no quadrature on the surface itself."""
    pairs, offsets = _near_pairs(mesh, triangles, points, ON)
    every = np.arange(len(points))
    if not len(pairs):
        return Beside(points, every, pairs[:, 0])
    distances = np.linalg.norm(offsets, axis=1)
    order = np.lexsort((distances, pairs[:, 0]))
    (point, triangle), offsets = pairs[order].T, offsets[order]
    on, first = np.unique(point, return_index=True)
    normals = mesh.normals[triangles[triangle]]
    mean = np.add.reduceat(normals, first) / np.diff(np.append(first, len(point)))[:, None]
    length = np.linalg.norm(mean, axis=1, keepdims=True)
    mean = np.where(length > FLAT, mean / np.maximum(length, FLAT), normals[first])
    step = BESIDE * mesh.diameters[triangles[triangle[first]], None] * mean
    places = points[on] - offsets[first]
    off = np.delete(every, on)
    moved = np.concatenate([points[off], places + step, places - step])
    return Beside(moved, np.concatenate([off, on, on]), on)


def near_sources(
    mesh: TriangleMesh, triangles: NDArray[np.int64], points: NDArray[np.float64], reach: float
) -> tuple[NDArray[np.int64], PointPieces]:
    """Pairs (n, 2) of point and place in `triangles` nearer than `reach` times the triangle's size, and their
    pieces."""
    pairs, _ = _near_pairs(mesh, triangles, points, reach)
    return pairs, _pieces(points[pairs[:, 0]], mesh.vertices[mesh.triangles[triangles[pairs[:, 1]]]])


def _near_pairs(
    mesh: TriangleMesh, triangles: NDArray[np.int64], points: NDArray[np.float64], reach: float
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """The pairs of `near_sources`, and from the nearest point of each triangle to the point (n, 3)."""
    corners = mesh.vertices[mesh.triangles[triangles]]
    size = mesh.diameters[triangles]
    centres = corners.mean(axis=1)
    lists = cKDTree(points).query_ball_point(centres, (reach + 0.6) * size, return_sorted=False)
    lengths = np.fromiter(map(len, lists), dtype=np.int64, count=len(lists))
    flat = np.fromiter((j for each in lists for j in each), dtype=np.int64, count=int(lengths.sum()))
    pairs = np.stack([flat, np.repeat(np.arange(len(lists)), lengths)], axis=1)
    offsets = _offsets(points[pairs[:, 0]], corners[pairs[:, 1]])
    near = np.linalg.norm(offsets, axis=1) < reach * size[pairs[:, 1]]
    return pairs[near], offsets[near]


def _pieces(x: NDArray[np.float64], whole: NDArray[np.float64]) -> PointPieces:
    """Cut triangles (n, 3, 3) toward points (n, 3) until each part is no larger than its distance."""
    pair = np.arange(len(x))
    corners = np.broadcast_to(np.eye(3), (len(x), 3, 3))
    done_pair, done_corners, done_share, done_floor = [], [], [], []
    for level in range(DEEPEST + 1):
        parts = corners @ whole[pair]
        size = np.linalg.norm(parts - np.roll(parts, 1, axis=1), axis=2).max(axis=1)
        far = point_distances(x[pair], parts) >= size
        floor = np.where(far, 0.0, FLOOR * size)
        if level == DEEPEST:
            far[:] = True
        done_pair.append(pair[far])
        done_corners.append(corners[far])
        done_share.append(np.full(int(far.sum()), 0.25**level))
        done_floor.append(floor[far])
        if far.all():
            break
        corners = (CHILDREN[None] @ corners[~far][:, None]).reshape(-1, 3, 3)
        pair = np.repeat(pair[~far], 4)
    pair, corners = np.concatenate(done_pair), np.concatenate(done_corners)
    return PointPieces(pair, corners, np.concatenate(done_share), np.concatenate(done_floor), DEGREE)


def point_distances(points: NDArray[np.float64], corners: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n,) distances of points (n, 3) from triangles (n, 3, 3)."""
    return np.asarray(np.linalg.norm(_offsets(points, corners), axis=1))


def _offsets(points: NDArray[np.float64], corners: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n, 3) from the nearest point of each triangle (n, 3, 3) to a point (n, 3)."""
    a, u, v = corners[:, 0], corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    w = points - a

    def dot(p: NDArray[np.float64], q: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.einsum("ni,ni->n", p, q)

    uu, vv, uv, wu, wv = dot(u, u), dot(v, v), dot(u, v), dot(w, u), dot(w, v)
    determinant = uu * vv - uv * uv
    s, t = (vv * wu - uv * wv) / determinant, (uu * wv - uv * wu) / determinant
    inside = (s >= 0) & (t >= 0) & (s + t <= 1)
    best = w - s[:, None] * u - t[:, None] * v
    least = np.where(inside, dot(best, best), np.inf)
    for i in range(3):
        start, along = corners[:, i], corners[:, (i + 1) % 3] - corners[:, i]
        place = np.clip(dot(points - start, along) / dot(along, along), 0, 1)
        offset = points - start - place[:, None] * along
        square = dot(offset, offset)
        best = np.where((square < least)[:, None], offset, best)
        least = np.minimum(square, least)
    return best


def checked_points(points: ArrayLike, mesh: TriangleMesh) -> NDArray[np.float64]:
    """Points (n, 3) from points (n, 3) or (3,); TypeError for what is not real, ValueError for another shape, NaN,
    infinity and points too far from the mesh for a kernel."""
    x = one_or_more_points(points)
    away = np.abs(x - mesh.vertices[0]).max(axis=1)
    if len(far := np.flatnonzero(away > FARTHEST * mesh.diameter)):
        raise ValueError(
            f"{len(far)} of {len(x)} points are farther than {FARTHEST:g} diameters from the surface, the first is "
            f"number {far[0]} at {x[far[0]].tolist()}: check their unit, or take far_field(directions)"
        )
    return x
