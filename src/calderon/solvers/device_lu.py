"""LU factorisation of a matrix that stays on a device, which also factorises and solves."""

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator, onenormest

from calderon.backends import DeviceMatrix, LinearAlgebra, require_device_memory
from calderon.solvers.factorisation import NOT_FINITE, Factorisation, singular


@dataclass(frozen=True, eq=False)
class DeviceLU(Factorisation):
    """The factors of A^T on a device (LAPACK reads a matrix stored by rows as its transpose).

    device: where. factors: what it keeps. size, kind: of A.
    """

    device: LinearAlgebra
    factors: Any
    size: int
    kind: np.dtype
    norm: float
    seconds: float

    @property
    def shape(self) -> tuple[int, int]:
        return self.size, self.size

    @property
    def dtype(self) -> np.dtype:
        return self.kind

    @property
    def nbytes(self) -> int:
        return self.size**2 * self.kind.itemsize + 4 * self.size

    @property
    def where(self) -> str:  # type: ignore[override]
        return f" on {self.device.name}"

    @property
    def condition(self) -> float:
        """Estimate of |A^T| |A^-T| in the 1-norm from a few solutions (Higham and Tisseur 2000), accurate to a factor
        of about three."""
        inverse = LinearOperator(
            self.shape,
            matvec=lambda x: self.solve(x.conj(), adjoint=True).conj(),
            rmatvec=lambda x: self.solve(x.conj()).conj(),
            matmat=lambda x: self.solve(x.conj(), adjoint=True).conj(),
            rmatmat=lambda x: self.solve(x.conj()).conj(),
            dtype=self.kind,
        )
        return float(self.norm * onenormest(inverse))

    def _solve(self, columns: np.ndarray, adjoint: bool) -> np.ndarray:
        rhs = np.asfortranarray(columns.conj() if adjoint else columns, dtype=self.kind)  # A^* = conj(A^T)
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
    return DeviceLU(device, factors, size, np.dtype(matrix.dtype), norm, time.perf_counter() - began)
