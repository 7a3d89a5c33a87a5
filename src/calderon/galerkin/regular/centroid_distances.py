"""Squared distances of the quadrature points of two triangles through their centroids.

Points in threes lie at c + s w_a (s one number for each three points, w_a the corners less the centroid c, a = 0, 1, 2)
and e + s' v_b. With D = c - e

    |x - y|^2 = |D|^2 + s^2 |w_a|^2 + 2 s D . w_a + s'^2 |v_b|^2 - 2 s' D . v_b - 2 s s' w_a . v_b:

one number for each point x, one for each point y, and nine products for all pairs of points. That is an addition and a
multiply-add for a pair, where differences of three coordinates take three of each. Distances from the plane of the
other triangle follow in the same way. Triangles that are not near each other are farther apart than their longest
edges, so that cancellation costs no digit.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from calderon.backends.numba import kernel
from calderon.backends.vectors import aligned, jitable, lanes, load, number, store
from calderon.galerkin.regular.element_tables import blocked, joined, packed
from calderon.mesh.geometry import FlatTriangles
from calderon.quadrature import TriangleRule

RECORD = 13
"""Numbers of a triangle: w_0, w_1, the squares |w_a|^2, and how distant pairs of waves weigh it (`wave_weights`)."""
WEIGHT = 9
"""The place of `wave_weights` in a record."""
PRODUCTS = 9
"""Vectors of the products of a pair."""
NEAR = 0.5
"""Squared distances lose digits between triangles closer than that times the longer of their longest edges."""


class Spreads(NamedTuple):
    """The parts of squared distances. test (n, RECORD): the records of the test triangles; trial (blocks, RECORD *
    LANES): those of the trial triangles; steps (T,): s of each three points; products (T, T): -2 s s'."""

    test: NDArray[np.floating]
    trial: NDArray[np.floating]
    steps: NDArray[np.floating]
    products: NDArray[np.floating]


def spreads(
    test: FlatTriangles, trial: FlatTriangles, rule: TriangleRule, square: float, real: DTypeLike
) -> Spreads:  # fmt: skip
    """The spreads of both sides for a rule with points in threes (element_tables.in_threes) and waves with Re k^2 =
    square, in a floating-point type."""
    steps = steps_of(rule)
    return Spreads(
        spread_records(test, square, real),
        packed(joined(blocked(spread_records(trial, square, real).T, 0.0)), real),
        packed(steps, real),
        packed(-2 * np.outer(steps, steps), real),
    )


def steps_of(rule: TriangleRule) -> NDArray[np.float64]:
    """(T,) s of each three points of a rule with points in threes."""
    return np.asarray(rule.barycentric[::3, 0] - rule.barycentric[::3, 1])


def no_spreads(real: DTypeLike) -> Spreads:
    """Empty spreads, where they are not read."""
    return Spreads(*(np.zeros((0, 0), real), np.zeros((0, 0), real), np.zeros(0, real), np.zeros((0, 0), real)))


def spread_records(surface: FlatTriangles, square: float, real: DTypeLike) -> NDArray[np.floating]:
    """(n, RECORD) records of all triangles of a surface, of waves with Re k^2 = square."""
    records = aligned((len(surface.corners), RECORD), real)
    put_offsets(surface.corners, records)
    put_wave_weights(records[:, 6:WEIGHT], float(square), records[:, WEIGHT:])
    return records


@kernel
def put_offsets(corners, records):
    """Write w_0, w_1 and the squares |w_a|^2 of triangles with these corners (n, 3, 3) to records (n, RECORD)."""
    for n in range(len(corners)):
        for a in range(3):
            records[n, 6 + a] = 0
        for c in range(3):
            centre = (corners[n, 0, c] + corners[n, 1, c] + corners[n, 2, c]) / 3
            for a in range(3):
                offset = corners[n, a, c] - centre
                if a < 2:
                    records[n, 3 * a + c] = offset
                records[n, 6 + a] += offset * offset


def wave_weights(squares: NDArray[np.floating], square: float) -> NDArray[np.floating]:
    """(n, 4) numbers rho and beta_a / alpha of the weights of three points for linear functions times waves, from
    |w_a|^2 (n, 3) and Re k^2 = square.

    The rule of degree 2 has the weights (delta_ai + 1 / 3) / 6 of point i for the function l_a, and errs from the
    second order of a wave on. A wave is a sum of j_n(k r) Y_n about the centroid. Those with n = 0 and, on an
    equilateral triangle, n = 1 are integrated with an error of two orders more by the weights (alpha delta_ai +
    beta_a) / 3 with

        alpha = rho / 2,   rho = 1 - k^2 p / 200,   beta_a = (1 - alpha) / 3 + k^2 (|w_a|^2 - p / 3) / 720,

    p = sum_a |w_a|^2. The sum over a of the weights of a point is 1 / 3 as before: products of constants are unchanged.
    """
    out = np.empty((len(squares), 4), squares.dtype)
    put_wave_weights(squares, float(square), out)
    return out


@kernel
def put_wave_weights(squares, square, out):
    """Write the numbers of `wave_weights` to out (n, 4). squares, square: as there."""
    for n in range(len(squares)):
        p = squares[n, 0] + squares[n, 1] + squares[n, 2]
        rho = 1 - square * p / 200
        out[n, 0] = rho
        for a in range(3):
            beta = (1 - rho / 2) / 3 + square * (squares[n, a] - p / 3) / 720
            out[n, 1 + a] = beta / (rho / 2)


