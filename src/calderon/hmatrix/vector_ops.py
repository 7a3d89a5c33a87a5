"""Sums and updates of contiguous numbers, real or complex, inside kernels: summed in any order, so they vectorise.

Those that end in _at take arrays with the places where numbers begin, without bounds: a slice has its references
counted, which takes longer than 30 numbers.
"""

from calderon.backends.numba import jitable_part
from calderon.backends.vectors import number, put

ANY_ORDER = {"reassoc", "contract", "arcp", "afn", "nsz", "nnan", "ninf"}


@jitable_part(fastmath=ANY_ORDER)
def dot(a, b, zero):
    """zero + sum_i a_i b_i of a and b (n,), without conjugation, in the precision of `zero`."""
    total = zero
    for i in range(a.size):
        total += a[i] * b[i]
    return total


@jitable_part(fastmath=ANY_ORDER)
def square(a):
    """sum_i |a_i|^2 of a (n,)."""
    total = a[0].real * 0
    for i in range(a.size):
        total += a[i].real * a[i].real + a[i].imag * a[i].imag
    return total


@jitable_part(fastmath=ANY_ORDER)
def add_multiple(a, factor, b):
    """a += factor b."""
    for i in range(a.size):
        a[i] += factor * b[i]


@jitable_part
def multiply_by(a, factor):
    """a *= factor for all numbers of a (n,)."""
    for i in range(a.size):
        a[i] *= factor


@jitable_part(fastmath=ANY_ORDER)
def square_at(a, i, count):
    """sum |a|^2 of `count` numbers of a from place i on."""
    total = number(a, i).real * 0
    for k in range(count):
        value = number(a, i + k)
        total += value.real * value.real + value.imag * value.imag
    return total


@jitable_part(fastmath=ANY_ORDER)
def conjugated_dot_at(a, i, j, count, zero):
    """zero + sum conj(a_i) a_j of `count` numbers of a from places i and j on."""
    total = zero
    for k in range(count):
        total += number(a, i + k).conjugate() * number(a, j + k)
    return total


@jitable_part(fastmath=ANY_ORDER)
def add_multiple_at(a, i, factor, b, j, count):
    """a += factor b for `count` numbers, of a from place i and of b from place j on."""
    for k in range(count):
        put(a, i + k, number(a, i + k) + factor * number(b, j + k))


@jitable_part(fastmath=ANY_ORDER)
def subtract_cross(residual, m, n, part, at, lengths):
    """residual (m n,) -= u v^T with u, v in `part` from `at` on; squares of its rows go to lengths, their sum is
    returned."""
    total = lengths[0] * 0
    for i in range(m):
        factor, row, square = number(part, at + i), i * n, lengths[0] * 0
        for j in range(n):
            value = number(residual, row + j) - factor * number(part, at + m + j)
            put(residual, row + j, value)
            square += value.real * value.real + value.imag * value.imag
        put(lengths, i, square)
        total += square
    return total


@jitable_part
def magnitude2(value):
    """|value|^2 of a number."""
    return value.real * value.real + value.imag * value.imag
