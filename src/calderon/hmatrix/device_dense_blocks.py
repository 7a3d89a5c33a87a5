"""Dense blocks of an H-matrix on a device (dense.c)."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.backends import Source, real_name
from calderon.hmatrix.block_tree import BlockTree
from calderon.hmatrix.device_batches import GROUP, batches, sorted_by_size
from calderon.hmatrix.storage import Slab, table_of
from calderon.operators.compiled_rows import CompiledRows
from calderon.operators.device_rows import Defines, DeviceRows


def dense_source(defines: Defines, real: np.dtype[Any]) -> Source:
    """The variant of dense.c for a matrix with these definitions."""
    return Source("hmatrix/dense.c", real_name(real), (*defines, ("GROUP_SIZE", GROUP)))


class DeviceDenseBlocks:
    """Fills dense blocks, special pairs included."""

    def __init__(self, on_device: DeviceRows, rows: CompiledRows, tree: BlockTree) -> None:
        self.rows, self.tree, self.device, self.dtype = on_device, tree, on_device.device, rows.dtype
        self.program = self.device.build(dense_source(on_device.defines, rows.real))
        special = rows.special.tocsr()
        special.sort_indices()
        parts = special.indptr.astype(np.int32), special.indices.astype(np.int32), special.data
        self.special = [self.device.array(each) for each in (rows.data[2], *parts)]

    def fill(self, blocks: NDArray[np.int64]) -> Iterator[Slab]:
        """The blocks, as many at a time as there is room for."""
        tree, device, real = self.tree, self.device, np.empty(0, self.dtype).real.dtype
        blocks = sorted_by_size(tree, blocks)
        m, n = tree.sizes(blocks)
        reals = m * self.rows.column_room[tree.column[blocks]]
        for batch in batches(m * n, reals, self.dtype, device, "a dense block"):
            chosen = blocks[batch.chosen]
            table = np.stack([tree.row[chosen], tree.column[chosen], batch.begins, batch.scratch], axis=1)
            scratch, out = device.empty((batch.reals,), real), device.empty((batch.numbers,), self.dtype)
            device.launch(
                self.program, "dense", (len(chosen) * GROUP,), (GROUP,), *self.rows.arguments, *self.special,
                device.array(table.astype(np.int32)), scratch, out,
            )  # fmt: skip
            yield Slab(device.to_host(out), table_of(tree, chosen, np.full(len(chosen), -1), 0))
