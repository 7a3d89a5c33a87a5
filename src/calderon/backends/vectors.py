"""Vectors of 64 bytes (8 doubles or 16 singles) as values inside Numba kernels.

LLVM's loop vectoriser gives up on loops that write several rows, and has no estimate of 1/sqrt in double. Here the
vector is explicit: `load` and `store` move 64 bytes between an array and a value, + - * / work on such values and mix
with numbers, and intermediate values stay in registers. Processors with shorter vectors split them.

Functions of numbers (Green's functions, integrands) work on vectors unchanged as long as they use arithmetic and the
functions of this file or of greens/elementary.py.
"""

import math
import operator
from collections.abc import Callable
from typing import Any

import llvmlite.binding as llvm
import numpy as np
from llvmlite import ir
from numba.core import types
from numba.core.extending import lower_builtin, models, register_model
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic
from numpy.typing import NDArray

from calderon.backends.numba import ARITHMETIC, jitable_part

BYTES = 64
"""Bytes of a vector."""


def width(real: Any) -> int:
    """Numbers in a vector of that floating-point type."""
    return BYTES // np.dtype(real).itemsize


def aligned(shape: int | tuple[int, ...], real: Any) -> NDArray[Any]:
    """An array of zeros that is aligned for vectors: NumPy's begin at multiples of 16 bytes, and vectors that cross
    a cache line take twice as long to load."""
    kind = np.dtype(real)
    size = (math.prod(shape) if isinstance(shape, tuple) else shape) * kind.itemsize
    raw = np.zeros(size + BYTES, np.uint8)
    first = -raw.ctypes.data % BYTES
    return raw[first : first + size].view(kind).reshape(shape)


class VectorType(types.Type):
    """The Numba type of a vector of float64 or float32."""

    def __init__(self, scalar: Any) -> None:
        self.scalar = scalar
        self.width = BYTES // (scalar.bitwidth // 8)
        super().__init__(name=f"vector({scalar}, {self.width})")


def _llvm_scalar(scalar: Any) -> ir.Type:
    return ir.DoubleType() if scalar.bitwidth == 64 else ir.FloatType()


def llvm_vector(kind: VectorType) -> ir.VectorType:
    return ir.VectorType(_llvm_scalar(kind.scalar), kind.width)


@register_model(VectorType)
class _VectorModel(models.PrimitiveModel):
    def __init__(self, dmm: Any, fe_type: VectorType) -> None:
        super().__init__(dmm, fe_type, llvm_vector(fe_type))


def _vector_of(kinds: tuple[types.Type, ...]) -> VectorType | None:
    """The vector type among operands that are vectors of one type or numbers."""
    vectors = {kind for kind in kinds if isinstance(kind, VectorType)}
    others = [kind for kind in kinds if not isinstance(kind, VectorType)]
    if len(vectors) != 1 or not all(isinstance(kind, types.Number) for kind in others):
        return None
    return vectors.pop()


class _Arithmetic(AbstractTemplate):
    def generic(self, args: tuple[types.Type, ...], kws: dict[str, types.Type]) -> Any:
        kind = _vector_of(args)
        if kind is None or kws:
            return None
        return signature(kind, *(each if isinstance(each, VectorType) else kind.scalar for each in args))


def splat(builder: ir.IRBuilder, value: Any, kind: VectorType) -> Any:
    """A vector with that number in every component."""
    vector = llvm_vector(kind)
    single = builder.insert_element(ir.Constant(vector, ir.Undefined), value, ir.Constant(ir.IntType(32), 0))
    places = ir.Constant(ir.VectorType(ir.IntType(32), kind.width), [0] * kind.width)
    return builder.shuffle_vector(single, ir.Constant(vector, ir.Undefined), places)


def _operands(builder: ir.IRBuilder, kinds: tuple[types.Type, ...], values: tuple[Any, ...]) -> list[Any]:
    vector = _vector_of(kinds)
    assert vector is not None
    return [
        value if isinstance(kind, VectorType) else splat(builder, value, vector)
        for kind, value in zip(kinds, values, strict=True)
    ]


