"""Parts of a compressed matrix between the two children of a cluster: what a hierarchical factorisation needs.

Every stored block lies between the two children of one cluster, the smallest that holds its rows and its columns, or
inside of a cluster that is not divided further.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.backends import run_tasks, thread_count
from calderon.hmatrix.hmatrix import HMatrix
from calderon.hmatrix.products import BLOCK, COLUMN, ROW, multiply
from calderon.hmatrix.storage import stored
from calderon.hmatrix.tree.cluster_tree import ClusterTree

WITHIN, BELOW, ABOVE = 0, 1, 2
"""Where a part is: inside of an undivided cluster, rows of the second child and columns of the first, or mirrored."""


class Term(NamedTuple):
    """One summand of a matrix: factor times an HMatrix, or times a sparse matrix in the order of the unknowns;
    transposed (and conjugated) if so."""

    factor: complex
    matrix: HMatrix | sp.csr_array
    transposed: bool = False
    conjugated: bool = False


@dataclass(frozen=True, eq=False)
class Division:
    """The clusters of a tree that are divided: those with more than `leaf` unknowns."""

    tree: ClusterTree
    leaf: int

    @property
    def undivided(self) -> NDArray[np.bool_]:
        """(clusters,)"""
        return self.tree.is_leaf | (self.tree.size <= self.leaf)

    def owners(
        self, rows: NDArray[np.int64], columns: NDArray[np.int64]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The clusters that own blocks of a cluster of rows and one of columns, and where they lie."""
        tree, parent = self.tree, self.tree.parent
        a, b = rows.copy(), columns.copy()
        while (different := a != b).any():
            deeper = tree.level[a] >= tree.level[b]
            first, second = different & deeper, different & (tree.level[b] >= tree.level[a])
            a[first], b[second] = parent[a[first]], parent[b[second]]
        inside = self.undivided[a]
        # up to the largest undivided cluster
        while (climb := inside & (a > 0) & self.undivided[parent[a]]).any():
            a[climb] = parent[a[climb]]
        place = np.where(inside, WITHIN, np.where(tree.start[rows] > tree.start[columns], BELOW, ABOVE))
        return a, place


class Part:
    """The entries of all terms between two clusters, in cluster order, by their products."""

    def __init__(self, tree: ClusterTree, row_cluster: int, column_cluster: int, dtype: np.dtype[Any]) -> None:
        clusters = row_cluster, column_cluster
        self.rows, self.columns = (slice(int(tree.start[each]), int(tree.stop[each])) for each in clusters)
        self.shape = int(tree.size[row_cluster]), int(tree.size[column_cluster])
        self.dtype = dtype
        self._blocks: list[tuple[complex, bool, bool, NDArray[Any], NDArray[np.int64]]] = []
        self._sparse: list[sp.csr_array] = []

    def add_blocks(
        self, factor: complex, transposed: bool, conjugated: bool, numbers: NDArray[Any], table: NDArray[np.int64]
    ) -> None:
        """Stored blocks, with places relative to this part (of its transpose if transposed)."""
        self._blocks.append((factor, transposed, conjugated, numbers, table))

    def add_sparse(self, matrix: sp.csr_array) -> None:
        """Entries of a sparse matrix of this shape."""
        if matrix.nnz:
            self._sparse.append(matrix)

    def product(self, x: NDArray[Any], transposed: bool = False) -> NDArray[Any]:
        """A x or A^T x for x (n, k)."""
        rows = self.shape[1] if transposed else self.shape[0]
        total = np.zeros((x.shape[1], rows), np.result_type(self.dtype, x.dtype))
        for factor, turned, conjugated, numbers, table in self._blocks:
            given = np.ascontiguousarray((x.conj() if conjugated else x).T, total.dtype)
            found = _blocks_product(numbers, table, given, rows, transposed != turned)
            total += factor * (found.conj() if conjugated else found)
        result = total.T
        for matrix in self._sparse:
            result = result + (matrix.T if transposed else matrix) @ x
        return result

    def dense(self) -> NDArray[Any]:
        """All entries."""
        return self.product(np.eye(self.shape[1], dtype=self.dtype))


