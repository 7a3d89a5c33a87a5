"""Sums between columns from the near blocks of a product: between all columns, or between those of one group."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.backends.numba import kernel
from calderon.fmm.product import MultipoleProduct
from calderon.formulations.elastic.coarse.columns import REAL, Index, LeafColumns
from calderon.products.near_kernels import read_block


class Places(NamedTuple):
    """The places of wanted sums in an array, for k columns: that of p on the left and q on the right is begin[p] +
    place[q], where both have one group.

    group, begin, place (k,): begin is -1 for columns on the left that are not wanted.
    """

    group: Index
    begin: Index
    place: Index


class Blocks(NamedTuple):
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
    def of(product: MultipoleProduct) -> "list[Blocks]":
        """The near blocks of all terms of a product."""
        found = []
        for term, near in zip(product.terms, product.near, strict=True):
            rows, columns = near.layout.rows, near.layout.columns
            row_starts, column_starts = (np.append(each.start, each.stop[-1:]) for each in (rows, columns))
            found.append(
                Blocks(
                    stored=near.stored,
                    pairs=near.layout.pairs,
                    row_starts=row_starts,
                    column_starts=column_starts,
                    lefts=term.top + rows.order,
                    rights=term.left + columns.order,
                    symmetric=near.half,
                )
            )
        return found


def near_sums(
    terms: Sequence[Blocks], left: LeafColumns, right: LeafColumns, places: Places, out: NDArray[np.float32]
) -> None:
    """Add the wanted sums left^T A right of the near blocks of A to out. terms: the blocks of each term of A. left,
    right: k columns on its rows and on its columns."""
    count, groups = len(places.group), 1 + int(places.group.max(initial=0))
    most, widest = (int(np.diff(each.first).max(initial=0)) for each in (left, right))
    for each in terms:
        size = max(int(np.diff(starts).max(initial=0)) for starts in (each.row_starts, each.column_starts))
        add_sums(
            each, left, right, places, out,
            mark=np.full(groups, -1), seat=np.full(count, -1), seen=np.full(count, -1), chosen=np.empty(most, np.int64),
            found=np.empty(widest, np.int64), products=np.empty((most, size), REAL), column=np.empty(most, REAL),
            sums=np.empty((widest, most), REAL), block=np.empty((size, size), REAL),
            turned=np.empty((size, size), REAL),
        )  # fmt: skip


@kernel
def add_sums(
    blocks, left, right, places, out, mark, seat, seen, chosen, found, products, column, sums, block, turned,
):  # fmt: skip
    """Add left^T B right of near blocks B to the wanted places of out, in the order of blocks.

    blocks: a `Blocks`. left, right: `LeafColumns` on its rows and columns. places: a `Places` of out. mark (groups,),
    seat, seen (k,): -1; the last near block that a group has wanted columns in, the numbers of columns on the left
    among those that are wanted in a block, and of columns on the right among those that were met. chosen, found: these
    columns. products, column, sums: space for left^T B, for one column of it, and for the sums. block, turned: space
    for a near block and its transpose.
    """
    for n in range(len(blocks.pairs)):
        i, j, fetched = blocks.pairs[n, 0], blocks.pairs[n, 1], False
        height = blocks.row_starts[i + 1] - blocks.row_starts[i]
        width = blocks.column_starts[j + 1] - blocks.column_starts[j]
        # a symmetric block is that of rows i and columns j, and its transpose that of rows j and columns i
        for turn in range(2 if blocks.symmetric and i != j else 1):
            one, other, stamp = (i, j, 2 * n) if turn == 0 else (j, i, 2 * n + 1)
            # the wanted columns on the left, and their groups
            count, there = 0, False
            for a in range(left.first[one], left.first[one + 1]):
                p = left.numbers[a]
                if places.begin[p] >= 0:
                    seat[p], chosen[count], mark[places.group[p]] = count, p, stamp
                    count += 1
            # whether a column on the right is of one of these groups
            if count:
                for a in range(right.first[other], right.first[other + 1]):
                    there = there or mark[places.group[right.numbers[a]]] == stamp
            if not there:
                continue
            if not fetched:
                read_block(blocks.stored, n, height, width, block)
                fetched = True
            rows, columns, entries = height, width, block
            if turn == 1:
                rows, columns, entries = width, height, turned
                for r in range(height):
                    for c in range(width):
                        turned[c, r] = block[r, c]
            # left^T B: each entry on the left adds a row of the block
            top, low, used = blocks.row_starts[one], blocks.column_starts[other], 0
            products[:count, :columns] = 0
            for r in range(rows):
                row = blocks.lefts[top + r]
                for a in range(left.indptr[row], left.indptr[row + 1]):
                    t, f = seat[left.indices[a]], left.data[a]
                    if t >= 0:
                        for c in range(columns):
                            products[t, c] += f * entries[r, c]
            # times the columns on the right, each of which is combined from columns of left^T B
            for c in range(columns):
                for t in range(count):
                    column[t] = products[t, c]
                row = blocks.rights[low + c]
                for b in range(right.indptr[row], right.indptr[row + 1]):
                    q, f = right.indices[b], right.data[b]
                    if mark[places.group[q]] != stamp:
                        continue
                    m = seen[q]
                    if m < 0:
                        m, found[used], seen[q] = used, q, used
                        sums[m, :count] = 0
                        used += 1
                    for t in range(count):
                        sums[m, t] += f * column[t]
            # the sums between columns of one group
            for m in range(used):
                q = found[m]
                seen[q] = -1
                for t in range(count):
                    if places.group[chosen[t]] == places.group[q]:
                        out[places.begin[chosen[t]] + places.place[q]] += sums[m, t]
