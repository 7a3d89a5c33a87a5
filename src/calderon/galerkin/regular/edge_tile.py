"""Regular part of a Galerkin block of edge functions: as tile.py, with the local matrices of pairs of triangles.

For a pair of triangles the kernel is summed with 1, xi_1, xi_2 on the test side at each trial point, then with the
barycentric coordinates on the trial side: nine moments (twelve with |xi|^2, eighteen with all products), from which all
entries of the local matrix follow, as edge.py says.
"""

import functools
from collections.abc import Callable
from typing import Any

from numpy.typing import DTypeLike, NDArray

from calderon.backends.numba import kernel
from calderon.backends.vectors import aligned, complex_product, lanes, load, store, width, zero
from calderon.galerkin.forms.edge import Form
from calderon.galerkin.regular.element_tables import LANES
from calderon.galerkin.regular.pair_mask import first_left_out, left_out, mark, words_for
from calderon.galerkin.regular.scatter_columns import across, add_complex_columns, column_scratch, fetched
from calderon.greens import Radial
from calderon.greens.elementary import inverse_square_root


def edge_scratch(form: Form, rows: int, points: int, real: DTypeLike) -> NDArray[Any]:
    """Working memory of one tile: for each of its output rows (and one that nobody reads) three local trial functions,
    real and imaginary; results of some rows; a mask; in vectors, of one pair: the sums at each trial point, the
    moments, the corners beta in the frame, the parts of the local matrix."""
    functions = max(4, form.functions)
    vectors = 2 * functions * points + 6 * functions + 9 + 6 * form.results
    results = column_scratch(3 * LANES, width(real))
    return aligned((6 * (rows + 1) + 1) * LANES + results + vectors * width(real), real)


