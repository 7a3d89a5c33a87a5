"""A surface with edges is meshed anew by gmsh, from its triangles."""

import numpy as np
import scipy
from numpy.typing import NDArray

from calderon.mesh.coincident import compacted
from calderon.mesh.errors import MeshError
from calderon.mesh.files.live import into_gmsh
from calderon.mesh.shapes.division import quartered
from calderon.mesh.shapes.gmsh_session import gmsh_model
from calderon.mesh.shapes.gmsh_volumes import MeshedModel, mesh_surfaces


def remeshed_by_gmsh(
    vertices: NDArray[np.float64], triangles: NDArray[np.int64], tags: NDArray[np.int64], h: float, angle: float
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """Vertices, triangles and tags of the same surface with edges of the mean length h.

    Edges at which normals differ by more than the angle (rad) stay, and so does the boundary. On curved parts new
    vertices lie on the old triangles. Tags are those of the nearest point of the old surface. MeshError where gmsh
    cannot do it, or is not installed.
    """
    with gmsh_model("remeshing") as gmsh:
        into_gmsh(gmsh, vertices, triangles, np.zeros(len(triangles), np.int64), {})
        try:
            gmsh.model.mesh.classifySurfaces(angle, True, True, np.pi)
            gmsh.model.mesh.createGeometry()
            mesh_surfaces(gmsh, h)
        except Exception as error:  # gmsh raises nothing narrower
            raise MeshError(f"gmsh cannot mesh this surface anew: {error}; try another angle, or h") from None
        model = MeshedModel(gmsh)
        made = model.elements(3, -1)
    points, new = compacted(model.vertices, made)
    return points, new, _tags_at(points[new].mean(axis=1), vertices, triangles, tags)


def _tags_at(
    x: NDArray[np.float64], vertices: NDArray[np.float64], triangles: NDArray[np.int64], tags: NDArray[np.int64]
) -> NDArray[np.int64]:
    """(n,) tags of the nearest triangle at points, by centroids of its parts, about 200,000 in all at most."""
    if len(np.unique(tags)) == 1:
        return np.full(len(x), tags[0])
    times = int(np.clip(np.log2(200_000 / len(triangles)) / 2, 0, 4))
    finer, parts = quartered(vertices, triangles, times)
    nearest = scipy.spatial.KDTree(finer[parts].mean(axis=1)).query(x)[1]
    return np.asarray(np.repeat(tags, 4**times)[nearest])
