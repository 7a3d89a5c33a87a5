"""The blocks of a near store on a device, and products with them (near.c).

Numbers and exponents are sent as they are, unless they are there. Vectors have the numbers of the places of clusters,
in planes of real and of imaginary parts.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.backends import Device, Kernels, require_device_memory
from calderon.backends.devices.device_matrix import GROUP
from calderon.backends.numba import kernel
from calderon.pairs.grouping import grouped
from calderon.products.device.near_filling import ADVICE, DeviceNumbers
from calderon.products.device.tables import WORD, indices, runs_of
from calderon.products.device.vectors import DevicePlaces, Vectors
from calderon.products.near_store import NearStore
from calderon.products.packed import POWERS, groups_of

COLUMNS_PER_READ = 4
"""Vectors for which a number is read once, at most."""
TILE = 32
"""Rows of a strip, and numbers of it that are multiplied at a time."""

Index = NDArray[np.int64]


class Strips:
    """Blocks cut into strips of TILE rows.

    table (n, 9): records of near.c, with the beginning of the sums of each strip, of which there are `sums`. rows,
    columns: for runs of places of each side (runs, 2), first and how many, the sums of strips that they receive: starts
    (runs + 1,), entries.
    """

    def __init__(self, near: NearStore) -> None:
        (i, j), half, sides = near.layout.pairs.T, near.half, (near.layout.rows, near.layout.columns)
        rows, columns = (runs_of(np.append(each.start, each.stop[-1:]), TILE) for each in sides)
        first = [np.searchsorted(each[:, 2], np.arange(len(side.start) + 1))
                 for each, side in zip((rows, columns), sides, strict=True)]  # fmt: skip
        down, across = np.diff(first[0])[i], np.diff(first[1])[j]
        ends = int(down.sum()), int((down * across)[(i != j) | (not half)].sum())
        self.table = np.empty((ends[0], 9), np.int32)
        run, begin = np.empty(sum(ends), np.int32), np.empty(sum(ends), np.int64)
        places = near.layout.pairs, near.layout.starts, near.tops, near.sizes[1], sides[1].start, near.parts
        self.sums = int(put_strips(*places, rows, *first, half, self.table, run, begin))
        if half:
            self.rows = self.columns = _gathered(rows, run, begin)
        else:
            self.rows = _gathered(rows, run[: ends[0]], begin[: ends[0]])
            self.columns = _gathered(columns, run[ends[0] :], begin[ends[0] :])


@kernel
def put_strips(pairs, starts, tops, widths, left, parts, rows, first_row, first_column, half, table, run, begin):
    """Fill the table of `Strips`, and for its strips, then for their runs of columns, run (m,) and begin (m,): where
    the sums begin that each run receives; return the number of all sums.

    pairs, starts, tops, widths, parts: of the store; left: the first place of each column cluster; rows (runs, 3): of
    `runs_of`; first_row, first_column: the first run of each cluster; half: whether rows of blocks on the diagonal are
    all that is received of them.
    """
    at, across, sums = 0, len(table), 0
    for b in range(len(pairs)):
        i, j, width = pairs[b, 0], pairs[b, 1], widths[b]
        groups, last = groups_of(parts * width), first_column[j] if half and i == j else first_column[j + 1]
        for r in range(first_row[i], first_row[i + 1]):
            # rows of the block before the strip, and where its numbers and exponents begin
            skipped, own = TILE * (r - first_row[i]), table[at]
            number, exponent = starts[b] + skipped * width, tops[b] + skipped * groups
            own[0], own[1], own[2], own[3] = rows[r, 0], left[j], rows[r, 1], width
            own[4], own[5], own[6], own[7] = number // WORD, number % WORD, exponent // WORD, exponent % WORD
            own[8], run[at], begin[at] = sums, r, sums
            at += 1
            for c in range(first_column[j], last):
                run[across], begin[across] = c, sums + TILE * (1 + c - first_column[j])
                across += 1
            sums += TILE + width
    return sums


def _gathered(runs: Index, run: NDArray[np.int32], begin: Index) -> tuple[Index, Index, Index]:
    starts, order = grouped(run, len(runs))
    return runs[:, :2], starts, begin.take(order)


class DeviceRegion:
    """Blocks of regions of a matrix on a device, with sums in the type `work`; regions: the first row and column of
    each, and the factor of the blocks there; mirrored: whether their transposes are in the mirror images of these."""

    def __init__(
        self, device: Device, regions: Sequence[tuple[tuple[int, int], complex]], near: NearStore, mirrored: bool,
        work: "np.dtype[Any]", known: Mapping[int, DevicePlaces] | None = None,
    ) -> None:  # fmt: skip
        """known: places that are there already, by the identity of their unknowns."""
        strips, places = Strips(near), zip((near.layout.rows, near.layout.columns), near.shape, strict=True)
        self.device, self.real, self.parts, self.all = device, work, near.parts, strips.sums
        # half a matrix has one side, which gathers what rows and columns receive
        number, self.regions, self.mirrored = 1 if near.half else 2, regions, mirrored
        self.sides = [(known or {}).get(id(each.order)) or DevicePlaces(device, each.order, count, work)
                      for each, count in list(places)[:number]]  # fmt: skip
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
        do; the blocks of a region are read once for both."""
        used = (self.mirrored or transposed, self.mirrored or not transposed) if len(self.sides) > 1 else (True,)
        for begins, own in self.regions:
            given = [side.take(x.after(begin), conjugated) if wanted else None
                     for side, begin, wanted in zip(self.sides, begins, used, strict=False)]  # fmt: skip
            sums = self._sums_of(given[-1], given[0], x.planes)
            scale = factor * (complex(own).conjugate() if conjugated else own)
            for n, wanted in enumerate(used[::-1]):
                if wanted:
                    found = self.sides[n].empty(x.planes)
                    self._gather(sums, x.planes, n == 1, found)
                    self.sides[n].add(found, x.planes, scale, y.after(begins[n]), conjugated)


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
