"""Loads of vectors from arrays of other types, and sums over the lanes of a vector."""

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from calderon.backends.vectors import FLAGS, VectorType


def _load_as(typing_context, array, index, like):  # type: ignore[no-untyped-def]
    """The vector array[index : index + width] with the width and precision of the row `like`; contiguous 1-D arrays of
    numbers in that precision, in single precision or of 16 bits. No bounds are checked."""
    kind = VectorType(like.dtype)
    bits, wanted = array.dtype.bitwidth, like.dtype.bitwidth

    def generate(context, builder, sig, args):  # type: ignore[no-untyped-def]
        stored = ir.IntType(16) if bits == 16 else ir.FloatType() if bits == 32 else ir.DoubleType()
        vector = ir.VectorType(ir.FloatType() if wanted == 32 else ir.DoubleType(), kind.width)
        data = context.make_array(array)(context, builder, args[0]).data
        place = builder.gep(data, [args[1]], inbounds=True)
        pointer = builder.bitcast(place, ir.VectorType(stored, kind.width).as_pointer())
        value = builder.load(pointer, align=bits // 8)
        if bits == 16:
            return builder.sitofp(builder.sext(value, ir.VectorType(ir.IntType(32), kind.width)), vector)
        return builder.fpext(value, vector) if bits < wanted else value

    return kind(array, types.intp, like), generate


load_as = intrinsic(_load_as)
load_as._set_uuid(f"{__name__}.load_as")


def _total(typing_context, vector):  # type: ignore[no-untyped-def]
    """The sum of the components of a vector, by halves."""
    if not isinstance(vector, VectorType):
        return None

    def generate(context, builder, sig, args):  # type: ignore[no-untyped-def]
        value, count, index = args[0], vector.width, ir.IntType(32)
        while count > 1:
            count //= 2
            halves = (ir.Constant(ir.VectorType(index, count), list(range(n, n + count))) for n in (0, count))
            value = builder.fadd(*(builder.shuffle_vector(value, value, each) for each in halves), flags=FLAGS)
        return builder.extract_element(value, ir.Constant(index, 0))

    return vector.scalar(vector), generate


total = intrinsic(_total)
total._set_uuid(f"{__name__}.total")
