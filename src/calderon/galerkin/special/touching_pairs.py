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
from calderon.backends.vectors import aligned, complex_product, jitable, lanes, load, number, put, store, width, zero
from calderon.greens import Radial, parameter_reader
from calderon.greens.elementary import inverse_square_root
from calderon.pairs.tables import RuleTable


@functools.lru_cache(maxsize=64)
def moment_kernel(radial: Radial, normal: str, oscillates: bool) -> Callable[..., None]:
    """Compiled moments(test, trial, pairs, rules, table, numbers, scratch, out): out[0, 0 or 1, n, A * B] gets the
    real and imaginary parts of int int k phi_a psi_b over the triangles of the n pairs by the rules (n,) of the table;
    test and trial are surfaces (element_tables.py), local functions are numbered in the order of the rule. Pairs of
    one rule should follow each other. normal: the integrand's; "both": those of the trial side in out[0], of the test
    side in out[1]; or "gradient": (G'/r) (x - y), "outer": (G'/r) (x - y) (x - y)^T, component by component."""
    radial_value, radial_phase, shifts = radial.value, radial.phase, radial.shifts
    parameters_of = parameter_reader(radial.parameters)
    of_trial, of_test, both, gradient = (normal == each for each in ("trial", "test", "both", "gradient"))
    kernels, stride, outer = moment_kernels(normal), 2 if oscillates else 1, normal == "outer"

    @kernel
    def moments(test, trial, pairs, rules, table, numbers, scratch, out):  # type: ignore[no-untyped-def]
        parameters = parameters_of(numbers, 0)
        step, s = lanes(scratch), scratch
        sizes, values, sums = table.products.shape[0], 22 * step, (22 + 16 * kernels) * step
        # references to arrays are counted where these are indexed or taken from a tuple: not within the loops
        points, products, all_points = table.points.reshape(-1), table.products.reshape(-1), table.points.shape[1]
        triangles, corners = pairs.triangles.reshape(-1), (test.corners.reshape(-1), trial.corners.reshape(-1))
        normals, jacobians = (test.normals.reshape(-1), trial.normals.reshape(-1)), (test.jacobian, trial.jacobian)
        orders = pairs.test_order.reshape(-1), pairs.trial_order.reshape(-1)
        results, count = out.reshape(-1), pairs.triangles.shape[0]
        start, stop = 0, 0
        while stop < count:
            start = stop
            rule = rules[start]
            while stop < count and stop < start + step and rules[stop] == rule:
                stop += 1
            put_pairs(
                s, corners[0], corners[1], normals[0], normals[1], jacobians[0], jacobians[1],
                triangles, orders[0], orders[1], start, stop,
            )  # fmt: skip
            (o0, o1, o2), (e0, e1, e2), (f0, f1, f2) = three(s, 0), three(s, 3), three(s, 6)
            (g0, g1, g2), (h0, h1, h2) = three(s, 9), three(s, 12)
            (m0, m1, m2), (n0, n1, n2) = three(s, 15), three(s, 18)
            reference = zero(s)
            if shifts:
                reference = distance_of_centroids(s)
            for m in range(kernels * stride * sizes):
                store(s, sums + m * step, zero(s))
            for chunk in range(table.starts[rule], table.starts[rule + 1], 8):
                for q in range(8):
                    here = chunk + q
                    u1, u2 = number(points, here), number(points, all_points + here)
                    t1, t2 = number(points, 2 * all_points + here), number(points, 3 * all_points + here)
                    d0 = o0 + u1 * e0 + u2 * f0 - t1 * g0 - t2 * h0
                    d1 = o1 + u1 * e1 + u2 * f1 - t1 * g1 - t2 * h1
                    d2 = o2 + u1 * e2 + u2 * f2 - t1 * g2 - t2 * h2
                    square = d0 * d0 + 1e-37 + d1 * d1 + d2 * d2
                    g, gi, h, hi = radial_value(square, parameters, reference)
                    re, im = g, gi
                    if of_test:
                        offset = d0 * m0 + d1 * m1 + d2 * m2
                        re, im = h * offset, hi * offset
                    if of_trial or both:
                        offset = -(d0 * n0 + d1 * n1 + d2 * n2)
                        re, im = h * offset, hi * offset
                    store(s, values + q * step, re)
                    if oscillates:
                        store(s, values + (8 + q) * step, im)
                    if both:
                        offset = d0 * m0 + d1 * m1 + d2 * m2
                        store(s, values + (16 + q) * step, h * offset)
                        if oscillates:
                            store(s, values + (24 + q) * step, hi * offset)
                    if gradient:
                        put_gradient(s, values + q * step, 8 * step, h, hi, d0, d1, d2, oscillates)
                    if outer:
                        put_outer(s, values + q * step, 8 * step, h, hi, d0, d1, d2, oscillates)
                for part in range(kernels * stride):
                    here = values + 8 * (part if oscillates else 2 * part) * step
                    v0, v1, v2, v3 = four(s, here)
                    v4, v5, v6, v7 = four(s, here + 4 * step)
                    for m in range(sizes):
                        place, first = sums + (part * sizes + m) * step, m * all_points + chunk
                        total = load(s, place) + number(products, first) * v0 + number(products, first + 1) * v1
                        total = total + number(products, first + 2) * v2 + number(products, first + 3) * v3
                        total = total + number(products, first + 4) * v4 + number(products, first + 5) * v5
                        total = total + number(products, first + 6) * v6 + number(products, first + 7) * v7
                        store(s, place, total)
            c, d = radial_phase(reference, parameters)
            give_moments(s, sums, values, kernels, oscillates, sizes, c, d, results, count, start, stop)

    return moments


