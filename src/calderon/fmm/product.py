"""Products with a table of operators: the near blocks of each of its terms, and one far field."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.fmm.far import HarmonicFar
from calderon.fmm.layout import Layout
from calderon.fmm.orders import Promise
from calderon.operators.tree import Term
from calderon.products.far_field import far_product
from calderon.products.near_store import NearStore, products
from calderon.products.operator import RealProducts


class MultipoleProduct(RealProducts):
    """Products with the terms of a table, such as one operator alone; near: blocks of each of them; promise: the order
    of the harmonics, and the errors that it holds."""

    def __init__(
        self, terms: Sequence[Term], near: Sequence[NearStore], far: HarmonicFar, promise: Promise, real: np.dtype[Any]
    ) -> None:
        shape = max(each.top + each.shape[0] for each in terms), max(each.left + each.shape[1] for each in terms)
        super().__init__(dtype=real, shape=shape)
        self.terms, self.near, self.far, self.promise = terms, near, far, promise

    def forget(self) -> None:
        """Free the moments of functions, which products of another order do not need, and let blocks go."""
        del self.near, self.far

    @property
    def layout(self) -> Layout:
        """The tree of all functions."""
        return self.far.layout

    @property
    def together(self) -> int:
        """Columns that are multiplied at a time."""
        return self.far.together

    @property
    def nbytes(self) -> int:
        """Bytes of blocks, moments of functions, lists, expansions and tables."""
        return sum(each.nbytes for each in self.near) + self.far.nbytes

    def first(self, columns: int) -> "MultipoleProduct":
        """The first columns alone; this object keeps the memory of all."""
        terms = [each for each in self.terms if each.left < columns]
        near = [blocks for each, blocks in zip(self.terms, self.near, strict=True) if each.left < columns]
        return MultipoleProduct(terms, near, self.far.first(columns), self.promise, self.dtype)

    def _products(self, x: NDArray[Any], transposed: bool) -> NDArray[Any]:
        out = np.zeros((self.shape[1 if transposed else 0], x.shape[1]), np.result_type(self.dtype, x.dtype))
        # near blocks of all terms, whose tasks are distributed together
        rows, columns = ({each.first: each for each in lines} for lines in (self.far.rows, self.far.columns))
        sides = [(columns[term.left], rows[term.top])[:: -1 if transposed else 1] for term in self.terms]
        stores = [(near, x[given.part]) for near, (given, _) in zip(self.near, sides, strict=True)]
        for (_, wanted), found in zip(sides, products(stores, transposed), strict=True):
            out[wanted.part] += found
        # what boxes receive of separated ones
        if len(self.layout.lists.far.source):
            out += far_product(self.far.transposed if transposed else self.far, x)
        return out
