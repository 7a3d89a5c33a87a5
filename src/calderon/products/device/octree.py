"""Octrees and their lists made on a device, for points that move (octree.c)."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from calderon.backends import Device, Kernels, require_device_memory
from calderon.backends.devices.device_matrix import GROUP
from calderon.backends.devices.sorting import Sorting
from calderon.products.lists import OFFSETS, Runs
from calderon.products.octree import DEEPEST, Cube

NUMBERS, NEIGHBOURS = 9, 27
"""Numbers of a box, and of its neighbours with itself, as in octree.c."""


class DevicePoints(NamedTuple):
    """Points on a device in the order of their keys: their number, order (n,), where each was, and places (n, 3) in
    units of the root."""

    number: int
    order: Any
    places: Any


class DeviceOctree:
    """The octree of sources and targets on a device, with the boxes and in the order of `octree`.

    boxes, children: see octree.c. leaves: boxes without children. levels: first box of each level, then the number of
    boxes. sources, targets: the same where there are no targets of their own. nbytes: of boxes and lists, about.
    """

    def __init__(self, device: Device, cube: Cube, points: Sequence[Any], most: int, advice: str) -> None:
        """cube: around all points; points: sources (n, 3) on the device, then targets, if these are others; most:
        sources or targets of a leaf; advice: for those who have not enough memory."""
        self.device, self.cube, self.most, self.advice = device, cube, most, advice
        self._kernels = Kernels.of(device, "products/device/octree.c", float, GROUP, DEEPEST=DEEPEST)
        self._sorting, self.nbytes = Sorting(device), 0
        found, keys = zip(*(self._sorted(each) for each in points), strict=True)
        self.sources, self.targets = found[0], found[-1]
        self._divide(keys[0], keys[-1])
        self._leaves()

    def _integers(self, *shape: int) -> Any:
        """Room for integers."""
        found = self.device.empty(shape, np.int32)
        self.nbytes += found.nbytes
        return found

    def _require(self, integers: int, what: str) -> None:
        """MemoryError where so many do not fit, or have no places of 32 bits."""
        require_device_memory(self.device, 4 * integers, what, self.advice)
        if integers > np.iinfo(np.int32).max:
            raise MemoryError(f"{what} takes {integers} numbers, and a device counts to 2147483647: {self.advice}")

    def _total(self, places: Any, count: int) -> int:
        """Replace counts by their sums, and wait for the sum of all."""
        return int(self.device.to_host(self._sorting.sum_before(places, count))[0])

    def _sorted(self, points: Any) -> tuple[DevicePoints, Any]:
        """Points in the order of their keys, and the keys."""
        count, (x, y, z), edge = points.shape[0], self.cube.low, np.float64(self.cube.edge)
        keys, order = self.device.empty((count,), np.int64), self._integers(count)
        self._kernels.launch("point_keys", count, points, count, x, y, z, 2**DEEPEST / edge, keys, order)
        keys, order = self._sorting.sort(keys, order, count, 3 * DEEPEST)
        places = self.device.empty((count, 3), np.float64)
        self._kernels.launch("place_points", count, points, order, count, x, y, z, edge, places)
        return DevicePoints(count, order, places), keys

    def _divide(self, sources: Any, targets: Any) -> None:
        """Boxes and children, level by level, from the keys of both sides; again with more room where it is short."""
        room = 3 * max(self.sources.number, self.targets.number) // self.most + 100
        while not self._fits(sources, targets, room):
            room *= 2

    def _fits(self, sources: Any, targets: Any, room: int) -> bool:
        """Whether all boxes have been made in so much room."""
        self._require(room * (NUMBERS + 8), "an octree")
        self.boxes, self.children = self._integers(room, NUMBERS), self._integers(room, 8)
        self.device.put(
            np.array([0, -1, 0, 0, 0, 0, self.sources.number, 0, self.targets.number], np.int32), self.boxes
        )
        self.levels, first, count = [0], 0, 1
        while count:
            places = self._integers(count)
            given = self.boxes, self.children, first, count, sources, targets, self.most
            self._kernels.launch("divide_boxes", count, *given, 1, places)
            found = self._total(places, count)
            if first + count + found > room:
                return False
            self._kernels.launch("divide_boxes", count, *given, 0, places)
            first, count = first + count, found
            self.levels.append(first)
        return True

    def _listed(self, kernel: str, cells: int, given: tuple[Any, ...], widths: Sequence[int], what: str,
                *others: Any) -> list[Any]:  # fmt: skip
        """Lists (n, width) of integers that a kernel makes: counted for each of so many cells, then written, and with
        them `others`."""
        places = self._integers(cells)
        self._kernels.launch(kernel, cells, *given, 1, places, *[places] * (len(widths) + len(others)))
        count = self._total(places, cells)
        self._require(sum(widths) * count, what)
        found = [self._integers(count, *([width] if width > 1 else [])) for width in widths]
        self._kernels.launch(kernel, cells, *given, 0, places, *found, *others)
        return found

    def _leaves(self) -> None:
        """List the boxes without children, and find the neighbours of all."""
        count = self.levels[-1]
        self._require(count * (NEIGHBOURS + 2), "a list of neighbours")
        self.neighbours = self._integers(count, NEIGHBOURS)
        (self.leaves,) = self._listed("list_leaves", count, (self.boxes, count, self.most), [1], "a list of leaves")
        for low, high in zip(self.levels, self.levels[1:], strict=False):
            found = self.boxes, self.children, low, high - low, self.neighbours
            self._kernels.launch("find_neighbours", (high - low) * NEIGHBOURS, *found)

    def near(self) -> tuple[Any, Any]:
        """Sources near the targets of leaves: runs (n, 2) of sources; tasks (leaves, 4), the run of targets of each
        leaf and its runs of sources."""
        count = self.leaves.shape[0]
        tasks, given = self._integers(count, 4), (self.boxes, self.neighbours, self.leaves, count, self.most)
        (runs,) = self._listed("near_runs", count, given, [2], "a list of near points", tasks)
        return runs, tasks

    def far(self, block: int) -> Runs:
        """The pairs of boxes that are translated, by blocks of targets, on the device."""
        count, directions = self.levels[-1], len(OFFSETS)
        blocks = -(-count // block)
        cells = blocks * directions
        self._require(4 * cells, "a list of boxes")
        offsets, runs = self.device.array(OFFSETS.astype(np.int32)), self._integers(cells, 3)
        given = self.boxes, self.children, self.neighbours, count, offsets, directions, block, cells
        source, target = self._listed("far_pairs", cells, given, [1, 1], "a list of pairs of boxes", runs)
        starts = self.device.array(directions * np.arange(blocks + 1, dtype=np.int32))
        return Runs(source, target, runs, starts)
