"""Wires next to and on the surfaces of composite bodies: further rows and columns of their equation.

Wires lie in the region around, whose k and eta they have. Their unknowns are eta I, those of the surfaces eta J and M,
all of which E, and on interfaces -H, are tested with: with T and K of `wires.surface_reactions` the rows of a surface
have C_J' T - C_M' K, those of wires the transpose and T - (Z' + Z_load) / eta among themselves. Where a wire ends on a
vertex of metal its current flows into the surface by the function of `wires.attachment`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from calderon.formulations.composite.junctions import RegionTraces
from calderon.formulations.composite.skeleton import Skeleton, located
from calderon.formulations.composite.wired_currents import WiredCurrents, WireSources
from calderon.formulations.electromagnetic.radiating_currents import RadiatingCurrents
from calderon.formulations.ports.board_slots import Lumped
from calderon.formulations.ports.gaps import WireGap
from calderon.formulations.wires.attachment import Attachments
from calderon.formulations.wires.network import JOINED, WireNetwork, segment_distances
from calderon.formulations.wires.reactions import reaction_matrix
from calderon.formulations.wires.surface_reactions import SurfaceReactions
from calderon.formulations.wires.wire import Wire
from calderon.mesh import TriangleMesh

Complex = NDArray[np.complex128]
Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Wiring:
    """Wires in the region around. around: its currents; perfect (nt,): which triangles of its walls are perfect
    conductors; k, eta: its constants, real, in 1/m and ohm; frequency in Hz. ValueError for wires that cross surfaces,
    end on one at no vertex of perfect metal, or lie in another region."""

    wires: tuple[Wire, ...]
    skeleton: Skeleton
    around: RegionTraces
    perfect: NDArray[np.bool_]
    k: float
    eta: float
    frequency: float

    def __post_init__(self) -> None:
        require_beside(self.network, self._mesh)
        middles = self.network.ends.mean(axis=1)
        wrong = np.flatnonzero(located(self.skeleton.walls, middles) != self.skeleton.unbounded)
        if len(wrong):
            raise ValueError(
                f"wire {self.network.owners[wrong[0]]} lies in a body, near {middles[wrong[0]].tolist()}: wires lie in "
                f"the region {self.skeleton.called(self.skeleton.unbounded)} around all others; take a strip of metal"
            )

    @property
    def _mesh(self) -> TriangleMesh:
        return self.around.space.mesh

    @property
    def dimension(self) -> int:
        """Number of unknowns."""
        return int(self._functions.shape[1])

    @cached_property
    def network(self) -> WireNetwork:
        """The wires, with the places where they end on metal."""
        mesh, bare = self._mesh, WireNetwork(self.wires)
        vertices = np.unique(mesh.triangles[self.perfect])
        if not len(vertices):
            return bare
        ends = bare.ends.reshape(-1, 3)
        distance, nearest = cKDTree(mesh.vertices[vertices]).query(ends)
        at = np.unique(vertices[nearest[distance <= JOINED * bare.segments[:, 6].min()]])
        return WireNetwork(self.wires, feet=mesh.vertices[at])

    @cached_property
    def _attachments(self) -> Attachments:
        feet = self.network.feet
        vertices = cKDTree(self._mesh.vertices).query(feet)[1] if len(feet) else np.zeros(0, np.int64)
        return Attachments.at(self._mesh, np.asarray(vertices, np.int64), self.perfect)

    @cached_property
    def _functions(self) -> sp.csr_array:
        """(2 n + f, N) of the functions the currents at both ends of segments, then those into feet, in A."""
        network, ends = self.network, self.network.ends.reshape(-1, 3)
        at = np.flatnonzero(network.standing >= 0)
        sign = np.where(at % 2, 1.0, -1.0)  # of currents that flow into the foot
        into = sp.csr_array((sign, (network.standing[at], at)), (len(network.feet), len(ends)))
        return sp.csr_array(sp.vstack([network.functions, into @ network.functions]))

    @cached_property
    def _reactions(self) -> SurfaceReactions:
        return SurfaceReactions(self.around.space, self.network.segments, self._attachments, self.k)

    def weights(self, gap: WireGap) -> Floats:
        """(N,) the current of each function through a gap."""
        return gap.weights(self.network)

    @cached_property
    def losses(self) -> sp.csr_array:
        """(N, N) int Z' of products of functions, in ohm."""
        halves = self._split[0]
        return sp.csr_array(halves.T @ self.network.losses(self.frequency) @ halves)

    def matrix(self, loads: Sequence[Lumped]) -> Complex:
        """(surface + N, N) the columns of the wires: above, of the rows of the surfaces, below, their own."""
        halves, ends = self._split
        reactions, own = self._reactions, self._functions
        with_surface, with_halves, among = reactions.electric_of_ends()
        electric = np.hstack([reactions.electric_of_wires(), with_surface])
        above = self.around.electric.T @ (electric @ own)
        if self.around.has_magnetic:
            above = above - self.around.magnetic.T @ (reactions.magnetic() @ own)
        below = self._own + ends.T @ among @ ends
        mixed = ends.T @ (with_halves @ halves)
        below = below + mixed + mixed.T - self.losses / self.eta
        for load in loads:
            w = self.weights(load.gap)  # type: ignore[arg-type]
            below = below - load.impedance_at(self.frequency) / self.eta * np.outer(w, w)
        return np.vstack([above, below])

    def own_block(self) -> sp.coo_array:
        """(all unknowns,) * 2 the columns of `matrix` among wires, over the largest entry times the size of the Gram
        matrix of the surface."""
        count = self.around.electric.shape[1]
        block = sp.coo_array(self._own / np.abs(self._own).max() * self._mesh.mean_edge_length**2)
        return sp.coo_array((block.data, (block.row + count, block.col + count)), (count + self.dimension,) * 2)

    @cached_property
    def _own(self) -> Complex:
        """T among wires without surfaces."""
        return -reaction_matrix(self.network.segments, self.k, False, self._split[0])

    @property
    def _split(self) -> tuple[sp.csr_array, sp.csr_array]:
        count = 2 * len(self.network.segments)
        return self._functions[:count], self._functions[count:]

    @cached_property
    def _moments(self) -> tuple[Floats, list[sp.csr_array], sp.csr_array]:
        """Points (q, 3) on wires and around feet, and (N, q) the moments of functions there along x, y and z, then
        their charges."""
        segments, (halves, ends) = self.network.segments, self._split
        nodes, weights = np.polynomial.legendre.leggauss(4)
        part = (nodes + 1) / 2
        on_wires = segments[:, None, :3] + part[:, None] * (segments[:, None, 6:7] * segments[:, None, 3:6])
        shapes = np.stack([1 - part, part], axis=1) * (weights / 2)[:, None]  # (q, 2)
        each = sp.kron(sp.diags_array(segments[:, 6]), shapes.T)
        rows, on_metal, w, values = self._attachments.points()
        feet = sp.csr_array((w, (self._attachments.feet[rows], np.arange(len(w)))), (ends.shape[0], len(w)))
        moments = []
        for c in range(3):
            of_wires = halves.T @ sp.csr_array(each) * np.repeat(segments[:, 3 + c], len(part))
            moments.append(sp.csr_array(sp.hstack([of_wires, ends.T @ feet * values[:, c]])))
        of_metal = ends.T @ feet * self._attachments.divergences[rows]
        charges = sp.csr_array(sp.hstack([sp.csr_array((of_metal.shape[0], len(part) * len(segments))), of_metal]))
        return np.concatenate([on_wires.reshape(-1, 3), on_metal]), moments, charges

    def tested(self, field: Callable[[Floats], Complex]) -> Complex:
        """(N,) -<f, E> of a field at points."""
        x, moments, _ = self._moments
        electric = field(x)
        return np.asarray(-sum(each @ electric[:, c] for c, each in enumerate(moments)))

    def echoes(self, r: Floats, vectors: Floats) -> Complex:
        """(N, m) -<f, E> of plane waves of the amplitudes `vectors` (m, 3) from directions r (m, 3)."""
        x, moments, _ = self._moments
        phases = np.exp(-1j * self.k * (x @ r.T))
        return np.asarray(-sum(each @ (phases * vectors[:, c]) for c, each in enumerate(moments)))

    def radiating(self, currents: RadiatingCurrents, x: Complex) -> WiredCurrents:
        """The currents of surfaces with those of wires, whose unknowns (N,) over eta are given, in A."""
        halves = (self._split[0] @ x).reshape(-1, 2)
        points, moments, charges = self._moments
        of_metal = slice(4 * len(halves), None)
        along = np.stack([(each.T @ x)[of_metal] for each in moments], axis=1)
        sources = WireSources(self.network.segments, halves, points[of_metal], along, (charges.T @ x)[of_metal])
        given = currents.electric_currents, currents.magnetic_currents
        return WiredCurrents(currents.wavenumber, currents.impedance, *given, wires=sources)

    def lost(self, x: Complex) -> float:
        """Time-averaged power in W that the metal of wires takes."""
        return 0.5 * float(np.real(np.vdot(x, self.losses.real @ x)))


