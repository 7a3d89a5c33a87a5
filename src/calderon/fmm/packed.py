"""Numbers in few bits, eight next to each other with one exponent: v = m 2^e.

`Tensors` are blocks of 3 x 3 entries, as symmetric and antisymmetric parts: of Kelvin's tractions on a plane two of
nine parts are not zero. Each row has one unit, far below its norm, so that small entries have few bits or none, and
what rounding leaves of an entry is added to the next one, so that sums of rows are kept: for products with smooth
vectors, which cancel to a hundredth of their terms. `Digits` are runs of numbers, the first of which matter most: each
has 8 bits, the first third has a second digit for what the first one leaves, a ninth a third one, and the last two
ninths have 4 bits.
"""

import math
import threading
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic
from numpy.typing import NDArray

from calderon.backends import run_tasks, thread_count
from calderon.backends.numba import jitable_part, kernel
from calderon.backends.vectors import VectorType, aligned, jitable, store, zero
from calderon.products.near_store import LARGEST, exponent_of

GROUP = 8
"""Numbers with one exponent."""
FURTHER = 16
"""Largest difference of the exponents of a number's digits: with it sums of digits are exact in single precision, as
devices store them."""
RTOL = 1e-4
"""Tolerance of products from which their numbers may be packed."""
COMPONENTS = 3
"""Of the fields whose blocks are tensors."""
PARTS = 9
"""Of a tensor: xx, yy, zz, half the sums of xy and yx, xz and zx, yz and zy, and half their differences."""
ROUNDING = 0.2
"""Of the entries of a row, in the 2-norm, as a part of a product's tolerance."""


