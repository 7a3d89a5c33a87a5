"""Barycentric refinement: every triangle is cut into six by its medians."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:  # the mesh builds its own refinement
    from calderon.mesh.triangles import TriangleMesh


@dataclass(frozen=True, eq=False)
class BarycentricRefinement:
    """The refined mesh and where its parts come from.

    mesh: 6 nt triangles on nv + ne + nt vertices: those of the coarse mesh, the middle nv + e of each edge e, the
    centroid nv + ne + t of each triangle t. children (nt, 3, 2): the two children at each local vertex. With v_i the
    local vertices, m_i the middles of the edges opposite to them and c the centroid, children[t, i] are

        (v_i, m_(i+2), c)  and  (v_i, c, m_(i+1)),

    counter-clockwise like their parent and around v_i. parents (6 nt,): the triangle that each child is a part of.
    """

    mesh: "TriangleMesh"
    children: NDArray[np.int64]
    parents: NDArray[np.int64]


def barycentric_refinement(mesh: "TriangleMesh") -> BarycentricRefinement:
    """Cut every triangle into the six between its vertices, the middles of its edges and its centroid.

    Tags and names are those of the parents. `mesh.barycentric_refinement` keeps the result with the mesh.
    """
    number = mesh.number_of_triangles
    corner = mesh.triangles
    middle = mesh.number_of_vertices + mesh.triangle_edges
    centre = mesh.number_of_vertices + mesh.number_of_edges + np.repeat(np.arange(number)[:, None], 3, axis=1)
    first = np.stack([corner, middle[:, [2, 0, 1]], centre], axis=2)
    second = np.stack([corner, centre, middle[:, [1, 2, 0]]], axis=2)
    triangles = np.stack([first, second], axis=2).reshape(-1, 3)
    vertices = np.concatenate([mesh.vertices, mesh.vertices[mesh.edges].mean(axis=1), mesh.centroids])
    refined = type(mesh)(vertices, triangles, np.repeat(mesh.tags, 6), mesh.names)
    children = np.arange(6 * number).reshape(-1, 3, 2)
    return BarycentricRefinement(refined, children, np.repeat(np.arange(number), 6))
