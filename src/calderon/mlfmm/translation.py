"""Factors of translations between separated boxes of one level.

With R = c - c' from the source's centre to the target's, d a direction, w its weight and L the degree,

    exp(i k r) / (4 pi r) = sum_d exp(i k d.(x - c)) T(d) exp(-i k d.(y - c')),
    T(d) = w i k / (16 pi^2) sum_(l <= L) i^l (2 l + 1) h_l(k |R|) P_l(d.R / |R|),

with spherical Hankel functions of the first kind (V. Rokhlin 1993; R. Coifman, V. Rokhlin, S. Wandzura 1993). The sum
depends on the angle between d and R alone: where degrees are high it is tabulated
for each distance, and interpolated by polynomials of degree seven. Grids of directions are their own mirror images, so
offsets that are images of each other have the same factors in another order.
"""

import math
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from calderon.backends import run_tasks
from calderon.backends.numba import jitable_part, kernel
from calderon.backends.vectors import aligned, width
from calderon.mlfmm.spectrum import Grid

SAMPLES = 12, 32
"""Samples of the table of angles for each degree, in single and in double precision."""
DIRECT = 24, 60
"""Degree up to which sums are computed for each direction, in single and in double precision: a table takes as long,
and where k |R| is small the factors are so much larger than their effect that its errors count."""
EXTRA = 6
"""Samples of a table beyond each end."""


def coefficients(k: complex, distances: NDArray[np.float64], degree: int) -> NDArray[np.complex128]:
    """(distances, degree + 1) i k / (16 pi^2) i^l (2 l + 1) h_l(k distance)."""
    l, z = np.arange(degree + 1), (k if np.imag(k) else np.real(k)) * distances[:, None]
    hankel = scipy.special.spherical_jn(l, z) + 1j * scipy.special.spherical_yn(l, z)
    return np.asarray(1j * k / (16 * np.pi**2) * 1j ** (l % 4) * (2 * l + 1) * hankel)


def translators(k: complex, offsets: NDArray[Any], grid: Grid, real: Any) -> NDArray[Any]:
    """Factors of offsets R (n, 3) in m, in blocks (block, n, part, two vectors), flat."""
    pair, pitch = 2 * width(real), grid.pitch(real)
    out = aligned(pitch * 2 * len(offsets), real)
    directions, weights, degree = np.ascontiguousarray(grid.directions.T), grid.weights, grid.degree
    if not len(offsets):
        return out
    # few offsets, of which all others are mirror images; series by distance
    few, image, turns = upright(offsets, grid.rows % 2 == 0)
    lengths = np.linalg.norm(few, axis=1)
    _, first, which = np.unique(np.round(lengths / lengths.min(), 6), return_index=True, return_inverse=True)
    table = coefficients(k, lengths[first], degree)
    double = np.dtype(real) == np.float64
    count, tabulated = SAMPLES[double] * max(degree, 1), degree > DIRECT[double]
    # sums over the degrees, at equal steps of the angle
    if tabulated:
        cosines = np.cos(np.pi * np.arange(-EXTRA, count + EXTRA + 1) / count)
        sums = np.zeros((len(table), len(cosines)), complex)
        run_tasks(lambda n: legendre_sums(table[n], cosines, sums[n]), len(table))
        table = sums

    # factors of the few, mirrored for all
    factors = np.empty((len(few), grid.count), complex)

    def work(n: int) -> None:
        row = table[which[n]]
        fill(directions, weights, few[n] / lengths[n], row.real.copy(), row.imag.copy(), count, tabulated, factors[n])

    run_tasks(work, len(few))
    turned(factors, image, turns, grid.rows, pair, out)
    return out


