"""Dense matrices that stay on the device: assembled where `gmres` and `lu` then work.

Integral operators and their sums, blocks, multiples and transposed forms are computed in place. What is composed of
matrices (`A @ B`, the transformed hypersingular form, dual functions) is put together on the host and sent, rows after
rows.
"""

import math
import time

import numpy as np

from calderon.backends import Computing, DeviceMatrix, require_memory
from calderon.galerkin.device.block import DevicePart
from calderon.operators.blocks import BlockOperator
from calderon.operators.boundary import BoundaryOperator, IntegralOperator, SparseOperator, Sum, Transposed
from calderon.operators.memory_estimate import preparation_bytes
from calderon.operators.scaled import Scaled

SLICE = 1 << 28
"""Bytes of the rows that go to the device at a time."""


def assemble_on_device(operator: BoundaryOperator | BlockOperator, how: Computing) -> DeviceMatrix:
    """The matrix of an operator, which stays on the device. MemoryError, before anything is computed, where it does not
    fit."""
    if how.device is None:
        raise ValueError(
            "keep_on_device=True is for devices, and the backend is the processor: leave it out, or choose "
            "backend='cuda' or 'opencl'"
        )
    require_memory(preparation_bytes(operator), f"the preparation of {operator!r}", "try a coarser mesh")
    started = time.perf_counter()
    matrix = DeviceMatrix(how.device, operator.shape, how.dtype(operator.is_complex))
    if isinstance(operator, BlockOperator):
        tops, lefts = (np.cumsum([0, *sizes]).tolist() for sizes in (operator.heights, operator.widths))
        for top, row in zip(tops, operator.table, strict=False):
            for left, block in zip(lefts, row, strict=False):
                if block is not None:
                    _fill(DevicePart(matrix, top, left, block.shape), block, how)
    else:
        _fill(DevicePart(matrix, 0, 0, operator.shape), operator, how)
    how.device.synchronize()
    matrix.seconds = time.perf_counter() - started
    return matrix


def _fill(part: DevicePart, operator: BoundaryOperator, how: Computing) -> None:
    """part = matrix, where the part is zero; as BoundaryOperator.fill."""
    if isinstance(operator, Scaled):
        _fill(part, operator.operator, how)
        part.matrix.scale_columns(operator.factors, part.top, part.left, part.shape[0])
        _add(part, operator.rest, 1.0, how)
        return
    terms = operator.parts if isinstance(operator, Sum) else ((1.0, operator),)
    halves = [(factor, term) for factor, term in terms if isinstance(term, IntegralOperator) and term.is_symmetric]
    rest = [(factor, term) for factor, term in terms if not any(term is each for _, each in halves)]
    for factor, half in halves:
        half.add_half_to(part, factor, how)  # type: ignore[arg-type]
    if halves:
        part.matrix.symmetrise(part.shape[0], part.top, part.left)
    for factor, term in rest:
        _add(part, term, factor, how)


def _add(part: DevicePart, operator: BoundaryOperator, factor: complex, how: Computing) -> None:
    """part += factor * matrix."""
    matrix = part.matrix
    if isinstance(operator, IntegralOperator):
        operator.add_to(part, factor, None, None, how)
    elif isinstance(operator, SparseOperator):
        entries = operator.matrix.tocoo()
        entries.sum_duplicates()
        rows, columns = (coordinates.astype(np.int64) for coordinates in entries.coords)
        matrix.add_entries(factor * entries.data, rows + part.top, columns + part.left)
    elif isinstance(operator, Sum):
        for each, term in operator.parts:
            _add(part, term, factor * each, how)
    elif isinstance(operator, Transposed | Scaled):
        inner = operator.operator if isinstance(operator, Transposed) else operator
        other = DeviceMatrix(matrix.device, inner.shape, matrix.dtype)
        _fill(DevicePart(other, 0, 0, inner.shape), inner, how)
        form = (2 if operator.conjugate else 1) if isinstance(operator, Transposed) else 0
        matrix.add_block(other.entries, part.shape, factor, part.top, part.left, form)
    else:
        _add_from_host(part, operator, factor, how)


def _add_from_host(part: DevicePart, operator: BoundaryOperator, factor: complex, how: Computing) -> None:
    matrix, (rows, width) = part.matrix, part.shape
    advice = 'try precision="single", a coarser mesh, or method="matrix-free"'
    require_memory(math.prod(part.shape) * matrix.dtype.itemsize, f"{operator!r}, put together on the host,", advice)
    whole = np.zeros(part.shape, matrix.dtype)
    operator.fill(whole, how)
    step = max(1, SLICE // (width * matrix.dtype.itemsize))
    for lo in range(0, rows, step):
        piece = whole[lo : lo + step]
        matrix.add_block(matrix.device.array(piece), piece.shape, factor, part.top + lo, part.left)
