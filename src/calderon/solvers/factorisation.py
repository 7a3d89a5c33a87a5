"""What every factorisation of a dense matrix offers, wherever its factors are."""

from abc import ABC, abstractmethod
from typing import Any

import numpy as np

NOT_FINITE = "the matrix holds NaN or infinite entries: check the mesh for degenerate elements"


def singular(pivot: int, size: int) -> str:
    """The message for a pivot that is zero."""
    return (
        f"the matrix is singular: pivot {pivot} of {size} is zero; "
        "the equation has no unique solution (a resonance, or a Neumann problem without a condition on the mean)"
    )


class Factorisation(ABC):
    """A = P L U, in the precision of A: solves for any number of right-hand sides.

    shape, dtype: of A. nbytes: memory of the factors. norm: |A| in the 1-norm (of its transpose where that was
    factorised), for the condition number. seconds: time of the factorisation. where: text that `print` adds.
    """

    norm: float
    seconds: float
    where = ""

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]: ...

    @property
    @abstractmethod
    def dtype(self) -> np.dtype: ...

    @property
    @abstractmethod
    def nbytes(self) -> int: ...

    @property
    @abstractmethod
    def condition(self) -> float: ...

    @abstractmethod
    def _solve(self, columns: np.ndarray, adjoint: bool) -> np.ndarray:
        """Solutions (n, m) of A x = b or A^* x = b for right-hand sides, complex ones if A is."""

    def solve(self, b: Any, adjoint: bool = False) -> np.ndarray:
        """The solution x of A x = b, or of A^* x = b; b is (n,) or (n, m), x the same, in the precision of A."""
        array = np.asarray(b)
        if array.dtype.kind not in "fciub":
            raise TypeError(f"the right-hand side must hold numbers, got an array of {array.dtype}")
        size = self.shape[0]
        if array.ndim not in (1, 2) or array.shape[0] != size:
            raise ValueError(f"the right-hand side must have shape ({size},) or ({size}, m), got {array.shape}")
        bad = array.size - np.count_nonzero(np.isfinite(array))
        if bad:
            raise ValueError(f"the right-hand side holds {bad} entries that are NaN or infinite, of {array.size}")
        columns = array.reshape(len(array), -1)
        if columns.shape[1] == 0:
            return np.empty(array.shape, np.result_type(self.dtype, array.dtype))
        if array.dtype.kind == "c" and self.dtype.kind != "c":
            parts = self._solve(np.concatenate([columns.real, columns.imag], axis=1), adjoint)
            half = columns.shape[1]
            return (parts[:, :half] + 1j * parts[:, half:]).reshape(array.shape)
        return self._solve(columns, adjoint).reshape(array.shape)

    def __matmul__(self, b: Any) -> np.ndarray:
        """A^-1 @ b, so that a factorisation serves as the preconditioner of an iteration."""
        return self.solve(b)

    def __str__(self) -> str:
        n = self.shape[0]
        return f"LU factorisation {n} x {n}, {self.dtype}, {self.nbytes / 1e6:.3g} MB, {self.seconds:.3g} s{self.where}"
