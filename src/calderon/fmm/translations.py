"""The passes between boxes: moments upwards, from box to box, local expansions downwards.

Vectors of r numbers of all boxes stand one after the other, those of several columns of one box next to each other.
Pairs of boxes with one matrix are done together (register_tiles.py); tasks write to boxes of their own.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.backends import run_tasks, thread_count
from calderon.backends.numba import kernel
from calderon.backends.vectors import aligned, lanes, width
from calderon.fmm.lists import BLOCK, Runs
from calderon.fmm.octree import Octree
from calderon.fmm.register_tiles import add_products
from calderon.fmm.tables import Tables

TOGETHER = 24
"""Pairs whose products with the first factor of a matrix are held at a time, in the first-level cache."""
TASKS = 6
"""Tasks of each thread."""


def in_parts(work: Callable[[int, int], Any], count: int) -> None:
    """work(low, high) for parts of range(count) on all threads; a single thing is done at once."""
    if count <= 1 or thread_count() == 1:
        if count:
            work(0, count)
        return
    parts = min(count, TASKS * thread_count())
    bounds = np.linspace(0, count, parts + 1).astype(np.int64).tolist()
    run_tasks(lambda n: work(bounds[n], bounds[n + 1]), parts)


@kernel
def multiply(matrix, vectors, count, given, s, apart, wanted, t, pitch, low, high):  # type: ignore[no-untyped-def]
    """wanted[t_i pitch ...] += A given[s_i apart ...], low <= i < high, with one matrix."""
    lanes(matrix)
    add_products(matrix, 0, vectors, count, given, s, apart, wanted, t, pitch, low, high)


@kernel
def shift(matrices, rank, given, wanted, s, t, runs, blocks, low, high):  # type: ignore[no-untyped-def]
    """The same with runs of several matrices (rank, rank), blocks low .. high."""
    vectors = rank // lanes(matrices)
    for q in range(blocks[low], blocks[high]):
        add_products(matrices, runs[q, 0] * rank * rank, vectors, rank, given, s, rank, wanted, t, rank, runs[q, 1],
                     runs[q, 2])  # fmt: skip


@kernel
def translate(
    numbers, starts, vectors, rank, moments, local, s, t, slot, runs, blocks, scale, per_box, scratch, low, high
):  # type: ignore[no-untyped-def]
    """Local expansions of the boxes of blocks low .. high from moments, by two factors or one, times scale of each."""
    width = lanes(numbers)
    whole = rank // width
    for block in range(low, high):
        for q in range(blocks[block], blocks[block + 1]):
            v, begin, end = runs[q, 0], runs[q, 1], runs[q, 2]
            n, first = vectors[v], starts[v]
            if n == 0:
                add_products(numbers, first, whole, rank, moments, s, rank, local, t, rank, begin, end)
                continue
            while begin < end:
                stop = min(end, begin + TOGETHER)
                for k in range(TOGETHER * n * width):
                    scratch[k] = 0
                add_products(numbers, first, n, rank, moments, s, rank, scratch, slot, n * width, begin, stop)
                add_products(
                    numbers, first + rank * n * width, whole, n * width, scratch, slot, n * width, local, t, rank,
                    begin, stop,
                )  # fmt: skip
                begin = stop
        for box in range(block * BLOCK, min((block + 1) * BLOCK, len(scale))):
            f = scale[box]
            for k in range(box * per_box, (box + 1) * per_box):
                local[k] *= f


@dataclass(frozen=True, eq=False)
class Translations:
    """The passes of a tree with tables, for `columns` vectors of each box."""

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
        """Numbers of all boxes."""
        return len(self.tree.level) * self.columns * self.tables.rank

    def empty(self) -> NDArray[Any]:
        """Zero moments or local expansions of all boxes."""
        return aligned(self.size, self.real)

    def places(self, boxes: NDArray[np.int64]) -> NDArray[np.int64]:
        """(n columns,) the vectors of boxes (n,)."""
        return (boxes[:, None] * self.columns + np.arange(self.columns)).ravel()

    @cached_property
    def _across(self) -> tuple[Any, ...]:
        source, target, runs, blocks = self._expanded(self.far)
        slot = np.arange(len(source)) % TOGETHER
        scale = (1 / self.tree.edge).astype(self.real)
        return source, target, slot, runs, blocks, scale, self.columns * self.tables.rank

    def _expanded(self, pairs: Runs) -> Runs:
        runs = pairs.runs * np.array([1, self.columns, self.columns])
        return Runs(self.places(pairs.source), self.places(pairs.target), runs, pairs.blocks)

    @cached_property
    def _levels(self) -> list[tuple[Runs, Runs]]:
        """Of each level but the root moments to the parents, and local expansions from them."""
        tree, found = self.tree, []
        for low, high in tree.runs_of_levels()[1:]:
            boxes = np.arange(low, high)
            parent, octant = tree.parent[low:high].astype(np.int64), tree.octant[low:high]
            above = (parent - parent[0]) // (BLOCK // 4)
            up = Runs.of(boxes, parent, octant, above, 8)
            down = Runs.of(parent, boxes, octant, (boxes - low) // BLOCK, 8)
            found.append((self._expanded(up), self._expanded(down)))
        return found

    def upward(self, moments: NDArray[Any]) -> None:
        """Add the moments of children to their parents, from the leaves on."""
        for pairs, _ in reversed(self._levels[2:]):  # boxes of the first levels have no separated ones
            self._shift(self.tables.up, pairs, moments)

    def across(self, moments: NDArray[Any], local: NDArray[Any]) -> None:
        """Local expansions of all boxes from the moments of separated ones."""
        table, lanes_ = self.tables, width(self.real)
        source, target, slot, runs, blocks, scale, per_box = self._across
        most = int(table.vectors.max()) * TOGETHER * lanes_

        def work(low: int, high: int) -> None:
            translate(table.numbers, table.starts, table.vectors, table.rank, moments, local, source, target, slot,
                      runs, blocks, scale, per_box, aligned(most, self.real), low, high)  # fmt: skip

        in_parts(work, len(blocks) - 1)

    def downward(self, local: NDArray[Any]) -> None:
        """Add the local expansions of parents to those of their children."""
        for _, pairs in self._levels[2:]:
            self._shift(self.tables.down, pairs, local)

    def _shift(self, matrices: NDArray[Any], pairs: Runs, values: NDArray[Any]) -> None:
        flat, rank = matrices.ravel(), self.tables.rank
        arguments = pairs.source, pairs.target, pairs.runs, pairs.blocks
        in_parts(lambda low, high: shift(flat, rank, values, values, *arguments, low, high), len(pairs.blocks) - 1)
