"""Planes through a mesh of tetrahedra: where they lie, the fields on them, and the outlines of the parts."""

from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from calderon.case.transient import Cut
from calderon.dg.operator.medium import FREE_SPACE
from calderon.mesh import TetrahedralMesh
from calderon.mesh.tetrahedra import FACES
from calderon.plots import cut_triangles, slice_points

MARGIN = 0.35
"""Margin shown around everything but air, relative to its larger side."""


def cut_points(mesh: TetrahedralMesh, asked: Cut) -> NDArray[np.float64]:
    """(rows, columns, 3) of the requested rectangle; by default around everything that is not air (metal included),
    through its middle, within the mesh's bounding box."""
    axes = ["xyz".index(axis) for axis in asked.plane]
    whole = mesh.vertices.min(axis=0), mesh.vertices.max(axis=0)
    low, high = body_bounds(mesh)
    margin = MARGIN * (high - low)[axes].max()
    low, high = np.maximum(low - margin, whole[0]), np.minimum(high + margin, whole[1])
    size = np.array(asked.size) if asked.size is not None else (high - low)[axes]
    centre = np.array(asked.centre) if asked.centre is not None else (low + high) / 2
    columns, rows = np.maximum(2, np.round(asked.points * size / size.max())).astype(int)
    unit = np.eye(3)
    return slice_points(centre, size[0] * unit[axes[0]], size[1] * unit[axes[1]], (int(rows), int(columns)))


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
    found = {name: _around(mesh, [tag], points) for name, tag in mesh.names.items() if name not in FREE_SPACE}
    for name, tag in mesh.face_names.items():
        found[name] = cut_triangles(mesh.vertices, mesh.faces[mesh.face_tags == tag], points)
    return {name: segments for name, segments in found.items() if len(segments)}


def around_parts(mesh: TetrahedralMesh, names: Collection[str], points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Segments (n, 2, 2) of the surface of the given parts together, as in `outlines`."""
    return _around(mesh, [tag for name, tag in mesh.names.items() if name in names], points)


def _around(mesh: TetrahedralMesh, tags: Sequence[int], points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Faces between parts and others, without boundaries of the mesh."""
    across, own = mesh.neighbours, np.isin(mesh.tags, tags)
    skin = own[:, None] & (across >= 0) & ~own[np.maximum(across, 0)]
    return cut_triangles(mesh.vertices, mesh.tetrahedra[:, FACES][skin], points)
