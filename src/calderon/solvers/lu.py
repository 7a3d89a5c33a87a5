"""LU factorisation of a dense matrix, kept for any number of right-hand sides."""

import time
from typing import Any

import numpy as np
from scipy.linalg import get_lapack_funcs
from scipy.sparse import issparse

from calderon.backends import DeviceMatrix
from calderon.solvers.device_lu import device_lu
from calderon.solvers.factorisation import NOT_FINITE, Factorisation, singular


class LU(Factorisation):
    """A = P L U, in the precision of A.

    factors (n, n), pivots (n,): as LAPACK getrf leaves them, of A or (transposed) of its transpose.
    norm: |A| in the 1-norm (of its transpose where that was factorised), for the condition number.
    seconds: time of the factorisation.
    """

    def __init__(self, factors: np.ndarray, pivots: np.ndarray, transposed: bool, norm: float, seconds: float) -> None:
        self.factors, self.pivots, self.transposed, self.norm, self.seconds = factors, pivots, transposed, norm, seconds
        self.shape, self.dtype = factors.shape, factors.dtype  # type: ignore[assignment]
        self.nbytes = factors.nbytes + pivots.nbytes

    @property
    def condition(self) -> float:
        """Estimate of |A| |A^-1| in the 1-norm (Higham 1988, LAPACK gecon), accurate to a factor of about three.

        Near an interior resonance of an equation that has them this number is large.
        """
        (gecon,) = get_lapack_funcs(("gecon",), (self.factors,))
        reciprocal, _ = gecon(self.factors, self.norm)
        return np.inf if reciprocal == 0 else float(1 / reciprocal)

    def _solve(self, columns: np.ndarray, adjoint: bool) -> np.ndarray:
        (getrs,) = get_lapack_funcs(("getrs",), (self.factors,))
        conjugated = adjoint and self.transposed  # A^* = conj(A^T), and A^T is what was factorised
        rhs = np.array(columns.conj() if conjugated else columns, dtype=self.dtype, order="F")
        trans = (0 if adjoint else 1) if self.transposed else (2 if adjoint else 0)
        solution, _ = getrs(self.factors, self.pivots, rhs, trans=trans, overwrite_b=True)
        return solution.conj() if conjugated else solution


def lu(A: Any, overwrite: bool = False) -> Factorisation:
    """Factorise a dense matrix: NumPy array, or anything with ``to_array()``; a matrix that stays on a CUDA device is
    factorised there.

    overwrite: let the factors overwrite the matrix, which is lost, so that only one is in memory at a time.

    A matrix stored by rows is factorised as its transpose, which LAPACK reads without a transposing copy. Raises
    LinAlgError for an exactly singular matrix, ValueError for NaN or infinity, and for a matrix that stays on a device
    without LU factorisation (OpenCL).
    """
    if issparse(A):
        raise TypeError("lu supports dense matrices only: use sparse_inverse(A) for a sparse one")
    if isinstance(A, DeviceMatrix):
        return device_lu(A, overwrite)
    array = A.to_array() if hasattr(A, "to_array") else A
    if not isinstance(array, np.ndarray):
        raise TypeError(
            f"lu needs the entries of a matrix, got {type(A).__name__}: assemble with method='dense', or use gmres"
        )
    if array.ndim != 2 or array.shape[0] != array.shape[1] or array.shape[0] == 0:
        raise ValueError(f"lu needs a square matrix that is not empty, got shape {array.shape}")
    if array.dtype.kind not in "fciub":
        raise TypeError(f"lu needs a matrix of numbers, got {array.dtype}")
    if array.dtype.char not in "fdFD":
        array = array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)
    began = time.perf_counter()
    transposed = not array.flags.f_contiguous
    columnwise = array.T if transposed else array
    getrf, lange = get_lapack_funcs(("getrf", "lange"), (columnwise,))
    size = float(lange("1", columnwise))
    if not np.isfinite(size):
        raise ValueError(NOT_FINITE)
    factors, pivots, info = getrf(columnwise, overwrite_a=overwrite and array.flags.writeable)
    if info > 0:
        raise np.linalg.LinAlgError(singular(info - 1, len(pivots)))
    return LU(factors, pivots, transposed, size, time.perf_counter() - began)
