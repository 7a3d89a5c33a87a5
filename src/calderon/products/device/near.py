"""The dense blocks between neighbouring leaves on a device, and products with them (near.c)."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.backends import Device, Source, real_name
from calderon.backends.devices.device_matrix import vector_type
from calderon.galerkin.rows.entry_kernels import Clusters
from calderon.products.device.tables import GROUP, WORD, indices, runs_of
from calderon.products.device.vectors import Vectors
from calderon.products.near_store import POWERS, NearProducts

LANES, TOGETHER = 32, 4
"""Threads of a row, and columns for which a number is read once, unless there is one alone."""


class Side(NamedTuple):
    """Rows or columns: how many, which unknown each is, and for runs of some of them (runs, 4) the blocks `order`."""

    size: int
    unknowns: Any
    runs: Any
    order: Any


class DeviceNear:
    """Blocks of one region of a matrix on a device; top, left: its first row and column."""

    def __init__(self, device: Device, top: int, left: int, near: NearProducts) -> None:
        self.device, self.top, self.left = device, top, left
        layout, self.vector = near.layout, vector_type(device)
        self.real = layout.room.real.dtype
        table = [(each.start[own], (each.stop - each.start)[own]) for each, own in
                 zip((layout.rows, layout.columns), layout.pairs.T, strict=True)]  # fmt: skip
        (first_row, heights), (first_column, widths) = table
        begins = [part for each in (layout.starts, near.tops) for part in np.divmod(each[:-1], WORD)]
        blocks = np.stack([first_row, first_column, heights, widths, *begins], axis=1)
        powers = POWERS if near.is_packed else np.zeros(0, self.real)
        self._numbers = tuple(device.array(each) for each in (near.room, near.exponents, powers))
        self._blocks = indices(device, blocks)
        self._rows = self._side(layout.rows, layout.pairs[:, 0], GROUP // LANES)
        self._columns = self._side(layout.columns, layout.pairs[:, 1], LANES)
        self._is_packed = near.is_packed
        self._program(1)

    def _side(self, clusters: Clusters, own: NDArray[np.int64], most: int) -> Side:
        order = np.argsort(own, kind="stable")
        first = np.searchsorted(own[order], np.arange(len(clusters.start) + 1))
        runs = runs_of(np.append(clusters.start, clusters.stop[-1:]), most)
        runs = np.column_stack([runs[:, :2], first[runs[:, 2]], first[runs[:, 2] + 1]])
        tables = (indices(self.device, each) for each in (clusters.order, runs[runs[:, 2] < runs[:, 3]], order))
        return Side(len(clusters.order), *tables)

    def _program(self, together: int) -> Any:
        """The kernels for so many columns at a time."""
        own = ("PACKED", int(self._is_packed)), ("VECTOR_REAL", real_name(self.vector)), ("COLUMNS", together)
        return self.device.build(Source("products/device/near.c", real_name(self.real), own))

    def add(self, x: Vectors, y: Vectors, factor: complex, transposed: bool) -> None:
        """y += factor A x or A^T x, of vectors that begin where those of the whole matrix do."""
        given, wanted = (self._rows, self._columns) if transposed else (self._columns, self._rows)
        begin, to = (self.top, self.left) if transposed else (self.left, self.top)
        taken, together = self.device.empty((x.columns, 2 * given.size), self.real), TOGETHER if x.columns > 1 else 1
        program = self._program(together)
        self.device.launch(program, "take_unknowns", (given.size, x.columns), (GROUP, 1), x.array, x.first + begin,
                           x.pitch, self.real.type(x.sign), given.unknowns, given.size, taken)  # fmt: skip
        kernel, groups = "multiply_columns" if transposed else "multiply_rows", -(-x.columns // together)
        factors = self.vector.type(np.real(factor)), self.vector.type(np.imag(factor)), self.real.type(y.sign)
        self.device.launch(program, kernel, (wanted.runs.shape[0] * GROUP, groups), (GROUP, 1), *self._numbers,
                           self._blocks, wanted.runs, wanted.order, wanted.unknowns, taken, given.size, x.columns,
                           *factors, y.array, y.first + to, y.pitch)  # fmt: skip
