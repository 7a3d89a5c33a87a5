"""Operators made of H-matrices: sums, products, transposes, tables."""

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from calderon.backends import format_bytes
from calderon.files import SavedGroup, put
from calderon.hmatrix.hmatrix import HMatrix
from calderon.hmatrix.off_diagonal import Term
from calderon.hmatrix.saved_tables import SPARSE, sparse_of
from calderon.hmatrix.saving import (
    SUM,
    get_hmatrix,
    new_matrix_file,
    put_fields,
    put_hmatrix,
    saved_matrix_file,
    with_shared_trees,
)
from calderon.hmatrix.tree.cluster_tree import ClusterTree

COLUMNS = "is_sparse", "number", "transposed", "conjugated"
"""Columns of the table of summands in a file."""


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

    def near_entries(self, rows: NDArray[np.int64], columns: NDArray[np.int64]) -> NDArray[Any]:
        """(n,) the entries in these rows and columns, of functions with common triangles."""
        return np.asarray(self._product.near_entries(rows, columns))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a sum to an HDF5 file (.h5 or .hdf5), whole or not at all; ValueError for products and tables."""
        if self.terms is None:
            raise ValueError(
                "only sums of compressed and sparse operators are saved as one: save the H-matrices in .parts, "
                "or assemble with matrix_file="
            )
        compressed = {id(part): number for number, part in enumerate(self.parts)}
        with new_matrix_file(path, SUM) as file:
            file.attrs.update(label=self.label, seconds=self.seconds, rtol=self.rtol, parts=len(self.parts))
            file.attrs["shape"] = self.shape
            for number, part in enumerate(self.parts):
                put_hmatrix(file.create_group(f"parts/{number}"), part)
            rows = []
            for number, term in enumerate(self.terms):
                is_sparse = id(term.matrix) not in compressed
                if is_sparse:
                    put_fields(file.create_group(f"sparse/{number}"), term.matrix, SPARSE)
                place = number if is_sparse else compressed[id(term.matrix)]
                rows.append((is_sparse, place, term.transposed, term.conjugated))
            put(file, "factors", np.array([complex(term.factor) for term in self.terms]))
            put(file, "terms", np.array(rows, np.int64).reshape(-1, len(COLUMNS)))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "ComposedOperator":
        """The sum that was saved. ValueError for another kind or version of file, DamagedFile for a damaged one."""
        with saved_matrix_file(path, SUM) as file:
            trees: list[ClusterTree] = []
            groups = file["parts"].numbered(file.whole("parts")) if file.whole("parts") else []
            parts = [HMatrix(**with_shared_trees(get_hmatrix(each), trees)) for each in groups]
            terms = _terms_of(file, parts)
            label, seconds, rtol = file.text("label"), file.number("seconds"), file.number("rtol")
        return cls(product_of(terms), parts, label, seconds, rtol, terms)

    @property
    def error(self) -> float | None:
        """The largest measured error of an H-matrix, None if none was measured."""
        return max((part.error for part in self.parts if part.error is not None), default=None)

    def _matmat(self, x: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(self._product.matmat(x))

    def _rmatmat(self, x: NDArray[Any]) -> NDArray[Any]:
        return np.asarray(self._product.rmatmat(x))

    def to_array(self) -> NDArray[Any]:
        """All entries: as much memory as a dense matrix."""
        return self.matmat(np.eye(self.shape[1], dtype=self.dtype))

    toarray = to_array

    def __str__(self) -> str:
        size = f"{self.shape[0]} x {self.shape[1]} {self.dtype}, {format_bytes(self.nbytes)}"
        largest = max((part.statistics.total.largest_rank for part in self.parts), default=0)
        error = "" if self.error is None else f", error {self.error:.1e} on some rows"
        ranks = f"rtol {self.rtol:g}{error}, ranks up to {largest}"
        return f"operator of {len(self.parts)} H-matrices {size}, {ranks}, {self.seconds:.2f} s, {self.label}"

    __repr__ = __str__


def _terms_of(file: SavedGroup, parts: list[HMatrix]) -> list[Term]:
    """The summands of a sum, all of the shape of the sum, which a file holds with these H-matrices."""
    factors = file.array("factors", np.complex128, (None,))
    table = file.array("terms", np.int64, (len(factors), len(COLUMNS)))
    file.require(len(table), "a sum of nothing")
    is_sparse, number, transposed, conjugated = table.T
    for name, flags in (("is_sparse", is_sparse), ("transposed", transposed), ("conjugated", conjugated)):
        file.require(((flags == 0) | (flags == 1)).all(), f"{name} of a summand is neither 0 nor 1")
    most = np.where(is_sparse == 1, len(table), len(parts))
    file.require(((number >= 0) & (number < most)).all(), "a summand that is not in the file")
    shape = np.asarray(file.attribute("shape"))
    file.require(shape.dtype.kind == "i" and shape.shape == (2,) and (shape > 0).all(), f"its shape is {shape}")
    terms = []
    for factor, n, sparse, turned, conjugate in zip(factors, number, is_sparse, transposed, conjugated, strict=True):
        rows, columns = (int(size) for size in shape[:: -1 if turned else 1])
        matrix = sparse_of(file[f"sparse/{n}"], (rows, columns)) if sparse else parts[n]
        file.require(matrix.shape == (rows, columns), f"a summand has the shape {matrix.shape}")
        value = complex(factor)
        terms.append(Term(value if value.imag else value.real, matrix, bool(turned), bool(conjugate)))
    return terms


def product_of(terms: list[Term]) -> LinearOperator:
    """The products of a sum of terms."""
    summands = []
    for term in terms:
        matrix = aslinearoperator(term.matrix)
        if term.transposed:
            matrix = matrix.H if term.conjugated else matrix.T
        elif term.conjugated:
            matrix = matrix.H.T
        summands.append(term.factor * matrix)
    return sum(summands[1:], summands[0])
