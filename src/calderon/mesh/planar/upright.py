"""Vertical metal: ribbons below lines of edges, and round vias, cut into flat metal that they join."""

from collections.abc import Sequence

import numpy as np
import scipy
from numpy.typing import ArrayLike, NDArray

from calderon.mesh.errors import MeshError
from calderon.mesh.planar.contacts import SIDES, contact_ring, with_contact
from calderon.mesh.planar.grid import cells_across, cells_of_grid, strip_lines
from calderon.mesh.sizes import cells_of, positive, room_for_surface
from calderon.mesh.tolerances import TOLERANCES
from calderon.mesh.triangles import TriangleMesh
from calderon.validation import instance, place_in_plane, real_numbers, unmasked


def ribbon(
    line: ArrayLike, heights: ArrayLike, h: float, mesh: TriangleMesh | None = None, cells: int = 4
) -> TriangleMesh:
    """Vertical strip over the line from (x, y) to (x, y), through all heights z from the first to the last, in metres.

    heights: two or more that increase or decrease, as (0, board.top), or stack.interfaces where it crosses layers. h:
    greatest height of its cells. mesh: flat metal with edges on the line at one of the heights, which the ribbon joins
    there; without it, a strip of so many cells, narrower at its edges. Raises MeshError where the mesh has no edges.
    """
    pair = "a pair of different points (x, y) in metres"
    ends = real_numbers(line, (2, 2), "line", pair, MeshError)
    if np.array_equal(*ends):
        raise MeshError(f"line is {pair}, got {line!r}")
    instance(mesh, TriangleMesh | None, "a ribbon joins a mesh of triangles or None")
    h = positive("h", h)
    levels = _levels(heights, h)
    length = float(np.linalg.norm(ends[1] - ends[0]))
    room_for_surface(length * float(np.ptp(levels)), min(h, length / cells_across(cells)))
    if mesh is None:
        places = strip_lines(0.0, 1.0, cells)
    else:
        places = _edges_on(mesh, ends, unmasked(heights, "heights").astype(float))
    along = ends[0] + places[:, None] * (ends[1] - ends[0])
    return _joined(mesh, along, levels, closed=False)


def via(
    mesh: TriangleMesh, place: tuple[float, float], radius: float, heights: ArrayLike, h: float | None = None
) -> TriangleMesh:
    """Flat metal with a round via, or the inner conductor of a probe, at (x, y): a tube of six sides with the perimeter
    of a circle, cut into the metal at each of the heights z that has some there, in metres.

    heights: as of `ribbon`. h: greatest height of its cells, by default four sides. Raises MeshError where metal
    does not surround it.
    """
    instance(mesh, TriangleMesh, "a via is cut into a mesh of triangles")
    x, y = place_in_plane(place, "the place of a via in m")
    radius = positive("radius", radius)
    side = 2 * np.pi * radius / SIDES
    levels = _levels(heights, 4 * side if h is None else positive("h", h))
    close, cut = TOLERANCES.near * mesh.diameter, False
    for z in unmasked(heights, "heights").astype(float).tolist():
        flat = (np.abs(mesh.vertices[mesh.triangles, 2] - z) < close).all(axis=1)
        low, high = mesh.vertices[mesh.triangles[flat], :2].min(axis=(0, 1), initial=np.inf), None
        if flat.any():
            high = mesh.vertices[mesh.triangles[flat], :2].max(axis=(0, 1))
        if high is not None and np.all(low < [x, y]) and np.all(high > [x, y]):
            mesh, cut = with_contact(mesh, (x, y), radius, z), True
    if not cut:
        raise MeshError(
            f"there is no metal at ({1e3 * x:g}, {1e3 * y:g}) mm at the heights {1e3 * np.asarray(heights)} mm: a via "
            "joins flat metal; a post that stands free is a ribbon"
        )
    return _joined(mesh, contact_ring((x, y), radius), levels, closed=True)


def _levels(heights: ArrayLike, h: float) -> NDArray[np.float64]:
    """All heights of vertices."""
    needed = "two or more z in metres that increase, or decrease"
    z = real_numbers(heights, (None,), "the list of heights", needed, MeshError)
    steps = np.diff(z)
    if len(z) < 2 or not ((steps > 0).all() or (steps < 0).all()):
        raise MeshError(f"the list of heights is {needed}, got {heights!r}")
    parts: Sequence[NDArray[np.float64]] = [
        low + (high - low) * np.arange(cells_of(abs(high - low), h)) / cells_of(abs(high - low), h)
        for low, high in zip(z[:-1], z[1:], strict=True)
    ]
    return np.concatenate([*parts, z[-1:]])


def _edges_on(mesh: TriangleMesh, ends: NDArray[np.float64], heights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Places from 0 to 1 on the line of the vertices of edges that cover it, at one of the heights."""
    close, length = TOLERANCES.near * mesh.diameter, float(np.linalg.norm(ends[1] - ends[0]))
    unit = (ends[1] - ends[0]) / length
    along = (mesh.vertices[:, :2] - ends[0]) @ unit
    off = np.linalg.norm(mesh.vertices[:, :2] - ends[0] - along[:, None] * unit, axis=1)
    for z in heights.tolist():
        on = (off < close) & (along > -close) & (along < length + close) & (np.abs(mesh.vertices[:, 2] - z) < close)
        edges = mesh.edges[on[mesh.edges].all(axis=1)]
        if len(edges) and abs(np.abs(np.diff(along[edges], axis=1)).sum() - length) < 2 * close:
            places = np.sort(along[np.unique(edges)]) / length
            return np.asarray(np.concatenate([[0.0], places[1:-1], [1.0]]))
    raise MeshError(
        f"edges of the metal do not cover the line from {1e3 * ends[0]} to {1e3 * ends[1]} mm at one of the heights "
        f"{1e3 * heights} mm: take a line between corners of its cells, as along an outline"
    )


def _joined(
    mesh: TriangleMesh | None, along: NDArray[np.float64], levels: NDArray[np.float64], closed: bool
) -> TriangleMesh:
    """Cells between points (n, 2) at all levels, with the vertices that the mesh has there."""
    n, m = len(along), len(levels)
    points = np.column_stack([np.tile(along, (m, 1)), np.repeat(levels, n)])
    a, d, c, b = cells_of_grid(m, n, wrap=closed)[0].T
    triangles = np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])
    if mesh is None:
        return TriangleMesh(points, triangles)
    # points at a vertex of the mesh take its number, others follow
    distance, nearest = scipy.spatial.cKDTree(mesh.vertices).query(points)
    own = distance > TOLERANCES.near * mesh.diameter
    numbers = np.where(own, mesh.number_of_vertices - 1 + np.cumsum(own), nearest)
    tag, new = np.full(len(triangles), int(mesh.tags.max()) + 1), numbers[triangles]
    size = len(mesh.vertices) + len(points)
    there, same = _directed(mesh.triangles, size), _directed(new, size)
    if np.isin(same, there).sum() > np.isin(_directed(new[:, ::-1], size), there).sum():
        new = new[:, ::-1]  # neighbours run along a common edge in opposite directions
    return TriangleMesh(
        np.concatenate([mesh.vertices, points[own]]),
        np.concatenate([mesh.triangles, new]),
        np.concatenate([mesh.tags, tag]),
        mesh.names,
    )


def _directed(triangles: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """A number for each edge of each triangle, in the direction in which it runs there."""
    return np.asarray((triangles * size + np.roll(triangles, -1, axis=1)).ravel())
