"""Fans: the triangles around each vertex, in order."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calderon.mesh.errors import MeshError
from calderon.mesh.topology import connected
from calderon.mesh.triangles import TriangleMesh


@dataclass(frozen=True, eq=False)
class Fans:
    """The corners 3 t + i (local vertex i of triangle t) sorted by fan, counter-clockwise within each.

    A vertex at which two sheets touch has two fans. corners (3 nt,); start (n + 1,): fan f holds the corners
    start[f] to start[f + 1]; closed (n,): whether the last triangle meets the first, which on open surfaces fails at
    boundary vertices; there the fan runs from one boundary edge to the other. fan, place (3 nt,): where each corner is
    found.
    """

    corners: NDArray[np.int64]
    start: NDArray[np.int64]
    closed: NDArray[np.bool_]
    fan: NDArray[np.int64]
    place: NDArray[np.int64]


def fans(mesh: TriangleMesh) -> Fans:
    """The fans of a mesh. MeshError where three or more triangles meet at an edge, which have no order around it."""
    wrong = np.flatnonzero(mesh.edge_triangle_counts > 2)
    if len(wrong):
        raise MeshError(
            f"{len(wrong)} edges (first {wrong[:5].tolist()}) have three triangles or more: the triangles around their "
            "ends have no order, which dual functions need; make a mesh of each part of the surface"
        )
    # corners of triangles are joined to fans where one follows the other around a vertex
    following = _following(mesh)
    number = len(following)
    inner = np.flatnonzero(following >= 0)
    fan = connected(inner, following[inner], number)
    size = np.bincount(fan)
    # a fan begins at the boundary, or at any corner if it is closed
    corner = np.unique(fan, return_index=True)[1]
    at_boundary = np.setdiff1d(np.arange(number), following[inner])
    corner[fan[at_boundary]] = at_boundary
    closed = np.ones(len(size), dtype=bool)
    closed[fan[at_boundary]] = False
    # the place of each corner in its fan, around all fans at once
    place = np.empty(number, dtype=np.int64)
    for rounds in range(size.max()):
        going = np.flatnonzero(size > rounds)
        place[corner[going]] = rounds
        corner[going] = following[corner[going]]
    return Fans(np.lexsort((place, fan)), np.append(0, np.cumsum(size)), closed, fan, place)


def _following(mesh: TriangleMesh) -> NDArray[np.int64]:
    """(3 nt,) the corner counter-clockwise after each around the same vertex, -1 at the boundary.

    The triangle after corner i lies across local edge i + 1, and runs along it from the vertex: it is its local edge
    e with the vertex at e + 1.
    """
    positions = np.arange(3 * mesh.number_of_triangles)
    first, second = mesh.paired_sides
    across = np.full(len(positions), -1)
    across[first], across[second] = second, first
    triangle, local = np.divmod(positions, 3)
    other = across[3 * triangle + (local + 1) % 3]
    return np.where(other >= 0, 3 * (other // 3) + (other % 3 + 1) % 3, -1)
