"""Products with the dense blocks between neighbouring leaves; of symmetric matrices one of each pair is stored."""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from calderon.backends import require_memory, run_tasks, thread_count
from calderon.backends.numba import kernel
from calderon.backends.vectors import FLAGS, VectorType, aligned, jitable, lanes, load, number, store, width, zero
from calderon.fmm.packed import BEYOND, GROUP, Packed, load_packed, pack

COMPONENTS = 3
"""Of the fields whose blocks are packed."""
ADVICE = "increase rtol, or use method='matrix-free', which stores vectors only"


def _load_as(typing_context, array, index, like):  # type: ignore[no-untyped-def]
    """The vector array[index : index + width] with the width and precision of the row `like`; contiguous 1-D arrays, no
    bounds are checked."""
    kind = VectorType(like.dtype)
    single = array.dtype.bitwidth < like.dtype.bitwidth

    def generate(context, builder, sig, args):  # type: ignore[no-untyped-def]
        stored = ir.FloatType() if array.dtype.bitwidth == 32 else ir.DoubleType()
        data = context.make_array(array)(context, builder, args[0]).data
        place = builder.gep(data, [args[1]], inbounds=True)
        pointer = builder.bitcast(place, ir.VectorType(stored, kind.width).as_pointer())
        value = builder.load(pointer, align=array.dtype.bitwidth // 8)
        return builder.fpext(value, ir.VectorType(ir.DoubleType(), kind.width)) if single else value

    return kind(array, types.intp, like), generate


load_as = intrinsic(_load_as)
load_as._set_uuid(f"{__name__}.load_as")


def _total(typing_context, vector):  # type: ignore[no-untyped-def]
    """The sum of the components of a vector, by halves."""
    if not isinstance(vector, VectorType):
        return None

    def generate(context, builder, sig, args):  # type: ignore[no-untyped-def]
        value, count, index = args[0], vector.width, ir.IntType(32)
        while count > 1:
            count //= 2
            halves = (ir.Constant(ir.VectorType(index, count), list(range(n, n + count))) for n in (0, count))
            value = builder.fadd(*(builder.shuffle_vector(value, value, each) for each in halves), flags=FLAGS)
        return builder.extract_element(value, ir.Constant(index, 0))

    return vector.scalar(vector), generate


total = intrinsic(_total)
total._set_uuid(f"{__name__}.total")


class RealProducts(LinearOperator):  # type: ignore[misc]
    """A real matrix by `_products`(x, transposed) of real columns x (n, k), `together` at a time; the real and the
    imaginary parts of complex ones are columns of their own."""

    @property
    def together(self) -> int:
        """Columns that are multiplied at a time; here one."""
        return 1

    def _matmat(self, x: NDArray[Any]) -> NDArray[Any]:
        return self._both(x, False)

    def _rmatmat(self, x: NDArray[Any]) -> NDArray[Any]:
        return self._both(x, True)

    def _both(self, x: NDArray[Any], transposed: bool) -> NDArray[Any]:
        if x.dtype.kind == "c":
            both = self._both(np.concatenate([x.real, x.imag], axis=1), transposed)
            return both[:, : x.shape[1]] + 1j * both[:, x.shape[1] :]
        if x.shape[1] <= (together := self.together):
            return self._products(x, transposed)
        parts = [self._products(x[:, n : n + together], transposed) for n in range(0, x.shape[1], together)]
        return np.concatenate(parts, axis=1)

    def _products(self, x: NDArray[Any], transposed: bool) -> NDArray[Any]:
        raise NotImplementedError


@jitable
def load_plain(numbers, exponents, index, like):  # type: ignore[no-untyped-def]
    """As load_packed, of numbers that are not packed."""
    return load_as(numbers, index, like)


@functools.lru_cache(maxsize=8)
def block_kernel(down: bool, across: bool, packed: bool) -> Callable[..., None]:
    """y_rows += B x_columns (down), and y_columns += B^T x_rows (across), of all blocks; of those on the diagonal of a
    symmetric matrix, which do both, only the former. x, y: `count` vectors, one after the other; a row of a block is
    in the cache for all of them."""
    load_block = load_packed if packed else load_plain

    @kernel
    def multiply(  # type: ignore[no-untyped-def]
        numbers, exponents, pairs, places, unit, row_starts, column_starts, x_rows, x_columns, y_rows, y_columns, count,
        room, symmetric, low, high,
    ):  # fmt: skip
        size = lanes(room)
        half, pitch = len(room) // 2, len(room) // (2 * max(1, count))
        tall, wide = row_starts[len(row_starts) - 1], column_starts[len(column_starts) - 1]
        for n in range(low, high):
            i, j = pairs[n, 0], pairs[n, 1]
            top, left = row_starts[i], column_starts[j]
            height, width = row_starts[i + 1] - top, column_starts[j + 1] - left
            for q in range(count):
                column, own = q * wide + left, q * pitch
                for c in range(width + size):
                    room[own + c] = x_columns[column + c] if c < width else 0
                    room[half + own + c] = 0
            apart = -(-width // unit) * unit
            for r in range(height):
                at = places[n] + r * apart
                for q in range(count):
                    row, own, f, t = q * tall + top + r, q * pitch, room.dtype.type(0), zero(room)
                    if across:
                        f = number(x_rows, row)
                    for c in range(0, width, size):
                        block = load_block(numbers, exponents, at + c, room)
                        if down:
                            t = t + block * load(room, own + c)
                        if across:
                            store(room, half + own + c, load(room, half + own + c) + block * f)
                    if down:
                        y_rows[row] += total(t)
            if across and not (symmetric and i == j):
                for q in range(count):
                    column, own = q * wide + left, half + q * pitch
                    for c in range(width):
                        y_columns[column + c] += room[own + c]

    return multiply


@kernel
def enter_packed(values, starts, widths, places, carry, numbers, exponents):  # type: ignore[no-untyped-def]
    """Pack the rows of blocks with so many numbers in each."""
    for n in range(len(widths)):
        place, width = places[n], widths[n]
        for first in range(starts[n], starts[n + 1], width):
            carry[:] = 0.0
            pack(values, first, width, place, carry, numbers, exponents)
            place += -(-width // GROUP) * GROUP


@dataclass(frozen=True, eq=False)
class Near:
    """Blocks, with a vector of numbers behind the last one, and where the unknowns of each leaf begin on both sides.
    Rows of a block are a multiple of `unit` numbers apart. double: arithmetic in double precision, whatever the
    precision of the blocks."""

    stored: Packed
    pairs: NDArray[np.int64]
    places: NDArray[np.int64]
    row_starts: NDArray[np.int64]
    column_starts: NDArray[np.int64]
    symmetric: bool
    double: bool = False

    @staticmethod
    def empty(
        pairs: NDArray[np.int64],
        starts: tuple[NDArray[np.int64], NDArray[np.int64]],
        symmetric: bool,
        real: np.dtype[Any],
        options: tuple[bool, bool],
    ) -> "Near":
        """Blocks of zeros; starts: of both sides; options: double, and whether numbers are packed. MemoryError where
        there is no room."""
        double, packs = options
        unit = GROUP if packs else 1
        height, width = (np.diff(each)[own] for each, own in zip(starts, pairs.T, strict=True))
        places = np.append(0, np.cumsum(height * (-(-width // unit) * unit)))
        count = int(places[-1])
        require_memory(count * (2 if packs else real.itemsize), f"{len(pairs)} near blocks", ADVICE)
        stored = Packed.empty(count) if packs else Packed.plain(np.zeros(count + BEYOND, real))
        return Near(stored, pairs, places, *starts, symmetric, double)

    def enter(self, values: NDArray[Any], starts: NDArray[np.int64], chosen: NDArray[np.int64]) -> None:
        """Enter the blocks of the pairs `chosen`, of which number k is values[starts[k] : starts[k + 1]], by rows."""
        width = np.diff(self.column_starts)[self.pairs[chosen, 1]]
        if len(self.stored.exponents):
            bounds = np.linspace(0, len(width), thread_count() + 1).astype(np.int64)
            places, rest = self.places[chosen], np.zeros((thread_count(), COMPONENTS))

            def part(n: int) -> None:
                own = slice(bounds[n], bounds[n + 1])
                own_starts = starts[bounds[n] : bounds[n + 1] + 1]
                enter_packed(values, own_starts, width[own], places[own], rest[n], *self.stored)

            run_tasks(part, thread_count())
            return
        for first, last, place in zip(
            starts[:-1].tolist(), starts[1:].tolist(), self.places[chosen].tolist(), strict=True
        ):
            self.stored.numbers[place : place + last - first] = values[first:last]

    @property
    def unit(self) -> int:
        return GROUP if len(self.stored.exponents) else 1

    @property
    def nbytes(self) -> int:
        return self.stored.nbytes

    @property
    def pitches(self) -> NDArray[np.int64]:
        """(pairs,) how far rows of a block are apart."""
        width = np.diff(self.column_starts)[self.pairs[:, 1]]
        return np.asarray(-(-width // self.unit) * self.unit)

    def block(self, number: int) -> NDArray[Any]:
        """The block of a pair."""
        height, width = (int(np.diff(starts[i : i + 2])[0]) for starts, i in zip(
            (self.row_starts, self.column_starts), self.pairs[number], strict=True))  # fmt: skip
        pitch = -(-width // self.unit) * self.unit
        first = int(self.places[number])
        return self.stored.part(first, first + height * pitch).reshape(height, pitch)[:, :width]

    @property
    def plain(self) -> "Near":
        """The same with numbers that are not packed. MemoryError where there is no room."""
        if not len(self.stored.exponents):
            return self
        require_memory(8 * len(self.stored.numbers), f"{len(self.pairs)} near blocks", ADVICE)  # in parts and as one
        parts = [self.block(number).ravel() for number in range(len(self.pairs))]
        places = np.append(0, np.cumsum([len(each) for each in parts]))
        numbers = np.concatenate([*parts, np.zeros(BEYOND, np.float32)])
        sides = self.row_starts, self.column_starts
        return Near(Packed.plain(numbers), self.pairs, places, *sides, self.symmetric, self.double)

    def product(self, x: NDArray[Any], transposed: bool) -> NDArray[Any]:
        """(k, m) A x or A^T x for k vectors x (k, n), in the order of leaves."""
        real, symmetric = np.dtype(np.float64) if self.double else self.stored.numbers.dtype, self.symmetric
        run = block_kernel(symmetric or not transposed, symmetric or transposed, len(self.stored.exponents) > 0)
        sizes = int(self.row_starts[-1]), int(self.column_starts[-1])
        x, none = np.ascontiguousarray(x, real), np.zeros(0, real)
        widest = (int(np.diff(self.column_starts).max(initial=0)) // width(real) + 2) * width(real)
        work = np.append(0, np.cumsum(np.diff(self.places)))
        parts = max(1, min(thread_count(), len(self.pairs)))
        bounds = np.searchsorted(work, np.linspace(0, work[-1], parts + 1))
        bounds[-1] = len(self.pairs)
        sums = np.zeros((parts, len(x), sizes[1] if transposed else sizes[0]), real)

        def part(n: int) -> None:
            given, y = x.ravel(), sums[n].ravel()
            turned = (given, none, none, y) if transposed else (none, given, y, none)
            vectors = (given, given, y, y) if symmetric else turned
            run(*self.stored, self.pairs, self.places, self.unit, self.row_starts, self.column_starts, *vectors, len(x),
                aligned(2 * len(x) * widest, real), symmetric, bounds[n], bounds[n + 1])  # fmt: skip

        run_tasks(part, parts)
        return sums.sum(axis=0)
