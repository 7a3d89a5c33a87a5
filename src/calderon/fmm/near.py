"""Products with the dense blocks between neighbouring leaves; of symmetric matrices one of each pair is stored."""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.backends import require_memory, run_tasks, thread_count
from calderon.backends.numba import jitable_part, kernel
from calderon.backends.vector_loads import load_as, total
from calderon.backends.vectors import aligned, jitable, lanes, load, number, store, width, zero
from calderon.fmm.packed import COMPONENTS, GROUP, PARTS, Tensors, unpack_block, unpack_row
from calderon.spaces.pieces import Pieces

BEYOND = 32
"""Numbers behind the last one that loads of whole vectors may touch."""
SHARES = 3
"""Parts of blocks for each thread, where they have rows of their own."""
ADVICE = "increase rtol, or use method='matrix-free', which stores vectors only"


@jitable
def load_plain(numbers, exponents, place, group, like):  # type: ignore[no-untyped-def]
    """As load_digits, of numbers that are not packed."""
    return load_as(numbers, place, like)


@jitable_part
def itself(functions, k):  # type: ignore[no-untyped-def]
    return k


@jitable_part
def of_list(functions, k):  # type: ignore[no-untyped-def]
    return functions[k]


@functools.lru_cache(maxsize=4)
def block_kernel(down: bool, across: bool) -> Callable[..., None]:
    """y_rows += B x_columns (down), and y_columns += B^T x_rows (across), of all blocks; of those on the diagonal of a
    symmetric matrix, which do both, only the former. x, y: `count` vectors, one after the other; a row of a block is
    in the cache for all of them."""

    @kernel
    def multiply(  # type: ignore[no-untyped-def]
        numbers, pairs, places, row_starts, column_starts, x_rows, x_columns, y_rows, y_columns, count, room, symmetric,
        low, high,
    ):  # fmt: skip
        size = lanes(room)
        half, pitch = len(room) // 2, len(room) // (2 * max(1, count))
        tall, wide = row_starts[len(row_starts) - 1], column_starts[len(column_starts) - 1]
        for n in range(low, high):
            i, j = pairs[n, 0], pairs[n, 1]
            top, left = row_starts[i], column_starts[j]
            height, width = row_starts[i + 1] - top, column_starts[j + 1] - left
            for q in range(count):
                column, own = q * wide, q * pitch
                for c in range(width + size):
                    room[own + c] = x_columns[column + left + c] if c < width else 0
                    room[half + own + c] = 0
            for r in range(height):
                at = places[n] + r * width
                for q in range(count):
                    row, own, f, t = q * tall + top + r, q * pitch, room.dtype.type(0), zero(room)
                    if across:
                        f = number(x_rows, row)
                    for c in range(0, width, size):
                        block = load_as(numbers, at + c, room)
                        if down:
                            t = t + block * load(room, own + c)
                        if across:
                            store(room, half + own + c, load(room, half + own + c) + block * f)
                    if down:
                        y_rows[row] += total(t)
            if across and not (symmetric and i == j):
                for q in range(count):
                    column, own = q * wide, half + q * pitch
                    for c in range(width):
                        y_columns[column + left + c] += room[own + c]

    return multiply