def _blocks_product(
    numbers: NDArray[Any], table: NDArray[np.int64], x: NDArray[Any], rows: int, transposed: bool
) -> NDArray[Any]:
    """B x, or B^T x, of stored blocks for x (k, n): vectors are shared among threads."""
    y = np.zeros((len(x), rows), x.dtype)
    count = min(thread_count(), len(x)) if int(stored(table).sum()) * len(x) > 1 << 16 else 1
    ends = np.linspace(0, len(x), count + 1).astype(int)

    def work(number: int) -> None:
        part = slice(ends[number], ends[number + 1])
        multiply(numbers, table, x[part], y[part], y[part], not transposed, transposed)

    if count == 1:
        work(0)
    else:
        run_tasks(work, count)
    return y


def parts_of(terms: list[Term], division: Division, dtype: np.dtype[Any]) -> dict[tuple[int, int], Part]:
    """The parts of a sum by (cluster, where): WITHIN undivided clusters, BELOW and ABOVE of divided ones."""
    tree, undivided = division.tree, division.undivided
    topmost = undivided & ((tree.level == 0) | ~undivided[tree.parent])
    parts: dict[tuple[int, int], Part] = {}
    for cluster in np.flatnonzero(topmost).tolist():
        parts[cluster, WITHIN] = Part(tree, cluster, cluster, dtype)
    for cluster in np.flatnonzero(~undivided).tolist():
        first, second = tree.children[cluster].tolist()
        parts[cluster, BELOW] = Part(tree, second, first, dtype)
        parts[cluster, ABOVE] = Part(tree, first, second, dtype)
    for term in terms:
        if isinstance(term.matrix, HMatrix):
            _add_hmatrix(parts, term, term.matrix, division)
        else:
            _add_sparse(parts, term, sp.csr_array(term.matrix[tree.order][:, tree.order]))
    return parts


def _add_hmatrix(parts: dict[tuple[int, int], Part], term: Term, matrix: HMatrix, division: Division) -> None:
    """Add a term, whose matrix is an H-matrix over the tree of the division, to the parts that its blocks lie in."""
    blocks = matrix.tree
    for slab in matrix.slabs:
        numbers, table = slab
        # blocks by the cluster and the part, within, below or above, that they lie in
        owner, place = division.owners(blocks.row[table[:, BLOCK]], blocks.column[table[:, BLOCK]])
        order = np.lexsort((place, owner))
        cuts = np.flatnonzero((np.diff(owner[order]) != 0) | (np.diff(place[order]) != 0)) + 1
        for group in np.split(order, cuts):
            if not len(group):
                continue
            cluster, where = int(owner[group[0]]), int(place[group[0]])
            # rows and columns are counted from the begin of the part
            shifted = table[group].copy()
            shifted[:, ROW] -= parts[cluster, where].rows.start
            shifted[:, COLUMN] -= parts[cluster, where].columns.start
            mirrored = {WITHIN: WITHIN, BELOW: ABOVE, ABOVE: BELOW}[where]
            own = mirrored if term.transposed else where
            parts[cluster, own].add_blocks(term.factor, term.transposed, term.conjugated, numbers, shifted)
            # half of a symmetric matrix is stored: blocks off the diagonal stand for two
            if blocks.symmetric:
                off = shifted if where != WITHIN else shifted[shifted[:, ROW] != shifted[:, COLUMN]]
                other = parts[cluster, mirrored if own == where else where]
                other.add_blocks(term.factor, not term.transposed, term.conjugated, numbers, off)
    if matrix.correction is not None:
        _add_sparse(parts, term, sp.csr_array(matrix.correction))


def _add_sparse(parts: dict[tuple[int, int], Part], term: Term, matrix: sp.csr_array) -> None:
    """A sparse matrix in cluster order."""
    turned = sp.csr_array(matrix.T) if term.transposed else matrix
    scaled = term.factor * (turned.conj() if term.conjugated else turned)
    for part in parts.values():
        part.add_sparse(sp.csr_array(scaled[part.rows][:, part.columns]))
