"""Regular part of a double layer on one space, both orders of a pair of triangles from one evaluation.

With h = G'/r and x in triangle s, y in t, the double layer of the pair (s, t) has the kernel -h (x - y) . n_t and that
of (t, s), x and y exchanged, h (x - y) . n_s: the same h, and factors that depend on x or y alone. One call computes
some consecutive test triangles with the trial triangles of some blocks that follow them: the results A of (s, t) are
added to rows of the test triangles, and B of (t, s) to rows of the trial triangles. The adjoint double layer is the
transposed matrix: A and B change places.
"""

import functools
from collections.abc import Callable
from typing import Any

from numpy.typing import DTypeLike, NDArray

from calderon.backends.numba import STAMP, kernel
from calderon.backends.vectors import aligned, lanes, load, number, store, width, zero
from calderon.greens import Radial
from calderon.greens.elementary import inverse_square_root
from calderon.operators.columns import (
    add_complex_columns,
    add_complex_rows,
    add_real_columns,
    add_real_rows,
    column_scratch,
    fetched,
)
from calderon.operators.left_out import first_left_out, left_out, mark, words_for
from calderon.operators.point_sums import combined, folded, one_applied, three_applied
from calderon.operators.regular import add_turned, squared, turned
from calderon.operators.sides import LANES
from calderon.operators.tile_results import take


