"""P2M and L2P on a device: between numbers at points and plane waves of their boxes (p2m_l2p.c)."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.backends import Device, Kernels
from calderon.backends.devices.device_matrix import GROUP
from calderon.mlfmm.far import KINDS, WavesOfLevel
from calderon.mlfmm.levels import Level, Traversal
from calderon.mlfmm.points import Panels, Points
from calderon.products.device.tables import indices, runs_of

Leaves = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Groups of points of a level, and the numbers of their boxes."""


class DevicePoints:
    """Points on a device: places, normals, mix and starts are tables; runs of at most GROUP of them. other: whose
    tables are taken where places are the same."""

    def __init__(
        self, device: Device, points: Panels | Points, real: np.dtype[Any], other: "DevicePoints | None" = None
    ) -> None:  # fmt: skip
        self.device, self.host, self.real = device, points, real
        self.places: Any
        self.normals: Any
        self.starts: Any
        self.mix = device.array(np.ascontiguousarray(points.mix).view(float).astype(real))
        if other is not None and other.real == real and other.host.same_places(points):
            self.places, self.normals, self.starts = other.places, other.normals, other.starts
        else:
            both = points.of_leaves(0, len(points.starts) - 1)
            self.places, self.normals = (device.array(each.astype(real)) for each in both)
            self.starts = indices(device, points.starts)

    def of_leaves(
        self, leaves: NDArray[np.int64], boxes: NDArray[np.int64], receiving: tuple[int, int], begin: int
    ) -> tuple[Any, Any, Any, Any]:
        """Leaves that send and the numbers of their boxes on the device; then of those that receive, the leaves
        receiving[0] up to, without, receiving[1], (n, 3) runs of points and the boxes, counted from `begin` on. A run:
        first point, number of points, and place of the leaf among these."""
        here = (leaves >= receiving[0]) & (leaves < receiving[1])
        runs, place = runs_of(self.host.starts, GROUP), np.full(len(self.host.starts), -1)
        place[leaves[here]] = np.arange(np.count_nonzero(here))
        runs[:, 2] = place[runs[:, 2]]
        found = leaves, boxes, runs[runs[:, 2] >= 0], boxes[here] - begin
        return tuple(indices(self.device, each) for each in found)


class Waves(NamedTuple):
    """Tables of a level, both ways: along, factors of emission and of reception, growth; leaves and boxes that emit;
    runs of points, and their boxes, that receive."""

    level: Level
    along: Any
    emission: Any
    reception: Any
    growth: float
    leaves: Any
    boxes: Any
    runs: Any
    into: Any


class DeviceWaves:
    """Points with numbers of some kinds, and the plane waves of the levels (of the traversal, by number) that they are
    on."""

    def __init__(
        self, device: Device, points: DevicePoints, kinds: Sequence[str], k: complex, traversal: Traversal,
        leaves: dict[int, Leaves],
        receiving: tuple[int, int],
    ) -> None:  # fmt: skip
        """receiving: the leaves low up to, without, high that have fields."""
        self.device, self.points, self.real, self.k = device, points, traversal.real, k
        self.spectra, self.levels = traversal.spectra, dict[int, Waves]()
        for number, (own, boxes) in leaves.items():
            if len(own):
                level = traversal.levels[number]
                both = [WavesOfLevel.of(level, kinds, k, self.spectra, self.real, way) for way in (True, False)]
                numbers = both[0].along, both[0].factors, both[1].factors
                along, emission, reception = (device.array(each.astype(self.real)) for each in numbers)
                tables = points.of_leaves(own, boxes, receiving, level.receiving[0])
                self.levels[number] = Waves(level, along, emission, reception, both[0].growth, *tables)
        self._kernels = Kernels.of(
            device, "mlfmm/device/p2m_l2p.c", self.real, GROUP, COMPONENTS=sum(KINDS[kind] for kind in kinds),
            SPECTRA=self.spectra, LOSSY=k.imag > 0, MIXED=points.host.is_mixed,
        )  # fmt: skip

    def emit(self, numbers: Any, apart: int, patterns: list[Any], columns: int) -> None:
        """Patterns of the boxes of all points; apart: complex numbers of a point and column."""
        points = self.points
        for number, each in self.levels.items():
            half = each.level.half
            given = points.places, points.normals, points.mix, points.starts, numbers, apart, *self._waves(each)
            threads = each.leaves.shape[0] * -(-half.count // GROUP) * GROUP
            rest = each.emission, each.leaves, each.boxes, columns, patterns[number]
            self._kernels.launch("emit", (threads, columns), *given, *rest)

    def receive(
        self, patterns: list[Any], columns: int, numbers: Any, apart: int, scale: float = 1.0, adds: bool = False
    ) -> None:
        """Fields at all points that have some, or added to those that are there, times scale."""
        points = self.points
        for number, each in self.levels.items():
            given = points.places, points.normals, points.mix, each.runs, patterns[number], *self._waves(each)
            rest = each.reception, each.into, columns, self.real.type(scale), int(adds), numbers, apart
            self._kernels.launch("receive", (each.runs.shape[0] * GROUP, columns), *given, *rest)

    def _waves(self, each: Waves) -> tuple[Any, ...]:
        half, real = each.level.half, self.real.type
        return each.along, half.pitch(self.real), half.count, real(self.k.imag / self.k.real), real(each.growth)
