"""Numbers that are stored in single precision and read for arithmetic in double precision."""

from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic

from calderon.backends.vectors import VectorType


def _load_as(typing_context, array, index, like):  # type: ignore[no-untyped-def]
    """The vector array[index : index + width] with the width and precision of the row `like`; contiguous 1-D arrays, no
    bounds are checked."""
    kind = VectorType(like.dtype)
    single = array.dtype.bitwidth < like.dtype.bitwidth

    def generate(context, builder, sig, args):  # type: ignore[no-untyped-def]
        stored = ir.FloatType() if array.dtype.bitwidth == 32 else ir.DoubleType()
        data = context.make_array(array)(context, builder, args[0]).data
        place = builder.gep(data, [args[1]], inbounds=True)
        pointer = builder.bitcast(place, ir.VectorType(stored, kind.width).as_pointer())
        value = builder.load(pointer, align=array.dtype.bitwidth // 8)
        return builder.fpext(value, ir.VectorType(ir.DoubleType(), kind.width)) if single else value

    return kind(array, types.intp, like), generate


load_as = intrinsic(_load_as)
load_as._set_uuid(f"{__name__}.load_as")
