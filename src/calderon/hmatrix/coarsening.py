"""Fewer, larger blocks of low rank: leaves that are parts of one block made one where that saves memory.

Which blocks have a low rank is decided by geometry, before anything is known of the matrix. Afterwards many a block
turns out to have a lower rank than its parts together: two clusters that touch in a corner, or sisters that are just
too near. From the leaves up each block of the tree is put together from its parts, if all of them are of low rank or
small, and approximated anew (L. Grasedyck, Computing 74 (2005) 205, coarsens in this way). The residual of the crosses
is available as a small matrix, so that its norm, not an estimate, ends the approximation.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.backends.numba import first_at_least, jitable_part, kernel
from calderon.backends.vectors import number, put
from calderon.galerkin.rows.entry_kernels import CompiledRows
from calderon.hmatrix.products import BLOCK, COLUMN, HEIGHT, OFFSET, RANK, ROW, WIDTH
from calderon.hmatrix.recompression import best_skeleton
from calderon.hmatrix.storage import Arena
from calderon.hmatrix.tree.block_tree import LOW_RANK, SPLIT, BlockTree
from calderon.hmatrix.vector_ops import add_multiple_at, magnitude2, square_at, subtract_cross

LARGEST = 144
"""Rows or columns of a block that may be put together from parts; 320 saves 1 % of the memory for 30 % more time."""
LARGEST_RANK = LARGEST // 2
CROSSES, TRUNCATION2 = 0.25, 0.72
"""Parts of the squared tolerance for crosses and for making them fewer."""
EARLIEST = 3
"""Crosses after which an approximation is given up that is too slow."""
FIRST_CHILD, CHILDREN = 4, 5
"""Columns of the table of nodes after ROW, HEIGHT, COLUMN, WIDTH."""


def nodes_of(tree: BlockTree) -> NDArray[np.int64]:
    """(blocks, 6): first row, rows, first column, columns, first child, children of every block."""
    rows, columns = tree.rows, tree.columns
    return np.stack(
        [
            rows.start[tree.row], rows.size[tree.row], columns.start[tree.column], columns.size[tree.column],
            tree.first_child, tree.child_count,
        ],
        axis=1,
    )  # fmt: skip


def leaves_below(tree: BlockTree, leaves: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The largest blocks with at most LARGEST rows and columns, and the larger leaves, which cover the matrix together;
    and which of them each leaf is or belongs to."""
    m, n = tree.sizes(np.arange(len(tree.row)))
    small = np.maximum(m, n) <= LARGEST
    up = np.where(small & small[tree.parent], tree.parent, np.arange(len(small)))
    while (up[up] != up).any():
        up = up[up]
    roots, which = np.unique(up[leaves], return_inverse=True)
    return roots, which


def coarsened(tree: BlockTree, tables: list[NDArray[np.int64]]) -> tuple[BlockTree, NDArray[np.int64]]:
    """The tree whose leaves are the blocks of the tables, and the new number of every block, -1 for those gone."""
    kind, count, parent = tree.kind.copy(), tree.child_count.copy(), tree.parent
    for table in tables:
        blocks = table[:, BLOCK]
        count[blocks[kind[blocks] == SPLIT]] = 0
        low = blocks[table[:, RANK] >= 0]
        kind[low] = LOW_RANK
    gone = (tree.child_count[parent] > 0) & (count[parent] == 0)
    gone[0] = False
    while (more := gone[parent] & ~gone).any():
        gone |= more
    alive = ~gone
    number = np.where(alive, np.cumsum(alive) - 1, -1)
    first = np.where(count[alive] > 0, number[tree.first_child[alive]], -1)
    left = replace(
        tree, row=tree.row[alive], column=tree.column[alive], kind=kind[alive], first_child=first,
        child_count=count[alive],
    )  # fmt: skip
    return left, number


@jitable_part
def expand(numbers, place, rank, m, n, residual, width, first_row, first_column):
    """Write a stored block into residual (row by row, `width` numbers each) from first_row and first_column on.

    numbers: of all blocks, those of this one (m x n) from `place` on, `rank` crosses or, for a negative rank, row by
    row.
    """
    for i in range(m):
        start = (first_row + i) * width + first_column
        if rank < 0:
            for j in range(n):
                put(residual, start + j, number(numbers, place + i * n + j))
            continue
        residual[start : start + n] = 0
        for l in range(rank):
            at = place + l * (m + n)
            add_multiple_at(residual, start, number(numbers, at + i), numbers, at + m, n)


