"""Products with H-matrices on devices, where the blocks stay (products.c).

First the coefficients v^T x of all crosses, then each run of places of the result gathers what all blocks there add.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.backends import Device, Kernels
from calderon.backends.devices.device_matrix import GROUP
from calderon.hmatrix.device.batches import source_of
from calderon.hmatrix.device.store import DeviceStore
from calderon.hmatrix.products import COLUMN, HEIGHT, OFFSET, RANK, ROW, WIDTH
from calderon.hmatrix.storage import Slab, shares_of
from calderon.hmatrix.tree.block_tree import BlockTree
from calderon.hmatrix.tree.cluster_tree import ClusterTree
from calderon.pairs.grouping import grouped
from calderon.products.device.tables import counted, indices, runs_of

RUN = 32
"""Places that are gathered together, and threads that sum a coefficient."""


class DeviceProducts:
    """The blocks of an H-matrix on devices, each of which has a part of them, and products with them in the order of
    clusters."""

    def __init__(self, stores: Sequence[DeviceStore], tree: BlockTree) -> None:
        self.parts = [DeviceBlocks(each, tree) for each in stores]

    @classmethod
    def of(
        cls, devices: Sequence[Device], tree: BlockTree, slabs: list[Slab], dtype: np.dtype[Any]
    ) -> "DeviceProducts":
        """Blocks from the host, sent to the devices."""
        stores = [DeviceStore(device, dtype) for device in devices]
        for store, share in zip(stores, shares_of(slabs, len(devices)), strict=False):
            store.add(share)
        return cls(stores, tree)

    @property
    def tables(self) -> list[NDArray[np.int64]]:
        """The tables of all pages, with all blocks."""
        return [table for part in self.parts for table in part.store.tables]

    def slabs(self) -> list[Slab]:
        """All blocks, copied to the host."""
        return [slab for part in self.parts for slab in part.store.slabs()]

    def product(self, x: NDArray[Any], transposed: bool) -> NDArray[Any]:
        """A x or A^T x for x (k, n), in the order of clusters; sums have the precision of x, where the devices have
        it."""
        waiting = [part.product(x, transposed) for part in self.parts]
        first, *others = (wait() for wait in waiting)
        for other in others:
            first = first + other
        return first


class PageTables(NamedTuple):
    """The blocks of a page on the device: numbers, table, crosses (c, 2) and how many, and for the rows and the columns
    of the matrix which blocks are at each run: starts and entries, see products.c."""

    numbers: Any
    table: Any
    crosses: Any
    many: int
    rows: tuple[Any, Any]
    columns: tuple[Any, Any]


class DeviceBlocks:
    """Some blocks of an H-matrix on a device, those of a store."""

    def __init__(self, store: DeviceStore, tree: BlockTree) -> None:
        self.store, self.device, self.tree, self.dtype = store, store.device, tree, store.dtype
        sides = [_runs(self.tree.rows)]
        if tree.rows is not tree.columns:
            sides.append(_runs(self.tree.columns))
        self.runs = [(len(runs), indices(self.device, runs)) for runs in sides]
        starts = [runs[:, 0] for runs in sides]
        tables = zip(store.pages, store.tables, strict=True)
        self.pages = [self._page(page.numbers, table, (starts[0], starts[-1])) for page, table in tables]

    def _page(
        self, numbers: Any, table: NDArray[np.int64], starts: tuple[NDArray[np.int64], NDArray[np.int64]]
    ) -> PageTables:
        """The tables of a page; starts: of the runs of rows and of columns."""
        rank = np.maximum(table[:, RANK], 0)
        crosses = np.stack([np.repeat(np.arange(len(table)), rank), counted(rank)], axis=1)
        columns = ROW, HEIGHT, COLUMN, WIDTH, RANK, OFFSET
        described = np.concatenate([table[:, columns], (np.cumsum(rank) - rank)[:, None]], axis=1)
        rows = self._places(table, starts[0], True)
        columns_too = rows if self.tree.symmetric else self._places(table, starts[1], False)
        blocks, each_cross = (indices(self.device, each) for each in (described, crosses))
        return PageTables(numbers, blocks, each_cross, len(crosses), rows, columns_too)

    def _places(self, table: NDArray[np.int64], starts: NDArray[np.int64], rows: bool) -> tuple[Any, Any]:
        """For each run of places of a side the blocks there: 2 * block, one more for its columns."""
        # for each block the runs that it covers, on this side, and on the other one of a symmetric matrix
        found, sides = [], ((0, ROW, HEIGHT), (1, COLUMN, WIDTH))
        for column, first, height in sides if self.tree.symmetric else sides[not rows :][:1]:
            # blocks on the diagonal count once
            once = self.tree.symmetric and column
            kept = np.flatnonzero(table[:, ROW] != table[:, COLUMN]) if once else np.arange(len(table))
            low = np.searchsorted(starts, table[kept, first])
            many = np.searchsorted(starts, table[kept, first] + table[kept, height]) - low
            found.append(np.stack([np.repeat(low, many) + counted(many), 2 * np.repeat(kept, many) + column]))
        run, entries = np.concatenate(found, axis=1)
        begins, order = grouped(run, len(starts))
        return indices(self.device, begins), indices(self.device, entries[order])

    def product(self, x: NDArray[Any], transposed: bool) -> Callable[[], NDArray[Any]]:
        """Begin to multiply; call what is returned to wait for the product of these blocks with x."""
        device, vectors, length = self.device, len(x), x.shape[1]
        places, runs = self.tree.shape[1 if transposed else 0], self.runs[-1 if transposed else 0]
        if not self.pages:
            return lambda: np.zeros((vectors, places), x.dtype)
        if not device.has_double:
            x = x.astype(self.dtype)
        source, given = source_of("products", self.dtype, x.real.dtype), device.array(np.ascontiguousarray(x))
        crosses, gather = (Kernels(device, source, each) for each in (RUN, GROUP))
        sides = {0, 1} if self.tree.symmetric else {1 if transposed else 0}
        out = device.empty((vectors, places), x.dtype)
        for number, page in enumerate(self.pages):
            # coefficients of all crosses, then sums at each run of places over its blocks
            coefficients = [device.empty((vectors, page.many if side in sides else 0), x.dtype) for side in (0, 1)]
            for side in sides:
                known = page.crosses, page.many, side, given, length, coefficients[side]
                crosses.launch("coefficients", (page.many * RUN, vectors), page.numbers, page.table, *known)
            known = *(page.columns if transposed else page.rows), *coefficients, page.many, given, length
            gather.launch("gather_product", (runs[0] * GROUP, vectors), page.numbers, page.table, runs[1], *known,
                          int(number > 0), out, places)  # fmt: skip
        return device.fetch(out)


def _runs(side: ClusterTree) -> NDArray[np.int64]:
    """(runs, 2) runs of at most RUN places within leaves: first place and length."""
    return runs_of(np.append(np.sort(side.start[side.is_leaf]), len(side.order)), RUN)[:, :2]
