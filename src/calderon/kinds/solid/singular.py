"""Edges at which the exact stress of a solid has no limit: re-entrant ones, and those around a clamped face.

There the computed maximum grows with every refinement of the mesh; the other numbers do not depend on it.
"""

import numpy as np
from numpy.typing import NDArray

from calderon.formulations import ElasticSolid
from calderon.formulations.elastic.conditions.surface_conditions import faces_of


def singular_edges(solid: ElasticSolid) -> dict[str, NDArray[np.bool_]]:
    """Which vertices lie on such edges, by the reason."""
    mesh = solid.mesh
    one, two = mesh.paired_sides
    left, right = one // 3, two // 3
    edges = mesh.triangle_edges.ravel()[one]
    ends = mesh.edges[edges]
    hollow = np.einsum("ni,ni->n", mesh.centroids[right] - mesh.centroids[left], mesh.normals[left]) > 0
    sharp = np.isin(edges, mesh.sharp_edges())
    clamped = np.zeros(mesh.number_of_triangles, bool)
    for tag, (triangles, face) in faces_of(mesh, solid.supports or {}).items():
        held = np.concatenate([each.directions(face) for each in (solid.supports or {})[tag]])
        clamped[triangles] = np.linalg.matrix_rank(held, tol=1e-8) == 3 if len(held) else False
    found = {
        "a re-entrant edge": ends[sharp & hollow],
        "the edge of a clamped face": ends[clamped[left] != clamped[right]],
    }
    masks = {}
    for reason, pairs in found.items():
        masks[reason] = np.zeros(mesh.number_of_vertices, bool)
        masks[reason][pairs.ravel()] = True
    return masks


def next_to(triangles: NDArray[np.int32], vertices: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Vertices of the triangles (m, 3) that have one of some vertices."""
    touched = vertices.copy()
    touched[triangles[vertices[triangles].any(axis=1)].ravel()] = True
    return touched
