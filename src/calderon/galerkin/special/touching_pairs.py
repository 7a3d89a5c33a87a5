"""Touching and near pairs of triangles, integrated with rules over the pair of reference triangles.

A batch is a set of pairs that share one rule. The lanes of a vector are pairs: at every point of the rule the integrand
is evaluated in all lanes, and the moments with products of test and trial functions are summed eight points at a time.
The floating-point type is that of the table: double precision, or single where the matrix has it.
"""

import functools
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from calderon.backends.numba import kernel
from calderon.backends.records import Record
from calderon.backends.vectors import aligned, complex_product, jitable, lanes, load, number, put, store, width, zero
from calderon.galerkin.forms.component_values import component_values
from calderon.greens import Radial, parameter_reader
from calderon.greens.elementary import inverse_square_root
from calderon.integrands import Components
from calderon.pairs.tables import RuleTable

DATA = Record("PAIR", difference=3, edges=12, normals=6, jacobian=1)
"""Vectors of the data of pairs (`put_pairs`)."""
PAIR, JACOBIAN = DATA.length, DATA["jacobian"]


@functools.lru_cache(maxsize=64)
def moment_kernel(radial: Radial, components: Components, oscillates: bool) -> Callable[..., None]:
    """Compiled moments(test, trial, pairs, rules, table, numbers, scratch, out): out[k, 0 or 1, n, a, b] gets the real
    and imaginary parts of int int c_k phi_a psi_b over the triangles of the n-th pair, with the k-th component c_k.

    test, trial: FlatTriangles of both sides; pairs: Pairs, with the orders of vertices in which a and b are numbered;
    rules (n,): the rule of each pair in the table, a RuleTable: points, and weights times phi_a psi_b; pairs of one
    rule follow each other. numbers: of the Green's function; scratch: `moment_scratch`. If not oscillates, imaginary
    parts of out are not written."""
    radial_phase, shifts, parameters_of = radial.phase, radial.shifts, parameter_reader(radial.parameters)
    kernels, stride = len(components), 2 if oscillates else 1
    put_values = component_values(radial, components, oscillates, 8)

    @kernel
    def moments(test, trial, pairs, rules, table, numbers, scratch, out):
        parameters = parameters_of(numbers, 0)
        step, s = lanes(scratch), scratch
        sizes, values, sums = table.products.shape[0], PAIR * step, (PAIR + 16 * kernels) * step
        # references to arrays are counted where these are indexed or taken from a tuple: not within the loops
        points, products, all_points = table.points.reshape(-1), table.products.reshape(-1), table.points.shape[1]
        triangles, corners = pairs.triangles.reshape(-1), (test.corners.reshape(-1), trial.corners.reshape(-1))
        normals, jacobians = (test.normals.reshape(-1), trial.normals.reshape(-1)), (test.jacobian, trial.jacobian)
        orders = pairs.test_order.reshape(-1), pairs.trial_order.reshape(-1)
        results, count = out.reshape(-1), pairs.triangles.shape[0]
        start, stop = 0, 0
        while stop < count:
            # the next pairs that share a rule into the lanes: corner difference o, test edges e, f, trial edges g, h
            start, rule = stop, rules[stop]
            stop = end_of_batch(rules, start, min(count, start + step))
            put_pairs(
                s, corners[0], corners[1], normals[0], normals[1], jacobians[0], jacobians[1],
                triangles, orders[0], orders[1], start, stop,
            )  # fmt: skip
            (o0, o1, o2), (e0, e1, e2), (f0, f1, f2) = three(s, 0), three(s, 3), three(s, 6)
            (g0, g1, g2), (h0, h1, h2) = three(s, 9), three(s, 12)
            m, n = three(s, 15), three(s, 18)
            # the phase is extracted at the distance of the centroids
            reference = zero(s)
            if shifts:
                reference = distance_of_centroids(s)
            clear(s, sums, kernels * stride * sizes)
            for chunk in range(table.starts[rule], table.starts[rule + 1], 8):
                # components at eight points of the rule, d = x - y
                for q in range(8):
                    here = chunk + q
                    u1, u2 = number(points, here), number(points, all_points + here)
                    t1, t2 = number(points, 2 * all_points + here), number(points, 3 * all_points + here)
                    d0 = o0 + u1 * e0 + u2 * f0 - t1 * g0 - t2 * h0
                    d1 = o1 + u1 * e1 + u2 * f1 - t1 * g1 - t2 * h1
                    d2 = o2 + u1 * e2 + u2 * f2 - t1 * g2 - t2 * h2
                    square = d0 * d0 + 1e-37 + d1 * d1 + d2 * d2
                    put_values(s, values + q * step, d0, d1, d2, square, m, n, parameters, reference)
                # sums with all products of local functions; values have imaginary parts in any case
                for part in range(kernels * stride):
                    here = values + 8 * (part if oscillates else 2 * part) * step
                    add_products(s, sums + part * sizes * step, here, products, chunk, all_points, sizes)
            # phase and Jacobians, lane by lane to the results
            c, d = radial_phase(reference, parameters)
            give_moments(s, sums, values, kernels, oscillates, sizes, c, d, results, count, start, stop)

    return moments


