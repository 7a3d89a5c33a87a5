"""Dense assembly and the dense matrix as a SciPy linear operator."""

import math
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from calderon.backends import DeviceMatrix, Execution, format_bytes, require_memory, thread_count
from calderon.backends.vectors import aligned
from calderon.dense.device import assemble_on_device
from calderon.dense.sparse import SparseMatrix, is_sparse, require_few_zeros, sparse_bytes, sparse_matrix
from calderon.operators.algebra import BoundaryOperator
from calderon.operators.lazy_operator import short_label
from calderon.operators.memory_estimate import held_bytes, preparation_bytes
from calderon.operators.methods import Plan
from calderon.operators.tree import ArrayPlace, fill, integrals_of, temporary_bytes
from calderon.products.cost import SINGLE, Cost, pair_flops, touching_flops
from calderon.solvers.live_bar import assembly_progress

PAGE = 4096
"""Bytes of the smallest pages of memory in use."""


class DenseMatrix(LinearOperator):
    """A matrix kept whole. `to_array()`, `nbytes`, `seconds`, `backend`; works wherever SciPy takes a
    LinearOperator."""

    def __init__(self, array: NDArray[Any], label: str = "", seconds: float = 0.0, backend: str = "numba") -> None:
        super().__init__(dtype=array.dtype, shape=array.shape)
        self._array = array
        self.label, self.seconds, self.backend = label, seconds, backend

    @property
    def nbytes(self) -> int:
        """Memory of the entries in bytes."""
        return self._array.nbytes

    def to_array(self) -> NDArray[Any]:
        """The entries themselves (not a copy)."""
        return self._array

    toarray = to_array

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """The entries, for np.asarray(matrix)."""
        return np.array(self._array, dtype=dtype, copy=copy)

    def _matvec(self, x: NDArray[Any]) -> NDArray[Any]:
        return self._array @ x

    _matmat = _matvec

    def _rmatvec(self, x: NDArray[Any]) -> NDArray[Any]:
        return self._array.conj().T @ x

    _rmatmat = _rmatvec

    def __str__(self) -> str:
        size = f"{self.shape[0]} x {self.shape[1]} {self.dtype}, {format_bytes(self.nbytes)}"
        what = f", {self.label}" if self.label else ""
        return f"dense matrix {size}, backend {self.backend}, {self.seconds:.2f} s{what}"

    __repr__ = __str__


def plan_dense(operator: BoundaryOperator, rtol: float | None = None, precision: str = "double") -> Plan:
    """Bytes and seconds of `assemble_dense`: all pairs of triangles, those of symmetric operators once."""
    if is_sparse(operator):
        needed = sparse_bytes(operator, operator.dtype(precision))
        reading = Cost(nbytes=needed).seconds
        return Plan("dense", needed, reading, reading, "sparse", precision)
    require_few_zeros(operator, operator.dtype(precision))
    nbytes = math.prod(operator.shape) * operator.dtype(precision).itemsize
    # an assembly touches the pages of a matrix, and adds regular, touching and mirrored entries
    assembly = Cost(nbytes=4 * nbytes)
    for each in integrals_of(operator):
        pairs = len(each.test.triangles) * len(each.trial.triangles) / (2 if each.is_symmetric else 1)
        assembly += Cost(pairs * pair_flops(each) + touching_flops(each))
    assembly = (SINGLE if precision == "single" else 1.0) * assembly
    for each in (term.atom for term in operator.terms() if term.atom.is_layered):
        # an entry between distant currents: four kernels, by tables, at 3 x 3 points of four pairs of triangles
        assembly += Cost(each.special_flops + 5e3 * math.prod(each.shape))
    needed = nbytes + preparation_bytes(operator) + held_bytes(operator) + temporary_bytes(operator, precision)
    return Plan("dense", needed, assembly.seconds, Cost(nbytes=nbytes).seconds, precision=precision)


def assemble_dense(
    operator: BoundaryOperator, *, backend: str, precision: str, progress: bool | None = None,
    keep_on_device: bool = False,
) -> DenseMatrix | SparseMatrix | DeviceMatrix:  # fmt: skip
    """Compute every entry, to the accuracy of the quadrature; of sparse operators those that are not zero.

    ValueError for `keep_on_device` on the processor."""
    execution = Execution.of(backend, precision, several=not keep_on_device, mixed=True)
    dtype, label = operator.dtype(precision), short_label(operator)
    if not is_sparse(operator):
        require_few_zeros(operator, dtype)
    if keep_on_device:
        matrix = assemble_on_device(operator, execution)
        matrix.label = label
        return matrix
    started = time.perf_counter()
    if is_sparse(operator):
        advice = "try a coarser mesh"
        require_memory(sparse_bytes(operator, dtype), f"the sparse matrix of {operator.shape[0]} rows", advice)
        return SparseMatrix(sparse_matrix(operator, dtype), label, time.perf_counter() - started)
    # entries, and what is prepared for them; in mixed precision also rows in which tiles are summed
    needed = math.prod(operator.shape) * dtype.itemsize + max(1, len(execution.team)) * preparation_bytes(operator)
    needed += held_bytes(operator) + temporary_bytes(operator, precision)
    if execution.far is not None and execution.uses_processor:
        row = operator.shape[1] * execution.regular.itemsize * (2 if dtype.kind == "c" else 1)
        needed += thread_count() * 1024 * row  # rows that each thread holds in single precision
    advice = 'try precision="single", a coarser mesh, or a smaller part with .entries(rows, columns)'
    require_memory(needed, f"dense assembly of {operator.shape[0]} x {operator.shape[1]} entries", advice)
    out = aligned(operator.shape, dtype)
    # touched here in order, page by page: where the system hands them out one by one, the tiles would wait for them
    out.reshape(-1)[:: PAGE // out.itemsize] = 0
    with assembly_progress("assembling", "tiles", progress) as advance:
        fill(ArrayPlace(out, execution, advance), operator)
    return DenseMatrix(out, label, time.perf_counter() - started, execution.name)
