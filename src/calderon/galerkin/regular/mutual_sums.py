"""The sums over pairs of points of a double layer in both orders of two triangles (mutual_tile.py), in one evaluation.

The sums come in two forms: over points in threes, and over any points one by one.
"""

from collections.abc import Callable
from typing import Any

from calderon.backends.records import Record
from calderon.backends.vectors import jitable, lanes, load, number, store, zero
from calderon.galerkin.regular.centroid_distances import WEIGHT, along, dot, put_pair, put_planes, three_squares
from calderon.galerkin.regular.element_tables import LANES
from calderon.galerkin.regular.flush import add_product, add_three
from calderon.galerkin.regular.point_sums import (
    EVEN,
    applied,
    combined,
    folded,
    folded_times,
    one_applied,
    put_three,
    shared,
    shared_times,
    squared,
    three,
    zeros,
)
from calderon.greens import Radial

SLOPE = 2
"""The place of G'/r, real and imaginary, among the values of a Green's function."""
PAIR = Record("PAIR", ahead=1, back=1, sums=6, sums_i=6, at_test=1, at_trial=1, slopes=None)
"""The working memory of a pair, in parts of one vector a point: distances ahead and behind, the three sums for A and
the three for B at each trial point, their imaginary parts, the numbers of x and of y (`put_pair`), and slopes, `points`
parts; as many parts with imaginary slopes follow, then the products of corners."""
_, BACK, SUMS, SUMS_I, AT_TEST, AT_TRIAL, SLOPES = PAIR.places.values()


