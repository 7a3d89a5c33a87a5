"""The matrix of one body whose products are fast, by near blocks and moments: sums between columns, and its blocks."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.backends import return_memory, run_tasks, thread_count
from calderon.fmm.product import MultipoleProduct
from calderon.formulations.elastic.coarse.columns import REAL, Index, LeafColumns
from calderon.formulations.elastic.coarse.far import far_sums
from calderon.formulations.elastic.coarse.near import Blocks, Places, near_sums
from calderon.formulations.elastic.system.equation import Equation

SHARES = 4
"""Parts of rows or blocks for each thread."""


def share_bounds(count: int) -> list[int]:
    """Bounds of some parts of `count` things for each thread."""
    return np.linspace(0, count, SHARES * thread_count() + 1).astype(np.int64).tolist()


class FastBody(NamedTuple):
    """The matrix of one body between all unknowns, A = left^T P right + local, by its fast product P.

    product: P. left (p, unknowns): test functions times the scale of the rows of A, of the rows of P. right
    (k, unknowns): from unknowns to displacements and tractions. local (unknowns, unknowns): 1/2 less what translations
    give.
    """

    product: MultipoleProduct
    left: sp.csr_array
    right: sp.csr_array
    local: sp.csr_array

    @staticmethod
    def all_of(equation: Equation) -> "list[FastBody]":
        """The bodies of an assembled equation whose products are fast; none where one has others."""
        found = []
        for rows in equation.bodies:
            product = getattr(rows.layers.product, "product", None)
            product = getattr(product, "host", product)  # of products on a device
            if not isinstance(product, MultipoleProduct):
                return []
            left = sp.csr_array(rows.tests @ sp.diags_array(equation.scale))
            local = sp.csr_array(left.T @ (rows.local @ rows.fields[: rows.local.shape[1]]))
            right = sp.csr_array(rows.fields[rows.layers.kept])
            found.append(FastBody(product, sp.csr_array(left[rows.layers.tested]), right, local))
        return found

    @property
    def leaves(self) -> int:
        """The number of leaves of the tree."""
        return len(self.product.far.layout.lists.leaves)

    @property
    def owners(self) -> Index:
        """(unknowns,) the leaf of each unknown that the body has a row for, else -1."""
        found = np.full(self.left.shape[1], -1)
        for line in self.product.far.rows:
            leaf = np.repeat(np.arange(self.leaves), np.diff(line.pieces.starts))
            one = sp.csr_array(self.left[line.first + line.pieces.whole])
            found[one.indices] = np.repeat(leaf, np.diff(one.indptr))
        return found

    def columns(self, left: sp.csr_array, right: sp.csr_array) -> tuple[LeafColumns, LeafColumns]:
        """Columns on the rows of P, left (p, n), and on its columns, right (k, n), by leaf."""
        far = self.product.far
        return LeafColumns.of(far.rows, left, self.leaves), LeafColumns.of(far.columns, right, self.leaves)

    def add_sums(self, coarse: sp.csr_array, sums: NDArray[Any]) -> None:
        """Add Z^T A Z without the lift to a matrix (k, k), for coarse columns Z (unknowns, k)."""
        rows, columns = self.columns(sp.csr_array(self.left @ coarse), sp.csr_array(self.right @ coarse))
        terms, count = Blocks.of(self.product), len(sums)
        bounds, group, place = share_bounds(count), np.zeros(count, np.int64), np.arange(count)

        def add(part: int) -> None:
            """Add the near sums of one part of the rows."""
            low, high = bounds[part : part + 2]
            begin, panel = np.full(count, -1), np.zeros((high - low, count), REAL)
            begin[low:high] = count * np.arange(high - low)
            near_sums(terms, rows, columns, Places(group, begin, place), panel.reshape(-1))
            sums[low:high] += panel

        run_tasks(add, len(bounds) - 1)
        return_memory()
        far_sums(self.product, rows, columns, sums)
        local = (coarse.T @ (self.local @ coarse)).tocoo()
        sums[local.coords] += local.data


class DiagonalBlocks:
    """Blocks on the diagonal of the matrix of a body, from its near blocks.

    groups: the unknowns of each block, no two of which have one in common. body: the `FastBody`.
    """

    def __init__(self, body: FastBody, groups: Sequence[Index]) -> None:
        """body, groups: as in the class."""
        self.groups, self._local = groups, body.local
        self._terms, self._sides = Blocks.of(body.product), body.columns(body.left, body.right)
        self._group, self._place = np.full(body.left.shape[1], -1), np.zeros(body.left.shape[1], np.int64)
        for number, each in enumerate(groups):
            self._group[each], self._place[each] = number, np.arange(len(each))

    def add(self, low: int, high: int, out: NDArray[np.float32]) -> None:
        """Add the blocks (n, n) of the groups low .. high to numbers (m,), one after the other."""
        if low == high:
            return
        sizes, rows = [len(each) for each in self.groups[low:high]], np.concatenate(self.groups[low:high])
        starts = np.append(0, np.cumsum(np.square(sizes)))
        begin, number = np.full(len(self._group), -1), self._group[rows] - low
        begin[rows] = starts[number] + self._place[rows] * np.array(sizes)[number]
        # local terms, and the near blocks
        given = self._local[rows].tocoo()
        i, j = rows[given.coords[0]], given.coords[1]
        own = self._group[i] == self._group[j]
        out[begin[i[own]] + self._place[j[own]]] += given.data[own]
        near_sums(self._terms, *self._sides, Places(self._group, begin, self._place), out)
