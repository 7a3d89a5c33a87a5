"""Regular part of a Galerkin block: every test triangle with every trial triangle by a product of symmetric Gauss
rules.

One call computes a tile: some consecutive test triangles against all trial triangles, added into the rows of the
output. Innermost is a loop over the quadrature points of the test triangle for a vector of trial triangles at one of
their points, the test functions applied at once, sums in registers; the trial functions are applied when all test
triangles of the tile have been summed. Pairs that touch or are near are masked here and integrated in singular.py.
"""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from calderon.backends.numba import STAMP, kernel
from calderon.backends.vectors import accumulate, jitable, lanes, load, prefetch, store, width, zero
from calderon.greens import Radial
from calderon.greens.elementary import inverse_square_root
from calderon.operators.sides import LANES


def tile_scratch(rows: int, slots: int, functions: int, points: int, real: DTypeLike) -> NDArray[Any]:
    """Working memory of one tile: for each of its output rows (and one that nobody reads) the sums at each trial point
    and the three components of curls, real and imaginary; results of one row by local function and by column; a vector
    for each test point; a mask."""
    return np.zeros((2 * (rows + 1) * (slots + 3) + 4 * functions + 1) * LANES + points * width(real), dtype=real)


@functools.lru_cache(maxsize=256)
def tile_kernel(
    radial: Radial,
    normal: str,
    linear: bool,
    single_slot: bool,
    curls: bool,
    oscillates: bool,
    complex_out: bool,
) -> Callable[..., None]:
    """The compiled tile of one Green's function and integrand.

    normal: the integrand's. linear: three local test functions at a time (else one, a constant). single_slot: sum over
    the trial points at once (constant trial functions). curls: integrate by parts. oscillates: complex values.

    tile(test, trial, group, skip_start, skip_position, scalars, lo, hi, upper, tile_rows, row_ids, scratch, out): test
    triangles lo..hi, one group of local test functions; scalars = (p0, p1, tiny, Re and Im of alpha, Re and Im of the
    mass coefficient, 1); upper: only pairs with trial number > test number; tile_rows (hi - lo, L) numbers the rows of
    the tile, row_ids are their rows in the output.
    """
    stamp = STAMP
    has_mass = linear or not curls
    at_once = single_slot and not linear and has_mass
    functions = 3 if linear else 1
    radial_value, radial_phase, shifts = radial
    of_trial, of_test = normal == "trial", normal == "test"
    add_columns = add_complex_columns if complex_out else add_real_columns

    @kernel
    def tile(  # type: ignore[no-untyped-def]
        test, trial, group, skip_start, skip_position, scalars, lo, hi, upper, tile_rows, row_ids,
        scratch, out,
    ):  # fmt: skip
        _ = stamp
        p0, p1, tiny = scalars[0], scalars[1], scalars[2]
        points, blocks = trial.points.shape[1], trial.points.shape[0]
        slots = 1 if single_slot else points
        rows, step = row_ids.size, lanes(scratch)
        t, first = scratch, group * functions
        curl_base = (rows + 1) * slots * LANES if has_mass else 0
        work = curl_base + (3 * (rows + 1) * LANES if curls else 0)
        mask = scratch[scratch.size - LANES :]
        size = trial.columns.source.shape[1]
        rest = scratch[2 * work :]
        result, result_i = rest[:size], rest[size : 2 * size]
        sums, sums_i = rest[2 * size : 3 * size], rest[3 * size : 4 * size]
        offsets = rest[4 * size :]
        start = lo // LANES if upper else 0
        cursors = skip_start[lo:hi].copy()  # for each test triangle the first pair to leave out that is still ahead
        for i in range(lo, hi):
            while cursors[i - lo] < skip_start[i + 1] and skip_position[cursors[i - lo]] < start * LANES:
                cursors[i - lo] += 1
        for b in range(start, blocks):
            direct = at_once and trial.columns.first[b] >= 0
            for v in range(0, 0 if direct else 2 * work if oscillates else work, step):
                store(t, v, zero(t))
            normals, centres = trial.normals[b], trial.centres[b]
            top = min(hi, (b + 1) * LANES) if upper else hi
            for i in range(lo, top):
                cursor, last = cursors[i - lo], skip_start[i + 1]
                masked = (upper and i >= b * LANES) or (cursor < last and skip_position[cursor] < (b + 1) * LANES)
                if masked:
                    for j in range(LANES):
                        mask[j] = 0.0 if upper and b * LANES + j <= i else 1.0
                    while cursor < last and skip_position[cursor] < (b + 1) * LANES:
                        mask[skip_position[cursor] - b * LANES] = 0.0
                        cursor += 1
                    cursors[i - lo] = cursor
                m0, m1, m2 = test.normals[i, 0], test.normals[i, 1], test.normals[i, 2]
                c0, c1, c2 = test.centres[i, 0], test.centres[i, 1], test.centres[i, 2]
                x = test.nodes[group, i]
                r0 = tile_rows[i - lo, first if has_mass else 0]
                r1 = tile_rows[i - lo, first + 1] if linear else r0
                r2 = tile_rows[i - lo, first + 2] if linear else r0
                for v in range(0, LANES, step):
                    n0, n1, n2 = load(normals, v), load(normals, LANES + v), load(normals, 2 * LANES + v)
                    reference = zero(t)
                    if shifts:
                        d0, d1 = c0 - load(centres, v), c1 - load(centres, LANES + v)
                        d2 = c2 - load(centres, 2 * LANES + v)
                        square = d0 * d0 + tiny + d1 * d1 + d2 * d2
                        reference = square * inverse_square_root(square)
                    f_re, f_im = radial_phase(reference, p0, p1)
                    if masked:
                        f_re = f_re * load(mask, v)
                        f_im = f_im * load(mask, v)
                    weighed = shifts or curls or masked
                    e_re, e_im = f_re, f_im
                    if curls:
                        cosine = m0 * n0 + m1 * n1 + m2 * n2
                        f_re, f_im = f_re * cosine, f_im * cosine
                    if of_trial:  # -d.n at each test point; the same for all points of a trial triangle
                        e0 = load(centres, v)
                        e1, e2 = load(centres, LANES + v), load(centres, 2 * LANES + v)
                        for p in range(x.shape[0]):
                            d0, d1, d2 = x[p, 0] - e0, x[p, 1] - e1, x[p, 2] - e2
                            store(offsets, p * step, -(d0 * n0 + d1 * n1 + d2 * n2))
                    total, total_i = zero(t), zero(t)
                    for q in range(points):
                        y = trial.points[b, q]
                        y0, y1, y2 = load(y, v), load(y, LANES + v), load(y, 2 * LANES + v)
                        s0, s1, s2, i0, i1, i2 = zero(t), zero(t), zero(t), zero(t), zero(t), zero(t)
                        for p in range(x.shape[0]):
                            d0, d1, d2 = x[p, 0] - y0, x[p, 1] - y1, x[p, 2] - y2
                            g, gi, h, hi_ = radial_value(d0 * d0 + tiny + d1 * d1 + d2 * d2, p0, p1, reference)
                            k, ki = g, gi
                            if of_test:
                                k, ki = h, hi_
                            if of_trial:
                                offset = load(offsets, p * step)
                                k, ki = h * offset, hi_ * offset
                            s0 = s0 + x[p, 3] * k
                            if linear:
                                s1 = s1 + x[p, 4] * k
                                s2 = s2 + x[p, 5] * k
                            if oscillates:
                                i0 = i0 + x[p, 3] * ki
                                if linear:
                                    i1 = i1 + x[p, 4] * ki
                                    i2 = i2 + x[p, 5] * ki
                        if of_test:  # d.m, the same for all points of the test triangle
                            offset = (c0 - y0) * m0 + (c1 - y1) * m1 + (c2 - y2) * m2
                            s0, s1, s2 = offset * s0, offset * s1, offset * s2
                            i0, i1, i2 = offset * i0, offset * i1, offset * i2
                        if curls or at_once:
                            weight = trial.measure[q]
                            total = total + weight * (s0 + s1 + s2)
                            if oscillates:
                                total_i = total_i + weight * (i0 + i1 + i2)
                        if has_mass and not at_once:
                            slot = 0 if single_slot else q
                            if single_slot:
                                s0, s1, s2 = trial.measure[q] * s0, trial.measure[q] * s1, trial.measure[q] * s2
                                i0, i1, i2 = trial.measure[q] * i0, trial.measure[q] * i1, trial.measure[q] * i2
                            if weighed:
                                s0, i0 = turned(s0, i0, f_re, f_im)
                                s1, i1 = turned(s1, i1, f_re, f_im)
                                s2, i2 = turned(s2, i2, f_re, f_im)
                            a0 = (r0 * slots + slot) * LANES + v
                            store(t, a0, load(t, a0) + s0)
                            if linear:
                                a1, a2 = (r1 * slots + slot) * LANES + v, (r2 * slots + slot) * LANES + v
                                store(t, a1, load(t, a1) + s1)
                                store(t, a2, load(t, a2) + s2)
                            if oscillates:
                                store(t, work + a0, load(t, work + a0) + i0)
                                if linear:
                                    store(t, work + a1, load(t, work + a1) + i1)
                                    store(t, work + a2, load(t, work + a2) + i2)
                    if has_mass and at_once:
                        s0, i0 = total, total_i
                        if weighed:
                            s0, i0 = turned(s0, i0, f_re, f_im)
                        if direct:
                            jacobian = load(trial.jacobian[b], v)
                            s0, i0 = turned(s0, i0, jacobian * scalars[5], jacobian * scalars[6])
                            accumulate(out[row_ids[r0]], trial.columns.first[b] + v, s0, i0)
                        else:
                            a0 = r0 * LANES + v
                            store(t, a0, load(t, a0) + s0)
                            if oscillates:
                                store(t, work + a0, load(t, work + a0) + i0)
                    if curls:
                        total, total_i = turned(total, total_i, e_re, e_im)
                        for a in range(3):
                            for c in range(3):
                                a0 = curl_base + (3 * tile_rows[i - lo, a] + c) * LANES + v
                                store(t, a0, load(t, a0) + test.curls[i, a, c] * total)
                                if oscillates:
                                    store(t, work + a0, load(t, work + a0) + test.curls[i, a, c] * total_i)
            if direct:
                continue
            distinct, source, level = trial.columns.distinct[b], trial.columns.source[b], trial.columns.level[b]
            for row in range(rows):
                target = out[row_ids[row]]
                for c in range(level[1]):
                    prefetch(target, distinct[c])
                for f in range(trial.curls.shape[1] if curls else trial.table.shape[0]):
                    for v in range(0, LANES, step):
                        re, im = zero(t), zero(t)
                        if curls:
                            for c in range(3):
                                curl = load(trial.curls[b, f, c], v)
                                a0 = curl_base + (3 * row + c) * LANES + v
                                re = re + curl * load(t, a0)
                                if oscillates:
                                    im = im + curl * load(t, work + a0)
                            re, im = turned(re, im, zero(t) + scalars[3], zero(t) + scalars[4])
                        if has_mass:
                            s0, i0 = zero(t), zero(t)
                            for q in range(slots):
                                weight = scalars[7] if single_slot else trial.table[f, q]
                                a0 = (row * slots + q) * LANES + v
                                s0 = s0 + weight * load(t, a0)
                                if oscillates:
                                    i0 = i0 + weight * load(t, work + a0)
                            s0, i0 = turned(s0, i0, zero(t) + scalars[5], zero(t) + scalars[6])
                            re, im = re + s0, im + i0
                        jacobian = load(trial.jacobian[b], v)
                        store(result, f * LANES + v, jacobian * re)
                        if complex_out:
                            store(result_i, f * LANES + v, jacobian * im)
                add_columns(target, distinct, source, level, result, result_i, sums, sums_i)

    return tile


@jitable
def turned(re, im, c, s):  # type: ignore[no-untyped-def]
    """(re + i im) (c + i s)."""
    return re * c - im * s, im * c + re * s


@jitable
def add_real_columns(target, distinct, source, level, result, result_i, sums, sums_i):  # type: ignore[no-untyped-def]
    """Add the results of a block to their columns of one row, those of one column together (see sides.Columns)."""
    for c in range(level[1]):
        sums[c] = result[source[c]]
    for k in range(1, level.size - 1):
        for c in range(level[k + 1] - level[k]):
            sums[c] += result[source[level[k] + c]]
    for c in range(level[1]):
        target[distinct[c]] += sums[c]


@jitable
def add_complex_columns(target, distinct, source, level, result, result_i, sums, sums_i):  # type: ignore[no-untyped-def]
    """The same for a complex row."""
    for c in range(level[1]):
        sums[c] = result[source[c]]
        sums_i[c] = result_i[source[c]]
    for k in range(1, level.size - 1):
        for c in range(level[k + 1] - level[k]):
            sums[c] += result[source[level[k] + c]]
            sums_i[c] += result_i[source[level[k] + c]]
    for c in range(level[1]):
        target[distinct[c]] += complex(sums[c], sums_i[c])
