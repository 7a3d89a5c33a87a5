"""LU factorisations of dense matrices, on the host or where a matrix stays, for any number of right-hand sides."""

import time
import warnings
from abc import ABC, abstractmethod
from functools import partial
from typing import Any

import numpy as np
from scipy.linalg import get_lapack_funcs
from scipy.sparse import issparse
from scipy.sparse.linalg import LinearOperator, onenormest

from calderon.backends import DeviceMatrix, LinearAlgebra, require_device_memory
from calderon.mesh.errors import AccuracyWarning
from calderon.solvers.system import by_parts, checked_columns
from calderon.validation import callers_level, truth, unmasked

NOT_FINITE = "the matrix holds NaN or infinite entries: check the mesh for degenerate elements"


def norm_estimate(matrix: Any, columns: int = 2) -> float:
    """The 1-norm of a matrix or linear operator from a few products (Higham and Tisseur 2000), the same each time:
    SciPy begins with columns by NumPy's global random numbers, whose state is restored."""
    state = np.random.get_state()  # noqa: NPY002
    np.random.seed(0)  # noqa: NPY002
    try:
        return float(onenormest(matrix, t=columns))
    finally:
        np.random.set_state(state)  # noqa: NPY002


def _singular(pivot: int, size: int) -> str:
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
        truth(adjoint, "adjoint")
        columns, shape = checked_columns(b, self.shape[0], "the right-hand side", empty=True)
        if columns.shape[1] == 0:
            return np.empty(shape, np.result_type(self.dtype, columns.dtype))
        if columns.dtype.kind == "c" and self.dtype.kind != "c":
            return by_parts(partial(self._solve, adjoint=adjoint), columns).reshape(shape)
        return self._solve(columns, adjoint).reshape(shape)

    def as_preconditioner(self) -> LinearOperator:
        """x -> A^-1 x."""
        solve, adjoint = self.solve, partial(self.solve, adjoint=True)
        return LinearOperator(
            self.shape, matvec=solve, rmatvec=adjoint, matmat=solve, rmatmat=adjoint, dtype=self.dtype
        )

    def __matmul__(self, b: Any) -> np.ndarray:
        """A^-1 @ b, so that a factorisation serves as the preconditioner of an iteration."""
        return self.solve(b)

    def __str__(self) -> str:
        n = self.shape[0]
        return f"LU factorisation {n} x {n}, {self.dtype}, {self.nbytes / 1e6:.3g} MB, {self.seconds:.3g} s{self.where}"


class LU(Factorisation):
    """L U factors of a matrix by LAPACK.

    factors (n, n), pivots (n,): as LAPACK getrf leaves them, of A or (transposed) of its transpose.
    norm: |A| in the 1-norm (of its transpose where that was factorised), for the condition number.
    seconds: time of the factorisation.
    """

    def __init__(self, factors: np.ndarray, pivots: np.ndarray, transposed: bool, norm: float, seconds: float) -> None:
        self.factors, self.pivots, self.transposed, self.norm, self.seconds = factors, pivots, transposed, norm, seconds
        self.shape, self.dtype = factors.shape, factors.dtype
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


class DeviceLU(Factorisation):
    """The factors of A^T on a device (LAPACK reads a matrix stored by rows as its transpose).

    device: where. factors: as the device returns them. norm: |A^T| in the 1-norm.
    """

    def __init__(self, matrix: DeviceMatrix, factors: Any, norm: float, seconds: float) -> None:
        self.device: LinearAlgebra = matrix.device  # type: ignore[assignment]
        self.factors, self.norm, self.seconds = factors, norm, seconds
        self.shape, self.dtype = matrix.shape, np.dtype(matrix.dtype)
        self.nbytes = matrix.nbytes + 4 * matrix.shape[0]
        self.where = f" on {matrix.device.name}"

    @property
    def condition(self) -> float:
        """Estimate of |A^T| |A^-T| in the 1-norm from a few solutions (Higham and Tisseur 2000), accurate to a factor
        of about three."""
        return float(self.norm * norm_estimate(self.as_preconditioner().T))

    def _solve(self, columns: np.ndarray, adjoint: bool) -> np.ndarray:
        rhs = np.asfortranarray(columns.conj() if adjoint else columns, dtype=self.dtype)  # A^* = conj(A^T)
        solution = self.device.lu_solve(self.factors, rhs, transposed=not adjoint)
        return solution.conj() if adjoint else solution


