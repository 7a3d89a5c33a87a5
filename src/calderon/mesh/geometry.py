"""Triangles in space as images of the reference triangle (0,0), (1,0), (0,1): what integrals over a surface need.

Two kinds with the same verbs: `FlatTriangles` are affine images, whose normals and Jacobians are constant on a
triangle, so that loops keep them outside; those of `CurvedTriangles` differ from point to point. Compiled kernels read
flat triangles only.
"""

from abc import ABC, abstractmethod
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from calderon.backends.numba import kernel, read_only

Array = NDArray[np.float64]
OUTLINE = np.array([[0, 0], [1, 0], [0, 1], [0.5, 0], [0.5, 0.5], [0, 0.5]])


class Rule(Protocol):
    """Quadrature on the reference triangle: points (q, 2), weights (q,) with the sum 1/2."""

    @property
    def points(self) -> Array: ...

    @property
    def weights(self) -> Array: ...


class FlatTriangles(NamedTuple):
    """Triangles with straight edges: corners (n, 3, 3), unit normals (n, 3), jacobian (n,) twice the area."""

    corners: Array
    normals: Array
    jacobian: Array

    def take(self, numbers: NDArray[np.integer]) -> "FlatTriangles":
        """The triangles of these numbers (m,)."""
        return FlatTriangles(*(each.take(numbers, axis=0) for each in self))

    def parts(self, numbers: NDArray[np.integer], parts: Array) -> "FlatTriangles":
        """Parts (m, 3, 3), barycentric coordinates of their corners, of the triangles of these numbers (m,)."""
        corners = parts @ self.corners[numbers]
        jacobian = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
        return FlatTriangles(corners, self.normals[numbers], jacobian)

    @property
    def centroids(self) -> Array:
        """(n, 3)."""
        a, b, c = self.corners.swapaxes(0, 1)
        return np.asarray((a + b + c) / 3)

    @property
    def diameters(self) -> Array:
        """(n,) the longest edges."""
        return np.asarray(np.linalg.norm(np.roll(self.corners, -1, axis=1) - self.corners, axis=2).max(axis=1))

    @property
    def curls(self) -> Array:
        """(n, 3, 3) surface curls n x grad l_a of the linear functions: the opposite edge over twice the area."""
        edges = np.roll(self.corners, -1, axis=1) - np.roll(self.corners, -2, axis=1)
        return edges / self.jacobian[:, None, None]

    def points(self, reference: Array) -> Array:
        """(n, q, 3) images of reference points (q, 2)."""
        u, v = np.asarray(reference, dtype=float).T
        return np.asarray(np.stack([1 - u - v, u, v]).T @ self.corners)

    def weights(self, rule: Rule) -> Array:
        """(n, q) weights of a rule on the triangles."""
        return self.jacobian[:, None] * rule.weights

    def normals_at(self, reference: Array) -> Array:
        """(n, q, 3) unit normals at reference points (q, 2)."""
        return np.repeat(self.normals[:, None], len(reference), axis=1)

    def area_vectors_at(self, reference: Array) -> Array:
        """(n, q, 3) the same times the Jacobian."""
        return np.repeat((self.normals * self.jacobian[:, None])[:, None], len(reference), axis=1)

    def gradients(self, reference: Array, gradients: Array) -> Array:
        """(n, size, q, 3) surface gradients of functions with gradients (size, q, 2) at reference points (q, 2)."""
        tangents = self.corners[:, 1:] - self.corners[:, :1]
        return np.einsum("sqd,ndc->nsqc", gradients, _reciprocal(tangents))