@jitable_part
def skeleton_of(residual, m, n, tolerance2, most, part, lengths):
    """Fill `part` with crosses until the residual is below the tolerance; return their number, or -1 when `most` are
    not enough.

    residual (m, n), flat: the block, replaced; tolerance2: squared error in the Frobenius norm; lengths (m,): room for
    the squares of its rows.
    """
    total = lengths[0] * 0
    for i in range(m):
        lengths[i] = square_at(residual, i * n, n)
        total += lengths[i]
    rank, whole, wanted = 0, total, 0.0
    if total > tolerance2 > 0:
        wanted = np.log(whole / tolerance2)
    while total > tolerance2:
        # the logarithm of the residual falls ever more slowly: what this pace would not reach is out of reach
        if rank == most or (rank >= EARLIEST and most * np.log(whole / total) < rank * wanted):
            return -1
        # the row with the largest norm, and its largest entry as pivot
        pivot_row = 0
        for i in range(1, m):
            if lengths[i] > lengths[pivot_row]:
                pivot_row = i
        at, best, column = rank * (m + n), lengths[0] * 0, 0
        for j in range(n):
            value = number(residual, pivot_row * n + j)
            put(part, at + m + j, value)
            size = magnitude2(value)
            if size > best:
                best, column = size, j
        if not best > 0:
            return rank
        # the column through the pivot, and the residual without this cross
        inverse = 1 / number(part, at + m + column)
        for i in range(m):
            put(part, at + i, number(residual, i * n + column) * inverse)
        total = subtract_cross(residual, m, n, part, at, lengths)
        rank += 1
    return rank


@jitable_part
def subtree(nodes, root, block, first):
    """Fill `block` with the numbers of the blocks below a root, itself the first, and `first` with the place there
    of the first child of each; return how many there are. nodes: see `nodes_of`."""
    block[0], count = root, 1
    t = 0
    while t < count:
        first[t] = count
        for child in range(nodes[block[t], CHILDREN]):
            block[count] = nodes[block[t], FIRST_CHILD] + child
            count += 1
        t += 1
    return count


@jitable_part
def put_together(numbers, merged, nodes, t, block, first, new, rank, place, residual):
    """Write block t of a subtree into residual, row by row: itself if it is a leaf, else from its children.

    numbers, merged: of stored and of new blocks, of which new[t] tells one from the other; nodes: see `nodes_of`;
    block,
    first: see `subtree`; rank, place: of each block of the subtree, see `expand`.
    """
    b = block[t]
    width, children = nodes[b, WIDTH], nodes[b, CHILDREN]
    if children == 0:
        expand(numbers, place[t], rank[t], nodes[b, HEIGHT], width, residual, width, 0, 0)
    for child in range(first[t], first[t] + children):
        q = block[child]
        source = merged if new[child] else numbers
        expand(
            source, place[child], rank[child], nodes[q, HEIGHT], nodes[q, WIDTH], residual, width,
            nodes[q, ROW] - nodes[b, ROW], nodes[q, COLUMN] - nodes[b, COLUMN],
        )  # fmt: skip


@jitable_part
def write_remaining(
    numbers, merged, nodes, block, first, new, rank, place, cost, stack, entered, written, out_table, out
):
    """Write the blocks of a subtree that remain, from the root down; how many blocks and numbers are written then.

    numbers, merged, nodes, block, first, new, rank, place: see `put_together`; cost: numbers of each block; stack: room
    for blocks; entered, written: blocks and numbers written before to out_table and out, see `coarsen`.
    """
    stack[0], top = 0, 1
    while top > 0:
        top -= 1
        t = stack[top]
        b = block[t]
        # the children of a block that is not itself one of those that remain
        if nodes[b, CHILDREN] > 0 and not new[t]:
            for child in range(first[t], first[t] + nodes[b, CHILDREN]):
                stack[top] = child
                top += 1
            continue
        # the numbers of the block, and its line of the table
        source = merged if new[t] else numbers
        for l in range(cost[t]):
            out[written + l] = source[place[t] + l]
        line = out_table[entered]
        line[ROW], line[HEIGHT], line[COLUMN], line[WIDTH] = nodes[b, 0], nodes[b, 1], nodes[b, 2], nodes[b, 3]
        line[RANK], line[OFFSET], line[BLOCK] = rank[t], written, b
        written += cost[t]
        entered += 1
    return entered, written


