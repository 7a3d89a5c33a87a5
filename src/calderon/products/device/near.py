"""The blocks of a near store on a device, and products with them (near.c).

Numbers and exponents are sent as they are, unless they are there. Vectors have the numbers of the places of clusters,
in planes of real and of imaginary parts.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.backends import Device, Kernels, require_device_memory
from calderon.backends.devices.device_matrix import GROUP
from calderon.pairs.grouping import grouped
from calderon.products.device.near_filling import ADVICE, DeviceNumbers
from calderon.products.device.tables import WORD, counted, indices, runs_of
from calderon.products.device.vectors import DevicePlaces, Vectors
from calderon.products.near_store import NearStore
from calderon.products.packed import POWERS, groups_of

COLUMNS_PER_READ = 4
"""Vectors for which a number is read once, at most."""
TILE = 32
"""Rows of a strip, and numbers of it that are multiplied at a time."""

Index = NDArray[np.int64]


def _records(near: NearStore, block: Index, top: Index, height: Index, skipped: Index) -> Index:
    """(n, 8) records of parts of blocks: first row, first column, rows, columns, and in two parts each where numbers
    and exponents begin. block, top, height (n,): number of the block, first row and rows; skipped (n,): rows before."""
    columns, width = near.layout.columns.start[near.layout.pairs[block, 1]], near.sizes[1][block]
    groups = groups_of(near.parts * width)
    begins = near.layout.starts[block] + skipped * width, near.tops[block] + skipped * groups
    parts = [part for each in begins for part in np.divmod(each, WORD)]
    return np.stack([top, columns, height, width, *parts], axis=1)


class Strips:
    """Blocks cut into strips of TILE rows.

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
    starts, order = grouped(run, len(runs))
    return runs[:, :2], starts, begin[order]


class DeviceRegion:
    """Blocks of one region of a matrix on a device, with sums in the type `work`; top, left: its first row and column;
    mirrored: whether their transposes are in the mirror image of the region."""

    def __init__(
        self, device: Device, top: int, left: int, near: NearStore, mirrored: bool, work: "np.dtype[Any]"
    ) -> None:
        strips, places = Strips(near), zip((near.layout.rows, near.layout.columns), near.shape, strict=True)
        self.device, self.real, self.parts, self.all = device, work, near.parts, strips.sums
        # half a matrix has one side, which gathers what rows and columns receive
        number, self.begins, self.mirrored = 1 if near.half else 2, (top, left), mirrored
        self.sides = [DevicePlaces(device, each.order, count, work) for each, count in list(places)[:number]]
        powers, memory = POWERS.astype(work) if near.is_packed else np.zeros(0, work), near.memory
        there = memory.there if isinstance(memory, DeviceNumbers) and memory.device is device else None
        self._numbers = *(there or (device.array(each) for each in memory.here)), device.array(powers)
        self._table, *lists = (indices(device, each) for each in (strips.table, *strips.rows, *strips.columns))
        self._lists = lists[:3], lists[3:]
        stored = work if near.is_packed else memory.kind
        self._defines: dict[str, Any] = {"PACKED": near.is_packed, "PARTS": near.parts, "STORED_REAL": stored}

    def _kernels(self, together: int) -> Kernels:
        """The kernels for so many planes at a time."""
        return Kernels.of(self.device, "products/device/near.c", self.real, GROUP, PLANES=together, **self._defines)

    def _sums_of(self, x_columns: Any, x_rows: Any, planes: int) -> Any:
        """Sums that rows and columns of all strips receive: of B x_columns and of B^T x_rows, vectors (planes, places);
        None for one that is not wanted."""
        down, across = x_columns is not None, x_rows is not None
        x_columns, x_rows = x_columns if down else x_rows, x_rows if across else x_columns
        sums, vectors = self.device.empty((planes, self.all), self.real), planes // self.parts
        together = self.parts * min(COLUMNS_PER_READ, 1 << (vectors - 1).bit_length())
        threads = self._table.shape[0] * GROUP, -(-planes // together)
        rows, columns = self.sides[0].count, self.sides[-1].count
        given = int(down), int(across), x_columns, columns, x_rows, rows, planes, sums, self.all
        self._kernels(together).launch("multiply_strips", threads, *self._numbers, self._table, *given)
        return sums

    def _gather(self, sums: Any, planes: int, of_columns: bool, y: Any) -> None:
        """y (planes, places) = what the places of rows or columns receive."""
        runs, starts, entries = self._lists[of_columns]
        given = runs, starts, entries, sums, self.all, y, self.sides[of_columns].count
        self._kernels(self.parts).launch("gather_strips", (runs.shape[0] * GROUP, planes), *given)

    def add(self, x: Vectors, y: Vectors, factor: complex, transposed: bool, conjugated: bool) -> None:
        """y += factor A x or A^T x, or with the conjugate of A, of vectors that begin where those of the whole matrix
        do; blocks are read once for both."""
        used = (self.mirrored or transposed, self.mirrored or not transposed) if len(self.sides) > 1 else (True,)
        given = [side.take(x.after(begin), conjugated) if wanted else None
                 for side, begin, wanted in zip(self.sides, self.begins, used, strict=False)]  # fmt: skip
        sums = self._sums_of(given[-1], given[0], x.planes)
        for n, wanted in enumerate(used[::-1]):
            if wanted:
                found = self.sides[n].empty(x.planes)
                self._gather(sums, x.planes, n == 1, found)
                self.sides[n].add(found, x.planes, factor, y.after(self.begins[n]), conjugated)


def require_room(device: Device, nbytes: int, stores: Iterable[NearStore], real: Any, what: str, fields: str) -> None:
    """MemoryError where a device has no room for so many bytes of `what` but the blocks that are there, RuntimeError
    where it has no double precision, and fields are in double."""
    if real == np.float64 and not device.has_double:
        raise RuntimeError(
            f"{device.name} ({device.label}) supports single precision only, and these {fields} are in double: choose "
            "rtol of 1e-4 and above (of Laplace's double layers and of solids there is none), or backend='numba'"
        )
    memories = [each.memory for each in stores]
    there = sum(each.nbytes for each in memories if isinstance(each, DeviceNumbers) and each.device is device)
    require_device_memory(device, nbytes - there, what, ADVICE)


def sums_of(near: NearStore) -> int:
    """Numbers that all strips of a store leave for each plane."""
    heights, widths = near.sizes
    return int((-(-heights // TILE) * (TILE + widths)).sum())
