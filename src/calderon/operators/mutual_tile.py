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
    sums_across,
)
from calderon.operators.regular import add, folded, squared, turned
from calderon.operators.sides import LANES


def mutual_scratch(rows: int, functions: int, points: int, complex_out: bool, real: DTypeLike) -> NDArray[Any]:
    """Working memory of one call: for its output rows (one more that nobody reads, and whole vectors of them) a block
    of each trial function, of A and of B, real and imaginary; a mask; results of some rows; in vectors, of one pair:
    distances from the plane of each test point, sums at each trial point."""
    step = width(real)
    rowwise = (4 if complex_out else 2) * (rows // step + 1) * step * functions * LANES
    return aligned(rowwise + LANES + column_scratch(functions * LANES, step) + 13 * points * step, real)


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
        work = (rows // step + 1) * step * size
        other = parts * work  # where B begins
        mask = scratch[2 * other : 2 * other + LANES]
        results = scratch[2 * other + LANES : 2 * other + LANES + 4 * size * step]
        offsets = scratch[2 * other + LANES + 4 * size * step :]
        sums = offsets[points * step :]
        cursors = skip_start[lo:hi].copy()  # for each test triangle the first pair to leave out that is still ahead
        for i in range(lo, hi):
            while cursors[i - lo] < skip_start[i + 1] and skip_position[cursors[i - lo]] < first * LANES:
                cursors[i - lo] += 1
        for b in range(first, last):
            for v in range(0, 2 * other, step):
                store(t, v, zero(t))
            normals, centres = trial.normals[b], trial.centres[b]
            for i in range(lo, min(hi, (b + 1) * LANES)):
                cursor, end = cursors[i - lo], skip_start[i + 1]
                masked = i >= b * LANES or (cursor < end and skip_position[cursor] < (b + 1) * LANES)
                if masked:
                    for j in range(LANES):
                        mask[j] = 0.0 if b * LANES + j <= i else 1.0
                    while cursor < end and skip_position[cursor] < (b + 1) * LANES:
                        mask[skip_position[cursor] - b * LANES] = 0.0
                        cursor += 1
                    cursors[i - lo] = cursor
                m0, m1, m2 = test.normals[i, 0], test.normals[i, 1], test.normals[i, 2]
                c0, c1, c2 = test.centres[i, 0], test.centres[i, 1], test.centres[i, 2]
                x, weights = test.nodes[i], test.weights[group]
                for v in range(0, LANES, step):
                    e0, e1, e2 = load(centres, v), load(centres, LANES + v), load(centres, 2 * LANES + v)
                    reference = zero(t)
                    if shifts:
                        d0, d1, d2 = c0 - e0, c1 - e1, c2 - e2
                        square = d0 * d0 + tiny + d1 * d1 + d2 * d2
                        reference = square * inverse_square_root(square)
                    f_re, f_im = radial_phase(reference, p0, p1)
                    factor = zero(t) + test.factors[group, i]
                    if masked:
                        factor = factor * load(mask, v)
                    n0, n1 = load(normals, v) * factor, load(normals, LANES + v) * factor
                    n2 = load(normals, 2 * LANES + v) * factor
                    l0, l1, l2 = factor * m0, factor * m1, factor * m2
                    for p in range(points):  # -(x - y) . n_y, the same for all points of a trial triangle
                        d0, d1 = e0 - number(x, 3 * p), e1 - number(x, 3 * p + 1)
                        d2 = e2 - number(x, 3 * p + 2)
                        store(offsets, p * step, d0 * n0 + d1 * n1 + d2 * n2)
                    a_total, a_total_i, b_total, b_total_i = zero(t), zero(t), zero(t), zero(t)
                    for q in range(points):
                        y = trial.points[b, q]
                        y0, y1, y2 = load(y, v), load(y, LANES + v), load(y, 2 * LANES + v)
                        s0, s1, s2, i0, i1, i2 = zero(t), zero(t), zero(t), zero(t), zero(t), zero(t)
                        z0, z1, z2, j0, j1, j2 = zero(t), zero(t), zero(t), zero(t), zero(t), zero(t)
                        if threes:
                            every, every_i, all_z, all_j = zero(t), zero(t), zero(t), zero(t)
                            for p in range(triples):
                                r2, place = squared(x, 9 * p, y0, y1, y2, tiny), 3 * p * step
                                _g, _gi, k0, u0 = radial_value(r2, p0, p1, reference)
                                w0 = load(offsets, place)
                                r2 = squared(x, 9 * p + 3, y0, y1, y2, tiny)
                                _g, _gi, k1, u1 = radial_value(r2, p0, p1, reference)
                                w1 = load(offsets, place + step)
                                r2 = squared(x, 9 * p + 6, y0, y1, y2, tiny)
                                _g, _gi, k2, u2 = radial_value(r2, p0, p1, reference)
                                w2 = load(offsets, place + 2 * step)
                                beta = number(weights, triples + p)
                                every = every + beta * (k0 + k1 + k2)
                                a0, a1, a2 = k0 * w0, k1 * w1, k2 * w2
                                all_z = all_z + beta * (a0 + a1 + a2)
                                g0, g1, g2 = u0 * w0, u1 * w1, u2 * w2
                                if oscillates:
                                    every_i = every_i + beta * (u0 + u1 + u2)
                                    all_j = all_j + beta * (g0 + g1 + g2)
                                if linear and p == 0:
                                    s0, s1, s2, i0, i1, i2 = k0, k1, k2, u0, u1, u2
                                    z0, z1, z2, j0, j1, j2 = a0, a1, a2, g0, g1, g2
                                elif linear:
                                    alpha = number(weights, p)
                                    s0, s1, s2 = s0 + alpha * k0, s1 + alpha * k1, s2 + alpha * k2
                                    i0, i1, i2 = i0 + alpha * u0, i1 + alpha * u1, i2 + alpha * u2
                                    z0, z1, z2 = z0 + alpha * a0, z1 + alpha * a1, z2 + alpha * a2
                                    j0, j1, j2 = j0 + alpha * g0, j1 + alpha * g1, j2 + alpha * g2
                            s0, i0, z0, j0 = s0 + every, i0 + every_i, z0 + all_z, j0 + all_j
                            if linear:
                                s1, s2, i1, i2 = s1 + every, s2 + every, i1 + every_i, i2 + every_i
                                z1, z2, j1, j2 = z1 + all_z, z2 + all_z, j1 + all_j, j2 + all_j
                        else:
                            for p in range(points):
                                r2 = squared(x, 3 * p, y0, y1, y2, tiny)
                                _g, _gi, k0, u0 = radial_value(r2, p0, p1, reference)
                                w0 = load(offsets, p * step)
                                a0, g0 = k0 * w0, u0 * w0
                                weight = number(weights, p)
                                s0, z0 = s0 + weight * k0, z0 + weight * a0
                                if oscillates:
                                    i0, j0 = i0 + weight * u0, j0 + weight * g0
                                if linear:
                                    one, two = number(weights, points + p), number(weights, 2 * points + p)
                                    s1, s2, z1, z2 = s1 + one * k0, s2 + two * k0, z1 + one * a0, z2 + two * a0
                                    if oscillates:
                                        i1, i2, j1, j2 = i1 + one * u0, i2 + two * u0, j1 + one * g0, j2 + two * g0
                        offset = (c0 - y0) * l0 + (c1 - y1) * l1 + (c2 - y2) * l2  # (x - y) . n_x
                        s0, s1, s2 = offset * s0, offset * s1, offset * s2
                        i0, i1, i2 = offset * i0, offset * i1, offset * i2
                        if linear:
                            place, beyond = 6 * q * step, 6 * (points + q) * step
                            store(sums, place, z0)
                            store(sums, place + step, z1)
                            store(sums, place + 2 * step, z2)
                            store(sums, beyond, s0)
                            store(sums, beyond + step, s1)
                            store(sums, beyond + 2 * step, s2)
                            if oscillates:
                                store(sums, place + 3 * step, j0)
                                store(sums, place + 4 * step, j1)
                                store(sums, place + 5 * step, j2)
                                store(sums, beyond + 3 * step, i0)
                                store(sums, beyond + 4 * step, i1)
                                store(sums, beyond + 5 * step, i2)
                        else:
                            weight = trial.measure[q]
                            a_total, b_total = a_total + weight * z0, b_total + weight * s0
                            if oscillates:
                                a_total_i, b_total_i = a_total_i + weight * j0, b_total_i + weight * i0
                    if not linear:
                        place = tile_rows[i - lo, slot] * size + v
                        a_total, a_total_i = turned(a_total, a_total_i, f_re, f_im)
                        b_total, b_total_i = turned(b_total, b_total_i, f_re, f_im)
                        add(t, place, a_total)
                        add(t, other + place, b_total)
                        if oscillates:
                            add(t, work + place, a_total_i)
                            add(t, other + work + place, b_total_i)
                    else:
                        for side in range(2):
                            for a in range(3):
                                base = side * other + tile_rows[i - lo, slot + a] * size + v
                                here = (6 * side * points + a) * step
                                weight = 0
                                for f in range(0, trials, 3 if threes else 1):
                                    if threes:
                                        s0, s1, s2 = folded(sums, here, triples, trial.table, weight)
                                        if oscillates:
                                            i0, i1, i2 = folded(sums, here + 3 * step, triples, trial.table, weight)
                                        weight += 2 * triples
                                        s1, i1 = turned(s1, i1, f_re, f_im)
                                        s2, i2 = turned(s2, i2, f_re, f_im)
                                    else:
                                        s0, i0 = zero(t), zero(t)
                                        for q in range(points):
                                            weight_q = number(trial.table, f * points + q)
                                            s0 = s0 + weight_q * load(sums, 6 * q * step + here)
                                            if oscillates:
                                                i0 = i0 + weight_q * load(sums, (6 * q + 3) * step + here)
                                    s0, i0 = turned(s0, i0, f_re, f_im)
                                    place = base + f * LANES
                                    add(t, place, s0)
                                    if threes:
                                        add(t, place + LANES, s1)
                                        add(t, place + 2 * LANES, s2)
                                    if oscillates:
                                        add(t, work + place, i0)
                                        if threes:
                                            add(t, work + place + LANES, i1)
                                            add(t, work + place + 2 * LANES, i2)
            for side in range(2):
                begin = side * other
                for top in range(0, rows, step):
                    count = min(step, rows - top)
                    for r in range(count):
                        for f in range(trials):
                            unit = zero(t) + trial.units[f]
                            for v in range(0, LANES, step):
                                place = begin + (top + r) * size + f * LANES + v
                                re, im = load(t, place), zero(t)
                                if oscillates:
                                    im = load(t, work + place)
                                re, im = turned(re, im, unit * scalars[5], unit * scalars[6])
                                jacobian = load(trial.jacobian[b], v)
                                place = r * size + f * LANES + v
                                store(results, place, jacobian * re)
                                if complex_out:
                                    store(results, size * step + place, jacobian * im)
                    if (side == 1) == adjoint:
                        add_columns(out, row_ids[top:], count, trial.columns, b, results)
                    else:
                        place = begin + top * size
                        sums_across(results, t, place, trial.columns, b, 0)
                        if complex_out:
                            sums_across(results, t, place + work, trial.columns, b, size * step)
                if (side == 1) != adjoint:
                    add_rows(out, trial.columns, b, t, begin, work, row_ids)

    return tile
