"""Operators made of H-matrices: sums, products, transposes, tables, and the transformed hypersingular operator."""

import os
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from calderon.backends import format_bytes
from calderon.hmatrix.hmatrix import HMatrix
from calderon.hmatrix.saved_sums import read_sum, write_sum
from calderon.hmatrix.siblings import Term
from calderon.hmatrix.terms import product_of


class ComposedOperator(LinearOperator):
    """An operator made of H-matrices and sparse ones: sums, products, transposes, tables.

    parts: its H-matrices. nbytes: of their numbers. seconds: what the assembly took. terms: the summands of a plain
    sum, which `hlu` can factorise, None for others.
    """

    def __init__(
        self,
        product: LinearOperator,
        parts: list[HMatrix],
        label: str,
        seconds: float,
        rtol: float,
        terms: list[Term] | None = None,
    ) -> None:
        self.terms = terms
        super().__init__(dtype=product.dtype, shape=product.shape)
        self._product, self.parts, self.label, self.seconds, self.rtol = product, parts, label, seconds, rtol

    @property
    def nbytes(self) -> int:
        """Memory of the H-matrices in bytes."""
        return sum(part.nbytes for part in self.parts)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a sum to an HDF5 file (.h5 or .hdf5), whole or not at all; ValueError for products and tables."""
        if self.terms is None:
            raise ValueError(
                "only sums of compressed and sparse operators are saved as one: save the H-matrices in .parts, "
                "or assemble with matrix_file="
            )
        write_sum(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "ComposedOperator":
        """The sum that was saved. ValueError for another kind or version of file, and for a damaged one."""
        found = read_sum(path)
        return cls(product_of(found["terms"]), **found)

    def _matmat(self, x: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(self._product.matmat(x))

    def _rmatmat(self, x: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(self._product.rmatmat(x))

    def to_array(self) -> NDArray[Any]:
        """All entries: as much memory as a dense matrix."""
        return self.matmat(np.eye(self.shape[1], dtype=self.dtype))

    def __str__(self) -> str:
        size = f"{self.shape[0]} x {self.shape[1]} {self.dtype}, {format_bytes(self.nbytes)}"
        largest = max((part.statistics.total.largest_rank for part in self.parts), default=0)
        ranks = f"rtol {self.rtol:g}, ranks up to {largest}"
        return f"operator of {len(self.parts)} H-matrices {size}, {ranks}, {self.seconds:.2f} s, {self.label}"

    __repr__ = __str__


class Transformed(LinearOperator):
    """sum_d factor_d L_d^T V R_d with sparse L_d, R_d: all d in one product with V."""

    def __init__(
        self,
        layer: HMatrix,
        factors: list[complex],
        left: list[sp.csr_array],
        right: list[sp.csr_array],
        dtype: np.dtype[Any],
    ) -> None:
        super().__init__(dtype=dtype, shape=(left[0].shape[1], right[0].shape[1]))
        self._layer = layer
        real = np.zeros(0, dtype).real.dtype
        self._factors = factors
        self._left, self._right = ([each.astype(real) for each in side[: len(factors)]] for side in (left, right))

    def _matmat(self, x: NDArray[Any]) -> NDArray[Any]:
        return self._through(x, self._layer.matmat, self._left, self._right, self._factors)

    def _rmatmat(self, x: NDArray[Any]) -> NDArray[Any]:
        return self._through(x, self._layer.rmatmat, self._right, self._left, list(np.conj(self._factors)))

    def _through(self, x, multiply, left, right, factors):  # type: ignore[no-untyped-def]
        inner = multiply(np.concatenate([each @ x for each in right], axis=1))
        dtype = np.result_type(self.dtype, x.dtype)
        pieces = np.split(inner, len(factors), axis=1)
        terms = [f * (each.T @ piece) for f, each, piece in zip(factors, left, pieces, strict=True)]
        return np.asarray(sum(terms[1:], terms[0]), dtype)
