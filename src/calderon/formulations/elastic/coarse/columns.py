"""Groups of leaves, and columns that live in few of them."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.fmm.layout import Layout
from calderon.fmm.product import Line

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
        owners = np.concatenate([np.repeat(np.arange(leaves), np.diff(line.pieces.starts)) for line in lines])
        inside = sp.coo_array((np.ones(len(rows)), (owners, rows)), (leaves, matrix.shape[0])).tocsr()
        found = inside @ sp.csr_array((np.ones(matrix.nnz), matrix.indices, matrix.indptr), matrix.shape)
        found.sort_indices()
        return LeafColumns(
            indptr=matrix.indptr.astype(np.int32),
            indices=matrix.indices.astype(np.int32),
            data=matrix.data.astype(REAL),
            first=found.indptr.astype(np.int64),
            numbers=found.indices.astype(np.int32),
        )
