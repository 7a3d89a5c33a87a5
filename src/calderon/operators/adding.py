"""Adding a block of a Galerkin matrix to an array, on the processor or on a device."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.backends import Computing, run_tasks
from calderon.greens import Green
from calderon.integrands import Integrand
from calderon.operators.device_edges import DeviceEdgeBlock
from calderon.operators.device_entries import DeviceBlock
from calderon.operators.edge_entries import EdgeBlock
from calderon.operators.entries import Block
from calderon.operators.options import Quadrature
from calderon.spaces import Space

ON_DEVICE: dict[type[Block], type[DeviceBlock]] = {Block: DeviceBlock, EdgeBlock: DeviceEdgeBlock}
"""The class that computes the same on a device."""


def _block(kind: type[Block], how: Computing, form: tuple[Any, ...]) -> Block:
    return kind(*form) if how.device is None else ON_DEVICE[kind](how.device, *form)


def block_of(operator: Any, out: NDArray[Any], how: Computing, half: bool) -> Block:
    """The matrix of an IntegralOperator, or its half (see `add_block`), as a block of which nothing is computed."""
    form = (out, operator.green, operator.integrand, operator.test, operator.trial, 1.0, None, None)
    return _block(operator.block, how, (*form, operator.quadrature, how.real, half))


def add_block(
    out: NDArray[Any],
    green: Green,
    integrand: Integrand,
    test: Space,
    trial: Space,
    factor: complex,
    rows: NDArray[np.int64] | None,
    columns: NDArray[np.int64] | None,
    quadrature: Quadrature | None,
    how: Computing,
    advance: Callable[[int, int], None] | None = None,
    half: bool = False,
    kind: type[Block] = Block,
) -> None:
    """out += factor * matrix[rows][:, columns] of the boundary operator <phi_i, A psi_j>; all rows or columns for None.

    `out` (rows, columns) has contiguous rows and is complex where the Green's function or the factor is. rows and
    columns hold no number twice. advance(done, total) is called after each tile. half: for a symmetric integrand on
    one space, all rows and columns, add only S where the matrix is S + S^T: half the work (see `symmetrise`). kind:
    the class that computes, for spaces of vector fields (edge_entries.py). how: where; a device takes tiles one after
    the other.
    """
    form = (out, green, integrand, test, trial, factor, rows, columns, quadrature or Quadrature(), how.real, half)
    work = _block(kind, how, form)
    count = len(work.tiles) - 1
    done = 0

    def step() -> None:
        nonlocal done
        done += 1
        if advance is not None:
            advance(done, count)

    if count <= 0 or not work.trial.triangles.size:
        return
    if how.device is None:
        run_tasks(work.run, count, work.neighbours, step)
        return
    for number in range(count):
        work.run(number)
        step()
