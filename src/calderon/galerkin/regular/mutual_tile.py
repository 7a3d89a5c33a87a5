"""Regular part of a double layer on one space, both orders of a pair of triangles from one evaluation.

With the slope h = G'/r and x in triangle s, y in t, the double layer of the pair (s, t) has the kernel -h (x - y) . n_t
and that of (t, s), x and y exchanged, h (x - y) . n_s: one slope, and factors that depend on x or y alone, the distance
ahead, -(x - y) . n_t, of x from the plane of t, and the distance behind, (x - y) . n_s, of y from that of s. With
functions f_a of s and g_b of t the results of a pair are

    A_ab = int int f_a(x) g_b(y) ahead(x) h(x, y),    B_ab = int int f_a(x) g_b(y) behind(y) h(x, y).

One call computes some consecutive test triangles s with the trial triangles t of some blocks that follow them: A is
added to rows of the test triangles, and B, transposed, to rows of the trial triangles. The adjoint double layer is the
transposed matrix: A and B change places.
"""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from calderon.backends.numba import kernel
from calderon.backends.vectors import (
    aligned,
    any_less,
    complex_product,
    jitable,
    lanes,
    load,
    number,
    width,
    zero,
)
from calderon.galerkin.forms.form import MASS, PARAMETERS
from calderon.galerkin.regular.centroid_distances import PRODUCTS, RECORD, WEIGHT
from calderon.galerkin.regular.distant import are_weighed, near_lanes
from calderon.galerkin.regular.element_tables import LANES
from calderon.galerkin.regular.flush import add_product, take
from calderon.galerkin.regular.mutual_sums import (
    SLOPES,
    mutual_results,
    mutual_results_in_threes,
    mutual_sums,
    mutual_sums_in_threes,
)
from calderon.galerkin.regular.pair_mask import first_left_out, left_out, mark, words_for
from calderon.galerkin.regular.point_sums import put_shares, three
from calderon.galerkin.regular.scatter_columns import Columns, adding_sums, clear, room_for
from calderon.galerkin.regular.series import adding_slopes
from calderon.greens import Radial, parameter_reader
from calderon.greens.elementary import inverse_square_root
from calderon.pairs.zones import DEGREE, DistantRule
from calderon.quadrature import triangle_rule


