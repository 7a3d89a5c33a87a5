"""Tables of an H-matrix that are read back: whether they describe one.

Compiled kernels trust these tables, and a file may be forged, or written by a mistake, with correct checksums. So
everything that a kernel relies on is verified: trees are trees, blocks cover the matrix once, and each stored block has
the rows and columns of its clusters and numbers of its own. No sum of numbers from the file is formed before they are
known to be small.
"""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.files import SavedGroup, all_finite
from calderon.hmatrix.block_tree import DENSE, LOW_RANK, SPLIT, BlockTree
from calderon.hmatrix.cluster_tree import ClusterTree
from calderon.hmatrix.products import BLOCK, COLUMN, HEIGHT, OFFSET, RANK, ROW, WIDTH
from calderon.hmatrix.storage import Slab, stored

CLUSTERS = "order", "start", "stop", "boxes", "children", "level"
BLOCKS = "row", "column", "kind", "first_child", "child_count"
SPARSE = "indptr", "indices", "data"
DTYPES = "<f4", "<f8", "<c8", "<c16"
MOST = 2**30
"""Unknowns; products of two such numbers stay below 2^63."""


def dtype_of(group: SavedGroup) -> np.dtype[Any]:
    """The type of the numbers."""
    name = group.text("dtype")
    group.require(name.replace(">", "<") in DTYPES, f"its numbers have the type {name!r}")
    return np.dtype(name).newbyteorder("=")


def cluster_tree_of(group: SavedGroup) -> ClusterTree:
    """A cluster tree: the order is a permutation, the clusters are nested, children divide their parents."""
    order = group.array("order", np.int64, (None,))
    start = group.array("start", np.int64, (None,))
    n, count = len(order), len(start)
    stop, level = (group.array(name, np.int64, (count,)) for name in ("stop", "level"))
    children, boxes = group.array("children", np.int64, (count, 2)), group.array("boxes", np.float64, (count, 2, 3))
    group.require(0 < n <= MOST and count > 0, f"{n} unknowns in {count} clusters")
    group.require(_is_permutation(order), "the order of the unknowns is no permutation")
    divided = np.flatnonzero((children >= 0).all(axis=1))
    group.require(
        np.array_equal(children[divided].ravel(), np.arange(1, count))
        and bool((np.delete(children, divided, axis=0) == -1).all()),
        "the clusters form no tree",
    )
    first, second = children[divided, 0], children[divided, 1]
    group.require(
        (first > divided).all()
        and start[0] == 0
        and stop[0] == n
        and (start <= stop).all()
        and np.array_equal(start[first], start[divided])
        and np.array_equal(stop[first], start[second])
        and np.array_equal(stop[second], stop[divided]),
        "clusters are not divided by their children",
    )
    deeper = level[divided] + 1
    group.require(
        level[0] == 0 and np.array_equal(level[first], deeper) and np.array_equal(level[second], deeper),
        "the levels of the clusters are not those of the tree",
    )
    group.require((boxes[:, 0] <= boxes[:, 1]).all(), "the boxes of the clusters have lowest corners above the highest")
    return ClusterTree(order, start, stop, boxes, children, level)


def _is_permutation(order: NDArray[np.int64]) -> bool:
    if not ((order >= 0) & (order < len(order))).all():
        return False
    seen = np.zeros(len(order), np.bool_)
    seen[order] = True
    return bool(seen.all())


def block_tree_of(group: SavedGroup) -> BlockTree:
    """The block tree of a matrix: blocks that are cut are covered once by their children."""
    rows = cluster_tree_of(group["rows"])
    columns = cluster_tree_of(group["columns"]) if "columns" in group else rows
    symmetric, blocks = group.flag("symmetric"), group["blocks"]
    group.require(not symmetric or columns is rows, "a symmetric matrix with different clusters of rows and columns")
    row = blocks.array("row", np.int64, (None,))
    column, first, children = (blocks.array(name, np.int64, row.shape) for name in ("column", *BLOCKS[3:]))
    kind = blocks.array("kind", np.int8, row.shape)
    tree = BlockTree(rows, columns, row, column, kind, first, children, symmetric)
    blocks.require(len(row) > 0 and row[0] == 0 and column[0] == 0, "the first block is not the whole matrix")
    for name, each, clusters in (("row", row, rows), ("column", column, columns)):
        blocks.require(((each >= 0) & (each < len(clusters.start))).all(), f"{name}: no such cluster")
    blocks.require(np.isin(kind, (SPLIT, LOW_RANK, DENSE)).all(), "a block of an unknown kind")
    split = np.flatnonzero(kind == SPLIT)
    leaves = kind != SPLIT
    count = children[split]
    blocks.require(
        ((count >= 2) & (count <= 4)).all() and (children[leaves] == 0).all() and (first[leaves] == -1).all(),
        "a block with an impossible number of children",
    )
    ends = 1 + np.cumsum(count)
    blocks.require(
        len(row) == (ends[-1] if len(ends) else 1)
        and np.array_equal(first[split], ends - count)
        and (first[split] > split).all(),
        "the blocks form no tree",
    )
    blocks.require(_covered_once(tree, split), "the children of a block do not cover it once")
    return tree