@functools.lru_cache(maxsize=8)
def tensor_kernel(down: bool, across: bool, listed: bool) -> Callable[..., None]:
    """The same with `Tensors`. listed: columns of blocks are the ones that `functions` lists, of so many (wide)."""
    column_of = of_list if listed else itself

    @kernel
    def multiply(  # type: ignore[no-untyped-def]
        numbers, heads, begins, units, rows, starts, groups, pairs, row_starts, column_starts, functions, wide, x_rows,
        x_columns, y_rows, y_columns, count, room, symmetric, low, high,
    ):  # fmt: skip
        size, pitch = lanes(room), len(room) // (PARTS + 2 * COMPONENTS * count)
        half, tall = COMPONENTS * count * pitch, row_starts[len(row_starts) - 1]
        for n in range(low, high):
            top, left, span = row_starts[pairs[n, 0]], column_starts[pairs[n, 1]], GROUP * groups[n]
            width = (column_starts[pairs[n, 1] + 1] - left) // COMPONENTS
            for q in range(COMPONENTS * count):
                vector, k, own = q // COMPONENTS * wide, q % COMPONENTS, (PARTS + q) * pitch
                for c in range(span):
                    column = vector + column_of(functions, left + COMPONENTS * c + k) if c < width else 0
                    room[own + c] = x_columns[column] if c < width else 0
                    room[half + own + c] = 0
            for a in range(rows[n], rows[n + 1]):
                head, row = starts[n] + (a - rows[n]) * PARTS * groups[n], top + COMPONENTS * (a - rows[n])
                unpack_row(numbers, heads, begins[a], head, groups[n], units[a], room, pitch)
                for q in range(count):
                    own = (PARTS + COMPONENTS * q) * pitch
                    for i in range(COMPONENTS):
                        at, place, f = COMPONENTS * i * pitch, q * tall + row + i, room.dtype.type(0)
                        s, t, u = zero(room), zero(room), zero(room)
                        if across:
                            f = number(x_rows, place)
                        for c in range(0, span, size):
                            x, y, z = (load(room, at + c), load(room, at + pitch + c), load(room, at + 2 * pitch + c))
                            if down:
                                s = s + x * load(room, own + c)
                                t = t + y * load(room, own + pitch + c)
                                u = u + z * load(room, own + 2 * pitch + c)
                            if across:
                                sums = half + own + c
                                store(room, sums, load(room, sums) + x * f)
                                store(room, sums + pitch, load(room, sums + pitch) + y * f)
                                store(room, sums + 2 * pitch, load(room, sums + 2 * pitch) + z * f)
                        if down:
                            y_rows[place] += total(s + t + u)
            if across and not (symmetric and pairs[n, 0] == pairs[n, 1]):
                for q in range(COMPONENTS * count):
                    vector, k, own = q // COMPONENTS * wide, q % COMPONENTS, half + (PARTS + q) * pitch
                    for c in range(width):
                        y_columns[vector + column_of(functions, left + COMPONENTS * c + k)] += room[own + c]

    return multiply


