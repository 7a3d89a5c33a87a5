"""From coefficients of functions to moments of leaves (P2M), and from local expansions of leaves to sums with functions
(L2P), by moments that are stored (moment_store.py): every product reads each of them once.

Vectors of coefficients stand one after the other, those of the harmonic sums of a box next to each other.
"""

import functools
from collections.abc import Callable
from typing import NamedTuple

from calderon.backends.numba import kernel
from calderon.backends.vector_loads import total
from calderon.backends.vectors import lanes, number, zero
from calderon.fmm.moment_store import add_run, with_run

SUMS = 4
"""Harmonic sums of elastostatics: phi_1, phi_2, phi_3 and chi (elastic_moments.py)."""


class PieceKernels(NamedTuple):
    """P2M and L2P of pieces of functions: of fields, with a run of moments for each harmonic sum, and of values that
    test in three directions, of which three pieces have the SUMS runs of 1, y_1, y_2 and y_3."""

    from_fields: Callable[..., None]
    to_fields: Callable[..., None]
    from_values: Callable[..., None]
    to_values: Callable[..., None]


@functools.cache
def piece_kernels(packed: bool) -> PieceKernels:
    """The kernels for moments in 16 bits (packed), or as floats."""
    return PieceKernels(*_field_kernels(packed), *_value_kernels(packed))


def _field_kernels(packed: bool) -> tuple[Callable[..., None], Callable[..., None]]:
    """from_fields and to_fields of `PieceKernels`."""

    @kernel
    def from_fields(stored, rank, sums, starts, x, count, boxes, moments, low, high):
        """Add coefficients times moments to those of the leaves low up to, without, high.

        stored: the first five fields of `Moments`, with `sums` runs of `rank` numbers for each piece; starts
        (leaves + 1,): where the pieces of each leaf begin; x (count n,): coefficients of `count` vectors; boxes
        (leaves,): the box of each; moments (boxes count sums rank,): are added to.
        """
        lanes(moments)
        length = starts[len(starts) - 1]
        for i in range(low, high):
            for j in range(starts[i], starts[i + 1]):
                for q in range(count):
                    f, first = number(x, q * length + j), (boxes[i] * count + q) * sums * rank
                    for c in range(sums):
                        add_run(stored, packed, rank, sums * j + c, f, moments, first + c * rank)

    @kernel
    def to_fields(stored, rank, sums, starts, local, boxes, y, count, low, high):
        """Add local expansions (boxes count sums rank,) times moments to the vectors y (count n,), for the leaves
        low up to, without, high; stored, rank, sums, starts, boxes: as in `from_fields`."""
        length = starts[len(starts) - 1]
        for i in range(low, high):
            for j in range(starts[i], starts[i + 1]):
                for q in range(count):
                    first, t = (boxes[i] * count + q) * sums * rank, zero(local)
                    for c in range(sums):
                        t = with_run(stored, packed, rank, sums * j + c, t, local, first + c * rank)
                    y[q * length + j] += total(t)

    return from_fields, to_fields


def _value_kernels(packed: bool) -> tuple[Callable[..., None], Callable[..., None]]:
    """from_values and to_values of `PieceKernels`."""

    @kernel
    def from_values(stored, rank, starts, x, count, boxes, moments, low, high):
        """Add coefficients times moments to those of the leaves low up to, without, high: those of 1 to the sum of the
        component, of y_c to the last sum. starts (leaves + 1,): where the functions of each leaf begin, with three
        pieces each; stored, rank, x, count, boxes, moments: as in `from_fields`."""
        lanes(moments)
        length = 3 * starts[len(starts) - 1]
        for i in range(low, high):
            for j in range(starts[i], starts[i + 1]):
                for q in range(count):
                    first = (boxes[i] * count + q) * SUMS * rank
                    for c in range(3):
                        f = number(x, q * length + 3 * j + c)
                        add_run(stored, packed, rank, SUMS * j, f, moments, first + c * rank)
                        add_run(stored, packed, rank, SUMS * j + c + 1, f, moments, first + 3 * rank)

    @kernel
    def to_values(stored, rank, starts, local, boxes, y, count, low, high):
        """Add local expansions times moments to the vectors y (count n,), for the leaves low up to, without, high;
        stored, rank, starts, local, boxes: as in `from_values` and `to_fields`."""
        length = 3 * starts[len(starts) - 1]
        for i in range(low, high):
            for j in range(starts[i], starts[i + 1]):
                for q in range(count):
                    first = (boxes[i] * count + q) * SUMS * rank
                    for c in range(3):
                        t = with_run(stored, packed, rank, SUMS * j, zero(local), local, first + c * rank)
                        t = with_run(stored, packed, rank, SUMS * j + c + 1, t, local, first + 3 * rank)
                        y[q * length + 3 * j + c] += total(t)

    return from_values, to_values


@kernel
def move_origin(sums, boxes, arms, count, rank, last, low, high):
    """Move the origin from which points are measured, in sums (boxes count SUMS rank,) of boxes low up to, without,
    high.

    Each box has `count` vectors of SUMS sums with `rank` numbers. The first three sums receive their arm times the last
    one, or, where `last` is True, the last one receives arms times the first three. boxes (n,): the box of each leaf;
    arms (n, 3): of these.
    """
    for i in range(low, high):
        for first in range(boxes[i] * count * SUMS * rank, (boxes[i] + 1) * count * SUMS * rank, SUMS * rank):
            for c in range(3):
                arm, one, other = arms[i, c], first + c * rank, first + 3 * rank
                if last:
                    one, other = other, one
                for k in range(rank):
                    sums[one + k] += arm * sums[other + k]