@jitable
def put_pairs(
    s, test, trial, test_normals, trial_normals, test_jacobian, trial_jacobian, triangles, test_order, trial_order,
    start, stop,
):  # type: ignore[no-untyped-def]  # fmt: skip
    """Pairs start to stop into the lanes of the first 22 vectors: first corner of the test less that of the trial
    triangle, both edges of the test and of the trial triangle from there, normals of both, product of the
    Jacobians. Lanes beyond repeat the last pair."""
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
        put(s, 21 * step + lane, number(test_jacobian, i) * number(trial_jacobian, j))


@jitable
def three(s, first):  # type: ignore[no-untyped-def]
    """Three vectors of the working memory."""
    step = lanes(s)
    return load(s, first * step), load(s, (first + 1) * step), load(s, (first + 2) * step)


@jitable
def four(s, place):  # type: ignore[no-untyped-def]
    """Four vectors that follow each other."""
    step = lanes(s)
    return load(s, place), load(s, place + step), load(s, place + 2 * step), load(s, place + 3 * step)


@jitable
def distance_of_centroids(s):  # type: ignore[no-untyped-def]
    """Of pairs in lanes."""
    (o0, o1, o2), (e0, e1, e2), (f0, f1, f2) = three(s, 0), three(s, 3), three(s, 6)
    (g0, g1, g2), (h0, h1, h2) = three(s, 9), three(s, 12)
    d0 = o0 + (e0 + f0 - g0 - h0) * (1.0 / 3.0)
    d1 = o1 + (e1 + f1 - g1 - h1) * (1.0 / 3.0)
    d2 = o2 + (e2 + f2 - g2 - h2) * (1.0 / 3.0)
    square = d0 * d0 + 1e-37 + d1 * d1 + d2 * d2
    return square * inverse_square_root(square)


@jitable
def put_gradient(s, place, apart, h, hi, d0, d1, d2, oscillates):  # type: ignore[no-untyped-def]
    """Store (h + i hi) d: real and imaginary parts of the first component, then of the others, so far apart."""
    store(s, place, h * d0)
    store(s, place + 2 * apart, h * d1)
    store(s, place + 4 * apart, h * d2)
    if oscillates:
        store(s, place + apart, hi * d0)
        store(s, place + 3 * apart, hi * d1)
        store(s, place + 5 * apart, hi * d2)


@jitable
def put_outer(s, place, apart, h, hi, d0, d1, d2, oscillates):  # type: ignore[no-untyped-def]
    """The same of (h + i hi) d d^T: components xx, yy, zz, then yz, zx, xy."""
    for part in range(2 if oscillates else 1):
        k, at = hi if part else h, place + part * apart
        store(s, at, k * d0 * d0)
        store(s, at + 2 * apart, k * d1 * d1)
        store(s, at + 4 * apart, k * d2 * d2)
        store(s, at + 6 * apart, k * d1 * d2)
        store(s, at + 8 * apart, k * d2 * d0)
        store(s, at + 10 * apart, k * d0 * d1)


@jitable
def give_moments(s, sums, values, kernels, oscillates, sizes, c, d, results, count, start, stop):  # type: ignore[no-untyped-def]
    """Turn the sums of pairs start to stop of `count` by the phase c + d i, and write them."""
    step = lanes(s)
    jacobian, stride = load(s, 21 * step), 2 if oscillates else 1
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
def first_corner(corners, triangle, order, pair, c):  # type: ignore[no-untyped-def]
    """A coordinate of the vertex of a triangle that is first in the order of its pair."""
    return number(corners, 9 * triangle + 3 * number(order, 3 * pair) + c)


@jitable
def side(s, lane, place, corners, triangle, order, pair):  # type: ignore[no-untyped-def]
    """Both edges from that vertex into a lane of six vectors."""
    step = lanes(s)
    for n in range(2):
        for c in range(3):
            there = number(corners, 9 * triangle + 3 * number(order, 3 * pair + n + 1) + c)
            edge = there - first_corner(corners, triangle, order, pair, c)
            put(s, place + (3 * n + c) * step + lane, edge)


def moment_scratch(table: RuleTable, kernels: int) -> NDArray[np.floating]:
    """Working memory of one thread of `moment_kernel`, of so many kernels."""
    real = table.points.dtype
    return aligned((22 + 2 * kernels * (8 + len(table.products))) * width(real), real)


def moment_kernels(normal: str) -> int:
    """How many kernels `moment_kernel` integrates at once."""
    return {"both": 2, "gradient": 3, "outer": 6}.get(normal, 1)
