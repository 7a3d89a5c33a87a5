"""Estimated cost of a pre-corrected FFT operator, before memory is taken."""

from typing import Any

import numpy as np

from calderon.fft.expressions import grids_in
from calderon.fft.grid import SPACINGS, Grid
from calderon.fft.near import near_counts
from calderon.fft.operator import Parts
from calderon.operators.methods import Plan
from calderon.products.cost import Cost


def plan_fft(
    operator: Any,
    rtol: float | None = None,
    precision: str = "double",
    spacing: float | None = None,
    order: int = 3,
    near: float | None = None,
) -> Plan:
    """The plan of `assemble_fft` with the same options; ValueError for what that refuses. rtol: has no influence."""
    plans = [_plan(each, precision, spacing, order, near) for each in grids_in(operator)]
    nbytes, seconds, product = (sum(part) for part in zip(*(each[1:4] for each in plans), strict=True))
    return Plan("fft", int(nbytes), seconds, product, precision=precision)


def _plan(operator: Any, precision: str, spacing: float | None, order: int, near: float | None) -> Plan:
    """The plan of one grid; arguments as in `plan_fft`.

    By measurement, a pair of functions that is near on a grid takes 300 bytes and 4e5 flops, with its share of a
    preconditioner and of an iteration; a node takes 16 bytes in each array, which are padded to four times as many.
    """
    field = Parts.of(operator).field
    if len(field.parts.vertical):
        raise ValueError("method 'fft' multiplies horizontal metal: vertical metal is dense, take method='dense'")
    metal, count = field.horizontal_metal, field.trial.dimension
    planes = len(metal.heights)
    grid = Grid.of(metal, spacing, order)
    reach = SPACINGS * grid.spacing if near is None else near
    pairs = (int(near_counts(grid, reach)[0].sum()) + count) // 2
    nbytes = 300 * pairs + 64 * int(np.prod(grid.shape)) * (2 * planes**2 + 6 * planes)
    setup, product = Cost(field.special_flops + 4e5 * float(pairs)), Cost(nbytes=nbytes)
    return Plan("fft", nbytes, setup.seconds, product.seconds, precision=precision)