def require_beside(network: WireNetwork, mesh: TriangleMesh) -> None:
    """ValueError where a wire goes through a surface, or is nearer to one than its radius other than by an end on a
    vertex of metal."""
    corners, size = mesh.vertices[mesh.triangles], mesh.edge_lengths.max()
    begin, along, length, radius = np.split(network.segments, [3, 6, 7], axis=1)
    standing = network.standing.reshape(-1, 2) >= 0
    tree, middles = cKDTree(mesh.centroids), network.ends.mean(axis=1)

    def shortened(part: Floats, n: int) -> Floats:
        """(2, 3) the ends of a segment, without a part (n, 1) where it stands on metal."""
        left = part[n] * standing[n]
        return np.stack([begin[n] + left[0] * along[n], begin[n] + (length[n] - left[1]) * along[n]])

    # next to metal on which they stand wires are nearer than their radius
    next_to_metal = np.minimum(length / 2, 2 * radius)
    for n, near in enumerate(tree.query_ball_point(middles, length[:, 0] / 2 + radius[:, 0] + size)):
        chosen = corners[near]
        hit = _crossed(shortened(JOINED * length, n), chosen)
        hit |= _clearance(shortened(next_to_metal, n), chosen) < radius[n] * (1 - 1e-9)
        if hit.any():
            place = chosen[hit][0].mean(axis=0).tolist()
            raise ValueError(
                f"wire {network.owners[n]} goes through a surface, or touches it, near {place}: end it on a vertex of "
                "metal that is a perfect conductor, with the same coordinates, or move it away by more than its radius"
            )


