"""Dense matrices that stay on the device: assembled where `gmres` and `lu` then work.

Integral operators and their sums, blocks, multiples and transposed forms are computed in place. What is composed of
matrices (`A @ B`, the transformed hypersingular form, dual functions) is put together on the host and sent, rows after
rows.
"""

import time

from calderon.backends import DeviceMatrix, Execution, require_memory
from calderon.operators.algebra import BoundaryOperator
from calderon.operators.memory_estimate import held_bytes, preparation_bytes
from calderon.operators.tree import fill
from calderon.products.device.places import DevicePlace


def assemble_on_device(operator: BoundaryOperator, execution: Execution) -> DeviceMatrix:
    """The matrix of an operator, which stays on the device. MemoryError, before anything is computed, where it does not
    fit."""
    device = execution.required_device(
        "keep_on_device=True is for devices, and the backend is the processor: leave it out, or choose "
        "backend='cuda' or 'opencl'"
    )
    require_memory(
        preparation_bytes(operator) + held_bytes(operator), f"the preparation of {operator!r}", "try a coarser mesh"
    )
    started = time.perf_counter()
    matrix = DeviceMatrix(device, operator.shape, execution.dtype(operator.is_complex))
    fill(DevicePlace(matrix, execution, 0, 0, operator.shape), operator)
    device.synchronize()
    matrix.seconds = time.perf_counter() - started
    return matrix
