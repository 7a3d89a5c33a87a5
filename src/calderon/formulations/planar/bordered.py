"""Compressed matrices of horizontal metal with a few dense columns, of vertical metal and of probes."""

from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from calderon.fft import GridOperator, cell_inverse, near_inverse
from calderon.hmatrix import ComposedOperator, hlu
from calderon.mesh.topology import components_by_edges

PIECE = 400
"""Unknowns of a piece of metal up to which its inverse is the better preconditioner of a grid."""
FACTORS = 1e-2
"""Tolerance of hierarchical factors that precondition an H-matrix."""
Complex = NDArray[np.complex128]
Numbers = NDArray[np.int64]


class Bordered(LinearOperator):
    """The symmetric matrix [A B; B^T D] with A on a grid or as an H-matrix, and dense B and D.

    operator: A (a, a). columns (n, m): of B over D, in all rows, which have the numbers of the unknowns. order (n,):
    the unknowns of A, then those of the columns. near: sparse (a, a), the entries of A of functions with common
    triangles at least.
    """

    def __init__(
        self, operator: GridOperator | ComposedOperator, columns: Complex, order: Numbers, near: sp.csr_array
    ) -> None:
        super().__init__(np.dtype(complex), (len(columns),) * 2)
        self.operator, self.columns, self.order, self.near = operator, columns, order, near

    @property
    def nbytes(self) -> int:
        """Memory of A and of the columns in bytes."""
        return self.operator.nbytes + self.columns.nbytes

    @property
    def parts(self) -> tuple[Numbers, Numbers]:
        """The numbers of the unknowns of A, and of those of the columns."""
        first = self.operator.shape[0]
        return self.order[:first], self.order[first:]

    def _matvec(self, x: NDArray[Any]) -> Complex:
        x, y = x.ravel(), np.empty(len(x), complex)
        flat, others = self.parts
        y[flat] = self.operator @ x[flat] + self.columns[flat] @ x[others]
        y[others] = self.columns[flat].T @ x[flat] + self.columns[others] @ x[others]
        return y

    def near_entries(self, rows: Numbers, columns: Numbers) -> Complex:
        """(k,) the entries in these rows and columns, of functions with common triangles."""
        first, place = self.operator.shape[0], np.argsort(self.order)
        i, j, found = place[rows], place[columns], np.empty(len(rows), complex)
        inside, right = (i < first) & (j < first), j >= first
        below = ~inside & ~right
        found[inside] = np.asarray(self.near[i[inside], j[inside]]).ravel()
        found[right] = self.columns[rows[right], j[right] - first]
        found[below] = self.columns[columns[below], i[below] - first]
        return found

    def inverse(self) -> LinearOperator:
        """An approximate inverse: of A by `inverse_of`, of the columns by the Schur complement D - B^T A^-1 B."""
        (flat, others), inverse = self.parts, inverse_of(self.operator)
        upper, corner = self.columns[flat], self.columns[others]
        through = inverse @ upper if upper.size else upper
        schur = np.linalg.inv(corner - upper.T @ through)

        def approximate(x: NDArray[Any]) -> Complex:
            x, y = x.ravel(), np.empty(len(x), complex)
            one = inverse @ x[flat]
            two = schur @ (x[others] - upper.T @ one)
            y[flat], y[others] = one - through @ two, two
            return y

        return LinearOperator(self.shape, matvec=approximate, dtype=np.dtype(complex))

    def __str__(self) -> str:
        number = self.columns.shape[1]
        return f"{self.operator}" + (f", and {number} dense columns" if number else "")


def inverse_of(operator: GridOperator | ComposedOperator) -> LinearOperator:
    """An approximate inverse: hierarchical factors of H-matrices; of grids `cell_inverse` of pieces of metal that are
    all small, or `near_inverse`."""
    if isinstance(operator, ComposedOperator):
        return hlu(operator, FACTORS).as_preconditioner()
    space: Any = operator.matrix.metal.space
    mesh = space.mesh
    pieces = components_by_edges(mesh.triangle_edges, len(mesh.edges))[space.pairs[:, 0]]
    small = np.bincount(pieces).max() <= PIECE and pieces.max() > 0
    return cell_inverse(operator, pieces) if small else near_inverse(operator)
