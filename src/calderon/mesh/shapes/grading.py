"""Edge lengths that follow the curvature of a smooth closed surface: short on sharp edges and at tips, longer where it
is flat.

A facet with corners on the surface leaves a gap of up to h^2 / (8 R), R the smallest radius of curvature: equal gaps
mean edges in proportion to sqrt(R).
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

Projection = Callable[[NDArray], NDArray]
Sizes = Callable[[NDArray], NDArray]  # points (n, 3) -> target edge lengths there over the mean one (n,)


class Grading(NamedTuple):
    """Edge lengths over h: the least one where R = h, the shortest, the longest, how fast they grow with the distance
    from a sharp place, and the distance at which it is measured how the surface bends away from its tangents."""

    per_root_radius: float = 0.6
    shortest: float = 0.4
    longest: float = 1.1
    slope: float = 0.3
    probe: float = 0.3


GRADING = Grading()


def curvature_sizes(samples: NDArray, triangles: NDArray, project: Projection, h: float) -> Sizes:
    """Edge lengths over h: the least over samples y of clip(c sqrt(R(y) / h), 0.4, 1.1) + 0.3 |x - y| / h.

    c is 0.6, or more where h is so large against R that the mean edge would fall below h. samples (n, 3), triangles: a
    mesh of the surface, finer than h. project: (n, 3) to the closest points of the surface.
    """
    normals, areas = normals_and_areas(samples, triangles)
    roots = np.sqrt(smallest_radii(samples, normals, project, GRADING.probe * h) / h)
    # pairs of samples of which one may limit the size at the other
    tree = scipy.spatial.cKDTree(samples)
    a, b = tree.query_pairs(h * (GRADING.longest - GRADING.shortest) / GRADING.slope, output_type="ndarray").T
    rise = GRADING.slope / h * np.linalg.norm(samples[a] - samples[b], axis=1)

    def graded(c: float) -> NDArray:
        sizes = np.clip(c * roots, GRADING.shortest, GRADING.longest)
        result = sizes.copy()
        np.minimum.at(result, a, sizes[b] + rise)
        np.minimum.at(result, b, sizes[a] + rise)
        return result

    # c grows until the mean edge is h; then by bisection it is no larger than needed
    c = GRADING.per_root_radius
    chosen = graded(c)
    while _mean_length(chosen, areas) < 1:  # ends: with growing c all sizes become the longest
        c *= 1.1
        chosen = graded(c)
    low = c / 1.1 if c > GRADING.per_root_radius else c
    while c - low > 1e-4 * c:  # no larger than needed, whichever way the machine rounds
        middle = (low + c) / 2
        if _mean_length(graded(middle), areas) < 1:
            low = middle
        else:
            c = middle
    chosen = graded(c)

    def wanted(points: NDArray) -> NDArray:
        distance, index = tree.query(points, k=min(4, len(samples)))
        return (chosen[index] + GRADING.slope / h * distance).min(axis=1)

    return wanted


def _mean_length(sizes: NDArray, areas: NDArray) -> float:
    """Mean over edges, of which there are areas / sizes^2."""
    return float(np.sum(areas / sizes) / np.sum(areas / sizes**2))


def smallest_radii(points: NDArray, normals: NDArray, project: Projection, step: float) -> NDArray:
    """Smallest radius of curvature (n,) at points (n, 3) of a surface, seen at a distance `step` along its tangents.

    A circle of radius R is d = sqrt(R^2 + step^2) - R away from the end of a tangent, so R = (step^2 - d^2) / (2 d).
    """
    axis = np.eye(3)[np.abs(normals).argmin(axis=1)]
    u = np.cross(normals, axis)
    u /= np.linalg.norm(u, axis=1)[:, None]
    v = np.cross(normals, u)
    largest = np.zeros(len(points))
    for angle in np.pi * np.arange(4) / 4:
        tangent = step * (np.cos(angle) * u + np.sin(angle) * v)
        both = [points + tangent, points - tangent]
        gap = 0.5 * sum(np.linalg.norm(project(end) - end, axis=1) for end in both)
        largest = np.maximum(largest, gap)
    gap = np.clip(largest, 1e-9 * step, 0.99 * step)
    return (step**2 - gap**2) / (2 * gap)


def doubled_areas(vertices: NDArray, triangles: NDArray) -> NDArray:
    """Normal times twice the area of each triangle, (nt, 3)."""
    a, b, c = (vertices[triangles[:, i]] for i in range(3))
    return np.cross(b - a, c - a)


def normals_and_areas(vertices: NDArray, triangles: NDArray) -> tuple[NDArray, NDArray]:
    """Unit normals (n, 3) at vertices, the mean of the triangles around, by area; and twice these areas (n,)."""
    vectors = doubled_areas(vertices, triangles)
    total, areas = np.zeros_like(vertices), np.zeros(len(vertices))
    np.add.at(total, triangles, vectors[:, None, :])
    np.add.at(areas, triangles, np.linalg.norm(vectors, axis=1)[:, None])
    return total / np.maximum(np.linalg.norm(total, axis=1), 1e-300)[:, None], areas