@jitable
def dot(a, i, d0, d1, d2):
    """a[i : i + 3] . d of d = (d0, d1, d2)."""
    return number(a, i) * d0 + number(a, i + 1) * d1 + number(a, i + 2) * d2


@jitable
def along(a, i, pitch, d0, d1, d2):
    """a . d of a vector of triangles, whose x, y and z stand at a[i], `pitch` numbers apart, and d = (d0, d1, d2)."""
    return load(a, i) * d0 + load(a, i + pitch) * d1 + load(a, i + 2 * pitch) * d2


@jitable
def put_pair(
    test, i, trial, j, pitch, steps, triples, d0, d1, d2, square, left_out, kept, out, products, at_test, at_trial
):
    """Store the parts of the squared distances of all pairs of points: nine products at out[products:], one number for
    each point x at out[at_test:], and for each y at out[at_trial:].

    test[i:]: the record of one triangle, trial[j:]: of a vector of others, numbers `pitch` apart; steps (triples,): s
    of each three points; (d0, d1, d2): D, and `square` its square. Where a pair is left out (left_out: whether one is),
    and `kept` is 0 instead of 1, distances could be negative by rounding, and are made larger.
    """
    if left_out:
        square = square + (1.0 - kept) * (square + extent(test, i, trial, j, pitch))
    put_dots(test, i, trial, j, pitch, out, products)
    put_squares(test, i, trial, j, pitch, steps, triples, d0, d1, d2, square, out, at_test, at_trial)


@jitable
def three_squares(values, here, at_q, product, z0, z1, z2):
    """Squared distances of the three points x whose numbers begin at values[here] from a point y: its number at_q,
    product = -2 s s', and the products z0, z1, z2 of its corner."""
    step = lanes(values)
    r0, r1 = load(values, here) + at_q + product * z0, load(values, here + step) + at_q + product * z1
    return r0, r1, load(values, here + 2 * step) + at_q + product * z2


@jitable
def put_squares(test, i, trial, j, pitch, steps, triples, d0, d1, d2, square, out, at_test, at_trial):
    """Store the number of each point x at out[at_test:] and of each point y at out[at_trial:]; arguments as in
    `put_pair`."""
    step, here = lanes(out), j + 6 * pitch
    w0, w1 = dot(test, i, d0, d1, d2), dot(test, i + 3, d0, d1, d2)
    v0, v1 = along(trial, j, pitch, d0, d1, d2), along(trial, j + 3 * pitch, pitch, d0, d1, d2)
    w2, v2 = -(w0 + w1), -(v0 + v1)
    for t in range(triples):
        s, first = number(steps, t), 3 * t * step
        twice, square_of_s = s + s, s * s
        store(out, at_test + first, twice * w0 + (square + square_of_s * number(test, i + 6)))
        store(out, at_test + first + step, twice * w1 + (square + square_of_s * number(test, i + 7)))
        store(out, at_test + first + 2 * step, twice * w2 + (square + square_of_s * number(test, i + 8)))
        store(out, at_trial + first, square_of_s * load(trial, here) - twice * v0)
        store(out, at_trial + first + step, square_of_s * load(trial, here + pitch) - twice * v1)
        store(out, at_trial + first + 2 * step, square_of_s * load(trial, here + 2 * pitch) - twice * v2)


@jitable
def put_dots(test, i, trial, j, pitch, out, place):
    """Store w_a . v_b at [b][a], nine vectors at out[place:]; arguments as in `put_pair`."""
    step = lanes(out)
    v0, v1, v2 = load(trial, j), load(trial, j + pitch), load(trial, j + 2 * pitch)
    g0, g1 = dot(test, i, v0, v1, v2), dot(test, i + 3, v0, v1, v2)
    put_corner(out, place, g0, g1)
    v0, v1, v2 = load(trial, j + 3 * pitch), load(trial, j + 4 * pitch), load(trial, j + 5 * pitch)
    h0, h1 = dot(test, i, v0, v1, v2), dot(test, i + 3, v0, v1, v2)
    put_corner(out, place + 3 * step, h0, h1)
    put_corner(out, place + 6 * step, -(g0 + h0), -(g1 + h1))


@jitable
def put_corner(out, place, g0, g1):
    """Store three numbers whose sum is zero, g0, g1 and the third one, at out[place:]."""
    step = lanes(out)
    store(out, place, g0)
    store(out, place + step, g1)
    store(out, place + 2 * step, -(g0 + g1))


@jitable
def extent(test, i, trial, j, pitch):
    """The sum of all |w_a|^2 and |v_b|^2; arguments as in `put_pair`."""
    here = j + 6 * pitch
    of_trial = load(trial, here) + load(trial, here + pitch) + load(trial, here + 2 * pitch)
    return of_trial + (number(test, i + 6) + number(test, i + 7) + number(test, i + 8))


@jitable
def put_planes(steps, triples, weights, first, middle, w0, w1, out, place):
    """Store weight * (middle - s w_a) at out[place:] for points in threes, from the weights of each three points that
    begin at weights[first]; steps (triples,): s; w0, w1: of the first two corners."""
    step, w2 = lanes(out), -(w0 + w1)
    for t in range(triples):
        weight, here = number(weights, first + t), place + 3 * t * step
        s, base = weight * number(steps, t), weight * middle
        store(out, here, base - s * w0)
        store(out, here + step, base - s * w1)
        store(out, here + 2 * step, base - s * w2)
