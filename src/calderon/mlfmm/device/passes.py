"""The passes between plane waves of boxes on a device (passes.c)."""

from typing import Any, NamedTuple

import numpy as np

from calderon.backends import Device, Source, real_name
from calderon.backends.devices.device_matrix import GROUP
from calderon.backends.vectors import width
from calderon.mlfmm.levels import Level, Traversal
from calderon.mlfmm.spectrum import Interpolation, Sizes
from calderon.products.device.tables import indices

ROWS_PER_THREAD = 4
"""Angles theta of a thread."""
SCRATCH_BYTES = 256_000_000
"""Bytes of intermediate numbers, unless those of one box take more."""


class Matrices(NamedTuple):
    """The matrices of an interpolation, on the device."""

    sizes: Sizes
    theta: Any
    phi: Any
    theta_back: Any
    phi_back: Any


class LevelThere(NamedTuple):
    """Tables of a level: widen, lift (None for the first); first, source, offset of pairs; children, parents (from the
    first box of their level with fields on), octants."""

    host: Level
    widen: Matrices
    lift: Matrices | None
    factors: Any
    shifts: Any
    first: Any
    source: Any
    offset: Any
    children: Any
    parents: Any
    octants: Any


class DevicePasses:
    """From outgoing patterns (box, column, spectrum, part, pitch) to incoming ones."""

    def __init__(self, device: Device, traversal: Traversal) -> None:
        self.device, self.traversal, self.real = device, traversal, traversal.real
        defines = (("SPECTRA", traversal.spectra),)
        self._program = device.build(Source("mlfmm/device/passes.c", real_name(self.real), defines))
        above = [None, *traversal.levels]
        self.levels = [self._level(level, above[n]) for n, level in enumerate(traversal.levels)]

    def _level(self, level: Level, above: Level | None) -> LevelThere:
        array, pairs = self.device.array, level.pairs
        children = above.children if above else np.zeros(1, np.int64)
        parents = np.repeat(np.arange(len(children) - 1), np.diff(children)) - (above.receiving[0] if above else 0)
        tables = pairs.first, pairs.source, pairs.offset, level.children, parents, level.octant
        lift = self._matrices(level.lift) if level.lift else None
        numbers = self._matrices(level.widen), lift, array(level.factors), array(level.shifts)
        return LevelThere(level, *numbers, *(indices(self.device, each) for each in tables))

    def _matrices(self, each: Interpolation) -> Matrices:
        tables = each.theta, each.phi, each.theta_back, each.phi_back
        return Matrices(each.sizes, *(self.device.array(table) for table in tables))

    def empty(self, columns: int, incoming: bool) -> list[Any]:
        """Patterns of all levels."""
        count = columns * self.traversal.spectra
        sizes = [each.incoming if incoming else each.patterns for each in self.traversal.levels]
        return [self.device.empty((each * count,), self.real) for each in sizes]

    def run(self, outgoing: list[Any], incoming: list[Any], columns: int) -> None:
        """Outgoing patterns of leaves are given, those of their parents and all incoming ones found."""
        for n in range(len(self.levels) - 1, 0, -1):
            self._up(n, outgoing, columns)
        for n, level in enumerate(self.levels):
            if len(level.host.pairs.source):
                self._across(level, outgoing[n], incoming[n], columns)
            elif not n:
                incoming[n] = self.device.array(np.zeros(incoming[n].shape, self.real))
            if n:
                self._down(n, incoming, columns)

    def _up(self, n: int, x: list[Any], columns: int) -> None:
        level, above = self.levels[n], self.levels[n - 1]
        lift, first = level.lift, above.host.children
        assert lift is not None
        fine, coarse = lift.sizes.fine, lift.sizes.coarse
        for low, high in self._pieces((0, above.host.count), 8 * 4 * fine * coarse, columns):
            children = int(first[low]), int(first[high])
            mid = self._theta(level, lift, False, x[n], children, columns)
            self._phi(level, lift, False, mid, children[0], (low, high), x[n - 1], columns, above)

    def _down(self, n: int, x: list[Any], columns: int) -> None:
        level = self.levels[n]
        assert level.lift is not None
        numbers, adds = 4 * level.lift.sizes.fine * level.lift.sizes.coarse, len(level.host.pairs.source) > 0
        own = level.host.receiving
        for part in self._pieces(own, numbers, columns):
            mid = self._theta(level, level.lift, True, x[n - 1], part, columns, self.levels[n - 1])
            self._phi(level, level.lift, True, mid, part[0], part, x[n], columns, None, adds, None, -own[0])

    def _across(self, level: LevelThere, x: Any, y: Any, columns: int) -> None:
        """Patterns y from those x of separated boxes, on the full grid of the level."""
        host, pitch = level.host, level.host.full.pitch(self.real)
        numbers = 4 * level.widen.sizes.fine * level.widen.sizes.coarse
        full = self.device.empty((host.count * columns * self.traversal.spectra * 2 * pitch,), self.real)
        for part in self._pieces((0, host.count), numbers, columns):
            mid = self._theta(level, level.widen, False, x, part, columns)
            self._phi(level, level.widen, False, mid, part[0], part, full, columns, None, False, pitch)
        chunks, pair = -(-host.full.count // GROUP), 2 * width(self.real)
        for part in self._pieces(host.receiving, numbers + 2 * pitch, columns):
            sums = self.device.empty(((part[1] - part[0]) * columns * self.traversal.spectra * 2 * pitch,), self.real)
            given = full, pitch, host.full.count, level.factors, len(host.pairs.used), pair, level.first, level.source
            threads = (part[1] - part[0]) * chunks * GROUP
            self._launch("translate_boxes", threads, columns, *given, level.offset, columns, part[0], sums)
            whole = 0, part[1] - part[0]
            mid = self._theta(level, level.widen, True, sums, whole, columns, None, pitch)
            self._phi(level, level.widen, True, mid, whole[0], whole, y, columns, None, False, None,
                      part[0] - host.receiving[0])  # fmt: skip

    def _theta(
        self, level: LevelThere, matrices: Matrices, back: bool, x: Any, part: tuple[int, int], columns: int,
        above: LevelThere | None = None, pitch: int | None = None,
    ) -> Any:  # fmt: skip
        """Matrices in theta times the patterns x of boxes, or of their parents on the level above."""
        sizes, patterns = matrices.sizes, columns * self.traversal.spectra
        rows, inner = (sizes.coarse, sizes.fine) if back else (sizes.fine, sizes.coarse)
        pitch = pitch or (above or level).host.half.pitch(self.real)
        table, count = matrices.theta_back if back else matrices.theta, part[1] - part[0]
        mid = self.device.empty((count * patterns * 4 * rows * inner,), self.real)
        given = table, rows, inner, inner, int(self.traversal.vector), x, pitch, patterns, int(above is not None)
        rest = level.parents, level.octants, level.shifts, part[0], mid
        self._launch("theta_pass", count * _chunks(rows, inner) * GROUP, patterns, *given, *rest)
        return mid

    def _phi(
        self, level: LevelThere, matrices: Matrices, back: bool, mid: Any, begin: int, part: tuple[int, int], y: Any,
        columns: int, above: LevelThere | None = None, adds: bool = False, pitch: int | None = None, to: int = 0,
    ) -> None:  # fmt: skip
        """Patterns y of boxes, or of boxes of the level above from their children, from what `_theta` leaves; to: the
        number of box 0."""
        sizes, patterns = matrices.sizes, columns * self.traversal.spectra
        rows, wide, table = ((sizes.coarse, sizes.coarse_pitch, matrices.phi_back) if back else
                             (sizes.fine, sizes.fine_pitch, matrices.phi))  # fmt: skip
        inner = sizes.fine if back else sizes.coarse
        pitch = pitch or (above or level).host.half.pitch(self.real)
        first = above.children if above is not None else level.children
        given = table, rows, inner, rows, wide, mid, begin, patterns, int(above is not None), first, level.octants
        rest = level.shifts, part[0], int(adds), y, pitch, to
        self._launch("phi_pass", (part[1] - part[0]) * _chunks(rows, rows) * GROUP, patterns, *given, *rest)

    def _pieces(self, boxes: tuple[int, int], numbers: int, columns: int) -> list[tuple[int, int]]:
        """Runs of these boxes with so many intermediate numbers each."""
        nbytes = numbers * columns * self.traversal.spectra * self.real.itemsize
        step = max(1, SCRATCH_BYTES // nbytes)
        return [(low, min(low + step, boxes[1])) for low in range(*boxes, step)]

    def _launch(self, kernel: str, threads: int, columns: int, *arguments: Any) -> None:
        self.device.launch(self._program, kernel, (threads, columns), (GROUP, 1), *arguments)


def _chunks(rows: int, across: int) -> int:
    """Groups of a box."""
    return -(-(-(-rows // ROWS_PER_THREAD) * across) // GROUP)


def passing_bytes(traversal: Traversal, patterns: int) -> int:
    """Bytes of the intermediate numbers of so many patterns of a box, at most: those between the two passes, and sums
    over separated boxes."""
    numbers = 0
    for level in traversal.levels:
        across = 4 * level.widen.sizes.fine * level.widen.sizes.coarse + 2 * level.full.pitch(traversal.real)
        above = 4 * level.lift.sizes.fine * level.lift.sizes.coarse if level.lift else 0
        numbers = max(numbers, level.count * max(across, above))
    return 2 * min(SCRATCH_BYTES, numbers * patterns * traversal.real.itemsize)
