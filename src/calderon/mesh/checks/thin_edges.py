"""Where a closed body is thinner than the elements at its sharp edges are high."""

from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from calderon.mesh.topology import connected
from calderon.mesh.triangles import TriangleMesh


class ThinEdges(NamedTuple):
    """Elements at edges of a body that is thin there: triangles (n,) and their heights (n,) over their sharp edges, the
    thickness (n,) below them, and `unresolved`, the mean height along the edges of a face over the width of the
    face, the largest of all faces; faces are what sharp edges part, their width is 4 area / length of edges."""

    triangles: NDArray[np.int64]
    heights: NDArray[np.float64]
    thickness: NDArray[np.float64]
    unresolved: float


def thin_edges(mesh: TriangleMesh, least: float) -> ThinEdges:
    """Triangles at sharp edges below which, on the inner side, another sheet is nearer than half of their height over
    that edge, and than a fifth of the width of their face. Only those that are higher than `least` times that width
    are looked at."""
    sharp = np.zeros(mesh.number_of_edges, bool)
    sharp[mesh.sharp_edges()] = True
    at_edge = sharp[mesh.triangle_edges]
    lengths = np.where(at_edge, mesh.edge_lengths[mesh.triangle_edges], 0.0)
    # the face that each triangle belongs to, its width, and heights over sharp edges
    one, two = mesh.paired_sides
    smooth = ~sharp[mesh.edge_triangle_counts == 2]
    face = connected(one[smooth] // 3, two[smooth] // 3, mesh.number_of_triangles)
    around = np.bincount(face, lengths.sum(axis=1))
    around[around == 0] = np.inf  # a smooth body
    width = 4 * np.bincount(face, mesh.areas) / around
    heights = np.where(at_edge, 2 * mesh.areas[:, None] / mesh.edge_lengths[mesh.triangle_edges], 0.0).max(axis=1)
    high = np.flatnonzero(heights > least * (1 + 1e-9) * width[face])
    # thinner than half an element it is a sheet to the elements, thicker than a fifth of the face a rod
    reach = np.minimum(0.5 * heights[high], 0.2 * width[face[high]])
    thickness = distance_across(mesh, high, reach, np.cos(np.radians(10.0)), -1.0)  # no wedge above 10 degrees
    found = np.isfinite(thickness)
    thin, thickness = high[found], thickness[found]
    weighted = np.bincount(face[thin], lengths[thin].sum(axis=1) * heights[thin], len(width)) / around
    unresolved = float(np.max(weighted[width > 0] / width[width > 0], initial=0.0))
    return ThinEdges(thin, heights[thin], thickness, unresolved)


def distance_across(
    mesh: TriangleMesh, some: NDArray[np.int64], reach: NDArray[np.float64], cosine: float, side: float
) -> NDArray[np.float64]:
    """(n,) how far from the centroids of some triangles, along `side` = 1 or -1 times their normals, a triangle of the
    opposite direction is; infinity where there is none within reach (n,). cosine: of the largest angle between that
    direction and the opposite of the normal."""
    thickness = np.full(len(some), np.inf)
    corners = mesh.vertices[mesh.triangles]
    radius = np.linalg.norm(corners - mesh.centroids[:, None], axis=2).max(axis=1)
    size = np.floor(np.log2(radius)).astype(np.int64)
    if not len(some):
        return thickness
    points = scipy.spatial.cKDTree(mesh.centroids[some])
    for each in np.unique(size):  # a few large triangles do not make pairs of all small ones
        own = np.flatnonzero(size == each)
        far = float(reach.max() + radius[own].max())
        near = points.sparse_distance_matrix(scipy.spatial.cKDTree(mesh.centroids[own]), far, output_type="ndarray")
        first, second = near["i"], own[near["j"]]
        facing = np.einsum("ni,ni->n", mesh.normals[some[first]], mesh.normals[second]) < -cosine
        first, second = first[facing], second[facing]
        depth = _depth(mesh.centroids[some[first]], -side * mesh.normals[some[first]], corners[second])
        met = (depth > 0) & (depth < reach[first])
        np.minimum.at(thickness, first[met], depth[met])
    return thickness


def _depth(
    points: NDArray[np.float64], normals: NDArray[np.float64], corners: NDArray[np.float64]
) -> NDArray[np.float64]:
    """(n,) distance from points along minus the normals to triangles (n, 3, 3); -1 where the line misses them."""
    a, u, v = corners[:, 0], corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    area = np.cross(u, v)
    facing = np.einsum("ni,ni->n", area, normals)
    depth = np.einsum("ni,ni->n", area, points - a) / facing
    w = points - depth[:, None] * normals - a
    square = np.einsum("ni,ni->n", area, area)
    s = np.einsum("ni,ni->n", np.cross(w, v), area) / square
    t = np.einsum("ni,ni->n", np.cross(u, w), area) / square
    inside = (s > -1e-9) & (t > -1e-9) & (s + t < 1 + 1e-9)
    return np.where(inside, depth, -1.0)
