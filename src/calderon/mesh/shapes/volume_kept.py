"""Flat triangles that enclose the volume of a curved body: corners a little outside of it, middles inside.

With corners on a convex surface every triangle lies inside, by up to h^2 / (8 R): lobes of a radar pattern shift, and
resonances with them. Here corners move along the normal so that the mean gap of each triangle vanishes, as nearly as
least squares can do it.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, diags_array
from scipy.sparse.linalg import cg

from calderon.mesh.errors import MeshError
from calderon.mesh.shapes.grading import Projection, doubled_areas, normals_and_areas
from calderon.mesh.triangles import TriangleMesh
from calderon.validation import truth

VOLUME_NOTE = "vertices lie off the curved surface, so that the volume is kept (volume=False: on it)"


def curved_mesh(
    vertices: NDArray, triangles: NDArray, project: Projection, volume: bool, fixed: NDArray | None = None
) -> TriangleMesh:
    """The mesh of a curved body with its vertices on the surface or, if the volume is to be kept, a little off it."""
    if truth(volume, "volume"):
        vertices = with_volume_kept(vertices, triangles, project, fixed)
    return TriangleMesh(vertices, triangles, note=VOLUME_NOTE if volume else "")


def with_volume_kept(
    vertices: NDArray, triangles: NDArray, project: Projection, fixed: NDArray | None = None
) -> NDArray:
    """Vertices (nv, 3) moved by d along the normals: min over d of sum A_t (mean of d at corners - g_t)^2, with g_t the
    mean gap between triangle t of area A_t and the surface.

    project: (n, 3) to the closest points of the surface. Vertices marked in fixed (nv,) stay. The gap vanishes at the
    corners and is of second degree, so the mean of the midpoints of the sides is that over the triangle.
    """
    a, b, c = (vertices[triangles[:, i]] for i in range(3))
    vectors = doubled_areas(vertices, triangles)
    areas = np.linalg.norm(vectors, axis=1)
    unit = vectors / areas[:, None]
    # the mean gap of a triangle, from the middles of its sides, signed by its normal
    gaps = np.zeros(len(triangles))
    for middle in (0.5 * (a + b), 0.5 * (b + c), 0.5 * (c + a)):
        gap = project(middle) - middle
        gaps += np.copysign(np.linalg.norm(gap, axis=1), (gap * unit).sum(axis=1)) / 3
    # normal equations of the displacements at free vertices, damped against oscillations between neighbours
    free = np.flatnonzero(~fixed) if fixed is not None else np.arange(len(vertices))
    rows = np.repeat(np.arange(len(triangles)), 3)
    mean = coo_array((np.full(triangles.size, 1 / 3), (rows, triangles.ravel()))).tocsr()[:, free]
    normal = mean.T @ (diags_array(areas) @ mean)
    damped = normal + 0.01 * normal.diagonal().mean() * diags_array(np.ones(len(free)))
    diagonal = diags_array(1 / damped.diagonal())
    # some hundred steps, whatever the size of the mesh
    distances, failed = cg(damped.tocsr(), mean.T @ (areas * gaps), rtol=1e-10, M=diagonal)
    if failed:
        raise MeshError(
            "no displacements keep the volume of this mesh: check for degenerate triangles, or use volume=False"
        )
    moved = vertices.copy()
    moved[free] += distances[:, None] * normals_and_areas(vertices, triangles)[0][free]
    return moved