def _register(name: str, *functions: Any) -> None:
    def lower(context: Any, builder: ir.IRBuilder, sig: Any, args: tuple[Any, ...]) -> Any:
        return getattr(builder, name)(*_operands(builder, sig.args, args), flags=ARITHMETIC)

    for function in functions:
        infer_global(function)(type(f"_Vector_{function.__name__}", (_Arithmetic,), {}))
        if name == "fneg":
            lower_builtin(function, VectorType)(lower)
            continue
        for kinds in ((VectorType, VectorType), (VectorType, types.Float), (types.Float, VectorType)):
            lower_builtin(function, *kinds)(lower)


_register("fadd", operator.add, operator.iadd)
_register("fsub", operator.sub, operator.isub)
_register("fmul", operator.mul, operator.imul)
_register("fdiv", operator.truediv, operator.itruediv)
_register("fneg", operator.neg)


def jitable(function: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a function of vectors as part of kernels, always inlined."""
    return jitable_part(function, forceinline=True)


def vector_intrinsic(function: Callable[..., Any], name: str = "") -> Any:
    """An intrinsic of the same identity in every process.

    Numba gives each a random one, which enters the key of its cache with functions that a kernel captures by value.
    """
    made = intrinsic(function)
    made._set_uuid(f"{__name__}.{name or function.__name__}")
    return made


def is_vector(kind: types.Type) -> bool:
    """Whether a Numba type is a vector, for `overload`."""
    return isinstance(kind, VectorType)


def place_of(context: Any, builder: ir.IRBuilder, kind: types.Array, array: Any, index: Any) -> Any:
    """Pointer to array[index]."""
    return builder.gep(context.make_array(kind)(context, builder, array).data, [index], inbounds=True)


def element_of(context: Any, builder: ir.IRBuilder, kind: types.Array, array: Any, index: Any) -> Any:
    """Pointer to array[index] as a pointer to a vector."""
    pointer = llvm_vector(VectorType(kind.dtype)).as_pointer()
    return builder.bitcast(place_of(context, builder, kind, array, index), pointer)


def require_row(array: types.Type) -> types.Array:
    if not (isinstance(array, types.Array) and array.ndim == 1 and array.layout == "C"):
        raise TypeError(f"a vector is loaded from or stored to a contiguous row, not {array}")
    return array


@vector_intrinsic
def load(typing_context, array, index):
    """The vector array[index : index + width] of a contiguous 1-D array; no bounds are checked."""
    kind = require_row(array)

    def generate(context, builder, sig, args):
        return builder.load(element_of(context, builder, kind, *args), align=kind.dtype.bitwidth // 8)

    return VectorType(kind.dtype)(array, types.intp), generate


@vector_intrinsic
def number(typing_context, array, index):
    """array[index] of a contiguous 1-D array; no bounds are checked, and a negative index does not count from the
    end: without that the compiler keeps the index in one register."""
    kind = require_row(array)

    def generate(context, builder, sig, args):
        return builder.load(place_of(context, builder, kind, *args))

    return kind.dtype(array, types.intp), generate


@vector_intrinsic
def put(typing_context, array, index, value):
    """array[index] = value of a contiguous 1-D array; as `number`, no bounds are checked."""
    kind = require_row(array)

    def generate(context, builder, sig, args):
        builder.store(args[2], place_of(context, builder, kind, *args[:2]))
        return context.get_dummy_value()

    return types.void(array, types.intp, kind.dtype), generate


@vector_intrinsic
def store(typing_context, array, index, vector):
    """array[index : index + width] = vector."""
    kind = require_row(array)

    def generate(context, builder, sig, args):
        builder.store(args[2], element_of(context, builder, kind, *args[:2]), align=kind.dtype.bitwidth // 8)
        return context.get_dummy_value()

    return types.void(array, types.intp, vector), generate


@vector_intrinsic
def accumulate(typing_context, array, index, re, im):
    """array[index : index + width] += re, or += re + i im for a complex array."""
    kind = require_row(array)
    is_complex = isinstance(kind.dtype, types.Complex)

    def generate(context, builder, sig, args):
        # one vector of real numbers, or two with real and imaginary parts in turn
        vector, width = llvm_vector(re), re.width
        first = builder.bitcast(place_of(context, builder, kind, *args[:2]), vector.as_pointer())
        summands = [args[2]]
        if is_complex:  # re0 im0 re1 im1 ...
            order = [place for n in range(width) for place in (n, width + n)]
            whole = ir.Constant(ir.VectorType(ir.IntType(32), 2 * width), order)
            mixed = builder.shuffle_vector(args[2], args[3], whole)
            halves = (list(range(width)), list(range(width, 2 * width)))
            places = [ir.Constant(ir.VectorType(ir.IntType(32), width), half) for half in halves]
            summands = [builder.shuffle_vector(mixed, mixed, half) for half in places]
        # added to what is there
        for n, summand in enumerate(summands):
            place = builder.gep(first, [context.get_constant(types.intp, n)])
            old = builder.load(place, align=re.scalar.bitwidth // 8)
            builder.store(builder.fadd(old, summand, flags=ARITHMETIC), place, align=re.scalar.bitwidth // 8)
        return context.get_dummy_value()

    return types.void(array, types.intp, re, im), generate


@vector_intrinsic
def entries(typing_context, array):
    """Entries of an array, real or complex, in a vector: a constant to the compiler."""
    count = BYTES // (array.dtype.bitwidth // 8)

    def generate(context, builder, sig, args):
        return context.get_constant(types.intp, count)

    return types.intp(array), generate


def _call(builder: ir.IRBuilder, name: str, result: ir.Type, arguments: list[Any]) -> Any:
    """Call an intrinsic of LLVM by its full name."""
    function = builder.module.globals.get(name)
    if function is None:
        function = ir.Function(builder.module, ir.FunctionType(result, [each.type for each in arguments]), name)
    return builder.call(function, arguments)


def _prefetching(write: int) -> Any:
    def typed(typing_context, array, index):
        kind = require_row(array)

        def generate(context, builder, sig, args):
            data = context.make_array(kind)(context, builder, args[0]).data
            pointer = builder.bitcast(builder.gep(data, [args[1]]), ir.IntType(8).as_pointer())
            flags = [ir.Constant(ir.IntType(32), n) for n in (write, 3, 1)]  # keep in all caches, data
            _call(builder, "llvm.prefetch.p0", ir.VoidType(), [pointer, *flags])
            return context.get_dummy_value()

        return types.void(array, types.intp), generate

    return typed


prefetch = vector_intrinsic(_prefetching(1), "prefetch")
"""Prefetch the cache line of array[index] for writing; an index beyond the end is harmless."""
prefetch_to_read = vector_intrinsic(_prefetching(0), "prefetch_to_read")
"""Prefetch the cache line of array[index] for reading; an index beyond the end is harmless."""


@vector_intrinsic
def lanes(typing_context, array):
    """Numbers in a vector loaded from this array: a constant to the compiler.

    Every kernel calls it, so this also has the kernel's stack aligned to vectors: LLVM would put those that do not
    fit the registers wherever the caller's stack ends, across two cache lines in most threads but the first.
    """
    count = VectorType(array.dtype).width

    def generate(context, builder, sig, args):
        attributes = builder.function.attributes
        attributes.alignstack = BYTES
        attributes.add("nonlazybind")  # llvmlite prints no attributes unless one of this kind is present
        return context.get_constant(types.intp, count)

    return types.intp(array), generate


@vector_intrinsic
def zero(typing_context, array):
    """The zero vector of an array's type."""
    kind = VectorType(array.dtype)

    def generate(context, builder, sig, args):
        return ir.Constant(llvm_vector(kind), None)

    return kind(array), generate


def _unary(name: str) -> Any:
    def typed(typing_context, vector):
        def generate(context, builder, sig, args):
            suffix = f"v{vector.width}f{vector.scalar.bitwidth}"
            return _call(builder, f"{name}.{suffix}", llvm_vector(vector), list(args))

        return vector(vector), generate

    return typed


floor = vector_intrinsic(_unary("llvm.floor"), "floor")
"""floor of every number."""
square_root = vector_intrinsic(_unary("llvm.sqrt"), "square_root")
"""sqrt of every number."""


@vector_intrinsic
def any_less(typing_context, left, right):
    """Whether left < right for any number of two vectors."""

    def generate(context, builder, sig, args):
        found = builder.fcmp_ordered("<", *_operands(builder, sig.args, args))
        bits = ir.IntType(found.type.count)
        return builder.icmp_unsigned("!=", builder.bitcast(found, bits), ir.Constant(bits, 0))

    return types.boolean(left, right), generate


@vector_intrinsic
def where_less(typing_context, left, right, one, other):
    """`one` where left < right, else `other`; vectors, or numbers for all of one."""
    kinds = left, right, one, other
    kind = _vector_of(kinds)
    if kind is None:
        return None

    def generate(context, builder, sig, args):
        first, second, chosen, else_ = _operands(builder, sig.args, args)
        return builder.select(builder.fcmp_ordered("<", first, second), chosen, else_)

    return kind(*(each if isinstance(each, VectorType) else kind.scalar for each in kinds)), generate


@jitable
def smaller(vector, bound):
    """min(vector, bound) of every number."""
    return where_less(vector, bound, vector, bound)


@jitable
def above(vector, bound):
    """1 where a number of the vector is larger than the bound, else 0."""
    return where_less(bound, vector, 1.0, 0.0)


@vector_intrinsic
def exponent_and_mantissa(typing_context, vector):
    """n and m of x = 2^n m, m between sqrt(1/2) and sqrt(2), of positive normal doubles."""
    if vector.scalar.bitwidth != 64:
        raise TypeError(f"the exponents of {vector} are not supported: use vectors of float64")

    def generate(context, builder, sig, args):
        kind = llvm_vector(vector)
        whole = ir.VectorType(ir.IntType(64), vector.width)

        def every(value):
            return ir.Constant(whole, [value] * vector.width)

        # the exponent of x / sqrt(1/2), from the bits of x
        bits = builder.bitcast(args[0], whole)
        above_root = builder.add(bits, every(0x3FF0000000000000 - 0x3FE6A09E667F3BCD))  # of 1 and of sqrt(1/2)
        n = builder.sub(builder.ashr(above_root, every(52)), every(1023))
        # x / 2^n
        m = builder.bitcast(builder.sub(bits, builder.shl(n, every(52))), kind)
        short = builder.trunc(n, ir.VectorType(ir.IntType(32), vector.width))
        return context.make_tuple(builder, sig.return_type, [builder.sitofp(short, kind), m])

    return types.UniTuple(vector, 2)(vector), generate


@vector_intrinsic
def power_of_two(typing_context, vector):
    """2^n of every whole number n of a vector, whose results are normal numbers."""
    bits = vector.scalar.bitwidth
    digits = 52 if bits == 64 else 23  # of the mantissa
    bias = (1 << (bits - digits - 2)) - 1

    def generate(context, builder, sig, args):
        whole = ir.VectorType(ir.IntType(bits), vector.width)
        n = builder.fptosi(args[0], ir.VectorType(ir.IntType(32), vector.width))
        n = builder.sext(n, whole) if bits == 64 else n
        biased = builder.add(n, ir.Constant(whole, [bias] * vector.width))
        return builder.bitcast(builder.shl(biased, ir.Constant(whole, [digits] * vector.width)), llvm_vector(vector))

    return vector(vector), generate


def has_estimates() -> bool:
    """Whether the processor estimates 1/sqrt of doubles and singles to 14 bits (AVX-512)."""
    return bool(llvm.get_host_cpu_features().get("avx512f", False))


@vector_intrinsic
def inverse_square_root_estimate(typing_context, vector):
    """1/sqrt: to 14 bits where `has_estimates`, else to single precision; arguments within single precision's range."""

    def generate(context, builder, sig, args):
        kind = llvm_vector(vector)
        if has_estimates():
            name = f"llvm.x86.avx512.rsqrt14.p{'d' if vector.scalar.bitwidth == 64 else 's'}.512"
            everywhere = ir.Constant(ir.IntType(vector.width), -1)
            return _call(builder, name, kind, [args[0], ir.Constant(kind, None), everywhere])
        # 1/sqrt in single precision
        single = ir.VectorType(ir.FloatType(), vector.width)
        value = builder.fptrunc(args[0], single) if vector.scalar.bitwidth == 64 else args[0]
        root = _call(builder, f"llvm.sqrt.v{vector.width}f32", single, [value])
        inverse = builder.fdiv(ir.Constant(single, [1.0] * vector.width), root, flags=ARITHMETIC)
        return builder.fpext(inverse, kind) if vector.scalar.bitwidth == 64 else inverse

    return vector(vector), generate


@jitable
def add(array, place, value):
    """array[place : place + width] += value."""
    store(array, place, load(array, place) + value)


@jitable
def complex_product(re, im, c, s):
    """(re + i im) (c + i s)."""
    return re * c - im * s, im * c + re * s
