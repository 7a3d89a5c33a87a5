"""The boundary of a volume as a surface for boundary elements, and its maps into the volume."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calderon.mesh.topology import components_by_edges, edge_table
from calderon.mesh.triangles import TriangleMesh


@dataclass(frozen=True, eq=False)
class VolumeBoundary:
    """The boundary of tetrahedra and its maps into them.

    mesh: closed surface, with the tags and names of the faces of the volume. Its normals point out of the tetrahedra,
    thus into the holes of a hollow body. vertices (nv,): the vertex of the volume at each vertex. tetrahedra (nt,): the
    one behind each triangle. hollow (nt,): whether the triangle bounds a hole, where `TriangleMesh(vertices,
    triangles)`, which turns every closed component outward, has the opposite normal.
    """

    mesh: TriangleMesh
    vertices: NDArray[np.int64]
    tetrahedra: NDArray[np.int64]
    hollow: NDArray[np.bool_]


def boundary_of(
    points: NDArray[np.float64],
    faces: NDArray[np.int64],
    tetrahedra: NDArray[np.int64],
    tags: NDArray[np.int64],
    names: Mapping[str, int],
) -> VolumeBoundary:
    """The boundary from its faces (n, 3) into points (nv, 3), counter-clockwise seen from outside, the tetrahedra (n,)
    behind them, and tags (n,) of these faces."""
    vertices, place = np.unique(faces, return_inverse=True)
    corners, triangles = points[vertices], place.reshape(-1, 3)
    # components of holes have a negative volume: turned before the mesh would report that it turns them
    edges, triangle_edges, _ = edge_table(triangles, len(corners))
    components = components_by_edges(triangle_edges, len(edges))
    origins = corners[triangles[np.unique(components, return_index=True)[1], 0]]
    sixfold = np.linalg.det(corners[triangles] - origins[components][:, None])
    hollow = (np.bincount(components, sixfold) < 0)[components]
    outward = np.where(hollow[:, None], triangles[:, [0, 2, 1]], triangles)
    mesh = TriangleMesh(corners, outward, tags, names)
    a, b, c = (corners[triangles[:, k]] for k in range(3))
    hollow = np.einsum("ni,ni->n", np.cross(b - a, c - a), mesh.normals) < 0
    return VolumeBoundary(mesh.turned(hollow) if hollow.any() else mesh, vertices, tetrahedra, hollow)
