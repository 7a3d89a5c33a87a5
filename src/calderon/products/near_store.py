"""The near store: dense blocks between clusters of unknowns in memory, and products with them.

Fast products have exact entries between unknowns in neighbouring leaves. Entries are real or complex; real numbers are
kept in double or single precision, or in 16 bits (packed.py). Of symmetric matrices one of each pair of blocks may be
there alone. A product reads all numbers once: the floor of its time is that of reading them.
"""

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.backends import require_memory, run_tasks, thread_count
from calderon.backends.threads import in_parts
from calderon.backends.vectors import aligned, width
from calderon.galerkin.rows.entry_kernels import Clusters
from calderon.products.near_entries import BEYOND, NearBlocks
from calderon.products.near_kernels import multiply_many, product_kernel
from calderon.products.packed import PER_EXPONENT, POWERS, ZERO_POWER, copy_rows, groups_of, pack_kernel, unpack_rows

CHUNK = 16_000_000
"""Bytes of a chunk at least."""
ADVICE = "increase rtol, or use method='matrix-free', which stores vectors only"

Index = NDArray[np.int64]


class Numbers:
    """The numbers of a store, and the exponents of groups of them, in the memory of the processor.

    kind: type of the numbers; here: both arrays.
    """

    def __init__(self, numbers: NDArray[Any], exponents: NDArray[np.int8]) -> None:
        self.kind, self._arrays = numbers.dtype, (numbers, exponents)

    @property
    def here(self) -> tuple[NDArray[Any], NDArray[np.int8]]:
        """Numbers and exponents in the memory of the processor."""
        return self._arrays

    @property
    def nbytes(self) -> int:
        """Bytes of both."""
        return sum(each.nbytes for each in self._arrays)


