"""Several meshes as one."""

from collections.abc import Sequence

import numpy as np

from calderon.mesh.errors import MeshError
from calderon.mesh.triangles import TriangleMesh


def merge(meshes: Sequence[TriangleMesh]) -> TriangleMesh:
    """One mesh of all triangles, vertices not joined (see TriangleMesh.merged_vertices).

    Tags stay as they are where they differ from those of all earlier meshes; otherwise a mesh's tags are raised above
    them, so that the parts can be told apart. A name met before gets its mesh's number: "hull", "hull (2)".
    """
    meshes = [meshes] if isinstance(meshes, TriangleMesh) else list(meshes)
    if not meshes:
        raise MeshError("merge needs at least one mesh: give a list, merge([first, second])")
    for mesh in meshes:
        if not isinstance(mesh, TriangleMesh):
            raise MeshError(
                f"merge takes triangle meshes, got {type(mesh).__name__}: give a list, merge([first, second])"
            )
    names: dict[str, int] = {}
    tags, taken, offset = [], np.array([], dtype=np.int64), [0]
    for number, mesh in enumerate(meshes, start=1):
        own = np.union1d(mesh.tags, list(mesh.names.values())).astype(np.int64)
        shift = 0
        if np.intersect1d(own, taken).size:
            shift = int(taken.max()) + 1 - min(0, int(own.min()))
        tags.append(mesh.tags + shift)
        for name, tag in mesh.names.items():
            names[name if name not in names else f"{name} ({number})"] = tag + shift
        taken = np.union1d(taken, own + shift).astype(np.int64)
        offset.append(offset[-1] + mesh.number_of_vertices)
    triangles = [mesh.triangles + start for mesh, start in zip(meshes, offset[:-1], strict=True)]
    vertices = np.concatenate([mesh.vertices for mesh in meshes])
    return TriangleMesh(vertices, np.concatenate(triangles), np.concatenate(tags), names)
