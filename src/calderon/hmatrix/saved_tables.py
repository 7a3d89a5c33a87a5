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
from calderon.hmatrix.products import BLOCK, COLUMN, HEIGHT, OFFSET, RANK, ROW, WIDTH
from calderon.hmatrix.storage import Slab, stored
from calderon.hmatrix.tree.block_tree import DENSE, SPLIT, BlockTree
from calderon.hmatrix.tree.cluster_tree import ClusterTree

CLUSTERS = "order", "start", "stop", "boxes", "children", "level"
BLOCKS = "row", "column", "kind", "first_child", "child_count"
SPARSE = "indptr", "indices", "data"
DTYPES = "<f4", "<f8", "<c8", "<c16"


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
    # products of two numbers of unknowns stay below 2^63
    group.require(0 < n <= 2**30 and count > 0, f"{n} unknowns in {count} clusters")
    group.require(np.array_equal(np.sort(order), np.arange(n)), "the order of the unknowns is no permutation")
    # the children in their order are all clusters but the first
    divided = np.flatnonzero((children >= 0).all(axis=1))
    group.require(
        np.array_equal(children[divided].ravel(), np.arange(1, count))
        and bool((np.delete(children, divided, axis=0) == -1).all()),
        "the clusters form no tree",
    )
    # each divided cluster is its first child, then its second one
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
    # levels increase by one
    deeper = level[divided] + 1
    group.require(
        level[0] == 0 and np.array_equal(level[first], deeper) and np.array_equal(level[second], deeper),
        "the levels of the clusters are not those of the tree",
    )
    group.require((boxes[:, 0] <= boxes[:, 1]).all(), "the boxes of the clusters have lowest corners above the highest")
    return ClusterTree(order, start, stop, boxes, children, level)


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
    # blocks of known clusters and kinds, from the whole matrix on
    blocks.require(len(row) > 0 and row[0] == 0 and column[0] == 0, "the first block is not the whole matrix")
    for name, each, clusters in (("row", row, rows), ("column", column, columns)):
        blocks.require(_below(each, len(clusters.start)), f"{name}: no such cluster")
    blocks.require((kind.view(np.uint8) <= DENSE).all(), "a block of an unknown kind")
    # those that are cut have two to four children, which follow in order
    split = np.flatnonzero(kind == SPLIT)
    leaves = kind != SPLIT
    count = children[split]
    blocks.require(
        ((count >= 2) & (count <= 4)).all()
        and np.array_equal(children == 0, leaves)
        and np.array_equal(first == -1, leaves),
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
    first, count, row, column = tree.first_child[split], tree.child_count[split], tree.row[split], tree.column[split]
    cut_row, cut_column = tree.row[first] != row, tree.column[first] != column
    below, right = (*tree.rows.children[row].T, row), (*tree.columns.children[column].T, column)
    mirrored = tree.symmetric & (row == column)
    known = 0
    for alike, places in (  # the parts of rows and columns that are the children's: first, second or both (2)
        (cut_row & cut_column & ~mirrored, ((0, 0), (0, 1), (1, 0), (1, 1))),
        (cut_row & cut_column & mirrored, ((0, 0), (1, 0), (1, 1))),
        (cut_row & ~cut_column & ~mirrored, ((0, 2), (1, 2))),
        (~cut_row & cut_column & ~mirrored, ((2, 0), (2, 1))),
    ):
        here = np.flatnonzero(alike)
        known += len(here)
        if (count[here] != len(places)).any():
            return False
        for number, (part, other) in enumerate(places):
            child = first[here] + number
            if (tree.row[child] != below[part][here]).any() or (tree.column[child] != right[other][here]).any():
                return False
    return known == len(split)


def slabs_of(group: SavedGroup, tree: BlockTree, dtype: np.dtype[Any]) -> list[Slab]:
    """The slabs: every block without children is stored once, as its clusters say, with numbers of its own."""
    groups = group["slabs"].numbered(group.whole("slabs")) if group.whole("slabs") else []
    slabs = [
        Slab(each.array("numbers", dtype, (None,), finite=group.checked), each.array("table", np.int64, (None, 7)))
        for each in groups
    ]
    tables = np.concatenate([slab.table for slab in slabs] or [np.zeros((0, 7), np.int64)])
    columns = np.ascontiguousarray(tables.T)  # as rows: four times as fast
    block, rank, height, width = columns[BLOCK], columns[RANK], columns[HEIGHT], columns[WIDTH]
    group.require(_below(block, len(tree.row)), "a stored block that is not in the block tree")
    # rows and columns of each block are those of its clusters
    for start, size, clusters, side in (
        (columns[ROW], height, tree.rows, tree.row[block]),
        (columns[COLUMN], width, tree.columns, tree.column[block]),
    ):
        group.require(
            np.array_equal(start, clusters.start[side]) and np.array_equal(size, clusters.size[side]),
            "a stored block with other rows or columns than its clusters",
        )
    group.require(((rank >= -1) & (rank <= np.minimum(height, width))).all(), "a stored block with an impossible rank")
    # numbers of each block, as many as its rank and sizes need
    lengths, ends = stored(tables), np.cumsum([len(slab.table) for slab in slabs])
    slabs = [
        _slab_of(each, slab, lengths[end - len(slab.table) : end])
        for each, slab, end in zip(groups, slabs, ends, strict=True)
    ]
    times = np.bincount(block, minlength=len(tree.row))
    group.require(np.array_equal(times, tree.kind != SPLIT), "its blocks do not cover the matrix once")
    return slabs


def _slab_of(group: SavedGroup, slab: Slab, length: NDArray[np.int64]) -> Slab:
    """A slab whose blocks, of these lengths, do not overlap."""
    numbers, offset = slab.numbers, slab.table[:, OFFSET]
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
    return Slab(numbers, slab.table)


def _below(numbers: NDArray[np.int64], limit: int) -> bool:
    """Whether all are 0 .. limit - 1; as numbers without sign the negative ones are the largest."""
    return bool((numbers.view(np.uint64) < np.uint64(limit)).all())


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
