"""Compression of a matrix known by its rows, columns and blocks: every block of a block tree, on all threads.

Blocks come in pieces of similar cost, the largest first. Each thread has its own memory for a piece. What is ready is
stored in the order of the pieces, not of the threads, so that products are summed in one order.
"""

import time
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.backends import InOrder, counted, require_memory, run_tasks, thread_count
from calderon.galerkin.rows.entry_kernels import CompiledRows
from calderon.hmatrix.aca import FULL, approximate
from calderon.hmatrix.coarsening import Coarsening, coarsened, leaves_below
from calderon.hmatrix.device.products import DeviceProducts
from calderon.hmatrix.device.store import DeviceStore
from calderon.hmatrix.hmatrix import HMatrix
from calderon.hmatrix.products import BLOCK, entries_inside, fill, sorted_parts
from calderon.hmatrix.recompression import recompress
from calderon.hmatrix.storage import ADVICE, Arena, Slab, Store, shares_of, table_of
from calderon.hmatrix.tree.block_tree import DENSE, LOW_RANK, SPLIT, BlockTree
from calderon.hmatrix.tree.places import places_of

Advance = Callable[[int, int], None]
Points = tuple[NDArray[np.float64], NDArray[np.float64]]
LEAST_WORK, MOST_WORK = 1e5, 4e6
"""Cost of a piece, in entries computed."""
APPROXIMATION, TRUNCATION = 0.55, 0.83
"""Parts of rtol for crosses and for making them fewer; their squares add up to less than one."""


def expected_bytes(tree: BlockTree, rtol: float, dtype: np.dtype[Any]) -> int:
    """Memory of an H-matrix by a block tree: dense blocks, and four crosses a digit, or all entries if fewer."""
    leaves = tree.leaves
    m, n = tree.sizes(leaves)
    rank = 4.0 * max(1.0, -np.log10(rtol))
    numbers = np.where(tree.kind[leaves] == DENSE, m * n, np.minimum(m * n, rank * (m + n)))
    return int(numbers.sum() * dtype.itemsize)


def hmatrix(
    rows: CompiledRows,
    tree: BlockTree,
    rtol: float,
    label: str = "",
    advance: Advance | None = None,
    errors: NDArray[np.float64] | None = None,
    points: Points | None = None,
) -> HMatrix:
    """The H-matrix of a matrix given by its rows, columns and blocks, each with a relative error below rtol in the
    Frobenius norm.

    errors (blocks of the tree,): the error that each block may have if that is larger; blocks are then put together
    where it saves memory and costs no more than that error again (see coarsening.py), but for those where it is 0.
    points: places (n, 3) of the unknowns of rows and of columns, such as the middles of their supports, by which rows
    are chosen that judge a block (see aca.py).
    advance(done, total) is called after each piece of work. Raises MemoryError before or between pieces when memory
    runs out; an interrupt leaves nothing behind.
    """
    work = Compression(rows, tree, rtol, errors, errors is not None, points)
    pieces = pieces_of(tree, errors is not None)
    ready = InOrder(work.keep)

    def run(number: int) -> None:
        ready.add(number, work.run(*pieces[number]))

    run_tasks(run, len(pieces), advance=counted(advance, len(pieces)))
    return work.result(label)


def pieces_of(tree: BlockTree, together: bool = False) -> list[tuple[int, NDArray[np.int64]]]:
    """Kinds and blocks: neighbours of one kind and about one cost together, the costliest first.

    together: small blocks are in pieces of the kind SPLIT, named by the roots of the subtrees that hold them.
    """
    # leaves by kind, or subtrees of small blocks in their place
    leaves = tree.leaves
    dense, cost = tree.kind[leaves] == DENSE, cost_of(tree, leaves)
    # about 32 pieces for each thread
    target = float(np.clip(cost.sum() / (32 * thread_count()), LEAST_WORK, MOST_WORK))
    groups = [(LOW_RANK, ~dense), (DENSE, dense)]
    if together:
        roots, which = leaves_below(tree, leaves)
        large = tree.kind[roots] == LOW_RANK
        cost = np.asarray(np.bincount(which, cost, len(roots)), np.float64)
        leaves, groups = roots, [(LOW_RANK, large), (SPLIT, ~large)]
    found: list[tuple[float, int, NDArray[np.int64]]] = []
    for kind, chosen in groups:
        costs, blocks = cost[chosen], leaves[chosen]
        if kind == LOW_RANK:  # large blocks apart, so that pieces of small ones stay even
            order = np.argsort(costs < target, kind="stable")
            costs, blocks = costs[order], blocks[order]
        # runs of about the target cost
        number = np.floor((np.cumsum(costs) - costs / 2) / target)
        ends = np.flatnonzero(np.diff(number, prepend=-1, append=-1) != 0) if len(blocks) else [0]
        found += [(costs[a:b].sum(), kind, blocks[a:b]) for a, b in zip(ends[:-1], ends[1:], strict=True)]
    found.sort(key=lambda each: -each[0])
    return [(kind, blocks) for _, kind, blocks in found]


