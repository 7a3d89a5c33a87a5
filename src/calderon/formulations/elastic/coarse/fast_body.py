"""The matrix of one body whose products are fast, as the coarse problem needs it: by near blocks and moments."""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.backends import return_memory
from calderon.fmm.elastic import ElasticProduct
from calderon.formulations.elastic.coarse.columns import Index, LeafColumns
from calderon.formulations.elastic.coarse.far import far_sums
from calderon.formulations.elastic.coarse.near import near_sums
from calderon.formulations.elastic.system.body import BodyRows
from calderon.formulations.elastic.system.equation import Equation


class FastBody(NamedTuple):
    """The matrix of one body between all unknowns, A = left^T P right + local, by its fast product P.

    rows: the `BodyRows`. length: L. product: P. left (p, unknowns): from its rows to those of A. right (k, unknowns):
    from unknowns to displacements and tractions, without elastic supports. local (unknowns, unknowns): 1/2 less what
    translations give.
    """

    rows: BodyRows
    length: float
    product: ElasticProduct
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
            if not isinstance(product, ElasticProduct):
                return []
            found.append(FastBody.of(equation, rows, product))
        return found

    @staticmethod
    def of(equation: Equation, rows: BodyRows, product: ElasticProduct) -> "FastBody":
        """The matrix of the rows of a body in its equation, with their product."""
        # rows: test functions times the scale of the rows of A, of those rows that the product has
        left = sp.csr_array(rows.tests @ sp.diags_array(equation.scale))
        # columns: displacements and tractions of all unknowns
        u = equation.length * rows.free
        right = sp.block_diag([u, rows.bound], format="csr") if rows.has_tractions else sp.csr_array(u, copy=True)
        # local terms of all test spaces, one below the other
        local = sp.vstack([each.local @ u for each in rows.rows], format="csr")
        for each in (right, local):
            each.resize((each.shape[0], equation.unknowns))
        local = sp.csr_array(left.T @ local)
        return FastBody(rows, equation.length, product, left[rows.layers.tested], right, local)

    @property
    def kept(self) -> sp.csr_array:
        """(columns of P, unknowns) the right side for all unknowns, without elastic supports."""
        return sp.csr_array(self.right[self.rows.layers.kept])

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

    def add_sums(self, coarse: sp.csr_array, sums: NDArray[Any]) -> None:
        """Add Z^T A Z without the lift to a matrix (k, k), for coarse columns Z (unknowns, k)."""
        far = self.product.far
        rows, columns = (
            LeafColumns.of(lines, sp.csr_array(matrix), self.leaves)
            for lines, matrix in ((far.rows, self.left @ coarse), (far.columns, self._moved(coarse)))
        )
        near_sums(self.product, rows, columns, sums)
        return_memory()
        far_sums(self.product, rows, columns, sums)
        local = (coarse.T @ (self.local @ coarse)).tocoo()
        sums[local.coords] += local.data

    def _moved(self, columns: sp.csr_array) -> sp.csr_array:
        """(columns of P, k) displacements and tractions, those of elastic supports included, of columns of unknowns."""
        found, springs = self.right @ columns, self.rows.springs
        if springs.nnz:
            u = self.length * self.rows.free
            supported = springs @ (u @ columns[: u.shape[1]])
            found = found - sp.vstack([sp.csr_array((u.shape[0], columns.shape[1])), supported])
        return sp.csr_array(found.tocsr()[self.rows.layers.kept])
