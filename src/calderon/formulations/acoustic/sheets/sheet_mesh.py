"""Meshes that a sheet may have: open, and free of other surfaces."""

import numpy as np

from calderon.mesh import TriangleMesh
from calderon.mesh.coincident import coincident_points
from calderon.mesh.tolerances import TOLERANCES


def require_sheet(mesh: TriangleMesh) -> None:
    """ValueError for a mesh that is not made of open sheets, each free of the others and of bodies."""
    closed = np.ones(mesh.number_of_components, bool)
    at_boundary = (mesh.edge_triangle_counts[mesh.triangle_edges] == 1).any(axis=1)
    closed[mesh.components[at_boundary]] = False
    if closed.any():
        raise ValueError(
            f"AcousticSheet is for open meshes, and {np.count_nonzero(closed)} of {len(closed)} parts of this one are "
            "closed: sound of closed bodies is AcousticProblem or SoundHardScattering; model a body next to a sheet, "
            "and a sheet with a thickness, as closed bodies"
        )
    if number := np.count_nonzero(mesh.edge_triangle_counts > 2):
        raise ValueError(
            f"AcousticSheet is for sheets that touch neither a body nor each other, and {number} edges of this mesh "
            "have more than two triangles: leave a gap there, or model the sheet as a closed body"
        )
    edge = mesh.boundary_vertices
    same = coincident_points(mesh.vertices[mesh.used_vertices], TOLERANCES.joined * mesh.diameter)
    number = np.count_nonzero(np.bincount(same)[same[np.isin(mesh.used_vertices, edge)]] > 1)
    if number:
        raise ValueError(
            f"{number} vertices of the edge of the sheet lie on other vertices, so that parts touch without being "
            "joined: join them, mesh.merged_vertices(), or move the parts apart"
        )
    inside = np.setdiff1d(mesh.used_vertices, edge)
    if not len(inside):
        raise ValueError(
            f"all {len(edge)} vertices of the sheet lie on its edge, where the pressure does not jump: refine the mesh"
        )
