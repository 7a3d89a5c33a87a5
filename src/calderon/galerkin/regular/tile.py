"""Regular part of a Galerkin block: every test triangle with every trial triangle by a product of symmetric Gauss
rules.

One call computes a tile: some consecutive test triangles against all trial triangles, added into the rows of the
output. Innermost is a loop over the quadrature points of the test triangle for a vector of trial triangles at one of
their points, the test functions applied at once; then the trial functions are applied, and the entries of the pair
are added to the rows of the tile, which go to the output block by block of trial triangles. Of double layers between
linear functions the trial functions are applied first, and the test functions then. Pairs that touch or are near are
masked here and integrated in touching_pairs.py.
"""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from calderon.backends.numba import kernel
from calderon.backends.vectors import (
    accumulate,
    add,
    aligned,
    complex_product,
    jitable,
    lanes,
    load,
    number,
    store,
    width,
    zero,
)
from calderon.galerkin.regular.centroid_distances import PRODUCTS, RECORD, dot, put_pair, put_planes, three_squares
from calderon.galerkin.regular.element_tables import LANES
from calderon.galerkin.regular.flush import take, take_curls, take_values
from calderon.galerkin.regular.pair_mask import first_left_out, left_out, mark, words_for
from calderon.galerkin.regular.point_sums import applied, combined, folded, three, totals, zeros
from calderon.galerkin.regular.scatter_columns import (
    across,
    add_complex_columns,
    add_real_columns,
    column_scratch,
    fetched,
)
from calderon.greens import Radial
from calderon.greens.elementary import inverse_square_root