@kernel
def coarsen(numbers, table, roots, nodes, tolerances, room, merged, lengths, tables, scale, order, out_table, out):
    """Put blocks together whose leaves have been computed.

    numbers and table (sorted by BLOCK): the leaves below the roots. nodes (blocks, 6): see `nodes_of`. tolerances
    (blocks,): error that a new approximation of a block may have in the Frobenius norm; 0 leaves it alone. room:
    LARGEST^2 numbers for a residual, then as many for crosses and as many for their better ones; merged: numbers of the
    new blocks of one root, 2 LARGEST^2; lengths (LARGEST,) real. tables, scale, order: see `best_skeleton`. Returns how
    many blocks and numbers are in out_table and out, which have room for all leaves.
    """
    area = LARGEST * LARGEST
    residual, part, better = room[:area], room[area : 2 * area], room[2 * area :]
    most = 2 * len(table) + 1  # blocks of a subtree: every one that is cut has two parts at least
    block, first, rank, place, cost, stack = np.zeros((6, most), np.int64)
    new, whole = np.zeros((2, most), np.bool_)
    written, entered = 0, 0
    for root in roots:
        count, used = subtree(nodes, root, block, first), 0
        # children before their parents
        for t in range(count - 1, -1, -1):
            b = block[t]
            m, n, children = nodes[b, HEIGHT], nodes[b, WIDTH], nodes[b, CHILDREN]
            new[t], whole[t], cost[t] = False, True, 0
            # cost of the block as it is, and whether all below it has been put together (whole)
            if children == 0:
                at = first_at_least(table[:, BLOCK], 0, table.shape[0], b)
                rank[t], place[t] = table[at, RANK], table[at, OFFSET]
                cost[t] = m * n if rank[t] < 0 else rank[t] * (m + n)
            else:
                for child in range(first[t], first[t] + children):
                    cost[t] += cost[child]
                    whole[t] &= whole[child]
            # blocks that stay: without tolerance, too large, with parts that stayed, of low rank, or beyond the room
            if tolerances[b] <= 0 or max(m, n) > LARGEST:
                whole[t] = False
                continue
            if not whole[t] or (children == 0 and rank[t] >= 0) or used + cost[t] > merged.size:
                whole[t] = whole[t] and children == 0
                continue
            # a new approximation, kept if it costs less
            put_together(numbers, merged, nodes, t, block, first, new, rank, place, residual)
            most = min(min(5 * cost[t] // (4 * (m + n)), part.size // (m + n)), LARGEST_RANK)
            found = skeleton_of(residual, m, n, CROSSES * tolerances[b] ** 2, most, part, lengths)
            if found > 0:
                error2 = TRUNCATION2 * tolerances[b] ** 2
                found = best_skeleton(part, m, n, found, 0.0, error2, tables, scale, order, better)
            if found < 0 or found * (m + n) >= cost[t]:
                whole[t] = children == 0
                continue
            for l in range(found * (m + n)):
                merged[used + l] = better[l]
            rank[t], place[t], new[t], cost[t] = found, used, True, found * (m + n)
            whole[t] = True
            used += cost[t]
        entered, written = write_remaining(
            numbers, merged, nodes, block, first, new, rank, place, cost, stack, entered, written, out_table, out
        )
    return entered, written


class Coarsening:
    """State shared by the threads that put blocks together."""

    def __init__(self, rows: CompiledRows, tree: BlockTree, errors: NDArray[np.float64]) -> None:
        self.rows, self.tree, self.errors = rows, tree, errors
        self.nodes = nodes_of(tree)
        leaves = tree.leaves
        self.roots, which = leaves_below(tree, leaves)
        order = np.argsort(which, kind="stable")
        self.leaves = leaves[order]
        self.ends = np.append(0, np.cumsum(np.bincount(which, minlength=len(self.roots))))
        self.drafts: dict[int, tuple[Arena, tuple[NDArray[Any], ...]]] = {}

    def leaves_of(self, roots: NDArray[np.int64]) -> NDArray[np.int64]:
        """The leaves below some roots."""
        places = np.searchsorted(self.roots, roots)
        return np.concatenate([self.leaves[self.ends[each] : self.ends[each + 1]] for each in places])

    def draft(self, arena: Arena) -> Arena:
        """The place of a thread for blocks that are to be put together; empty."""
        if id(arena) not in self.drafts:
            dtype, area = self.rows.dtype, LARGEST * LARGEST
            draft = Arena(dtype, self.rows.real, self.tree, self.rows.scratch)
            lengths = np.zeros(LARGEST, np.zeros(0, dtype).real.dtype)
            self.drafts[id(arena)] = draft, (np.empty(3 * area, dtype), np.empty(2 * area, dtype), lengths)
        draft = self.drafts[id(arena)][0]
        draft.clear()
        return draft

    def move(self, draft: Arena, roots: NDArray[np.int64], arena: Arena) -> None:
        """Keep the blocks below the roots in the arena, fewer where that saves memory."""
        numbers, table = draft.contents()
        table = table[np.argsort(table[:, BLOCK])]
        room = self.drafts[id(arena)][1]
        out, start = arena.room(len(numbers))
        entered = np.empty_like(table)
        count, used = coarsen(
            numbers, table, roots, self.nodes, self.errors, *room, *arena.small_tables(LARGEST_RANK), entered,
            out[start:],
        )  # fmt: skip
        entered = entered[:count]
        entered[:, OFFSET] += start
        arena.keep(entered, used)