def cost_of(tree: BlockTree, leaves: NDArray[np.int64]) -> NDArray[np.float64]:
    """Entries that are computed for each of some leaves, about: of low rank, twelve rows and columns."""
    m, n = (each.astype(float) for each in tree.sizes(leaves))
    return np.asarray(np.where(tree.kind[leaves] == DENSE, m * n, 12 * (m + n)), np.float64)


class Matrix(NamedTuple):
    """A matrix that is compressed: the type of its entries, about the largest one of functions that touch, and what
    makes its rows on the processor."""

    dtype: np.dtype[Any]
    largest: float
    rows: Callable[[], CompiledRows]

    @classmethod
    def of(cls, rows: CompiledRows) -> "Matrix":
        """The matrix of these rows."""
        return cls(rows.dtype, float(np.abs(rows.special.data).max(initial=0.0)), lambda: rows)


class Blocks:
    """The blocks of a matrix, with the errors that they may have, and what was found of them wherever they were
    compressed.

    limits: errors at which an approximation ends (see aca.py); points: places of the unknowns (see places.py).
    approximated: tables of blocks of low rank, in which touching and near pairs are corrected; full: how many should
    have had a low one.
    """

    def __init__(
        self,
        matrix: Matrix,
        tree: BlockTree,
        rtol: float,
        errors: NDArray[np.float64] | None = None,
        points: Points | None = None,
    ) -> None:
        self.started = time.perf_counter()
        self.matrix, self.tree, self.rtol, self.dtype = matrix, tree, rtol, matrix.dtype
        self.errors = np.zeros(len(tree.row)) if errors is None else errors
        real = np.zeros(0, matrix.dtype).real.dtype
        # errors at which an approximation ends: relative ones, and those of rounding, whose root mean square between
        # clusters side by side is 0.15 rounding units of the largest entry (measured, double and hypersingular layers)
        self.limits = np.array([APPROXIMATION * rtol, 0.15 * matrix.largest * np.finfo(real).eps]).astype(real)
        self.truncation = TRUNCATION * rtol
        self.points = places_of(tree, points, real)
        self.approximated: list[NDArray[np.int64]] = []
        self.full = 0

    def note_full(self, blocks: NDArray[np.int64]) -> None:
        """Count blocks that should have had a low rank and have none; those that could hardly have one do not count,
        with less than 16 rows or columns: the last leaf of a tree may be as thin as one."""
        self.full += int((np.minimum(*self.tree.sizes(blocks)) >= 16).sum())

    def kept(self) -> tuple[BlockTree, list[Slab]]:
        """The block tree and the slabs of the processor; none can be added afterwards."""
        return self.tree, []

    def result(self, label: str, backend: str = "numba", stores: Sequence[DeviceStore] = ()) -> HMatrix:
        """The matrix of all blocks on the processor and in the stores of devices, which hold it then, if there are
        any."""
        tree, slabs = self.kept()
        if stores and slabs:
            for store, share in zip(stores, shares_of(slabs, len(stores)), strict=False):
                store.add(share)
        return HMatrix(
            tree, None if stores else slabs, self.dtype, self.rtol, correction=self.correction(), full=self.full,
            label=label, seconds=time.perf_counter() - self.started, backend=backend,
            on_device=DeviceProducts(stores, tree) if stores else None,
        )  # fmt: skip

    def correction(self) -> sp.csr_array | None:
        """Special pairs in blocks that were made of rows and columns: special - overlap there, in cluster order."""
        table = np.concatenate([np.zeros((0, 7), np.int64), *self.approximated])
        if not len(table):
            return None
        rows = self.matrix.rows()
        special = rows.special
        if not special.nnz or not entries_inside(*sorted_parts(special)[:2], table, np.zeros(0, np.int64)):
            return None
        indptr, indices, values = sorted_parts(special - rows.overlap())
        count = entries_inside(indptr, indices, table, np.zeros(0, np.int64))
        numbers = np.zeros(count, np.int64)
        entries_inside(indptr, indices, table, numbers)
        row = np.searchsorted(indptr, numbers, side="right") - 1
        column, value = indices[numbers], values[numbers]
        if rows.symmetric:
            row, column, value = np.append(row, column), np.append(column, row), np.append(value, value)
        return sp.coo_array((value, (row, column)), shape=special.shape).tocsr()


