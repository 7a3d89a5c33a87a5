"""The passes between boxes on a device (passes.c)."""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from calderon.backends import Device, Kernels, count_work
from calderon.backends.vectors import width
from calderon.fmm.passes import Translations
from calderon.fmm.tables import Tables
from calderon.products.device.octree import DeviceOctree
from calderon.products.device.tables import LOCAL, indices, sent
from calderon.products.lists import Runs

LANES = 32
"""Threads that sum the numbers of a piece."""


class DevicePasses:
    """The passes of a tree."""

    _forward: Runs
    _backward: Runs

    def __init__(self, device: Device, table: Tables, columns: int, levels: Sequence[int], children: Any) -> None:
        """table: matrices; columns: harmonic sums of a box; levels: the first box of each level, then the number of
        boxes; children (boxes, 8): on the device. The pairs of separated boxes, `_forward` and `_backward`, follow."""
        self.device, self.columns, self.rank, self.real = device, columns, table.rank, table.numbers.dtype
        self.boxes, self.directions, self._children = levels[-1], len(table.starts), children
        # boxes with children that have separated boxes, which those of the first levels have not
        self._parents = list(zip(levels[2:], levels[3:-1], strict=False))
        widths = table.vectors * width(self.real)
        most = max(2 * LANES, table.rank, int(widths.max()))
        self.group = min(256, -(-most // LANES) * LANES)
        # eight vectors of several harmonic sums, or four of one, share the numbers of a matrix, if there is room
        self.pairs = max(1, (8 if self.columns > 1 else 4) // self.columns)
        vector = self.columns * (self.rank + self.group) * self.real.itemsize
        while self.pairs > 1 and self.pairs * vector > LOCAL:
            self.pairs //= 2
        # boxes of a block: the more, the more pairs share a matrix, but there should be a thousand groups
        self.block = int(np.clip(self.boxes // 1024, 2, 16))
        self._kernels = Kernels.of(
            device, "fmm/device/passes.c", self.real, self.group, RANK=self.rank, COLUMNS=self.columns,
            PAIRS=self.pairs, ROWS=-(-self.rank // self.group),
        )  # fmt: skip
        self._numbers, self._above, self._below = (device.array(each) for each in (table.numbers, table.up, table.down))
        self._places = indices(device, np.stack([table.starts, widths], axis=1))
        scale = np.exp2(np.repeat(np.arange(len(levels) - 1), np.diff(levels)))  # one over the edges of boxes
        self._scale = device.array(scale.astype(self.real))

    @classmethod
    def of(cls, device: Device, forward: Translations, backward: Translations) -> Self:
        """The passes of a tree of the processor; forward and backward are different where the two sides are."""
        tree = forward.tree
        levels = [low for low, _ in tree.runs_of_levels()]
        found = cls(device, forward.tables, forward.columns, [*levels, len(tree.level)], indices(device, tree.children))
        found._forward = found._pairs(forward.far)
        found._backward = found._forward if backward is forward else found._pairs(backward.far)
        return found

    @classmethod
    def on(cls, tree: DeviceOctree, table: Tables) -> Self:
        """The passes of one harmonic sum in a tree of the device."""
        found = cls(tree.device, table, 1, tree.levels, tree.children)
        found._forward = found._backward = tree.far(found.block)
        return found

    def _pairs(self, far: Runs) -> Runs:
        """The pairs of separated boxes by groups of target boxes, each with the runs of pairs that share a matrix."""
        source, target, matrix = (each.astype(np.int32) for each in (far.source, far.target, far.runs[:, 0]))
        matrix, count = np.repeat(matrix, np.diff(far.runs[:, 1:])[:, 0]), -(-self.boxes // self.block)
        found = Runs.of(source, target, matrix, target // np.int32(self.block), self.directions)
        blocks = np.append(found.blocks, np.full(count + 1 - len(found.blocks), found.blocks[-1]))
        return sent(self.device, found._replace(blocks=blocks))

    def empty(self, parts: int) -> Any:
        """Moments or local expansions of all boxes."""
        return self.device.empty((parts, self.boxes, self.columns * self.rank), self.real)

    def run(self, moments: Any, parts: int, transposed: bool) -> Any:
        """Local expansions of the leaves from the moments of all leaves; those of parents are added to their
        children."""
        expansions = self.empty(parts)
        for level in reversed(self._parents):
            self._shift(level, self._above, moments, parts, False)
        across = self._backward if transposed else self._forward
        given = self._numbers, self._places, *across, self.block, self.boxes, self._scale, moments, expansions
        self._kernels.launch("translate_boxes", ((across.blocks.shape[0] - 1) * self.group, parts), *given)
        count_work(self.device, "translate_boxes", float, lambda: parts * self._operations(across))
        for level in self._parents:
            self._shift(level, self._below, expansions, parts, True)
        return expansions

    def _operations(self, across: Runs) -> float:
        """Operations of all translations between separated boxes: 2 r^2, or 4 r n by two factors of rank n."""
        ranks, runs = (self.device.to_host(each) for each in (self._places, across.runs))
        numbers = np.where(ranks[:, 1] == 0, self.rank, 2 * ranks[:, 1])[runs[:, 0]]
        return float(2 * self.rank * self.columns * (numbers @ (runs[:, 2] - runs[:, 1]).astype(float)))

    def _shift(self, level: tuple[int, int], matrices: Any, values: Any, parts: int, down: bool) -> None:
        """From the children of the boxes low up to, without, high of a level to these, or down."""
        low, high = level
        groups = -(-(high - low) // self.pairs) * (8 if down else 1)
        given = matrices, self._children, low, high - low, self.boxes, int(down), values
        self._kernels.launch("shift_boxes", (groups * self.group, parts), *given)
