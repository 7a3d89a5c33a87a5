"""Even or graded triangles on a smooth closed surface: split long edges, collapse short ones, flip, relax, project;
repeat.

Botsch and Kobbelt (Symposium on Geometry Processing 2004) with every step done on many edges at once: edges whose
surroundings do not touch are chosen by priority, so the result is deterministic. The mesh stays closed and manifold.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from calderon.mesh.errors import MeshError
from calderon.mesh.shapes.grading import Projection, Sizes, doubled_areas
from calderon.mesh.topology import edge_table


class Limits(NamedTuple):
    """Fractions of the wanted length outside of which edges are split or collapsed, and the least cosine between the
    normals of a triangle before and after a collapse, or of the two after a flip."""

    long: float = 1.36
    short: float = 0.70
    cosine: float = 0.2


LIMITS = Limits()


def remeshed(
    vertices: NDArray,
    triangles: NDArray,
    h: float,
    project: Projection,
    fixed: NDArray | None = None,
    sizes: Sizes | None = None,
    longest: float = 1.48,
) -> tuple[NDArray, NDArray]:
    """Vertices and triangles of mean edge length h on the surface onto which project (n, 3) -> (n, 3) brings points.

    The mesh given must be closed, manifold and near the surface; vertices marked in fixed (nv,) stay (tips). sizes:
    wanted edge lengths at points (n, 3), relative to each other; no edge is longer than `longest` h all the same.
    """
    fixed = np.zeros(len(vertices), dtype=bool) if fixed is None else fixed.copy()
    mesh = _Remeshing(vertices, triangles, fixed, project, h, sizes, longest * h / LIMITS.long)
    # rounds of splitting, contracting and flipping edges, then of moving vertices; targets follow the mean edge
    nearest = np.inf
    for attempt in range(7):
        rounds = 5 if attempt == 0 else 2
        for step in range(rounds + 4):  # the last four only flip and relax
            if step < rounds:
                mesh.split_long()
                mesh.collapse_short()
            mesh.flip_to_delaunay()
            mesh.relax()
        mesh.flip_to_delaunay()
        mean = edge_lengths(mesh.vertices, mesh.pairs()[0]).mean()
        if abs(mean / h - 1) < nearest:
            nearest, best = abs(mean / h - 1), replace(mesh, fixed=mesh.fixed.copy())
        if nearest < 0.03 or (nearest < 0.06 and attempt > 1):
            break
        mesh.target *= h / mean
    # no edge of the best attempt may be too long
    best.target, best.sizes = longest * h / LIMITS.long, None
    best.split_long()
    best.refuse_poor(h)
    return best.vertices, best.triangles


@dataclass
class _Remeshing:
    """A closed mesh that changes: its vertices, triangles, and which vertices stay (nv,).

    project (n, 3) -> (n, 3): where vertices belong. Edges have the length target times sizes (n, 3) -> (n,), None for
    1, but at most `longest`.
    """

    vertices: NDArray
    triangles: NDArray
    fixed: NDArray
    project: Projection
    target: float
    sizes: Sizes | None
    longest: float

    def edge_length(self) -> NDArray:
        """The wanted edge length (nv,) at the vertices."""
        if self.sizes is None:
            return np.full(len(self.vertices), self.target)
        return np.minimum(self.target * self.sizes(self.vertices), self.longest)

    def relative(self, edges: NDArray) -> NDArray:
        """Lengths of edges (n,) over the wanted ones."""
        return edge_lengths(self.vertices, edges) / self.edge_length()[edges].mean(axis=1)

    def pairs(self) -> tuple[NDArray, NDArray, NDArray]:
        """Edges (ne, 2), the two triangles at each (ne, 2) and the vertices opposite in them (ne, 2)."""
        edges, _, incidence = edge_table(self.triangles, len(self.vertices))
        local = incidence.reshape(-1, 2)
        return edges, local // 3, self.triangles.ravel()[local]

    def split_long(self) -> None:
        """Halve edges above 1.36 times the wanted length, the longest of each triangle first, until there are none."""
        self.triangles = self.triangles.copy()
        for _ in range(60):
            edges, sides, _ = self.pairs()
            lengths = self.relative(edges)
            chosen = np.flatnonzero(lengths > LIMITS.long)
            if len(chosen) == 0:
                return
            chosen = chosen[_best_of(sides[chosen], _ranks(-lengths[chosen]), len(self.triangles))]
            middle = self.project(self.vertices[edges[chosen]].mean(axis=1))
            new = len(self.vertices) + np.arange(len(chosen))
            added = []
            for side in (0, 1):
                own = self.triangles[sides[chosen, side]]
                second = np.where(own == edges[chosen, 1][:, None], new[:, None], own)
                added.append(np.where(own == edges[chosen, 0][:, None], new[:, None], own))
                self.triangles[sides[chosen, side]] = second
            self.vertices = np.concatenate([self.vertices, middle])
            self.fixed = np.concatenate([self.fixed, np.zeros(len(new), dtype=bool)])
            self.triangles = np.concatenate([self.triangles, *added])

    def collapse_short(self) -> None:
        """Contract edges below 0.7 times the wanted length where the surface stays manifold, unfolded and without
        edges above 1.36 times that length."""
        for attempt in range(10):
            edges = self.pairs()[0]
            lengths = self.relative(edges)
            candidates = np.flatnonzero((lengths < LIMITS.short) & ~self.fixed[edges].all(axis=1))
            # a shortest edge that cannot be contracted must not block its neighbours: later attempts shuffle
            shuffle = 1 + 0.4 * np.modf(0.6180339887 * attempt * candidates)[0]
            ends, place, good = self._tried(edges, candidates, lengths[candidates] * shuffle)
            if not good.any():
                return
            ends, place = ends[good], place[good]
            self.vertices = self.vertices.copy()
            self.vertices[ends[:, 0]] = place
            self.fixed[ends[:, 0]] |= self.fixed[ends[:, 1]]
            target = np.arange(len(self.vertices))
            target[ends[:, 1]] = ends[:, 0]
            self.triangles = target[self.triangles]
            proper = (self.triangles != self.triangles[:, [1, 2, 0]]).all(axis=1)
            used = np.ones(len(self.vertices), dtype=bool)
            used[ends[:, 1]] = False
            self.triangles = (np.cumsum(used) - 1)[self.triangles[proper]]
            self.vertices, self.fixed = self.vertices[used], self.fixed[used]

    def _tried(self, edges: NDArray, candidates: NDArray, order: NDArray) -> tuple[NDArray, NDArray, NDArray]:
        """Ends (n, 2), place of contraction (n, 3) and success (n,) of candidates far apart from each other, first by
        order."""
        good = np.zeros(0, dtype=bool)
        ends, place = np.zeros((0, 2), dtype=np.int64), np.zeros((0, 3))
        longest = LIMITS.long * self.edge_length()
        for _ in range(4):
            if len(candidates) == 0 or good.any():
                break
            far = _far_apart(edges, candidates, _ranks(order), len(self.vertices))
            ends = edges[candidates[far]]
            place = self.project(self.vertices[ends].mean(axis=1))
            place = np.where(self.fixed[ends[:, 0]][:, None], self.vertices[ends[:, 0]], place)
            place = np.where(self.fixed[ends[:, 1]][:, None], self.vertices[ends[:, 1]], place)
            good = self._contractible(edges, ends, place, longest)
            candidates, order = candidates[~far], order[~far]
        return ends, place, good

    def _contractible(self, edges: NDArray, ends: NDArray, place: NDArray, longest: NDArray) -> NDArray:
        """Mask of edges (ends) that can be contracted to place: two common neighbours, no fold, no edge longer than the
        mean of `longest` at its vertices."""
        number = len(self.vertices)
        rows = np.concatenate([edges[:, 0], edges[:, 1]])
        columns = np.concatenate([edges[:, 1], edges[:, 0]])
        neighbours: csr_array = coo_array((np.ones(len(rows)), (rows, columns)), shape=(number, number)).tocsr()
        good = np.asarray(neighbours[ends[:, 0]].multiply(neighbours[ends[:, 1]]).sum(axis=1)).ravel() == 2
        good &= (np.diff(neighbours.indptr)[ends].sum(axis=1)) > 7
        # triangles that stay when an edge contracts, and change: with one vertex at an end of it
        owner = np.full(number, -1)
        owner[ends] = np.arange(len(ends))[:, None]
        moved = self.vertices.copy()
        moved[ends] = place[:, None]
        which = owner[self.triangles].max(axis=1)
        near = np.flatnonzero((which >= 0) & ((owner[self.triangles] >= 0).sum(axis=1) == 1))
        before, after = (doubled_areas(points, self.triangles[near]) for points in (self.vertices, moved))
        # their normals may not turn away from the mean around the edge
        around = np.zeros((len(ends), 3))
        np.add.at(around, which[near], before)
        reference = around[which[near]]
        fold = _cosine(after, reference) < np.minimum(LIMITS.cosine, _cosine(before, reference) - 1e-9)
        # nor may their edges become too long
        corners, limits = moved[self.triangles[near]], longest[self.triangles[near]]
        lengths = np.linalg.norm(corners - corners[:, [1, 2, 0]], axis=2)
        long = (lengths > 0.5 * (limits + limits[:, [1, 2, 0]])).any(axis=1)
        good[which[near[fold | long]]] = False
        return good

    def flip_to_delaunay(self, sweeps: int = 12) -> None:
        """Flip edges whose opposite angles exceed 180 degrees together, while the surface stays unfolded."""
        self.triangles = self.triangles.copy()
        for _ in range(sweeps):
            edges, sides, opposite = self.pairs()
            a, b = self.vertices[edges[:, 0]], self.vertices[edges[:, 1]]
            cosines, sines = [], []
            for side in (0, 1):
                u, v = a - self.vertices[opposite[:, side]], b - self.vertices[opposite[:, side]]
                cosines.append((u * v).sum(axis=1))
                sines.append(np.linalg.norm(np.cross(u, v), axis=1))
            # sine of the sum of the angles, times positive lengths
            excess = cosines[0] * sines[1] + cosines[1] * sines[0]
            scale = np.hypot(cosines[0], sines[0]) * np.hypot(cosines[1], sines[1])
            chosen = np.flatnonzero(excess < -1e-6 * scale)
            if len(chosen) == 0:
                return
            chosen = chosen[self._flippable(edges, sides, opposite, chosen)]
            if len(chosen) == 0:
                return
            # neither two flips in one triangle nor two that take an edge from the same vertex
            groups = np.concatenate([sides[chosen], len(self.triangles) + edges[chosen]], axis=1)
            rank = _ranks(excess[chosen] / scale[chosen])
            chosen = chosen[_best_of(groups, rank, len(self.triangles) + len(self.vertices))]
            key = np.sort(opposite[chosen], axis=1) @ np.array([len(self.vertices), 1])
            chosen = chosen[np.sort(np.unique(key, return_index=True)[1])]
            first, second = self._after_flip(sides, opposite, chosen)
            self.triangles[sides[chosen, 0]], self.triangles[sides[chosen, 1]] = first, second

    def _after_flip(self, sides: NDArray, opposite: NDArray, chosen: NDArray) -> tuple[NDArray, NDArray]:
        """The two triangles after the flip, oriented as the old ones: (c, d, b) and (d, c, a) for the edge a -> b."""
        own = self.triangles[sides[chosen, 0]]
        c, d = opposite[chosen].T
        position = np.argmax(own == c[:, None], axis=1)
        row = np.arange(len(chosen))
        a, b = own[row, (position + 1) % 3], own[row, (position + 2) % 3]
        return np.stack([c, d, b], axis=1), np.stack([d, c, a], axis=1)

    def _flippable(self, edges: NDArray, sides: NDArray, opposite: NDArray, chosen: NDArray) -> NDArray:
        """Mask: the new edge does not exist yet, no vertex drops below three edges, the new triangles do not fold."""
        number = len(self.vertices)
        keys = edges @ np.array([number, 1])
        new = np.sort(opposite[chosen], axis=1) @ np.array([number, 1])
        at = np.minimum(np.searchsorted(keys, new), len(keys) - 1)
        good = (keys[at] != new) & (opposite[chosen, 0] != opposite[chosen, 1])
        degree = np.bincount(edges.ravel(), minlength=number)
        good &= (degree[edges[chosen]] > 3).all(axis=1)
        before = doubled_areas(self.vertices, self.triangles[sides[chosen].ravel()]).reshape(-1, 2, 3).sum(axis=1)
        before /= np.linalg.norm(before, axis=1)[:, None]
        for after in self._after_flip(sides, opposite, chosen):
            vector = doubled_areas(self.vertices, after)
            good &= (vector * before).sum(axis=1) > LIMITS.cosine * np.linalg.norm(vector, axis=1)
        return good

    def relax(self) -> None:
        """Move every free vertex toward the mean of the centroids around it, weighted by area over wanted area, along
        the surface, and onto it.

        Without the normal part of the move, which would smooth edges that are sharper than the triangles.
        """
        vectors = doubled_areas(self.vertices, self.triangles)
        areas = np.linalg.norm(vectors, axis=1) / self.edge_length()[self.triangles].mean(axis=1) ** 2
        gather = coo_array(
            (np.ones(self.triangles.size), (self.triangles.ravel(), np.repeat(np.arange(len(self.triangles)), 3))),
            shape=(len(self.vertices), len(self.triangles)),
        ).tocsr()
        centre = (gather @ (self.vertices[self.triangles].mean(axis=1) * areas[:, None])) / (gather @ areas)[:, None]
        normal = gather @ vectors
        normal /= np.maximum(np.linalg.norm(normal, axis=1), 1e-300)[:, None]
        move = centre - self.vertices
        move -= (move * normal).sum(axis=1)[:, None] * normal
        self.vertices = np.where(self.fixed[:, None], self.vertices, self.project(self.vertices + move))

    def refuse_poor(self, h: float) -> None:
        """MeshError if edges cannot follow the shape: it is thinner than h somewhere."""
        edges, sides, _ = self.pairs()
        vectors = doubled_areas(self.vertices, self.triangles)
        height = np.linalg.norm(vectors, axis=1)
        corners = self.vertices[self.triangles]
        longest = np.linalg.norm(corners - corners[:, [1, 2, 0]], axis=2).max(axis=1)
        mean = edge_lengths(self.vertices, edges).mean()
        folded = np.count_nonzero(_cosine(vectors[sides[:, 0]], vectors[sides[:, 1]]) < -0.9)
        if abs(mean / h - 1) > 0.12 or (height < 0.15 * longest**2).any() or folded:
            raise MeshError(f"h = {h:g} is too large for this shape, which is thinner somewhere: try {h / 2:g} or less")


def edge_lengths(vertices: NDArray, edges: NDArray) -> NDArray:
    return np.linalg.norm(vertices[edges[:, 1]] - vertices[edges[:, 0]], axis=1)


def _best_of(groups: NDArray, rank: NDArray, size: int) -> NDArray:
    """Mask of the candidates (n,) whose rank is the lowest in all their groups (n, k)."""
    lowest = np.full(size, len(rank))
    np.minimum.at(lowest, groups, np.broadcast_to(rank[:, None], groups.shape))
    return (lowest[groups] == rank[:, None]).all(axis=1)


def _ranks(values: NDArray) -> NDArray:
    rank = np.empty(len(values), dtype=np.int64)
    rank[np.argsort(values, kind="stable")] = np.arange(len(values))
    return rank


def _far_apart(edges: NDArray, candidates: NDArray, rank: NDArray, number: int) -> NDArray:
    """Mask of candidate edges such that no two of them are joined by an edge: lowest rank within the neighbourhood."""
    lowest = np.full(number, len(candidates))
    np.minimum.at(lowest, edges[candidates], np.broadcast_to(rank[:, None], (len(candidates), 2)))
    for _ in range(2):
        around = lowest.copy()
        np.minimum.at(around, edges[:, 0], lowest[edges[:, 1]])
        np.minimum.at(around, edges[:, 1], lowest[edges[:, 0]])
        lowest = around
    return (lowest[edges[candidates]] == rank[:, None]).all(axis=1)


def _cosine(u: NDArray, v: NDArray) -> NDArray:
    lengths = np.linalg.norm(u, axis=1) * np.linalg.norm(v, axis=1)
    return (u * v).sum(axis=1) / np.maximum(lengths, 1e-300)
