"""The functions of one side of an operator on a device: from coefficients to moments, from local expansions to sums
(p2m_l2p.c)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.backends import Kernels
from calderon.backends.devices.device_matrix import GROUP
from calderon.fmm.device.moments import DeviceMoments
from calderon.fmm.device.passes import LANES, DevicePasses
from calderon.fmm.product import DIRECTIONS, Line
from calderon.products.device.tables import indices, runs_of
from calderon.products.device.vectors import DevicePlaces, Vectors, zeros


class DeviceLine:
    """One row or column of a table of operators on a device, whose vectors are part of longer ones."""

    def __init__(
        self, passes: DevicePasses, leaves: NDArray[np.int64], there: Any, line: Line, run: tuple[int, int] | None
    ) -> None:
        """leaves: boxes of all leaves, `there` on the device; run: the leaves low up to, without, high that have
        fields, None for all of them."""
        pieces, each, device = line.pieces, DIRECTIONS if line.values else 1, passes.device
        self.device, self.passes, self.first, self.values = device, passes, line.first, line.values
        self.count, self.places = len(pieces.whole), DevicePlaces(device, pieces.whole, pieces.dimension, passes.real)
        self._leaves, self._groups = (there, passes.boxes), len(leaves)
        runs = runs_of(line.starts, LANES // each)
        if run is not None:
            runs = runs[(runs[:, 2] >= run[0]) & (runs[:, 2] < run[1])]
        self._some = run is not None
        runs[:, 2] = leaves[runs[:, 2]]
        self.runs = len(runs)
        self._starts, self._runs = indices(device, line.starts), indices(device, runs)
        moments = line.moments
        if isinstance(moments, DeviceMoments) and moments.device is device:
            self._functions = moments.there
        else:
            self._functions = device.array(moments.runs(0, line.sums * int(line.starts[-1])).ravel())
        self._arms = None if line.arms is None else device.array(np.ascontiguousarray(line.arms, passes.real))
        self._kernels = Kernels.of(
            device, "fmm/device/p2m_l2p.c", self._functions.dtype, GROUP, WORK_REAL=passes.real, RANK=passes.rank,
            COLUMNS=passes.columns, VALUES=line.values,
        )  # fmt: skip

    def enter(self, x: Vectors, adds: bool, moments: Any) -> None:
        """Moments of the leaves of a vector of the whole table, added to those that are there."""
        given, size = self.places.take(x.after(self.first)), self.passes.rank
        threads = self._groups * -(-size * (1 if self.values else self.passes.columns) // GROUP) * GROUP
        where = self._starts, *self._leaves, given, self.count, int(adds), moments
        self._kernels.launch("moments_of_pieces", (threads, x.planes), self._functions, *where)

    def move_origin(self, sums: Any, parts: int, last: bool) -> None:
        """Move the origin of moments or local expansions of leaves, by which such functions are multiplied."""
        if self._arms is not None:
            threads = self._groups * -(-self.passes.rank // GROUP) * GROUP
            self._kernels.launch("move_origin", (threads, parts), self._arms, *self._leaves, int(last), sums)

    def add(self, expansions: Any, parts: int, factor: complex, y: Vectors) -> None:
        """y += factor times the local expansions tested with the pieces, sums over those of each function."""
        # where some leaves alone have fields, zero in all others
        own = zeros(self.device, (parts * self.count,), self.passes.real) if self._some else self.places.empty(parts)
        given = self._functions, self._runs, self.passes.boxes, expansions, own, self.count
        self._kernels.launch("test_pieces", (self.runs * GROUP, parts), *given)
        self.places.add(own, parts, factor, y.after(self.first))
