"""Where vertical metal ends: on a wall, at an edge of other metal, or far from both."""

import numpy as np

from calderon.layers.parts import UPRIGHT
from calderon.layers.sections import WALL, Sections
from calderon.mesh import TriangleMesh
from calderon.mesh.errors import MeshError

POOREST = 0.05
"""Impedance of a wall, over that of vacuum, from which on the charge at a foot may not be left out."""


def require_ends(sections: Sections, mesh: TriangleMesh) -> None:
    """MeshError for vertical metal that ends just above a wall, or meets flat metal where this has no edge; ValueError
    for feet on walls that conduct poorly, and on layers that conduct well."""
    upright = np.abs(mesh.normals[:, 2]) < UPRIGHT
    if not upright.any():
        return
    close = 1e-6 * float(np.ptp(mesh.vertices, axis=0).max())  # by which equal heights may differ
    number, local = np.nonzero(upright[:, None] & np.ones(3, bool))
    edges = mesh.triangle_edges[number, local]
    ends = mesh.vertices[mesh.edges[edges]]
    level = np.abs(np.ptp(ends[:, :, 2], axis=1)) < close
    number, edges, centres = number[level], edges[level], ends[level].mean(axis=1)
    alone = mesh.edge_triangle_counts[edges] == 1
    number, middles = number[alone], centres[alone]
    heights = np.ptp(mesh.vertices[mesh.triangles[number], 2], axis=1)
    for end, face, wall in zip(sections.ends, (sections.low[0], sections.high[-1]), sections.walls, strict=True):
        gap = np.abs(middles[:, 2] - face)
        almost = (gap > close) & (gap < 0.1 * heights)  # metal that is meant to reach the wall
        if end == WALL and np.any(almost):
            first = int(np.argmax(almost))
            raise MeshError(
                f"vertical metal ends {1e3 * gap[first]:g} mm from the wall at z = {1e3 * face:g} mm, at ("
                f"{1e3 * middles[first, 0]:g}, {1e3 * middles[first, 1]:g}) mm: let it reach the wall, or end farther "
                "from it than a tenth of its triangles"
            )
        if end == WALL and abs(wall) > POOREST and np.any(gap <= close):
            raise ValueError(
                f"currents flow into a wall of {abs(wall) * 376.73:g} ohm, where charge would stay: vertical metal "
                "stands on 'pec' or a good Conductor, or ends above the wall"
            )
    for face in _faces_of_conductors(sections):
        if np.any(np.abs(middles[:, 2] - face) <= close):
            raise ValueError(
                f"vertical metal ends on a conductor at z = {1e3 * face:g} mm, into which its currents would flow, but "
                "only walls take currents: let the conductor be below=Conductor(sigma) or 'pec' (or above=), or end "
                "the metal before it"
            )
    flat = mesh.vertices[mesh.triangles[~upright]]
    for x, y, z in centres[~np.isin(edges, mesh.triangle_edges[~upright])]:
        at = flat[np.abs(flat[:, :, 2] - z).max(axis=1) < close]
        if len(at) and _inside(np.array([x, y]), at[:, :, :2]):
            raise MeshError(
                f"vertical metal meets flat metal at ({1e3 * x:g}, {1e3 * y:g}, {1e3 * z:g}) mm, where this has no "
                "edge: join them by planar.ribbon below a line of edges, or by planar.via; vertices at the same "
                "place, by mesh.merged_vertices()"
            )


def _faces_of_conductors(sections: Sections) -> set[float]:
    """Heights of the faces of layers that conduct as well as a wall at which currents may end."""
    bottom, top = sections.spans
    sheets = np.abs(np.sqrt(sections.mu / sections.eps)) / np.minimum(1, np.abs(sections.wavenumbers) * (top - bottom))
    chosen = ~sections.travels & (sheets < POOREST)
    return set(np.concatenate([bottom[chosen], top[chosen]]).tolist())


def _inside(point: np.ndarray, corners: np.ndarray) -> bool:
    """Whether a point lies in one of the triangles (n, 3, 2)."""
    a = corners - point
    b = np.roll(a, -1, axis=1)
    turn = a[..., 0] * b[..., 1] - a[..., 1] * b[..., 0]
    return bool(((turn >= 0).all(axis=1) | (turn <= 0).all(axis=1)).any())
