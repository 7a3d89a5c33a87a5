"""Tiles of local matrices on a device, gathered into rows (gather.c): neither atomics nor colours are needed."""

import functools
import math
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.backends import Deliver, Device, Kernels, format_bytes
from calderon.galerkin.selection import Selection
from calderon.pairs.grouping import grouped
from calderon.spaces.supports import carriers_of

SMALL_GROUP = 64
"""Threads of a group."""


class TileLimits(NamedTuple):
    """How large the tiles of local matrices are."""

    local_matrices: int = 1 << 30
    """Bytes that the local matrices of a tile take at most."""
    share: int = 8
    few: int = 32
    """They take at most this part of the memory of the device: those of one triangle, those of several."""
    rows: int = 65_535
    """Groups along the second axis of a launch, at most (CUDA): triangles of a tile, and rows that it adds to."""


LIMITS = TileLimits()


class LocalMatrices:
    """A block that a device computes: tiles run one after the other. A class that has these attributes defines
    `_integrate`, which fills `local` and `local_i` (triangles of the tile, *local_shape, trial triangles). out: an
    array of the host, or a part of a matrix that stays on the device (`products.device.places`)."""

    device: Device
    out: Any
    test: Selection
    trial: Selection
    is_complex: bool
    stored: np.dtype[Any]
    """Type of local matrices and of the rows that are gathered."""
    local_shape: tuple[int, int]
    """The shape of a local matrix."""
    neighbours: Any = None

    def _integrate(self, lo: int, hi: int) -> None:
        raise NotImplementedError

    def _make_room(self) -> None:
        """For the local matrices of a tile; MemoryError where those of one triangle do not fit."""
        given = self.device, "galerkin/device/gather.c", self.stored, SMALL_GROUP
        self.tile_kernels = Kernels.of(*given, OUT_COMPLEX=self.is_complex)
        count, width = len(self.test.triangles), len(self.trial.triangles)
        start, triangles, functions = carriers_of(self.trial.places, self.out.shape[1])
        lists = start, functions * np.int32(width) + triangles
        self.column_start, self.column_entries = (self.device.array(np.asarray(each, np.int32)) for each in lists)
        room = self._room()
        self.tile_size = room[0]
        self.tiles = np.append(np.arange(0, count, room[0]), count)
        self.local = self.device.empty(room, self.stored)
        self.local_i = self.device.empty(room if self.is_complex else (1,), self.stored)

    def _room(self) -> tuple[int, ...]:
        """The shape of the local matrices of a tile, as many triangles as LIMITS allow; TooLarge where those of one do
        not fit."""
        shape = *self.local_shape, max(1, len(self.trial.triangles))
        each = self._bytes_of(shape)
        most = min(bytes_together(self.device, each, "one triangle") // each, LIMITS.rows // shape[0])
        return max(1, min(most, len(self.test.triangles))), *shape

    def _bytes_of(self, shape: tuple[int, ...]) -> int:
        """Bytes of local matrices in arrays of this shape, one of real parts and one of imaginary ones, if any."""
        return math.prod(shape) * self.stored.itemsize * (2 if self.is_complex else 1)

    @functools.cached_property
    def columns(self) -> int:
        """Columns of the matrix that have entries; further ones belong to others (blocks.py)."""
        return int(self.trial.places.max(initial=-1)) + 1

    def tile_bytes(self) -> int:
        """Bytes of the local matrices of a tile, and of the rows that the host fetches, of two tiles unless there is
        one, and none where `out` has no memory, as products without a matrix have it."""
        (count, functions, *_), room, rows = self._room(), self._bytes_of(self._room()), 0
        if isinstance(self.out, np.ndarray) and any(self.out.strides):
            tiles = count, min(count, len(self.test.triangles) - count)
            rows = sum(min(self.out.shape[0], each * functions) for each in tiles)
        return room + rows * self.columns * self.out.dtype.itemsize

    def add_between(self, first: int, last: int, deliver: Deliver = nullcontext) -> Iterator[None]:
        """All pairs of the test triangles first .. last - 1, added to the matrix tile by tile, to that of the host in
        the context of `deliver`. While the host adds the rows of a tile the device computes the next one."""
        waiting = None
        for lo in range(first, last, self.tile_size):
            hi = min(lo + self.tile_size, last)
            self._integrate(lo, hi)
            rows = self._gathered(lo, hi)
            self._add(waiting, deliver)
            waiting = rows
            yield
        self._add(waiting, deliver)

    def integrate(self, number: int) -> tuple[int, int]:
        """The local matrices of a tile, which remain on the device; its first triangle and the one after its last."""
        lo, hi = int(self.tiles[number]), int(self.tiles[number + 1])
        self._integrate(lo, hi)
        return lo, hi

    def _gathered(self, lo: int, hi: int) -> tuple[NDArray[np.int64], Callable[[], NDArray[Any]]] | None:
        """The rows of the tile, their numbers and what waits for them; None if no row is wanted or they stay on the
        device, where they are added."""
        row_ids, *lists = _by_function(self.test.places[lo:hi].ravel())
        if len(row_ids) == 0:
            return None
        stays, out = not isinstance(self.out, np.ndarray), self.out
        if stays:
            rows, targets, place = out.matrix.entries, row_ids + out.top, (out.left, out.matrix.shape[1], 1)
        else:
            rows, targets = self.device.empty((len(row_ids), self.columns), out.dtype), np.arange(len(row_ids))
            place = 0, self.columns, 0
        start, entries, to = (self.device.array(each.astype(np.int32)) for each in (*lists, targets))
        stride = self.local_shape[1] * len(self.trial.triangles)
        self.tile_kernels.launch(
            "gather", (self.columns, len(targets)), self.local, self.local_i, start, entries, self.column_start,
            self.column_entries, self.columns, stride, to, *place, rows,
        )  # fmt: skip
        return None if stays else (row_ids, self.device.fetch(rows))

    def _add(self, rows: tuple[NDArray[np.int64], Callable[[], NDArray[Any]]] | None, deliver: Deliver) -> None:
        if rows is not None:
            row_ids, fetched = rows
            values = fetched()
            with deliver():
                self.out[row_ids, : self.columns] += values


class TooLarge(MemoryError):
    """Local matrices that belong together for which a device has no room."""


def bytes_together(device: Device, most: int, what: str) -> int:
    """Bytes that local matrices take together; TooLarge where those of `what`, which need so many, do not fit."""
    free = device.memory()
    if LIMITS.share * most > free:
        raise TooLarge(
            f"{device.name} ({device.label}) has {format_bytes(free)} free, of which 1/{LIMITS.share} are for local "
            f"matrices, and those of {what} need {format_bytes(most)}: try precision='single', a coarser mesh, or "
            "backend='numba'"
        )
    return max(1, min(LIMITS.local_matrices, free // LIMITS.few))


def _by_function(places: NDArray[np.int64]) -> tuple[NDArray[Any], ...]:
    """The functions (n,) that stand at some places, where the list of the places of each begins (n + 1,), and these
    lists; places of -1 are left out."""
    begins, order = grouped(places + 1, int(places.max(initial=-1)) + 2)
    functions = np.flatnonzero(np.diff(begins[1:]))
    return functions, np.append(begins[1:][functions], len(order)) - begins[1], order[begins[1] :]
