"""The blocks of a near store on a device, and products with them (near.c).

Numbers and exponents are sent as they are, unless they are there. Complex blocks add to the vectors of unknowns; real
blocks, of symmetric matrices one of each pair, give the numbers of the places of clusters.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.backends import Device, Source, real_name
from calderon.backends.devices.device_matrix import GROUP, vector_type
from calderon.galerkin.rows.entry_kernels import Clusters
from calderon.products.device.near_filling import DeviceNumbers
from calderon.products.device.sums import Vectors
from calderon.products.device.tables import WORD, counted, indices, runs_of
from calderon.products.near_store import NearStore
from calderon.products.packed import POWERS, groups_of

LANES, COLUMNS_PER_READ = 32, 4
"""Threads of a row, and columns for which a number is read once, unless there is one alone."""
TILE = 32
"""Rows of a strip, and numbers of it that are multiplied at a time."""

Index = NDArray[np.int64]


class _Stored:
    """Numbers, exponents and powers of two of a store on a device, and its programs; nbytes: of what was sent."""

    def __init__(self, device: Device, near: NearStore, table: Index, work: np.dtype[Any]) -> None:
        """table: records of blocks for near.c; work: type of sums."""
        self.device, self.real, self.vector = device, work, vector_type(device)
        powers = POWERS.astype(work) if near.is_packed else np.zeros(0, work)
        memory = near.memory
        there = memory.there if isinstance(memory, DeviceNumbers) and memory.device is device else None
        self.numbers = *(there or (device.array(each) for each in memory.here)), device.array(powers)
        self.table, self.nbytes = indices(device, table), memory.nbytes + 4 * table.size
        stored = real_name(work if near.is_packed else memory.kind)
        self._defines = (("PACKED", int(near.is_packed)), ("PARTS", near.parts), ("STORED_REAL", stored),
                         ("VECTOR_REAL", real_name(self.vector)))  # fmt: skip
        self.program(1)

    def program(self, together: int) -> Any:
        """The kernels for so many columns at a time."""
        defines = *self._defines, ("COLUMNS", together)
        return self.device.build(Source("products/device/near.c", real_name(self.real), defines))


def _records(near: NearStore, block: Index, top: Index, height: Index, skipped: Index) -> Index:
    """(n, 8) records of parts of blocks: first row, first column, rows, columns, and in two parts each where numbers
    and exponents begin. block, top, height (n,): number of the block, first row and rows; skipped (n,): rows before."""
    columns, width = near.layout.columns.start[near.layout.pairs[block, 1]], near.sizes[1][block]
    groups = groups_of(near.parts * width)
    begins = near.layout.starts[block] + skipped * width, near.tops[block] + skipped * groups
    parts = [part for each in begins for part in np.divmod(each, WORD)]
    return np.stack([top, columns, height, width, *parts], axis=1)


class Side(NamedTuple):
    """Rows or columns: how many, which unknown each is, and for runs of some of them (runs, 4) the blocks `order`."""

    size: int
    unknowns: Any
    runs: Any
    order: Any


class DeviceNear:
    """Complex blocks of one region of a matrix on a device; top, left: its first row and column."""

    def __init__(self, device: Device, top: int, left: int, near: NearStore) -> None:
        self.device, self.top, self.left = device, top, left
        layout, every = near.layout, np.arange(len(near.layout.pairs))
        table = _records(near, every, layout.rows.start[layout.pairs[:, 0]], near.sizes[0], 0 * every)
        self._stored = _Stored(device, near, table, near.work)
        self._rows = self._side(layout.rows, layout.pairs[:, 0], GROUP // LANES)
        self._columns = self._side(layout.columns, layout.pairs[:, 1], LANES)

    def _side(self, clusters: Clusters, own: Index, most: int) -> Side:
        """Tables of one side; own: its cluster in each block; most: unknowns in a run at most."""
        order = np.argsort(own, kind="stable")
        first = np.searchsorted(own[order], np.arange(len(clusters.start) + 1))
        runs = runs_of(np.append(clusters.start, clusters.stop[-1:]), most)
        runs = np.column_stack([runs[:, :2], first[runs[:, 2]], first[runs[:, 2] + 1]])
        tables = (indices(self.device, each) for each in (clusters.order, runs[runs[:, 2] < runs[:, 3]], order))
        return Side(len(clusters.order), *tables)

    def add(self, x: Vectors, y: Vectors, factor: complex, transposed: bool) -> None:
        """y += factor A x or A^T x, of vectors that begin where those of the whole matrix do."""
        given, wanted = (self._rows, self._columns) if transposed else (self._columns, self._rows)
        begin, to = (self.top, self.left) if transposed else (self.left, self.top)
        stored, together = self._stored, COLUMNS_PER_READ if x.columns > 1 else 1
        program, taken = stored.program(together), self.device.empty((x.columns, 2 * given.size), stored.real)
        self.device.launch(program, "take_unknowns", (given.size, x.columns), (GROUP, 1), x.array, x.first + begin,
                           x.pitch, stored.real.type(x.sign), given.unknowns, given.size, taken)  # fmt: skip
        kernel, groups = "multiply_columns" if transposed else "multiply_rows", -(-x.columns // together)
        parts = np.real(factor), np.imag(factor)
        factors = *(stored.vector.type(each) for each in parts), stored.real.type(y.sign)
        self.device.launch(program, kernel, (wanted.runs.shape[0] * GROUP, groups), (GROUP, 1), *stored.numbers,
                           stored.table, wanted.runs, wanted.order, wanted.unknowns, taken, given.size, x.columns,
                           *factors, y.array, y.first + to, y.pitch)  # fmt: skip


class Strips:
    """Real blocks cut into strips of TILE rows.

    table (n, 9): records of near.c, with the beginning of the sums of each strip, of which there are `sums`. rows,
    columns: for runs of places of each side (runs, 2), first and how many, the sums of strips that they receive: starts
    (runs + 1,), entries.
    """

    def __init__(self, near: NearStore) -> None:
        (i, j), half = near.layout.pairs.T, near.half
        sides = near.layout.rows, near.layout.columns
        rows, columns = (runs_of(np.append(each.start, each.stop[-1:]), TILE) for each in sides)
        first_row, first_column = (np.searchsorted(each[:, 2], np.arange(len(side.start) + 1))
                                   for each, side in zip((rows, columns), sides, strict=True))  # fmt: skip
        many = np.diff(first_row)[i]
        block, number = np.repeat(np.arange(len(i)), many), counted(many)
        run = first_row[i[block]] + number
        ends = np.cumsum(TILE + near.sizes[1][block])
        begin, self.sums = ends - TILE - near.sizes[1][block], int(ends[-1]) if len(ends) else 0
        self.table = np.column_stack([_records(near, block, rows[run, 0], rows[run, 1], number * TILE), begin])
        down, across = (run, begin), self._across(first_column, i[block], j[block], begin, half)
        if half:
            both = (np.concatenate(each) for each in zip(down, across, strict=True))
            self.rows = self.columns = _gathered(rows, *both)
        else:
            self.rows, self.columns = _gathered(rows, *down), _gathered(columns, *across)

    @staticmethod
    def _across(first: Index, i: Index, j: Index, begin: Index, half: bool) -> tuple[Index, Index]:
        """Runs of columns, and where their sums begin; not of blocks on the diagonal of half a matrix, whose rows are
        all of them."""
        kept = np.flatnonzero(i != j) if half else np.arange(len(i))
        many = np.diff(first)[j[kept]]
        number = counted(many)
        return np.repeat(first[j[kept]], many) + number, np.repeat(begin[kept], many) + TILE * (1 + number)


def _gathered(runs: Index, run: Index, begin: Index) -> tuple[Index, Index, Index]:
    order = np.argsort(run, kind="stable")
    return runs[:, :2], np.searchsorted(run[order], np.arange(len(runs) + 1)), begin[order]


class DeviceStrips:
    """Real blocks on a device; vectors have the numbers of the places of clusters in the type of sums, `work`."""

    def __init__(self, device: Device, near: NearStore, strips: Strips, work: np.dtype[Any]) -> None:
        self.device, self.half, self.sums = device, near.half, strips.sums
        self.places = len(near.layout.rows.order), len(near.layout.columns.order)
        self._stored, self._count = _Stored(device, near, strips.table, work), len(strips.table)
        self._rows = tuple(indices(device, each) for each in strips.rows)
        self._columns = self._rows if near.half else tuple(indices(device, each) for each in strips.columns)
        sides = [strips.rows] if near.half else [strips.rows, strips.columns]
        self.nbytes = self._stored.nbytes + 4 * sum(each.size for side in sides for each in side)

    def multiply(self, x: Any, parts: int, transposed: bool, adds: bool, y: Any) -> None:
        """y = A x or A^T x, or added to y, for numbers (parts, places) of the two sides."""
        down, across = int(self.half or not transposed), int(self.half or transposed)
        stored, (rows, columns) = self._stored, self.places
        sums = self.device.empty((parts, self.sums), stored.real)
        given = (*stored.numbers, stored.table, down, across, x, columns, x, rows, sums, self.sums)
        self._launch("multiply_strips", self._count, parts, *given)
        runs, starts, entries = self._columns if transposed else self._rows
        wanted = columns if transposed else rows
        self._launch(
            "gather_strips", runs.shape[0], parts, runs, starts, entries, sums, self.sums, int(adds), y, wanted
        )

    def _launch(self, kernel: str, groups: int, parts: int, *arguments: Any) -> None:
        self.device.launch(self._stored.program(1), kernel, (groups * GROUP, parts), (GROUP, 1), *arguments)
