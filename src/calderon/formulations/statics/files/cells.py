"""The parts of space between surfaces that meet: sides of triangles that see each other around edges."""

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.mesh import TriangleMesh
from calderon.mesh.containment import winding_numbers

OUTER = -1
"""The part without end."""


def cells_of(mesh: TriangleMesh) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """(nt, 2) numbers of the parts of space at the sides of each triangle, that of its normal first, OUTER far away,
    and which sides (nt, 2) are of the outer wall of their part, the others of hollows in it.

    Around each edge, in the order of angles, facing sides of neighbours are of one part. A connected set of sides is
    the outer wall of a part if it encloses a volume, else a hollow of the smallest part around it.
    """
    nt = mesh.number_of_triangles
    sides = _facing(mesh)
    links = sp.coo_array((np.ones(len(sides)), (sides[:, 0], sides[:, 1])), (2 * nt, 2 * nt))
    count, shell = sp.csgraph.connected_components(links, directed=False)
    shell = shell.reshape(nt, 2)
    # volumes with normals out of the part: away from its side
    flux = np.einsum("ni,ni->n", mesh.centroids - mesh.bounds.mean(axis=0), mesh.normals) * mesh.areas / 3
    volumes = np.bincount(shell[:, 1], flux, count) - np.bincount(shell[:, 0], flux, count)
    least = 1e-9 * mesh.diameter**3
    part = np.full(count, OUTER)
    bounded = np.flatnonzero(volumes > least)
    part[bounded] = np.arange(len(bounded))
    for one in np.flatnonzero(volumes <= least):
        x = mesh.centroids[np.flatnonzero((shell == one).any(axis=1))[:1]]
        best = np.inf
        for other in bounded:
            once = (shell == other).sum(axis=1) == 1  # the others are sheets in it
            if (shell[once] == one).any() or volumes[other] >= best:
                continue
            turned = np.where((shell[once, 0] == other)[:, None], mesh.triangles[once][:, ::-1], mesh.triangles[once])
            if winding_numbers(mesh.vertices, turned, x)[0] != 0:
                best, part[one] = volumes[other], part[other]
    return np.asarray(part[shell], np.int64), np.asarray((volumes > least)[shell])


def _facing(mesh: TriangleMesh) -> NDArray[np.int64]:
    """(n, 2) pairs of sides (2 t + 0 or 1) that see each other around edges."""
    edge = mesh.triangle_edges.ravel()
    triangle = np.repeat(np.arange(mesh.number_of_triangles), 3)
    ends = mesh.vertices[mesh.edges[edge]]
    along = ends[:, 1] - ends[:, 0]
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    away = mesh.centroids[triangle] - ends[:, 0]
    away -= np.einsum("ni,ni->n", away, along)[:, None] * along
    away /= np.linalg.norm(away, axis=1, keepdims=True)
    # one direction for all triangles of an edge as angle 0
    order = np.argsort(edge, kind="stable")
    first = order[np.searchsorted(edge[order], edge)]
    other = np.cross(along, away[first])
    angle = np.arctan2(np.einsum("ni,ni->n", away, other), np.einsum("ni,ni->n", away, away[first]))
    rises = np.einsum("ni,ni->n", np.cross(along, away), mesh.normals[triangle]) > 0  # the normal, to larger angles
    order = np.lexsort((np.mod(angle, 2 * np.pi), edge))
    follows = np.roll(order, -1)
    last = edge[order] != edge[follows]
    starts = np.searchsorted(edge[order], edge[order])
    follows[last] = order[starts[last]]
    ahead, behind = 2 * triangle + np.where(rises, 0, 1), 2 * triangle + np.where(rises, 1, 0)
    return np.stack([ahead[order], behind[follows]], axis=1)
