"""Operators made of H-matrices: sums, products, transposes, tables."""

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from calderon.backends import format_bytes
from calderon.hmatrix.cluster_tree import ClusterTree
from calderon.hmatrix.hmatrix import HMatrix
from calderon.hmatrix.off_diagonal import Term
from calderon.hmatrix.saving import (
    SUM,
    get_hmatrix,
    get_sparse,
    new_file,
    put_hmatrix,
    put_sparse,
    saved_file,
    with_shared_trees,
)

COLUMNS = "is_sparse", "number", "transposed", "conjugated"
"""Of the table of summands in a file."""


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
        compressed = {id(part): number for number, part in enumerate(self.parts)}
        with new_file(path, SUM) as file:
            file.attrs.update(label=self.label, seconds=self.seconds, rtol=self.rtol, parts=len(self.parts))
            file.attrs["shape"] = self.shape
            for number, part in enumerate(self.parts):
                put_hmatrix(file.create_group(f"parts/{number}"), part)
            rows = []
            for number, term in enumerate(self.terms):
                is_sparse = id(term.matrix) not in compressed
                if is_sparse:
                    put_sparse(file.create_group(f"sparse/{number}"), term.matrix)
                place = number if is_sparse else compressed[id(term.matrix)]
                rows.append((is_sparse, place, term.transposed, term.conjugated))
            file.create_dataset("factors", data=np.array([complex(term.factor) for term in self.terms]))
            file.create_dataset("terms", data=np.array(rows, np.int64).reshape(-1, len(COLUMNS)))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "ComposedOperator":
        """The sum that was saved. ValueError for another kind or version of file, and for a damaged one."""
        with saved_file(path, SUM) as file:
            attrs: Any = dict(file.attrs)
            trees: list[ClusterTree] = []
            parts = [
                HMatrix(**with_shared_trees(get_hmatrix(file[f"parts/{number}"]), trees))
                for number in range(int(attrs["parts"]))
            ]
            terms = []
            for factor, row in zip(file["factors"][()], file["terms"][()], strict=True):
                is_sparse, number, transposed, conjugated = (int(each) for each in row)
                rows, columns = (int(size) for size in attrs["shape"][:: -1 if transposed else 1])
                matrix = get_sparse(file[f"sparse/{number}"], (rows, columns)) if is_sparse else parts[number]
                value = complex(factor)
                terms.append(Term(value if value.imag else value.real, matrix, bool(transposed), bool(conjugated)))
        label, seconds, rtol = str(attrs["label"]), float(attrs["seconds"]), float(attrs["rtol"])
        return cls(product_of(terms), parts, label, seconds, rtol, terms)

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