def mutual_scratch(
    rows: int, functions: int, points: int, complex_out: bool, columns: Columns, real: DTypeLike
) -> NDArray[Any]:  # fmt: skip
    """Working memory of one call: for its output rows (a dummy row, and whole vectors of them) A and B with a vector of
    each trial function, and their sums of the columns of a group, real and imaginary; a mask; sums of some rows;
    vectors of one pair (`PAIR`)."""
    step = width(real)
    parts, room, kept = 2 if complex_out else 1, room_for(columns.start, step), (rows // step + 1) * step
    of_pair = (SLOPES + 2 * points) * points + PRODUCTS
    return aligned(2 * parts * kept * (functions * step + room) + (1 + 2 * room + of_pair) * step, real)


@functools.lru_cache(maxsize=64)
def mutual_kernel(
    radial: Radial, linear: bool, oscillates: bool, complex_out: bool, threes: bool, close: bool, points: int,
    trials: int, rule: DistantRule | None,
) -> Callable[..., None]:  # fmt: skip
    """The compiled tile of one Green's function. linear: three local functions at a time (else one, a constant);
    close: pairs may be so near that squared distances by `Spreads` would lose digits; rule: of distant pairs; the
    others as in `tile.TileKind`.

    tile(test, trial, spread, distant, group, skip_start, skip_position, scalars, lo, hi, first, last, adjoint,
    tile_rows, row_ids, scratch, out): adds to `out` test triangles lo up to, without, hi with those trial triangles of
    the blocks first up to, without, last that have a larger number; adjoint: the adjoint double layer; scratch:
    `mutual_scratch`; the rest (TestSide, TrialSide, Spreads, Distant, group of test functions, pairs left out, rows) as
    in `tile.tile_kernel`.
    """
    functions, triples, of_pair = 3 if linear else 1, points // 3, (SLOPES + 2 * points) * points + PRODUCTS
    radial_phase, shifts, parts = radial.phase, radial.shifts, 2 if complex_out else 1
    parameters_of = parameter_reader(radial.parameters)
    add_columns, add_rows = adding_sums(complex_out)
    given = radial, linear, oscillates, complex_out, threes
    add_pair = adding_pair(*given, close, points, trials)
    add_distant, has_zones = add_pair, rule is not None
    if rule == "slopes":
        add_distant = adding_slopes(radial, complex_out)
    elif rule == "points":
        weighed = are_weighed("points", radial, functions, trials)
        add_distant = adding_pair(*given, False, triangle_rule(DEGREE).number_of_points, trials, weighed)

    @kernel
    def tile(
        test, trial, spread, distant, group, skip_start, skip_position, scalars, lo, hi, first, last, adjoint,
        tile_rows, row_ids, scratch, out,
    ):  # fmt: skip
        """Add some test triangles with later trial triangles to the matrix, both orders of each pair."""
        # the working memory: results A and B, a mask, room for one pair of triangles, sums of A and B
        tiny, parameters = scalars[0], parameters_of(scalars, PARAMETERS)
        rows, step = row_ids.size, lanes(scratch)
        t, slot = scratch, group * functions
        kept = (rows // step + 1) * step
        imaginary = kept * trials * step
        other = parts * imaginary  # where B begins
        mask, rest = scratch[2 * other : 2 * other + step], scratch[2 * other + step :]
        x, weights, factors, table = test.nodes.reshape(-1), test.weights[group], test.factors[group], trial.table
        ones, gammas = np.ones(triples, scratch.dtype), np.ones(triples, scratch.dtype)
        if linear and threes:
            for p in range(triples):  # the distances ahead contain alpha, which is not 0 at points within a triangle
                gammas[p] = weights[triples + p] / weights[p]
        columns = trial.columns
        places, groups, number_of = columns.place.reshape(-1), columns.group, columns.place.shape[1]
        room = room_for(columns.start, step)
        pair, turned = rest[: of_pair * step], rest[of_pair * step : (of_pair + 2 * room) * step]
        sums, apart_by = rest[(of_pair + 2 * room) * step :], kept * room
        shapes, around = spread.test.reshape(-1), spread.trial.reshape(-1)
        steps, products, measure, units = spread.steps, spread.products.reshape(-1), trial.measure, trial.units
        test_normals, test_centres, jacobian = test.normals, test.centres, trial.jacobian.reshape(-1)
        normals, centres, y = trial.normals.reshape(-1), trial.centres.reshape(-1), trial.points.reshape(-1)
        own, others, share = distant.own, distant.others.reshape(-1), number(distant.factors, group)
        far_weights, far_table, far_units = distant.weights[group], distant.table, distant.units
        far_gammas = far_weights[far_weights.size // 2 :]  # beta / alpha, where alpha is 1
        far_steps, far_products, far_measure = distant.steps, distant.products.reshape(-1), distant.measure
        flat, pitch = out.reshape(-1), out.shape[1]
        cursors, words = first_left_out(skip_start, skip_position, lo, hi, first), words_for(lo, hi)
        clear(t, 0, 2 * other)
        clear(sums, 0, 2 * parts * apart_by)
        for b in range(first, last):
            # pairs to leave out of this block, then vectors of its triangles with all earlier test triangles
            mark(words, cursors, skip_start, skip_position, lo, hi, b, True)
            for v in range(0, LANES, step):
                here = 3 * b * LANES + v
                for i in range(lo, min(hi, b * LANES + v + step)):
                    m = test_normals[i, 0], test_normals[i, 1], test_normals[i, 2]
                    c = test_centres[i, 0], test_centres[i, 1], test_centres[i, 2]
                    # centroids: phase, and factors of both normals
                    e, n = three(centres, here, LANES), three(normals, here, LANES)
                    d = c[0] - e[0], c[1] - e[1], c[2] - e[2]
                    square, reference = d[0] * d[0] + tiny + d[1] * d[1] + d[2] * d[2], zero(t)
                    if shifts:
                        reference = square * inverse_square_root(square)
                    f_re, f_im = radial_phase(reference, parameters)
                    f_re, f_im = complex_product(f_re, f_im, scalars[MASS], scalars[MASS + 1])
                    factor = load(jacobian, b * LANES + v) * number(factors, i)
                    missing = left_out(words, i - lo, v, mask)
                    if missing:
                        factor = factor * load(mask, 0)
                    # near triangles of the vector, then distant ones
                    near, apart = zero(t) + 1.0, zero(t)
                    if has_zones:
                        near = near_lanes(c, e, tiny, number(own, i), load(others, b * LANES + v))
                        apart = 1.0 - near
                    beyond, kept_lanes, y_place = b * RECORD * LANES + v, load(mask, 0), 3 * points * b * LANES
                    if not has_zones or any_less(zero(t), near):
                        add_pair(
                            x, 3 * points * i, c, d, e, m, n, factor * near, y, y_place + v, weights, gammas, ones,
                            measure, shapes, RECORD * i, around, beyond, steps, products, square, missing, kept_lanes,
                            parameters, tiny, reference, t, 0, imaginary, other, f_re, f_im, table, units,
                            tile_rows, i - lo, slot, pair,
                        )  # fmt: skip
                    if has_zones and any_less(zero(t), apart):
                        add_distant(
                            x, 0, c, d, e, m, n, share * factor * apart, y, 0, far_weights, far_gammas, ones,
                            far_measure, shapes, RECORD * i, around, beyond, far_steps, far_products, square, missing,
                            kept_lanes, parameters, tiny, reference, t, 0, imaginary, other, f_re, f_im, far_table,
                            far_units, tile_rows, i - lo, slot, pair,
                        )  # fmt: skip
                # to the sums of columns
                for part in range(2 * parts):
                    where = b * number_of + v
                    take(t, part * imaginary, kept, trials, rows, sums, part * apart_by, places, where)
            # sums of A and B of this group of blocks to rows, and to transposed places
            if b + 1 == last or number(groups, b + 1) != number(groups, b):
                for side in range(2):
                    given = number(groups, b), sums, side * parts * apart_by, apart_by, kept, turned
                    if (side == 1) == adjoint:
                        add_columns(flat, pitch, row_ids, columns, *given)
                    else:
                        add_rows(flat, pitch, row_ids, columns, *given)

    return tile


def adding_pair(
    radial: Radial, linear: bool, oscillates: bool, complex_out: bool, threes: bool, close: bool, points: int,
    trials: int, weighed: bool = False,
) -> Callable[..., None]:  # fmt: skip
    """The compiled function that adds both orders of a test triangle with a vector of others by one rule; weighed: as
    in `pair_sums`, the others as in `mutual_kernel`."""
    if threes:
        sums = mutual_sums_in_threes(radial, linear, oscillates, close, points, weighed)
        add_results = mutual_results_in_threes(oscillates, complex_out, points, trials, weighed)
    else:
        sums = mutual_sums(radial, linear, oscillates, points)
        add_results = mutual_results(oscillates, complex_out, points, trials)

    @jitable
    def add_pair(
        x, o, c, d, e, m, n, factor, y, there, weights, gammas, ones, measure, shapes, part, around, others, steps,
        products, square, missing, kept, parameters, tiny, reference, t, begin, imaginary, other, f_re, f_im, table,
        units, tile_rows, i, slot, s,
    ):  # fmt: skip
        """Add A and B of test triangle i of the tile.

        m, n: the normals of both, factor: what multiplies them; t, begin, imaginary, other, f_re, f_im, table, units,
        tile_rows, slot: as in `mutual_results_in_threes`; all others as in `mutual_sums_in_threes`.
        """
        if weighed:
            factor = factor * (number(shapes, part + WEIGHT) * load(around, others + WEIGHT * LANES))
        n, l = (n[0] * factor, n[1] * factor, n[2] * factor), (factor * m[0], factor * m[1], factor * m[2])
        # slopes once, results A and B
        a_re, a_im, b_re, b_im = sums(
            x, o, c, d, e, l, n, y, there, weights, gammas, ones, measure, shapes, part, around, others, steps,
            products, square, missing, kept, parameters, tiny, reference, s,
        )  # fmt: skip
        if weighed:  # for the sums over the points y
            put_shares(s, 0, three(around, others + (WEIGHT + 1) * LANES, LANES))
        # with functions at the points y, or as they are with constants, to the rows of the tile
        if linear:
            add_results(t, begin, imaginary, other, f_re, f_im, weights, table, units, tile_rows, i, slot, s)
        else:
            row = begin + tile_rows[i, slot] * trials * lanes(t)
            add_product(t, row, imaginary, a_re, a_im, f_re, f_im, complex_out)
            add_product(t, other + row, imaginary, b_re, b_im, f_re, f_im, complex_out)

    return add_pair
