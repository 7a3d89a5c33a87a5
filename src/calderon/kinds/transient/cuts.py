"""Planes through a mesh of tetrahedra: where they lie, the fields on them, and the outlines of the parts."""

from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

from calderon.dg.operator.medium import FREE_SPACE
from calderon.kinds.transient.model import Cut
from calderon.mesh import TetrahedralMesh
from calderon.mesh.tetrahedra import FACES
from calderon.plots import cut_triangles

MARGIN = 0.35
"""Margin shown around everything but air, relative to its larger side."""


def cut_points(mesh: TetrahedralMesh, requested: Cut) -> NDArray[np.float64]:
    """(rows, columns, 3) of the requested rectangle; by default around everything that is not air (metal included),
    through its middle, within the mesh's bounding box."""
    whole = mesh.vertices.min(axis=0), mesh.vertices.max(axis=0)
    low, high = body_bounds(mesh)
    margin = MARGIN * (high - low)[requested.axes].max()
    low, high = np.maximum(low - margin, whole[0]), np.minimum(high + margin, whole[1])
    return requested.grid((high - low)[requested.axes], (low + high) / 2)


def body_bounds(mesh: TetrahedralMesh) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Opposite corners of the box around all parts but air, and all inner boundaries; of a mesh of air alone, of
    everything."""
    air = [tag for name, tag in mesh.names.items() if name in FREE_SPACE]
    solid = mesh.tetrahedra[~np.isin(mesh.tags, air)].ravel()
    low, high = mesh.vertices.min(axis=0), mesh.vertices.max(axis=0)
    corners = mesh.vertices[mesh.faces]
    middle, reach = (low + high) / 2, (high - low).max() / 2
    inner = (np.linalg.norm(corners - middle, axis=2) < 0.9 * reach).all(axis=1)
    vertices = np.concatenate([solid, mesh.faces[inner].ravel()])
    if not len(solid) and not inner.any():
        return low, high
    return mesh.vertices[vertices].min(axis=0), mesh.vertices[vertices].max(axis=0)


def outlines(mesh: TetrahedralMesh, points: NDArray[np.float64]) -> dict[str, NDArray[np.float64]]:
    """{name: segments (n, 2, 2)} in metres along the two sides of a cut (rows, columns, 3): the surface of each part
    but air, and each named boundary."""
    found = {name: around_parts(mesh, [name], points) for name in mesh.names if name not in FREE_SPACE}
    for name, tag in mesh.face_names.items():
        found[name] = cut_triangles(mesh.vertices, mesh.faces[mesh.face_tags == tag], points)
    return {name: segments for name, segments in found.items() if len(segments)}


def around_parts(mesh: TetrahedralMesh, names: Collection[str], points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Segments (n, 2, 2), as in `outlines`, of the surface of the given parts together: faces between them and others,
    without boundaries of the mesh."""
    tags = [tag for name, tag in mesh.names.items() if name in names]
    across, own = mesh.neighbours, np.isin(mesh.tags, tags)
    skin = own[:, None] & (across >= 0) & ~own[np.maximum(across, 0)]
    return cut_triangles(mesh.vertices, mesh.tetrahedra[:, FACES][skin], points)
