"""Edge functions of a cell that go on across its border into the next one, with the phase of the wave."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.floquet.lattice import Lattice
from calderon.floquet.transforms import transforms
from calderon.mesh import MeshError, TriangleMesh
from calderon.mesh.checks.crossings import crossing_pairs
from calderon.spaces import EdgeSpace
from calderon.spaces.edge.edge_space import edge_space

CLOSENESS = 1e-6
"""Fraction of the spacing of the cells within which ends of edges on opposite sides of the border are one point."""
NEIGHBOURS = ((1, 0), (0, 1), (1, 1), (1, -1))
"""Copies of the cell that may touch it, each of which stands for the opposite one as well."""
APART = 0.9
"""Distance of copies, as a fraction of the spacing of cells, at which what decays within a cell is left out."""


@dataclass(frozen=True, eq=False)
class BlochFunctions:
    """RWG functions f with f(x + a) = exp(i k_t . a) f(x) on a mesh that is repeated.

    halves: functions of the mesh alone, with half functions at all edges of one triangle. inner (n,): numbers of those
    that are whole. pairs (m, 2): half functions that `shift` (m, 2) joins: the edge of the second, moved by so
    many periods, is that of the first.
    """

    lattice: Lattice
    halves: EdgeSpace
    inner: NDArray[np.int64]
    pairs: NDArray[np.int64]
    shift: NDArray[np.int64]

    @staticmethod
    def of(mesh: TriangleMesh, lattice: Lattice) -> "BlochFunctions":
        """MeshError for a mesh whose copies overlap, or that meet in other edges; ValueError without functions."""
        _refuse_overlaps(mesh, lattice)
        halves = edge_space(mesh, np.arange(mesh.number_of_triangles), boundary=True)
        alone = np.flatnonzero(halves.sides[:, 1] < 0)
        pairs, shift = _joined(mesh, lattice, halves.edges[alone])
        inner = np.flatnonzero(halves.sides[:, 1] >= 0)
        if not len(inner) + len(pairs):
            raise ValueError("the cell has no functions: no edge has two triangles; refine the mesh")
        return BlochFunctions(lattice, halves, inner, alone[pairs], shift)

    @property
    def dimension(self) -> int:
        """How many functions there are."""
        return len(self.inner) + len(self.pairs)

    @cached_property
    def copies(self) -> NDArray[np.int64]:
        """(m, 2) copies nearer than APART, each of which stands for the opposite one as well: NEIGHBOURS of a mesh
        within a cell, further ones of a mesh that extends over more than one period."""
        lattice = self.lattice
        width = 2 * np.pi / np.linalg.norm(lattice.reciprocal, axis=1)  # of the cell, across its two pairs of sides
        # the mesh and the copy n periods on are (n - extent) width apart
        needed = _extent(self.halves.mesh, lattice) + APART * lattice.spacing / width
        first, second = np.maximum(np.ceil(needed).astype(np.int64) - 1, 1)
        steps = np.mgrid[0 : first + 1, -second : second + 1].reshape(2, -1).T
        return steps[(steps[:, 0] > 0) | (steps[:, 1] > 0)]

    def planes(self) -> list[tuple[float, NDArray[np.bool_], NDArray[np.int64]]]:
        """z of each plane with metal, from below, its triangles (nt,) and the numbers of its functions."""
        mesh = self.halves.mesh
        heights = mesh.centroids[:, 2]
        own = heights[self.halves.pairs[np.concatenate([self.inner, self.pairs[:, 0]]), 0]]
        order = np.sort(heights)
        gaps = np.flatnonzero(np.diff(order) > CLOSENESS * self.lattice.spacing)
        levels = [float(np.mean(each)) for each in np.split(order, gaps + 1)]
        near = [np.abs(heights - z) <= CLOSENESS * self.lattice.spacing for z in levels]
        return [
            (z, each, np.flatnonzero(np.abs(own - z) <= CLOSENESS * self.lattice.spacing))
            for z, each in zip(levels, near, strict=True)
        ]

    def combination(self, transverse: NDArray[np.float64]) -> sp.csr_array:
        """(halves.dimension, dimension): each function on the mesh, real for k_t = 0.

        Half functions are flows out of the mesh: what leaves through the first edge enters through the second.
        """
        number = np.arange(len(self.pairs)) + len(self.inner)
        phase = np.exp(-1j * (self.shift @ self.lattice.periods @ transverse))
        rows = np.concatenate([self.inner, self.pairs[:, 0], self.pairs[:, 1]])
        columns = np.concatenate([np.arange(len(self.inner)), number, number])
        values = np.concatenate([np.ones(len(self.inner) + len(number)), -phase])
        values = values if np.any(transverse) else values.real
        return sp.coo_array((values, (rows, columns)), (self.halves.dimension, self.dimension)).tocsr()

    def spectra(
        self, waves: NDArray[np.float64], along: NDArray[np.float64], transverse: NDArray[np.float64]
    ) -> NDArray[np.complex128]:
        """(2, n, dimension) their `transforms` over one cell, at waves K = k_t + m b."""
        combination = self.combination(transverse)
        return np.stack([each @ combination for each in transforms(self.halves, waves, along)])


def _joined(
    mesh: TriangleMesh, lattice: Lattice, edges: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(m, 2) pairs of places in `edges`, the second of which is the first after a move by (m, 2) periods."""
    reach = CLOSENESS * lattice.spacing
    ends = mesh.vertices[mesh.edges[edges]]
    middle, pairs, shifts = ends.mean(axis=1), [np.zeros((0, 2), np.int64)], [np.zeros((0, 2), np.int64)]
    for step in NEIGHBOURS:
        move = np.append(np.array(step) @ lattice.periods, 0.0)
        gap = np.abs(middle[:, None] - middle[None] - move).max(axis=2)
        first, second = np.nonzero(gap <= reach)
        far = np.abs(ends[first][:, :, None] - ends[second][:, None] - move).max(axis=3).min(axis=2).max(axis=1)
        same = far <= reach
        _refuse_other_edges(ends, middle + move, np.setdiff1d(np.arange(len(edges)), second[same]), reach)
        pairs.append(np.stack([first[same], second[same]], axis=1))
        shifts.append(np.tile(np.array(step), (int(np.count_nonzero(same)), 1)))
    found = np.concatenate(pairs)
    if len(found) and np.bincount(found.ravel()).max() > 1:
        raise MeshError("more than two triangles meet at an edge on the border of the cell: separate the copies")
    return found, np.concatenate(shifts)


