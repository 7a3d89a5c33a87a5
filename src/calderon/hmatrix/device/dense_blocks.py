"""Dense blocks of an H-matrix on a device (dense.c)."""

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.backends.devices.device_matrix import GROUP
from calderon.galerkin.rows.device import DeviceRows
from calderon.galerkin.rows.entry_kernels import CompiledRows
from calderon.hmatrix.device.batches import batches, entries_source, in_rounds
from calderon.hmatrix.products import sorted_parts
from calderon.hmatrix.storage import Slab, table_of
from calderon.hmatrix.tolerances import Filling
from calderon.hmatrix.tree.block_tree import BlockTree


def device_filling(on_device: DeviceRows, rows: CompiledRows, tree: BlockTree) -> Filling:
    """The entries of pairs of clusters, as `block_errors` needs them from several threads."""
    blocks, lock = DeviceDenseBlocks(on_device, rows, tree), threading.Lock()

    def numbers_of(pairs: NDArray[np.int64]) -> NDArray[Any]:
        with lock:
            return np.concatenate([numbers for _, numbers in blocks.between(pairs)])

    return numbers_of


class DeviceDenseBlocks:
    """Fills dense blocks, special pairs included."""

    def __init__(self, on_device: DeviceRows, rows: CompiledRows, tree: BlockTree) -> None:
        self.rows, self.tree, self.device, self.dtype = on_device, tree, on_device.device, rows.dtype
        self.program = self.device.build(entries_source("dense", on_device.defines, rows.real))
        starts, columns, values = sorted_parts(rows.special)
        parts = rows.data[2], starts.astype(np.int32), columns.astype(np.int32), values
        self.special = [self.device.array(each) for each in parts]

    def fill(self, blocks: NDArray[np.int64]) -> Iterator[Slab]:
        """The blocks, as many at a time as there is room for."""
        blocks = in_rounds(self.tree, blocks)
        pairs = np.stack([self.tree.row[blocks], self.tree.column[blocks]], axis=1)
        for part, numbers in self.between(pairs):
            chosen = blocks[part]
            yield Slab(numbers, table_of(self.tree, chosen, np.full(len(chosen), -1), 0))

    def between(self, pairs: NDArray[np.int64]) -> Iterator[tuple[slice, NDArray[Any]]]:
        """The entries of pairs (b, 2) of clusters: so many of these at a time, and their numbers."""
        tree, device, real = self.tree, self.device, np.empty(0, self.dtype).real.dtype
        m, n = tree.rows.size[pairs[:, 0]], tree.columns.size[pairs[:, 1]]
        reals = m * self.rows.column_room[pairs[:, 1]]
        for batch in batches(m * n, reals, self.dtype, device, "a dense block"):
            table = np.concatenate([pairs[batch.chosen], np.stack([batch.begins, batch.scratch], axis=1)], axis=1)
            scratch, out = device.empty((batch.reals,), real), device.empty((batch.numbers,), self.dtype)
            device.launch(
                self.program, "dense", (len(table) * GROUP,), (GROUP,), *self.rows.arguments, *self.special,
                device.array(table.astype(np.int32)), scratch, out,
            )  # fmt: skip
            yield batch.chosen, device.to_host(out)
