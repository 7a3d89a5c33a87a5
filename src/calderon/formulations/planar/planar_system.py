"""The equations of a planar problem at one frequency, solved by LU factors, or by GMRES with pre-corrected FFT or
H-matrices."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.linalg import lu_factor, lu_solve
from scipy.sparse.linalg import LinearOperator

from calderon.backends import format_bytes, free_memory
from calderon.fft import GridOperator, cell_inverse, near_inverse
from calderon.hmatrix import ComposedOperator, hlu
from calderon.hmatrix.composed_operator import product_of
from calderon.hmatrix.off_diagonal import Term
from calderon.mesh.topology import components_by_edges
from calderon.operators.layered import LayeredElectricField
from calderon.solvers import gmres

METHODS = ("auto", "dense", "hmatrix", "fft")
DENSE_UP_TO = 6000
"""Unknowns up to which LU factors are faster than the iteration. Beyond, on metal smaller than a wavelength, all
pairs are near ones of a grid, and 6,878 unknowns on a patch do not converge within 1,000 steps; H-matrices with
their factors take 28."""
PIECE = 400
"""Unknowns of a piece of metal up to which its inverse is the better preconditioner."""
COMPRESSED, FACTORS = 10.0, 1e-2
"""Tolerance of an H-matrix over that of the residual, and of the hierarchical factors that precondition it."""
Complex = NDArray[np.complex128]


def chosen_method(method: str, unknowns: int, columns: int, wavelengths: float = np.inf) -> tuple[str, str]:
    """The method, and why "auto" took it; columns: unknowns of vertical metal and probes, which other methods compute
    as "dense" does. wavelengths: extent of the metal, over the shortest one."""
    taken = 16 * unknowns**2
    if method != "auto":
        return method, ""
    if columns > unknowns / 4:
        return "dense", ", as much of the metal is vertical"
    small = ", on metal smaller than a wavelength" if wavelengths < 1 else ""
    compressing = "hmatrix" if small else "fft"
    if unknowns > DENSE_UP_TO:
        return compressing, f", as more than {DENSE_UP_TO} unknowns{small}"
    if taken > free_memory() / 2:
        return compressing, f", as a dense matrix takes {format_bytes(taken)}, more than half of the free memory"
    return "dense", f", as up to {DENSE_UP_TO} unknowns"


def compressed(field: LayeredElectricField, local: sp.csr_array, rtol: float) -> ComposedOperator:
    """The H-matrix of a field plus a sparse matrix, for a residual of rtol."""
    part = field.assemble("hmatrix", rtol=COMPRESSED * rtol)
    terms = [Term(1.0, part), Term(1.0, local)] if local.nnz else [Term(1.0, part)]
    return ComposedOperator(product_of(terms), [part], repr(field), part.seconds, part.rtol, terms)


def preconditioner(operator: GridOperator | ComposedOperator) -> LinearOperator:
    """Hierarchical factors of H-matrices; of grids `cell_inverse` of pieces of metal that are all small, or
    `near_inverse`."""
    if isinstance(operator, ComposedOperator):
        return hlu(operator, FACTORS).as_preconditioner()
    space: Any = operator.matrix.metal.space
    mesh = space.mesh
    pieces = components_by_edges(mesh.triangle_edges, len(mesh.edges))[space.pairs[:, 0]]
    small = np.bincount(pieces).max() <= PIECE and pieces.max() > 0
    return cell_inverse(operator, pieces) if small else near_inverse(operator)


class DenseSystem:
    """LU factors of a symmetric matrix, in its place. info: as text. error: relative, of solutions, beyond rounding."""

    error = 0.0

    def __init__(self, matrix: Complex, why: str) -> None:
        self.info = f"dense matrix {len(matrix)} x {len(matrix)}, {format_bytes(matrix.nbytes)}, LU factors{why}"
        self._factors = lu_factor(matrix.T, overwrite_a=True, check_finite=False)

    def __call__(self, sides: Complex) -> Complex:
        """Solutions (n, m) of right-hand sides."""
        return np.asarray(lu_solve(self._factors, sides, check_finite=False))


class Bordered(LinearOperator):
    """[A B; B^T D] with A by pre-corrected FFT or an H-matrix and a few more columns B, of vertical metal and probes.

    order (n,): the unknowns of A, then those of B and D; columns (n, m): in all rows, in their own order, as vectors
    are. field, local: the field of A, and what is added to it.
    """

    def __init__(
        self, operator: GridOperator | ComposedOperator, columns: Complex, order: NDArray[np.int64],
        field: LayeredElectricField, local: sp.csr_array,
    ) -> None:  # fmt: skip
        super().__init__(np.dtype(complex), (len(columns),) * 2)
        self.operator, self.columns, self.order, self._field, self._local = operator, columns, order, field, local

    def _matvec(self, x: NDArray[Any]) -> Complex:
        x, first, y = x.ravel(), self.operator.shape[0], np.empty(len(x), complex)
        flat, others = self.order[:first], self.order[first:]
        y[flat] = self.operator @ x[flat] + self.columns[flat] @ x[others]
        y[others] = self.columns[flat].T @ x[flat] + self.columns[others] @ x[others]
        return y

    @property
    def near(self) -> sp.csr_array:
        """Entries of A, of functions with common triangles at least."""
        if isinstance(self.operator, GridOperator):
            return self.operator.touching
        return sp.csr_array(self._field.matrix.near[0] + self._local)


@dataclass(eq=False)
class IterativeSystem:
    """GMRES with `preconditioner` of A and the Schur complement of what borders it."""

    bordered: Bordered
    rtol: float
    why: str

    def __post_init__(self) -> None:
        self.operator, self.columns, self.order = self.bordered.operator, self.bordered.columns, self.bordered.order
        self.info, self.error = f"{self.operator}{self.why}", self.rtol
        inverse, first = preconditioner(self.operator), self.operator.shape[0]
        upper, corner = self.columns[self.order[:first]], self.columns[self.order[first:]]
        shape = (len(self.columns),) * 2
        through = inverse @ upper if upper.size else upper
        schur = np.linalg.inv(corner - upper.T @ through)

        def product(x: NDArray[Any]) -> Complex:
            x = x.ravel()
            one, two = x[:first], x[first:]
            return np.concatenate([self.operator @ one + upper @ two, upper.T @ one + corner @ two])

        def approximate(x: NDArray[Any]) -> Complex:
            x = x.ravel()
            one = inverse @ x[:first]
            two = schur @ (x[first:] - upper.T @ one)
            return np.concatenate([one - through @ two, two])

        self._matrix = LinearOperator(shape, matvec=product, dtype=np.dtype(complex))
        self._preconditioner = LinearOperator(shape, matvec=approximate, dtype=np.dtype(complex))

    def __call__(self, sides: Complex) -> Complex:
        """Solutions (n, m) of right-hand sides; ConvergenceError where the iteration fails."""
        found, record = gmres(self._matrix, sides[self.order], rtol=self.rtol, preconditioner=self._preconditioner)
        self.info = f"{self.operator}{self.why}\n{record}"
        return np.asarray(found)[np.argsort(self.order)]
