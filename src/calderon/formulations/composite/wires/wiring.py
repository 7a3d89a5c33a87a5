"""Wires next to and on the surfaces of a region of composite bodies: further rows and columns of their equation.

Wires have the k and z of the region that they lie in, z relative to the impedance eta of the region around. Their
unknowns are eta I, those of the surfaces eta J and M, all of which E, and on interfaces -H, are tested with: with T and
K of `wires.surface_reactions` the rows of a surface have C_J' z T - C_M' K, those of wires the transpose and
z T - (Z' + Z_load) / eta among themselves. Where a wire ends on a vertex of metal its current flows into the surface of
this region by the function of `wires.attachment`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from calderon.formulations.checks import warn_long_segments
from calderon.formulations.composite.junctions import RegionTraces
from calderon.formulations.composite.skeleton import Skeleton
from calderon.formulations.composite.wires.wired_currents import WireSources
from calderon.formulations.electromagnetic.dielectric_regions import Region
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
    """Wires in one region. region: its number; around: its currents; perfect (nt,): which triangles of its walls are
    perfect conductors; medium: its constants; eta: the impedance of the region around in ohm; frequency in Hz; numbers:
    of the wires, for messages. ValueError for wires that cross surfaces, and for ends on one at no vertex of perfect
    metal."""

    wires: tuple[Wire, ...]
    skeleton: Skeleton
    region: int
    around: RegionTraces
    perfect: NDArray[np.bool_]
    medium: Region
    eta: float
    frequency: float
    numbers: tuple[int, ...]

    def __post_init__(self) -> None:
        if self.medium.conjugated:
            raise ValueError(f"wires lie in media without gain, and the region {self.skeleton.called(self.region)} has "
                             "it: take a strip of metal")  # fmt: skip
        require_beside(self.network, self._mesh, self.numbers)
        warn_long_segments(self.network.segments[:, 6], self.k)

    @property
    def k(self) -> complex:
        """The wavenumber of the region in 1/m."""
        found = complex(self.medium.wavenumber)
        return found if found.imag else found.real

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

    @cached_property
    def losses(self) -> sp.csr_array:
        """(N, N) int Z' of products of functions, in ohm."""
        halves = self._split[0]
        return sp.csr_array(halves.T @ self.network.losses(self.frequency) @ halves)

    @cached_property
    def _tested(self) -> tuple[Complex, Complex, Complex]:
        """z T and -K (dimension, N) of the functions, tested with those of the surfaces, and z T (N, N)."""
        halves, ends = self._split
        reactions, own, z = self._reactions, self._functions, self.medium.impedance
        with_surface, with_halves, among = reactions.electric_of_ends()
        electric = z * (np.hstack([reactions.electric_of_wires(), with_surface]) @ own)
        magnetic = -(reactions.magnetic() @ own) if self.around.has_magnetic else np.zeros_like(electric)
        mixed = ends.T @ (with_halves @ halves)
        return electric, magnetic, self._own + z * (ends.T @ among @ ends + mixed + mixed.T)

    @property
    def above(self) -> Complex:
        """(surface, N) rows of the surfaces."""
        electric, magnetic, _ = self._tested
        return np.asarray(self.around.electric.T @ electric + self.around.magnetic.T @ magnetic)

    @property
    def among(self) -> Complex:
        """(N, N) rows of the wires, without impedances."""
        return self._tested[2]

    def delivered(self, x: Complex, surfaces: Complex) -> float:
        """Time-averaged power in W that currents give to the medium by fields of wires, and wires by all fields: -1/2
        Re int (conj(J) . E + conj(M) . H). x (N,), surfaces (n,): unknowns over eta."""
        electric, magnetic, among = self._tested
        j, m = self.around.electric @ surfaces, self.around.magnetic @ surfaces
        e_on_wires = among @ x + electric.T @ j + magnetic.T @ m
        total = np.vdot(x, e_on_wires) + np.vdot(j, electric @ x) - np.vdot(m, magnetic @ x)
        return float(-0.5 * self.eta * np.real(total))

    @cached_property
    def _own(self) -> Complex:
        """z T among wires without surfaces."""
        return -self.medium.impedance * reaction_matrix(self.network.segments, self.k, False, self._split[0])

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

    def sources(self, x: Complex) -> WireSources:
        """The currents of wires, whose unknowns (N,) over eta are given, in A."""
        halves = (self._split[0] @ x).reshape(-1, 2)
        points, moments, charges = self._moments
        of_metal = slice(4 * len(halves), None)
        along = np.stack([(each.T @ x)[of_metal] for each in moments], axis=1)
        return WireSources(self.network.segments, halves, points[of_metal], along, (charges.T @ x)[of_metal])

    def lost(self, x: Complex) -> float:
        """Time-averaged power in W that the metal of wires takes."""
        return 0.5 * float(np.real(np.vdot(x, self.losses.real @ x)))


def require_beside(network: WireNetwork, mesh: TriangleMesh, numbers: Sequence[int]) -> None:
    """ValueError where a wire goes through a surface, or is nearer to one than its radius other than by an end on a
    vertex of metal. numbers: of the wires."""
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
                f"wire {numbers[network.owners[n]]} goes through a surface, or touches it, near {place}: end it on a "
                "vertex of metal that is a perfect conductor, with the same coordinates, or move it away by more than "
                "its radius"
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
