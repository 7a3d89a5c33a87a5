"""Unknowns at edges where any number of surfaces meet, and how they give the currents of each region.

In a region r the currents are J = n x H and M = -n x E with the normal n into r, on all triangles that touch it. Around
an edge the n faces, sorted by angle, leave n sectors, each in one region. The function of a sector flows out of one of
its faces and into the next. Across an interface the tangential fields are continuous and n turns round, so that the
functions of both sectors have the same coefficient; at metal H jumps. So with m > 0 faces of metal the sectors between
two of them have one coefficient of J, and with none all have one. M has one coefficient where no metal is, and none
elsewhere, where it would be E along the metal. Both sides of a sheet within a region add up to one current: where that
is all around an edge, the sum of all functions is zero and one of them is left out.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.formulations.composite.finite_gaps import cells_of, driven_currents
from calderon.formulations.composite.skeleton import NONE, Skeleton
from calderon.formulations.ports.finite_gap import FiniteGap
from calderon.spaces import RWG, EdgeSpace

Numbers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class RegionTraces:
    """The currents of a region: coefficients in `space` are electric @ x and magnetic @ x, both (dimension, unknowns)
    sparse, of all unknowns x. driven: the part of `electric` that generators in gaps of finite width have."""

    space: EdgeSpace
    electric: sp.csr_array
    magnetic: sp.csr_array
    driven: sp.csr_array

    @property
    def has_magnetic(self) -> bool:
        """Whether there are currents M: none where metal is all around."""
        return self.magnetic.nnz > 0

    def widened(self, unknowns: int) -> "RegionTraces":
        """These currents, where there are so many unknowns: further ones have no part in them."""
        if unknowns == self.electric.shape[1]:
            return self
        parts = [self.electric.copy(), self.magnetic.copy(), self.driven.copy()]
        for each in parts:
            each.resize((each.shape[0], unknowns))
        return RegionTraces(self.space, *parts)


@dataclass(frozen=True, eq=False)
class Junctions:
    """The unknowns at all edges of a skeleton, in the order of its sectors, then the currents of generators in `gaps`
    of finite width."""

    skeleton: Skeleton
    gaps: tuple[FiniteGap, ...] = ()

    @cached_property
    def regions(self) -> Numbers:
        """(3 nt,) the region of each sector, -1 in metal."""
        return self.skeleton.sides.ravel()[self.skeleton.sectors.sides[0]]

    @cached_property
    def _numbers(self) -> tuple[Numbers, Numbers, int]:
        """(3 nt,) the unknown of J and that of M of each sector, -1 for none, and the number of all."""
        sectors, regions = self.skeleton.sectors, self.regions
        edges, begins, count = sectors.edges, sectors.begins, self.skeleton.mesh.number_of_edges
        metal = self.skeleton.is_metal[sectors.places // 3]
        faces, total = np.bincount(edges, metal, count).astype(np.int64), np.cumsum(metal)
        passed: Numbers = total - (total - metal)[begins[edges]]  # faces of metal up to the first face of the sector
        group = np.where(faces[edges] > 0, (passed - 1) % np.maximum(faces[edges], 1), 0)
        groups = np.maximum(faces, 1)
        # one function fewer where sheets have one region all around
        all_metal = faces == np.bincount(edges, minlength=count)
        one_region = np.bincount(edges, regions != regions[begins[edges]], count) == 0
        kept = (regions != NONE) & ~((all_metal & one_region)[edges] & (group == groups[edges] - 1))
        starts = np.cumsum(groups) - groups
        used = np.zeros(int(groups.sum()), bool)
        used[(starts[edges] + group)[kept]] = True
        electric = np.where(kept, (np.cumsum(used) - 1)[starts[edges] + group], NONE)
        free = faces == 0
        magnetic = np.where(free[edges], (np.cumsum(free) - 1)[edges] + int(used.sum()), NONE)
        return electric, magnetic, int(used.sum() + free.sum())

    @property
    def dimension(self) -> int:
        """The number of unknowns: of J, then of M, then of gaps."""
        return self._numbers[2] + len(self.gaps)

    def place(self, gap: FiniteGap) -> int:
        """The number of the unknown of a gap of finite width; ValueError for another than those of these unknowns."""
        cells = cells_of(gap, self.skeleton.mesh)
        for number, own in enumerate(self.gaps, start=self._numbers[2]):
            if np.array_equal(cells_of(own, self.skeleton.mesh), cells):
                return number
        raise ValueError(f"the gap of the cells {gap.cells!r} is none of this problem")

    @cached_property
    def traces(self) -> tuple[RegionTraces, ...]:
        """The currents of each region."""
        return tuple(self._traces(number) for number in range(len(self.skeleton.names)))

    def _traces(self, region: int) -> RegionTraces:
        mesh, whole = self.skeleton.walls[region].mesh, self.skeleton.mesh
        space = RWG(mesh)
        triangles = self.skeleton.triangles_of(region)
        # edges of the part in the numbers of the whole, and the place of each face among those of its edge, by the
        # numbers of the triangles, as functions join them
        edges = whole.triangle_edges[triangles].ravel()
        positions = (3 * triangles[:, None] + np.arange(3)).ravel()
        own = np.unique(edges)
        order = np.argsort(edges, kind="stable")
        rank = np.empty(3 * whole.number_of_triangles, np.int64)
        rank[positions[order]] = np.arange(len(order)) - np.searchsorted(edges[order], edges[order])
        first = np.searchsorted(space.edges, np.arange(mesh.number_of_edges))
        sectors = self.skeleton.sectors
        chosen = np.flatnonzero(self.regions == region)
        start, end = rank[sectors.places[chosen]], rank[sectors.places[sectors.following[chosen]]]
        begin = first[np.searchsorted(own, sectors.edges[chosen])] + np.minimum(start, end)
        length = np.abs(end - start)
        rows = np.repeat(begin, length) + np.arange(length.sum()) - np.repeat(np.cumsum(length) - length, length)
        values = np.repeat(np.where(end > start, 1.0, -1.0), length)
        found = []
        for numbers in self._numbers[:2]:
            columns = np.repeat(numbers[chosen], length)
            kept = columns >= 0
            shape = space.dimension, self.dimension
            matrix = sp.coo_array((values[kept], (rows[kept], columns[kept])), shape).tocsr()
            matrix.eliminate_zeros()
            found.append(matrix)
        driven = driven_currents(self.gaps, self.skeleton, region, space, self.dimension)
        return RegionTraces(space, found[0] + driven, found[1], driven)
