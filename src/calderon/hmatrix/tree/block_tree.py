"""Block trees: a matrix cut into blocks of two clusters, until each is admissible or small.

Admissible blocks have a low rank: their clusters are far apart for their size, and for the wavelength.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from calderon.hmatrix.tree.cluster_tree import ClusterTree

Index = NDArray[np.int64]
Admissible = Callable[[ClusterTree, ClusterTree, Index, Index], NDArray[np.bool_]]
SPLIT, LOW_RANK, DENSE = 0, 1, 2
"""Kinds of blocks."""


@dataclass(frozen=True, eq=False)
class BlockTree:
    """Blocks of clusters of two trees; number 0 is the whole matrix, children come after their parents.

    row, column (blocks,): clusters. kind (blocks,): SPLIT, LOW_RANK or DENSE. first_child, child_count (blocks,): the
    children of a split block, one after the other, row by row. symmetric: of two blocks that mirror each other the one
    below the diagonal stands for both, and split blocks on the diagonal have three children.
    """

    rows: ClusterTree
    columns: ClusterTree
    row: Index
    column: Index
    kind: NDArray[np.int8]
    first_child: Index
    child_count: Index
    symmetric: bool

    @cached_property
    def leaves(self) -> Index:
        """Blocks without children, row by row of the matrix, so that neighbours follow each other."""
        leaves = np.flatnonzero(self.kind != SPLIT)
        order = np.lexsort((self.columns.start[self.column[leaves]], self.rows.start[self.row[leaves]]))
        return np.asarray(leaves[order])

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns of the matrix."""
        return len(self.rows.order), len(self.columns.order)

    @property
    def parent(self) -> Index:
        """The block that each is a part of; the whole matrix is its own."""
        split = np.flatnonzero(self.kind == SPLIT)
        return np.concatenate([[0], np.repeat(split, self.child_count[split])])

    def sizes(self, blocks: Index) -> tuple[Index, Index]:
        """Heights and widths of blocks."""
        return self.rows.size[self.row[blocks]], self.columns.size[self.column[blocks]]

    def pairs(self, blocks: Index) -> Index:
        """(b, 2) row and column clusters of blocks."""
        return np.stack([self.row[blocks], self.column[blocks]], axis=1)

    def __repr__(self) -> str:
        counts = [int((self.kind == kind).sum()) for kind in (LOW_RANK, DENSE)]
        half = ", lower half" if self.symmetric else ""
        return f"block tree {self.shape[0]} x {self.shape[1]}, {counts[0]} low-rank and {counts[1]} dense blocks{half}"


def block_tree(rows: ClusterTree, columns: ClusterTree, admissible: Admissible, symmetric: bool = False) -> BlockTree:
    """Split pairs of clusters until they are admissible or leaves, level by level.

    A cluster without children, or of less than half the other's diameter, is not split further. symmetric: keep one
    of two mirrored blocks; ValueError unless both trees are one object.
    """
    if symmetric and rows is not columns:
        raise ValueError("the block tree of a symmetric matrix needs one cluster tree for rows and columns")
    # all blocks of a level at a time, from the root on
    row, column = np.zeros(1, np.int64), np.zeros(1, np.int64)
    parts: list[tuple[Index, Index, NDArray[np.int8], Index, Index]] = []
    number = 0
    while len(row):
        is_admissible = admissible(rows, columns, row, column)
        small = rows.is_leaf[row] & columns.is_leaf[column]
        kind = np.where(is_admissible, LOW_RANK, np.where(small, DENSE, SPLIT)).astype(np.int8)
        split = kind == SPLIT
        below, right, parent = _children(rows, columns, row[split], column[split])
        if symmetric:
            kept = rows.start[below] >= columns.start[right]
            below, right, parent = below[kept], right[kept], parent[kept]
        # the number of the first child of each block, and how many there are
        number += len(row)
        count = np.zeros(len(row), np.int64)
        count[split] = np.bincount(parent, minlength=int(split.sum()))
        first = np.where(split, number + np.cumsum(count) - count, -1)
        parts.append((row, column, kind, first, count))
        row, column = below, right
    row, column, kind, first, count = (np.concatenate(each) for each in zip(*parts, strict=True))
    return BlockTree(rows, columns, row, column, kind, first, count, symmetric)


def _children(rows: ClusterTree, columns: ClusterTree, row: Index, column: Index) -> tuple[Index, Index, Index]:
    """The children of blocks (b,) with these row and column clusters: their row and column clusters, those of each
    block row by row, and the number of the block in the input.

    The larger of both clusters is cut, both if neither is more than twice as large as the other, and the other one if
    one is a leaf. A block of two leaves is its own child.
    """
    large, wide = rows.diameter[row], columns.diameter[column]
    cut_row = ~rows.is_leaf[row] & (columns.is_leaf[column] | (large >= 0.5 * wide))
    cut_column = ~columns.is_leaf[column] & (rows.is_leaf[row] | (wide >= 0.5 * large))
    below = np.where(cut_row[:, None], rows.children[row], np.stack([row, np.full_like(row, -1)], axis=1))
    right = np.where(cut_column[:, None], columns.children[column], np.stack([column, np.full_like(row, -1)], axis=1))
    all_below, all_right = np.repeat(below, 2, axis=1).ravel(), np.tile(right, 2).ravel()
    parent = np.repeat(np.arange(len(row)), 4)
    real = (all_below >= 0) & (all_right >= 0)
    return all_below[real], all_right[real], parent[real]


@dataclass(frozen=True)
class Admissibility:
    """A pair of clusters is admissible when diameter <= eta * distance of their boxes.

    size: "min", the smaller of the two diameters counts, or "max", the larger. wavenumber (rad/m): of an oscillating
    kernel. Two clusters of diameters a, b at a distance d exchange about (k a b / (2 pi d))^2 independent waves (areas
    over the squared product of wavelength and distance); a block is not admissible where these are more than a
    quarter of its unknowns on the smaller side, since its parts then take less memory than its factors.
    """

    eta: float = 2.0
    size: str = "min"
    wavenumber: float = 0.0

    def __post_init__(self) -> None:
        if self.eta <= 0:
            raise ValueError(f"eta={self.eta}: the ratio of diameter to distance is positive, such as 2")
        if self.size not in ("min", "max"):
            raise ValueError(f"size={self.size!r}: choose 'min' or 'max'")

    def __call__(
        self, rows: ClusterTree, columns: ClusterTree, row: NDArray[np.int64], column: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """(pairs,) whether clusters row[n] of `rows` and column[n] of `columns` are admissible."""
        a, b = rows.diameter[row], columns.diameter[column]
        distance = box_distance(rows.boxes[row], columns.boxes[column])
        size = np.minimum(a, b) if self.size == "min" else np.maximum(a, b)
        near = (size > self.eta * distance) | (distance == 0)
        if self.wavenumber:
            waves = (self.wavenumber * a * b / (2 * math.pi * np.where(near, 1, distance))) ** 2
            near |= waves > np.minimum(rows.size[row], columns.size[column]) / 4
        return np.asarray(~near)


def box_distance(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n,) distances of boxes (n, 2, 3), zero where they meet."""
    gap = np.maximum(first[:, 0] - second[:, 1], second[:, 0] - first[:, 1])
    return np.asarray(np.linalg.norm(np.maximum(gap, 0), axis=1))
