"""Dense blocks of an H-matrix on a device (dense.c)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.backends import Kernels, count_work
from calderon.backends.devices.device_matrix import GROUP, vector_type
from calderon.galerkin.rows.device import DeviceRows
from calderon.hmatrix.device.batches import Batch, batches, in_rounds, source_of
from calderon.hmatrix.device.store import DeviceStore
from calderon.hmatrix.storage import table_of
from calderon.hmatrix.tolerances import RowSums
from calderon.hmatrix.tree.block_tree import BlockTree
from calderon.products.device.tables import indices


class DeviceDenseBlocks:
    """Fills dense blocks, special pairs included."""

    def __init__(self, on_device: DeviceRows, dtype: np.dtype[Any], tree: BlockTree) -> None:
        self.rows, self.tree, self.device, self.dtype = on_device, tree, on_device.device, dtype
        self.real, self.wide = np.empty(0, dtype).real.dtype, vector_type(on_device.device)
        source = source_of("dense", dtype, self.wide, on_device.defines)
        self.kernels = Kernels(self.device, source, GROUP)
        self.sides = self.rows.arguments[1], self.rows.arguments[3]

    def largest_special(self) -> float:
        """About the largest entry of touching and near pairs."""
        count = self.tree.shape[0]
        largest = self.device.empty((count,), self.real)
        self.kernels.launch("largest_special", count, *self.sides, *self.rows.special, count, largest)
        return float(self.device.to_host(largest).max(initial=0.0))

    def with_special(self, blocks: NDArray[np.int64]) -> NDArray[np.int64]:
        """The blocks, of those given, that have touching or near pairs of triangles."""
        found = self.device.array(np.zeros(len(blocks), np.int32))
        given = *self.sides, self.rows.special[0], indices(self.device, self.tree.pairs(blocks)), found
        self.kernels.launch("special_inside", len(blocks) * GROUP, *given)
        return blocks[self.device.to_host(found) > 0]

    def fill(self, blocks: NDArray[np.int64], store: DeviceStore) -> None:
        """Keep blocks in a store, as many at a time as there is room for."""
        blocks = in_rounds(self.tree, blocks)
        pairs, (m, n) = self.tree.pairs(blocks), self.tree.sizes(blocks)
        for batch in self._batches(pairs):
            chosen, own = blocks[batch.chosen], pairs[batch.chosen]
            for part, numbers, start in store.parts((m * n)[batch.chosen]):
                self._compute(own[part], batch.part(part), numbers, start)
                store.keep(table_of(self.tree, chosen[part], np.full(len(chosen[part]), -1), start))

    def row_sums(self, clusters: NDArray[np.int64], vectors: NDArray[np.float64]) -> RowSums:
        """The sums of some clusters of rows, computed whole; see `tolerances.RowSums`."""
        tree, device = self.tree, self.device
        columns, count = np.flatnonzero(tree.columns.is_leaf), vectors.shape[1]
        pairs = np.stack([np.repeat(clusters, len(columns)), np.tile(columns, len(clusters))], axis=1)
        sizes = tree.rows.size[clusters]
        which = np.repeat(np.arange(len(clusters)), sizes)  # of the clusters each row is in
        within = np.arange(len(which)) - (np.cumsum(sizes) - sizes)[which]
        total = np.zeros((len(which), 1 + count, 2))
        sent = device.array(np.ascontiguousarray(vectors.T, self.wide))
        for batch in self._batches(pairs):
            out = device.empty((batch.numbers,), self.dtype)
            blocks = self._compute(pairs[batch.chosen], batch, out, 0)
            first, stop = batch.chosen.start, batch.chosen.stop
            ends = [(which + more) * len(columns) for more in (0, 1)]
            rows = np.stack([within, *(np.clip(each, first, stop) - first for each in ends)], axis=1)
            sums = device.empty(total.shape, self.wide)
            given = *self.sides, blocks, out, indices(device, rows), sent, count, len(vectors), sums
            self.kernels.launch("row_sums", (len(rows) * GROUP, 1 + count), *given)
            total += device.to_host(sums)
        return RowSums(total[:, 0, 0], total[:, 1:, 0] + 1j * total[:, 1:, 1])

    def _batches(self, pairs: NDArray[np.int64]) -> list[Batch]:
        """Pairs (b, 2) of clusters in parts whose entries and working memory fit."""
        m, n = self.tree.rows.size[pairs[:, 0]], self.tree.columns.size[pairs[:, 1]]
        return batches(m * n, m * self.rows.column_room[pairs[:, 1]], self.dtype, self.device, "a dense block")

    def _compute(self, pairs: NDArray[np.int64], batch: Batch, out: Any, start: int) -> Any:
        """The entries of the pairs of a batch, in `out` from `start` on; returns their table on the device."""
        table = np.concatenate([pairs, np.stack([batch.begins + start, batch.scratch], axis=1)], axis=1)
        scratch, blocks = self.device.empty((batch.reals,), self.real), indices(self.device, table)
        given = *self.rows.arguments, *self.rows.special, blocks, scratch, out
        self.kernels.launch("dense", len(table) * GROUP, *given)
        work = self.tree.rows.size[pairs[:, 0]] * self.rows.column_work[pairs[:, 1]]
        count_work(self.device, "dense", lambda: float(work.sum()))
        return blocks