def tile_scratch(
    rows: int, functions: int, curls: bool, mass: bool, complex_out: bool, points: int, real: DTypeLike
) -> NDArray[Any]:
    """Working memory of one tile: for each of its output rows (one more that nobody reads, and whole vectors of them)
    a block of each trial function if there are products of functions (mass), and of each component of curls, real and
    imaginary; results of some rows; in vectors, of one pair: sums at each trial point, distances from the plane of
    each test point and squared distances (centroid_distances.py); a mask."""
    step, slots = width(real), (functions if mass else 0) + (3 if curls else 0)
    rowwise = (2 if complex_out else 1) * (rows // step + 1) * step * slots * LANES
    of_pair = 9 * points + PRODUCTS
    return aligned(rowwise + step + column_scratch(functions * LANES, step) + of_pair * step, real)


@functools.lru_cache(maxsize=256)
def tile_kernel(
    radial: Radial,
    normal: str,
    linear: bool,
    single_slot: bool,
    curls: bool,
    oscillates: bool,
    complex_out: bool,
    threes: bool,
    through_centroids: bool,
    points: int,
    trials: int,
) -> Callable[..., None]:
    """The compiled tile of one Green's function and integrand.

    normal: the integrand's. linear: three local test functions at a time (else one, a constant). single_slot: sum over
    the trial points at once (constant trial functions). curls: integrate by parts. oscillates: complex values. threes:
    points and functions as `sides.in_threes` says. through_centroids: squared distances as in centroid_distances.py,
    for points in threes. points: quadrature points of a triangle. trials: local trial functions.

    tile(test, trial, spread, group, skip_start, skip_position, scalars, lo, hi, upper, tile_rows, row_ids, scratch,
    out): test triangles lo..hi, one group of local test functions; spread: spreads.Spreads; scalars = (p0, p1, tiny, Re
    and Im of alpha, Re and Im of the mass coefficient, times what `Radial.multiple` lacks); upper: only pairs with
    trial number > test number; tile_rows (hi - lo, L) numbers the rows of the tile, row_ids are their rows in the
    output.
    """
    has_mass = linear or not curls
    at_once = single_slot and not linear and has_mass
    functions = 3 if linear else 1
    size, triples = trials * LANES, points // 3
    by_threes = threes and not single_slot
    exchanged = normal == "trial" and threes and through_centroids and linear and trials == 3
    radial_value, radial_phase, shifts = radial.multiple or radial.value, radial.phase, radial.shifts
    of_trial, of_test = normal == "trial", normal == "test"
    multiplied, slopes = of_trial and not exchanged, of_test or exchanged
    parts = 2 if complex_out else 1
    add_columns = add_complex_columns if complex_out else add_real_columns

    @kernel
    def tile(  # type: ignore[no-untyped-def]
        test, trial, spread, group, skip_start, skip_position, scalars, lo, hi, upper, tile_rows, row_ids,
        scratch, out,
    ):  # fmt: skip
        p0, p1, tiny = scalars[0], scalars[1], scalars[2]
        blocks = trial.points.shape[0]
        rows, step = row_ids.size, lanes(scratch)
        t, first = scratch, group * functions
        kept = (rows // step + 1) * step
        curl_base = kept * size if has_mass else 0
        imaginary = curl_base + (3 * kept * LANES if curls else 0)
        mask, rest = scratch[parts * imaginary : parts * imaginary + step], scratch[parts * imaginary + step :]
        re, im, work = rest[: size * step], rest[size * step : 2 * size * step], rest[2 * size * step : 3 * size * step]
        offsets, sums = rest[3 * size * step :], rest[(3 * size + points) * step :]
        at_test, at_trial = rest[(3 * size + 7 * points) * step :], rest[(3 * size + 8 * points) * step :]
        products = rest[(3 * size + 9 * points) * step :]
        shapes, around = spread.test.reshape(-1), spread.trial.reshape(-1)
        steps, pairs, ones = spread.steps, spread.products.reshape(-1), np.ones(triples, scratch.dtype)
        # references to arrays are counted where these are indexed or taken from a tuple: not within the loops
        x, weights, factors = test.nodes.reshape(-1), test.weights[group], test.factors[group]
        inner, outer, inside = weights, trial.table, at_test
        beside, corner, stride = at_trial, 3 * step, step
        if exchanged:  # trial functions first: a distance from the plane then multiplies three sums, not six values
            inner, outer, inside = trial.table, weights, at_trial
            beside, corner, stride = at_test, step, 3 * step
        test_normals, test_centres, test_curls = test.normals, test.centres, test.curls
        jacobian, trial_curls, columns = trial.jacobian.reshape(-1), trial.curls.reshape(-1), trial.columns
        flat, pitch = out.reshape(-1), out.shape[1]
        wide = LANES if at_once else step  # trial triangles for which all test triangles are done, then the next
        start = lo // LANES if upper else 0
        cursors, words = first_left_out(skip_start, skip_position, lo, hi, start), words_for(lo, hi)
        for v in range(0, parts * imaginary, step):
            store(t, v, zero(t))
        for b in range(start, blocks):
            direct = at_once and columns.first[b] >= 0
            normals, centres = trial.normals[b], trial.centres[b]
            mark(words, cursors, skip_start, skip_position, lo, hi, b, upper)
            for strip in range(0, LANES, wide):
                for i in range(lo, min(hi, b * LANES + strip + wide) if upper else hi):
                    m0, m1, m2 = test_normals[i, 0], test_normals[i, 1], test_normals[i, 2]
                    c0, c1, c2 = test_centres[i, 0], test_centres[i, 1], test_centres[i, 2]
                    o = i * 3 * points
                    row = tile_rows[i - lo, first if has_mass else 0]
                    for v in range(strip, strip + wide, step):
                        n0, n1, n2 = load(normals, v), load(normals, LANES + v), load(normals, 2 * LANES + v)
                        d0, d1 = c0 - load(centres, v), c1 - load(centres, LANES + v)
                        d2 = c2 - load(centres, 2 * LANES + v)
                        square, reference = d0 * d0 + tiny + d1 * d1 + d2 * d2, zero(t)
                        if shifts:
                            reference = square * inverse_square_root(square)
                        f_re, f_im = radial_phase(reference, p0, p1)
                        factor = zero(t) + number(factors, i)
                        missing = left_out(words, i - lo, v, mask)
                        if missing:
                            factor = factor * load(mask, 0)
                        if through_centroids:
                            put_pair(
                                shapes, RECORD * i, around, b * RECORD * LANES + v, steps, triples, d0, d1, d2, square,
                                missing, load(mask, 0), products, at_test, at_trial,
                            )  # fmt: skip
                        factor = factor * load(jacobian, b * LANES + v)
                        f_re, f_im = f_re * factor, f_im * factor
                        e_re, e_im = complex_product(f_re, f_im, scalars[3], scalars[4])
                        f_re, f_im = complex_product(f_re, f_im, scalars[5], scalars[6])
                        if curls:
                            cosine = m0 * n0 + m1 * n1 + m2 * n2
                            f_re, f_im = f_re * cosine, f_im * cosine
                        if of_trial and through_centroids:  # -d.n at each test point, the same for all trial points
                            w0 = dot(shapes, RECORD * i, n0, n1, n2)
                            w1 = dot(shapes, RECORD * i + 3, n0, n1, n2)
                            put_planes(steps, triples, ones, 0, -(d0 * n0 + d1 * n1 + d2 * n2), w0, w1, offsets)
                        elif of_trial:
                            e0 = load(centres, v)
                            e1, e2 = load(centres, LANES + v), load(centres, 2 * LANES + v)
                            for p in range(points):
                                d0, d1 = number(x, o + 3 * p) - e0, number(x, o + 3 * p + 1) - e1
                                d2 = number(x, o + 3 * p + 2) - e2
                                store(offsets, p * step, -(d0 * n0 + d1 * n1 + d2 * n2))
                        total, total_i = zero(t), zero(t)
                        for q in range(points):
                            y0, y1, y2 = zero(t), zero(t), zero(t)
                            if of_test or not through_centroids:
                                y = trial.points[b, q]
                                y0, y1, y2 = load(y, v), load(y, LANES + v), load(y, 2 * LANES + v)
                            s0, s1, s2, i0, i1, i2 = zero(t), zero(t), zero(t), zero(t), zero(t), zero(t)
                            if threes:
                                at_p, at_p_i = zeros(t), zeros(t)
                                at_q, z0, z1, z2 = zero(t), zero(t), zero(t), zero(t)
                                if through_centroids:
                                    at_q = load(beside, q * step)
                                    z0, z1, z2 = three(products, q % 3 * corner, stride)
                                for p in range(triples):
                                    here = 3 * p * step
                                    if through_centroids:
                                        product = number(pairs, q // 3 * triples + p)
                                        r0, r1, r2 = three_squares(inside, here, at_q, product, z0, z1, z2)
                                    else:
                                        r0 = squared(x, o + 9 * p, y0, y1, y2, tiny)
                                        r1 = squared(x, o + 9 * p + 3, y0, y1, y2, tiny)
                                        r2 = squared(x, o + 9 * p + 6, y0, y1, y2, tiny)
                                    found = radial_value(r0, p0, p1, reference)
                                    k0, u0 = asked(slopes, multiplied, found, offsets, here)
                                    found = radial_value(r1, p0, p1, reference)
                                    k1, u1 = asked(slopes, multiplied, found, offsets, here + step)
                                    found = radial_value(r2, p0, p1, reference)
                                    k2, u2 = asked(slopes, multiplied, found, offsets, here + 2 * step)
                                    alpha, beta = 1.0 if p == 0 else number(inner, p), number(inner, triples + p)
                                    at_p = applied(at_p, k0, k1, k2, alpha, beta)
                                    if oscillates:
                                        at_p_i = applied(at_p_i, u0, u1, u2, alpha, beta)
                                if linear:
                                    (s0, s1, s2), (i0, i1, i2) = totals(at_p), totals(at_p_i)
                                else:
                                    s0, i0 = at_p[3], at_p_i[3]
                            else:
                                for p in range(points):
                                    r2, place = squared(x, o + 3 * p, y0, y1, y2, tiny), p * step
                                    k, u = asked(of_test, of_trial, radial_value(r2, p0, p1, reference), offsets, place)
                                    s0 = s0 + number(weights, p) * k
                                    if oscillates:
                                        i0 = i0 + number(weights, p) * u
                                    if linear:
                                        w1, w2 = number(weights, points + p), number(weights, 2 * points + p)
                                        s1, s2 = s1 + w1 * k, s2 + w2 * k
                                        if oscillates:
                                            i1, i2 = i1 + w1 * u, i2 + w2 * u
                            if exchanged:
                                offset = load(offsets, q * step)
                                s0, s1, s2 = offset * s0, offset * s1, offset * s2
                                i0, i1, i2 = offset * i0, offset * i1, offset * i2
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
                                place = 6 * q * step
                                store(sums, place, s0)
                                if linear:
                                    store(sums, place + step, s1)
                                    store(sums, place + 2 * step, s2)
                                if oscillates:
                                    store(sums, place + 3 * step, i0)
                                    if linear:
                                        store(sums, place + 4 * step, i1)
                                        store(sums, place + 5 * step, i2)
                        if has_mass and not at_once:
                            for f in range(0, trials, 3 if by_threes else 1):
                                unit = trial.units[f]
                                g_re, g_im = unit * f_re, unit * f_im
                                for a in range(3 if exchanged else 0):  # of one trial function, for all test functions
                                    here = (a + 3) * step
                                    values = folded(sums, a * step, 6 * step, triples, outer, 0)
                                    values_i = zero(t), zero(t), zero(t)
                                    if oscillates:
                                        values_i = folded(sums, here, 6 * step, triples, outer, 0)
                                    for n in range(3):
                                        place = v * kept * trials + (tile_rows[i - lo, first + n] * trials + a) * step
                                        add_product(
                                            t, place, imaginary, values[n], values_i[n], g_re, g_im, complex_out
                                        )
                                for a in range(0 if exchanged else functions):
                                    place = v * kept * trials + (tile_rows[i - lo, first + a] * trials + f) * step
                                    here = (a + 3) * step
                                    if by_threes:
                                        weight = 2 * triples * (f // 3)
                                        values = folded(sums, a * step, 6 * step, triples, trial.table, weight)
                                        values_i = zero(t), zero(t), zero(t)
                                        if oscillates:
                                            values_i = folded(sums, here, 6 * step, triples, trial.table, weight)
                                        add_three(t, place, imaginary, values, values_i, g_re, g_im, complex_out)
                                    else:
                                        s0 = combined(sums, a * step, 6 * step, points, trial.table, f * points)
                                        i0 = zero(t)
                                        if oscillates:
                                            i0 = combined(sums, here, 6 * step, points, trial.table, f * points)
                                        add_product(t, place, imaginary, s0, i0, g_re, g_im, complex_out)
                        if has_mass and direct:
                            s0, i0 = complex_product(total, total_i, f_re, f_im)
                            accumulate(out[row_ids[row]], columns.first[b] + v, s0, i0)
                        elif has_mass and at_once:
                            add_product(t, v * kept + row * step, imaginary, total, total_i, f_re, f_im, complex_out)
                        if curls:
                            total, total_i = complex_product(total, total_i, e_re, e_im)
                            for a in range(3):
                                place = curl_base + 3 * (v * kept + tile_rows[i - lo, a] * step)
                                for c in range(3):
                                    add(t, place + c * step, test_curls[i, a, c] * total)
                                    if complex_out:
                                        add(t, imaginary + place + c * step, test_curls[i, a, c] * total_i)
            if direct:
                continue
            for top in range(0, rows, step):
                count = min(step, rows - top)
                fetched(flat, pitch, row_ids, top, count, columns, b)
                for part in range(parts):
                    begin, side = part * imaginary, im if part else re
                    if curls:
                        take_curls(t, begin + curl_base, kept, top, trial_curls, b * 3 * size, trials, work)
                        if has_mass:
                            take_values(t, begin, kept, trials, top, work)
                        across(work, side)
                    else:
                        take(t, begin, kept, trials, top, side)
                add_columns(flat, pitch, row_ids, top, count, columns, b, re, im, work)

    return tile


@jitable
def squared(x, p, y0, y1, y2, tiny):  # type: ignore[no-untyped-def]
    """The squared distance of the point x[p : p + 3] from y."""
    d0, d1, d2 = number(x, p) - y0, number(x, p + 1) - y1, number(x, p + 2) - y2
    return d0 * d0 + tiny + d1 * d1 + d2 * d2


@jitable
def asked(of_test, of_trial, values, offsets, place):  # type: ignore[no-untyped-def]
    """The part of a Green's function that an integrand needs: its value, or its slope (of_trial: times the distance
    from the plane of the trial triangle; of_test: that factor comes later)."""
    value, value_i, slope, slope_i = values
    if of_trial:
        offset = load(offsets, place)
        return slope * offset, slope_i * offset
    if of_test:
        return slope, slope_i
    return value, value_i


@jitable
def add_product(t, place, imaginary, re, im, c, s, is_complex):  # type: ignore[no-untyped-def]
    """Add (re + i im) (c + i s) at t[place], the imaginary part so much further."""
    re, im = complex_product(re, im, c, s)
    add(t, place, re)
    if is_complex:
        add(t, place + imaginary, im)


@jitable
def add_three(t, place, imaginary, re, im, c, s, is_complex):  # type: ignore[no-untyped-def]
    """The same of three vectors that follow each other."""
    step, (r0, r1, r2), (i0, i1, i2) = lanes(t), re, im
    add_product(t, place, imaginary, r0, i0, c, s, is_complex)
    add_product(t, place + step, imaginary, r1, i1, c, s, is_complex)
    add_product(t, place + 2 * step, imaginary, r2, i2, c, s, is_complex)
