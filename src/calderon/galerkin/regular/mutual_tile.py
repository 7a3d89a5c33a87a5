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

import numpy as np
from numpy.typing import DTypeLike, NDArray

from calderon.backends.numba import kernel
from calderon.backends.vectors import aligned, complex_product, lanes, load, number, store, width, zero
from calderon.galerkin.regular.centroid_distances import (
    PRODUCTS,
    RECORD,
    along,
    dot,
    put_pair,
    put_planes,
    three_squares,
)
from calderon.galerkin.regular.element_tables import LANES
from calderon.galerkin.regular.flush import take
from calderon.galerkin.regular.pair_mask import first_left_out, left_out, mark, words_for
from calderon.galerkin.regular.point_sums import (
    applied,
    combined,
    folded,
    folded_times,
    one_applied,
    put_three,
    squared,
    three,
    zeros,
)
from calderon.galerkin.regular.scatter_columns import (
    add_complex_columns,
    add_complex_rows,
    add_real_columns,
    add_real_rows,
    column_scratch,
    fetched,
)
from calderon.galerkin.regular.tile import add_product, add_three
from calderon.greens import Radial
from calderon.greens.elementary import inverse_square_root


def mutual_scratch(rows: int, functions: int, points: int, complex_out: bool, real: DTypeLike) -> NDArray[Any]:
    """Working memory of one call: for its output rows (one more that nobody reads, and whole vectors of them) a block
    of each trial function, of A and of B, real and imaginary; a mask; results of some rows; in vectors, of one pair:
    distances of points from planes, sums at each trial point, squared distances (centroid_distances.py) or slopes."""
    step = width(real)
    rowwise = (4 if complex_out else 2) * (rows // step + 1) * step * functions * LANES
    of_pair = (16 + 2 * points) * points + PRODUCTS
    return aligned(rowwise + step + column_scratch(functions * LANES, step) + of_pair * step, real)


@functools.lru_cache(maxsize=64)
def mutual_kernel(
    radial: Radial,
    linear: bool,
    oscillates: bool,
    complex_out: bool,
    threes: bool,
    close: bool,
    points: int,
    trials: int,
) -> Callable[..., None]:
    """The compiled tile of one Green's function. linear: three local functions at a time (else one, a constant);
    close: pairs may be so near that squared distances by `spreads` would lose digits; the other choices are those of
    `regular.tile_kernel`.

    tile(test, trial, spread, group, skip_start, skip_position, scalars, lo, hi, first, last, adjoint, tile_rows,
    row_ids, scratch, out): test triangles lo..hi with trial triangles of blocks first..last and larger number; spread:
    spreads.Spreads; the rest as in `regular.tile_kernel`.
    """
    functions = 3 if linear else 1
    size, triples = trials * LANES, points // 3
    radial_value, radial_phase, shifts = radial.multiple or radial.value, radial.phase, radial.shifts
    parts = 2 if complex_out else 1
    add_columns = add_complex_columns if complex_out else add_real_columns
    add_rows = add_complex_rows if complex_out else add_real_rows

    @kernel
    def tile(  # type: ignore[no-untyped-def]
        test, trial, spread, group, skip_start, skip_position, scalars, lo, hi, first, last, adjoint, tile_rows,
        row_ids, scratch, out,
    ):  # fmt: skip
        p0, p1, tiny = scalars[0], scalars[1], scalars[2]
        rows, step = row_ids.size, lanes(scratch)
        t, slot = scratch, group * functions
        kept = (rows // step + 1) * step
        imaginary = kept * size
        other = parts * imaginary  # where B begins
        mask, rest = scratch[2 * other : 2 * other + step], scratch[2 * other + step :]
        re, im, work = rest[: size * step], rest[size * step : 2 * size * step], rest[2 * size * step : 3 * size * step]
        x, weights, factors, table = test.nodes.reshape(-1), test.weights[group], test.factors[group], trial.table
        ones, gammas = np.ones(triples, scratch.dtype), np.ones(triples, scratch.dtype)
        if linear and threes:
            for p in range(triples):  # alpha enters the distances from planes; at points within a triangle it is not 0
                gammas[p] = weights[triples + p] / weights[p]
        forward, far = rest[3 * size * step :], points * step  # in vectors, of one pair of triangles
        back, sums, sums_i = forward[far:], forward[2 * far :], forward[8 * far :]
        at_test, at_trial = forward[14 * far :], forward[15 * far :]
        slopes, slopes_i = forward[16 * far :], forward[(16 + points) * far :]
        products = forward[(16 + 2 * points) * far :]
        shapes, around = spread.test.reshape(-1), spread.trial.reshape(-1)
        steps, pairs = spread.steps, spread.products.reshape(-1)
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
                    e0, e1, e2 = load(centres, v), load(centres, LANES + v), load(centres, 2 * LANES + v)
                    d0, d1, d2 = c0 - e0, c1 - e1, c2 - e2
                    square, reference = d0 * d0 + tiny + d1 * d1 + d2 * d2, zero(t)
                    if shifts:
                        reference = square * inverse_square_root(square)
                    f_re, f_im = radial_phase(reference, p0, p1)
                    f_re, f_im = complex_product(f_re, f_im, scalars[5], scalars[6])
                    factor = load(jacobian, b * LANES + v) * number(factors, i)
                    missing = left_out(words, i - lo, v, mask)
                    if missing:
                        factor = factor * load(mask, 0)
                    n0, n1 = load(normals, v) * factor, load(normals, LANES + v) * factor
                    n2 = load(normals, 2 * LANES + v) * factor
                    l0, l1, l2 = factor * m0, factor * m1, factor * m2
                    a_re, a_im, b_re, b_im = zero(t), zero(t), zero(t), zero(t)
                    if threes:
                        part, others = RECORD * i, b * RECORD * LANES + v
                        if not close:
                            put_pair(
                                shapes, part, around, others, LANES, steps, triples, d0, d1, d2, square, missing,
                                load(mask, 0), forward, (16 + 2 * points) * far, 14 * far, 15 * far,
                            )  # fmt: skip
                        ahead = -(d0 * n0 + d1 * n1 + d2 * n2)  # -(x - y) . n_y, at any y
                        w0, w1 = dot(shapes, part, n0, n1, n2), dot(shapes, part + 3, n0, n1, n2)
                        put_planes(steps, triples, weights, 0 if linear else triples, ahead, w0, w1, forward, 0)
                        behind = d0 * l0 + d1 * l1 + d2 * l2  # (x - y) . n_x, at any x
                        w0, w1 = (
                            along(around, others, LANES, l0, l1, l2),
                            along(around, others + 3 * LANES, LANES, l0, l1, l2),
                        )
                        put_planes(steps, triples, ones, 0, behind, w0, w1, back, 0)
                        for q in range(points):
                            at_q, pair, corner = load(at_trial, q * step), q // 3 * triples, q % 3 * 3 * step
                            z0, z1, z2 = three(products, corner, step)
                            here = 3 * q * LANES + v
                            y0, y1, y2 = load(y, here), load(y, here + LANES), load(y, here + 2 * LANES)
                            sa, sa_i, sb, sb_i = zeros(t), zeros(t), zeros(t), zeros(t)
                            if oscillates:  # too many numbers for the registers
                                for p in range(triples):
                                    for k in range(3):
                                        here = (3 * p + k) * step
                                        dots = load(products, corner + k * step)
                                        r2 = load(at_test, here) + at_q + number(pairs, pair + p) * dots
                                        if close:
                                            r2 = squared(x, o + 9 * p + 3 * k, y0, y1, y2, tiny)
                                        _g, _gi, k0, u0 = radial_value(r2, p0, p1, reference)
                                        store(slopes, here, k0)
                                        store(slopes_i, here, u0)
                            for p in range(triples):
                                here, product = 3 * p * step, number(pairs, pair + p)
                                h0, h1, h2 = three(forward, here, step)
                                alpha = 1.0 if p == 0 else number(weights, p)
                                beta, gamma = number(weights, triples + p), number(gammas, p)
                                if oscillates:
                                    k0, k1, k2 = three(slopes, here, step)
                                else:
                                    r0, r1, r2 = three_squares(at_test, here, at_q, product, z0, z1, z2)
                                    if close:
                                        r0 = squared(x, o + 9 * p, y0, y1, y2, tiny)
                                        r1 = squared(x, o + 9 * p + 3, y0, y1, y2, tiny)
                                        r2 = squared(x, o + 9 * p + 6, y0, y1, y2, tiny)
                                    _g, _gi, k0, u0 = radial_value(r0, p0, p1, reference)
                                    _g, _gi, k1, u1 = radial_value(r1, p0, p1, reference)
                                    _g, _gi, k2, u2 = radial_value(r2, p0, p1, reference)
                                sa = applied(sa, h0 * k0, h1 * k1, h2 * k2, 1.0, gamma)
                                sb = applied(sb, k0, k1, k2, alpha, beta)
                                if oscillates:
                                    k0, k1, k2 = three(slopes_i, here, step)
                                    sa_i = applied(sa_i, h0 * k0, h1 * k1, h2 * k2, 1.0, gamma)
                                    sb_i = applied(sb_i, k0, k1, k2, alpha, beta)
                            if linear:
                                put_three(sums, 6 * q * step, sa)
                                put_three(sums, (6 * q + 3) * step, sb)
                                if oscillates:
                                    put_three(sums_i, 6 * q * step, sa_i)
                                    put_three(sums_i, (6 * q + 3) * step, sb_i)
                            else:
                                weight = number(trial.measure, q)
                                behind = weight * load(back, q * step)
                                a_re, b_re = a_re + weight * sa[3], b_re + behind * sb[3]
                                if oscillates:
                                    a_im, b_im = a_im + weight * sa_i[3], b_im + behind * sb_i[3]
                    else:
                        for p in range(points):
                            d0, d1 = e0 - number(x, o + 3 * p), e1 - number(x, o + 3 * p + 1)
                            d2 = e2 - number(x, o + 3 * p + 2)
                            ahead = d0 * n0 + d1 * n1 + d2 * n2
                            if not linear:
                                ahead = ahead * number(weights, p)
                            store(forward, p * step, ahead)
                        for q in range(points):
                            here = 3 * q * LANES + v
                            y0, y1, y2 = load(y, here), load(y, here + LANES), load(y, here + 2 * LANES)
                            d0, d1, d2 = c0 - y0, c1 - y1, c2 - y2
                            behind = d0 * l0 + d1 * l1 + d2 * l2
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
                                for p in range(points):
                                    r2 = squared(x, o + 3 * p, y0, y1, y2, tiny)
                                    _g, _gi, k0, u0 = radial_value(r2, p0, p1, reference)
                                    ahead, weight = load(forward, p * step), number(weights, p)
                                    a_q, b_q = a_q + ahead * k0, b_q + weight * k0
                                    if oscillates:
                                        a_qi, b_qi = a_qi + ahead * u0, b_qi + weight * u0
                                weight = number(trial.measure, q)
                                behind = weight * behind
                                a_re, b_re = a_re + weight * a_q, b_re + behind * b_q
                                if oscillates:
                                    a_im, b_im = a_im + weight * a_qi, b_im + behind * b_qi
                    if not linear:
                        add_product(t, row0, imaginary, a_re, a_im, f_re, f_im, complex_out)
                        add_product(t, other + row0, imaginary, b_re, b_im, f_re, f_im, complex_out)
                    elif threes:
                        for g in range(trials // 3):
                            unit = trial.units[g]
                            g_re, g_im = unit * f_re, unit * f_im
                            for a in range(3):
                                row = begin + (tile_rows[i - lo, slot + a] * trials + 3 * g) * step
                                weight, there = 2 * triples * g, (a + 3) * step
                                at = folded(sums, a * step, 6 * step, triples, table, weight)
                                bt = folded_times(sums, there, 6 * step, triples, back, table, weight)
                                at_i, bt_i = (zero(t), zero(t), zero(t)), (zero(t), zero(t), zero(t))
                                if oscillates:
                                    at_i = folded(sums_i, a * step, 6 * step, triples, table, weight)
                                    bt_i = folded_times(sums_i, there, 6 * step, triples, back, table, weight)
                                add_three(t, row, imaginary, at, at_i, g_re, g_im, complex_out)
                                add_three(t, other + row, imaginary, bt, bt_i, g_re, g_im, complex_out)
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
                                add_product(t, place, imaginary, s0, i0, f_re, f_im, complex_out)
                        for a in range(3):
                            one_applied(slopes, step, far, back, points, weights, a * points, sums)
                            if oscillates:
                                one_applied(slopes_i, step, far, back, points, weights, a * points, sums_i)
                            place = other + begin + tile_rows[i - lo, slot + a] * trials * step
                            for f in range(trials):
                                s0, i0 = combined(sums, 0, step, points, table, f * points), zero(t)
                                if oscillates:
                                    i0 = combined(sums_i, 0, step, points, table, f * points)
                                add_product(t, place + f * step, imaginary, s0, i0, f_re, f_im, complex_out)
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
