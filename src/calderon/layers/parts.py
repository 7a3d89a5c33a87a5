"""Which triangles of metal lie on interfaces of a stack, and which stand upright in a layer."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.layers.sections import WALL, Sections
from calderon.mesh import TriangleMesh
from calderon.mesh.errors import MeshError

FLAT = 1e-6
"""Distance that vertices may lie off an interface, as a fraction of the size of a mesh."""
UPRIGHT = 1e-6
"""Vertical component of the normal of a vertical triangle at most."""


class MetalParts(NamedTuple):
    """Which of some triangles are horizontal, and which vertical, with the layer of each."""

    horizontal: NDArray[np.int64]
    vertical: NDArray[np.int64]
    layers: NDArray[np.int64]


def parts_of(sections: Sections, mesh: TriangleMesh, triangles: NDArray[np.int64]) -> MetalParts:
    """The parts of the metal of some triangles of a mesh, by their places among these. MeshError for triangles that
    are neither, cross an interface, or lie outside of the stack."""
    size = float(np.ptp(mesh.vertices, axis=0).max())
    steep = np.abs(mesh.normals[triangles, 2])
    upright = steep < UPRIGHT
    oblique = np.flatnonzero(~upright & (np.ptp(mesh.vertices[mesh.triangles[triangles], 2], axis=1)
                                         > FLAT * size))  # fmt: skip
    if len(oblique):
        z = mesh.vertices[mesh.triangles[triangles[oblique[0]]], 2]
        raise MeshError(
            f"{len(oblique)} triangles are oblique, the first is number {triangles[oblique[0]]} with z from "
            f"{1e3 * z.min():g} to {1e3 * z.max():g} mm: metal in layers is horizontal, on an interface, or vertical; "
            "approximate slopes by steps"
        )
    vertical = np.flatnonzero(upright)
    z = mesh.vertices[mesh.triangles[triangles[vertical]], 2]
    layers = _layers(sections, z.min(axis=1), z.max(axis=1), triangles[vertical], FLAT * size)
    return MetalParts(np.flatnonzero(~upright), vertical, layers)


def _layers(
    sections: Sections, low: NDArray[np.float64], high: NDArray[np.float64], numbers: NDArray[np.int64], near: float
) -> NDArray[np.int64]:
    """The layer of each triangle from z = low to high."""
    bottom, top = sections.spans
    inside = (low[:, None] >= bottom - near) & (high[:, None] <= top + near)
    bad = np.flatnonzero(~inside.any(axis=1))
    if len(bad):
        faces = ", ".join(f"{1e3 * z:g}" for z in np.unique(np.concatenate([bottom, top])) if np.isfinite(z))
        raise MeshError(
            f"{len(bad)} vertical triangles cross an interface of the stack, or leave it, the first is number "
            f"{numbers[bad[0]]} with z from {1e3 * low[bad[0]]:g} to {1e3 * high[bad[0]]:g} mm; faces of layers are at "
            f"{faces} mm: cut the triangles there, as planar.ribbon and planar.via do with heights=stack.interfaces"
        )
    return inside.argmax(axis=1)


def feet_of(sections: Sections, mesh: TriangleMesh) -> NDArray[np.int64]:
    """Edges of vertical triangles on walls below and above, where currents flow into these."""
    near = FLAT * float(np.ptp(mesh.vertices, axis=0).max())
    upright = np.unique(mesh.triangle_edges[np.abs(mesh.normals[:, 2]) < UPRIGHT])
    z = mesh.vertices[mesh.edges[upright], 2]
    found = np.zeros(len(upright), bool)
    for end, wall in zip(sections.ends, (sections.low[0], sections.high[-1]), strict=True):
        if end == WALL:
            found |= (np.abs(z - wall) < near).all(axis=1)
    return upright[found]
