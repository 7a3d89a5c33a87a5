"""Products of a small matrix with many vectors, in registers: tiles of a few vectors of rows and a few vectors x."""

from typing import Any

from numba.core import cgutils, types
from numba.extending import intrinsic

from calderon.backends.numba import ARITHMETIC, jitable_part
from calderon.backends.vectors import VectorType, lanes, llvm_vector, place_of, splat


def _tile(typing_context, matrix, first, pitch, count, source, sources, target, targets, vectors):
    """target[t : t + n] += sum_k matrix[first + k pitch : ... + n] source[s + k], k < count, for all s, t of two tuples
    of the same length; n = `vectors` (a constant) vectors. Contiguous 1-D arrays; no bounds are checked."""
    if not isinstance(vectors, types.IntegerLiteral):
        return None
    kind, height = VectorType(matrix.dtype), vectors.literal_value
    vector, align = llvm_vector(kind), matrix.dtype.bitwidth // 8

    def generate(context, builder, sig, args):
        matrix_, first_, pitch_, count_, source_, sources_, target_, targets_, _ = args
        boxes = len(sig.args[5])

        def places(kind_: Any, array: Any, index: Any) -> list[Any]:
            start = builder.bitcast(place_of(context, builder, kind_, array, index), vector.as_pointer())
            return [builder.gep(start, [context.get_constant(types.intp, n)], inbounds=True) for n in range(height)]

        # sums of all boxes in registers, loaded from their targets
        starts = [builder.extract_value(sources_, n) for n in range(boxes)]
        ends = [places(target, target_, builder.extract_value(targets_, n)) for n in range(boxes)]
        sums = [[cgutils.alloca_once(builder, vector) for _ in range(height)] for _ in range(boxes)]
        for box, each in zip(ends, sums, strict=True):
            for place, total in zip(box, each, strict=True):
                builder.store(builder.load(place, align=align), total)
        # a column of the matrix is loaded once for all boxes
        with cgutils.for_range(builder, count_) as loop:
            row = places(matrix, matrix_, builder.add(first_, builder.mul(loop.index, pitch_)))
            strip = [builder.load(place, align=align) for place in row]
            for start, each in zip(starts, sums, strict=True):
                at = place_of(context, builder, source, source_, builder.add(start, loop.index))
                value = splat(builder, builder.load(at), kind)
                for column, total in zip(strip, each, strict=True):
                    product = builder.fmul(column, value, flags=ARITHMETIC)
                    builder.store(builder.fadd(builder.load(total), product, flags=ARITHMETIC), total)
        # and stored to their targets
        for box, each in zip(ends, sums, strict=True):
            for place, total in zip(box, each, strict=True):
                builder.store(builder.load(total), place, align=align)
        return context.get_dummy_value()

    signature = types.void(
        matrix, types.intp, types.intp, types.intp, source, sources, target, targets, types.intp,
    )  # fmt: skip
    return signature, generate


tile = intrinsic(prefer_literal=True)(_tile)
tile._set_uuid(f"{__name__}.tile")


def _strip(vectors: int) -> Any:
    """Six vectors x at a time, then one at a time."""

    @jitable_part
    def strip(matrix, first, pitch, count, source, s, apart, target, t, pitch_of, shift, lo, hi):
        """target[t_i pitch_of + shift + ...] += A source[s_i apart + ...] for lo <= i < hi, six at a time.

        A: `vectors` vectors of rows of `matrix` from `first` on, `count` columns that are `pitch` apart; s, t (n,):
        numbers of sources and targets.
        """
        # six vectors x at a time
        i = lo
        while i + 6 <= hi:
            tile(
                matrix, first, pitch, count, source,
                (s[i] * apart, s[i + 1] * apart, s[i + 2] * apart, s[i + 3] * apart, s[i + 4] * apart,
                 s[i + 5] * apart),
                target,
                (t[i] * pitch_of + shift, t[i + 1] * pitch_of + shift, t[i + 2] * pitch_of + shift,
                 t[i + 3] * pitch_of + shift, t[i + 4] * pitch_of + shift, t[i + 5] * pitch_of + shift),
                vectors,
            )  # fmt: skip
            i += 6
        # the rest one by one
        while i < hi:
            tile(matrix, first, pitch, count, source, (s[i] * apart,), target, (t[i] * pitch_of + shift,), vectors)
            i += 1

    return strip


_one, _two, _three, _four = (_strip(n) for n in (1, 2, 3, 4))


@jitable_part
def add_products(matrix, first, vectors, count, source, s, apart, target, t, pitch, lo, hi):
    """target[t_i pitch + ...] += A source[s_i apart + ...] for lo <= i < hi, with one matrix A of `vectors` vectors
    of rows and `count` columns, column by column from matrix[first] on. s, t (n,): numbers of sources and targets,
    which may occur more than once."""
    width = lanes(matrix)
    rows, done = vectors * width, 0
    while done < vectors:
        rest = vectors - done
        # tiles of four vectors of rows, or of three where the last ones would be of one or two
        height = 3 if rest == 5 or rest == 6 or rest == 9 else min(4, rest)
        shift = done * width
        at = first + shift
        if height == 4:
            _four(matrix, at, rows, count, source, s, apart, target, t, pitch, shift, lo, hi)
        elif height == 3:
            _three(matrix, at, rows, count, source, s, apart, target, t, pitch, shift, lo, hi)
        elif height == 2:
            _two(matrix, at, rows, count, source, s, apart, target, t, pitch, shift, lo, hi)
        else:
            _one(matrix, at, rows, count, source, s, apart, target, t, pitch, shift, lo, hi)
        done += height
