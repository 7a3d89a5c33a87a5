"""Round contacts in flat metal, where the inner conductor of a probe ends."""

from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from calderon.mesh.coincident import compacted
from calderon.mesh.errors import MeshError
from calderon.mesh.tolerances import TOLERANCES
from calderon.mesh.triangles import TriangleMesh

SIDES = 6
"""Sides of the polygon that is a round contact."""


class Contact(NamedTuple):
    """Around a contact the triangles (6,) next to its edges, and the numbers (6,) of the vertices opposite to these."""

    triangles: NDArray[np.int64]
    opposite: NDArray[np.int64]


def with_contact(mesh: TriangleMesh, place: tuple[float, float], radius: float, z: float) -> TriangleMesh:
    """The mesh with a hexagon that has the perimeter of a circle about (x, y) at the height z, in metres.

    Triangles around it are replaced. Raises MeshError where the metal does not reach around the contact.
    """
    x, points = mesh.vertices[:, :2] - np.asarray(place), _points(radius)
    flat = np.abs(mesh.vertices[mesh.triangles, 2] - z).max(axis=1) < TOLERANCES.near * mesh.diameter
    upright = mesh.triangles[~flat]
    removed = flat.copy()
    removed[flat] = _distances(x[mesh.triangles[flat]]) < 2 * points[1, 0]
    for _ in range(6):
        border = _border(mesh, removed)
        found = _filled(x, border, points) if len(border) and _encloses(x[border], points[1, 0]) else None
        if found is not None:
            inside = np.setdiff1d(mesh.triangles[removed], border)
            if np.isin(inside, upright).any():
                raise MeshError(
                    f"other vertical metal stands within {2e3 * radius:g} mm of a contact at ({1e3 * place[0]:g}, "
                    f"{1e3 * place[1]:g}) mm: move one of them, or choose smaller radii"
                )
            return _joined(mesh, removed, found, points + np.asarray(place), z)
        removed = removed | (np.isin(mesh.triangles, mesh.triangles[removed]).any(axis=1) & flat)
    raise MeshError(
        f"a contact of radius {1e3 * radius:g} mm at ({1e3 * place[0]:g}, {1e3 * place[1]:g}) mm, z = {1e3 * z:g} mm, "
        "is not surrounded by metal: move the port, or choose a smaller radius"
    )


def contact_ring(place: tuple[float, float], radius: float) -> NDArray[np.float64]:
    """(6, 2) corners of the hexagon."""
    return _points(radius)[1:] + np.asarray(place)


def contact_in(mesh: TriangleMesh, place: tuple[float, float], radius: float, z: float) -> Contact:
    """The contact that `with_contact` inserted, also after others were."""
    points = np.column_stack([_points(radius) + np.asarray(place), np.full(SIDES + 1, z)])
    centre, *on = scipy.spatial.cKDTree(mesh.vertices).query(points)[1]
    ring = np.isin(mesh.triangles, on)
    chosen = np.flatnonzero((ring.sum(axis=1) == 2) & ~(mesh.triangles == centre).any(axis=1))
    return Contact(chosen, ring[chosen].argmin(axis=1))


def _points(radius: float) -> NDArray[np.float64]:
    """The centre and the corners (7, 2) of a hexagon about the origin."""
    angles = 2 * np.pi * np.arange(SIDES) / SIDES
    corners = 2 * np.pi * radius / SIDES * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    return np.concatenate([[[0.0, 0.0]], corners])


def _distances(corners: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n,) of triangles with corners (n, 3, 2) from the origin."""
    after = np.roll(corners, -1, axis=1)
    edge = after - corners
    t = np.clip(-(corners * edge).sum(axis=2) / (edge**2).sum(axis=2), 0, 1)
    distance = np.linalg.norm(corners + t[:, :, None] * edge, axis=2).min(axis=1)
    turn = corners[:, :, 0] * after[:, :, 1] - corners[:, :, 1] * after[:, :, 0]
    return np.where((turn >= 0).all(axis=1) | (turn <= 0).all(axis=1), 0.0, distance)


def _border(mesh: TriangleMesh, removed: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Edges (n, 2), vertex numbers, that one removed triangle has, as it runs along them."""
    t = mesh.triangles[removed]
    edges = np.concatenate([t[:, [0, 1]], t[:, [1, 2]], t[:, [2, 0]]])
    return edges[~np.isin(_keys(edges, mesh), _keys(edges[:, ::-1], mesh))]


def _keys(edges: NDArray[np.int64], mesh: TriangleMesh) -> NDArray[np.int64]:
    return edges[:, 0] * mesh.number_of_vertices + edges[:, 1]


def _encloses(ends: NDArray[np.float64], outer: float) -> bool:
    """Whether a border of edges (n, 2, 2) runs once around the contact, and not through it."""
    start, end = ends[:, 0], ends[:, 1]
    turn = np.arctan2(start[:, 0] * end[:, 1] - start[:, 1] * end[:, 0], (start * end).sum(axis=1))
    edge = end - start
    t = np.clip(-(start * edge).sum(axis=1) / (edge**2).sum(axis=1), 0, 1)
    near = np.linalg.norm(start + t[:, None] * edge, axis=1).min()
    return bool(abs(abs(turn.sum()) - 2 * np.pi) < 1e-6 and near > 1.2 * outer)


def _filled(
    x: NDArray[np.float64], border: NDArray[np.int64], hexagon: NDArray[np.float64]
) -> NDArray[np.int64] | None:
    """Triangles between the border and the hexagon, and of it: the number of a vertex, or -1 - n for point n of the
    hexagon; None where edges of the border are lost."""
    ring = np.unique(border)
    points = np.concatenate([x[ring], hexagon])
    t = scipy.spatial.Delaunay(points).simplices.astype(np.int64)
    a, b, c = points[t[:, 0]], points[t[:, 1]], points[t[:, 2]]
    area = (b - a)[:, 0] * (c - a)[:, 1] - (b - a)[:, 1] * (c - a)[:, 0]
    t[area < 0] = t[area < 0][:, ::-1]
    middle = (a + b + c) / 3
    start, end = x[border[:, 0]] - middle[:, None], x[border[:, 1]] - middle[:, None]
    turn = np.arctan2(start[..., 0] * end[..., 1] - start[..., 1] * end[..., 0], (start * end).sum(axis=2)).sum(axis=1)
    t = t[
        (np.abs(turn) > np.pi) & (np.abs(area) > TOLERANCES.same * hexagon[1, 0] ** 2)
    ]  # not of three points on a line
    numbers = np.concatenate([ring, -1 - np.arange(len(hexagon))])
    if turn.size and turn[np.abs(turn).argmax()] < 0:
        t = t[:, ::-1]
    t = numbers[t]
    there = {tuple(each) for each in np.concatenate([t[:, [0, 1]], t[:, [1, 2]], t[:, [2, 0]]]).tolist()}
    return t if all(tuple(each) in there for each in border.tolist()) else None


def _joined(
    mesh: TriangleMesh, removed: NDArray[np.bool_], filled: NDArray[np.int64], hexagon: NDArray[np.float64], z: float
) -> TriangleMesh:
    new = np.where(filled < 0, mesh.number_of_vertices - 1 - filled, filled)
    places = np.concatenate([mesh.vertices, np.column_stack([hexagon, np.full(len(hexagon), z)])])
    places, triangles = compacted(places, np.concatenate([mesh.triangles[~removed], new]))
    tags = np.concatenate([mesh.tags[~removed], np.full(len(new), mesh.tags[removed][0])])
    return TriangleMesh(places, triangles, tags, mesh.names)