def _clearance(ends: Floats, corners: Floats) -> Floats:
    """(n,) distances between a segment (2, 3) and the edges of triangles (n, 3, 3), or of its ends from their insides:
    those from the triangles where it does not go through them."""
    segment = np.broadcast_to(ends, (len(corners), 2, 3))
    edges = (corners[:, [corner, (corner + 1) % 3]] for corner in range(3))
    found = np.min([segment_distances(segment, edge) for edge in edges], axis=0)
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    for end in ends:
        inside = np.ones(len(corners), bool)
        for corner in range(3):
            edge = corners[:, (corner + 1) % 3] - corners[:, corner]
            inside &= np.einsum("ni,ni->n", np.cross(edge, end - corners[:, corner]), normal) >= 0
        height = np.abs(np.einsum("ni,ni->n", end - corners[:, 0], normal))
        found = np.where(inside, np.minimum(found, height), found)
    return np.asarray(found)


def _crossed(ends: Floats, corners: Floats) -> NDArray[np.bool_]:
    """(n,) whether a segment (2, 3) meets triangles (n, 3, 3)."""
    along = ends[1] - ends[0]
    first, second = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    h = np.cross(along, second)
    determinant = np.einsum("ni,ni->n", first, h)
    with np.errstate(divide="ignore", invalid="ignore"):
        from_corner = ends[0] - corners[:, 0]
        u = np.einsum("ni,ni->n", from_corner, h) / determinant
        q = np.cross(from_corner, first)
        v, s = (q @ along) / determinant, np.einsum("ni,ni->n", second, q) / determinant
        found = (u >= -1e-9) & (v >= -1e-9) & (u + v <= 1 + 1e-9) & (s >= 0) & (s <= 1)
    size = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1) * np.linalg.norm(along)
    return np.asarray(found & (np.abs(determinant) >= 1e-12 * size))


def bordered(columns: Complex) -> sp.csr_array:
    """(n, n) the symmetric matrix whose last columns are these (n, m), and zero where neither rows nor columns are
    last."""
    count = columns.shape[0] - columns.shape[1]
    above, below = sp.csr_array(columns[:count]), sp.csr_array(columns[count:])
    return sp.csr_array(sp.block_array([[sp.csr_array((count, count)), above], [above.T, below]]))