def storing_slopes(radial: Radial, close: bool, points: int) -> Callable[..., None]:
    """The function that stores the complex slopes h(x, y) at all test points x, in threes, for one trial point y; close
    as in `mutual_kernel`."""
    radial_value, triples = radial.multiple or radial.value, points // 3

    @jitable
    def slopes_at(x, o, y0, y1, y2, at_q, q, products, tiny, parameters, reference, s):
        """Store the slopes at all test points for trial point number q, (y0, y1, y2), as complex ones are too many
        numbers for the registers; at_q: the number of y in squared distances (`put_pair`); x, o, products, tiny,
        parameters, reference, s: as in `mutual_sums_in_threes`."""
        step = lanes(s)
        far, corner = points * step, q % 3 * 3 * step
        for p in range(triples):
            for k in range(3):
                here = (3 * p + k) * step
                r2 = squared(x, o + 9 * p + 3 * k, y0, y1, y2, tiny)
                if not close:
                    dots = load(s, (SLOPES + 2 * points) * far + corner + k * step)
                    r2 = load(s, AT_TEST * far + here) + at_q + number(products, q // 3 * triples + p) * dots
                values = radial_value(r2, parameters, reference)
                store(s, SLOPES * far + here, values[SLOPE])
                store(s, (SLOPES + points) * far + here, values[SLOPE + 1])

    return slopes_at


def three_slopes(radial: Radial, close: bool, points: int) -> Callable[..., Any]:
    """The compiled real slopes at three test points for one trial point; close: as in `mutual_kernel`."""
    radial_value = radial.multiple or radial.value

    @jitable
    def real_slopes(x, o, y0, y1, y2, at_q, z0, z1, z2, product, p, tiny, parameters, reference, s):
        """The slopes at test points 3 p to 3 p + 2; z0, z1, z2, product as in `three_squares`, the rest as in
        `slopes_at`."""
        here = (AT_TEST * points + 3 * p) * lanes(s)
        r0, r1, r2 = three_squares(s, here, at_q, product, z0, z1, z2)
        if close:
            r0, r1 = squared(x, o + 9 * p, y0, y1, y2, tiny), squared(x, o + 9 * p + 3, y0, y1, y2, tiny)
            r2 = squared(x, o + 9 * p + 6, y0, y1, y2, tiny)
        return (
            radial_value(r0, parameters, reference)[SLOPE],
            radial_value(r1, parameters, reference)[SLOPE],
            radial_value(r2, parameters, reference)[SLOPE],
        )

    return real_slopes


@jitable
def fixed_shares(shapes, part):
    """The shares of a fixed triangle with its record at shapes[part:] (`centroid_distances.wave_weights`)."""
    own = part + WEIGHT + 1
    return number(shapes, own), number(shapes, own + 1), number(shapes, own + 2)


@jitable
def even(shapes, part):
    """The shares of the rule, instead of `fixed_shares`; arguments as in `fixed_shares`."""
    return EVEN


def mutual_sums_in_threes(
    radial: Radial, linear: bool, oscillates: bool, close: bool, points: int, weighed: bool
) -> Callable[..., Any]:
    """The compiled sums over test points in threes; weighed: as in `pair_sums`. With constants they return A and B,
    real and imaginary; if linear, they store at s[SUMS ...], for each y, sum_x f_a(x) ahead(x) h(x, y) and sum_x f_a(x)
    h(x, y), and return zeros.

    sums(x, o, c, d, e, l, n, y, there, weights, gammas, ones, measure, shapes, part, around, others, steps, products,
    square, missing, kept, parameters, tiny, reference, s): x[o:]: test points; c, e: centroids, d = c - e; l, n:
    normals of the test and of the trial triangles times all factors, three numbers each; y[there:]: trial points;
    weights: alpha and beta of test functions, gammas: beta / alpha, ones: 1, for each three points; measure: weights
    of the trial points; shapes[part:], around[others:], steps, products: `Spreads`; square: |d|^2; missing, kept:
    whether lanes are left out, and 0 in these; parameters, tiny, reference: as in pair_sums.py; s: memory of the pair.
    """
    triples = points // 3
    slopes_at, real_slopes = storing_slopes(radial, close, points), three_slopes(radial, close, points)
    shares_of = fixed_shares if weighed else even

    @jitable
    def sums(
        x, o, c, d, e, l, n, y, there, weights, gammas, ones, measure, shapes, part, around, others, steps, products,
        square, missing, kept, parameters, tiny, reference, s,
    ):  # fmt: skip
        """Return A and B of constants for a pair of triangles, or store the sums at each trial point."""
        step, (d0, d1, d2), (l0, l1, l2), (n0, n1, n2) = lanes(s), d, l, n
        far = points * step  # from one part of the working memory to the next
        shares, a_re, a_im, b_re, b_im = shares_of(shapes, part), zero(s), zero(s), zero(s), zero(s)
        # parts of the squared distances of all pairs of points
        if not close:
            put_pair(
                shapes, part, around, others, LANES, steps, triples, d0, d1, d2, square, missing, kept, s,
                (SLOPES + 2 * points) * far, AT_TEST * far, AT_TRIAL * far,
            )  # fmt: skip
        # distances of points from planes, those of x with the first of the weights
        ahead = -(d0 * n0 + d1 * n1 + d2 * n2)  # -(x - y) . n_y, at any y
        w0, w1 = dot(shapes, part, n0, n1, n2), dot(shapes, part + 3, n0, n1, n2)
        put_planes(steps, triples, weights, 0 if linear else triples, ahead, w0, w1, s, 0)
        behind = d0 * l0 + d1 * l1 + d2 * l2  # (x - y) . n_x, at any x
        w0, w1 = along(around, others, LANES, l0, l1, l2), along(around, others + 3 * LANES, LANES, l0, l1, l2)
        put_planes(steps, triples, ones, 0, behind, w0, w1, s, BACK * far)
        for q in range(points):
            at_q, corner = load(s, AT_TRIAL * far + q * step), q % 3 * 3 * step
            z0, z1, z2 = three(s, (SLOPES + 2 * points) * far + corner, step)
            y0, y1, y2 = three(y, there + 3 * q * LANES, LANES)
            sa, sa_i, sb, sb_i = zeros(s), zeros(s), zeros(s), zeros(s)
            # sums over the test points: for A with the distances ahead; for B without those behind, as they depend on y
            if oscillates:
                slopes_at(x, o, y0, y1, y2, at_q, q, products, tiny, parameters, reference, s)
            for p in range(triples):
                here, product = 3 * p * step, number(products, q // 3 * triples + p)
                h0, h1, h2 = three(s, here, step)
                alpha = 1.0 if p == 0 else number(weights, p)
                beta, gamma = (1.0, 1.0) if weighed else (number(weights, triples + p), number(gammas, p))
                if oscillates:
                    k0, k1, k2 = three(s, SLOPES * far + here, step)
                else:
                    k0, k1, k2 = real_slopes(
                        x, o, y0, y1, y2, at_q, z0, z1, z2, product, p, tiny, parameters, reference, s
                    )  # fmt: skip
                sa = applied(sa, h0 * k0, h1 * k1, h2 * k2, 1.0, gamma)
                sb = applied(sb, k0, k1, k2, alpha, beta)
                if oscillates:
                    k0, k1, k2 = three(s, (SLOPES + points) * far + here, step)
                    sa_i = applied(sa_i, h0 * k0, h1 * k1, h2 * k2, 1.0, gamma)
                    sb_i = applied(sb_i, k0, k1, k2, alpha, beta)
            # sums at this point of three functions, or its share of A and B
            if linear:
                put_three(s, SUMS * far + 6 * q * step, sa, shares)
                put_three(s, SUMS * far + (6 * q + 3) * step, sb, shares)
                if oscillates:
                    put_three(s, SUMS_I * far + 6 * q * step, sa_i, shares)
                    put_three(s, SUMS_I * far + (6 * q + 3) * step, sb_i, shares)
            else:
                weight = number(measure, q)
                back = weight * load(s, BACK * far + q * step)
                a_re, b_re = a_re + weight * sa[3], b_re + back * sb[3]
                if oscillates:
                    a_im, b_im = a_im + weight * sa_i[3], b_im + back * sb_i[3]
        return a_re, a_im, b_re, b_im

    return sums


def mutual_sums(radial: Radial, linear: bool, oscillates: bool, points: int) -> Callable[..., Any]:
    """The compiled sums over any points, one by one. With constants they return A and B, real and imaginary; if linear,
    they store the distances ahead and behind and the slopes h(x_p, y_q), at s[(SLOPES + q) points + p] in vectors, and
    return zeros. weights (points,): weights of the test points, where there are constants; the others as in
    `mutual_sums_in_threes`, of which d, gammas, ones, shapes to square, missing and kept are not read."""
    radial_value = radial.multiple or radial.value

    @jitable
    def sums(
        x, o, c, d, e, l, n, y, there, weights, gammas, ones, measure, shapes, part, around, others, steps, products,
        square, missing, kept, parameters, tiny, reference, s,
    ):  # fmt: skip
        """Return A and B of constants for a pair of triangles, or store the slopes at all pairs of points."""
        step, (c0, c1, c2), (e0, e1, e2), (l0, l1, l2), (n0, n1, n2) = lanes(s), c, e, l, n
        far = points * step
        a_re, a_im, b_re, b_im = zero(s), zero(s), zero(s), zero(s)
        # distances of the points x from the planes of the trial triangles
        for p in range(points):
            d0, d1 = e0 - number(x, o + 3 * p), e1 - number(x, o + 3 * p + 1)
            d2 = e2 - number(x, o + 3 * p + 2)
            ahead = d0 * n0 + d1 * n1 + d2 * n2
            if not linear:
                ahead = ahead * number(weights, p)
            store(s, p * step, ahead)
        for q in range(points):
            y0, y1, y2 = three(y, there + 3 * q * LANES, LANES)
            behind = (c0 - y0) * l0 + (c1 - y1) * l1 + (c2 - y2) * l2
            a_q, a_qi, b_q, b_qi = zero(s), zero(s), zero(s), zero(s)
            if linear:
                store(s, BACK * far + q * step, behind)
            # slopes at all points x: kept, or summed
            for p in range(points):
                r2 = squared(x, o + 3 * p, y0, y1, y2, tiny)
                values = radial_value(r2, parameters, reference)
                k0, u0 = values[SLOPE], values[SLOPE + 1]
                if linear:
                    store(s, (SLOPES + q) * far + p * step, k0)
                    if oscillates:
                        store(s, (SLOPES + points + q) * far + p * step, u0)
                else:
                    ahead, weight = load(s, p * step), number(weights, p)
                    a_q, b_q = a_q + ahead * k0, b_q + weight * k0
                    if oscillates:
                        a_qi, b_qi = a_qi + ahead * u0, b_qi + weight * u0
            # the share of this point y in A and B
            weight = number(measure, q)
            behind = weight * behind
            a_re, b_re = a_re + weight * a_q, b_re + behind * b_q
            if oscillates:
                a_im, b_im = a_im + weight * a_qi, b_im + behind * b_qi
        return a_re, a_im, b_re, b_im

    return sums


def mutual_results_in_threes(
    oscillates: bool, complex_out: bool, points: int, trials: int, weighed: bool
) -> Callable[..., Any]:  # fmt: skip
    """The compiled sums over trial points in threes that make A and B of linear functions from what
    `mutual_sums_in_threes` stored; weighed: as there."""
    triples = points // 3

    @jitable
    def three_at(s, place, apart, table, weight):
        """The sums with three trial functions of what begins at s[place:], `apart` numbers from point to point, with
        alpha and beta at table[weight], or with their shares, which then stand at s[0:]."""
        if weighed:
            return shared(s, place, apart, 0)
        return folded(s, place, apart, triples, table, weight)

    @jitable
    def three_behind(s, place, apart, table, weight):
        """The sums of `three_at`, times the distances behind; arguments as in `three_at`."""
        back = BACK * points * lanes(s)
        if weighed:
            return shared_times(s, place, apart, back, 0)
        return folded_times(s, place, apart, triples, back, table, weight)

    @jitable
    def add_results(t, begin, imaginary, other, f_re, f_im, weights, table, units, tile_rows, i, slot, s):
        """Add A and B of linear functions to the rows of test triangle i of the tile.

        A goes to t[begin:], B to t[other + begin:], imaginary parts `imaginary` further; f_re, f_im: phase times
        coefficient; weights: of `TestSide`; table, units: of `TrialSide`; tile_rows (tests, L): the row of each local
        function, of which those from `slot` on are meant; s: working memory of the pair.
        """
        step = lanes(s)
        far, apart = points * step, 6 * step
        nothing = zero(s), zero(s), zero(s)
        for g in range(trials // 3):
            unit, weight = number(units, g), 2 * triples * g
            g_re, g_im = unit * f_re, unit * f_im
            for a in range(3):
                row = begin + (tile_rows[i, slot + a] * trials + 3 * g) * step
                here, there = a * step, (a + 3) * step
                at = three_at(s, SUMS * far + here, apart, table, weight)
                bt = three_behind(s, SUMS * far + there, apart, table, weight)
                at_i, bt_i = nothing, nothing
                if oscillates:
                    at_i = three_at(s, SUMS_I * far + here, apart, table, weight)
                    bt_i = three_behind(s, SUMS_I * far + there, apart, table, weight)
                add_three(t, row, imaginary, at, at_i, g_re, g_im, complex_out)
                add_three(t, other + row, imaginary, bt, bt_i, g_re, g_im, complex_out)

    return add_results


def mutual_results(oscillates: bool, complex_out: bool, points: int, trials: int) -> Callable[..., Any]:
    """The compiled sums over any points that make A and B of linear functions from what `mutual_sums` stored."""

    @jitable
    def add_results(t, begin, imaginary, other, f_re, f_im, weights, table, units, tile_rows, i, slot, s):
        """Add A and B of linear functions to the rows of test triangle i; arguments as in
        `mutual_results_in_threes`."""
        step = lanes(s)
        far, at, at_i = points * step, SUMS * points * step, SUMS_I * points * step
        first, first_i = SLOPES * far, (SLOPES + points) * far
        # A: trial function f over the points y, times the distance ahead, then test functions over the points x
        for f in range(trials):
            one_applied(s, first, far, step, 0, points, table, f * points, at)
            if oscillates:
                one_applied(s, first_i, far, step, 0, points, table, f * points, at_i)
            for a in range(3):
                s0, i0 = combined(s, at, step, points, weights, a * points), zero(s)
                if oscillates:
                    i0 = combined(s, at_i, step, points, weights, a * points)
                place = begin + (tile_rows[i, slot + a] * trials + f) * step
                add_product(t, place, imaginary, s0, i0, f_re, f_im, complex_out)
        # B: test function a over the points x, times the distance behind, then trial functions over the points y
        for a in range(3):
            one_applied(s, first, step, far, BACK * far, points, weights, a * points, at)
            if oscillates:
                one_applied(s, first_i, step, far, BACK * far, points, weights, a * points, at_i)
            place = other + begin + tile_rows[i, slot + a] * trials * step
            for f in range(trials):
                s0, i0 = combined(s, at, step, points, table, f * points), zero(s)
                if oscillates:
                    i0 = combined(s, at_i, step, points, table, f * points)
                add_product(t, place + f * step, imaginary, s0, i0, f_re, f_im, complex_out)

    return add_results
