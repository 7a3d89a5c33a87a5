"""Products of an H-matrix on a device, where its blocks stay (products.c).

First the coefficients v^T x of all crosses, then each run of places of the result gathers what all blocks there add.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.backends import Device, Source, real_name, require_device_memory, run_tasks
from calderon.hmatrix.products import COLUMN, HEIGHT, OFFSET, RANK, ROW, WIDTH, move
from calderon.hmatrix.storage import Slab, shares_of, stored
from calderon.hmatrix.tree.block_tree import BlockTree

RUN = 32
"""Places that are gathered together; blocks begin at multiples of so many numbers, so that 32 bits count them."""
SLICES = 4
"""Groups of RUN threads that share the blocks at a run."""
ADVICE = 'try precision="single", a larger rtol, or backend="numba"'


class DeviceProducts:
    """The blocks of an H-matrix on devices, each of which has a part of them, and products with them in the order of
    clusters."""

    def __init__(self, devices: Sequence[Device], tree: BlockTree, slabs: list[Slab], dtype: np.dtype[Any]) -> None:
        shares = shares_of(slabs, len(devices))
        self.parts = [DeviceBlocks(*each, tree, dtype) for each in zip(devices, shares, strict=False)]

    def product(self, x: NDArray[Any], transposed: bool) -> NDArray[Any]:
        """A x or A^T x for x (k, n), in the order of clusters; sums have the precision of x, where the devices have
        it."""
        waiting = [part.product(x, transposed) for part in self.parts]
        first, *others = (wait() for wait in waiting)
        for other in others:
            first = first + other
        return first


class DeviceBlocks:
    """Some blocks of an H-matrix on a device."""

    def __init__(self, device: Device, slabs: list[Slab], tree: BlockTree, dtype: np.dtype[Any]) -> None:
        self.device, self.tree, self.dtype = device, tree, dtype
        self.real = np.empty(0, dtype).real.dtype
        table, numbers = _united(device, slabs, dtype)
        self.numbers = device.array(numbers)
        rank = np.maximum(table[:, RANK], 0)
        first, self.count = np.cumsum(rank) - rank, int(rank.sum())
        crosses = np.stack([np.repeat(np.arange(len(table)), rank), _counted(rank)], axis=1)
        columns = ROW, HEIGHT, COLUMN, WIDTH, RANK, OFFSET
        described = np.concatenate([table[:, columns], first[:, None]], axis=1)
        self.crosses, self.table = (device.array(each.astype(np.int32)) for each in (crosses, described))
        self.rows = self._places(table, True)
        self.columns = self.rows if tree.symmetric else self._places(table, False)

    def _places(self, table: NDArray[np.int64], rows: bool) -> tuple[int, Any, Any, Any]:
        """Runs of places of a side, and for each run the blocks there: 2 * block, one more for its columns."""
        side, both = self.tree.rows if rows else self.tree.columns, self.tree.symmetric
        # runs of at most RUN places within leaves
        leaves = np.sort(side.start[side.is_leaf])
        sizes = np.diff(np.append(leaves, len(side.order)))
        pieces = -(-sizes // RUN)
        starts = np.repeat(leaves, pieces) + RUN * _counted(pieces)
        runs = np.stack([starts, np.diff(np.append(starts, len(side.order)))], axis=1)
        # for each block the runs that it covers, on this side, and on the other one of a symmetric matrix
        found = []
        for column, first, height in ((0, ROW, HEIGHT), (1, COLUMN, WIDTH)):
            if column == (0 if rows else 1) or both:
                kept = np.arange(len(table))
                if both and column:  # blocks on the diagonal count once
                    kept = kept[table[:, ROW] != table[:, COLUMN]]
                low = np.searchsorted(starts, table[kept, first])
                many = np.searchsorted(starts, table[kept, first] + table[kept, height]) - low
                run = np.repeat(low, many) + _counted(many)
                found.append(np.stack([run, 2 * np.repeat(kept, many) + column], axis=1))
        entries = np.concatenate(found)
        entries = entries[np.argsort(entries[:, 0], kind="stable")]
        begins = np.searchsorted(entries[:, 0], np.arange(len(runs) + 1))
        arrays = (self.device.array(np.ascontiguousarray(each, np.int32)) for each in (runs, begins, entries[:, 1]))
        return len(runs), *arrays

    def product(self, x: NDArray[Any], transposed: bool) -> Callable[[], NDArray[Any]]:
        """Begin to multiply; call what is returned to wait for the product of these blocks with x."""
        device, vectors, length = self.device, len(x), x.shape[1]
        if not device.has_double:
            x = x.astype(self.dtype)
        real = np.empty(0, x.dtype).real.dtype
        program = device.build(products_source(self.dtype, real))
        given = device.array(np.ascontiguousarray(x))
        sides = {0, 1} if self.tree.symmetric else {1 if transposed else 0}
        # coefficients of all crosses, then sums at each run of places over its blocks
        coefficients = [device.empty((vectors, self.count if side in sides else 0), x.dtype) for side in (0, 1)]
        for side in sides:
            device.launch(
                program, "coefficients", (self.count * RUN, vectors), (RUN, 1), self.numbers, self.table, self.crosses,
                self.count, side, given, length, coefficients[side],
            )  # fmt: skip
        runs, *tables = self.columns if transposed else self.rows
        places = self.tree.shape[1 if transposed else 0]
        out = device.empty((vectors, places), x.dtype)
        device.launch(
            program, "gather_product", (runs * SLICES * RUN, vectors), (SLICES * RUN, 1), self.numbers, self.table,
            *tables, *coefficients, self.count, given, length, out, places,
        )  # fmt: skip
        return device.fetch(out)


def _counted(numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """0, 1, ... for each of these numbers, so many."""
    return np.asarray(np.arange(numbers.sum()) - np.repeat(np.cumsum(numbers) - numbers, numbers))


def products_source(dtype: np.dtype[Any], vector: np.dtype[Any]) -> Source:
    """The variant of products.c for a matrix of that type and vectors with those real numbers."""
    real = np.empty(0, dtype).real.dtype
    defines = (("COMPLEX", int(dtype.kind == "c")), ("VECTOR_REAL", real_name(vector)), ("SLICES", SLICES))
    return Source("hmatrix/device/products.c", real_name(real), defines)


def _united(device: Device, slabs: list[Slab], dtype: np.dtype[Any]) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """The table of all blocks, whose offsets count RUN numbers, and their numbers."""
    tables = [slab.table for slab in slabs] or [np.zeros((0, 7), np.int64)]
    lengths = [-(-stored(table) // RUN) for table in tables]
    total = int(sum(each.sum() for each in lengths))
    require_device_memory(device, total * RUN * dtype.itemsize, "an H-matrix", ADVICE)
    numbers = np.zeros(total * RUN, dtype)
    united, place, tasks = [], 0, []
    for (given, table), length in zip(slabs, lengths, strict=False):
        moved = table.copy()
        moved[:, OFFSET] = place + np.cumsum(length) - length
        runs = table[:, OFFSET], moved[:, OFFSET] * RUN, stored(table)
        step = 10_000  # blocks that a thread puts in their places at a time
        tasks += [(given, *(each[first : first + step] for each in runs)) for first in range(0, len(table), step)]
        united.append(moved)
        place += int(length.sum())
    run_tasks(lambda task: move(*tasks[task], numbers), len(tasks))
    return np.concatenate(united or tables), numbers
