"""Numbers in few bits, of which eight next to each other have one exponent: v = m 2^e.

`Packed` numbers have 16 bits, and what rounding leaves of one is added to a later one, so that sums of numbers are
kept: for products with smooth vectors, which cancel to a hundredth of their terms. `Digits` are runs of numbers, the
first of which matter most: each has 8 bits, the first half has a second digit for what the first one leaves, an eighth
a third one.
"""

import math
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from calderon.backends.numba import jitable_part, kernel
from calderon.backends.vectors import VectorType, aligned

GROUP = 8
"""Numbers with one exponent."""
FURTHER = 16
"""Largest difference of the exponents of a number's digits: with it sums of digits are exact in single precision, as
devices store them."""
LARGEST = 2**15 - 1
RTOL = 1e-4
"""Tolerance of products from which their numbers may be packed."""
BEYOND = 32
"""Numbers behind the last one that loads of whole vectors may touch."""


class Packed(NamedTuple):
    """numbers in single or double precision, without exponents, or 16-bit numbers and the exponents of groups."""

    numbers: NDArray[Any]
    exponents: NDArray[np.int8]

    @staticmethod
    def empty(count: int) -> "Packed":
        """Zeros, so many of them."""
        room = -(-(count + BEYOND) // GROUP)
        return Packed(np.zeros(room * GROUP, np.int16), np.zeros(room, np.int8))

    @staticmethod
    def plain(numbers: NDArray[Any]) -> "Packed":
        """Numbers as they are."""
        return Packed(numbers, np.zeros(0, np.int8))

    @property
    def nbytes(self) -> int:
        return self.numbers.nbytes + self.exponents.nbytes

    def part(self, low: int, high: int) -> NDArray[Any]:
        """Numbers low .. high; of packed ones low is a multiple of GROUP."""
        if not len(self.exponents):
            return self.numbers[low:high]
        last = -(-high // GROUP)
        powers = np.ldexp(np.float32(1), self.exponents[low // GROUP : last].astype(np.int32))
        found = self.numbers[low : last * GROUP].reshape(-1, GROUP) * powers[:, None]
        return found.ravel()[: high - low]


class Digits(NamedTuple):
    """Runs of numbers as they are, or as sums of digits: shape: how many numbers a run has, and how many of them have a
    second and a third digit, which follow."""

    numbers: NDArray[Any]
    exponents: NDArray[np.int8]
    shape: tuple[int, int, int]

    @staticmethod
    def empty(runs: int, rank: int, real: Any) -> "Digits":
        """Zeros; real: their type, None for digits of `rank` numbers, a multiple of GROUP."""
        if real is not None:
            return Digits(aligned(runs * rank, real), np.zeros(0, np.int8), (rank, 0, 0))
        second = -(-rank // (2 * GROUP)) * GROUP
        shape = rank, second, min(second, max(2, -(-rank // (8 * GROUP))) * GROUP)
        return Digits(np.zeros(runs * sum(shape), np.int8), np.zeros(runs * sum(shape) // GROUP, np.int8), shape)

    @property
    def nbytes(self) -> int:
        return self.numbers.nbytes + self.exponents.nbytes

    def enter(self, values: NDArray[Any], first: int) -> None:
        """Runs (n, rank), from run `first` on."""
        rank = self.shape[0]
        if len(self.exponents):
            enter_digits(values.ravel(), self.shape, first, self.numbers, self.exponents)
        else:
            self.numbers[first * rank : first * rank + values.size] = values.ravel()

    def runs(self, low: int, high: int) -> NDArray[Any]:
        """(high - low, rank) runs."""
        rank, second, third = self.shape
        pitch = rank + second + third
        found = self.numbers[low * pitch : high * pitch].reshape(-1, pitch)
        if not len(self.exponents):
            return found
        powers = self.exponents[low * pitch // GROUP : high * pitch // GROUP].astype(np.int32)
        found = (found.reshape(-1, GROUP) * np.ldexp(np.float32(1), powers)[:, None]).reshape(found.shape)
        whole = found[:, :rank].copy()
        whole[:, :second] += found[:, rank : rank + second]
        whole[:, :third] += found[:, rank + second :]
        return whole


@jitable_part
def exponent_of(largest, most):  # type: ignore[no-untyped-def]
    """The least e with largest <= most 2^e."""
    return max(math.frexp(largest / most)[1], -127) if largest > 0 else -127


@kernel
def enter_digits(values, shape, first, numbers, exponents):  # type: ignore[no-untyped-def]
    """Runs, from run `first` on."""
    rank = shape[0]
    place, rest = first * (rank + shape[1] + shape[2]), np.empty(rank)
    for run in range(len(values) // rank):
        start = place
        for k in range(rank):
            rest[k] = values[run * rank + k]
        for count in shape:
            for g in range(0, count, GROUP):
                largest = 0.0
                for k in range(g, g + GROUP):
                    largest = max(largest, abs(rest[k]))
                exponent = exponent_of(largest, 127.0)
                if place > start:
                    exponent = max(exponent, exponents[(start + g) // GROUP] - FURTHER)
                exponents[(place + g) // GROUP] = exponent
                unit, inverse = math.ldexp(1.0, exponent), math.ldexp(1.0, -exponent)
                for k in range(g, g + GROUP):
                    rounded = np.rint(rest[k] * inverse)
                    numbers[place + k], rest[k] = np.int8(rounded), rest[k] - rounded * unit
            place += count


@jitable_part
def pack(values, first, count, place, carry, numbers, exponents):  # type: ignore[no-untyped-def]
    """values[first : first + count] from `place` on, a multiple of GROUP. What rounding leaves of number k is added to
    number k + len(carry), so that sums over numbers so far apart are those of the values: products with smooth vectors
    cancel, and their errors should do so, too."""
    period, slot = len(carry), 0
    for g in range(0, count, GROUP):
        many, largest, left = min(GROUP, count - g), 0.0, 0.0
        for k in range(g, g + many):
            largest = max(largest, abs(values[first + k]))
        for c in range(period):
            left = max(left, abs(carry[c]))
        exponent = exponent_of(largest + left, LARGEST)
        exponents[(place + g) // GROUP] = exponent
        unit, inverse = math.ldexp(1.0, exponent), math.ldexp(1.0, -exponent)
        for k in range(g, g + many):
            wanted = values[first + k] + carry[slot]
            rounded = np.rint(wanted * inverse)
            numbers[place + k], carry[slot] = np.int16(rounded), wanted - rounded * unit
            slot = slot + 1 if slot + 1 < period else 0


@jitable_part
def number_of(numbers, exponents, k):  # type: ignore[no-untyped-def]
    """The number at k."""
    factor = math.ldexp(1.0, exponents[k // GROUP]) if len(exponents) > 0 else 1.0
    return numbers[k] * factor


def _load_packed(typing_context, numbers, exponents, index, like):  # type: ignore[no-untyped-def]
    """The vector of GROUP numbers from index, a multiple of it, in double precision like the row `like`."""
    kind = VectorType(like.dtype)
    if numbers.dtype not in (types.int8, types.int16) or like.dtype != types.float64:
        return None
    bits_of_each = numbers.dtype.bitwidth

    def generate(context, builder, sig, args):  # type: ignore[no-untyped-def]
        stored, wanted = (ir.VectorType(each, GROUP) for each in (ir.IntType(bits_of_each), ir.DoubleType()))
        data, powers = (context.make_array(sig.args[n])(context, builder, args[n]).data for n in (0, 1))
        place = builder.gep(data, [args[2]], inbounds=True)
        digits = builder.load(builder.bitcast(place, stored.as_pointer()), align=bits_of_each // 8)
        value = builder.sitofp(builder.sext(digits, ir.VectorType(ir.IntType(32), GROUP)), wanted)
        group = builder.lshr(args[2], ir.Constant(args[2].type, GROUP.bit_length() - 1))
        exponent = builder.sext(builder.load(builder.gep(powers, [group], inbounds=True)), ir.IntType(64))
        bits = builder.shl(builder.add(exponent, ir.Constant(ir.IntType(64), 1023)), ir.Constant(ir.IntType(64), 52))
        zeros = ir.Constant(ir.VectorType(ir.IntType(32), GROUP), [0] * GROUP)
        none = ir.Constant(wanted, ir.Undefined)
        single = builder.insert_element(none, builder.bitcast(bits, ir.DoubleType()), ir.Constant(ir.IntType(32), 0))
        return builder.fmul(value, builder.shuffle_vector(single, none, zeros))

    return kind(numbers, exponents, types.intp, like), generate


load_packed = intrinsic(_load_packed)
load_packed._set_uuid(f"{__name__}.load_packed")
