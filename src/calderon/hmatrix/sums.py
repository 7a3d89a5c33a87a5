"""Sums and updates of contiguous numbers, real or complex, inside kernels: summed in any order, so they vectorise."""

from numba.extending import register_jitable

ANY_ORDER = {"reassoc", "contract", "arcp", "afn", "nsz", "nnan", "ninf"}


@register_jitable(fastmath=ANY_ORDER)
def dot(a, b, zero):  # type: ignore[no-untyped-def]
    """zero + sum_i a_i b_i, without conjugation, in the precision of `zero`."""
    total = zero
    for i in range(a.size):
        total += a[i] * b[i]
    return total


@register_jitable(fastmath=ANY_ORDER)
def square(a):  # type: ignore[no-untyped-def]
    """sum_i |a_i|^2."""
    total = a[0].real * 0
    for i in range(a.size):
        total += a[i].real * a[i].real + a[i].imag * a[i].imag
    return total


@register_jitable(fastmath=ANY_ORDER)
def add_multiple(a, factor, b):  # type: ignore[no-untyped-def]
    """a += factor b."""
    for i in range(a.size):
        a[i] += factor * b[i]


@register_jitable(fastmath=ANY_ORDER)
def add_multiple_squared(a, factor, b):  # type: ignore[no-untyped-def]
    """a += factor b, and sum_i |a_i|^2 of the result, in one pass."""
    total = a[0].real * 0
    for i in range(a.size):
        value = a[i] + factor * b[i]
        a[i] = value
        total += value.real * value.real + value.imag * value.imag
    return total


@register_jitable
def magnitude2(value):  # type: ignore[no-untyped-def]
    """|value|^2 of a number."""
    return value.real * value.real + value.imag * value.imag