class CurvedTriangles(ABC):
    """Triangles whose Jacobian differs from point to point. A kind of curved elements defines `take`, `points` and
    `tangents`."""

    @abstractmethod
    def take(self, numbers: NDArray[np.integer]) -> "CurvedTriangles":
        """The triangles of these numbers (m,)."""

    @abstractmethod
    def points(self, reference: Array) -> Array:
        """(n, q, 3) images of reference points (q, 2)."""

    @abstractmethod
    def tangents(self, reference: Array) -> Array:
        """(n, q, 2, 3) derivatives of `points` with respect to both reference coordinates."""

    @property
    def centroids(self) -> Array:
        """(n, 3) images of the centroid of the reference triangle."""
        return self.points(np.full((1, 2), 1 / 3))[:, 0]

    @property
    def diameters(self) -> Array:
        """(n,) the longest distances between corners and middles of edges."""
        outline = self.points(OUTLINE)
        return np.asarray(np.linalg.norm(outline[:, :, None] - outline[:, None], axis=3).max(axis=(1, 2)))

    def weights(self, rule: Rule) -> Array:
        """(n, q) weights of a rule on the triangles."""
        return np.linalg.norm(self.area_vectors_at(rule.points), axis=2) * rule.weights

    def normals_at(self, reference: Array) -> Array:
        """(n, q, 3) unit normals at reference points (q, 2)."""
        vectors = self.area_vectors_at(reference)
        return np.asarray(vectors / np.linalg.norm(vectors, axis=2, keepdims=True))

    def area_vectors_at(self, reference: Array) -> Array:
        """(n, q, 3) the same times the Jacobian."""
        first, second = np.moveaxis(self.tangents(reference), 2, 0)
        return np.cross(first, second)

    def gradients(self, reference: Array, gradients: Array) -> Array:
        """(n, size, q, 3) surface gradients of functions with gradients (size, q, 2) at reference points (q, 2)."""
        return np.einsum("sqd,nqdc->nsqc", gradients, _reciprocal(self.tangents(reference)))


Geometry = FlatTriangles | CurvedTriangles


def _reciprocal(tangents: Array) -> Array:
    """Vectors (..., 2, 3) of the tangent plane whose products with two tangents (..., 2, 3) are the unit matrix."""
    first, second = tangents[..., 0, :], tangents[..., 1, :]
    normal = np.cross(first, second)
    dual = np.stack([np.cross(second, normal), np.cross(normal, first)], axis=-2)
    return np.asarray(dual / np.einsum("...c,...c->...", normal, normal)[..., None, None])


class Extents(NamedTuple):
    """Extents of triangles: centroids (n, 3), largest distances of a corner from it (n,), longest edges (n,), and these
    over the height on them (n,)."""

    centre: NDArray[np.float64]
    radius: NDArray[np.float64]
    size: NDArray[np.float64]
    stretch: NDArray[np.float64]


def extents(corners: NDArray[np.float64]) -> Extents:
    """Extents of triangles with corners (n, 3, 3)."""
    found = Extents(np.empty((len(corners), 3)), *np.empty((3, len(corners))))
    _put_extents(np.ascontiguousarray(corners), found)
    return found


@kernel
def _put_extents(corners, out):
    """Fill out (`Extents`) for triangles with corners (n, 3, 3)."""
    for n in range(corners.shape[0]):
        for c in range(3):
            out.centre[n, c] = (corners[n, 0, c] + corners[n, 1, c] + corners[n, 2, c]) / 3
        # the farthest corner and the longest edge, squared
        radius, size = 0.0, 0.0
        for a in range(3):
            b = a + 1 if a < 2 else 0
            far, edge = 0.0, 0.0
            for c in range(3):
                far += (corners[n, a, c] - out.centre[n, c]) ** 2
                edge += (corners[n, a, c] - corners[n, b, c]) ** 2
            radius, size = max(radius, far), max(size, edge)
        # twice the area, squared, from two edges
        u0, v0 = corners[n, 1, 0] - corners[n, 0, 0], corners[n, 2, 0] - corners[n, 0, 0]
        u1, v1 = corners[n, 1, 1] - corners[n, 0, 1], corners[n, 2, 1] - corners[n, 0, 1]
        u2, v2 = corners[n, 1, 2] - corners[n, 0, 2], corners[n, 2, 2] - corners[n, 0, 2]
        area = (u1 * v2 - u2 * v1) ** 2 + (u2 * v0 - u0 * v2) ** 2 + (u0 * v1 - u1 * v0) ** 2
        out.radius[n], out.size[n], out.stretch[n] = np.sqrt(radius), np.sqrt(size), size / np.sqrt(area)


