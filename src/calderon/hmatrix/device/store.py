"""Blocks that stay on a device: pages of memory, each with the table of the blocks in it (see products.py)."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.backends import Device, require_device_memory
from calderon.hmatrix.device.batches import ADVICE
from calderon.hmatrix.products import OFFSET
from calderon.hmatrix.storage import Slab, stored
from calderon.hmatrix.tree.block_tree import DENSE, BlockTree

LEAST_PAGE = 16
"""A further page has this part of the numbers that are there at least, so that pages stay few."""


def ahead_of(tree: BlockTree, blocks: NDArray[np.int64]) -> NDArray[np.int64]:
    """(2,) numbers that a store will hold of leaves of a tree: of the dense ones, of one cross of each of low rank."""
    (m, n), dense = tree.sizes(blocks), tree.kind[blocks] == DENSE
    return np.array([(m * n)[dense].sum(), (m + n)[~dense].sum()])


class Page(NamedTuple):
    """numbers: an array of the device; tables: of the blocks in it, in the order of their numbers."""

    numbers: Any
    tables: list[NDArray[np.int64]]

    @property
    def table(self) -> NDArray[np.int64]:
        """(blocks, 7) all blocks of the page."""
        return np.concatenate([np.zeros((0, 7), np.int64), *self.tables])


class DeviceStore:
    """Pages of a device, filled one after the other. ahead: of all blocks that it will hold (`ahead_of`); rank: mean
    one of those of low rank, as soon as that is known; a page has room for all that is expected by these."""

    def __init__(self, device: Device, dtype: np.dtype[Any]) -> None:
        self.device, self.dtype = device, dtype
        self.pages: list[Page] = []
        self.ahead, self.rank = np.zeros(2, np.int64), 0.0
        self._kept = self._used = 0

    @property
    def expected(self) -> int:
        """Numbers of all blocks ahead."""
        return int(self.ahead @ [1.0, self.rank])

    @property
    def tables(self) -> list[NDArray[np.int64]]:
        """The table of each page."""
        return [page.table for page in self.pages]

    def parts(self, counts: NDArray[np.int64]) -> Iterator[tuple[slice, Any, int]]:
        """Places for blocks with so many numbers each: for some of them at a time, which are to be kept before the next
        ones are requested, an array and where they begin in it. MemoryError where the device has no room."""
        first = 0
        while first < len(counts):
            ends = np.cumsum(counts[first:])
            free = self.pages[-1].numbers.shape[0] - self._used if self.pages else -1
            many = int(np.searchsorted(ends, free, "right"))
            if many:
                yield slice(first, first + many), self.pages[-1].numbers, self._used
                first += many
                continue
            # 32 bits count the numbers of a page, and some drivers limit an allocation
            most = min(self.device.memory() // self.dtype.itemsize, 2**31 - 1)
            wanted = max(self.expected - self._kept, self._kept // LEAST_PAGE, int(ends[-1]))
            size = max(int(counts[first]), min(wanted, most))
            require_device_memory(self.device, size * self.dtype.itemsize, "an H-matrix", ADVICE)
            self.pages.append(Page(self.device.empty((size,), self.dtype), []))
            self._used = 0

    def keep(self, table: NDArray[np.int64]) -> None:
        """Enter blocks whose numbers have been written to the place given last."""
        count = int(stored(table).sum())
        self.pages[-1].tables.append(table)
        self._used += count
        self._kept += count

    def add(self, slabs: list[Slab]) -> None:
        """Send blocks from the host (`shares_of`), to one page if there is room."""
        dense = self._kept + sum(int(stored(slab.table).sum()) for slab in slabs)
        self.ahead, self.rank = np.array([dense, 0]), 0.0
        for numbers, table in slabs:
            counts = stored(table)
            for part, place, start in self.parts(counts):
                moved, first, count = table[part].copy(), int(table[part][0, OFFSET]), int(counts[part].sum())
                self.device.put(np.ascontiguousarray(numbers[first : first + count]), place, start)
                moved[:, OFFSET] += start - first
                self.keep(moved)

    def slabs(self) -> list[Slab]:
        """The blocks, copied to the host."""
        return [Slab(self.device.to_host(page.numbers)[: int(stored(page.table).sum())], page.table)
                for page in self.pages]  # fmt: skip
