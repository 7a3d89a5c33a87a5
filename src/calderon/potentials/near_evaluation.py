"""Points near a surface: which triangles are near which points, and which points lie on one."""

from collections.abc import Iterator
from itertools import chain
from typing import Any, NamedTuple

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from calderon.mesh import TriangleMesh
from calderon.mesh.geometry import FlatTriangles, Geometry
from calderon.validation import one_or_more_points


class Limits(NamedTuple):
    """Which points lie on a surface, and how far from it they may be."""

    on: float = 1e-14
    """Points nearer to a triangle than so many times its size lie on it, or nearer than `rounding` of their
    coordinates."""
    rounding: float = 8.0
    """Units in the last place of the largest coordinate, in the precision in which points are given."""
    offset: float = 1e-8
    """Points on a triangle are moved off that many times its size, to either side."""
    flat: float = 0.1
    """Length of the mean of unit normals below which they say nothing about a side: on edges of less than 11 degrees
    both points may then lie on the same side."""
    pairs: int = 50_000
    """Pairs of a point and a triangle that are held at a time."""
    farthest: float = 1e15
    """Diameters of the surface within which points may lie: squares of their distances fit into single precision, from
    which the kernels start their square roots."""


LIMITS = Limits()


class OffSurface(NamedTuple):
    """Points (m, 3) instead of n, two for each that lies on the surface; owner (m,) which of the n each is; on (k,)
    those on the surface."""

    points: NDArray[np.float64]
    owner: NDArray[np.int64]
    on: NDArray[np.int64]

    def means(self, values: NDArray[Any]) -> NDArray[Any]:
        """(n, ...) from values (m, ...): the mean of both sides."""
        if not len(self.on):
            return values
        count = np.bincount(self.owner)
        total = np.zeros((len(count), *values.shape[1:]), values.dtype)
        np.add.at(total, self.owner, values)
        return total / count.reshape(-1, *[1] * (values.ndim - 1))


def off_surface(surface: FlatTriangles, points: NDArray[np.float64], digits: float = 0.0) -> OffSurface:
    """Points (n, 3) on triangles, replaced by one on either side, along the mean normal of those they lie
    on: kernels and their gradients have limits there. digits: the relative precision of the points as given."""
    digits = max(digits, float(np.finfo(float).eps))
    extent = float(np.abs(surface.corners).max())
    sizes = surface.diameters
    reach = np.maximum(LIMITS.on * sizes, LIMITS.rounding * digits * extent)
    pairs, offsets = _touching_pairs(surface, points, reach)
    every = np.arange(len(points))
    if not len(pairs):
        return OffSurface(points, every, pairs[:, 0])
    distances = np.linalg.norm(offsets, axis=1)
    order = np.lexsort((distances, pairs[:, 0]))
    (point, triangle), offsets = pairs[order].T, offsets[order]
    on, first = np.unique(point, return_index=True)
    normals = surface.normals[triangle]
    mean = np.add.reduceat(normals, first) / np.diff(np.append(first, len(point)))[:, None]
    length = np.linalg.norm(mean, axis=1, keepdims=True)
    mean = np.where(length > LIMITS.flat, mean / np.maximum(length, LIMITS.flat), normals[first])
    step = np.maximum(LIMITS.offset * sizes[triangle[first]], 64 * np.finfo(float).eps * extent)[:, None] * mean
    places = points[on] - offsets[first]
    off = np.delete(every, on)
    moved = np.concatenate([points[off], places + step, places - step])
    return OffSurface(moved, np.concatenate([off, on, on]), on)


def near_pairs(
    surface: Geometry, points: NDArray[np.float64], reach: float | NDArray[np.float64]
) -> Iterator[NDArray[np.int64]]:
    """Pairs (n, 2) of point and triangle that are nearer than `reach` times the triangle's size (one
    number, or one for each), and some more, LIMITS.pairs at a time at most, in the order of triangles."""
    centres, radii = surface.centroids, (reach + 0.6) * surface.diameters
    tree = scipy.spatial.cKDTree(points)
    counts = tree.query_ball_point(centres, radii, return_length=True)
    chosen = np.flatnonzero(counts)
    groups = np.cumsum(counts[chosen]) // LIMITS.pairs
    for group in np.split(chosen, np.flatnonzero(np.diff(groups)) + 1):
        lists = tree.query_ball_point(centres[group], radii[group], return_sorted=False)
        found = np.fromiter(chain.from_iterable(lists), np.int64, counts[group].sum())
        pairs = np.stack([found, np.repeat(group, counts[group])], axis=1)
        yield from (pairs[start : start + LIMITS.pairs] for start in range(0, len(pairs), LIMITS.pairs))


def _touching_pairs(
    surface: FlatTriangles, points: NDArray[np.float64], reach: NDArray[np.float64]
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Pairs (n, 2) of point and triangle nearer than that (m,), and from the nearest point of each triangle
    to the point (n, 3)."""
    kept, offsets = [np.zeros((0, 2), np.int64)], [np.zeros((0, 3))]
    for pairs in near_pairs(surface, points, reach / surface.diameters):
        away = _offsets(points[pairs[:, 0]], surface.corners[pairs[:, 1]])
        near = np.linalg.norm(away, axis=1) < reach[pairs[:, 1]]
        kept.append(pairs[near])
        offsets.append(away[near])
    return np.concatenate(kept), np.concatenate(offsets)


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
    if len(far := np.flatnonzero(away > LIMITS.farthest * mesh.diameter)):
        raise ValueError(
            f"{len(far)} of {len(x)} points are farther than {LIMITS.farthest:g} diameters from the surface, the first "
            f"is number {far[0]} at {x[far[0]].tolist()}: check their unit, or take far_field(directions)"
        )
    return x


def digits_of(points: ArrayLike) -> float:
    """The relative precision of points as given: that of their type if it is a floating-point one, else 0."""
    kind = np.asarray(points).dtype
    return float(np.finfo(kind).eps) if kind.kind == "f" else 0.0
