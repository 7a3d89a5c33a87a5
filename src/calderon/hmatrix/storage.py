"""Where the numbers of an H-matrix stand: slabs of memory, each with a table of the blocks in it."""

import threading
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.backends import require_memory
from calderon.backends.vectors import aligned
from calderon.hmatrix.products import BLOCK, COLUMN, HEIGHT, OFFSET, RANK, ROW, WIDTH
from calderon.hmatrix.tree.block_tree import BlockTree

SLAB = 32_000_000
"""Bytes of a slab at most, unless one piece of work needs more."""
FIRST = 4_000_000
"""Bytes of the first slab; further ones have as many as all before."""
WORK = 2_000_000
"""Bytes of crosses that a thread holds before it makes them fewer; grows where one block needs more."""


class Slab(NamedTuple):
    """numbers: of the blocks; table (blocks, 7): which blocks, and where (see products.py)."""

    numbers: NDArray[Any]
    table: NDArray[np.int64]


class Store:
    """Slabs that stay, filled one after the other."""

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self.dtype = dtype
        self._numbers: list[NDArray[Any]] = []
        self._tables: list[list[NDArray[np.int64]]] = []
        self._used = 0
        self._lock = threading.Lock()

    def add(self, given: Slab) -> None:
        """Copy blocks to the end of a slab."""
        numbers, table = given
        with self._lock:
            if not self._numbers or self._used + len(numbers) > len(self._numbers[-1]):
                self._end_slab()
                stored = sum(each.nbytes for each in self._numbers)
                size = max(len(numbers), min(SLAB, max(FIRST, stored)) // self.dtype.itemsize)
                require_memory(size * self.dtype.itemsize, "the next part of the H-matrix", ADVICE)
                self._numbers.append(np.empty(size, self.dtype))
                self._tables.append([])
                self._used = 0
            start, self._used = self._used, self._used + len(numbers)
            self._numbers[-1][start : self._used] = numbers
            moved = table.copy()
            moved[:, OFFSET] += start
            self._tables[-1].append(moved)

    def _end_slab(self) -> None:
        """Give back what the last slab has not used."""
        if self._numbers:
            self._numbers[-1].resize(self._used, refcheck=False)

    def slabs(self) -> list[Slab]:
        """The stored slabs; nothing can be added afterwards."""
        self._end_slab()
        return [Slab(*each) for each in zip(self._numbers, map(np.concatenate, self._tables), strict=True)]


class Arena:
    """The memory of a thread, used again for every piece of work: its blocks, in an array that grows, and work."""

    def __init__(self, dtype: np.dtype[Any], real: np.dtype[Any], tree: BlockTree, scratch: int) -> None:
        self.dtype, self.tree = dtype, tree
        largest = int(tree.rows.size.max() + tree.columns.size.max())
        self.work = np.empty(WORK // dtype.itemsize, dtype)
        self.flags, self.known = np.zeros(largest, np.bool_), np.zeros(2 * largest, np.zeros(0, dtype).real.dtype)
        self.scratch = aligned(scratch, real)
        self.table = np.zeros((4, 0, 0))
        self._numbers = np.empty(WORK // dtype.itemsize, dtype)
        self.clear()

    def clear(self) -> None:
        """Forget all blocks."""
        self._tables, self._used = list[NDArray[np.int64]](), 0

    def enlarge_work(self) -> None:
        """Twice the work."""
        require_memory(2 * self.work.nbytes, "approximation of a large block", ADVICE)
        self.work = np.empty(2 * len(self.work), self.dtype)

    def small_tables(self, rank: int) -> tuple[NDArray[Any], NDArray[np.float64], NDArray[np.int64]]:
        """Tables for the recompression of so many crosses."""
        if self.table.shape[1] < rank:
            wide = np.result_type(self.dtype, np.float64)
            self.table = np.zeros((4, rank, rank), wide)
            self.scale, self.order = np.zeros((2, rank)), np.zeros(rank, np.int64)
        return self.table, self.scale, self.order

    def room(self, count: int) -> tuple[NDArray[Any], int]:
        """An array with room for so many more numbers, and the place of the first."""
        if self._used + count > len(self._numbers):
            size = 5 * (self._used + count) // 4
            require_memory(size * self.dtype.itemsize, "the next part of the H-matrix", ADVICE)
            larger = np.empty(size, self.dtype)
            larger[: self._used] = self._numbers[: self._used]
            self._numbers = larger
        return self._numbers, self._used

    def keep(self, table: NDArray[np.int64], count: int) -> None:
        """Enter blocks whose numbers, so many, have been written to the room given last."""
        self._tables.append(table)
        self._used += count

    def contents(self) -> Slab:
        """All blocks, in the order in which they were entered."""
        return Slab(self._numbers[: self._used], np.concatenate(self._tables))


ADVICE = 'try a larger rtol, precision="single" or a coarser mesh'


def table_of(tree: BlockTree, blocks: NDArray[np.int64], ranks: NDArray[np.int64], start: int) -> NDArray[np.int64]:
    """The table of blocks stored one after the other; ranks -1 for dense blocks."""
    table = np.zeros((len(blocks), 7), np.int64)
    table[:, ROW], table[:, COLUMN] = tree.rows.start[tree.row[blocks]], tree.columns.start[tree.column[blocks]]
    table[:, HEIGHT], table[:, WIDTH] = tree.sizes(blocks)
    table[:, RANK], table[:, BLOCK] = ranks, blocks
    lengths = stored(table)
    table[:, OFFSET] = start + np.cumsum(lengths) - lengths
    return table


def stored(table: NDArray[np.int64]) -> NDArray[np.int64]:
    """Numbers that each block of a table takes."""
    height, width, rank = table[:, HEIGHT], table[:, WIDTH], table[:, RANK]
    return np.where(rank < 0, height * width, rank * (height + width))


def shares_of(slabs: list[Slab], count: int) -> list[list[Slab]]:
    """The blocks of all slabs in `count` shares of like length, in the order of their numbers; empty ones at the end
    are left out, but for the first."""
    total = sum(int(stored(slab.table).sum()) for slab in slabs)
    shares: list[list[Slab]] = [[] for _ in range(count)]
    before = 0
    for numbers, table in slabs:
        if (np.diff(table[:, OFFSET]) < 0).any():
            table = table[np.argsort(table[:, OFFSET], kind="stable")]
        ends = before + np.cumsum(stored(table))
        share = np.minimum((ends - 1) * count // max(1, total), count - 1).clip(0)
        for number in np.unique(share):
            shares[number].append(Slab(numbers, table[share == number]))
        before = int(ends[-1]) if len(ends) else before
    return [share for share in shares if share] or [[]]


def entries_at(slabs: list[Slab], tree: BlockTree, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[Any]:
    """(n,) the entries in these rows and columns, in cluster order, of stored blocks; those of low rank to their
    tolerance."""
    i, j = rows.copy(), columns.copy()
    if tree.symmetric:
        swapped = i < j
        i[swapped], j[swapped] = columns[swapped], rows[swapped]
    # down the tree to the blocks that are stored, which may have been put together
    slab, place = np.full(len(tree.row), -1), np.zeros(len(tree.row), np.int64)
    for number, (_, table) in enumerate(slabs):
        slab[table[:, BLOCK]], place[table[:, BLOCK]] = number, np.arange(len(table))
    block = np.zeros(len(i), np.int64)
    while len(deeper := np.flatnonzero(slab[block] < 0)):
        found = np.full(len(deeper), -1)
        first, count = tree.first_child[block[deeper]], tree.child_count[block[deeper]]
        for step in range(int(count.max(initial=0))):
            child = np.where(step < count, first + step, first)
            low, left = tree.rows.start[tree.row[child]], tree.columns.start[tree.column[child]]
            height, width = tree.sizes(child)
            inside = (i[deeper] >= low) & (i[deeper] < low + height) & (j[deeper] >= left) & (j[deeper] < left + width)
            found[inside & (step < count)] = child[inside & (step < count)]
        block[deeper] = found
    out = np.zeros(len(i), np.result_type(*(numbers.dtype for numbers, _ in slabs)))
    for number, (numbers, table) in enumerate(slabs):
        own = np.flatnonzero(slab[block] == number)
        at = table[place[block[own]]]
        down, across, start = i[own] - at[:, ROW], j[own] - at[:, COLUMN], at[:, OFFSET]
        dense = at[:, RANK] < 0
        out[own[dense]] = numbers[(start + down * at[:, WIDTH] + across)[dense]]
        for l in range(int(at[:, RANK].max(initial=0))):
            crossed = l < at[:, RANK]
            cross = start[crossed] + l * (at[:, HEIGHT] + at[:, WIDTH])[crossed]
            below = cross + at[crossed, HEIGHT] + across[crossed]
            out[own[crossed]] += numbers[cross + down[crossed]] * numbers[below]
    return out
