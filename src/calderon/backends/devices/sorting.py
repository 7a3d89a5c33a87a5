"""Prefix sums, and sorting of keys, on a device (sorting.c)."""

from typing import Any

import numpy as np

from calderon.backends.devices.device import Device, Source
from calderon.backends.devices.device_matrix import GROUP

ITEMS, BITS = 8, 4
"""Numbers of a thread, and bits of a digit: counters of a group take 8 KiB of local memory."""


class Sorting:
    """Prefix sums and sorting on a device; all is queued, nothing waited for."""

    def __init__(self, device: Device) -> None:
        defines = ("GROUP_SIZE", GROUP), ("ITEMS", ITEMS), ("BITS", BITS)
        self.device, self._program = device, device.build(Source("backends/devices/sorting.c", "float", defines))

    def sum_before(self, numbers: Any, count: int) -> Any:
        """Replace each of the first `count` integers of an array by the sum of those before it; (1,) the sum of all."""
        tiles = max(1, -(-count // (GROUP * ITEMS)))
        totals = self.device.empty((tiles,), np.int32)
        self._launch("sum_in_tiles", tiles * GROUP, numbers, count, totals)
        if tiles == 1:
            return totals
        total = self.sum_before(totals, tiles)
        self._launch("add_tiles", count, numbers, count, totals)
        return total

    def sort(self, keys: Any, values: Any, count: int, bits: int) -> tuple[Any, Any]:
        """Integers of 64 bits in increasing order, of which `bits` may be set, and the values (32 bits) that belong to
        them; equal keys keep their order. Both arrays are written to."""
        tiles, empty = max(1, -(-count // (GROUP * ITEMS))), self.device.empty
        spare = empty((count,), np.int64), empty((count,), np.int32)
        starts = empty((tiles << BITS,), np.int32)
        for shift in range(0, bits, BITS):
            self._launch("count_digits", tiles * GROUP, keys, count, shift, tiles, starts)
            self.sum_before(starts, tiles << BITS)
            self._launch("place_by_digit", tiles * GROUP, keys, values, count, shift, tiles, starts, *spare)
            (keys, values), spare = spare, (keys, values)
        return keys, values

    def _launch(self, kernel: str, threads: int, *arguments: Any) -> None:
        self.device.launch(self._program, kernel, (threads,), (GROUP,), *arguments)