@dataclass(frozen=True, eq=False)
class NearStore:
    """Dense blocks between clusters of unknowns.

    layout: row and column clusters, the pairs (b, 2) of them that have blocks, in the order of row clusters, and where
    the entries of each block begin, row by row; it holds no entries, but their type. The order of a side may have an
    unknown at several places, as pieces of its function: then its value stands at all of them, and sums over them are
    taken. shape: unknowns of both sides. half: whether one block of each pair of a symmetric matrix is there alone.
    step: see `pack_kernel`. work: real type of sums. tops (b + 1,): where the exponents of each block begin. numbers:
    real numbers of all entries (complex ones have two), or integers, and BEYOND further ones; exponents: and a
    further one, none where numbers are no integers.
    """

    layout: NearBlocks
    shape: tuple[int, int]
    half: bool
    step: int
    work: np.dtype[Any]
    tops: Index
    memory: Numbers

    @staticmethod
    def empty(
        clusters: tuple[Clusters, Clusters],
        pairs: Index,
        kind: Any,
        packs: bool,
        shape: tuple[int, int] | None = None,
        half: bool = False,
        step: int | None = None,
        work: Any = None,
        take: Callable[[int, int, "np.dtype[Any]"], Numbers] | None = None,
    ) -> "NearStore":
        """Blocks of zeros between row and column clusters.

        pairs: by row cluster; kind: type of entries; packs: whether they are kept in 16 bits. shape: as many unknowns
        as places unless given; step: 2 for complex entries, else 1, unless given; work: that of entries unless given.
        take(count, exponents, type): the memory of so many numbers, that of the processor unless given. Raises
        MemoryError where there is no room.
        """
        height, span = ((each.stop - each.start)[own] for each, own in zip(clusters, pairs.T, strict=True))
        kind, parts = np.dtype(kind), 2 if np.dtype(kind).kind == "c" else 1
        starts, tops = (np.append(0, np.cumsum(height * each)) for each in (span, groups_of(parts * span)))
        count, exponents = parts * int(starts[-1]), int(tops[-1]) + 1 if packs else 0
        real = np.dtype(np.int16) if packs else np.zeros(0, kind).real.dtype
        layout = NearBlocks(*clusters, np.ascontiguousarray(pairs), starts, np.zeros(0, kind))
        sizes = shape or (len(clusters[0].order), len(clusters[1].order))
        work = np.dtype(np.zeros(0, kind).real.dtype if work is None else work)
        own = parts if step is None else step
        if take is None:
            require_memory(real.itemsize * count + exponents, f"{len(pairs)} near blocks", ADVICE)
            memory = Numbers(np.zeros(count + BEYOND, real), np.zeros(exponents, np.int8))
        else:
            memory = take(count + BEYOND, exponents, real)
        return NearStore(layout, sizes, half, own, work, tops, memory)

    @property
    def numbers(self) -> NDArray[Any]:
        """The numbers, in the memory of the processor."""
        return self.memory.here[0]

    @property
    def exponents(self) -> NDArray[np.int8]:
        """The exponents, in the memory of the processor."""
        return self.memory.here[1]

    @property
    def is_packed(self) -> bool:
        """Whether numbers are kept in 16 bits."""
        return self.memory.kind == np.int16

    @property
    def kind(self) -> np.dtype[Any]:
        """Type of the entries."""
        return self.layout.room.dtype

    @property
    def parts(self) -> int:
        """Real numbers of an entry."""
        return 2 if self.kind.kind == "c" else 1

    @property
    def nbytes(self) -> int:
        """Bytes of numbers and lists."""
        return self.memory.nbytes + sum(each.nbytes for each in (self.tops, self.layout.pairs, self.layout.starts))

    @cached_property
    def sizes(self) -> tuple[Index, Index]:
        """Rows and columns (b,) of each block."""
        sides = zip((self.layout.rows, self.layout.columns), self.layout.pairs.T, strict=True)
        first, second = ((each.stop - each.start)[own] for each, own in sides)
        return first, second

    @property
    def stored(self) -> tuple[NDArray[Any], ...]:
        """Numbers, exponents and powers of two, and where the entries and the exponents of each block begin, for
        kernels."""
        powers = POWERS.astype(self.work)
        return self.numbers, self.exponents, powers, self.layout.starts, self.tops

    @property
    def _clusters(self) -> tuple[NDArray[np.int64], ...]:
        """Pairs of clusters and where these begin and end, for kernels."""
        rows, columns = self.layout.rows, self.layout.columns
        return self.layout.pairs, rows.start, rows.stop, columns.start, columns.stop

    def part(self, low: int, high: int) -> "NearStore":
        """The blocks of the row clusters low up to, without, high alone, in the same memory."""
        first, last = np.searchsorted(self.layout.pairs[:, 0], (low, high)).tolist()
        starts, tops = (each[first : last + 1] for each in (self.layout.starts, self.tops))
        begin, end = self.parts * starts[[0, -1]]
        layout = self.layout._replace(pairs=self.layout.pairs[first:last], starts=starts - starts[0])
        exponents = self.exponents[tops[0] : tops[-1]] if self.is_packed else self.exponents
        numbers = self.numbers[begin : end + BEYOND]
        memory = Numbers(numbers, exponents)
        return NearStore(layout, self.shape, self.half, self.step, self.work, tops - tops[0], memory)

    @property
    def chunks(self) -> Index:
        """(chunks + 1,) the first block of each chunk: a chunk has all blocks of some row clusters, so that its numbers
        do not depend on which chunks are computed together; there are about 64 at most."""
        pairs, starts = self.layout.pairs, self.layout.starts
        new = np.flatnonzero(np.diff(pairs[:, 0], prepend=-1))
        size = max(1, CHUNK // self.kind.itemsize, int(starts[-1]) // 64)
        first = np.unique(starts[new] // size, return_index=True)[1]
        return np.append(new[first], len(pairs))

    @cached_property
    def _chosen(self) -> NDArray[np.bool_]:
        """(b,) whether entries have been added to a block, or entered."""
        return np.zeros(len(self.layout.pairs), bool)

    def _places(self, blocks: Index, begins: Index) -> tuple[Index, ...]:
        """Arguments of kernels of packed.py: where values of blocks begin, which blocks they are, their sizes."""
        height, span = self.sizes
        return self.parts * begins, blocks, height, self.parts * span, self.parts * self.layout.starts, self.tops

    def in_place(self, blocks: Index, rows: Clusters, columns: Clusters) -> NearBlocks:
        """The chosen blocks, which are zero, where they are stored, as entries of their own type, for loops that add to
        them; rows, columns: their clusters, with the unknowns of a form. Each block can be chosen once."""
        if self._chosen[blocks].any():
            raise ValueError("blocks that have entries cannot be computed in their places")
        self._chosen[blocks] = True
        pairs, starts = self.layout.pairs[blocks], self.layout.starts
        return NearBlocks(rows, columns, pairs, np.append(starts[blocks], starts[-1]), self.numbers.view(self.kind))

    def enter(self, blocks: Index, values: NDArray[Any], begins: Index) -> None:
        """Write the entries of the chosen blocks (k,), which begin at begins (k,) of values, row by row."""
        own, kind = np.ascontiguousarray(values, self.kind), self._places(blocks, begins)
        self._chosen[blocks] = True
        given = own.view(own.real.dtype)
        if self.is_packed:
            pack = pack_kernel(self.step)
            in_parts(lambda a, b: pack(given, *kind, self.numbers, self.exponents, a, b), len(blocks))
        else:
            in_parts(lambda a, b: copy_rows(given, *kind[:2], kind[4], self.numbers, a, b), len(blocks))

    def entries_of(self, blocks: Index) -> NDArray[Any]:
        """The entries of the chosen blocks, one after the other."""
        ends = np.cumsum(np.diff(self.layout.starts)[blocks])
        out, places = np.empty(int(ends[-1]) if len(ends) else 0, self.kind), self._places(blocks, ends)
        begins = places[0] - self.parts * np.diff(self.layout.starts)[blocks]
        values = out.view(out.real.dtype)
        if self.is_packed:
            given = *places[1:], self.numbers, self.exponents, POWERS
            in_parts(lambda a, b: unpack_rows(values, begins, *given, a, b), len(blocks))
        else:
            for n, first in zip(blocks.tolist(), begins.tolist(), strict=True):
                low, high = self.parts * self.layout.starts[n : n + 2]
                values[first : first + high - low] = self.numbers[low:high]
        return out

    def block(self, number: int) -> NDArray[Any]:
        """The entries (rows, columns) of one block, in the order of the places of its clusters."""
        height, span = (int(each[number]) for each in self.sizes)
        return self.entries_of(np.array([number])).reshape(height, span)

    def entries(self, rows: Index, columns: Index) -> NDArray[Any]:
        """(n,) the entries in these rows and columns, zero between unknowns of clusters that have no block; every
        unknown has one place."""
        places = []
        for clusters, chosen in ((self.layout.rows, rows), (self.layout.columns, columns)):
            place = np.empty(len(clusters.order), np.int64)
            place[clusters.order] = np.arange(len(place))
            places.append(place[chosen])
        sides = self.layout.rows, self.layout.columns
        leaves = [np.searchsorted(each.stop, place, side="right") for each, place in zip(sides, places, strict=True)]
        count = len(self.layout.columns.start)
        keys = self.layout.pairs @ np.array([count, 1])
        order = np.argsort(keys, kind="stable")
        wanted = leaves[0] * count + leaves[1]
        block = order[np.minimum(np.searchsorted(keys[order], wanted), len(order) - 1)]
        there = keys[block] == wanted
        span = (self.layout.columns.stop - self.layout.columns.start)[leaves[1]]
        r, c = (place - each.start[leaf] for place, each, leaf in zip(places, sides, leaves, strict=True))
        at = self.parts * np.where(there, self.layout.starts[block] + r * span + c, 0)
        values = self.numbers[at] + 1j * self.numbers[at + 1] if self.parts == 2 else self.numbers[at]
        if self.is_packed:
            group = self.tops[block] + r * groups_of(self.parts * span) + self.parts * c // PER_EXPONENT
            values = values * POWERS[self.exponents[np.where(there, group, 0)].astype(int) + ZERO_POWER]
        return np.where(there, values, 0)

    def product(self, x: NDArray[Any], transposed: bool = False) -> NDArray[Any]:
        """A x or A^T x of columns x (n, m); from eight on, columns of complex blocks are the lanes of a vector."""
        lanes, count = width(self.work) // 2, x.shape[1]
        many = count // lanes * lanes if self.parts == 2 and count >= 8 else 0
        found = [self._with_many(x[:, n : n + lanes], transposed) for n in range(0, many, lanes)]
        if many < count or not count:
            found.append(products([(self, x[:, many:])], transposed)[0])
        return np.concatenate(found, axis=1) if len(found) > 1 else found[0]

    def _sides(self, transposed: bool) -> tuple[tuple[Clusters, int], tuple[Clusters, int]]:
        """Clusters and unknowns of the side of x and of that of the product."""
        rows, columns = (self.layout.rows, self.shape[0]), (self.layout.columns, self.shape[1])
        return (rows, columns) if transposed else (columns, rows)

    def _gathered(self, x: NDArray[Any], clusters: Clusters) -> NDArray[Any]:
        """(v, places) the real vectors of columns x at the places of clusters, of complex ones real and imaginary
        parts."""
        if self.parts == 1:
            return np.ascontiguousarray(x.T[:, clusters.order], self.work)
        own = np.ascontiguousarray(x.T[:, clusters.order])
        return np.stack([own.real, own.imag], axis=1).reshape(-1, own.shape[1]).astype(self.work, copy=False)

    def _summed(self, sums: NDArray[Any], clusters: Clusters, unknowns: int) -> NDArray[Any]:
        """(n, m) columns of the unknowns from real vectors (v, places)."""
        found = np.empty((len(sums), unknowns), self.work)
        if self._has_one_place[clusters is self.layout.columns]:
            found[:, clusters.order] = sums
        else:
            for each, one in zip(sums, found, strict=True):
                one[:] = np.bincount(clusters.order, each, unknowns)
        if self.parts == 1:
            return found.T
        out = np.empty((unknowns, len(found) // 2), self.kind)
        out.real, out.imag = found[::2].T, found[1::2].T
        return out

    @cached_property
    def _has_one_place(self) -> tuple[bool, bool]:
        """Whether every unknown of the rows, and of the columns, has one place."""
        sides = zip((self.layout.rows.order, self.layout.columns.order), self.shape, strict=True)
        rows, columns = (bool((np.bincount(order, minlength=count) == 1).all()) for order, count in sides)
        return rows, columns

    @property
    def _pitch(self) -> int:
        """Real numbers of a row of the widest block, up to two whole vectors."""
        lanes = 2 * width(self.work)
        return max(1, -(-self.parts * int(self.sizes[1].max(initial=0)) // lanes)) * lanes

    def prepared(
        self, x: NDArray[Any], transposed: bool
    ) -> tuple[list[Callable[[], None]], Callable[[], NDArray[Any]]]:
        """Tasks of a product with columns x (n, m), which may run at once, and what gives the product after them.

        Tasks of row clusters write to places of their own. Where real blocks add to columns, too, each task has sums of
        its own, as numbers are read faster in their order; tasks of complex blocks have column clusters then.
        """
        (given, _), (wanted, unknowns) = self._sides(transposed)
        vectors, none = self._gathered(x, given), np.zeros((0, 0), self.work)
        order, bounds = self._tasks(transposed)
        copies = max(1, len(bounds) - 1) if self._adds_up(transposed) else 1
        sums = np.zeros((copies, len(vectors), len(wanted.order)), self.work)
        down, across = self.half or not transposed, self.half or transposed
        pitch, run = self._pitch, product_kernel(down, across, self.parts, self.is_packed)

        def task(n: int) -> None:
            y, room = sums[n % copies], aligned(len(vectors) * pitch * (down + across), self.work)
            to_rows = vectors if across else none, vectors if down else none
            run(self.stored, self._clusters, order, *to_rows, y if down else none, y if across else none, self.half,
                pitch, room, bounds[n], bounds[n + 1])  # fmt: skip

        def result() -> NDArray[Any]:
            return self._summed(sums[0] if copies == 1 else sums.sum(axis=0), wanted, unknowns)

        return [functools.partial(task, n) for n in range(len(bounds) - 1)], result

    def _adds_up(self, transposed: bool) -> bool:
        """Whether each task of a product has sums of its own."""
        return self.half or (transposed and self.parts == 1)

    def _tasks(self, transposed: bool) -> tuple[Index, Index]:
        """Blocks in the order in which a product reads them, and bounds of tasks in it, with about equal work and,
        unless each task has sums of its own, no cluster that is written to in common: then three for each thread."""
        adds_up, threads = self._adds_up(transposed), thread_count()
        order, own, work = self._orders[int(transposed and not adds_up and threads > 1)]
        count = max(1, min(threads if adds_up or threads == 1 else 3 * threads, len(own)))
        bounds = np.searchsorted(work, np.linspace(0, work[-1], count + 1))
        bounds[-1] = len(own)
        if not adds_up and count > 1:
            bounds[1:-1] = np.searchsorted(own, own[np.minimum(bounds[1:-1], len(own) - 1)])
        return order, bounds

    @cached_property
    def _orders(self) -> list[tuple[Index, Index, Index]]:
        """Blocks in the order of row clusters, and of column clusters: their numbers, these clusters, and how many
        entries there are before each."""
        found = []
        for own in self.layout.pairs.T:
            order = np.argsort(own, kind="stable")
            work = np.append(0, np.cumsum(np.diff(self.layout.starts)[order]))
            found.append((order, own[order], work))
        return found

    def _with_many(self, x: NDArray[Any], transposed: bool) -> NDArray[Any]:
        """The product of as many complex columns as a vector has complex numbers."""
        (given, _), (wanted, _) = self._sides(transposed)
        vectors, out = aligned(2 * x.size, self.work), aligned(4 * len(wanted.order) * x.shape[1], self.work)
        vectors[:] = np.ascontiguousarray(x[given.order], self.kind).view(self.work).ravel()
        highest, pitch, (order, bounds) = int(self.sizes[0].max(initial=0)), self._pitch, self._tasks(transposed)
        given_ = self.stored, self._clusters, order, transposed, self.is_packed, vectors, out, pitch
        run_tasks(
            lambda n: multiply_many(*given_, aligned(highest * pitch, self.work), bounds[n], bounds[n + 1]),
            len(bounds) - 1,
        )
        sums = out.view(self.kind).reshape(-1, 2, x.shape[1])
        result = np.empty((len(sums), x.shape[1]), self.kind)
        result[wanted.order] = sums[:, 0] + 1j * sums[:, 1]
        return result


def products(given: Sequence[tuple[NearStore, NDArray[Any]]], transposed: bool) -> list[NDArray[Any]]:
    """A x or A^T x of several stores, each with columns x (n, m) of its own, whose tasks are distributed together."""
    found = [store.prepared(x, transposed) for store, x in given]
    tasks = [each for some, _ in found for each in some]
    run_tasks(lambda n: tasks[n](), len(tasks))
    return [result() for _, result in found]
