"""Products with complex dense blocks between neighbouring leaves.

Blocks are computed chunk by chunk. From a tolerance of PACKED on their numbers are kept in 16 bits.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.backends import Execution, require_memory, return_memory
from calderon.backends.numba import jitable_part, kernel
from calderon.backends.threads import in_parts
from calderon.backends.vector_loads import load_as, total
from calderon.backends.vectors import add, aligned, lanes, load, number, store, width, zero
from calderon.galerkin.bilinear_form import BilinearForm
from calderon.galerkin.rows.entry_kernels import Clusters
from calderon.products.near_entries import (
    ADVICE,
    BEYOND,
    NearBlocks,
    Search,
    add_entries,
    compiled_terms,
    strips_for,
)

CHUNK, MOST = 16_000_000, 64
"""Bytes of a chunk at least, and chunks of a region of the matrix, about, at most."""
BATCH = 50_000_000
"""Entries whose pairs of triangles are listed at a time: lists take more bytes than entries do."""
PACKED = 4e-4
"""Tolerance of products; numbers of 16 bits have errors up to 7e-5 of products with random vectors."""
POWERS = np.ldexp(np.float32(1), np.arange(-128, 128, dtype=np.int32))
"""Of two."""
MANY = 8
"""Columns from which on those of a vector are its lanes in products."""
LARGEST = 2**15 - 1
"""The largest integer of 16 bits."""
GROUP = 16
"""Integers with one exponent, a multiple of the numbers of a vector."""

Terms = Sequence[tuple[complex, BilinearForm]]


@jitable_part
def exponent_of(largest, most):  # type: ignore[no-untyped-def]
    """The least e with largest <= most 2^e."""
    return max(math.frexp(largest / most)[1], -127) if largest > 0 else -127


def inside_runs(first: NDArray[np.int64], last: NDArray[np.int64], count: int) -> NDArray[np.bool_]:
    """(count,) which numbers are in one of the disjoint runs first .. last."""
    steps = np.bincount(first, minlength=count + 1) - np.bincount(last, minlength=count + 1)
    return np.asarray(np.cumsum(steps[:count]) > 0)


@dataclass(frozen=True, eq=False)
class NearProducts:
    """Of the blocks of one region of a matrix; vectors are in the order of unknowns.

    layout: boxes, pairs in the order of their row boxes, where blocks start, and no numbers. room: the complex numbers,
    or 16-bit integers, real and imaginary parts one after the other, which times 2^e are the numbers. `exponents` has
    an e for each GROUP of integers of a row of a block: those of block n begin at tops[n].
    """

    layout: NearBlocks
    tops: NDArray[np.int64]
    room: NDArray[Any]
    exponents: NDArray[np.int8]

    @staticmethod
    def empty(rows: Clusters, columns: Clusters, pairs: NDArray[np.int64], kind: Any, packs: bool) -> "NearProducts":
        """Zeros; kind: of numbers, packs: whether they are kept in 16 bits. MemoryError where there is no room."""
        height, width = ((each.stop - each.start)[own] for each, own in zip((rows, columns), pairs.T, strict=True))
        starts, tops = (np.append(0, np.cumsum(height * each)) for each in (width, -(-2 * width // GROUP)))
        count, kind = int(starts[-1]), np.dtype(kind)
        require_memory(
            4 * count + int(tops[-1]) if packs else kind.itemsize * count, f"{len(pairs)} near blocks", ADVICE
        )
        layout = NearBlocks(rows, columns, np.ascontiguousarray(pairs), starts, np.zeros(0, kind))
        room = np.zeros(2 * count + BEYOND, np.int16) if packs else np.zeros(count + BEYOND, kind)
        return NearProducts(layout, tops, room, np.zeros(int(tops[-1]) if packs else 0, np.int8))

    @property
    def is_packed(self) -> bool:
        """Whether numbers are kept in 16 bits."""
        return self.room.dtype == np.int16

    @property
    def nbytes(self) -> int:
        """Of entries and lists."""
        lists = self.tops, self.exponents, self.layout.pairs, self.layout.starts
        return self.room.nbytes + sum(each.nbytes for each in lists)

    def part(self, low: int, high: int) -> "NearProducts":
        """The blocks of the row boxes low .. high alone, in the same memory."""
        first, last = np.searchsorted(self.layout.pairs[:, 0], (low, high)).tolist()
        starts, tops = (each[first : last + 1] for each in (self.layout.starts, self.tops))
        begin, end = (2 if self.is_packed else 1) * starts[[0, -1]]
        layout = self.layout._replace(pairs=self.layout.pairs[first:last], starts=starts - starts[0])
        exponents = self.exponents[tops[0] : tops[-1]] if self.is_packed else self.exponents
        return NearProducts(layout, tops - tops[0], self.room[begin : end + BEYOND], exponents)

    @property
    def chunks(self) -> NDArray[np.int64]:
        """(chunks + 1,) the first block of each chunk: a chunk has all blocks of some row boxes, so that its numbers do
        not depend on which chunks are computed in one run."""
        pairs, starts = self.layout.pairs, self.layout.starts
        new = np.flatnonzero(np.diff(pairs[:, 0], prepend=-1))
        size = max(1, CHUNK // self.layout.room.itemsize, int(starts[-1]) // MOST)
        first = np.unique(starts[new] // size, return_index=True)[1]
        return np.append(new[first], len(pairs))

    def numbers(self, low: int, high: int) -> NDArray[Any]:
        """Those of the blocks low .. high."""
        first, last = self.layout.starts[[low, high]]
        if not self.is_packed:
            return self.room[first:last]
        values = np.empty(int(last - first), self.layout.room.dtype)
        given = values.view(values.real.dtype), int(first), *self._sizes, self.layout.starts, self.tops
        in_parts(lambda a, b: unpack_rows(*given, self.room, self.exponents, POWERS, low + a, low + b), high - low)
        return values

    def enter(self, low: int, high: int, values: NDArray[Any]) -> None:
        """Have these numbers in the blocks low .. high."""
        first, last = self.layout.starts[[low, high]]
        if not self.is_packed:
            self.room[first:last] = values
            return
        given = values.view(values.real.dtype), int(first), *self._sizes, self.layout.starts, self.tops
        in_parts(lambda a, b: pack_rows(*given, self.room, self.exponents, low + a, low + b), high - low)

    @cached_property
    def _sizes(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Rows and columns of each block."""
        sides = zip((self.layout.rows, self.layout.columns), self.layout.pairs.T, strict=True)
        first, second = ((each.stop - each.start)[own] for each, own in sides)
        return first, second

    def fill(self, chunks: Sequence[int], groups: Sequence[Terms], execution: Execution) -> Iterator[tuple[int, Any]]:
        """Compute some of the chunks, and yield the number and the numbers of each when it is ready; of groups of terms
        each is on one test and one trial space."""
        ends = self.layout.starts[self.chunks[1:]]
        batch = ends[np.asarray(chunks, np.int64)] // BATCH
        searches = Search.of(groups, execution) if len(chunks) else []
        for own in np.split(np.asarray(chunks, np.int64), np.flatnonzero(np.diff(batch)) + 1):
            return_memory()
            yield from self._fill(own.tolist(), groups, searches, execution)
        return_memory()

    def _fill(
        self, chunks: Sequence[int], groups: Sequence[Terms], searches: Sequence[Search], execution: Execution
    ) -> Iterator[tuple[int, Any]]:
        """The same of so few chunks that there is room for the lists of all their pairs of triangles."""
        layout, bounds, compiled = self.layout, self.chunks, []
        chosen = [np.arange(bounds[c], bounds[c + 1]) for c in chunks]
        if not chosen:
            return
        own = np.unique(layout.pairs[np.concatenate(chosen), 0])
        functions = np.zeros(len(layout.rows.order), bool)
        functions[layout.rows.order[inside_runs(layout.rows.start[own], layout.rows.stop[own], len(functions))]] = True
        images, nothing = [self._images(own) for own in chosen], [np.full(len(own), -1) for own in chosen]
        symmetric = [self._is_square and all(form.is_symmetric for _, form in terms) for terms in groups]
        for half, terms, search in sorted(zip(symmetric, groups, searches, strict=True), key=lambda each: not each[0]):
            left = [own[image < 0] for own, image in zip(chosen, images if half else nothing, strict=True)]
            strips = strips_for(terms, layout, np.concatenate(left))
            boxes = layout.pairs[strips.numbers[strips.columns.run_starts[:-1]], 0]
            found = search.around(functions)
            compiled.append((half, strips, boxes, list(compiled_terms(terms, layout, strips, execution, found))))
        for c, own, image in zip(chunks, chosen, images, strict=True):
            low, high = bounds[c : c + 2]
            room = np.zeros(int(layout.starts[high] - layout.starts[low]) + BEYOND, layout.room.dtype)
            blocks = layout._replace(starts=layout.starts - layout.starts[low], room=room)
            first, last = layout.pairs[own[[0, -1]], 0]
            for half, strips, boxes, entries in compiled:
                part = slice(int(np.searchsorted(boxes, first)), int(np.searchsorted(boxes, last, side="right")))
                for factor, each in entries:
                    add_entries(blocks, strips, factor, each, part)
                if half:
                    copy_images(room, blocks.starts, *self._sizes, own, image)
            self.enter(low, high, room[:-BEYOND])
            yield c, room[:-BEYOND]

    @cached_property
    def _is_square(self) -> bool:
        """Whether rows and columns are the same unknowns in the same boxes."""
        sides = zip(self.layout.rows[:3], self.layout.columns[:3], strict=True)
        return all(np.array_equal(*each) for each in sides)

    def _images(self, own: NDArray[np.int64]) -> NDArray[np.int64]:
        """(n,) of which of some blocks each is the transposed one where all terms are symmetric: that of the row box
        that comes first, so that no block waits for one of another chunk; -1 for none."""
        pairs, count = self.layout.pairs[own], len(self.layout.columns.start)
        keys, wanted = pairs @ np.array([count, 1]), pairs @ np.array([1, count])
        order = np.argsort(keys, kind="stable")
        found = order[np.minimum(np.searchsorted(keys[order], wanted), len(order) - 1)]
        return np.where((pairs[:, 0] > pairs[:, 1]) & (keys[found] == wanted), own[found], -1)

    @cached_property
    def _orders(self) -> list[tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Of products with the matrix, then with its transposed: pairs sorted by the cluster that is written, and where
        those of each begin."""
        found = []
        for side in (0, 1):
            own = self.layout.pairs[:, side]
            order = np.argsort(own, kind="stable")
            first = np.unique(own[order], return_index=True)[1]
            found.append((order, np.append(first, len(order))))
        return found

    def entries(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[Any]:
        """(n,) the entries in these rows and columns, zero between unknowns of leaves that are no neighbours."""
        places = []
        for clusters, chosen in ((self.layout.rows, rows), (self.layout.columns, columns)):
            place = np.empty(len(clusters.order), np.int64)
            place[clusters.order] = np.arange(len(place))
            places.append(place[chosen])
        leaves = [np.searchsorted(each.stop, place, side="right")
                  for each, place in zip((self.layout.rows, self.layout.columns), places, strict=True)]  # fmt: skip
        count = len(self.layout.columns.start)
        keys = self.layout.pairs @ np.array([count, 1])
        order = np.argsort(keys, kind="stable")
        wanted = leaves[0] * count + leaves[1]
        found = np.minimum(np.searchsorted(keys[order], wanted), len(order) - 1)
        block = order[found]
        width = (self.layout.columns.stop - self.layout.columns.start)[leaves[1]]
        inside = [place - each.start[leaf] for place, each, leaf in
                  zip(places, (self.layout.rows, self.layout.columns), leaves, strict=True)]  # fmt: skip
        there = keys[block] == wanted
        at = np.where(there, self.layout.starts[block] + inside[0] * width + inside[1], 0)
        if not self.is_packed:
            return np.where(there, self.room[at], 0)
        group = self.tops[block] + inside[0] * -(-2 * width // GROUP) + 2 * inside[1] // GROUP
        factors = POWERS[self.exponents[np.where(there, group, 0)].astype(int) + 128]
        return np.where(there, (self.room[2 * at] + 1j * self.room[2 * at + 1]) * factors, 0)

    def product(self, x: NDArray[Any], transposed: bool) -> NDArray[Any]:
        """A x or A^T x of complex columns (n, m)."""
        together, count = width(self.layout.room.real.dtype) // 2, x.shape[1]
        many = count // together * together if count >= MANY else 0
        parts = [self._of_lanes(x[:, n : n + together], transposed) for n in range(0, many, together)]
        if many < count:
            parts.append(self._of_few(x[:, many:], transposed))
        return np.concatenate(parts, axis=1) if len(parts) > 1 else parts[0]

    def _of_lanes(self, x: NDArray[Any], transposed: bool) -> NDArray[Any]:
        """The same of as many columns as a vector has complex numbers."""
        blocks = self.layout
        given, wanted = (blocks.rows, blocks.columns) if transposed else (blocks.columns, blocks.rows)
        real = blocks.room.real.dtype
        vectors = aligned(2 * x.size, real)
        vectors[:] = np.ascontiguousarray(x[given.order], blocks.room.dtype).view(real).ravel()
        out = aligned(4 * len(wanted.order) * x.shape[1], real)
        order, first = self._orders[1 if transposed else 0]
        highest, widest = (int((each.stop - each.start).max(initial=0)) for each in (blocks.rows, blocks.columns))
        pitch = -(-2 * widest // width(real)) * width(real)
        room = self.room if self.is_packed else self.room.view(real)
        arguments = (room, self.exponents, self.tops, blocks.pairs, blocks.starts, order, first, blocks.rows.start,
                     blocks.rows.stop, blocks.columns.start, blocks.columns.stop, transposed, vectors, out, pitch,
                     POWERS)  # fmt: skip
        in_parts(lambda low, high: multiply_lanes(*arguments, aligned(highest * pitch, real), low, high),
                 len(first) - 1)  # fmt: skip
        sums = out.view(blocks.room.dtype).reshape(-1, 2, x.shape[1])
        result = np.empty((len(sums), x.shape[1]), blocks.room.dtype)
        result[wanted.order] = sums[:, 0] + 1j * sums[:, 1]
        return result

    def _of_few(self, x: NDArray[Any], transposed: bool) -> NDArray[Any]:
        """The same of few columns, for which sums over the rows of blocks are made."""
        blocks = self.layout
        given, wanted = (blocks.rows, blocks.columns) if transposed else (blocks.columns, blocks.rows)
        real = blocks.room.real.dtype
        vectors = np.ascontiguousarray(x[given.order].T, blocks.room.dtype)
        out = np.zeros((x.shape[1], len(wanted.order)), blocks.room.dtype)
        order, first = self._orders[1 if transposed else 0]
        widest = int((blocks.columns.stop - blocks.columns.start).max(initial=0))
        pitch = -(-2 * widest // width(real)) * width(real)
        run = multiply_transposed if transposed else multiply
        room = self.room if self.is_packed else self.room.view(real)
        arguments = (room, self.exponents, self.tops, blocks.pairs, blocks.starts, order, first, blocks.rows.start,
                     blocks.rows.stop, blocks.columns.start, blocks.columns.stop, vectors.view(real).ravel(),
                     vectors.shape[1], out.view(real).ravel(), out.shape[1], x.shape[1], pitch, POWERS)  # fmt: skip
        size = 2 * pitch * x.shape[1]
        in_parts(lambda low, high: run(*arguments, aligned(size, real), low, high), len(first) - 1)
        result = np.empty((len(wanted.order), x.shape[1]), blocks.room.dtype)
        result[wanted.order] = out.T
        return result


@jitable_part
def unit_of(exponents, powers, group):  # type: ignore[no-untyped-def]
    """What the integers of a group are times; 1 for numbers."""
    return powers[exponents[group] + 128] if len(exponents) > 0 else powers[128]


@kernel
def copy_images(values, starts, heights, widths, numbers, images):  # type: ignore[no-untyped-def]
    """Let blocks with these numbers be those of which they are images, transposed; -1: of none."""
    for k in range(numbers.size):
        if images[k] >= 0:
            to, of, height, width = starts[numbers[k]], starts[images[k]], heights[numbers[k]], widths[numbers[k]]
            for r in range(height):
                for c in range(width):
                    values[to + r * width + c] = values[of + c * height + r]


@kernel
def pack_rows(values, begin, heights, widths, starts, tops, room, exponents, low, high):  # type: ignore[no-untyped-def]
    """Blocks low .. high in 16 bits, values from number `begin` on. What rounding leaves of a number is added to the
    next one of the row, real and imaginary parts apart, so that sums of rows are kept: products with smooth vectors
    cancel, and their errors should do so, too."""
    for n in range(low, high):
        group, width = tops[n], 2 * widths[n]
        for r in range(heights[n]):
            first, to, re, im = 2 * (starts[n] - begin) + r * width, 2 * starts[n] + r * width, 0.0, 0.0
            for g in range(0, width, GROUP):
                last, largest, other = min(width, g + GROUP), 0.0, 0.0
                for k in range(g, last, 2):  # two runs, as each comparison waits for the last one
                    largest = max(largest, abs(values[first + k]) + 0.0)
                    other = max(other, abs(values[first + k + 1]) + 0.0)
                exponent = exponent_of(max(largest, other) + max(abs(re), abs(im)), LARGEST - 1.0)
                exponents[group] = exponent
                unit, inverse, group = math.ldexp(1.0, exponent), math.ldexp(1.0, -exponent), group + 1
                re, im, whole, whole_i = re * inverse, im * inverse, 0.0, 0.0
                for k in range(g, last, 2):  # sums in units less what is there: roundings wait for no others
                    re, im = re + values[first + k] * inverse, im + values[first + k + 1] * inverse
                    one, two = np.rint(re), np.rint(im)
                    room[to + k], room[to + k + 1] = np.int16(one - whole), np.int16(two - whole_i)
                    whole, whole_i = one, two
                re, im = (re - whole) * unit, (im - whole_i) * unit


@kernel
def unpack_rows(  # type: ignore[no-untyped-def]
    values, begin, heights, widths, starts, tops, room, exponents, powers, low, high
):  # fmt: skip
    """The numbers of the blocks low .. high."""
    for n in range(low, high):
        group, width = tops[n], 2 * widths[n]
        for r in range(heights[n]):
            first, to = 2 * (starts[n] - begin) + r * width, 2 * starts[n] + r * width
            for g in range(0, width, GROUP):
                for k in range(g, min(width, g + GROUP)):
                    values[first + k] = room[to + k] * powers[exponents[group] + 128]
                group += 1


@jitable_part
def row_by_four(numbers, row, exponents, group, powers, room, own, pitch, width, y, to, down):  # type: ignore[no-untyped-def]
    """Products of a row with four columns, for which its numbers are loaded once."""
    w, p = lanes(room), 2 * pitch
    s0, s1, s2, s3 = zero(room), zero(room), zero(room), zero(room)
    t0, t1, t2, t3 = zero(room), zero(room), zero(room), zero(room)
    for c in range(0, 2 * width, w):
        b = load_as(numbers, row + c, room) * unit_of(exponents, powers, group + c // GROUP)
        q = own + c
        s0, t0 = s0 + b * load(room, q), t0 + b * load(room, q + pitch)
        s1, t1 = s1 + b * load(room, q + p), t1 + b * load(room, q + p + pitch)
        s2, t2 = s2 + b * load(room, q + 2 * p), t2 + b * load(room, q + 2 * p + pitch)
        s3, t3 = s3 + b * load(room, q + 3 * p), t3 + b * load(room, q + 3 * p + pitch)
    y[to], y[to + 1] = y[to] + total(s0), y[to + 1] + total(t0)
    y[to + down], y[to + down + 1] = y[to + down] + total(s1), y[to + down + 1] + total(t1)
    to += 2 * down
    y[to], y[to + 1] = y[to] + total(s2), y[to + 1] + total(t2)
    y[to + down], y[to + down + 1] = y[to + down] + total(s3), y[to + down + 1] + total(t3)


@kernel
def multiply(  # type: ignore[no-untyped-def]
    numbers, exponents, tops, pairs, starts, order, first, row_start, row_stop, column_start, column_stop, x, across, y,
    down, count, pitch, powers, room, low, high,
):  # fmt: skip
    """y += B x of all blocks of the row clusters low .. high, complex numbers one after the other. room holds (re, -im)
    and (im, re) of the part of each column that belongs to a block: products of whole vectors with rows of a block."""
    w = lanes(room)
    for i in range(low, high):
        for e in range(first[i], first[i + 1]):
            n = order[e]
            top, left = row_start[pairs[n, 0]], column_start[pairs[n, 1]]
            height, width = row_stop[pairs[n, 0]] - top, column_stop[pairs[n, 1]] - left
            groups = -(-2 * width // GROUP)
            for q in range(count):
                at, own = 2 * (q * across + left), 2 * q * pitch
                for c in range(width):
                    re, im = x[at + 2 * c], x[at + 2 * c + 1]
                    room[own + 2 * c], room[own + 2 * c + 1] = re, -im
                    room[own + pitch + 2 * c], room[own + pitch + 2 * c + 1] = im, re
                for c in range(2 * width, pitch):
                    room[own + c], room[own + pitch + c] = 0, 0
            for r in range(height):
                row, group, q = 2 * (starts[n] + r * width), tops[n] + r * groups, 0
                while q < count:
                    own, to = 2 * q * pitch, 2 * (q * down + top + r)
                    if q + 4 <= count:
                        row_by_four(numbers, row, exponents, group, powers, room, own, pitch, width, y, to, 2 * down)
                        q += 4
                        continue
                    s, t = zero(room), zero(room)
                    for c in range(0, 2 * width, w):
                        b = load_as(numbers, row + c, room) * unit_of(exponents, powers, group + c // GROUP)
                        s, t = s + b * load(room, own + c), t + b * load(room, own + pitch + c)
                    y[to] += total(s)
                    y[to + 1] += total(t)
                    q += 1


@kernel
def multiply_transposed(  # type: ignore[no-untyped-def]
    numbers, exponents, tops, pairs, starts, order, first, row_start, row_stop, column_start, column_stop, x, across, y,
    down, count, pitch, powers, room, low, high,
):  # fmt: skip
    """y += B^T x of all blocks of the column clusters low .. high: multiples of rows with the real and the imaginary
    part of x are summed in room."""
    w = lanes(room)
    for i in range(low, high):
        for e in range(first[i], first[i + 1]):
            n = order[e]
            top, left = row_start[pairs[n, 0]], column_start[pairs[n, 1]]
            height, width = row_stop[pairs[n, 0]] - top, column_stop[pairs[n, 1]] - left
            groups = -(-2 * width // GROUP)
            for c in range(2 * count * pitch):
                room[c] = 0
            for r in range(height):
                row, group = 2 * (starts[n] + r * width), tops[n] + r * groups
                for q in range(count):
                    at, own = 2 * (q * across + top + r), 2 * q * pitch
                    re, im = number(x, at), number(x, at + 1)
                    for c in range(0, 2 * width, w):
                        b = load_as(numbers, row + c, room) * unit_of(exponents, powers, group + c // GROUP)
                        store(room, own + c, load(room, own + c) + b * re)
                        store(room, own + pitch + c, load(room, own + pitch + c) + b * im)
            for q in range(count):
                to, own = 2 * (q * down + left), 2 * q * pitch
                for c in range(width):
                    y[to + 2 * c] += room[own + 2 * c] - room[own + pitch + 2 * c + 1]
                    y[to + 2 * c + 1] += room[own + 2 * c + 1] + room[own + pitch + 2 * c]


@kernel
def multiply_lanes(  # type: ignore[no-untyped-def]
    numbers, exponents, tops, pairs, starts, order, first, row_start, row_stop, column_start, column_stop, transposed,
    x, y, pitch, powers, room, low, high,
):  # fmt: skip
    """y (n, 2, w) += Re B x and Im B x of all blocks of the clusters low .. high, or of the transposed ones, with
    columns x (n, w) as lanes, real and imaginary parts one after the other; room: for a block in plain numbers."""
    w = lanes(room)
    for i in range(low, high):
        for e in range(first[i], first[i + 1]):
            n = order[e]
            top, left = row_start[pairs[n, 0]], column_start[pairs[n, 1]]
            height, width = row_stop[pairs[n, 0]] - top, column_stop[pairs[n, 1]] - left
            groups = -(-2 * width // GROUP)
            for r in range(height):
                row, group = 2 * (starts[n] + r * width), tops[n] + r * groups
                for c in range(0, 2 * width, w):
                    unit = unit_of(exponents, powers, group + c // GROUP)
                    store(room, r * pitch + c, load_as(numbers, row + c, room) * unit)
            to, many, here, given, inner, next = top, height, pitch, left, width, 2
            if transposed:
                to, many, here, given, inner, next = left, width, 2, top, height, pitch
            for a in range(0, many, 4):
                p0, p1 = a * here, min(a + 1, many - 1) * here  # the last ones again where there are no four
                p2, p3 = min(a + 2, many - 1) * here, min(a + 3, many - 1) * here
                s0, s1, s2, s3 = zero(room), zero(room), zero(room), zero(room)
                t0, t1, t2, t3 = zero(room), zero(room), zero(room), zero(room)
                for b in range(inner):
                    v, q = load(x, (given + b) * w), b * next
                    s0, t0 = s0 + v * number(room, p0 + q), t0 + v * number(room, p0 + q + 1)
                    s1, t1 = s1 + v * number(room, p1 + q), t1 + v * number(room, p1 + q + 1)
                    s2, t2 = s2 + v * number(room, p2 + q), t2 + v * number(room, p2 + q + 1)
                    s3, t3 = s3 + v * number(room, p3 + q), t3 + v * number(room, p3 + q + 1)
                at = 2 * (to + a) * w
                add(y, at, s0)
                add(y, at + w, t0)
                if a + 1 < many:
                    add(y, at + 2 * w, s1)
                    add(y, at + 3 * w, t1)
                if a + 2 < many:
                    add(y, at + 4 * w, s2)
                    add(y, at + 5 * w, t2)
                if a + 3 < many:
                    add(y, at + 6 * w, s3)
                    add(y, at + 7 * w, t3)