@dataclass(eq=False)
class Tensors:
    """Blocks of tensors, row by row in groups of GROUP columns, of each group one part after the other.

    rows (blocks + 1,): of tensors, before each block; groups (blocks,): of its columns. starts (blocks + 1,): where the
    heads of a block begin; heads: of each part of a group, how many bytes its integers have (0 to 2), plus four times
    the power of two by which they count for more units. begins, units (rows,): of each row. numbers: all bytes.
    """

    rows: NDArray[np.int64]
    groups: NDArray[np.int64]
    starts: NDArray[np.int64]
    heads: NDArray[np.uint8]
    begins: NDArray[np.int64]
    units: NDArray[np.float64]
    numbers: NDArray[np.int8]
    rounding: float
    _lock: Any = field(default_factory=threading.Lock)

    @staticmethod
    def empty(heights: NDArray[np.int64], widths: NDArray[np.int64], rounding: float) -> "Tensors":
        """Without entries; heights, widths: of each block, in tensors. rounding: of a row in the 2-norm, relative."""
        groups, rows = -(-widths // GROUP), np.append(0, np.cumsum(heights))
        starts = PARTS * np.append(0, np.cumsum(heights * groups))
        heads = np.zeros(int(starts[-1]), np.uint8)
        begins, units = np.zeros(int(rows[-1]), np.int64), np.zeros(int(rows[-1]))
        return Tensors(rows, groups, starts, heads, begins, units, np.zeros(0, np.int8), rounding)

    @property
    def nbytes(self) -> int:
        return sum(each.nbytes for each in vars(self).values() if isinstance(each, np.ndarray))

    @property
    def of_rows(self) -> tuple[NDArray[Any], ...]:
        """What `unpack_row` reads, and where the rows and heads of blocks begin, and their groups."""
        return self.numbers, self.heads, self.begins, self.units, self.rows, self.starts, self.groups

    def enter(
        self,
        blocks: tuple[int, int],
        values: NDArray[Any],
        parts: tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]],
        columns: NDArray[np.int32],
    ) -> None:
        """Blocks low .. high, each a sum of several parts: where they begin in values and how many columns of numbers
        they have, (first, starts, widths), and the places of their tensors in the block one after the other."""
        (low, high), (first, starts, widths) = blocks, parts
        bounds = np.linspace(low, high, min(thread_count(), high - low) + 1).astype(np.int64)
        tensors = np.append(0, np.cumsum(widths // COMPONENTS))
        found = [np.zeros(0, np.int8)] * (len(bounds) - 1)

        def work(n: int) -> None:
            own, rows = slice(bounds[n], bounds[n + 1]), slice(self.rows[bounds[n]], self.rows[bounds[n + 1]])
            mine = first[bounds[n] - low : bounds[n + 1] - low + 1]
            heads = self.heads[self.starts[bounds[n]] : self.starts[bounds[n + 1]]]
            room = np.zeros((PARTS, GROUP * int(self.groups[own].max(initial=1))))
            numbers, size = np.zeros(2 * GROUP * len(heads), np.int8), slice(mine[0], mine[-1])
            used = enter_tensors(
                values, starts[size], widths[size], columns[tensors[mine[0]] : tensors[mine[-1]]], mine - mine[0],
                np.diff(self.rows[bounds[n] : bounds[n + 1] + 1]), self.groups[own], self.rounding, room,
                np.zeros(PARTS), heads, self.begins[rows], self.units[rows], numbers,
            )  # fmt: skip
            found[n] = numbers[:used].copy()

        run_tasks(work, len(found))
        with self._lock:  # other blocks may come from other threads
            used = len(self.numbers)
            self.numbers.resize(used + sum(map(len, found)), refcheck=False)  # without a second copy of large arrays
            for n, each in enumerate(found):
                self.begins[self.rows[bounds[n]] : self.rows[bounds[n + 1]]] += used
                self.numbers[used : used + len(each)] = each
                used += len(each)

    def block(self, number: int, width: int) -> NDArray[np.float32]:
        """A block with so many tensors in a row, (3 rows, 3 width)."""
        low, high = self.rows[number : number + 2]
        pitch, groups = GROUP * self.groups[number], self.groups[number]
        out, room = np.zeros((3 * (high - low), 3 * width), np.float32), aligned(PARTS * pitch, np.float64)
        unpack(*self.of_rows[:4], low, high, self.starts[number], groups, width, room, out)
        return out


class Digits(NamedTuple):
    """Runs of numbers as they are, or as sums of digits: shape: how many numbers a run has, how many of them have a
    second and a third digit, which follow, and from which one on the first digit has a half of 8 bits; each group has
    an exponent."""

    numbers: NDArray[Any]
    exponents: NDArray[np.int8]
    shape: tuple[int, int, int, int]

    @staticmethod
    def empty(runs: int, rank: int, real: Any) -> "Digits":
        """Zeros; real: their type, None for digits of `rank` numbers, a multiple of GROUP."""
        if real is not None:
            return Digits(aligned(runs * rank, real), np.zeros(0, np.int8), (rank, 0, 0, rank))
        second, third = (min(rank, max(2, -(-rank // (part * GROUP))) * GROUP) for part in (3, 9))
        shape = rank, second, third, min(rank, -(-7 * rank // (9 * GROUP)) * GROUP)
        count, groups = pitches(shape)
        return Digits(np.zeros(runs * count, np.int8), np.zeros(runs * groups, np.int8), shape)

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
        if not len(self.exponents):
            count, _ = pitches(self.shape)
            return self.numbers[low * count : high * count].reshape(-1, count)
        out = np.empty((high - low, self.shape[0]), np.float32)
        bounds = np.linspace(low, high, thread_count() + 1).astype(np.int64).tolist()

        def work(part: int) -> None:
            first, last = bounds[part : part + 2]
            read_digits(self.numbers, self.exponents, self.shape, first, out[first - low : last - low])

        run_tasks(work, len(bounds) - 1)
        return out


@jitable_part
def pitches(shape):  # type: ignore[no-untyped-def]
    """Of runs of digits: their numbers, or bytes, and groups."""
    rank, second, third, halved = shape
    return halved + (rank - halved) // 2 + second + third, (rank + second + third) // GROUP


@kernel
def enter_digits(values, shape, first, numbers, exponents):  # type: ignore[no-untyped-def]
    """Runs, from run `first` on."""
    rank, (pitch, groups) = shape[0], pitches(shape)
    rest = np.empty(rank)
    for run in range(len(values) // rank):
        place, group = (first + run) * pitch, (first + run) * groups
        for k in range(rank):
            rest[k] = values[run * rank + k]
        for digit in range(3):
            for g in range(0, shape[digit], GROUP):
                largest, half = 0.0, digit == 0 and g >= shape[3]
                for k in range(g, g + GROUP):
                    largest = max(largest, abs(rest[k]))
                exponent = exponent_of(largest, 7.0 if half else 127.0)
                if digit > 0:
                    exponent = max(exponent, exponents[(first + run) * groups + g // GROUP] - FURTHER)
                exponents[group] = exponent
                unit, inverse = math.ldexp(1.0, exponent), math.ldexp(1.0, -exponent)
                for k in range(g, g + GROUP):
                    rounded = np.rint(rest[k] * inverse)
                    rest[k] -= rounded * unit
                    if not half:
                        numbers[place + k - g] = np.int8(rounded)
                    elif k % 2:
                        numbers[place + (k - g) // 2] |= np.int8(np.int64(rounded) << 4)
                    else:
                        numbers[place + (k - g) // 2] = np.int8(np.int64(rounded) & 15)
                place, group = place + (GROUP // 2 if half else GROUP), group + 1


@kernel
def read_digits(numbers, exponents, shape, first, out):  # type: ignore[no-untyped-def]
    """Runs (n, rank), from run `first` on."""
    pitch, groups = pitches(shape)
    for run in range(len(out)):
        place, group = (first + run) * pitch, (first + run) * groups
        for digit in range(3):
            for g in range(0, shape[digit], GROUP):
                unit, half = np.float32(math.ldexp(1.0, exponents[group])), digit == 0 and g >= shape[3]
                for k in range(GROUP):
                    byte = np.int64(numbers[place + (k // 2 if half else k)])
                    if half:
                        byte = byte >> 4 if k % 2 else ((byte & 15) ^ 8) - 8
                    out[run, g + k] = byte * unit if digit == 0 else out[run, g + k] + byte * unit
                place, group = place + (GROUP // 2 if half else GROUP), group + 1


@kernel
def enter_tensors(  # type: ignore[no-untyped-def]
    values, starts, widths, columns, first, heights, groups, rounding, room, carry, heads, begins, units, numbers
):  # fmt: skip
    """Blocks, sums of the parts first[n] .. first[n + 1], whose tensors have the places `columns`; the bytes used."""
    used, begin, at, head, row = 0, 0, 0, 0, 0
    for n in range(len(heights)):
        for a in range(heights[n]):
            room[:, : GROUP * groups[n]] = 0.0
            at, many = begin, 0
            for k in range(first[n], first[n + 1]):
                place = starts[k] + 3 * a * widths[k]
                for c in range(0, widths[k], 3):
                    many = max(many, columns[at] + 1)
                    for i in range(3):
                        for j in range(3):
                            room[3 * i + j, columns[at]] += values[place + i * widths[k] + c + j]
                    at += 1
            square = 1e-300
            for c in range(many):
                for k in range(PARTS):
                    square += room[k, c] ** 2
                xx, xy, xz, yx, yy, yz, zx, zy, zz = room[:, c]
                room[0, c], room[1, c], room[2, c] = xx, yy, zz
                room[3, c], room[4, c], room[5, c] = (xy + yx) / 2, (xz + zx) / 2, (yz + zy) / 2
                room[6, c], room[7, c], room[8, c] = (xy - yx) / 2, (xz - zx) / 2, (yz - zy) / 2
            # squares of changes: unit^2 / 6 on average, of a number and what the one before has left, for entries that
            # are one part, and twice as much for the six that are two
            unit = math.ldexp(1.0, math.frexp(rounding * math.sqrt(square / (2.5 * max(many, 1))))[1] - 1)
            begins[row], units[row], carry[:] = used, unit, 0.0
            for g in range(groups[n]):
                for k in range(PARTS):
                    used = enter_group(room[k, GROUP * g : GROUP * (g + 1)], unit, carry, k, heads, head, numbers, used)
                    head += 1
            row += 1
        begin = at
    return used


@jitable_part
def enter_group(values, unit, carry, part, heads, head, numbers, used):  # type: ignore[no-untyped-def]
    """GROUP numbers of one part, and what rounding has left; the bytes used."""
    largest = 0.0
    for value in values:
        largest = max(largest, abs(value))
    power = max(0, math.frexp((largest + abs(carry[part])) / ((LARGEST - 1) * unit))[1])
    step, most = math.ldexp(unit, power), 0.0
    for k in range(GROUP):
        wanted = values[k] + carry[part]
        values[k] = np.rint(wanted / step)
        carry[part] = wanted - values[k] * step
        most = max(most, abs(values[k]))
    size = 0 if most == 0 else 1 if most < 128 else 2
    heads[head] = size + 4 * power
    for k in range(GROUP if size > 0 else 0):
        integer = np.int64(values[k])
        if size == 1:
            numbers[used + k] = np.int8(integer)
        else:
            numbers[used + 2 * k] = np.int8(integer & 255)
            numbers[used + 2 * k + 1] = np.int8(integer >> 8)
    return used + size * GROUP


@jitable
def part_of(numbers, at, head, unit, like):  # type: ignore[no-untyped-def]
    """The numbers of a group that begin at a byte."""
    size, step = head & 3, unit * (1 << (head >> 2))
    if size == 0:
        return zero(like)
    if size == 1:
        return load_bytes(numbers, at, like) * step
    return load_pairs(numbers, at, like) * step


@jitable_part
def unpack_row(numbers, heads, begin, head, groups, unit, room, pitch):  # type: ignore[no-untyped-def]
    """room[(3 i + j) pitch + c] = B_ij of the tensors c of a row."""
    at = begin
    for g in range(groups):
        for i in range(3):
            store(room, 4 * i * pitch + GROUP * g, part_of(numbers, at, heads[head], unit, room))
            at, head = at + GROUP * (heads[head] & 3), head + 1
        middle = at
        for k in range(3):
            middle += GROUP * (heads[head + k] & 3)
        for k in range(3):
            i, j = max(k - 1, 0), min(k + 1, 2)
            even = part_of(numbers, at, heads[head], unit, room)
            odd = part_of(numbers, middle, heads[head + 3], unit, room)
            store(room, (3 * i + j) * pitch + GROUP * g, even + odd)
            store(room, (3 * j + i) * pitch + GROUP * g, even - odd)
            at, middle, head = at + GROUP * (heads[head] & 3), middle + GROUP * (heads[head + 3] & 3), head + 1
        at, head = middle, head + 3


@jitable_part
def unpack_block(numbers, heads, begins, units, low, high, head, groups, width, room, out):  # type: ignore[no-untyped-def]
    """Rows low .. high of a block, whose heads begin at `head`, in single precision."""
    pitch = GROUP * groups
    for a in range(high - low):
        unpack_row(numbers, heads, begins[low + a], head + a * PARTS * groups, groups, units[low + a], room, pitch)
        for i in range(3):
            for c in range(width):
                for j in range(3):
                    out[3 * a + i, 3 * c + j] = room[(3 * i + j) * pitch + c]


@kernel
def unpack(numbers, heads, begins, units, low, high, head, groups, width, room, out):  # type: ignore[no-untyped-def]
    """The same alone."""
    unpack_block(numbers, heads, begins, units, low, high, head, groups, width, room, out)


def _digit_loader(bits: int, name: str) -> Any:
    """Loads of GROUP digits of so many bits each, from any byte, with the exponent of a group, in double precision like
    the row `like`."""

    def load(typing_context, numbers, exponents, place, group, like):  # type: ignore[no-untyped-def]
        kind = VectorType(like.dtype)
        if numbers.dtype != types.int8 or like.dtype != types.float64:
            return None

        def generate(context, builder, sig, args):  # type: ignore[no-untyped-def]
            whole, wanted = (ir.VectorType(each, GROUP) for each in (ir.IntType(32), ir.DoubleType()))
            data, powers = (context.make_array(sig.args[n])(context, builder, args[n]).data for n in (0, 1))
            stored = ir.VectorType(ir.IntType(8), GROUP) if bits == 8 else ir.IntType(4 * GROUP)
            at = builder.bitcast(builder.gep(data, [args[2]], inbounds=True), stored.as_pointer())
            digits, zeros = builder.load(at, align=1), ir.Constant(whole, [0] * GROUP)
            if bits == 8:
                digits = builder.sext(digits, whole)
            else:  # each one moved to the highest bits, and back
                digits = builder.insert_element(
                    ir.Constant(whole, ir.Undefined), digits, ir.Constant(ir.IntType(32), 0)
                )
                digits = builder.shuffle_vector(digits, ir.Constant(whole, ir.Undefined), zeros)
                digits = builder.shl(digits, ir.Constant(whole, [28 - 4 * k for k in range(GROUP)]))
                digits = builder.ashr(digits, ir.Constant(whole, [28] * GROUP))
            exponent = builder.sext(builder.load(builder.gep(powers, [args[3]], inbounds=True)), ir.IntType(64))
            power = builder.add(exponent, ir.Constant(ir.IntType(64), 1023))
            power = builder.bitcast(builder.shl(power, ir.Constant(ir.IntType(64), 52)), ir.DoubleType())
            none = ir.Constant(wanted, ir.Undefined)
            single = builder.insert_element(none, power, ir.Constant(ir.IntType(32), 0))
            return builder.fmul(builder.sitofp(digits, wanted), builder.shuffle_vector(single, none, zeros))

        return kind(numbers, exponents, types.intp, types.intp, like), generate

    made = intrinsic(load)
    made._set_uuid(f"{__name__}.{name}")
    return made


def _loader(size: int, name: str) -> Any:
    """Loads of GROUP integers of so many bytes each, from any byte, in double precision like the row `like`."""

    def load(typing_context, numbers, index, like):  # type: ignore[no-untyped-def]
        if numbers.dtype != types.int8 or like.dtype != types.float64:
            return None

        def generate(context, builder, sig, args):  # type: ignore[no-untyped-def]
            stored, wanted = (ir.VectorType(each, GROUP) for each in (ir.IntType(8 * size), ir.DoubleType()))
            place = builder.gep(context.make_array(numbers)(context, builder, args[0]).data, [args[1]], inbounds=True)
            found = builder.load(builder.bitcast(place, stored.as_pointer()), align=1)
            return builder.sitofp(builder.sext(found, ir.VectorType(ir.IntType(32), GROUP)), wanted)

        return VectorType(like.dtype)(numbers, types.intp, like), generate

    made = intrinsic(load)
    made._set_uuid(f"{__name__}.{name}")
    return made


load_bytes, load_pairs = _loader(1, "load_bytes"), _loader(2, "load_pairs")
load_digits, load_halves = _digit_loader(8, "load_digits"), _digit_loader(4, "load_halves")