@kernel
def spread_strips(  # type: ignore[no-untyped-def]
    numbers, heads, begins, units, rows, starts, groups, blocks, widths, firsts, columns, places, out, room, strip,
    seen, low, high,
):  # fmt: skip
    """Enter the blocks of strips low .. high between pieces into out, from `places` on; the first piece of a function
    has the numbers of all of its pieces: the others are zero, as products with whole functions need. firsts: where the
    columns of each block begin."""
    for n in range(low, high):
        height, wide = 3 * (rows[n + 1] - rows[n]), GROUP * groups[n]
        unpack_block(
            numbers, heads, begins, units, rows[n], rows[n + 1], starts[n], groups[n], wide, room, strip
        )  # fmt: skip
        seen[:wide] = False
        for b in range(blocks[n], blocks[n + 1]):
            for q in range(widths[b] // 3):
                c = columns[firsts[b] + q]
                for r in range(height):
                    for j in range(3):
                        out[places[b] + r * widths[b] + 3 * q + j] = 0 if seen[c] else strip[r, 3 * c + j]
            for q in range(widths[b] // 3):
                seen[columns[firsts[b] + q]] = True


class Strips(NamedTuple):
    """Blocks of one row leaf next to each other, where all pieces of a function are one column.

    pairs (n, 2): leaves of the blocks; starts: where the unknowns of column leaves begin; blocks (strips + 1,): the
    first block of each strip. functions: of the columns of all strips, of so many (dimension). widths, begins (n,): of
    each block, how many columns it has, and where they begin in `columns`: their places in the strip, one for
    COMPONENTS columns.
    """

    pairs: NDArray[np.int64]
    starts: NDArray[np.int64]
    blocks: NDArray[np.int64]
    functions: NDArray[np.int32]
    dimension: int
    widths: NDArray[np.int64]
    begins: NDArray[np.int64]
    columns: NDArray[np.int32]

    @staticmethod
    def of(pairs: NDArray[np.int64], first: NDArray[np.int64], pieces: Pieces) -> "tuple[Strips, NDArray[np.int64]]":
        """The strips of pairs, by row leaf, whose first ones are `first`, and where their columns begin."""
        blocks, many = np.append(first, len(pairs)), pieces.dimension // COMPONENTS
        strip, leaf = np.repeat(np.arange(len(first)), np.diff(blocks)), pairs[:, 1]
        count = np.diff(pieces.starts)[leaf] // COMPONENTS
        begins = np.cumsum(count) - count
        piece = np.repeat(pieces.starts[leaf] // COMPONENTS - begins, count) + np.arange(int(count.sum()))
        whole = pieces.whole[::COMPONENTS] // COMPONENTS
        found, place = np.unique(np.repeat(strip, count) * many + whole[piece], return_inverse=True)
        owner, function = np.divmod(found, many)
        starts = np.searchsorted(owner, np.arange(len(first) + 1))
        columns = (place - np.repeat(starts[strip], count)).astype(np.int32)
        functions = (COMPONENTS * function[:, None] + np.arange(COMPONENTS)).ravel().astype(np.int32)
        strips = Strips(pairs, pieces.starts, blocks, functions, pieces.dimension, COMPONENTS * count, begins, columns)
        return strips, COMPONENTS * starts

    @property
    def nbytes(self) -> int:
        return sum(each.nbytes for each in self if isinstance(each, np.ndarray))


@dataclass(frozen=True, eq=False)
class Near:
    """Blocks, with a vector of numbers behind the last one, or as tensors, and where the unknowns of each leaf begin on
    both sides. places: where blocks begin, also by the work with them. double: arithmetic in double precision, whatever
    the precision of the blocks."""

    numbers: NDArray[Any]
    pairs: NDArray[np.int64]
    places: NDArray[np.int64]
    row_starts: NDArray[np.int64]
    column_starts: NDArray[np.int64]
    symmetric: bool
    double: bool = False
    strips: Strips | None = None
    tensors: Tensors | None = None

    @staticmethod
    def in_strips(pairs: NDArray[np.int64], rows: NDArray[np.int64], columns: Pieces, rounding: float) -> "Near":
        """Empty strips of `Tensors`; pairs: by row leaf; rows: where the unknowns of leaves begin; columns: pieces with
        COMPONENTS components. MemoryError where there is no room."""
        leaf, first = np.unique(pairs[:, 0], return_index=True)
        strips, starts = Strips.of(pairs, first, columns)
        numbers = np.stack([leaf, np.arange(len(leaf))], axis=1)
        return Near.of_tensors(numbers, (rows, starts), False, rounding, strips)

    @staticmethod
    def of_tensors(
        pairs: NDArray[np.int64],
        starts: tuple[NDArray[np.int64], NDArray[np.int64]],
        symmetric: bool,
        rounding: float,
        strips: Strips | None = None,
    ) -> "Near":
        """Empty `Tensors`, whose products are in double precision."""
        heights, widths = (np.diff(each)[own] // COMPONENTS for each, own in zip(starts, pairs.T, strict=True))
        tensors = Tensors.empty(heights, widths, rounding)
        require_memory(GROUP * int(tensors.starts[-1]), f"{len(pairs)} near blocks", ADVICE)
        places = tensors.starts // PARTS
        return Near(np.zeros(0, np.float32), pairs, places, *starts, symmetric, True, strips, tensors)

    @staticmethod
    def empty(
        pairs: NDArray[np.int64],
        starts: tuple[NDArray[np.int64], NDArray[np.int64]],
        symmetric: bool,
        real: np.dtype[Any],
        double: bool,
    ) -> "Near":
        """Blocks of zeros; starts: of both sides. MemoryError where there is no room."""
        height, width = (np.diff(each)[own] for each, own in zip(starts, pairs.T, strict=True))
        places = np.append(0, np.cumsum(height * width))
        count = int(places[-1])
        require_memory(count * real.itemsize, f"{len(pairs)} near blocks", ADVICE)
        return Near(np.zeros(count + BEYOND, real), pairs, places, *starts, symmetric, double)

    def enter(self, values: NDArray[Any], starts: NDArray[np.int64], chosen: NDArray[np.int64]) -> None:
        """Enter the blocks of the pairs `chosen`, of which number k is values[starts[k] : starts[k + 1]], by rows; of
        tensors next to each other, of strips whole ones."""
        if self.tensors is None:
            for first, last, place in zip(
                starts[:-1].tolist(), starts[1:].tolist(), self.places[chosen].tolist(), strict=True
            ):
                self.numbers[place : place + last - first] = values[first:last]
        elif self.strips is None:
            runs = np.flatnonzero(np.diff(chosen, prepend=-2, append=-2) != 1)
            widths = np.diff(self.column_starts)[self.pairs[chosen, 1]]
            for low, high in zip(runs[:-1].tolist(), runs[1:].tolist(), strict=True):
                own = widths[low:high] // COMPONENTS
                columns = np.arange(own.sum()) - np.repeat(np.cumsum(own) - own, own)
                parts = np.arange(high - low + 1), starts[low:high], widths[low:high]
                self.tensors.enter((chosen[low], chosen[high - 1] + 1), values, parts, columns.astype(np.int32))
        else:
            low, high = np.searchsorted(self.strips.blocks, [chosen[0], chosen[-1] + 1])
            first, widths = self.strips.blocks[low : high + 1] - chosen[0], self.strips.widths[chosen]
            columns = self.strips.columns[self.strips.begins[chosen[0]] :]
            self.tensors.enter((low, high), values, (first, starts[:-1], widths), columns)

    @property
    def nbytes(self) -> int:
        return sum(0 if each is None else each.nbytes for each in (self.numbers, self.tensors, self.strips))

    def block(self, number: int) -> NDArray[Any]:
        """The block of a pair."""
        height, width = (int(np.diff(starts[i : i + 2])[0]) for starts, i in zip(
            (self.row_starts, self.column_starts), self.pairs[number], strict=True))  # fmt: skip
        if self.tensors is not None:
            return self.tensors.block(number, width // COMPONENTS)
        first = int(self.places[number])
        return self.numbers[first : first + height * width].reshape(height, width)

    @property
    def plain(self) -> "Near":
        """The same with numbers instead of tensors. MemoryError where there is no room."""
        if self.tensors is None:
            return self
        strips = self._whole_strips if self.strips is None else self.strips
        heights, real = np.diff(self.tensors.rows) * COMPONENTS, np.dtype(np.float32)
        places = np.append(0, np.cumsum(np.repeat(heights, np.diff(strips.blocks)) * strips.widths))
        require_memory(real.itemsize * int(places[-1]), f"{len(self.pairs)} near blocks", ADVICE)
        numbers, tensors, tall = np.zeros(int(places[-1]) + BEYOND, real), self.tensors, int(heights.max(initial=0))
        wide = GROUP * int(tensors.groups.max(initial=0))
        bounds = np.linspace(0, len(self.pairs), SHARES * thread_count() + 1).astype(np.int64)

        def work(part: int) -> None:
            rooms = aligned(PARTS * wide, np.float64), np.empty((tall, COMPONENTS * wide), real), np.empty(wide, bool)
            spread_strips(
                *tensors.of_rows, *strips[2:3], *strips[5:], places, numbers, *rooms, *bounds[part : part + 2]
            )

        run_tasks(work, len(bounds) - 1)
        return Near(numbers, strips.pairs, places, self.row_starts, strips.starts, self.symmetric, self.double)

    @property
    def _whole_strips(self) -> Strips:
        """Blocks of tensors as strips of one block each."""
        widths, none = np.diff(self.column_starts)[self.pairs[:, 1]], np.zeros(0, np.int32)
        columns = np.arange(int(widths.max(initial=0)) // COMPONENTS, dtype=np.int32)
        blocks, begins = np.arange(len(widths) + 1), np.zeros(len(widths), np.int64)
        return Strips(self.pairs, self.column_starts, blocks, none, 0, widths, begins, columns)

    def product(self, x: NDArray[Any], transposed: bool) -> NDArray[Any]:
        """(k, m) A x or A^T x for k vectors x (k, n), in the order of leaves; columns of strips are whole functions."""
        return products([(self, x)], transposed)[0]

    def parts(self, x: NDArray[Any], transposed: bool) -> "tuple[NDArray[Any], list[Callable[[], None]]]":
        """(p, k, m) zeros and tasks that add to them, which may run at once: the sum over p is `product`. Rows of other
        leaves are other rows, so that p is 1 where no columns are added to."""
        real, symmetric = np.dtype(np.float64) if self.double else self.numbers.dtype, self.symmetric
        sides, tensors = (symmetric or not transposed, symmetric or transposed), self.tensors
        wide = int(self.column_starts[-1]) if self.strips is None else self.strips.dimension
        sizes = int(self.row_starts[-1]), wide
        x, none = np.ascontiguousarray(x, real), np.zeros(0, real)
        bounds = self._bounds(not sides[1])
        copies = len(bounds) - 1 if sides[1] else 1
        sums = np.zeros((copies, len(x), sizes[1] if transposed else sizes[0]), real)
        if tensors is None:
            widest = (int(np.diff(self.column_starts).max(initial=0)) // width(real) + 2) * width(real)
            run, room = block_kernel(*sides), 2 * len(x) * widest
            blocks: tuple[Any, ...] = (
                self.numbers, self.pairs, self.places, self.row_starts, self.column_starts,
            )  # fmt: skip
        else:
            functions = np.zeros(0, np.int32) if self.strips is None else self.strips.functions
            run = tensor_kernel(*sides, self.strips is not None)
            room = (PARTS + 2 * COMPONENTS * len(x)) * GROUP * int(tensors.groups.max(initial=0))
            blocks = *tensors.of_rows, self.pairs, self.row_starts, self.column_starts, functions, wide

        def part(n: int) -> None:
            given, y = x.ravel(), sums[n % copies].ravel()
            turned = (given, none, none, y) if transposed else (none, given, y, none)
            vectors = (given, given, y, y) if symmetric else turned
            run(*blocks, *vectors, len(x), aligned(room, real), symmetric, bounds[n], bounds[n + 1])

        return sums, [functools.partial(part, n) for n in range(len(bounds) - 1)]

    def _bounds(self, between_rows: bool) -> NDArray[np.int64]:
        """Of parts of the blocks with about equal work, for each thread one; of several, whose blocks have other rows
        than those of the other parts, if so."""
        work = np.append(0, np.cumsum(np.diff(self.places)))
        parts = max(1, min((SHARES if between_rows else 1) * thread_count(), len(self.pairs)))
        bounds = np.searchsorted(work, np.linspace(0, work[-1], parts + 1))
        bounds[-1] = len(self.pairs)
        if between_rows and len(self.pairs):
            rows = self.pairs[:, 0]
            bounds[1:-1] = np.searchsorted(rows, rows[np.minimum(bounds[1:-1], len(rows) - 1)])
        return bounds


def products(given: "Sequence[tuple[Near, NDArray[Any]]]", transposed: bool) -> list[NDArray[Any]]:
    """`Near.product` of several blocks, each with vectors of its own, whose tasks are distributed together."""
    found = [near.parts(x, transposed) for near, x in given]
    tasks = [each for _, some in found for each in some]
    run_tasks(lambda n: tasks[n](), len(tasks))
    return [sums[0] if len(sums) == 1 else sums.sum(axis=0) for sums, _ in found]
