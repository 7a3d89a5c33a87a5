"""Connected parts of a surface, and the plane or the cylinder on which one lies."""

from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from calderon.mesh.tolerances import TOLERANCES
from calderon.mesh.topology import connected
from calderon.mesh.triangulation import Triangulation

Array = NDArray[np.float64]
FITTED = 300
"""Vertices, at most, from which a cylinder is found; all of them are held against it."""
ROUND, TILT = float(np.radians(75.0)), 0.5
"""Angle at the axis between neighbouring vertices of a cylinder, at most: bores of five sides are round, and the four
sides of a box, whose vertices lie on a cylinder, are not. Part of a normal along the arm from the axis, at least: ends
of prisms do not belong to it."""
STRAIGHT = 1e-4
"""Distance of vertices from a cylinder over its radius, at most."""


class Cylinder(NamedTuple):
    """A point on the axis, the axis (3,) of length 1, and the radius."""

    point: Array
    axis: Array
    radius: float

    def distances(self, points: Array) -> Array:
        """(...,) distances of points (..., 3) from the axis."""
        arms = points - self.point
        across: Array = np.linalg.norm(arms - (arms @ self.axis)[..., None] * self.axis, axis=-1)
        return across

    def is_round(self, vertices: Array, centroids: Array, normals: Array) -> bool:
        """Whether no two gaps between vertices around the axis, of which an open part has one, are wide, and triangles
        face the axis."""
        across = scipy.linalg.null_space(self.axis[None])
        x, y = ((vertices - self.point) @ across).T
        turns = np.sort(np.arctan2(y, x))
        gaps = np.sort(np.diff(turns, append=turns[0] + 2 * np.pi))
        arms = (centroids - self.point) @ across
        facing = np.abs(np.einsum("mi,mi->m", normals @ across, arms)) / np.linalg.norm(arms, axis=1)
        return bool(gaps[-2] <= ROUND and facing.min() >= TILT)


def patches(mesh: Triangulation, angle: float | None) -> NDArray[np.int64]:
    """(nt,) number of the patch of each triangle: triangles of one tag that share edges and, with an angle, meet at
    each of these at no more than it, in radians. Numbers follow the tags, then the triangles."""
    number = len(mesh.triangles)
    if angle is None:
        tags = np.unique(mesh.tags, return_inverse=True)[1]
        keys = mesh.triangle_edges * (int(tags.max()) + 1) + tags[:, None]
        places = np.unique(keys, return_inverse=True)[1].reshape(-1)
        first, second = np.repeat(np.arange(number), 3), number + places
        labels = connected(first, second, number + int(places.max()) + 1)[:number]
    else:
        one, two, bends = bent_pairs(mesh)
        smooth = (mesh.tags[one] == mesh.tags[two]) & (bends <= angle)
        labels = connected(one[smooth], two[smooth], number)
    first = np.unique(labels, return_index=True)[1]
    places = np.empty(len(first), np.int64)
    places[np.lexsort([first, mesh.tags[first]])] = np.arange(len(first))
    return np.asarray(places[labels])


def bent_pairs(mesh: Triangulation) -> tuple[NDArray[np.int64], NDArray[np.int64], Array]:
    """The two triangles at each edge that has two, and the angle between their normals in radians."""
    one, two = (sides // 3 for sides in mesh.paired_sides)
    cosine = np.einsum("ni,ni->n", mesh.normals[one], mesh.normals[two])
    return one, two, np.arccos(np.clip(cosine, -1, 1))


def is_plane(vertices: Array, normal: Array, size: float) -> bool:
    """Whether vertices (n, 3) of a patch lie in a plane of this normal; size: that of the mesh."""
    heights = vertices @ normal
    return bool(np.ptp(heights) <= 2 * TOLERANCES.near * size)


def fitted_cylinder(vertices: Array, centroids: Array, normals: Array, areas: Array, size: float) -> Cylinder | None:
    """The cylinder on which the vertices (n, 3) of a patch with centroids (m, 3), normals (m, 3) and areas (m,) lie, or
    None.

    Least squares of the distances from the axis minus the radius, over the directions of the axis, two coordinates of
    it and the radius, from the direction to which the normals are closest to perpendicular.
    """
    if len(vertices) < 6:
        return None
    chosen = vertices[np.unique(np.linspace(0, len(vertices) - 1, FITTED).astype(int))]
    centre = chosen.mean(axis=0)
    scale = float(np.linalg.norm(chosen - centre, axis=1).max())
    x = (chosen - centre) / scale
    frame = np.linalg.eigh(np.einsum("m,mi,mj->ij", areas, normals, normals))[1]  # columns: axis, then across it
    flat = x @ frame[:, 1:]
    # circle through the points seen along the axis: |p|^2 = 2 c . p + (r^2 - |c|^2)
    (a, b, c), *_ = np.linalg.lstsq(np.column_stack([2 * flat, np.ones(len(flat))]), (flat**2).sum(axis=1), rcond=None)
    if not (square := c + a * a + b * b) > 0:
        return None

    def at(p: Array) -> Cylinder:
        axis = frame @ np.array([1.0, p[0], p[1]])
        return Cylinder(frame[:, 1:] @ p[2:4], axis / np.linalg.norm(axis), float(p[4]))

    def errors(p: Array) -> Array:
        return at(p).distances(x) - p[4]

    start = np.array([0.0, 0.0, a, b, np.sqrt(square)])
    found = at(scipy.optimize.least_squares(errors, start, xtol=1e-14, ftol=1e-14, gtol=1e-14, max_nfev=60).x)
    axis = found.axis * np.sign(found.axis[np.argmax(np.abs(found.axis))])
    cylinder = Cylinder(centre + scale * found.point, axis, scale * abs(found.radius))
    off = np.abs(cylinder.distances(vertices) - cylinder.radius).max()
    if off > STRAIGHT * cylinder.radius + TOLERANCES.near * size or cylinder.radius > 10 * size:
        return None
    if not cylinder.is_round(vertices, centroids, normals):
        return None
    along = axis @ (vertices.mean(axis=0) - cylinder.point)
    return cylinder._replace(point=cylinder.point + along * axis)