@jitable
def put_pairs(
    s, test, trial, test_normals, trial_normals, test_jacobian, trial_jacobian, triangles, test_order, trial_order,
    start, stop,
):  # fmt: skip
    """Put pairs start to stop into the lanes of the first `PAIR` vectors of s; lanes beyond repeat the last pair.

    Vectors 0 to 2 are the first corner of the test less that of the trial triangle, 3 to 8 both edges of the test and
    9 to 14 those of the trial triangle from there, 15 to 20 the normals of both, 21 is the product of the Jacobians.
    test, trial: corners (triangles, 3, 3) of both sides, test_normals, trial_normals (triangles, 3), test_jacobian,
    trial_jacobian (triangles,), triangles (n, 2) of all pairs, test_order, trial_order (n, 3) of their vertices; all
    but the Jacobians flat.
    """
    step = lanes(s)
    for lane in range(step):
        pair = min(start + lane, stop - 1)
        i, j = number(triangles, 2 * pair), number(triangles, 2 * pair + 1)
        side(s, lane, 3 * step, test, i, test_order, pair)
        side(s, lane, 9 * step, trial, j, trial_order, pair)
        for c in range(3):
            x, y = first_corner(test, i, test_order, pair, c), first_corner(trial, j, trial_order, pair, c)
            put(s, c * step + lane, x - y)
            put(s, (15 + c) * step + lane, number(test_normals, 3 * i + c))
            put(s, (18 + c) * step + lane, number(trial_normals, 3 * j + c))
        put(s, JACOBIAN * step + lane, number(test_jacobian, i) * number(trial_jacobian, j))


@jitable
def three(s, first):
    """Three vectors of the working memory s, from number `first` on."""
    step = lanes(s)
    return load(s, first * step), load(s, (first + 1) * step), load(s, (first + 2) * step)


@jitable
def four(s, place):
    """Four vectors of s that follow each other, from s[place] on."""
    step = lanes(s)
    return load(s, place), load(s, place + step), load(s, place + 2 * step), load(s, place + 3 * step)


@jitable
def end_of_batch(rules, start, limit):
    """The end of the run of pairs from `start` on that share one of the rules (n,), at most `limit`."""
    stop = start
    while stop < limit and rules[stop] == rules[start]:
        stop += 1
    return stop


@jitable
def clear(s, place, count):
    """Fill `count` vectors of s from s[place] on with zeros."""
    for k in range(count):
        store(s, place + k * lanes(s), zero(s))


@jitable
def add_products(s, sums, values, products, first, pitch, sizes):
    """Add the values at eight points, from s[values] on, times products of functions there to `sizes` sums from s[sums]
    on; products: flat rows, `pitch` numbers apart, in which the eight points are those from `first` on."""
    step = lanes(s)
    v0, v1, v2, v3 = four(s, values)
    v4, v5, v6, v7 = four(s, values + 4 * step)
    for m in range(sizes):
        place, here = sums + m * step, m * pitch + first
        total = load(s, place) + number(products, here) * v0 + number(products, here + 1) * v1
        total = total + number(products, here + 2) * v2 + number(products, here + 3) * v3
        total = total + number(products, here + 4) * v4 + number(products, here + 5) * v5
        total = total + number(products, here + 6) * v6 + number(products, here + 7) * v7
        store(s, place, total)


@jitable
def distance_of_centroids(s):
    """The distance of the centroids of the pairs in the lanes of s (`put_pairs`)."""
    (o0, o1, o2), (e0, e1, e2), (f0, f1, f2) = three(s, 0), three(s, 3), three(s, 6)
    (g0, g1, g2), (h0, h1, h2) = three(s, 9), three(s, 12)
    d0 = o0 + (e0 + f0 - g0 - h0) * (1.0 / 3.0)
    d1 = o1 + (e1 + f1 - g1 - h1) * (1.0 / 3.0)
    d2 = o2 + (e2 + f2 - g2 - h2) * (1.0 / 3.0)
    square = d0 * d0 + 1e-37 + d1 * d1 + d2 * d2
    return square * inverse_square_root(square)


@jitable
def give_moments(s, sums, values, kernels, oscillates, sizes, c, d, results, count, start, stop):
    """Multiply the sums of pairs start to stop of `count` by the Jacobians and the phase c + d i, and write them to
    results, flat (kernels, 2, count, sizes).

    s[sums:]: `sizes` real and, where `oscillates`, as many imaginary sums of each of the `kernels`; s[values:]: room
    for two vectors.
    """
    step = lanes(s)
    jacobian, stride = load(s, JACOBIAN * step), 2 if oscillates else 1
    for kind in range(kernels):
        for m in range(sizes):
            place = sums + (kind * stride * sizes + m) * step
            re, im = load(s, place), zero(s)
            if oscillates:
                im = load(s, place + sizes * step)
            re, im = complex_product(re, im, jacobian * c, jacobian * d)
            store(s, values, re)
            store(s, values + step, im)
            place = (2 * kind * count + start) * sizes + m
            for lane in range(stop - start):
                put(results, place + lane * sizes, number(s, values + lane))
                if oscillates:
                    put(results, place + (count + lane) * sizes, number(s, values + step + lane))


@jitable
def first_corner(corners, triangle, order, pair, c):
    """Coordinate c of the vertex of a triangle that is first in the order (n, 3) of its pair; corners (triangles, 3,
    3); both flat."""
    return number(corners, 9 * triangle + 3 * number(order, 3 * pair) + c)


@jitable
def side(s, lane, place, corners, triangle, order, pair):
    """Put both edges of a triangle from the first vertex in the order of its pair into a lane of six vectors from
    s[place] on; corners, order as in `first_corner`."""
    step = lanes(s)
    for n in range(2):
        for c in range(3):
            there = number(corners, 9 * triangle + 3 * number(order, 3 * pair + n + 1) + c)
            edge = there - first_corner(corners, triangle, order, pair, c)
            put(s, place + (3 * n + c) * step + lane, edge)


def moment_scratch(table: RuleTable, kernels: int) -> NDArray[np.floating]:
    """Working memory of one thread of `moment_kernel`, of so many kernels."""
    real = table.points.dtype
    return aligned((PAIR + 2 * kernels * (8 + len(table.products))) * width(real), real)
