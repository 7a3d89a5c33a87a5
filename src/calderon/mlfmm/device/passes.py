"""The passes between plane waves of boxes on a device (passes.c)."""

from typing import Any

import numpy as np

from calderon.backends import Device, Kernels
from calderon.backends.devices.device_matrix import GROUP
from calderon.backends.vectors import width
from calderon.mlfmm.levels import Level, Traversal
from calderon.mlfmm.spectrum import Interpolation
from calderon.products.device.tables import indices, sent

ROWS_PER_THREAD = 4
"""Angles theta of a thread."""
SCRATCH_BYTES = 256_000_000
"""Bytes of intermediate numbers, unless those of one box take more."""


class DevicePasses:
    """M2M, M2L and L2L on a device: from outgoing patterns (box, column, spectrum, part, pitch) to incoming ones.

    levels: those of the traversal, with their arrays on the device.
    """

    def __init__(self, device: Device, traversal: Traversal) -> None:
        self.device, self.traversal, self.real = device, traversal, traversal.real
        self._kernels = Kernels.of(device, "mlfmm/device/passes.c", self.real, GROUP, SPECTRA=traversal.spectra)
        self.levels: list[Level] = [sent(device, each) for each in traversal.levels]
        # the parent of each box, counted from the first box of the level above that has fields
        above = [(np.zeros(1, np.int64), 0), *((each.children, each.receiving[0]) for each in traversal.levels[:-1])]
        self._parents = [
            indices(device, np.repeat(np.arange(len(each) - 1), np.diff(each)) - begin) for each, begin in above
        ]

    def empty(self, columns: int, incoming: bool) -> list[Any]:
        """Room for the outgoing or incoming patterns of all levels, not cleared."""
        count = columns * self.traversal.spectra
        sizes = [each.incoming if incoming else each.patterns for each in self.traversal.levels]
        return [self.device.empty((each * count,), self.real) for each in sizes]

    def run(self, outgoing: list[Any], incoming: list[Any], columns: int) -> None:
        """Fill the outgoing patterns of parents, from those of leaves, and all incoming patterns. columns: vectors that
        are multiplied at the same time."""
        for n in range(len(self.levels) - 1, 0, -1):
            self._up(n, outgoing, columns)
        for n, level in enumerate(self.traversal.levels):
            if len(level.pairs.source):
                self._across(n, outgoing[n], incoming[n], columns)
            elif not n:
                incoming[n] = self.device.array(np.zeros(incoming[n].shape, self.real))
            if n:
                self._down(n, incoming, columns)

    def _up(self, n: int, x: list[Any], columns: int) -> None:
        """M2M: the outgoing patterns x[n - 1] of parents from those of their children, x[n]: interpolated to the finer
        angles of level n - 1, shifted to the centre of the parent, and summed. Boxes without children keep theirs."""
        lift, first = self.levels[n].lift, self.traversal.levels[n - 1].children
        assert lift is not None
        # between both passes a child has a real and an imaginary part of two parities at (fine theta) x (coarse phi)
        numbers = 8 * 4 * lift.sizes.fine * lift.sizes.coarse
        for low, high in self._pieces((0, len(first) - 1), numbers, columns):
            children = int(first[low]), int(first[high])
            mid = self._theta(n, lift, False, x[n], children, columns)  # False: to the finer grid
            self._phi(n, lift, False, mid, children[0], (low, high), x[n - 1], columns, True)

    def _down(self, n: int, x: list[Any], columns: int) -> None:
        """L2L, the transpose of `_up`: the incoming patterns x[n - 1] of parents, shifted and brought to the coarser
        angles of level n, are added to those of their children, x[n], or stored where M2L has left none."""
        lift, own, adds = self.levels[n].lift, self.levels[n].receiving, len(self.traversal.levels[n].pairs.source) > 0
        assert lift is not None
        for part in self._pieces(own, 4 * lift.sizes.fine * lift.sizes.coarse, columns):
            mid = self._theta(n, lift, True, x[n - 1], part, columns, True)
            self._phi(n, lift, True, mid, part[0], part, x[n], columns, False, adds, None, -own[0])

    def _across(self, n: int, x: Any, y: Any, columns: int) -> None:
        """M2L: store the incoming patterns y from the outgoing ones x of separated boxes, interpolated to the full grid
        of the level, where each is multiplied by the factor of its offset, and back."""
        level, offsets = self.levels[n], len(self.traversal.levels[n].pairs.used)
        widen, pairs, grid, pitch = level.widen, level.pairs, level.full, level.full.pitch(self.real)
        numbers = 4 * widen.sizes.fine * widen.sizes.coarse
        full = self.device.empty((level.count * columns * self.traversal.spectra * 2 * pitch,), self.real)
        for part in self._pieces((0, level.count), numbers, columns):
            mid = self._theta(n, widen, False, x, part, columns)
            self._phi(n, widen, False, mid, part[0], part, full, columns, False, False, pitch)
        chunks, pair = -(-grid.count // GROUP), 2 * width(self.real)
        for part in self._pieces(level.receiving, numbers + 2 * pitch, columns):
            sums = self.device.empty(((part[1] - part[0]) * columns * self.traversal.spectra * 2 * pitch,), self.real)
            given = full, pitch, grid.count, level.factors, offsets, pair, pairs.first, pairs.source, pairs.offset
            threads = (part[1] - part[0]) * chunks * GROUP
            self._kernels.launch("translate_boxes", (threads, columns), *given, columns, part[0], sums)
            whole = 0, part[1] - part[0]
            mid = self._theta(n, widen, True, sums, whole, columns, False, pitch)
            self._phi(n, widen, True, mid, whole[0], whole, y, columns, False, False, None,
                      part[0] - level.receiving[0])  # fmt: skip

    def _theta(
        self, n: int, matrices: Interpolation, back: bool, x: Any, part: tuple[int, int], columns: int,
        from_parents: bool = False, pitch: int | None = None,
    ) -> Any:  # fmt: skip
        """First pass of an interpolation, in theta; returns the numbers (box, pattern, parity, part, theta, phi)
        between both passes.

        n: of the level; back: to the coarser grid, by the transposed matrices; x: patterns of the boxes part[0] up to,
        without, part[1] of the level or, if `from_parents`, of all boxes of the level above, of which that of the
        parent is taken, times its shift; pitch: of the patterns, that of half grids unless it is given.
        """
        level, sizes, patterns = self.levels[n], matrices.sizes, columns * self.traversal.spectra
        rows, inner = (sizes.coarse, sizes.fine) if back else (sizes.fine, sizes.coarse)
        pitch = pitch or self.levels[n - from_parents].half.pitch(self.real)
        table, count = matrices.theta_back if back else matrices.theta, part[1] - part[0]
        mid = self.device.empty((count * patterns * 4 * rows * inner,), self.real)
        given = table, rows, inner, inner, int(self.traversal.vector), x, pitch, patterns, int(from_parents)
        rest = self._parents[n], level.octant, level.shifts, part[0], mid
        self._kernels.launch("theta_pass", (count * _chunks(rows, inner) * GROUP, patterns), *given, *rest)
        return mid

    def _phi(
        self, n: int, matrices: Interpolation, back: bool, mid: Any, begin: int, part: tuple[int, int], y: Any,
        columns: int, of_children: bool = False, adds: bool = False, pitch: int | None = None, to: int = 0,
    ) -> None:  # fmt: skip
        """Second pass of an interpolation, in phi: store patterns y of the boxes part[0] up to, without, part[1], or
        add to them if `adds`, from the numbers `mid` of the boxes from `begin` on (`_theta`, as are the others).

        of_children: the boxes of `part` are those of the level above, and get the sums of the shifted patterns of their
        children; to: the number of box 0 in y.
        """
        level, sizes, patterns = self.levels[n], matrices.sizes, columns * self.traversal.spectra
        rows, wide, table = ((sizes.coarse, sizes.coarse_pitch, matrices.phi_back) if back else
                             (sizes.fine, sizes.fine_pitch, matrices.phi))  # fmt: skip
        inner = sizes.fine if back else sizes.coarse
        wanted = self.levels[n - of_children]
        pitch = pitch or wanted.half.pitch(self.real)
        given = table, rows, inner, rows, wide, mid, begin, patterns, int(of_children), wanted.children, level.octant
        rest = level.shifts, part[0], int(adds), y, pitch, to
        threads = (part[1] - part[0]) * _chunks(rows, rows) * GROUP
        self._kernels.launch("phi_pass", (threads, patterns), *given, *rest)

    def _pieces(self, boxes: tuple[int, int], numbers: int, columns: int) -> list[tuple[int, int]]:
        """Runs (low, high) of the boxes boxes[0] up to, without, boxes[1], so that `numbers` intermediate numbers of
        each box and pattern fit into SCRATCH_BYTES."""
        nbytes = numbers * columns * self.traversal.spectra * self.real.itemsize
        step = max(1, SCRATCH_BYTES // nbytes)
        return [(low, min(low + step, boxes[1])) for low in range(*boxes, step)]


def _chunks(rows: int, across: int) -> int:
    """How many groups of threads a box takes, where a thread does ROWS_PER_THREAD of the rows at one place across."""
    return -(-(-(-rows // ROWS_PER_THREAD) * across) // GROUP)


def passing_bytes(traversal: Traversal, patterns: int) -> int:
    """Bytes of intermediate numbers, at most, if a box has so many patterns: numbers between the two passes, and sums
    over separated boxes."""
    numbers = 0
    for level in traversal.levels:
        across = 4 * level.widen.sizes.fine * level.widen.sizes.coarse + 2 * level.full.pitch(traversal.real)
        above = 4 * level.lift.sizes.fine * level.lift.sizes.coarse if level.lift else 0
        numbers = max(numbers, level.count * max(across, above))
    return 2 * min(SCRATCH_BYTES, numbers * patterns * traversal.real.itemsize)
