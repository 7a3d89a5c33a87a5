"""The dense blocks between neighbouring leaves on a device, and products with them (near.c)."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.backends import Device, Source, real_name
from calderon.fmm.near import Near
from calderon.products.device.tables import WORD, counted, indices, runs_of

GROUP, TILE = 128, 32
"""Threads of a group, and rows of a strip."""

Index = NDArray[np.int64]


class Strips:
    """The blocks of `Near` in strips of TILE rows.

    table (n, 7): first row, rows, first column, columns, beginning of the numbers in two parts, and of the sums, of
    which there are `sums`. rows, columns: for runs of pieces of each side (runs, 2), first and how many, the sums of
    strips that they receive: starts (runs + 1,), entries.
    """

    def __init__(self, near: Near) -> None:
        (i, j), same = near.pairs.T, near.symmetric
        rows, columns = (runs_of(each, TILE) for each in (near.row_starts, near.column_starts))
        leaves = np.arange(len(near.row_starts))
        first_row, first_column = (np.searchsorted(each[:, 2], leaves) for each in (rows, columns))
        many = np.diff(first_row)[i]
        block, number = np.repeat(np.arange(len(i)), many), counted(many)
        run, width = first_row[i[block]] + number, np.diff(near.column_starts)[j[block]]
        place = near.places[block] + number * TILE * width
        ends = np.cumsum(TILE + width)
        begin, self.sums = ends - TILE - width, int(ends[-1]) if len(ends) else 0
        left = near.column_starts[j[block]]
        self.table = np.stack([*rows[run, :2].T, left, width, place // WORD, place % WORD, begin], axis=1)
        down, across = (run, begin), self._across(first_column, i[block], j[block], begin, same)
        if same:
            both = (np.concatenate(each) for each in zip(down, across, strict=True))
            self.rows = self.columns = _gathered(rows, *both)
        else:
            self.rows, self.columns = _gathered(rows, *down), _gathered(columns, *across)

    @staticmethod
    def _across(first: Index, i: Index, j: Index, begin: Index, symmetric: bool) -> tuple[Index, Index]:
        """Runs of columns, and where their sums begin; not of blocks on the diagonal of symmetric matrices, whose rows
        are all of them."""
        kept = np.flatnonzero(i != j) if symmetric else np.arange(len(i))
        many = np.diff(first)[j[kept]]
        number = counted(many)
        return np.repeat(first[j[kept]], many) + number, np.repeat(begin[kept], many) + TILE * (1 + number)


def _gathered(runs: Index, run: Index, begin: Index) -> tuple[Index, Index, Index]:
    order = np.argsort(run, kind="stable")
    return runs[:, :2], np.searchsorted(run[order], np.arange(len(runs) + 1)), begin[order]


class DeviceNear:
    """Blocks on a device; sums in the real type `work`."""

    def __init__(self, device: Device, near: Near, strips: Strips, work: np.dtype[Any]) -> None:
        self.device, self.symmetric, self.sums, self.work = device, near.symmetric, strips.sums, work
        self.pieces = int(near.row_starts[-1]), int(near.column_starts[-1])
        self.strips = len(strips.table)
        numbers = near.numbers
        self._numbers, self._table = device.array(numbers), indices(device, strips.table)
        self._rows = tuple(indices(device, each) for each in strips.rows)
        self._columns = self._rows if near.symmetric else tuple(indices(device, each) for each in strips.columns)
        sides = [strips.rows] if near.symmetric else [strips.rows, strips.columns]
        self.nbytes = numbers.nbytes + 4 * (strips.table.size + sum(each.size for side in sides for each in side))
        source = Source("fmm/device/near.c", real_name(numbers.dtype), (("WORK_REAL", real_name(work)),))
        self._program = device.build(source)

    def multiply(self, x: Any, parts: int, transposed: bool, adds: bool, y: Any) -> None:
        """y = A x or A^T x, or added to y, for numbers (parts, pieces) of the two sides."""
        down, across = int(self.symmetric or not transposed), int(self.symmetric or transposed)
        sums = self.device.empty((parts, self.sums), self.work)
        rows, columns = self.pieces
        given = (self._numbers, self._table, down, across, x, columns, x, rows, sums, self.sums)
        self._launch("multiply_strips", self.strips, parts, *given)
        runs, starts, entries = self._columns if transposed else self._rows
        wanted = columns if transposed else rows
        self._launch(
            "gather_strips", runs.shape[0], parts, runs, starts, entries, sums, self.sums, int(adds), y, wanted
        )

    def _launch(self, kernel: str, groups: int, parts: int, *arguments: Any) -> None:
        self.device.launch(self._program, kernel, (groups * GROUP, parts), (GROUP, 1), *arguments)
