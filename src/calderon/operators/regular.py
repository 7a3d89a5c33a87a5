"""Regular part of a Galerkin block: every test triangle with every trial triangle by a product of symmetric Gauss
rules.

One call computes a tile: some consecutive test triangles against all trial triangles, added into the rows of the
output. Innermost is a loop over the 128 trial triangles of a block at one trial point, with three or six test points
unrolled and the test functions applied at once; the trial functions are applied when all test triangles of the tile
have been summed. Pairs that touch or are near get the factor zero here and are integrated in singular.py.

The kernel is one long function on purpose: every function that Numba has to type costs a quarter of a second of
compilation, and rows that lie at constant offsets of one array are what lets the loops become vector instructions.
"""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from calderon.backends.numba import STAMP, kernel, wide_vectors
from calderon.operators.sides import LANES


def tile_scratch(rows: int, points: int, real: DTypeLike) -> NDArray[Any]:
    """Working memory of one tile: for each of its output rows the sums at each trial point, real and imaginary."""
    return np.zeros((2, rows * (points + 3) + 8, LANES), dtype=real)


@functools.lru_cache(maxsize=256)
def tile_kernel(
    radial: Callable[..., Any],
    evaluate: Callable[..., Any],
    linear: bool,
    curls: bool,
    oscillates: bool,
    complex_out: bool,
) -> Callable[..., None]:
    """The compiled tile of one Green's function and integrand.

    linear: three local test functions at a time (else one, a constant). curls: integrate by parts. oscillates: complex
    values. six: test points in groups of six (else three).

    tile(test, trial, skip_start, skip_position, scalars, lo, hi, first, single_slot, tile_rows, row_ids, scratch, out):
    test triangles lo..hi, local test functions first, first + 1, ...; scalars = (p0, p1, tiny, alpha_re, alpha_im,
    mass_re, mass_im); single_slot sums over the trial points at once (constant trial functions); tile_rows (hi - lo,
    L) numbers the rows of the tile, row_ids are their rows in the output.
    """
    stamp = STAMP
    has_mass = linear or not curls
    values = 3 if linear else 1

    @kernel
    def tile(  # type: ignore[no-untyped-def]
        test, trial, skip_start, skip_position, scalars, lo, hi, first, single_slot, tile_rows, row_ids, scratch, out
    ):
        wide_vectors()
        _ = stamp
        p0, p1, tiny = scalars[0], scalars[1], scalars[2]
        zero, one = scalars[7], scalars[8]
        points = trial.points.shape[1]
        slots = 1 if single_slot else points
        rows = row_ids.size
        curl_base = rows * slots if has_mass else 0
        work = curl_base + (3 * rows if curls else 0)
        t_re, t_im = scratch[0], scratch[1]
        # the last eight rows: factors, the value rows of one test triangle, results of one output row
        local = scratch[0, scratch.shape[1] - 4 :].reshape(-1)
        r = scratch[1, scratch.shape[1] - 6 :].reshape(-1)
        factor, mass = local[:LANES], local[LANES : 2 * LANES]
        v_re, v_im = local[2 * LANES : 3 * LANES], local[3 * LANES : 4 * LANES]
        cursor = skip_start[lo]
        for b in range(trial.points.shape[0]):
            for row in range(work):
                for j in range(LANES):
                    t_re[row, j] = zero
                if oscillates:
                    for j in range(LANES):
                        t_im[row, j] = zero
            for i in range(lo, hi):
                for j in range(LANES):
                    factor[j] = test.jacobian[i] * trial.jacobian[b, j]
                for s in range(skip_start[i], skip_start[i + 1]):
                    cursor = skip_position[s] - b * LANES
                    if 0 <= cursor < LANES:
                        factor[cursor] = zero
                m0, m1, m2 = test.normals[i, 0], test.normals[i, 1], test.normals[i, 2]
                if curls:
                    n = trial.points[b, 0]
                    for j in range(LANES):
                        s_ = m0 * n[3 * LANES + j] + m1 * n[4 * LANES + j] + m2 * n[5 * LANES + j]
                        mass[j] = factor[j] * s_
                    for j in range(LANES):
                        v_re[j] = zero
                        v_im[j] = zero
                x = test.points[i]
                for q in range(points):
                    y = trial.points[b, q]
                    scale = trial.table[0, q] if single_slot else one
                    if q == 0 or not single_slot:
                        for j in range(6 * LANES):
                            r[j] = zero
                    for p in range(0, x.shape[0], 3):
                        a0, a1, a2 = x[p, 0], x[p, 1], x[p, 2]
                        b0, b1, b2 = x[p + 1, 0], x[p + 1, 1], x[p + 1, 2]
                        c0, c1, c2 = x[p + 2, 0], x[p + 2, 1], x[p + 2, 2]
                        w = test.measure[0] if curls and not linear else test.table[first]
                        wa, wb, wc = w[p] * scale, w[p + 1] * scale, w[p + 2] * scale
                        if linear:
                            w1, w2 = test.table[first + 1], test.table[first + 2]
                            va, vb, vc = w1[p] * scale, w1[p + 1] * scale, w1[p + 2] * scale
                            ua, ub, uc = w2[p] * scale, w2[p + 1] * scale, w2[p + 2] * scale
                        for j in range(LANES):
                            y0, y1, y2 = y[j], y[LANES + j], y[2 * LANES + j]
                            n0, n1, n2 = y[3 * LANES + j], y[4 * LANES + j], y[5 * LANES + j]
                            s0, s1, s2 = a0 - y0, a1 - y1, a2 - y2
                            g, gi, h, hi_ = radial(s0 * s0 + tiny + s1 * s1 + s2 * s2, p0, p1)
                            ka, ia = evaluate(g, gi, h, hi_, s0, s1, s2, m0, m1, m2, n0, n1, n2)
                            s0, s1, s2 = b0 - y0, b1 - y1, b2 - y2
                            g, gi, h, hi_ = radial(s0 * s0 + tiny + s1 * s1 + s2 * s2, p0, p1)
                            kb, ib = evaluate(g, gi, h, hi_, s0, s1, s2, m0, m1, m2, n0, n1, n2)
                            s0, s1, s2 = c0 - y0, c1 - y1, c2 - y2
                            g, gi, h, hi_ = radial(s0 * s0 + tiny + s1 * s1 + s2 * s2, p0, p1)
                            kc, ic = evaluate(g, gi, h, hi_, s0, s1, s2, m0, m1, m2, n0, n1, n2)
                            r[j] += wa * ka + wb * kb + wc * kc
                            if linear:
                                r[LANES + j] += va * ka + vb * kb + vc * kc
                                r[2 * LANES + j] += ua * ka + ub * kb + uc * kc
                            if oscillates:
                                r[3 * LANES + j] += wa * ia + wb * ib + wc * ic
                                if linear:
                                    r[4 * LANES + j] += va * ia + vb * ib + vc * ic
                                    r[5 * LANES + j] += ua * ia + ub * ib + uc * ic
                    if curls:
                        w_ = trial.measure[q]
                        if linear:
                            for j in range(LANES):
                                v_re[j] += w_ * (r[j] + r[LANES + j] + r[2 * LANES + j])
                            if oscillates:
                                for j in range(LANES):
                                    v_im[j] += w_ * (r[3 * LANES + j] + r[4 * LANES + j] + r[5 * LANES + j])
                        else:
                            for j in range(LANES):
                                v_re[j] += w_ * r[j]
                                if oscillates:
                                    v_im[j] += w_ * r[3 * LANES + j]
                    if has_mass and (q == points - 1 or not single_slot):
                        for a in range(values):
                            row = tile_rows[i - lo, first + a]
                            if row >= 0:
                                line = row * slots + (0 if single_slot else q)
                                for j in range(LANES):
                                    t_re[line, j] += (mass[j] if curls else factor[j]) * r[a * LANES + j]
                                if oscillates:
                                    for j in range(LANES):
                                        t_im[line, j] += (mass[j] if curls else factor[j]) * r[(3 + a) * LANES + j]
                if curls:
                    for a in range(3):
                        row = tile_rows[i - lo, a]
                        if row >= 0:
                            for c in range(3):
                                curl = test.curls[i, a, c]
                                line = curl_base + 3 * row + c
                                for j in range(LANES):
                                    t_re[line, j] += curl * factor[j] * v_re[j]
                                if oscillates:
                                    for j in range(LANES):
                                        t_im[line, j] += curl * factor[j] * v_im[j]
            for row in range(rows):
                target = out[row_ids[row]]
                for f in range(trial.columns.shape[1]):
                    columns = trial.columns[b, f]
                    for part in range(2):
                        if (part == 0 and not curls) or (part == 1 and not has_mass):
                            continue
                        for j in range(LANES):
                            v_re[j] = zero
                            v_im[j] = zero
                        if part == 0:
                            alpha_re, alpha_im = scalars[3], scalars[4]
                            for c in range(3):
                                line = curl_base + 3 * row + c
                                for j in range(LANES):
                                    v_re[j] += trial.curls[b, f, c, j] * t_re[line, j]
                                    if oscillates:
                                        v_im[j] += trial.curls[b, f, c, j] * t_im[line, j]
                        else:
                            alpha_re, alpha_im = scalars[5], scalars[6]
                            for q in range(slots):
                                weight = one if single_slot else trial.table[f, q]
                                for j in range(LANES):
                                    v_re[j] += weight * t_re[row * slots + q, j]
                                if oscillates:
                                    for j in range(LANES):
                                        v_im[j] += weight * t_im[row * slots + q, j]
                        for j in range(LANES):
                            column = columns[j]
                            if column >= 0:
                                if oscillates:
                                    target[column] += complex(
                                        alpha_re * v_re[j] - alpha_im * v_im[j], alpha_re * v_im[j] + alpha_im * v_re[j]
                                    )
                                elif complex_out:
                                    target[column] += complex(alpha_re * v_re[j], alpha_im * v_re[j])
                                else:
                                    target[column] += alpha_re * v_re[j]

    return tile