def _covered_once(tree: BlockTree, split: NDArray[np.int64]) -> bool:
    """Whether the children of blocks are all pairs of the parts of their rows and columns, each once, but for mirrored
    ones on the diagonal."""
    count = tree.child_count[split]
    parent, child = np.repeat(split, count), np.arange(1, len(tree.row))
    place = child - np.repeat(tree.first_child[split], count)  # 0 .. 3 among its siblings
    row, column = tree.row[parent], tree.column[parent]
    first = np.repeat(tree.first_child[split], count)
    cut_rows, cut_columns = tree.row[first] != row, tree.column[first] != column
    on_diagonal = tree.symmetric & (row == column)
    both = cut_rows & cut_columns
    expected = np.where(both, np.where(on_diagonal, 3, 4), np.where(cut_rows | cut_columns, 2, 0))
    if not np.array_equal(np.repeat(count, count), expected):
        return False
    if (on_diagonal & ~both).any():
        return False
    below = np.where(both, place // 2, np.where(cut_rows, place, 0))
    right = np.where(both, place % 2, np.where(cut_columns, place, 0))
    if tree.symmetric:  # of four children the one above the diagonal is left out
        three = both & on_diagonal
        below, right = np.where(three, (place + 1) // 2, below), np.where(three, place // 2, right)
    wanted_row = np.where(cut_rows, tree.rows.children[row, below], row)
    wanted_column = np.where(cut_columns, tree.columns.children[column, right], column)
    return np.array_equal(tree.row[child], wanted_row) and np.array_equal(tree.column[child], wanted_column)


def slabs_of(group: SavedGroup, tree: BlockTree, dtype: np.dtype[Any]) -> list[Slab]:
    """The slabs: every block without children is stored once, with numbers of its own."""
    slabs = []
    for each in group["slabs"].numbered(group.whole("slabs")) if group.whole("slabs") else []:
        slabs.append(_slab_of(each, tree, dtype))
    blocks = np.concatenate([slab.table[:, BLOCK] for slab in slabs] or [np.zeros(0, np.int64)])
    times = np.bincount(blocks, minlength=len(tree.row))
    group.require(np.array_equal(times, tree.kind != SPLIT), "its blocks do not cover the matrix once")
    return slabs


def _slab_of(group: SavedGroup, tree: BlockTree, dtype: np.dtype[Any]) -> Slab:
    """A slab whose table fits the block tree, and whose blocks do not overlap."""
    numbers = group.array("numbers", dtype, (None,), finite=group.checked)
    table = group.array("table", np.int64, (None, 7))
    block, rank, offset = table[:, BLOCK], table[:, RANK], table[:, OFFSET]
    group.require(((block >= 0) & (block < len(tree.row))).all(), "a stored block that is not in the block tree")
    row, column = tree.row[block], tree.column[block]
    sides = (ROW, tree.rows.start[row]), (COLUMN, tree.columns.start[column])
    sizes = (HEIGHT, tree.rows.size[row]), (WIDTH, tree.columns.size[column])
    group.require(
        all(np.array_equal(table[:, place], values) for place, values in sides + sizes),
        "a stored block with other rows or columns than its clusters",
    )
    most = np.minimum(table[:, HEIGHT], table[:, WIDTH])
    group.require(((rank >= -1) & (rank <= most)).all(), "a stored block with an impossible rank")
    length = stored(table)
    group.require(((offset >= 0) & (offset <= len(numbers) - length)).all(), "a stored block outside of its slab")
    if (np.diff(offset) < 0).any():
        order = np.lexsort((length, offset))
        offset, length = offset[order], length[order]
    ends = np.cumsum(length)
    used = int(ends[-1]) if len(ends) else 0
    group.require(
        np.array_equal(offset, ends - length) and (used == len(numbers) or not group.checked),
        "stored blocks that overlap, or do not follow each other",
    )
    if not group.checked:  # files of the former version have unused room behind the numbers
        numbers = numbers[:used]
        group.require(all_finite(numbers), "stored numbers that are not finite")
    return Slab(numbers, table)


def sparse_of(group: SavedGroup, shape: tuple[int, int]) -> sp.csr_array:
    """A sparse matrix of a shape, with indices in range."""
    names = dict(zip(SPARSE, (group.array(name, None, (None,)) for name in SPARSE), strict=True))
    indptr, indices, data = (names[name] for name in SPARSE)
    group.require(
        indptr.dtype.kind == "i" and indices.dtype.kind == "i", "the indices of a sparse matrix are no integers"
    )
    group.require(data.dtype.newbyteorder("<").str in DTYPES, f"its numbers have the type {data.dtype}")
    group.require(
        len(indptr) == shape[0] + 1
        and indptr[0] == 0
        and indptr[-1] == len(indices) == len(data)
        and (indptr[1:] >= indptr[:-1]).all()
        and ((indices >= 0) & (indices < shape[1])).all(),
        "the indices of a sparse matrix are out of range",
    )
    return sp.csr_array((data, indices, indptr), shape=shape)
