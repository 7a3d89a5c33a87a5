"""Closed surfaces one within another or side by side: which is directly around which."""

from collections.abc import Sequence

import numpy as np
import scipy
from numpy.typing import NDArray

from calderon.mesh import TriangleMesh
from calderon.mesh.containment import nested_components

TOUCHING = 1e-6  # surfaces whose vertices are closer than so many mean edge lengths touch


def enclosing_surfaces(meshes: Sequence[TriangleMesh], names: Sequence[str] = ()) -> NDArray[np.int64]:
    """(n,) for each closed surface the one directly around it, -1 for none. names: of the surfaces in errors.

    ValueError for surfaces that touch or cross, as far as their vertices, edge middles and centroids show it, and for
    parts of one mesh that lie one within another.
    """
    names = names or [f"mesh {number}" for number in range(len(meshes))]
    for number, mesh in enumerate(meshes):
        if len(nested_components(mesh.vertices, mesh.triangles, mesh.components)):
            raise ValueError(
                f"a closed part of {names[number]} lies within another one: give nested surfaces as separate meshes, "
                "each with the permittivity directly inside of it (1 for a cavity)"
            )
    inside = np.zeros((len(meshes), len(meshes)), dtype=bool)  # [i, j]: i within j
    trees = [scipy.spatial.KDTree(mesh.vertices[mesh.used_vertices]) for mesh in meshes]
    for i, mesh in enumerate(meshes):
        corners = mesh.vertices[mesh.used_vertices]
        probes = np.concatenate([corners, mesh.vertices[mesh.edges].mean(axis=1), mesh.centroids])
        for j, other in enumerate(meshes):
            if i == j:
                continue
            if np.any(mesh.bounds[0] > other.bounds[1]) or np.any(mesh.bounds[1] < other.bounds[0]):
                continue
            if i < j and np.min(trees[j].query(corners)[0]) < TOUCHING * mesh.mean_edge_length:
                raise ValueError(
                    f"{names[i]} and {names[j]} touch: surfaces must be apart; leave a gap between them that "
                    "is resolved by their edges, or for a common wall take one mesh around both bodies"
                )
            within = other.contains(probes)
            if within.any() and not within.all():
                raise ValueError(
                    f"{names[i]} lies partly inside {names[j]} ({np.count_nonzero(within)} of {len(within)} points): "
                    "surfaces must not cross; if it has several parts, give each as a mesh of its own"
                )
            inside[i, j] = within.all()
    depth = inside.sum(axis=1)
    return np.array([max(np.flatnonzero(row), key=lambda j: depth[j], default=-1) for row in inside], dtype=np.int64)
