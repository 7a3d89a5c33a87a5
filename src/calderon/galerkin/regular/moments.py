"""Moments of a pair of triangles from the sums at the points of one of them (pair_sums.py)."""

from collections.abc import Callable
from typing import Any

from calderon.backends.vectors import jitable, lanes, number, zero
from calderon.galerkin.regular.point_sums import combined, combined_three, folded, put_product, shared


def moment_sums(
    height: int, many: int, threes: bool, points: int, oscillates: bool, weighed: bool = False
) -> Callable[..., Any]:  # fmt: skip
    """The compiled sum of `height` sums with functions of the fixed triangle over the points of the varying ones, with
    `many` functions there.

    put(s, w, m, numbers, table, scales, units, f_re, f_im) stores moments (height, many) times f = f_re + i f_im, real
    and then imaginary ones, at s[m:], from the sums of pair_sums.py or component_sums.py at s[w:]. numbers[table:] and
    scales[units:] are weights and units as `element_tables.by_groups` gives them, threes: whether points are in threes,
    weighed: as in `pair_sums`.
    """
    triples, by_three = points // 3, many % 3 == 0 or threes

    @jitable
    def three_at(s, w, at, stride, numbers, weight):
        """The sums from s[at:] on, `stride` numbers from point to point, times three functions, whose table begins at
        numbers[weight], or shares at s[w]."""
        if weighed:
            return shared(s, at, stride, w)
        if threes:
            return folded(s, at, stride, triples, numbers, weight)
        return combined_three(s, at, stride, points, numbers, weight)

    @jitable
    def put(s, w, m, numbers, table, scales, units, f_re, f_im):
        """Store the moments of a fixed triangle with a vector of others."""
        step = lanes(s)
        stride, imaginary = 2 * height * step, height * many * step
        for a in range(height):
            at = w + (points + a) * step
            for n in range(0 if by_three else many):
                value, value_i = combined(s, at, stride, points, numbers, table + n * points), zero(s)
                if oscillates:
                    value_i = combined(s, at + height * step, stride, points, numbers, table + n * points)
                put_product(s, m + (a * many + n) * step, imaginary, value, value_i, f_re, f_im)
            for n in range(0, many if by_three else 0, 3):
                place = m + (a * many + n) * step
                unit = number(scales, units + n // 3)
                weight = table + (2 * triples * (n // 3) if threes else n * points)
                v0, v1, v2 = three_at(s, w, at, stride, numbers, weight)
                u0, u1, u2 = zero(s), zero(s), zero(s)
                if oscillates:
                    u0, u1, u2 = three_at(s, w, at + height * step, stride, numbers, weight)
                g_re, g_im = unit * f_re, unit * f_im
                put_product(s, place, imaginary, v0, u0, g_re, g_im)
                put_product(s, place + step, imaginary, v1, u1, g_re, g_im)
                put_product(s, place + 2 * step, imaginary, v2, u2, g_re, g_im)

    return put