@functools.lru_cache(maxsize=64)
def edge_tile_kernel(radial: Radial, form: Form) -> Callable[..., None]:
    """The compiled tile of one Green's function and form.

    tile(test, trial, skip_start, skip_position, scalars, lo, hi, upper, tile_rows, row_ids, scratch, out): as in
    tile.py; scalars = (p0, p1, tiny, Re and Im of alpha, Re and Im of 4 / k^2).
    """
    radial_value, radial_phase, shifts = radial.value, radial.phase, radial.shifts
    local, of_value, square, affine = form.local, form.of_value, form.functions == 4, form.functions == 6
    functions, room = form.functions, max(4, form.functions)
    moments = 3 * room

    @kernel
    def tile(  # type: ignore[no-untyped-def]
        test, trial, skip_start, skip_position, scalars, lo, hi, upper, tile_rows, row_ids, scratch, out
    ):
        p0, p1, tiny = scalars[0], scalars[1], scalars[2]
        points, blocks = trial.points.shape[1], trial.points.shape[0]
        rows, step, t = row_ids.size, lanes(scratch), scratch
        work = 3 * (rows + 1) * LANES
        rest = scratch[2 * work :]
        size = 3 * LANES
        results, turned_re = rest[: 2 * size * step], rest[2 * size * step : 3 * size * step]
        mask = rest[3 * size * step : 3 * size * step + LANES]
        sums = rest[3 * size * step + LANES :]
        m = sums[2 * room * points * step :]
        beta = m[2 * moments * step :]
        w = beta[9 * step :]
        flat, pitch = out.reshape(-1), out.shape[1]
        start = lo // LANES if upper else 0
        cursors, words = first_left_out(skip_start, skip_position, lo, hi, start), words_for(lo, hi)
        for b in range(start, blocks):
            for v in range(0, 2 * work, step):
                store(t, v, zero(t))
            centres, table = trial.centres[b], trial.table
            mark(words, cursors, skip_start, skip_position, lo, hi, b, upper)
            top = min(hi, (b + 1) * LANES) if upper else hi
            for i in range(lo, top):
                x, centre, frame, arms = test.nodes[i], test.centres[i], test.frames[i], test.arms[i]
                for v in range(0, LANES, step):
                    e0, e1 = centre[0] - load(centres, v), centre[1] - load(centres, LANES + v)
                    e2 = centre[2] - load(centres, 2 * LANES + v)
                    reference = zero(t)
                    if shifts:
                        r2 = e0 * e0 + tiny + e1 * e1 + e2 * e2
                        reference = r2 * inverse_square_root(r2)
                    f_re, f_im = radial_phase(reference, p0, p1)
                    if left_out(words, i - lo, v, mask):
                        f_re, f_im = f_re * load(mask, 0), f_im * load(mask, 0)
                    for q in range(points):
                        y = trial.points[b, q]
                        y0, y1, y2 = load(y, v), load(y, LANES + v), load(y, 2 * LANES + v)
                        s0, s1, s2, s3, s4, s5 = zero(t), zero(t), zero(t), zero(t), zero(t), zero(t)
                        i0, i1, i2, i3, i4, i5 = zero(t), zero(t), zero(t), zero(t), zero(t), zero(t)
                        for p in range(x.shape[0]):
                            d0, d1, d2 = x[p, 0] - y0, x[p, 1] - y1, x[p, 2] - y2
                            g, gi, h, hi_ = radial_value(d0 * d0 + tiny + d1 * d1 + d2 * d2, p0, p1, reference)
                            k, ki = h, hi_
                            if of_value:
                                k, ki = g, gi
                            s0, i0 = s0 + x[p, 3] * k, i0 + x[p, 3] * ki
                            s1, i1 = s1 + x[p, 4] * k, i1 + x[p, 4] * ki
                            s2, i2 = s2 + x[p, 5] * k, i2 + x[p, 5] * ki
                            if square or affine:
                                s3, i3 = s3 + x[p, 6] * k, i3 + x[p, 6] * ki
                            if affine:
                                s4, i4 = s4 + x[p, 7] * k, i4 + x[p, 7] * ki
                                s5, i5 = s5 + x[p, 8] * k, i5 + x[p, 8] * ki
                        a0 = 2 * room * q * step
                        store(sums, a0, s0)
                        store(sums, a0 + step, s1)
                        store(sums, a0 + 2 * step, s2)
                        if square or affine:
                            store(sums, a0 + 3 * step, s3)
                        if affine:
                            store(sums, a0 + 4 * step, s4)
                            store(sums, a0 + 5 * step, s5)
                        a0 += room * step
                        store(sums, a0, i0)
                        store(sums, a0 + step, i1)
                        store(sums, a0 + 2 * step, i2)
                        if square or affine:
                            store(sums, a0 + 3 * step, i3)
                        if affine:
                            store(sums, a0 + 4 * step, i4)
                            store(sums, a0 + 5 * step, i5)
                    for f in range(functions):
                        s0, s1, s2, i0, i1, i2 = zero(t), zero(t), zero(t), zero(t), zero(t), zero(t)
                        for q in range(points):
                            a0 = (2 * room * q + f) * step
                            re, im = load(sums, a0), load(sums, a0 + room * step)
                            s0, i0 = s0 + table[0, q] * re, i0 + table[0, q] * im
                            s1, i1 = s1 + table[1, q] * re, i1 + table[1, q] * im
                            s2, i2 = s2 + table[2, q] * re, i2 + table[2, q] * im
                        a0 = 3 * f * step
                        store(m, a0, s0)
                        store(m, a0 + step, s1)
                        store(m, a0 + 2 * step, s2)
                        a0 += moments * step
                        store(m, a0, i0)
                        store(m, a0 + step, i1)
                        store(m, a0 + 2 * step, i2)
                    for n in range(3):
                        corner = trial.corners[b, n]
                        b0, b1, b2 = load(corner, v), load(corner, LANES + v), load(corner, 2 * LANES + v)
                        for c in range(3):
                            place = (3 * n + c) * step
                            store(beta, place, frame[c, 0] * b0 + frame[c, 1] * b1 + frame[c, 2] * b2)
                    d0 = frame[0, 0] * e0 + frame[0, 1] * e1 + frame[0, 2] * e2
                    d1 = frame[1, 0] * e0 + frame[1, 1] * e1 + frame[1, 2] * e2
                    d2 = frame[2, 0] * e0 + frame[2, 1] * e1 + frame[2, 2] * e2
                    local(m, beta, w, step, d0, d1, d2, scalars[5], scalars[6])
                    if affine:
                        for k in range(18):
                            re, im = complex_product(load(w, 2 * k * step), load(w, (2 * k + 1) * step), f_re, f_im)
                            store(w, 2 * k * step, re)
                            store(w, (2 * k + 1) * step, im)
                        for a in range(tile_rows.shape[1]):
                            row = tile_rows[i - lo, a]
                            if row == rows:
                                continue
                            c0, c1, c2, c3, c4, c5 = (
                                arms[a, 0], arms[a, 1], arms[a, 2], arms[a, 3], arms[a, 4], arms[a, 5]
                            )  # fmt: skip
                            for n in range(3):
                                e, a0 = 12 * n * step, (3 * row + n) * LANES + v
                                re, im = load(t, a0), load(t, work + a0)
                                re = re + c0 * load(w, e) + c1 * load(w, e + 2 * step) + c2 * load(w, e + 4 * step)
                                re = re + c3 * load(w, e + 6 * step) + c4 * load(w, e + 8 * step)
                                im = im + c0 * load(w, e + step) + c1 * load(w, e + 3 * step)
                                im = im + c2 * load(w, e + 5 * step) + c3 * load(w, e + 7 * step)
                                store(t, a0, re + c5 * load(w, e + 10 * step))
                                im = im + c4 * load(w, e + 9 * step)
                                store(t, work + a0, im + c5 * load(w, e + 11 * step))
                        continue
                    for n in range(3):
                        a0 = 6 * n * step
                        u, ui = complex_product(load(w, a0), load(w, a0 + step), f_re, f_im)
                        t1, t1i = complex_product(load(w, a0 + 2 * step), load(w, a0 + 3 * step), f_re, f_im)
                        t2, t2i = complex_product(load(w, a0 + 4 * step), load(w, a0 + 5 * step), f_re, f_im)
                        for a in range(3):
                            a0 = (3 * tile_rows[i - lo, a] + n) * LANES + v
                            c0, c1, c2 = arms[a, 0], arms[a, 1], arms[a, 2]
                            store(t, a0, load(t, a0) + c0 * u + c1 * t1 + c2 * t2)
                            store(t, work + a0, load(t, work + a0) + c0 * ui + c1 * t1i + c2 * t2i)
            for group in range(0, rows, step):
                count = min(step, rows - group)
                fetched(flat, pitch, row_ids, group, count, trial.columns, b)
                for r in range(count):
                    for n in range(3):
                        for v in range(0, LANES, step):
                            a0 = (3 * (group + r) + n) * LANES + v
                            strength = load(trial.strengths[b, n], v)
                            c_re, c_im = strength * scalars[3], strength * scalars[4]
                            re, im = complex_product(load(t, a0), load(t, work + a0), c_re, c_im)
                            place = r * size + n * LANES + v
                            store(results, place, re)
                            store(results, size * step + place, im)
                re, im = results[: size * step], results[size * step :]
                across(re, turned_re)
                across(im, re)
                add_complex_columns(flat, pitch, row_ids, group, count, trial.columns, b, turned_re, re, im)

    return tile
