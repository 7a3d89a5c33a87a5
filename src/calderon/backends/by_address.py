"""Compiled functions that kernels call by their address: one compiled caller serves them all.

A kernel that captures a function is compiled again for each of them. Here a kernel that knows the function writes its
address and its data on a board, an array of integers; others call it there, knowing the types of the arguments only.
"""

from typing import Any

from llvmlite import ir
from numba.core import cgutils, errors, types
from numba.extending import intrinsic

from calderon.backends.vectors import place_of

DATA, SIZE = 80, 1024
"""Where the data of the functions begin on a board, and its size in numbers of 8 bytes."""


def _without_records(context: Any, builder: ir.IRBuilder, kind: Any, value: Any) -> Any:
    """A value whose arrays are not counted: Numba's records of them end with the kernel that writes the board."""
    if isinstance(kind, types.BaseTuple):
        for n, each in enumerate(kind.types):  # type: ignore[attr-defined]
            part = _without_records(context, builder, each, builder.extract_value(value, n))
            value = builder.insert_value(value, part, n)
    elif isinstance(kind, types.Array):
        array = context.make_array(kind)(context, builder, value)
        array.meminfo, array.parent = (cgutils.get_null_value(each.type) for each in (array.meminfo, array.parent))
        value = array._getvalue()
    return value


def _exact(kinds: Any) -> tuple[Any, ...]:
    """The types of arguments: no caller may have others, as nothing converts them."""
    found = tuple(types.unliteral(each) for each in kinds)
    for each in found:
        if each != types.intp and not (isinstance(each, types.Array) and each.layout == "C"):
            raise errors.TypingError(f"functions are called by address with int64 and contiguous arrays, not {each}")
    return found


@intrinsic
def write_function(typing: Any, part: Any, data: Any, examples: Any, board: Any, place: Any) -> Any:
    """Write the data, a tuple, on the board, and at `place` the address of a function that calls
    part(*data, *arguments) for arguments of the types of the examples. The caller keeps the objects."""
    kinds = _exact(examples.types)
    called = typing.resolve_function_type(part, (*data.types, *kinds), {})

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> Any:
        # the data go onto the board behind the places
        packed = _without_records(context, builder, data, values[1])
        if context.get_abi_sizeof(packed.type) > 8 * (SIZE - DATA):
            raise NotImplementedError("the data of this function are larger than its board")
        pointer, convention, board_kind = packed.type.as_pointer(), context.call_conv, signature.args[3]
        start = place_of(context, builder, board_kind, values[3], context.get_constant(types.intp, DATA))
        builder.store(packed, builder.bitcast(start, pointer))
        kind = convention.get_function_type(types.none, (types.intp, *kinds))
        # a function of the address of the data and the arguments, which unpacks the data and calls part
        function = ir.Function(builder.module, kind, builder.module.get_unique_name("by_address"))
        function.linkage = "internal"
        inside = ir.IRBuilder(function.append_basic_block())
        address, *arguments = convention.decode_arguments(inside, (types.intp, *kinds), function)
        read = cgutils.unpack_tuple(inside, inside.load(inside.inttoptr(address, pointer)))
        implementation = context.get_function(part, called)
        context.add_linking_libs(implementation.libs)
        implementation(inside, [*read, *arguments])
        convention.return_value(inside, context.get_dummy_value())
        # its address goes to `place`
        at = place_of(context, builder, board_kind, *values[3:])
        builder.store(builder.ptrtoint(function, builder.load(at).type), at)
        return context.get_dummy_value()

    return types.none(part, data, examples, board, types.intp), generate


@intrinsic
def call_function(typing: Any, board: Any, place: Any, arguments: Any) -> Any:
    """Call the function whose address is at `place`; its status, 0 for success."""
    kinds = _exact(arguments.types)

    def generate(context: Any, builder: ir.IRBuilder, signature: Any, values: Any) -> Any:
        convention, board_kind = context.call_conv, signature.args[0]
        kind = convention.get_function_type(types.none, (types.intp, *kinds))
        # the function at its place, with the address of its data as first argument
        function = builder.load(place_of(context, builder, board_kind, *values[:2]))
        data = place_of(context, builder, board_kind, values[0], context.get_constant(types.intp, DATA))
        given = [builder.ptrtoint(data, function.type), *cgutils.unpack_tuple(builder, values[2])]
        # a call by Numba's convention, whose status is returned
        packer = context.get_arg_packer((types.intp, *kinds))
        results = [cgutils.alloca_once(builder, each.pointee) for each in kind.args[:2]]
        function = builder.inttoptr(function, kind.as_pointer())
        return builder.call(function, [*results, *packer.as_arguments(builder, given)])

    return types.int32(board, types.intp, types.Tuple(kinds)), generate