@kernel
def enlarge(points, bounds):
    """Enlarge a box, bounds (2, 3), its lowest and its highest corner, until it holds points (n, 3)."""
    for i in range(len(points)):
        for c in range(3):
            bounds[0, c], bounds[1, c] = min(bounds[0, c], points[i, c]), max(bounds[1, c], points[i, c])


@kernel
def put_triangles(vertices, triangles, area_vectors, chosen, scale, origin, out):
    """Fill out (`FlatTriangles`) with the chosen (n,) of the triangles (T, 3) between vertices (V, 3), with
    area_vectors (T, 3), normals times areas, in coordinates (x - origin) * scale."""
    for n in range(len(chosen)):
        t = chosen[n]
        for a in range(3):
            vertex = triangles[t, a]
            for c in range(3):
                out.corners[n, a, c] = (vertices[vertex, c] - origin[c]) * scale
        area = np.sqrt(area_vectors[t, 0] ** 2 + area_vectors[t, 1] ** 2 + area_vectors[t, 2] ** 2)
        for c in range(3):
            out.normals[n, c] = area_vectors[t, c] / area
        out.jacobian[n] = 2 * area * scale**2


@kernel
def put_used(triangles, used):
    """Mark in used (V,) the vertices of triangles (n, 3)."""
    for t in range(len(triangles)):
        for a in range(3):
            used[triangles[t, a]] = True


def corner_places(
    vertex_places: NDArray[np.int64], triangles: NDArray[np.int64], order: NDArray[np.int64]
) -> NDArray[np.int32]:
    """(n, 3) the places of vertices, vertex_places (V,), of triangles (T, 3) in an order (n,)."""
    places = np.empty((len(order), 3), np.int32)
    _put_places(*map(read_only, (vertex_places, triangles, order)), places)
    return places


@kernel
def _put_places(vertex_places, triangles, order, places):
    """Fill places (n, 3); other arguments as in `corner_places`."""
    for n in range(len(order)):
        for a in range(3):
            places[n, a] = vertex_places[triangles[order[n], a]]


@kernel
def largest_extents(diameters, areas):
    """The largest of the diameters (n,), the longest edges, of triangles with areas (n,), and the largest ratio of such
    an edge to the height on it."""
    longest = thinnest = 0.0
    for t in range(len(areas)):
        longest = max(longest, diameters[t])
        thinnest = max(thinnest, diameters[t] ** 2 / (2 * areas[t]))
    return longest, thinnest


def centroids_of(vertices: Array, triangles: NDArray[np.int64]) -> Array:
    """(n, 3) centroids of triangles (n, 3) between vertices (V, 3)."""
    sums = np.empty((len(triangles), 3))
    _put_sums(read_only(vertices), read_only(triangles), sums)
    sums /= 3
    return sums


@kernel
def _put_sums(vertices, triangles, sums):
    """Fill sums (n, 3) with those of the corners of triangles (n, 3) between vertices (V, 3)."""
    for t in range(len(triangles)):
        for c in range(3):
            sums[t, c] = vertices[triangles[t, 0], c] + vertices[triangles[t, 1], c] + vertices[triangles[t, 2], c]


@kernel
def put_diameters(vertices, triangles, diameters):
    """Fill diameters (n,) with the longest edges of triangles (n, 3) between vertices (V, 3)."""
    for t in range(len(triangles)):
        longest = 0.0
        for a in range(3):
            one, two, square = triangles[t, a], triangles[t, a - 2], 0.0
            for c in range(3):
                square += (vertices[one, c] - vertices[two, c]) ** 2
            longest = max(longest, square)
        diameters[t] = np.sqrt(longest)
