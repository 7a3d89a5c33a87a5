"""Loads of vectors from arrays of other types, transposes of squares in registers, and sums over lanes."""

from typing import Any

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from calderon.backends.numba import ARITHMETIC
from calderon.backends.vectors import VectorType, element_of, llvm_vector, place_of, require_row, vector_intrinsic


def _load_as(typing_context, array, index, like):
    """The vector array[index : index + width] with the width and precision of the row `like`; contiguous 1-D arrays of
    numbers in that precision, in single precision or of 16 bits. No bounds are checked."""
    kind = VectorType(like.dtype)
    bits, wanted = array.dtype.bitwidth, like.dtype.bitwidth

    def generate(context, builder, sig, args):
        # the numbers as they are stored, then in the wanted precision
        stored = ir.IntType(16) if bits == 16 else ir.FloatType() if bits == 32 else ir.DoubleType()
        place = place_of(context, builder, array, *args[:2])
        pointer = builder.bitcast(place, ir.VectorType(stored, kind.width).as_pointer())
        value = builder.load(pointer, align=bits // 8)
        if bits == 16:
            return builder.sitofp(builder.sext(value, ir.VectorType(ir.IntType(32), kind.width)), llvm_vector(kind))
        return builder.fpext(value, llvm_vector(kind)) if bits < wanted else value

    return kind(array, types.intp, like), generate


load_as = intrinsic(_load_as)
load_as._set_uuid(f"{__name__}.load_as")


def _total(typing_context, vector):
    """The sum of the components of a vector, by halves."""
    if not isinstance(vector, VectorType):
        return None

    def generate(context, builder, sig, args):
        value, count, index = args[0], vector.width, ir.IntType(32)
        while count > 1:
            count //= 2
            halves = (ir.Constant(ir.VectorType(index, count), list(range(n, n + count))) for n in (0, count))
            value = builder.fadd(*(builder.shuffle_vector(value, value, each) for each in halves), flags=ARITHMETIC)
        return builder.extract_element(value, ir.Constant(index, 0))

    return vector.scalar(vector), generate


total = intrinsic(_total)
total._set_uuid(f"{__name__}.total")


def _transposed(builder: ir.IRBuilder, rows: list[Any], parts: int, kind: VectorType) -> list[Any]:
    """Rows of a square of numbers (parts = 2: of complex ones) as the rows of its transpose."""
    count, step, rows = len(rows), 1, list(rows)
    while step < count:  # exchange the off-diagonal squares of size `step`
        for a in (n for n in range(count) if not n & step):
            # places in both rows of the numbers of the new ones
            low, high = [], []
            for column in range(count):
                for part in range(parts):
                    here, there = column * parts + part, (column ^ step) * parts + part
                    low.append(kind.width + there if column & step else here)
                    high.append(kind.width + here if column & step else there)
            places = [ir.Constant(ir.VectorType(ir.IntType(32), kind.width), each) for each in (low, high)]
            one, two = rows[a], rows[a + step]
            rows[a], rows[a + step] = (builder.shuffle_vector(one, two, place) for place in places)
        step *= 2
    return rows


@vector_intrinsic
def transpose(typing_context, source, i, j, target, k, m):
    """target[k : k + n, m : m + n] = source[i : i + n, j : j + n]^T in registers, n = `entries`; the rows of both are
    contiguous."""
    is_complex = isinstance(source.dtype, types.Complex)
    kind = VectorType(source.dtype.underlying_float if is_complex else source.dtype)
    parts = 2 if is_complex else 1
    count = kind.width // parts

    def generate(context, builder, sig, args):
        def row(kind_, value, first, column, step):
            array = context.make_array(kind_)(context, builder, value)
            number = builder.add(first, context.get_constant(types.intp, step))
            start = builder.mul(number, builder.extract_value(array.strides, 0))
            data = builder.bitcast(array.data, ir.IntType(8).as_pointer())
            item = builder.mul(column, array.itemsize)
            place = builder.gep(data, [builder.add(start, item)])
            return builder.bitcast(place, llvm_vector(kind).as_pointer())

        # all rows to registers, and their transpose to the target
        align = kind.scalar.bitwidth // 8
        rows = [builder.load(row(source, args[0], args[1], args[2], n), align=align) for n in range(count)]
        for n, each in enumerate(_transposed(builder, rows, parts, kind)):
            builder.store(each, row(target, args[3], args[4], args[5], n), align=align)
        return context.get_dummy_value()

    return types.void(source, types.intp, types.intp, target, types.intp, types.intp), generate


@vector_intrinsic
def transpose_apart(typing_context, source, i, pitch, target, k, apart):
    """Transpose a square between contiguous 1-D arrays of real numbers: its rows begin at source[i], `pitch` apart,
    those of the transpose at target[k], `apart` apart."""
    kind = VectorType(require_row(source).dtype)

    def generate(context, builder, sig, args):
        def row(array, first, step, n):
            place = builder.add(first, builder.mul(step, context.get_constant(types.intp, n)))
            return element_of(context, builder, source, array, place)

        # all rows to registers, and their transpose to the target
        align = kind.scalar.bitwidth // 8
        rows = [builder.load(row(*args[:3], n), align=align) for n in range(kind.width)]
        for n, each in enumerate(_transposed(builder, rows, 1, kind)):
            builder.store(each, row(*args[3:], n), align=align)
        return context.get_dummy_value()

    return types.void(source, types.intp, types.intp, source, types.intp, types.intp), generate


@vector_intrinsic
def transpose_added(typing_context, source, i, pitch, target, k, apart, places, p):
    """Add the transpose of a square of real numbers, whose rows begin at source[i], `pitch` apart, to vectors of a
    contiguous 1-D array: its row n to target[k + places[p + n] * apart]. No two of these places overlap in part."""
    kind, index = VectorType(require_row(source).dtype), require_row(places).dtype

    def generate(context, builder, sig, args):
        def row(n):
            place = builder.add(args[1], builder.mul(args[2], context.get_constant(types.intp, n)))
            return element_of(context, builder, source, args[0], place)

        # all rows to registers, and their transpose to where the places say
        align = kind.scalar.bitwidth // 8
        rows = [builder.load(row(n), align=align) for n in range(kind.width)]
        for n, each in enumerate(_transposed(builder, rows, 1, kind)):
            place = builder.add(args[7], context.get_constant(types.intp, n))
            number = builder.load(place_of(context, builder, places, args[6], place))
            number = context.cast(builder, number, index, types.intp)
            there = builder.add(args[4], builder.mul(number, args[5]))
            pointer = element_of(context, builder, target, args[3], there)
            old = builder.load(pointer, align=align)
            builder.store(builder.fadd(old, each, flags=ARITHMETIC), pointer, align=align)
        return context.get_dummy_value()

    whole = types.intp
    return types.void(source, whole, whole, target, whole, whole, places, whole), generate
