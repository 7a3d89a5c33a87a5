"""Products with sums, transposes, compositions and tables of operators by the products of their parts."""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from calderon.backends import Computing
from calderon.operators.blocks import BlockOperator
from calderon.operators.boundary import (
    BoundaryOperator,
    IntegralOperator,
    Product,
    SparseOperator,
    Sum,
    TransformedHypersingular,
    Transposed,
)
from calderon.operators.electromagnetic import CombinedOperator
from calderon.operators.scaled import Scaled


def composed(
    operator: BoundaryOperator | BlockOperator,
    how: Computing,
    integral: Callable[[IntegralOperator, bool], LinearOperator],
    transformed: Callable[[TransformedHypersingular], LinearOperator],
) -> LinearOperator:
    """The products of an operator: integral(each, symmetric), transformed(each) give those of its integral operators.

    symmetric: whether the matrix may be held to be as symmetric as that of the dense method.

    Raises TypeError for an operator of another kind.
    """

    def product(part: BoundaryOperator) -> LinearOperator:
        return composed(part, how, integral, transformed)

    if isinstance(operator, BlockOperator):
        return Table(operator, how, product)
    if isinstance(operator, IntegralOperator):
        return integral(operator, operator.is_symmetric)
    if isinstance(operator, TransformedHypersingular):
        return transformed(operator)
    if isinstance(operator, SparseOperator):
        return aslinearoperator(operator.matrix)
    if isinstance(operator, Sum):
        terms = [factor * product(part) for factor, part in operator.parts]
        return sum(terms[1:], terms[0])
    if isinstance(operator, Transposed):
        inner = product(operator.operator)
        return inner.H if operator.conjugate else inner.T
    if isinstance(operator, Product):
        return product(operator.left) @ SparseInverse(operator.middle_factors()) @ product(operator.right)
    if isinstance(operator, CombinedOperator):
        left, right = aslinearoperator(operator.left.matrix), aslinearoperator(operator.right.matrix)
        return left.T @ integral(operator.edges, False) @ right
    if isinstance(operator, Scaled):
        factors = aslinearoperator(sp.diags_array(operator.factors).tocsr())
        return product(operator.operator) @ factors + product(operator.rest)
    raise TypeError(f"there are no products of {operator!r} by its parts")


class SparseInverse(LinearOperator):
    """The inverse of a real sparse matrix by its factors."""

    def __init__(self, factors: Any) -> None:
        super().__init__(dtype=np.dtype(np.float64), shape=factors.shape)
        self._factors = factors

    def _solved(self, x: NDArray[Any], kind: str) -> NDArray[Any]:
        if np.iscomplexobj(x):
            return self._solved(x.real, kind) + 1j * self._solved(x.imag, kind)
        return np.asarray(self._factors.solve(np.ascontiguousarray(x, np.float64), kind))

    def _matmat(self, x: NDArray[Any]) -> NDArray[Any]:
        return self._solved(x, "N")

    def _rmatmat(self, x: NDArray[Any]) -> NDArray[Any]:
        return self._solved(x, "T")


class Table(LinearOperator):
    """A table of blocks, each product by itself."""

    def __init__(
        self, operator: BlockOperator, how: Computing, product: Callable[[BoundaryOperator], LinearOperator]
    ) -> None:
        super().__init__(dtype=how.dtype(operator.is_complex), shape=operator.shape)
        self._top, self._left = (np.cumsum([0, *sizes]) for sizes in (operator.heights, operator.widths))
        self._blocks = [
            (i, j, product(each))
            for i, row in enumerate(operator.table)
            for j, each in enumerate(row)
            if each is not None
        ]

    def _matmat(self, x: NDArray[Any]) -> NDArray[Any]:
        y = np.zeros((self.shape[0], x.shape[1]), np.result_type(self.dtype, x.dtype))
        for i, j, block in self._blocks:
            y[self._top[i] : self._top[i + 1]] += block.matmat(x[self._left[j] : self._left[j + 1]])
        return y

    def _rmatmat(self, x: NDArray[Any]) -> NDArray[Any]:
        y = np.zeros((self.shape[1], x.shape[1]), np.result_type(self.dtype, x.dtype))
        for i, j, block in self._blocks:
            y[self._left[j] : self._left[j + 1]] += block.rmatmat(x[self._top[i] : self._top[i + 1]])
        return y
