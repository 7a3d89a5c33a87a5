"""Groups of leaves, and columns that live in few of them."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.backends.numba import kernel
from calderon.fmm.elastic import Line
from calderon.fmm.layout import Layout

Index = NDArray[np.int64]
REAL = np.float32
"""Precision of sums, blocks and their inverses."""


def groups_of_leaves(layout: Layout, weights: Index, most: int) -> Index:
    """(leaves,) the group of each leaf: boxes, and neighbouring ones of one parent, whose weights (leaves,) are `most`
    together, or single leaves."""
    tree, leaves, is_leaf = layout.tree, layout.lists.leaves, layout.tree.leaf
    # weights of all boxes, from the leaves up
    total = np.zeros(len(tree.level), np.int64)
    total[leaves] = weights
    for box in range(len(tree.level) - 1, 0, -1):
        total[tree.parent[box]] += total[box]
    # the largest boxes that are light enough, and small ones of one parent together
    number, group = np.full(len(tree.level), -1), 0
    number[0] = 0 if total[0] <= most or is_leaf[0] else -1
    for each in np.flatnonzero((total > most) & ~is_leaf):
        held = 0
        for child in tree.children[each]:
            if child < 0 or (total[child] > most and not is_leaf[child]):
                held = 0
                continue
            if held == 0 or held + total[child] > most:
                group, held = group + 1, 0
            number[child], held = group, held + total[child]
    # boxes within those are of their group
    for box in range(1, len(tree.level)):
        if number[box] < 0:
            number[box] = number[tree.parent[box]]
    return np.unique(number[leaves], return_inverse=True)[1]


class LeafColumns(NamedTuple):
    """Columns of a sparse matrix (n, k) on the rows or columns of a fast product, and where they are not zero.

    indptr (n + 1,), indices, data: the matrix by rows. first (leaves + 1,): where the numbers of the columns that are
    not zero in each leaf begin. numbers: these columns, increasing in each leaf.
    """

    indptr: NDArray[np.int32]
    indices: NDArray[np.int32]
    data: NDArray[np.float32]
    first: Index
    numbers: NDArray[np.int32]

    @staticmethod
    def of(lines: Sequence[Line], matrix: sp.csr_array, leaves: int) -> "LeafColumns":
        """The columns of a matrix (n, k). lines: the functions of the product, by leaf. leaves: their number."""
        rows = np.concatenate([line.first + line.pieces.whole for line in lines])
        ends = np.cumsum([0, *(len(line.pieces.whole) for line in lines)])
        starts = np.stack([low + line.pieces.starts for low, line in zip(ends[:-1], lines, strict=True)])
        indptr, indices = (each.astype(np.int32) for each in (matrix.indptr, matrix.indices))
        first, seen = np.zeros(leaves + 1, np.int64), np.full(matrix.shape[1], -1)
        leaf_columns(indptr, indices, rows, starts, seen, first, np.zeros(0, np.int32))
        numbers = np.zeros(first[-1], np.int32)
        seen[:] = -1
        leaf_columns(indptr, indices, rows, starts, seen, first, numbers)
        return LeafColumns(indptr, indices, matrix.data.astype(REAL), first, numbers)


@kernel
def leaf_columns(indptr, indices, rows, starts, seen, first, numbers):
    """Enter the columns of each leaf i into numbers[first[i] :], increasing; where numbers is empty, count them in
    first. indptr, indices, first, numbers: as in LeafColumns. rows: rows of the matrix of all lines; starts (lines,
    leaves + 1): where those of each line and leaf begin. seen (k,): -1."""
    for i in range(starts.shape[1] - 1):
        # columns that this leaf meets for the first time
        count = 0
        for line in range(len(starts)):
            for r in range(starts[line, i], starts[line, i + 1]):
                for a in range(indptr[rows[r]], indptr[rows[r] + 1]):
                    if seen[indices[a]] != i:
                        seen[indices[a]] = i
                        if len(numbers):
                            numbers[first[i] + count] = indices[a]
                        count += 1
        # in increasing order, or their number
        if len(numbers):
            numbers[first[i] : first[i] + count].sort()
        else:
            first[i + 1] = first[i] + count