def mutual_scratch(rows: int, functions: int, points: int, complex_out: bool, real: DTypeLike) -> NDArray[Any]:
    """Working memory of one call: for its output rows (one more that nobody reads, and whole vectors of them) a block
    of each trial function, of A and of B, real and imaginary; a mask; results of some rows; in vectors, of one pair:
    distances from the plane of each test point, sums at each trial point."""
    step = width(real)
    rowwise = (4 if complex_out else 2) * (rows // step + 1) * step * functions * LANES
    return aligned(rowwise + step + column_scratch(functions * LANES, step) + (8 + 2 * points) * points * step, real)


@functools.lru_cache(maxsize=64)
def mutual_kernel(
    radial: Radial, linear: bool, oscillates: bool, complex_out: bool, threes: bool, points: int, trials: int
) -> Callable[..., None]:
    """The compiled tile of one Green's function. linear: three local functions at a time (else one, a constant); the
    other choices are those of `regular.tile_kernel`.

    tile(test, trial, group, skip_start, skip_position, scalars, lo, hi, first, last, adjoint, tile_rows, row_ids,
    scratch, out): test triangles lo..hi with trial triangles of blocks first..last and larger number; the rest as in
    `regular.tile_kernel`.
    """
    stamp = STAMP
    functions = 3 if linear else 1
    size, triples = trials * LANES, points // 3
    radial_value, radial_phase, shifts = radial
    parts = 2 if complex_out else 1
    add_columns = add_complex_columns if complex_out else add_real_columns
    add_rows = add_complex_rows if complex_out else add_real_rows

    @kernel
    def tile(  # type: ignore[no-untyped-def]
        test, trial, group, skip_start, skip_position, scalars, lo, hi, first, last, adjoint, tile_rows, row_ids,
        scratch, out,
    ):  # fmt: skip
        _ = stamp
        p0, p1, tiny = scalars[0], scalars[1], scalars[2]
        rows, step = row_ids.size, lanes(scratch)
        t, slot = scratch, group * functions
        kept = (rows // step + 1) * step
        imaginary = kept * size
        other = parts * imaginary  # where B begins
        mask, rest = scratch[2 * other : 2 * other + step], scratch[2 * other + step :]
        re, im, work = rest[: size * step], rest[size * step : 2 * size * step], rest[2 * size * step : 3 * size * step]
        forward, far = rest[3 * size * step :], points * step  # in vectors, of one pair of triangles
        back, sums, sums_i = forward[far:], forward[2 * far :], forward[5 * far :]
        slopes, slopes_i = forward[8 * far :], forward[(8 + points) * far :]
        x, weights, factors, table = test.nodes.reshape(-1), test.weights[group], test.factors[group], trial.table
        test_normals, test_centres, jacobian = test.normals, test.centres, trial.jacobian.reshape(-1)
        flat, pitch, columns = out.reshape(-1), out.shape[1], trial.columns
        cursors, words = first_left_out(skip_start, skip_position, lo, hi, first), words_for(lo, hi)
        for v in range(0, 2 * other, step):
            store(t, v, zero(t))
        for b in range(first, last):
            mark(words, cursors, skip_start, skip_position, lo, hi, b, True)
            normals, centres, y = trial.normals[b], trial.centres[b], trial.points[b].reshape(-1)
            for v in range(0, LANES, step):
                begin = v * kept * trials
                for i in range(lo, min(hi, b * LANES + v + step)):
                    m0, m1, m2 = test_normals[i, 0], test_normals[i, 1], test_normals[i, 2]
                    c0, c1, c2 = test_centres[i, 0], test_centres[i, 1], test_centres[i, 2]
                    o = 3 * points * i
                    row0 = begin + tile_rows[i - lo, slot] * trials * step
                    row1, row2 = row0, row0
                    if linear:
                        row1 = begin + tile_rows[i - lo, slot + 1] * trials * step
                        row2 = begin + tile_rows[i - lo, slot + 2] * trials * step
                    e0, e1, e2 = load(centres, v), load(centres, LANES + v), load(centres, 2 * LANES + v)
                    reference = zero(t)
                    if shifts:
                        d0, d1, d2 = c0 - e0, c1 - e1, c2 - e2
                        square = d0 * d0 + tiny + d1 * d1 + d2 * d2
                        reference = square * inverse_square_root(square)
                    f_re, f_im = radial_phase(reference, p0, p1)
                    f_re, f_im = turned(f_re, f_im, scalars[5], scalars[6])
                    factor = load(jacobian, b * LANES + v) * number(factors, i)
                    if left_out(words, i - lo, v, mask):
                        factor = factor * load(mask, 0)
                    n0, n1 = load(normals, v) * factor, load(normals, LANES + v) * factor
                    n2 = load(normals, 2 * LANES + v) * factor
                    l0, l1, l2 = factor * m0, factor * m1, factor * m2
                    for p in range(points):
                        d0, d1 = e0 - number(x, o + 3 * p), e1 - number(x, o + 3 * p + 1)
                        d2 = e2 - number(x, o + 3 * p + 2)
                        ahead = d0 * n0 + d1 * n1 + d2 * n2  # -(x - y) . n_y, at any y
                        if not linear:
                            ahead = ahead * number(weights, triples + p // 3 if threes else p)
                        store(forward, p * step, ahead)
                    a_re, a_im, b_re, b_im = zero(t), zero(t), zero(t), zero(t)
                    for q in range(points):
                        here = 3 * q * LANES + v
                        y0, y1, y2 = load(y, here), load(y, here + LANES), load(y, here + 2 * LANES)
                        d0, d1, d2 = c0 - y0, c1 - y1, c2 - y2
                        behind = d0 * l0 + d1 * l1 + d2 * l2  # (x - y) . n_x, at any x
                        if linear:
                            store(back, q * step, behind)
                            for p in range(points):
                                r2 = squared(x, o + 3 * p, y0, y1, y2, tiny)
                                _g, _gi, k0, u0 = radial_value(r2, p0, p1, reference)
                                store(slopes, q * far + p * step, k0)
                                if oscillates:
                                    store(slopes_i, q * far + p * step, u0)
                        else:
                            a_q, a_qi, b_q, b_qi = zero(t), zero(t), zero(t), zero(t)
                            for p in range(0, points, 3 if threes else 1):
                                every, every_i = zero(t), zero(t)
                                for k in range(3 if threes else 1):
                                    r2 = squared(x, o + 3 * (p + k), y0, y1, y2, tiny)
                                    _g, _gi, k0, u0 = radial_value(r2, p0, p1, reference)
                                    ahead = load(forward, (p + k) * step)
                                    every, a_q = every + k0, a_q + ahead * k0
                                    if oscillates:
                                        every_i, a_qi = every_i + u0, a_qi + ahead * u0
                                weight = number(weights, triples + p // 3 if threes else p)
                                b_q = b_q + weight * every
                                if oscillates:
                                    b_qi = b_qi + weight * every_i
                            weight = number(trial.measure, q)
                            behind = weight * behind
                            a_re, b_re = a_re + weight * a_q, b_re + behind * b_q
                            if oscillates:
                                a_im, b_im = a_im + weight * a_qi, b_im + behind * b_qi
                    if not linear:
                        add_turned(t, row0, imaginary, a_re, a_im, f_re, f_im, complex_out)
                        add_turned(t, other + row0, imaginary, b_re, b_im, f_re, f_im, complex_out)
                    elif threes:
                        for g in range(trials // 3):
                            unit = trial.units[3 * g]
                            g_re, g_im = unit * f_re, unit * f_im
                            three_applied(slopes, far, step, forward, points, table, 2 * triples * g, sums)
                            if oscillates:
                                three_applied(slopes_i, far, step, forward, points, table, 2 * triples * g, sums_i)
                            for f in range(3):
                                s0, s1, s2 = folded(sums, f * step, 3 * step, triples, weights, 0)
                                i0, i1, i2 = zero(t), zero(t), zero(t)
                                if oscillates:
                                    i0, i1, i2 = folded(sums_i, f * step, 3 * step, triples, weights, 0)
                                place = (3 * g + f) * step
                                add_turned(t, place + row0, imaginary, s0, i0, g_re, g_im, complex_out)
                                add_turned(t, place + row1, imaginary, s1, i1, g_re, g_im, complex_out)
                                add_turned(t, place + row2, imaginary, s2, i2, g_re, g_im, complex_out)
                        three_applied(slopes, step, far, back, points, weights, 0, sums)
                        if oscillates:
                            three_applied(slopes_i, step, far, back, points, weights, 0, sums_i)
                        for a in range(3):
                            place = other + begin + tile_rows[i - lo, slot + a] * trials * step
                            for g in range(trials // 3):
                                unit = trial.units[3 * g]
                                g_re, g_im = unit * f_re, unit * f_im
                                s0, s1, s2 = folded(sums, a * step, 3 * step, triples, table, 2 * triples * g)
                                i0, i1, i2 = zero(t), zero(t), zero(t)
                                if oscillates:
                                    i0, i1, i2 = folded(sums_i, a * step, 3 * step, triples, table, 2 * triples * g)
                                add_turned(t, place, imaginary, s0, i0, g_re, g_im, complex_out)
                                add_turned(t, place + step, imaginary, s1, i1, g_re, g_im, complex_out)
                                add_turned(t, place + 2 * step, imaginary, s2, i2, g_re, g_im, complex_out)
                                place += 3 * step
                    else:
                        for f in range(trials):
                            one_applied(slopes, far, step, forward, points, table, f * points, sums)
                            if oscillates:
                                one_applied(slopes_i, far, step, forward, points, table, f * points, sums_i)
                            for a in range(3):
                                s0, i0 = combined(sums, 0, step, points, weights, a * points), zero(t)
                                if oscillates:
                                    i0 = combined(sums_i, 0, step, points, weights, a * points)
                                place = begin + (tile_rows[i - lo, slot + a] * trials + f) * step
                                add_turned(t, place, imaginary, s0, i0, f_re, f_im, complex_out)
                        for a in range(3):
                            one_applied(slopes, step, far, back, points, weights, a * points, sums)
                            if oscillates:
                                one_applied(slopes_i, step, far, back, points, weights, a * points, sums_i)
                            place = other + begin + tile_rows[i - lo, slot + a] * trials * step
                            for f in range(trials):
                                s0, i0 = combined(sums, 0, step, points, table, f * points), zero(t)
                                if oscillates:
                                    i0 = combined(sums_i, 0, step, points, table, f * points)
                                add_turned(t, place + f * step, imaginary, s0, i0, f_re, f_im, complex_out)
            for side in range(2):
                by_rows = (side == 1) == adjoint  # else transposed
                for top in range(0, rows, step):
                    count = min(step, rows - top)
                    if by_rows:
                        fetched(flat, pitch, row_ids, top, count, columns, b)
                    take(t, side * other, kept, trials, top, re)
                    if complex_out:
                        take(t, side * other + imaginary, kept, trials, top, im)
                    if by_rows:
                        add_columns(flat, pitch, row_ids, top, count, columns, b, re, im, work)
                    else:
                        add_rows(flat, pitch, row_ids, top, count, columns, b, re, im, work)

    return tile
