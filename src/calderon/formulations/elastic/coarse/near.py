"""Blocks on the diagonal, and sums between columns, from the near blocks of a product."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.backends.numba import jitable_part, kernel
from calderon.fmm.elastic import ElasticProduct
from calderon.formulations.elastic.coarse.columns import REAL, Index, LeafColumns, add_in_panels, shares
from calderon.products.near_kernels import read_block
from calderon.products.near_store import NearStore


class BlockSums:
    """Blocks on the diagonal of left^T A right + local from the near blocks of A.

    groups: the unknowns of each block, no two of which have one in common. owner, place (unknowns,): the group of each
    unknown, and its number there. sides: indptr, indices and data of left and right. terms: the near blocks of each
    term of A. entries: how many entries right has at most in the columns of a block, for each term.
    """

    def __init__(
        self, product: ElasticProduct, left: sp.csr_array, right: sp.csr_array, local: sp.csr_array,
        groups: Sequence[Index],
    ) -> None:  # fmt: skip
        """product: A. left (rows of A, unknowns), right (columns of A, unknowns), local (unknowns, unknowns): as in
        FastBody. groups: the unknowns of each block."""
        self.groups, self.local = groups, local
        self.owner, self.place = np.full(left.shape[1], -1), np.zeros(left.shape[1], np.int64)
        for number, each in enumerate(groups):
            self.owner[each], self.place[each] = number, np.arange(len(each))
        self.sides = [(each.indptr, each.indices, each.data.astype(REAL)) for each in (left, right)]
        self.terms = [_Blocks.of(product, number) for number in range(len(product.terms))]
        self.entries = [each.entries(right) for each in self.terms]

    def of(self, least: int, most: int) -> list[NDArray[Any]]:
        """The blocks (n, n) of the groups least .. most."""
        if least == most:
            return []
        sizes, rows = np.array([len(each) for each in self.groups]), np.concatenate(self.groups[least:most])
        starts = np.zeros(len(sizes) + 1, np.int64)
        starts[least + 1 : most + 1] = np.cumsum(sizes[least:most] ** 2)
        out, given = np.zeros(starts[most], REAL), self.local[rows].tocoo()
        i, j = rows[given.coords[0]], given.coords[1]
        inside = self.owner[i] == self.owner[j]
        i, j = i[inside], j[inside]
        out[starts[self.owner[i]] + self.place[i] * sizes[self.owner[i]] + self.place[j]] = given.data[inside]
        for blocks, entries in zip(self.terms, self.entries, strict=True):
            heads, links = np.full((2, len(sizes)), -1), np.empty((3, entries), np.int64)
            add_diagonals(
                *blocks, *self.sides, (self.owner, self.place, starts, sizes), heads, links, out,
                np.empty(blocks.sizes, REAL), least, most,
            )  # fmt: skip
        return [
            out[low : low + n * n].reshape(n, n) for low, n in zip(starts[least:most], sizes[least:most], strict=True)
        ]


class _Blocks(NamedTuple):
    """The near blocks of one term of a product as kernels read them.

    stored: as of `NearStore`. pairs (blocks, 2): leaves of rows and columns. row_starts, column_starts (leaves + 1,):
    where the rows and columns of each leaf begin. lefts, rights: for each of them the row of the sparse matrices on
    both sides. symmetric: whether a block stands for its transpose, too.
    """

    stored: tuple[NDArray[Any], ...]
    pairs: Index
    row_starts: Index
    column_starts: Index
    lefts: Index
    rights: Index
    symmetric: bool

    @staticmethod
    def of(product: ElasticProduct, number: int) -> "_Blocks":
        """The near blocks of term `number` of a product."""
        term, near = product.terms[number], product.near[number]
        lines = (product.far.rows, term.top), (product.far.columns, term.left)
        left, right = (next(each for each in side if each.first == first) for side, first in lines)
        rows, columns = near.layout.rows, near.layout.columns
        row_starts, column_starts = (np.append(each.start, each.stop[-1:]) for each in (rows, columns))
        return _Blocks(
            stored=near.stored,
            pairs=near.layout.pairs,
            row_starts=row_starts,
            column_starts=column_starts,
            lefts=left.first + rows.order,
            rights=right.first + columns.order,
            symmetric=near.half,
        )

    @property
    def sizes(self) -> tuple[int, int]:
        """The numbers of rows and columns of a block, at most."""
        height, width = (int(np.diff(each).max(initial=0)) for each in (self.row_starts, self.column_starts))
        return height, width

    def entries(self, matrix: sp.csr_array) -> int:
        """The largest number of entries of a matrix on the right in the columns of one block."""
        sizes = np.diff(matrix.indptr)[self.rights]
        return int(np.diff(np.append(0, np.cumsum(sizes))[self.column_starts]).max(initial=0))

    def products(self, left: LeafColumns, right: LeafColumns) -> tuple[int, int]:
        """The size of products of columns with a block, at most."""
        return max(int(np.diff(each.first).max(initial=0)) for each in (left, right)), self.sizes[1]


def near_sums(product: ElasticProduct, left: LeafColumns, right: LeafColumns, sums: NDArray[Any]) -> None:
    """Add left^T A right of neighbouring leaves to a dense matrix (k, k). product: A. left, right: columns on its rows
    and on its columns."""
    for number, near in enumerate(product.near):
        blocks = _Blocks.of(product, number)
        bounds, products = shares(near.layout.starts), blocks.products(left, right)

        def work(task: int, place: Index, panel: NDArray[Any], blocks: _Blocks = blocks, bounds: Index = bounds,
                 products: tuple[int, int] = products) -> None:  # fmt: skip
            """Add the products of one part of the blocks to a panel."""
            count, most = len(sums), products[0]
            given = (
                np.empty(count, np.int64), np.full(count, -1), np.empty(count, np.int64), np.empty(most, REAL),
                np.empty((count, most), REAL), np.empty(products, REAL), np.empty(blocks.sizes, REAL),
            )  # fmt: skip
            add_sums(*blocks, tuple(left), tuple(right), place, panel, *given, bounds[task], bounds[task + 1])

        def rows(task: int, near: NearStore = near, bounds: Index = bounds) -> Index:
            """The columns that are not zero in the rows of these blocks."""
            pairs = near.layout.pairs[bounds[task] : bounds[task + 1]]
            return left.of_leaves(np.unique(pairs if near.half else pairs[:, 0]))

        add_in_panels(sums, work, rows, len(bounds) - 1)


@kernel
def add_diagonals(
    stored, pairs, row_starts, column_starts, lefts, rights, symmetric, left, right, wanted, heads, links, out,
    block, least, most,
):  # fmt: skip
    """Add left^T B right of all near blocks B to those blocks of groups whose rows and columns they have.

    stored, pairs, row_starts, column_starts, lefts, rights, symmetric: as in _Blocks. left, right: indptr, indices
    and data of the matrices on both sides. wanted: owner, place (unknowns,) as in BlockSums, where each block of a
    group begins in out, and its size. heads (2, groups), -1 at first: the last near block with rows of each group,
    and the first link of its list of entries on the right. links (3, entries): the next link, column and entry of
    each. out: the blocks of groups least .. most, row after row. block: space for one near block.
    """
    owner, place, starts, sizes = wanted
    left_starts, left_columns, left_values = left
    right_starts, right_columns, right_values = right
    for n in range(len(pairs)):
        i, j, fetched = pairs[n, 0], pairs[n, 1], False
        # a symmetric block is that of rows i and columns j, and its transpose that of rows j and columns i
        for turn in range(2 if symmetric and i != j else 1):
            one, other, stamp, used = (i, j, 2 * n, 0) if turn == 0 else (j, i, 2 * n + 1, 0)
            top, low, found = row_starts[one], column_starts[other], False
            # the groups that have rows here
            for r in range(top, row_starts[one + 1]):
                for a in range(left_starts[lefts[r]], left_starts[lefts[r] + 1]):
                    mine = owner[left_columns[a]]
                    if least <= mine < most and heads[0, mine] != stamp:
                        heads[0, mine], heads[1, mine], found = stamp, -1, True
            if not found:
                continue
            # a list for each of them: its entries on the right
            for c in range(low, column_starts[other + 1]):
                for b in range(right_starts[rights[c]], right_starts[rights[c] + 1]):
                    mine = owner[right_columns[b]]
                    if mine >= 0 and heads[0, mine] == stamp:
                        links[0, used], links[1, used], links[2, used] = heads[1, mine], c - low, b
                        heads[1, mine] = used
                        used += 1
            if used and not fetched:
                height, width = row_starts[i + 1] - row_starts[i], column_starts[j + 1] - column_starts[j]
                read_block(stored, n, height, width, block)
                fetched = True
            # products of rows with the list of their group
            for r in range(top, row_starts[one + 1]):
                for a in range(left_starts[lefts[r]], left_starts[lefts[r] + 1]):
                    p, mine = left_columns[a], owner[left_columns[a]]
                    if mine < least or mine >= most:
                        continue
                    row, k = starts[mine] + place[p] * sizes[mine], heads[1, mine]
                    while k >= 0:
                        c, b = links[1, k], links[2, k]
                        entry = block[r - top, c] if turn == 0 else block[c, r - top]
                        out[row + place[right_columns[b]]] += left_values[a] * entry * right_values[b]
                        k = links[0, k]


@jitable_part
def combine(matrix, rows, block, height, width, place, products):
    """Write matrix[rows]^T block to products, for the columns of a matrix on one leaf; return how many these are.

    matrix: the fields of LeafColumns and the number of the leaf. rows: of the matrix, for each row of the block. block
    (height, width). place (k,): becomes the number of each column among those of the leaf. products (columns, width).
    """
    starts, columns, values, first, numbers, leaf = matrix
    count = first[leaf + 1] - first[leaf]
    for t in range(count):
        place[numbers[first[leaf] + t]] = t
        products[t, :width] = 0
    # each entry of the matrix adds a row of the block
    for r in range(height):
        for a in range(starts[rows[r]], starts[rows[r] + 1]):
            t, f = place[columns[a]], values[a]
            for c in range(width):
                products[t, c] += f * block[r, c]
    return count


@kernel
def add_sums(
    stored, pairs, row_starts, column_starts, lefts, rights, symmetric, left, right, row, panel, place, seen,
    numbers, column, sums, products, block, low, high,
):  # fmt: skip
    """Add left^T B right of the near blocks low .. high to a panel.

    stored, pairs, row_starts, column_starts, lefts, rights, symmetric: as in _Blocks. left, right: the fields of
    LeafColumns on both sides. panel: rows of the matrix, row r is panel[row[r]]. place, seen, numbers (k,): space
    for numbers of columns; seen is -1. column, sums, products: space for left^T of a column of B, for the sums of
    columns in the order of `numbers`, and for left^T B or right^T B^T. block: space for one near block.
    """
    left_starts, left_columns, left_values, left_first, left_numbers = left
    right_starts, right_columns, right_values, right_first, right_numbers = right
    for n in range(low, high):
        i, j, found = pairs[n, 0], pairs[n, 1], 0
        top, begin = row_starts[i], column_starts[j]
        height, width = row_starts[i + 1] - top, column_starts[j + 1] - begin
        read_block(stored, n, height, width, block)
        # left^T B, whose columns are then combined to those of the right side
        count = combine((*left, i), lefts[top:], block, height, width, place, products)
        for c in range(width):
            for t in range(count):
                column[t] = products[t, c]
            for b in range(right_starts[rights[begin + c]], right_starts[rights[begin + c] + 1]):
                m, f = seen[right_columns[b]], right_values[b]
                if m < 0:
                    m, numbers[found], seen[right_columns[b]] = found, right_columns[b], found
                    sums[m, :count] = 0
                    found += 1
                for t in range(count):
                    sums[m, t] += f * column[t]
        # into the panel
        for m in range(found):
            seen[numbers[m]] = -1
            for t in range(count):
                panel[row[left_numbers[left_first[i] + t]], numbers[m]] += sums[m, t]
        if not symmetric or i == j:
            continue
        # the transpose: right^T B, whose columns are combined to those of the left side
        count = combine((*right, i), rights[top:], block, height, width, place, products)
        for c in range(width):
            for a in range(left_starts[lefts[begin + c]], left_starts[lefts[begin + c] + 1]):
                at, f = row[left_columns[a]], left_values[a]
                for t in range(count):
                    panel[at, right_numbers[right_first[i] + t]] += f * products[t, c]
