"""The passes between boxes on a device (passes.c)."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from calderon.backends import Device, Kernels, count_work
from calderon.backends.vectors import width
from calderon.fmm.device.p2m_l2p import LANES
from calderon.fmm.passes import Translations
from calderon.fmm.tables import Tables
from calderon.products.device.octree import Across, DeviceOctree, Shifts
from calderon.products.device.tables import indices
from calderon.products.lists import Runs

Index = NDArray[np.int64]


class DevicePasses:
    """The passes of a tree."""

    _up: list[Shifts]
    _down: list[Shifts]
    _forward: Across
    _backward: Across

    def __init__(self, device: Device, table: Tables, columns: int, edges: NDArray[np.float64]) -> None:
        """table: matrices; columns: harmonic sums of a box; edges (boxes,): of all boxes. The lists are those of a tree
        that follow, `_up`, `_down`, `_forward` and `_backward`."""
        self.device, self.columns, self.rank, self.real = device, columns, table.rank, table.numbers.dtype
        self.boxes, self.directions = len(edges), len(table.starts)
        widths = table.vectors * width(self.real)
        most = max(2 * LANES, table.rank, int(widths.max()))
        self.group = min(256, -(-most // LANES) * LANES)
        # eight vectors of several harmonic sums, or four of one, share the numbers of a matrix, if there is room
        self.pairs = max(1, (8 if self.columns > 1 else 4) // self.columns)
        while self.pairs > 1 and self._local_bytes > 40_000:
            self.pairs //= 2
        # boxes of a block: the more, the more pairs share a matrix, but there should be a thousand groups
        self.block = int(np.clip(self.boxes // 1024, 2, 16))
        self._kernels = Kernels.of(
            device, "fmm/device/passes.c", self.real, self.group, RANK=self.rank, COLUMNS=self.columns,
            PAIRS=self.pairs, ROWS=-(-self.rank // self.group),
        )  # fmt: skip
        self._send(table, np.stack([table.starts, widths], axis=1), 1 / edges)

    @classmethod
    def of(cls, device: Device, forward: Translations, backward: Translations) -> Self:
        """The passes of a tree of the processor; forward and backward are different where the two sides are."""
        found = cls(device, forward.tables, forward.columns, forward.tree.edge)
        found._up, found._down = found._shifts(forward.tree)
        found._forward = found._pairs(forward.far)
        found._backward = found._forward if backward is forward else found._pairs(backward.far)
        return found

    @classmethod
    def on(cls, tree: DeviceOctree, table: Tables) -> Self:
        """The passes of one harmonic sum in a tree of the device."""
        levels = np.repeat(np.arange(len(tree.levels) - 1), np.diff(tree.levels))
        found = cls(tree.device, table, 1, np.exp2(-levels.astype(float)))
        found._up, found._down = tree.shifts(found.pairs)
        found._forward = found._backward = tree.far(found.block)
        return found

    @property
    def _local_bytes(self) -> int:
        return self.pairs * self.columns * (self.rank + self.group) * self.real.itemsize

    def _send(self, table: Tables, places: Index, scale: NDArray[np.float64]) -> None:
        array = self.device.array
        self._numbers, self._above, self._below = (array(each) for each in (table.numbers, table.up, table.down))
        self._places, self._scale = indices(self.device, places), array(scale.astype(self.real))

    def _pairs(self, far: Runs) -> Across:
        """The pairs of separated boxes by groups of target boxes, each with the runs of pairs that share a matrix."""
        block = self.block
        matrix = np.repeat(far.runs[:, 0], far.runs[:, 2] - far.runs[:, 1])
        found, count = (
            Runs.of(far.source, far.target, matrix, far.target // block, self.directions),
            -(-self.boxes // block),
        )
        blocks = np.append(found.blocks, np.full(count + 1 - len(found.blocks), found.blocks[-1]))
        tables = found.source, found.target, found.runs, blocks
        return Across(count, block, tuple(indices(self.device, each) for each in tables))

    def _shifts(self, tree: Any) -> tuple[list[Shifts], list[Shifts]]:
        """Moments to parents, the deepest level first, and local expansions from them, the deepest level last."""
        up, down = [], []
        for low, high in tree.runs_of_levels()[3:]:  # boxes of the first levels have no separated ones
            boxes, parent = np.arange(low, high), tree.parent[low:high].astype(np.int64)
            above = np.unique(parent)
            tasks = padded(above, self.pairs)
            children = np.where(tasks[..., None] < 0, -1, tree.children[tasks])  # (tasks, pairs, 8)
            task, octant = np.nonzero((children >= 0).any(axis=1))
            up.append(self._level(tasks, task, octant, children[task, :, octant]))
            octants = tree.octant[low:high]
            found = [padded(boxes[octants == each], self.pairs) for each in range(8)]
            tasks, octant = np.concatenate(found), np.repeat(np.arange(8), [len(each) for each in found])
            sources = np.where(tasks < 0, -1, tree.parent[tasks])
            down.append(self._level(tasks, np.arange(len(tasks)), octant, sources))
        return up[::-1], down

    def _level(self, targets: Index, task: Index, matrix: Index, sources: Index) -> Shifts:
        steps = np.concatenate([matrix[:, None], sources], axis=1)
        starts = np.searchsorted(task, np.arange(len(targets) + 1))
        return Shifts(len(targets), *(indices(self.device, each) for each in (targets, starts, steps)))

    def empty(self, parts: int) -> Any:
        """Moments or local expansions of all boxes."""
        return self.device.empty((parts, self.boxes, self.columns * self.rank), self.real)

    def run(self, moments: Any, parts: int, transposed: bool) -> Any:
        """Local expansions of the leaves from the moments of all leaves; those of parents are added to their
        children."""
        expansions = self.empty(parts)
        for level in self._up:
            self._shift(level, self._above, moments, parts, False)
        across = self._backward if transposed else self._forward
        source, target, runs, blocks = across.tables
        given = (self._numbers, self._places, source, target, runs, blocks, across.block, self.boxes, self._scale)
        self._kernels.launch("translate_boxes", (across.blocks * self.group, parts), *given, moments, expansions)
        count_work(self.device, "translate_boxes", float, lambda: parts * self._operations(across))
        for level in self._down:
            self._shift(level, self._below, expansions, parts, True)
        return expansions

    def _operations(self, across: Across) -> float:
        """Operations of all translations between separated boxes: 2 r^2, or 4 r n by two factors of rank n."""
        ranks, runs = (self.device.to_host(each) for each in (self._places, across.tables[2]))
        numbers = np.where(ranks[:, 1] == 0, self.rank, 2 * ranks[:, 1])[runs[:, 0]]
        return float(2 * self.rank * self.columns * (numbers @ (runs[:, 2] - runs[:, 1]).astype(float)))

    def _shift(self, level: Shifts, matrices: Any, values: Any, parts: int, adds: bool) -> None:
        given = matrices, level.targets, level.starts, level.steps, self.boxes, int(adds), values
        self._kernels.launch("shift_boxes", (level.tasks * self.group, parts), *given)


def padded(numbers: Index, count: int) -> Index:
    """(n, count) numbers, with -1 behind the last."""
    found = np.full((-(-len(numbers) // count), count), -1)
    found.ravel()[: len(numbers)] = numbers
    return found
