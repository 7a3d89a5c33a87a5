"""Numbers in 16 bits: rows of integers m, PER_EXPONENT of which in a row have one exponent e, for the numbers m 2^e.

What rounding leaves of a number is added to the next one of its kind in the row, so that sums of rows are kept:
products with smooth vectors cancel to a hundredth of their terms, and rounding errors should cancel, too. Powers of
two keep what is read and rounded again. A vector of a product (backends/vectors.py) lies in one group, and so has one
factor.
"""

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from calderon.backends.numba import jitable_part, kernel
from calderon.backends.vector_loads import load_as
from calderon.backends.vectors import jitable

PER_EXPONENT = 16
"""Integers with one exponent, a multiple of the numbers of a vector."""
PACKED = 4e-4
"""Tolerance from which products of waves have near entries in 16 bits: errors with random vectors are up to 7e-5."""
LARGEST_INTEGER = 2**15 - 1
"""Largest integer of 16 bits."""
ZERO_POWER = 128
"""Place of 2^0 in POWERS, which exponents of 8 bits are relative to."""
POWERS = np.ldexp(np.float32(1), np.arange(-ZERO_POWER, ZERO_POWER, dtype=np.int32))
"""Powers of two for all exponents of 8 bits."""


@jitable_part
def groups_of(width: Any) -> Any:
    """Exponents of a row of `width` numbers, also elementwise for arrays."""
    return -(-width // PER_EXPONENT)


@jitable_part
def exponent_of(largest, most):
    """Return the least e, from 1 - ZERO_POWER on, with largest <= most 2^e, for numbers largest >= 0 and most > 0."""
    least = 1 - ZERO_POWER
    return max(math.frexp(largest / most)[1], least) if largest > 0 else least


@jitable
def unit_of(exponents, powers, packed, group):
    """Return the power of two by which the integers of a group count, 1 for floats.

    exponents (g,): of groups, read where packed, a constant, is True; powers (256,): POWERS in the type of the result.
    """
    return powers[exponents[group] + ZERO_POWER] if packed else powers.dtype.type(1)


@jitable
def load_numbers(numbers, exponents, powers, packed, place, group, like):
    """Return the vector of the numbers from a place on, in the precision of `like`.

    numbers (n,): floats, or integers where packed is True; place, group: in `numbers`, and of the group in `exponents`;
    like (k,): an array with the type of the vector; exponents, powers, packed: as in unit_of.
    """
    return load_as(numbers, place, like) * unit_of(exponents, powers, packed, group)


@functools.cache
def pack_kernel(step: int) -> Callable[..., None]:
    """The kernel that rounds rows of blocks to 16 bits.

    step: from a number to the next one of its kind, which receives what rounding leaves: 1, 2 for real and imaginary
    parts, 3 for components; 0 for numbers that receive nothing.
    """
    kinds = max(step, 1)

    @kernel
    def pack_rows(
        values, begins, blocks, heights, widths, starts, tops, integers, exponents, low, high
    ):  # fmt: skip
        """Write the integers and the exponents of the blocks numbered blocks[low], ..., blocks[high - 1].

        values (n,): numbers; begins (k,): where those of each of the k chosen blocks begin, row by row. heights, widths
        (b,): rows and numbers of a row of all b blocks; starts, tops (b + 1,): where the integers and the exponents of
        each begin in integers (m,) and exponents (g,), which are written.
        """
        left = np.zeros(kinds)
        for k in range(low, high):
            n, at = blocks[k], begins[k]
            to, group, width = starts[n], tops[n], widths[n]
            # rows, each in groups with one exponent, which begin without anything left
            for _ in range(heights[n]):
                left[:] = 0.0
                for first in range(0, width, PER_EXPONENT):
                    count = min(PER_EXPONENT, width - first)
                    # the least power of two that holds all numbers of the group, with what is left of the last one
                    largest, other = 0.0, 0.0  # two maxima, as each comparison waits for the last one
                    for c in range(0, count - 1, 2):
                        largest = max(largest, abs(values[at + c]) + 0.0)
                        other = max(other, abs(values[at + c + 1]) + 0.0)
                    largest = max(max(largest, other), abs(values[at + count - 1]) + 0.0)
                    more = 0.0
                    for s in range(kinds):
                        more = max(more, abs(left[s]))
                    # the unit of the group
                    exponent = exponent_of(largest + more, LARGEST_INTEGER - 1.0)
                    exponents[group] = exponent
                    unit, inverse = math.ldexp(1.0, exponent), math.ldexp(1.0, -exponent)
                    # integers of one kind: differences of rounded sums, so that no rounding waits for another one
                    for s in range(kinds):
                        total, whole = left[s] * inverse, 0.0
                        for c in range((s - first) % kinds, count, kinds):
                            if step == 0:
                                integers[to + c] = np.int16(np.rint(values[at + c] * inverse))
                            else:
                                total += values[at + c] * inverse
                                rounded = np.rint(total)
                                integers[to + c] = np.int16(rounded - whole)
                                whole = rounded
                        left[s] = (total - whole) * unit
                    at, to, group = at + count, to + count, group + 1

    return pack_rows


@kernel
def unpack_rows(
    values, begins, blocks, heights, widths, starts, tops, integers, exponents, powers, low, high
):  # fmt: skip
    """Write the numbers of the blocks numbered blocks[low], ..., blocks[high - 1] to values (n,).

    powers (256,): POWERS; begins, blocks, heights, widths, starts, tops, integers, exponents: as in `pack_rows`, where
    integers are read.
    """
    for k in range(low, high):
        n, at = blocks[k], begins[k]
        place, group, width = starts[n], tops[n], widths[n]
        for _ in range(heights[n]):
            for first in range(0, width, PER_EXPONENT):
                count, unit = min(PER_EXPONENT, width - first), powers[exponents[group] + ZERO_POWER]
                for c in range(count):
                    values[at + c] = integers[place + c] * unit
                at, place, group = at + count, place + count, group + 1


@kernel
def copy_rows(values, begins, blocks, starts, numbers, low, high):
    """Write the numbers of the blocks numbered blocks[low], ..., blocks[high - 1] as they are to numbers (m,).

    values, begins, blocks, starts: as in `pack_rows`.
    """
    for k in range(low, high):
        first, last = starts[blocks[k]], starts[blocks[k] + 1]
        for c in range(last - first):
            numbers[first + c] = values[begins[k] + c]
