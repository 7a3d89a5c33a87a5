"""Products with expressions of operators, from those of their atoms: sums, and sparse factors around them."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from calderon.backends import Execution
from calderon.operators.tree import Index, Term, terms_of

Sparse = list[sp.csr_array] | None
"""The matrices on one side of an operator, or the identity."""


class Products:
    """Products with operators, by those of their atoms: leaf(operator) gives the linear operator of an integral one.
    layered: also of currents between layers."""

    def __init__(self, execution: Execution, leaf: Callable[[Any], LinearOperator], layered: bool = False) -> None:
        self.execution, self.leaf, self.layered = execution, leaf, layered
        self._values: dict[Any, tuple[Any, Any]] = {}

    def value(self, atom: Any) -> Any:
        """The linear operator or sparse matrix of an atom, made once for all equal ones."""
        if atom.key not in self._values:
            self._values[atom.key] = atom, atom.value(self)  # the atom lives as long as its key
        return self._values[atom.key][1]

    def values(self, operator: Any) -> list[tuple[Term, Any]]:
        """The terms of an expression with the values of their atoms."""
        return [(term, self.value(term.atom)) for term in terms_of(operator)]

    def of(self, operator: Any) -> LinearOperator:
        """The products of an expression."""
        found = self.values(operator)
        if len(found) == 1 and found[0][0].is_plain and found[0][0][0] == 1 and found[0][0].shape == operator.shape:
            return aslinearoperator(found[0][1])
        return SumOfProducts(found, operator.shape, self.execution.dtype(operator.is_complex))


class SumOfProducts(LinearOperator):
    """The products of a list of terms with linear operators or sparse matrices for their atoms."""

    def __init__(self, terms: list[tuple[Term, Any]], shape: tuple[int, int], dtype: np.dtype[Any]) -> None:
        super().__init__(dtype=dtype, shape=shape)
        self.terms = terms
        self._parts = []
        for term, value in terms:
            part = aslinearoperator(value)
            if term.transposed:
                part = part.H if term.conjugated else part.T
            elif term.conjugated:
                part = part.H.T
            rows, columns = part.shape
            self._parts.append(
                (slice(term.top, term.top + rows), slice(term.left, term.left + columns), term.factor, part)
            )

    def near_entries(self, rows: Index, columns: Index) -> NDArray[Any]:
        """(n,) the entries in these rows and columns of what is stored; see `near_entries`."""
        found = np.zeros(len(rows), complex)
        for (part_rows, part_columns, factor, _), (term, value) in zip(self._parts, self.terms, strict=True):
            i, j = rows - part_rows.start, columns - part_columns.start
            own = (i >= 0) & (i < part_rows.stop - part_rows.start)
            own &= (j >= 0) & (j < part_columns.stop - part_columns.start)
            places = (j[own], i[own]) if term.transposed else (i[own], j[own])
            entries = near_entries(value, *places)
            found[own] += factor * (entries.conj() if term.conjugated else entries)
        return found

    def _matmat(self, x: NDArray[Any]) -> NDArray[Any]:
        y = np.zeros((self.shape[0], x.shape[1]), np.result_type(self.dtype, x.dtype))
        for rows, columns, factor, part in self._parts:
            y[rows] += _multiple(factor, part.matmat(x[columns]))
        return y

    def _rmatmat(self, x: NDArray[Any]) -> NDArray[Any]:
        y = np.zeros((self.shape[1], x.shape[1]), np.result_type(self.dtype, x.dtype))
        for rows, columns, factor, part in self._parts:
            y[columns] += _multiple(np.conj(factor), part.rmatmat(x[rows]))
        return y


def _multiple(factor: complex, values: NDArray[Any]) -> NDArray[Any]:
    return values if factor == 1 else factor * values


def near_entries(value: Any, rows: Index, columns: Index) -> NDArray[Any]:
    """(n,) the entries in these rows and columns of products that store those of neighbours: zero between functions
    that are far from each other. ValueError for products that store none."""
    if sp.issparse(value):
        return np.asarray(value.tocsr()[rows, columns]).ravel()
    if not hasattr(value, "near_entries"):
        raise ValueError(
            f"preconditioner='near' needs entries that products store, and those of {type(value).__name__} are none: "
            "leave it out"
        )
    return np.asarray(value.near_entries(rows, columns))


class SandwichProduct(LinearOperator):
    """The products of sum_d factors[d] L_d^T A R_d with sparse L_d, R_d: all d in one product with A.

    inner: A; left, right: the L_d and R_d, None for the identity.
    """

    def __init__(self, inner: LinearOperator, factors: list[complex], left: Sparse, right: Sparse) -> None:
        real = np.zeros(0, inner.dtype).real.dtype
        self.inner, self.factors = inner, factors
        self.left, self.right = (
            None if side is None else [each.astype(np.result_type(real, 1j) if each.dtype.kind == "c" else real)
                                       for each in side[: len(factors)]] for side in (left, right))  # fmt: skip
        kinds = [each.dtype for side in (self.left, self.right) if side is not None for each in side]
        kinds += [np.result_type(real, 1j)] if np.iscomplexobj(np.array(factors)) else []
        shape = tuple(
            size if side is None else side[0].shape[1]
            for side, size in zip((self.left, self.right), inner.shape, strict=True)
        )
        super().__init__(dtype=np.result_type(inner.dtype, *kinds), shape=shape)

    def near_entries(self, rows: Index, columns: Index) -> NDArray[Any]:
        """(n,) the entries in these rows and columns of what A stores; see `near_entries`."""
        asked = sp.csr_array((np.ones(len(rows)), (rows, columns)), self.shape)
        total = sp.csr_array(self.shape)
        for factor, left, right in self._pairs():
            # the entries of A that these are made of, where |L| asked |R|^T has some
            needed = (abs(left) @ asked @ abs(right).T).tocoo()
            entries = near_entries(self.inner, *(each.astype(np.int64) for each in needed.coords))
            total = total + factor * (left.T @ sp.coo_array((entries, needed.coords), needed.shape).tocsr() @ right)
        return np.asarray(total.tocsr()[rows, columns]).ravel()

    def _pairs(self) -> Iterator[tuple[complex, sp.csr_array, sp.csr_array]]:
        for number, factor in enumerate(self.factors):
            left, right = (
                sp.eye_array(size, format="csr") if side is None else side[number]
                for side, size in zip((self.left, self.right), self.inner.shape, strict=True)
            )
            yield factor, left, right

    def _matmat(self, x: NDArray[Any]) -> NDArray[Any]:
        return self._through(x, self.inner.matmat, self.left, self.right, self.factors)

    def _rmatmat(self, x: NDArray[Any]) -> NDArray[Any]:
        """The adjoint: sum_d conj(factor) R_d^H A^H conj(L_d) x."""
        left, right = (
            None if side is None else [each.conj() if each.dtype.kind == "c" else each for each in side]
            for side in (self.left, self.right)
        )
        return self._through(x, self.inner.rmatmat, right, left, list(np.conj(self.factors)))

    def _through(self, x: Any, multiply: Any, left: Any, right: Any, factors: Any) -> Any:
        inner = multiply(x if right is None else np.concatenate([each @ x for each in right], axis=1))
        dtype = np.result_type(self.dtype, x.dtype)
        if left is None:
            return np.asarray(_multiple(factors[0], inner), dtype)
        pieces = np.split(inner, len(factors), axis=1)
        terms = [f * (each.T @ piece) for f, each, piece in zip(factors, left, pieces, strict=True)]
        return np.asarray(sum(terms[1:], terms[0]), dtype)
