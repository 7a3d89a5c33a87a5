"""The passes between plane waves of boxes on a device (passes.c)."""

from typing import Any

import numpy as np

from calderon.backends import Device, Kernels
from calderon.backends.devices.device_matrix import GROUP
from calderon.backends.vectors import width
from calderon.mlfmm.levels import Level, Traversal
from calderon.mlfmm.spectrum import Interpolation
from calderon.products.device.tables import indices, sent
from calderon.products.device.vectors import zeros

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
                incoming[n] = zeros(self.device, incoming[n].shape, self.real)
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
            self._move(n, lift, False, (x[n], x[n - 1]), (children, (low, high)), columns, up=True)

    def _down(self, n: int, x: list[Any], columns: int) -> None:
        """L2L, the transpose of `_up`: the incoming patterns x[n - 1] of parents, shifted and brought to the coarser
        angles of level n, are added to those of their children, x[n], or stored where M2L has left none."""
        lift, own, adds = self.levels[n].lift, self.levels[n].receiving, len(self.traversal.levels[n].pairs.source) > 0
        assert lift is not None
        for part in self._pieces(own, 4 * lift.sizes.fine * lift.sizes.coarse, columns):
            self._move(n, lift, True, (x[n - 1], x[n]), (part, part), columns, down=True, adds=adds, to=-own[0])

    def _across(self, n: int, x: Any, y: Any, columns: int) -> None:
        """M2L: store the incoming patterns y from the outgoing ones x of separated boxes, interpolated to the full grid
        of the level, where each is multiplied by the factor of its offset, and back."""
        level, offsets = self.levels[n], len(self.traversal.levels[n].pairs.used)
        widen, pairs, grid, pitch = level.widen, level.pairs, level.full, level.full.pitch(self.real)
        numbers, half = 4 * widen.sizes.fine * widen.sizes.coarse, level.half.pitch(self.real)
        full = self.device.empty((level.count * columns * self.traversal.spectra * 2 * pitch,), self.real)
        for part in self._pieces((0, level.count), numbers, columns):
            self._move(n, widen, False, (x, full), (part, part), columns, pitches=(half, pitch))
        chunks, pair = -(-grid.count // GROUP), 2 * width(self.real)
        for part in self._pieces(level.receiving, numbers + 2 * pitch, columns):
            sums = self.device.empty(((part[1] - part[0]) * columns * self.traversal.spectra * 2 * pitch,), self.real)
            given = full, pitch, grid.count, level.factors, offsets, pair, pairs.first, pairs.source, pairs.offset
            threads = (part[1] - part[0]) * chunks * GROUP
            self._kernels.launch("translate_boxes", (threads, columns), *given, columns, part[0], sums)
            whole = 0, part[1] - part[0]
            to = part[0] - level.receiving[0]
            self._move(n, widen, True, (sums, y), (whole, whole), columns, pitches=(pitch, half), to=to)

    def _move(
        self, n: int, matrices: Interpolation, back: bool, patterns: tuple[Any, Any],
        boxes: tuple[tuple[int, int], tuple[int, int]], columns: int, up: bool = False, down: bool = False,
        adds: bool = False, pitches: tuple[int, int] | None = None, to: int = 0,
    ) -> None:  # fmt: skip
        """Interpolate patterns of the boxes low up to, without, high of level n, first in theta, then in phi, and store
        those of the wanted boxes, or add them if `adds`.

        back: to the coarser grid, by the transposed matrices. patterns, boxes: given ones, then wanted ones. up: the
        wanted boxes are those of the level above, and get the sums of the shifted patterns of their children; down:
        the patterns are those of all boxes of the level above, of which that of the parent is taken, times its shift.
        pitches: of both, those of half grids unless given; to: the number of box 0 among the wanted patterns.
        """
        level, sizes, count = self.levels[n], matrices.sizes, columns * self.traversal.spectra
        rows, inner, wide = sizes.fine, sizes.coarse, sizes.fine_pitch
        theta, phi, ((first, last), (low, high)) = matrices.theta, matrices.phi, boxes
        if back:
            rows, inner, wide = sizes.coarse, sizes.fine, sizes.coarse_pitch
            theta, phi = matrices.theta_back, matrices.phi_back
        wanted = self.levels[n - up]
        pitch, other = pitches or (each.half.pitch(self.real) for each in (self.levels[n - down], wanted))
        # between both passes: (box, pattern, parity, part, theta, phi)
        mid = self.device.empty(((last - first) * count * 4 * rows * inner,), self.real)
        given = theta, rows, inner, inner, int(self.traversal.vector), patterns[0], pitch, count, int(down)
        rest = self._parents[n], level.octant, level.shifts, first, mid
        threads = (last - first) * _chunks(rows, inner) * GROUP
        self._kernels.launch("theta_pass", (threads, count), *given, *rest)
        threads = (high - low) * _chunks(rows, rows) * GROUP
        children = int(up), wanted.children, level.octant, level.shifts, low, int(adds)
        self._kernels.launch("phi_pass", (threads, count), phi, rows, inner, rows, wide, mid, first, count, *children,
                             patterns[1], other, to)  # fmt: skip

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
    """Bytes of intermediate numbers, at most, if a box has so many patterns: between the two passes, on the full grid,
    and sums over separated boxes."""
    one, most = patterns * traversal.real.itemsize, 0
    for level in traversal.levels:
        grid = 2 * level.full.pitch(traversal.real) * one
        for sizes, wide in ((level.widen.sizes, grid), *([(level.lift.sizes, 0)] if level.lift else [])):
            between = 4 * sizes.fine * sizes.coarse * one + wide
            most = max(most, level.count * wide + min(level.count * between, max(SCRATCH_BYTES, between)))
    return most
