"""Sectors around the edges of a mesh: what lies between two faces that follow each other by angle."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.mesh import TriangleMesh

SAME_ANGLE = 1e-6
"""Angle in radians between faces that lie on each other."""
Numbers = NDArray[np.int64]
Mask = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Sectors:
    """One sector for each pair (triangle, edge of it), from that face to the next one by angle; the same face where it
    is alone. Sorted by edge and angle; n = 3 nt. Raises ValueError, with the edges, where faces lie on each other."""

    mesh: TriangleMesh

    @cached_property
    def edges(self) -> Numbers:
        """(n,) the edge of each sector, increasing."""
        return self.mesh.triangle_edges.ravel()[self.places]

    @cached_property
    def begins(self) -> Numbers:
        """(edges,) the first sector of each edge."""
        return np.searchsorted(self.edges, np.arange(self.mesh.number_of_edges))

    @property
    def places(self) -> Numbers:
        """(n,) numbers 3 t + i of the local edges of the first faces."""
        return self._sorted[0]

    @property
    def following(self) -> Numbers:
        """(n,) the sector after each one, which begins at its second face."""
        return self._sorted[1]

    @property
    def upper(self) -> Mask:
        """(n,) whether a sector lies on the side of the normal of its first face."""
        return self._sorted[2]

    @cached_property
    def _sorted(self) -> tuple[Numbers, Numbers, Mask]:
        mesh = self.mesh
        edges = mesh.triangle_edges.ravel()
        ends = mesh.vertices[mesh.edges[edges]]
        along = _unit(ends[:, 1] - ends[:, 0])
        inward = mesh.vertices[mesh.triangles.ravel()] - ends[:, 0]
        inward = _unit(inward - np.einsum("ni,ni->n", inward, along)[:, None] * along)
        # angles from the first face of each edge
        first = np.full(mesh.number_of_edges, len(edges))
        np.minimum.at(first, edges, np.arange(len(edges)))
        axis = inward[first[edges]]
        upward = np.einsum("ni,ni->n", inward, np.cross(along, axis))
        angle = np.arctan2(upward, np.einsum("ni,ni->n", inward, axis))
        angle = np.where(np.abs(angle) < SAME_ANGLE, 0.0, angle % (2 * np.pi))
        places = np.lexsort((angle, edges))
        begins = np.flatnonzero(np.diff(edges[places], prepend=-1))
        following = np.arange(1, len(edges) + 1)
        following[np.append(begins[1:], len(edges)) - 1] = begins
        step = (angle[places[following]] - angle[places]) % (2 * np.pi)
        on_each_other = (following != np.arange(len(edges))) & (np.minimum(step, 2 * np.pi - step) < SAME_ANGLE)
        refuse(mesh, edges[places[on_each_other]], "has faces that lie on each other")
        normals = np.repeat(mesh.normals, 3, axis=0)
        upper = np.einsum("ni,ni->n", np.cross(along, inward), normals) > 0
        return places, following, upper[places]

    @cached_property
    def sides(self) -> tuple[Numbers, Numbers]:
        """(n,) the sides of faces at which sectors begin and end: 2 t on that of the normal of triangle t, 2 t + 1 on
        the other one."""
        start = 2 * (self.places // 3) + ~self.upper
        end = 2 * (self.places // 3) + self.upper
        return start, end[self.following]

    @cached_property
    def shells(self) -> Numbers:
        """(2 nt,) numbers of what sides of faces are connected to each other through sectors: the walls of cells."""
        size = 2 * self.mesh.number_of_triangles
        start, end = self.sides
        graph = sp.coo_array((np.ones(len(start)), (start, end)), (size, size))
        return sp.csgraph.connected_components(graph, directed=False)[1].astype(np.int64)


def _unit(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def refuse(mesh: TriangleMesh, edges: Numbers, what: str) -> None:
    """ValueError that lists the edges, if there are any, with the tags of their triangles."""
    if not len(edges):
        return
    edges = np.unique(edges)
    tags = np.unique(mesh.tags[np.isin(mesh.triangle_edges, edges).any(axis=1)]).tolist()
    called = [next((name for name, tag in mesh.names.items() if tag == each), each) for each in tags]
    ends = mesh.vertices[mesh.edges[edges[0]]].round(6).tolist()
    raise ValueError(
        f"the mesh {what}, at {len(edges)} edges (first {edges[:5].tolist()}, from {ends[0]} to {ends[1]}) of the tags "
        f"{called}"
    )