def upright(offsets: NDArray[Any], swaps: bool) -> tuple[NDArray[Any], NDArray[np.int64], NDArray[np.bool_]]:
    """Offsets (n, 3) as mirror images, under which grids of directions are the same, of few: these (m, 3), with x, y, z
    >= 0, which one each is of, and (n, 4) whether x, y and z change their sign, and x and y then their places. swaps:
    whether they may do this."""
    signs, sizes = offsets < 0, np.abs(offsets)
    swapped = swaps & (sizes[:, 1] > sizes[:, 0])
    sizes[swapped] = sizes[swapped][:, [1, 0, 2]]
    few, image = np.unique(sizes, axis=0, return_inverse=True)
    return few, image.reshape(-1), np.column_stack([signs, swapped])


@jitable_part
def recurrence(count):
    """Factors l / (l + 1) (count,) of P_(l + 1) = (1 + l / (l + 1)) x P_l - l / (l + 1) P_(l - 1)."""
    l = np.arange(count)
    return l / (l + 1)


@kernel
def legendre_sums(coefficient, x, out):
    """Fill out (n,) with sum_l coefficient_l P_l(x), for x (n,) and coefficient (degree + 1,)."""
    part = recurrence(len(coefficient))
    for i in range(len(x)):
        before, now, total = 1.0, x[i], coefficient[0]
        for l in range(1, len(coefficient)):
            total += coefficient[l] * now
            before, now = now, (1 + part[l]) * x[i] * now - part[l] * before
        out[i] = total


@kernel
def fill(directions, weights, towards, re, im, count, tabulated, out):
    """Fill out (n,), complex, with the factors of an offset in the direction `towards` (3,) at directions (n, 3), times
    weights (n,).

    re, im: Legendre coefficients, or, where `tabulated`, sums at equal steps of the angle, `count` of them to pi.
    """
    factors, part = np.empty(8), recurrence(len(re))
    for d in range(len(weights)):
        x = directions[d, 0] * towards[0] + directions[d, 1] * towards[1] + directions[d, 2] * towards[2]
        a, b = 0.0, 0.0
        # interpolated by polynomials of degree 7
        if tabulated:
            angle = math.acos(min(1.0, max(-1.0, x))) * count / math.pi
            j = int(angle)
            f = angle - j
            for p in range(8):  # Lagrange, samples j - 3 .. j + 4
                factor = 1.0
                for q in range(8):
                    if q != p:
                        factor *= (f - (q - 3)) / (p - q)
                factors[p] = factor
            for p in range(8):
                a += factors[p] * re[j + 3 + p]
                b += factors[p] * im[j + 3 + p]
        else:
            # or summed, with Legendre polynomials by their recurrence
            before, now, a, b = 1.0, x, re[0], im[0]
            for l in range(1, len(re)):
                a += re[l] * now
                b += im[l] * now
                before, now = now, (1 + part[l]) * x * now - part[l] * before
        out[d] = complex(a, b) * weights[d]


@kernel
def turned(factors, image, turns, rows, pair, out):
    """Fill out with the factors of all offsets, in blocks (block, offsets, part, two vectors), from those of their
    mirror images.

    factors (images, directions), complex; image (offsets,): which one; turns (offsets, 4): whether x, y, z are
    reversed, and x and y exchanged; rows: angles theta of the grid, half of the angles phi; pair: directions in a
    block.
    """
    count = 2 * rows
    for n in range(len(image)):
        # which angles phi of the image are those of the offset
        begin, step = 0, 1  # j, an angle phi of d, is that number begin + step j of its image
        if turns[n, 0]:
            begin, step = rows - begin, -step
        if turns[n, 1]:
            begin, step = -begin, -step
        if turns[n, 3]:
            begin, step = rows // 2 - begin, -step
        for t in range(rows):
            # factors of one angle theta, block by block
            row = (rows - 1 - t if turns[n, 2] else t) * count
            j = begin % count
            for d in range(t * count, (t + 1) * count):
                value = factors[image[n], row + j]
                place = ((d // pair) * len(image) + n) * 2 * pair + d % pair
                out[place], out[place + pair] = value.real, value.imag
                j += step
                if j == count:
                    j = 0
                elif j < 0:
                    j = count - 1