class Compression(Blocks):
    """The blocks that the processor compresses, and state shared by its pieces of work. together: blocks are put
    together where that costs no more than their errors. MemoryError where there is no room for the matrix."""

    def __init__(
        self,
        rows: CompiledRows,
        tree: BlockTree,
        rtol: float,
        errors: NDArray[np.float64] | None = None,
        together: bool = False,
        points: Points | None = None,
    ) -> None:
        require_memory(expected_bytes(tree, rtol, rows.dtype), f"H-matrix of {tree.shape[0]} x {tree.shape[1]}", ADVICE)
        super().__init__(Matrix.of(rows), tree, rtol, errors, points)
        self.rows = rows
        self.coarsening = Coarsening(rows, tree, self.errors) if together else None
        self.functions = rows.functions()
        self.places = tree.rows.start, tree.rows.stop, tree.columns.start, tree.columns.stop
        # numbers of finished blocks, and working memory that threads share
        self.store = Store(rows.dtype)
        self.free: list[Arena] = []
        self.special = sorted_parts(rows.special)

    def run(self, kind: int, blocks: NDArray[np.int64]) -> Arena:
        """One piece of work: its blocks, for `keep`."""
        try:
            arena = self.free.pop()
        except IndexError:
            arena = Arena(self.rows.dtype, self.rows.real, self.tree, self.rows.scratch)
        if kind == DENSE:
            self._dense(arena, blocks)
        elif kind == LOW_RANK:
            self._low_rank(arena, blocks)
        elif self.coarsening is not None:
            leaves = self.coarsening.leaves_of(blocks)
            draft = self.coarsening.draft(arena)
            self._dense(draft, leaves[self.tree.kind[leaves] == DENSE])
            self._low_rank(draft, leaves[self.tree.kind[leaves] == LOW_RANK])
            self.coarsening.move(draft, blocks, arena)
        return arena

    def keep(self, arena: Arena) -> None:
        """Keep the blocks of a piece of work, whose memory serves the next one."""
        self.store.add(arena.contents())
        arena.clear()
        self.free.append(arena)

    def _dense(self, arena: Arena, blocks: NDArray[np.int64]) -> None:
        """Compute all entries of blocks and keep them in the arena."""
        m, n = self.tree.sizes(blocks)
        count = int((m * n).sum())
        numbers, start = arena.room(count)
        table = table_of(self.tree, blocks, np.full(len(blocks), -1), start)
        fill(self.functions.board, self.tree.pairs(blocks), table, *self.special, arena.scratch, numbers)
        arena.keep(table, count)

    def _low_rank(self, arena: Arena, blocks: NDArray[np.int64]) -> None:
        """Approximate blocks by crosses, as many as the work memory holds at a time, recompress and keep them in the
        arena; blocks that have no low rank are kept dense."""
        pairs, errors = self.tree.pairs(blocks), APPROXIMATION * self.errors[blocks]
        ranks = np.zeros(len(blocks), np.int64)
        first = 0
        while first < len(blocks):
            done = approximate(
                self.functions.board, self.places, self.points, pairs, first, self.limits, errors, arena.work, ranks,
                arena.flags, arena.known, arena.scratch,
            )  # fmt: skip
            if done == first:
                arena.enlarge_work()
                continue
            self.keep_recompressed(arena, arena.work, blocks[first:done], ranks[first:done])
            first = done
        self.keep_full(arena, blocks[ranks == FULL])

    def keep_full(self, arena: Arena, blocks: NDArray[np.int64]) -> None:
        """Keep admissible blocks that have no low rank as dense ones."""
        if len(blocks):
            self.note_full(blocks)
            self._dense(arena, blocks)

    def keep_recompressed(
        self, arena: Arena, work: NDArray[Any], blocks: NDArray[np.int64], ranks: NDArray[np.int64]
    ) -> None:
        """Keep blocks whose crosses, so many each, are in `work` one after the other; as many as the tolerance asks."""
        m, n = self.tree.sizes(blocks)
        found = ranks.copy()
        numbers, start = arena.room(int((np.maximum(found, 0) * (m + n)).sum()))
        tables = arena.small_tables(int(found.max(initial=1)))
        errors = TRUNCATION * self.errors[blocks]
        used = recompress(work, m, n, found, self.truncation, errors, *tables, numbers[start:])
        kept = found >= 0
        table = table_of(self.tree, blocks[kept], found[kept], start)
        self.approximated.append(table)
        arena.keep(table, used)

    def kept(self) -> tuple[BlockTree, list[Slab]]:
        """The block tree, without blocks that were put together, and the slabs."""
        slabs, tree = self.store.slabs(), self.tree
        if self.coarsening is not None:
            tree, number = coarsened(tree, [slab.table for slab in slabs])
            for slab in slabs:
                slab.table[:, BLOCK] = number[slab.table[:, BLOCK]]
        return tree, slabs
