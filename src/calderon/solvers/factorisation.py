"""What every factorisation of a dense matrix offers, wherever its factors are."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator

from calderon.solvers.system import checked_columns

NOT_FINITE = "the matrix holds NaN or infinite entries: check the mesh for degenerate elements"


def singular(pivot: int, size: int) -> str:
    """The message for a pivot that is zero."""
    return (
        f"the matrix is singular: pivot {pivot} of {size} is zero; "
        "the equation has no unique solution (a resonance, or a Neumann problem without a condition on the mean)"
    )


class Factorisation(ABC):
    """A = P L U, in the precision of A: solves for any number of right-hand sides.

    shape, dtype: of A. nbytes: memory of the factors. seconds: time of the factorisation. where: text that `print`
    adds.
    """

    shape: tuple[int, int]
    dtype: np.dtype
    nbytes: int
    seconds: float
    where = ""

    @property
    @abstractmethod
    def condition(self) -> float:
        """An estimate of |A| |A^-1| in the 1-norm."""

    @abstractmethod
    def _solve(self, columns: np.ndarray, adjoint: bool) -> np.ndarray:
        """Solutions (n, m) of A x = b or A^* x = b for right-hand sides, complex ones if A is."""

    def solve(self, b: Any, adjoint: bool = False) -> np.ndarray:
        """The solution x of A x = b, or of A^* x = b; b is (n,) or (n, m), x the same, in the precision of A."""
        columns, shape = checked_columns(b, self.shape[0], "the right-hand side", empty=True)
        if columns.shape[1] == 0:
            return np.empty(shape, np.result_type(self.dtype, columns.dtype))
        if columns.dtype.kind == "c" and self.dtype.kind != "c":
            parts = self._solve(np.concatenate([columns.real, columns.imag], axis=1), adjoint)
            half = columns.shape[1]
            return (parts[:, :half] + 1j * parts[:, half:]).reshape(shape)
        return self._solve(columns, adjoint).reshape(shape)

    def as_preconditioner(self) -> LinearOperator:
        """x -> A^-1 x."""
        return LinearOperator(
            self.shape,
            matvec=self.solve,
            rmatvec=lambda b: self.solve(b, adjoint=True),
            matmat=self.solve,
            rmatmat=lambda b: self.solve(b, adjoint=True),
            dtype=self.dtype,
        )

    def __matmul__(self, b: Any) -> np.ndarray:
        """A^-1 @ b, so that a factorisation serves as the preconditioner of an iteration."""
        return self.solve(b)

    def __str__(self) -> str:
        n = self.shape[0]
        return f"LU factorisation {n} x {n}, {self.dtype}, {self.nbytes / 1e6:.3g} MB, {self.seconds:.3g} s{self.where}"