def lu(A: Any, overwrite: bool = False) -> Factorisation:
    """Factorise a dense matrix: NumPy array, or anything with ``to_array()``; a matrix that stays on a CUDA device is
    factorised there.

    overwrite: let the factors overwrite the matrix, which is lost, so that only one is in memory at a time.

    AccuracyWarning where the condition number exceeds a tenth of 1 / eps, eps the rounding unit of the matrix.
    A matrix stored by rows is factorised as its transpose, which LAPACK reads without a transposing copy. Raises
    LinAlgError for an exactly singular matrix, ValueError for NaN or infinity, and for a matrix that stays on a device
    without LU factorisation (OpenCL).
    """
    if issparse(A):
        raise TypeError("lu supports dense matrices only: use sparse_inverse(A) for a sparse one")
    if isinstance(A, DeviceMatrix):
        return _device_lu(A, overwrite)
    # entries, square, in a precision of LAPACK
    array = A.to_array() if hasattr(A, "to_array") else A
    if not isinstance(array, np.ndarray):
        raise TypeError(
            f"lu needs the entries of a matrix, got {type(A).__name__}: assemble with method='dense', or use gmres"
        )
    array = unmasked(array, "the matrix")
    _require_square(array.shape)
    if array.dtype.kind not in "fciub":
        raise TypeError(f"lu needs a matrix of numbers, got {array.dtype}")
    if array.dtype.char not in "fdFD":
        array = array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)
    # LAPACK reads columns: a matrix stored by rows is factorised as its transpose
    began = time.perf_counter()
    transposed = not array.flags.f_contiguous
    columnwise = array.T if transposed else array
    getrf, lange = get_lapack_funcs(("getrf", "lange"), (columnwise,))
    overwrite = truth(overwrite, "overwrite")
    size = float(lange("1", columnwise))
    if not np.isfinite(size):
        raise ValueError(NOT_FINITE)
    factors, pivots, info = getrf(columnwise, overwrite_a=overwrite and array.flags.writeable)
    if info > 0:
        raise np.linalg.LinAlgError(_singular(info - 1, len(pivots)))
    return _warned(LU(factors, pivots, transposed, size, time.perf_counter() - began))


def _warned(factors: Factorisation) -> Factorisation:
    """The factors themselves, with an AccuracyWarning if the matrix is singular to rounding."""
    condition = factors.condition
    if condition * np.finfo(factors.dtype).eps > 0.1:  # relative errors are about as large as that
        warnings.warn(
            f"the matrix is singular to rounding: its condition number is about {condition:.1e}, and {factors.dtype} "
            f"resolves {1 / np.finfo(factors.dtype).eps:.1e}; solutions may have no correct digit. Check for a "
            "resonance or an equation without a unique solution, or assemble in double precision",
            AccuracyWarning,
            stacklevel=callers_level(),
        )
    return factors


def _device_lu(matrix: DeviceMatrix, overwrite: bool) -> Factorisation:
    device, size = matrix.device, matrix.shape[0]
    if not isinstance(device, LinearAlgebra):
        raise ValueError(
            f"{device.name} ({device.label}) has no LU factorisation: solve with gmres(A, b), which stays on the "
            "device, or factorise on the processor with lu(A.to_array()); for a problem, choose solver='gmres', or "
            "omit keep_on_device"
        )
    _require_square(matrix.shape)
    if not overwrite:
        advice = "try lu(A, overwrite=True), which overwrites the matrix, gmres(A, b), or precision='single'"
        require_device_memory(device, matrix.nbytes, "an LU factorisation in addition to the matrix", advice)
    began = time.perf_counter()
    norm = matrix.largest_row_sum()
    if not np.isfinite(norm):
        raise ValueError(NOT_FINITE)
    factors, diagonal = device.lu_factor(matrix.entries, overwrite)
    if not diagonal.all():
        raise np.linalg.LinAlgError(_singular(int(np.argmin(diagonal != 0)), size))
    return _warned(DeviceLU(matrix, factors, norm, time.perf_counter() - began))


def _require_square(shape: tuple[int, ...]) -> None:
    if len(shape) != 2 or shape[0] != shape[1] or shape[0] == 0:
        raise ValueError(f"lu needs a square matrix that is not empty, got shape {shape}")
