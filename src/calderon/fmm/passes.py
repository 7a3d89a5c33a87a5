"""The passes between boxes: moments upwards (M2M), from box to box (M2L), local expansions downwards (L2L).

Vectors of r numbers of all boxes stand one after the other, those of several columns of one box next to each other.
Pairs of boxes with one matrix are done together (register_tiles.py); tasks write to boxes of their own.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.backends.numba import jitable_part, kernel
from calderon.backends.register_tiles import add_products
from calderon.backends.threads import in_parts
from calderon.backends.vectors import aligned, lanes, width
from calderon.fmm.tables import Tables
from calderon.products.lists import BLOCK, Lists, Runs, leaves_of_boxes
from calderon.products.octree import Octree

TOGETHER, LISTED = 24, 240
"""Vectors whose products with the first factor of a matrix are held at a time, in the first-level cache, and vectors
of pairs whose places are listed at a time."""
TIMES, SCRATCH_BYTES = 8, 64_000_000
"""Columns of a matrix that are passed at once at most, and bytes of their expansions, unless one takes more."""


@kernel
def multiply(matrix, vectors, count, given, s, apart, wanted, t, pitch, low, high):
    """Add products with one matrix A (columns, rows of whole vectors): wanted[t_i pitch ...] += A given[s_i apart ...].

    matrix: the columns of A, `count` of them, with `vectors` whole vectors each; given, wanted: numbers; s, t (n,):
    numbers of vectors there, `apart` and `pitch` numbers from one to the next, of which low up to, without, high are
    done.
    """
    lanes(matrix)
    add_products(matrix, 0, vectors, count, given, s, apart, wanted, t, pitch, low, high)


@jitable_part
def list_vectors(s, t, columns, begin, first, last, sources, targets):
    """Write to sources and targets (last - first,) the places of the vectors first up to, without, last of the pairs of
    boxes from number `begin` on: vector v belongs to pair begin + v // columns, and is the one of number v % columns
    of the `columns` that each box has. s, t (pairs,): source and target boxes.
    """
    pair, column = begin + first // columns, first % columns
    for k in range(last - first):
        sources[k], targets[k] = s[pair] * columns + column, t[pair] * columns + column
        column += 1
        if column == columns:
            pair, column = pair + 1, 0


@kernel
def translate(numbers, starts, vectors, rank, given, wanted, s, t, columns, runs, blocks, scale, scratch, low, high):
    """Add to the vectors of boxes those of other boxes times a matrix, for the blocks low up to, without, high of pairs
    of boxes.

    numbers: the matrices of all directions, one after the other from starts (directions,) on; each has two factors,
    with vectors (directions,) whole vectors between them, or one where that is 0. given, wanted (boxes columns rank,):
    of all boxes, `columns` vectors of rank numbers each; s, t (pairs,): boxes that are given and wanted; runs, blocks:
    of pairs with one direction, see `Runs`; scale (boxes,): factor of the vectors of each box of the blocks at the end,
    empty for none. scratch: room for products with a first factor.
    """
    width = lanes(numbers)
    whole, per_box = rank // width, columns * rank
    # places of products with the first factor
    sources, targets, slots = np.empty(LISTED, np.int64), np.empty(LISTED, np.int64), np.empty(LISTED, np.int64)
    for k in range(LISTED):
        slots[k] = k % TOGETHER
    for block in range(low, high):
        for q in range(blocks[block], blocks[block + 1]):
            v, count = runs[q, 0], (runs[q, 2] - runs[q, 1]) * columns
            n, at = vectors[v], starts[v]
            for first in range(0, count, LISTED):
                last = min(count, first + LISTED)
                list_vectors(s, t, columns, runs[q, 1], first, last, sources, targets)
                # one factor
                if n == 0:
                    add_products(numbers, at, whole, rank, given, sources, rank, wanted, targets, rank, 0,
                                 last - first)  # fmt: skip
                    continue
                # two factors, for as many vectors as the cache holds
                for begin in range(0, last - first, TOGETHER):
                    end = min(last - first, begin + TOGETHER)
                    for k in range((end - begin) * n * width):
                        scratch[k] = 0
                    add_products(numbers, at, n, rank, given, sources, rank, scratch, slots, n * width, begin, end)
                    add_products(
                        numbers, at + rank * n * width, whole, n * width, scratch, slots, n * width, wanted, targets,
                        rank, begin, end,
                    )  # fmt: skip
        # the scale of each box
        for box in range(block * BLOCK, min((block + 1) * BLOCK, len(scale))):
            f = scale[box]
            for k in range(box * per_box, (box + 1) * per_box):
                wanted[k] *= f


@dataclass(frozen=True, eq=False)
class Translations:
    """The passes of a tree with tables, for `columns` vectors of each box, or several times as many."""

    tree: Octree
    far: Runs
    tables: Tables
    columns: int = 1

    @property
    def real(self) -> np.dtype[Any]:
        """The type of the numbers."""
        return self.tables.numbers.dtype

    @property
    def size(self) -> int:
        """Numbers of all boxes, with `columns` vectors of each."""
        return len(self.tree.level) * self.columns * self.tables.rank

    @property
    def together(self) -> int:
        """How many times `columns` vectors of each box may be passed at once."""
        return max(1, min(TIMES, SCRATCH_BYTES // (2 * self.size * self.real.itemsize)))

    def empty(self, times: int = 1) -> NDArray[Any]:
        """Zero moments or local expansions of all boxes, for a multiple of `columns` vectors."""
        return aligned(times * self.size, self.real)

    def part(self, lists: Lists, low: int, high: int) -> "Translations":
        """The passes with local expansions of the boxes alone that have some of the leaves low up to, without, high."""
        first, last = leaves_of_boxes(self.tree, lists, 0, len(self.tree.level))
        return replace(self, far=self.far.to_boxes((last > low) & (first < high)))

    @cached_property
    def _levels(self) -> list[tuple[Runs, Runs]]:
        """The pairs of each level but the root: moments to parents, and local expansions from them."""
        tree, found = self.tree, []
        for low, high in tree.runs_of_levels()[1:]:
            boxes = np.arange(low, high)
            parent, octant = tree.parent[low:high].astype(np.int64), tree.octant[low:high]
            above = (parent - parent[0]) // (BLOCK // 4)
            up = Runs.of(boxes, parent, octant, above, 8)
            down = Runs.of(parent, boxes, octant, (boxes - low) // BLOCK, 8)
            found.append((up, down))
        return found

    def m2m(self, moments: NDArray[Any]) -> None:
        """Add the moments of children to their parents, from the leaves on."""
        for pairs, _ in reversed(self._levels[2:]):  # boxes of the first levels have no separated ones
            self._translate(self.tables.up.ravel(), *self._octants, pairs, moments, moments)

    def m2l(self, moments: NDArray[Any], local: NDArray[Any]) -> None:
        """Local expansions of all boxes from the moments of separated ones."""
        table, scale = self.tables, (1 / self.tree.edge).astype(self.real)
        self._translate(table.numbers, table.starts, table.vectors, self.far, moments, local, scale)

    def l2l(self, local: NDArray[Any]) -> None:
        """L2L: add the local expansions of parents to those of their children."""
        for _, pairs in self._levels[2:]:
            self._translate(self.tables.down.ravel(), *self._octants, pairs, local, local)

    @property
    def _octants(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """starts and vectors of the matrices of the eight children, which are whole."""
        return np.arange(8) * self.tables.rank**2, np.zeros(8, np.int64)

    def _translate(
        self,
        numbers: NDArray[Any],
        starts: NDArray[np.int64],
        vectors: NDArray[np.int64],
        pairs: Runs,
        given: NDArray[Any],
        wanted: NDArray[Any],
        scale: NDArray[Any] | None = None,
    ) -> None:
        """Add to wanted vectors (boxes columns r,) those given, by the matrices of pairs; arguments as in `translate`,
        scale: None for none."""
        columns = len(given) // (len(self.tree.level) * self.tables.rank)
        own = np.zeros(0, self.real) if scale is None else scale
        most = int(vectors.max()) * TOGETHER * width(self.real)

        def work(low: int, high: int) -> None:
            translate(numbers, starts, vectors, self.tables.rank, given, wanted, pairs.source, pairs.target, columns,
                      pairs.runs, pairs.blocks, own, aligned(most, self.real), low, high)  # fmt: skip

        in_parts(work, len(pairs.blocks) - 1)
