"""Direct sums of the fields of points at points on a device (near_points.c)."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.backends import Defines, Device, Kernels, count_work
from calderon.products.direct_sums import Kinds

GROUP = 64
"""Threads of a group, about the points of a leaf."""
THREADS = 1 << 17
"""Threads that fill a large device: for fewer targets sums of all sources share these out in runs."""


class NearPoints:
    """Direct sums of the fields of points.

    device: where. real: the type of numbers. fields: how many there are at a target.
    """

    def __init__(
        self, device: Device, pair: str, real: Any, kinds: Kinds, scalars: Sequence[float], flops: float,
        parts: int = 1, defines: Defines = (),
    ) -> None:  # fmt: skip
        """pair: the header with the fields of a source, and what is defined for it; scalars: its numbers; flops:
        operations of a pair of points; parts: 2 for complex numbers and fields."""
        self.device, self.real, self.fields, self.flops = device, np.dtype(real), parts * kinds.fields, flops
        self._kernels = Kernels.of(
            device, "products/device/near_points.c", real, GROUP, defines, PAIR=f'"{pair}"', CHARGES=kinds.charges,
            DIPOLES=kinds.dipoles, GRADIENT=kinds.gradient,
        )  # fmt: skip
        self._scalars = device.array(np.array(scalars, self.real))

    def sums(self, sources: Any, numbers: Any, targets: Any, runs: Any, tasks: Any) -> Any:
        """(fields, m) of the runs of sources at the targets of tasks, on the device; all but these are not written.

        sources (n, 3), targets (m, 3): in double precision, there; numbers (numbers, n); runs (k, 2); tasks (l, 4).
        """
        device, count = self.device, targets.shape[0]
        fields = device.empty((self.fields, count), self.real)
        given = sources, numbers, sources.shape[0], targets, count, tasks, runs, self._scalars, fields
        self._kernels.launch("near_fields", tasks.shape[0] * GROUP, *given)
        count_work(device, "near_fields", float, lambda: self.flops * self._pairs(runs, tasks))
        return fields

    def all_pairs(self, sources: Any, numbers: Any, targets: NDArray[np.float64]) -> NDArray[np.float64]:
        """(m, fields) of all sources at targets (m, 3) of the host."""
        array, (n, m) = self.device.array, (sources.shape[0], len(targets))
        # as many copies of the targets as fill the device, each with a run of sources
        copies = int(np.clip(THREADS // m, 1, -(-n // GROUP)))
        bounds, blocks = n * np.arange(copies + 1) // copies, np.append(np.arange(0, m, GROUP), m)
        copy = np.arange(copies)[:, None] + np.zeros(len(blocks) - 1, np.int64)
        tasks = np.stack([blocks[:-1] + m * copy, blocks[1:] + m * copy, copy, copy + 1], axis=2).reshape(-1, 4)
        runs = np.stack([bounds[:-1], bounds[1:]], axis=1)
        given = array(runs.astype(np.int32)), array(tasks.astype(np.int32))
        found = self.device.to_host(self.sums(sources, numbers, array(np.tile(targets, (copies, 1))), *given))
        return np.asarray(found.reshape(self.fields, copies, m).sum(axis=1, dtype=float).T)

    def _pairs(self, runs: Any, tasks: Any) -> float:
        """Pairs of points of tasks."""
        lengths = np.append(0, np.cumsum(np.diff(self.device.to_host(runs).astype(float), axis=1)))
        first, last, low, high = self.device.to_host(tasks).T
        return float((last - first) @ (lengths[high] - lengths[low]))
