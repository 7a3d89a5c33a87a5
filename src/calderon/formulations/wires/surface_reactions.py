"""Double integrals between wires and surfaces of triangles, and of currents at the vertices where wires end.

The electric field of a current f, tested with g, and the magnetic one are

    T(g, f) = ik int int G (g . f - k^-2 div g div f),        K(g, f) = int g . (curl int G f).                     (1)

On a triangle the functions of edges are s (x - v), so that int G and int x G over triangles give all of them. Next to a
wire triangles are cut towards it, and R^2 = d^2 + a^2 with the distance d from its axis and its radius a.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.spatial import cKDTree

from calderon.backends.numba import kernel
from calderon.backends.threads import run_tasks
from calderon.formulations.wires.attachment import Attachments
from calderon.formulations.wires.cut_triangles import cut_towards, rule_points, split_at
from calderon.formulations.wires.radiation import turnings
from calderon.formulations.wires.reactions import inner_reactions
from calderon.potentials.sources.point_triangle import Plane, point_triangle_integrals
from calderon.spaces import EdgeSpace

Complex = NDArray[np.complex128]
Floats = NDArray[np.float64]
Numbers = NDArray[np.int64]
DEGREE, WIDE = 4, 2.0
"""Degree of the rule on triangles that are not cut, and longest edges within which pairs with a point are."""
TO_WIRE, TO_POINT = 16, 5
"""Times that a triangle is halved at most towards a wire, and towards a point for 1/R times a current at an end."""
CHUNK = 2048
"""Points that are computed together."""


@kernel
def fill_potentials(points, segments, low, high, k, inner, out):
    """int phi_b exp(ikR) / R over segments (n, 8), b = 0, 1, at the points low to high of points (m, 3), to out (m, n,
    2). k, inner (2,): as in `inner_reactions`."""
    for i in range(low, high):
        for j in range(len(segments)):
            square = segments[j, 7] ** 2
            inner_reactions(points[i, 0], points[i, 1], points[i, 2], segments[j], square, k, inner)
            out[i, j, 0], out[i, j, 1] = inner[0], inner[1]


def segment_potentials(points: Floats, segments: Floats, k: complex) -> Complex:
    """(m, n, 2) int phi_b G ds' over segments (n, 8), b = 0, 1, at points (m, 3)."""
    out = np.empty((len(points), len(segments), 2), np.complex128)
    x, given = np.ascontiguousarray(points), np.ascontiguousarray(segments)

    def work(task: int) -> None:
        inner = np.empty(2, np.complex128)
        fill_potentials(x, given, task * CHUNK, min(len(x), (task + 1) * CHUNK), complex(k), inner, out)

    run_tasks(work, -(-len(x) // CHUNK))
    return out / (4 * np.pi)


@dataclass(frozen=True, eq=False)
class SurfaceReactions:
    """Between the functions of edges of a surface (`space`), segments (n, 8) of wires next to it, as in
    `reactions.half_matrix`, and currents where these end on it; k in 1/m."""

    space: EdgeSpace
    segments: Floats
    attachments: Attachments
    k: complex

    @cached_property
    def _combinations(self) -> tuple[sp.csr_array, list[sp.csr_array]]:
        """(dimension, nt) scales s of the functions on triangles, and s v_c for c = x, y, z."""
        space = self.space
        kept = space.dofs >= 0
        columns = np.repeat(space.triangles[:, None], 3, axis=1)[kept]
        opposite = space.mesh.vertices[space.mesh.triangles[space.triangles]][kept]
        shape = space.dimension, space.mesh.number_of_triangles

        def of(values: Floats) -> sp.csr_array:
            return sp.coo_array((values, (space.dofs[kept], columns)), shape).tocsr()

        scale = space.scale[kept]
        return of(scale), [of(scale * opposite[:, c]) for c in range(3)]

    def tested(self, charge: Complex, plain: Complex, moved: Complex) -> Complex:
        """(dimension, m) ik (int f . A - k^-2 int div f phi) of columns of triangle integrals (nt, m): charge: of phi,
        plain (3, nt, m): of A, moved: of x . A."""
        s, sv = self._combinations
        along = s @ moved - sum(sv[c] @ plain[c] for c in range(3))
        return np.asarray(1j * self.k * (along - 2 / self.k**2 * (s @ charge)))

    @cached_property
    def _near_wires(self) -> tuple[Numbers, Floats, Floats]:
        """(m,) triangles, points (m, 3) and weights (m,) of the surface, cut towards the wires."""
        corners = self.space.mesh.vertices[self.space.mesh.triangles]
        begin, along = self.segments[:, :3], self.segments[:, 3:6]
        length, square = self.segments[:, 6], self.segments[:, 7] ** 2
        tree = cKDTree(begin + along * (length / 2)[:, None])
        some = min(len(self.segments), 8)

        def distance(_: Numbers, centres: Floats) -> Floats:
            near = tree.query(centres, k=some)[1].reshape(-1, some)
            offset = centres[:, None] - begin[near]
            s = np.clip(np.einsum("mni,mni->mn", offset, along[near]), 0, length[near])
            gap = np.sum((offset - s[..., None] * along[near]) ** 2, axis=2)
            return np.asarray(np.sqrt((gap + square[near]).min(axis=1)))

        owners, parts = cut_towards(corners, distance, TO_WIRE)
        order = np.argsort(owners, kind="stable")
        x, w = rule_points(parts[order], DEGREE)
        return np.repeat(owners[order], x.shape[1]), x.reshape(-1, 3), w.ravel()

    def _summed(self, triangles: Numbers, values: Complex) -> Complex:
        """(nt, m) sums of values (n, m) at points in order of their triangles."""
        out = np.zeros((self.space.mesh.number_of_triangles, values.shape[1]), np.complex128)
        first = np.flatnonzero(np.diff(triangles, prepend=-1))
        out[triangles[first]] = np.add.reduceat(values, first, axis=0)
        return out

    def electric_of_wires(self) -> Complex:
        """(dimension, 2 n) T between edges and both halves of all segments."""
        triangles, x, w = self._near_wires
        nt, n = self.space.mesh.number_of_triangles, len(self.segments)
        plain, moved = (np.zeros((nt, 2 * n), np.complex128) for _ in range(2))
        along = np.repeat(self.segments[:, 3:6], 2, axis=0)
        for some in (slice(low, low + CHUNK) for low in range(0, len(x), CHUNK)):
            values = w[some, None] * segment_potentials(x[some], self.segments, self.k).reshape(-1, 2 * n)
            plain += self._summed(triangles[some], values)
            moved += self._summed(triangles[some], values * (x[some] @ along.T))
        return self.tested(self._charges(plain), [plain * along[:, c] for c in range(3)], moved)  # type: ignore[arg-type]

    def _charges(self, potentials: Complex) -> Complex:
        """Integrals (..., 2 n) of phi' G, by those of phi G."""
        pairs = potentials.reshape(*potentials.shape[:-1], -1, 2)
        slope = pairs.sum(axis=-1) / self.segments[:, 6]
        return np.stack([-slope, slope], axis=-1).reshape(potentials.shape)

    def electric_of_ends(self) -> tuple[Complex, Complex, Complex]:
        """T of the currents at ends of wires (f functions): with edges (dimension, f), with halves of segments (f, 2
        n), and among themselves (f, f)."""
        ends, n, f = self.attachments, len(self.segments), self.attachments.count
        with_halves = np.zeros((f, 2 * n), np.complex128)
        radius = float(self.segments[:, 7].min())
        along = np.repeat(self.segments[:, 3:6], 2, axis=0)
        rows, x, w, values = ends.points(radius, 5)
        for some in (slice(low, low + CHUNK) for low in range(0, len(x), CHUNK)):
            own = segment_potentials(x[some], self.segments, self.k).reshape(-1, 2 * n)
            charge = (w * ends.divergences[rows])[some, None] * self._charges(own) / self.k**2
            part = 1j * self.k * (w[some, None] * (values[some] @ along.T) * own - charge)
            np.add.at(with_halves, ends.feet[rows[some]], part)
        rows, x, w, values = ends.points()
        charge, plain, moved = self._at_ends(x, rows, w, values)
        among = self._charges_among_ends(x, rows, w) + self._currents_among_ends()
        return self.tested(charge, plain, moved), with_halves, (among + among.T) / 2

    def _at_ends(self, x: Floats, rows: Numbers, w: Floats, values: Floats) -> tuple[Complex, Complex, Complex]:
        """Integrals over triangles, as of `tested`, of the potentials of the currents at ends."""
        mesh, ends = self.space.mesh, self.attachments
        corners = mesh.vertices[mesh.triangles]
        y, wy = rule_points(corners, DEGREE)
        charge, moved = (np.zeros((len(corners), ends.count), np.complex128) for _ in range(2))
        plain = np.zeros((3, len(corners), ends.count), np.complex128)
        size = mesh.edge_lengths[mesh.triangle_edges].max(axis=1)
        for some in (slice(low, low + 64) for low in range(0, len(x), 64)):
            g = self._green(x[some, None, None] - y) * wy
            zeroth, first = g.sum(axis=2), np.einsum("mtq,tqi->mti", g, y)
            near = np.linalg.norm(x[some, None] - mesh.centroids, axis=2) < WIDE * size
            at, triangles = np.nonzero(near)
            zeroth[at, triangles], first[at, triangles] = self._near_moments(x[some][at], triangles)
            feet = np.eye(ends.count)[ends.feet[rows[some]]] * w[some, None]
            currents = feet[:, None] * values[some, :, None]
            charge += np.einsum("mt,mf->tf", zeroth, feet * ends.divergences[rows[some], None])
            plain += np.einsum("mt,mif->itf", zeroth, currents)
            moved += np.einsum("mti,mif->tf", first, currents)
        return charge, plain, moved

    def _near_moments(self, x: Floats, triangles: Numbers) -> tuple[Complex, Complex]:
        """int G and int y G over triangles (n,) for points x (n, 3), in closed form but for what is smooth."""
        mesh = self.space.mesh
        corners = mesh.vertices[mesh.triangles]
        densities = np.tile(np.eye(3, dtype=complex), (len(corners), 1, 1))  # 1, u and v
        plane = Plane.of(corners, mesh.normals, densities)
        order = np.argsort(triangles, kind="stable")
        found = np.empty((len(x), 3), np.complex128)
        found[order] = point_triangle_integrals(x[order], plane, triangles[order], self.k, False, False)[..., 0]
        found /= 4 * np.pi
        origin, sides = corners[triangles, 0], corners[triangles, 1:] - corners[triangles, :1]
        return found[:, 0], found[:, :1] * origin + np.einsum("nu,nui->ni", found[:, 1:], sides)

    def _green(self, difference: Floats) -> Complex:
        r = np.linalg.norm(difference, axis=-1)
        return np.asarray(np.exp(1j * self.k * r) / (4 * np.pi * r))

    def _charges_among_ends(self, x: Floats, rows: Numbers, w: Floats) -> Complex:
        """(f, f) the second part of T of currents at ends."""
        ends = self.attachments
        out = np.zeros((ends.count, ends.count), np.complex128)
        for foot, triangle, divergence in zip(ends.feet, ends.triangles, ends.divergences, strict=True):
            potential = divergence * self._near_moments(x, np.full(len(x), triangle))[0]
            np.add.at(out, (ends.feet[rows], foot), w * ends.divergences[rows] * potential / (1j * self.k))
        return out

    def _currents_among_ends(self) -> Complex:
        """(f, f) the first part, with triangles cut towards the points and the vertices."""
        mesh, ends = self.space.mesh, self.attachments
        rows, x, w, values = ends.points(order=4)
        corners = mesh.vertices[mesh.triangles[ends.triangles]]
        tips = corners[np.arange(len(corners)), ends.corners]
        out = np.zeros((ends.count, ends.count), np.complex128)
        for row in range(len(corners)):  # the source
            own = ends.triangles[rows] == ends.triangles[row]
            pairs = np.concatenate([np.flatnonzero(~own), np.repeat(np.flatnonzero(own), 3)])
            same = np.repeat(corners[row : row + 1], len(x), axis=0)
            whole = np.concatenate([same[~own], split_at(x[own], same[own])])
            places = x[pairs]

            def distance(at: Numbers, centres: Floats, x: Floats = places, tip: Floats = tips[row]) -> Floats:
                return np.minimum(np.linalg.norm(x[at] - centres, axis=1), np.linalg.norm(tip - centres, axis=1))

            owners, parts = cut_towards(whole, distance, TO_POINT)
            owners = pairs[owners]
            y, wy = rule_points(parts)
            source = ends.values(np.full(y.shape[0] * y.shape[1], row), y.reshape(-1, 3)).reshape(y.shape)
            g = self._green(x[owners, None] - y) * wy
            dots = np.einsum("mi,mqi,mq->m", values[owners], source, g)
            np.add.at(out, (ends.feet[rows[owners]], ends.feet[row]), 1j * self.k * w[owners] * dots)
        return out

    def magnetic(self) -> Complex:
        """(dimension, 2 n + f) K between edges and the halves of segments, then the currents at ends."""
        triangles, x, w = self._near_wires
        rows, y, wy, values = self.attachments.points()
        feet = np.eye(self.attachments.count)[self.attachments.feet[rows]]
        s, sv = self._combinations
        count = 2 * len(self.segments) + self.attachments.count
        total = np.zeros((self.space.dimension, count), np.complex128)
        for some in (slice(low, low + 512) for low in range(0, len(x), 512)):
            fields = turnings(self.segments, self.k, x[some]).reshape(len(x[some]), -1, 3)
            if len(y):
                difference = x[some, None] - y
                r = np.linalg.norm(difference, axis=2)
                slope = wy * np.exp(1j * self.k * r) * (1j * self.k - 1 / r) / (4 * np.pi * r**2)
                curl = np.cross(difference, values) * slope[..., None]
                fields = np.concatenate([fields, np.einsum("mqi,qf->mfi", curl, feet)], axis=1)
            fields = w[some, None, None] * fields
            moved = np.einsum("mfi,mi->mf", fields, x[some])
            total += s @ self._summed(triangles[some], moved)
            for c in range(3):
                total -= sv[c] @ self._summed(triangles[some], fields[..., c])
        return total
