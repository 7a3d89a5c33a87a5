"""LU factorisation of a matrix that stays on a device, which also factorises and solves."""

import time
from typing import Any

import numpy as np
from scipy.sparse.linalg import onenormest

from calderon.backends import DeviceMatrix, LinearAlgebra, require_device_memory
from calderon.solvers.factorisation import NOT_FINITE, Factorisation, singular


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
        return float(self.norm * onenormest(self.as_preconditioner().T))

    def _solve(self, columns: np.ndarray, adjoint: bool) -> np.ndarray:
        rhs = np.asfortranarray(columns.conj() if adjoint else columns, dtype=self.dtype)  # A^* = conj(A^T)
        solution = self.device.lu_solve(self.factors, rhs, transposed=not adjoint)
        return solution.conj() if adjoint else solution


def device_lu(matrix: DeviceMatrix, overwrite: bool) -> DeviceLU:
    """Factorise on the device; see `lu`."""
    device, size = matrix.device, matrix.shape[0]
    if not isinstance(device, LinearAlgebra):
        raise ValueError(
            f"{device.name} ({device.label}) has no LU factorisation: solve with gmres(A, b), which stays on the "
            "device, or factorise on the processor with lu(A.to_array()); for a problem, choose solver='gmres', or "
            "omit keep_on_device"
        )
    if matrix.shape[0] != matrix.shape[1] or size == 0:
        raise ValueError(f"lu needs a square matrix that is not empty, got shape {matrix.shape}")
    if not overwrite:
        advice = "try lu(A, overwrite=True), which overwrites the matrix, gmres(A, b), or precision='single'"
        require_device_memory(device, matrix.nbytes, "an LU factorisation in addition to the matrix", advice)
    began = time.perf_counter()
    norm = matrix.largest_row_sum()
    if not np.isfinite(norm):
        raise ValueError(NOT_FINITE)
    factors, diagonal = device.lu_factor(matrix.entries, overwrite)
    if not diagonal.all():
        raise np.linalg.LinAlgError(singular(int(np.argmin(diagonal != 0)), size))
    return DeviceLU(matrix, factors, norm, time.perf_counter() - began)
