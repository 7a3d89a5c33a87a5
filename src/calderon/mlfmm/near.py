"""Products with complex dense blocks between neighbouring leaves."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.backends.numba import kernel
from calderon.backends.vectors import aligned, lanes, load, number, store, width, zero
from calderon.fmm.near import total
from calderon.fmm.translations import in_parts
from calderon.galerkin.rows.near_blocks import NearBlocks


@dataclass(frozen=True, eq=False)
class NearProducts:
    """Of the blocks of one region of a matrix; vectors are in the order of unknowns."""

    blocks: NearBlocks

    @property
    def nbytes(self) -> int:
        """Of entries and lists."""
        return self.blocks.room.nbytes + self.blocks.pairs.nbytes + self.blocks.starts.nbytes

    @cached_property
    def _orders(self) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Of products with the matrix, then with its transposed: pairs sorted by the cluster that is written, and where
        those of each begin."""
        found = []
        for side in (0, 1):
            own = self.blocks.pairs[:, side]
            order = np.argsort(own, kind="stable")
            first = np.unique(own[order], return_index=True)[1]
            found.append((order, np.append(first, len(order))))
        return found

    def entries(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[Any]:
        """(n,) the entries in these rows and columns, zero between unknowns of leaves that are no neighbours."""
        places = []
        for clusters, chosen in ((self.blocks.rows, rows), (self.blocks.columns, columns)):
            place = np.empty(len(clusters.order), np.int64)
            place[clusters.order] = np.arange(len(place))
            places.append(place[chosen])
        leaves = [np.searchsorted(each.stop, place, side="right")
                  for each, place in zip((self.blocks.rows, self.blocks.columns), places, strict=True)]  # fmt: skip
        count = len(self.blocks.columns.start)
        keys = self.blocks.pairs @ np.array([count, 1])
        order = np.argsort(keys, kind="stable")
        wanted = leaves[0] * count + leaves[1]
        found = np.minimum(np.searchsorted(keys[order], wanted), len(order) - 1)
        block = order[found]
        width = (self.blocks.columns.stop - self.blocks.columns.start)[leaves[1]]
        inside = [place - each.start[leaf] for place, each, leaf in
                  zip(places, (self.blocks.rows, self.blocks.columns), leaves, strict=True)]  # fmt: skip
        there = keys[block] == wanted
        at = np.where(there, self.blocks.starts[block] + inside[0] * width + inside[1], 0)
        return np.where(there, self.blocks.numbers[at], 0)

    def product(self, x: NDArray[Any], transposed: bool) -> NDArray[Any]:
        """A x or A^T x of complex columns (n, m)."""
        blocks = self.blocks
        given, wanted = (blocks.rows, blocks.columns) if transposed else (blocks.columns, blocks.rows)
        real = blocks.room.real.dtype
        vectors = np.ascontiguousarray(x[given.order].T, blocks.room.dtype)
        out = np.zeros((x.shape[1], len(wanted.order)), blocks.room.dtype)
        order, first = self._orders[1 if transposed else 0]
        widest = int((blocks.columns.stop - blocks.columns.start).max(initial=0))
        pitch = -(-2 * widest // width(real)) * width(real)
        run = multiply_transposed if transposed else multiply
        arguments = (blocks.room.view(real), blocks.pairs, blocks.starts, order, first, blocks.rows.start,
                     blocks.rows.stop, blocks.columns.start, blocks.columns.stop, vectors.view(real).ravel(),
                     vectors.shape[1], out.view(real).ravel(), out.shape[1], x.shape[1], pitch)  # fmt: skip
        size = 2 * pitch * x.shape[1]
        in_parts(lambda low, high: run(*arguments, aligned(size, real), low, high), len(first) - 1)
        result = np.empty((len(wanted.order), x.shape[1]), blocks.room.dtype)
        result[wanted.order] = out.T
        return result


@kernel
def multiply(  # type: ignore[no-untyped-def]
    numbers, pairs, starts, order, first, row_start, row_stop, column_start, column_stop, x, across, y, down, count,
    pitch, room, low, high,
):  # fmt: skip
    """y += B x of all blocks of the row clusters low .. high, complex numbers one after the other. room holds (re, -im)
    and (im, re) of the part of each column that belongs to a block: products of whole vectors with rows of a block."""
    w = lanes(room)
    for i in range(low, high):
        for e in range(first[i], first[i + 1]):
            n = order[e]
            top, left = row_start[pairs[n, 0]], column_start[pairs[n, 1]]
            height, width = row_stop[pairs[n, 0]] - top, column_stop[pairs[n, 1]] - left
            for q in range(count):
                at, own = 2 * (q * across + left), 2 * q * pitch
                for c in range(width):
                    re, im = x[at + 2 * c], x[at + 2 * c + 1]
                    room[own + 2 * c], room[own + 2 * c + 1] = re, -im
                    room[own + pitch + 2 * c], room[own + pitch + 2 * c + 1] = im, re
                for c in range(2 * width, pitch):
                    room[own + c], room[own + pitch + c] = 0, 0
            for r in range(height):
                row = 2 * (starts[n] + r * width)
                for q in range(count):
                    own, s, t = 2 * q * pitch, zero(room), zero(room)
                    for c in range(0, 2 * width, w):
                        b = load(numbers, row + c)
                        s, t = s + b * load(room, own + c), t + b * load(room, own + pitch + c)
                    to = 2 * (q * down + top + r)
                    y[to] += total(s)
                    y[to + 1] += total(t)


@kernel
def multiply_transposed(  # type: ignore[no-untyped-def]
    numbers, pairs, starts, order, first, row_start, row_stop, column_start, column_stop, x, across, y, down, count,
    pitch, room, low, high,
):  # fmt: skip
    """y += B^T x of all blocks of the column clusters low .. high: multiples of rows with the real and the imaginary
    part of x are summed in room."""
    w = lanes(room)
    for i in range(low, high):
        for e in range(first[i], first[i + 1]):
            n = order[e]
            top, left = row_start[pairs[n, 0]], column_start[pairs[n, 1]]
            height, width = row_stop[pairs[n, 0]] - top, column_stop[pairs[n, 1]] - left
            for c in range(2 * count * pitch):
                room[c] = 0
            for r in range(height):
                row = 2 * (starts[n] + r * width)
                for q in range(count):
                    at, own = 2 * (q * across + top + r), 2 * q * pitch
                    re, im = number(x, at), number(x, at + 1)
                    for c in range(0, 2 * width, w):
                        b = load(numbers, row + c)
                        store(room, own + c, load(room, own + c) + b * re)
                        store(room, own + pitch + c, load(room, own + pitch + c) + b * im)
            for q in range(count):
                to, own = 2 * (q * down + left), 2 * q * pitch
                for c in range(width):
                    y[to + 2 * c] += room[own + 2 * c] - room[own + pitch + 2 * c + 1]
                    y[to + 2 * c + 1] += room[own + 2 * c + 1] + room[own + pitch + 2 * c]