def _refuse_other_edges(ends: NDArray, middle: NDArray, left: NDArray[np.int64], reach: float) -> None:
    """MeshError where the middle of an edge of those `left` lies on an edge (n, 2, 3) of the next cell."""
    along = ends[:, 1] - ends[:, 0]
    for number in left:
        from_start = middle[number] - ends[:, 0]
        place = np.clip(np.sum(from_start * along, axis=1) / np.sum(along**2, axis=1), 0, 1)
        if np.linalg.norm(from_start - place[:, None] * along, axis=1).min() <= reach:
            x, y, z = middle[number]
            raise MeshError(
                f"the copies meet at ({x:.6g}, {y:.6g}, {z:.6g}) m, but in different edges: divide opposite sides of "
                "the cell alike"
            )


def _extent(mesh: TriangleMesh, lattice: Lattice) -> NDArray[np.float64]:
    """(2,) of the triangles along each period, in periods."""
    places = mesh.vertices[mesh.used_vertices, :2] @ lattice.reciprocal.T / (2 * np.pi)
    return np.ptp(places, axis=0)


def _refuse_overlaps(mesh: TriangleMesh, lattice: Lattice) -> None:
    """MeshError where triangles overlap others or their copies."""
    extent = _extent(mesh, lattice)
    if extent.max() >= 2:
        raise MeshError(
            f"the mesh extends over {extent.max():.3g} periods: give the mesh of one cell, and the period in metres"
        )
    # with the mesh itself and with its copy in each neighbouring cell
    corners = mesh.vertices[mesh.triangles]
    low, high = corners.min(axis=(0, 1)), corners.max(axis=(0, 1))
    margin = CLOSENESS * lattice.spacing
    for step in ((0, 0), *NEIGHBOURS):
        move = np.append(np.array(step) @ lattice.periods, 0.0)
        own, copy = np.arange(len(corners)), np.arange(len(corners) if any(step) else 0)
        if any(step):  # triangles within the box of the copy, and those of the copy within that of the mesh
            own = own[_meets(corners, low + move, high + move, margin)]
            copy = copy[_meets(corners + move, low, high, margin)]
        if any(step) and not (len(own) and len(copy)):
            continue
        # triangles of both as one mesh, with corners at one place as one vertex
        both = np.concatenate([corners[own], corners[copy] + move])
        numbers = np.round((both.reshape(-1, 3) - low) / margin).astype(np.int64)
        vertices = np.unique(numbers, axis=0, return_inverse=True)[1].reshape(-1, 3)
        found = crossing_pairs(both, vertices)[:, 0]
        found = np.concatenate([found, _repeated(vertices)])
        if len(found):
            place = both[found[0]].mean(axis=0)
            raise MeshError(
                f"{len(found)} pairs of triangles overlap{' those of the next cell' if any(step) else ''}, the first "
                f"at ({place[0]:.6g}, {place[1]:.6g}, {place[2]:.6g}) m: choose a larger period or a smaller element"
            )


def _repeated(triangles: NDArray[np.int64]) -> NDArray[np.int64]:
    """Numbers of triangles (n, 3) with the same vertices as an earlier one."""
    first = np.unique(np.sort(triangles, axis=1), axis=0, return_index=True)[1]
    return np.setdiff1d(np.arange(len(triangles)), first)


def _meets(corners: NDArray, low: NDArray, high: NDArray, margin: float) -> NDArray[np.bool_]:
    """(n,) whether the boxes of triangles meet another one."""
    inside = (corners.min(axis=1) <= high + margin) & (corners.max(axis=1) >= low - margin)
    return np.asarray(inside.all(axis=1))
