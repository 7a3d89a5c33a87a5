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
from calderon.galerkin.forms.form import COMPONENTS
from calderon.greens import Radial, parameter_reader
from calderon.greens.elementary import inverse_square_root
from calderon.pairs.tables import RuleTable


@functools.lru_cache(maxsize=64)
def moment_kernel(radial: Radial, normal: str, oscillates: bool) -> Callable[..., None]:
    """Compiled moments(test, trial, pairs, rules, table, numbers, scratch, out): out[0, 0 or 1, n, A * B] gets the
    real and imaginary parts of int int k phi_a psi_b over the triangles of the n pairs by the rules (n,) of the table;
    test and trial are surfaces (element_tables.py), local functions are numbered in the order of the rule. Pairs of
    one rule should follow each other. normal: the integrand's; "both": those of the trial side in out[0], of the test
    side in out[1]; or one of `forms.form.COMPONENTS`, component by component."""
    radial_phase, shifts, parameters_of = radial.phase, radial.shifts, parameter_reader(radial.parameters)
    kernels, stride = moment_kernels(normal), 2 if oscillates else 1
    put_values = putting_values(radial, normal, oscillates, 8, False)

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
            start, rule = stop, rules[stop]
            stop = end_of_batch(rules, start, min(count, start + step))
            put_pairs(
                s, corners[0], corners[1], normals[0], normals[1], jacobians[0], jacobians[1],
                triangles, orders[0], orders[1], start, stop,
            )  # fmt: skip
            (o0, o1, o2), (e0, e1, e2), (f0, f1, f2) = three(s, 0), three(s, 3), three(s, 6)
            (g0, g1, g2), (h0, h1, h2) = three(s, 9), three(s, 12)
            m, n = three(s, 15), three(s, 18)
            reference = zero(s)
            if shifts:
                reference = distance_of_centroids(s)
            clear(s, sums, kernels * stride * sizes)
            for chunk in range(table.starts[rule], table.starts[rule + 1], 8):
                for q in range(8):
                    here = chunk + q
                    u1, u2 = number(points, here), number(points, all_points + here)
                    t1, t2 = number(points, 2 * all_points + here), number(points, 3 * all_points + here)
                    d0 = o0 + u1 * e0 + u2 * f0 - t1 * g0 - t2 * h0
                    d1 = o1 + u1 * e1 + u2 * f1 - t1 * g1 - t2 * h1
                    d2 = o2 + u1 * e2 + u2 * f2 - t1 * g2 - t2 * h2
                    square = d0 * d0 + 1e-37 + d1 * d1 + d2 * d2
                    put_values(s, values + q * step, d0, d1, d2, square, m, n, parameters, reference)
                for part in range(kernels * stride):
                    here = values + 8 * (part if oscillates else 2 * part) * step
                    add_products(s, sums + part * sizes * step, here, products, chunk, all_points, sizes)
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


def putting_values(
    radial: Radial, normal: str, oscillates: bool, together: int, planes_later: bool
) -> Callable[..., None]:
    """What stores the kernels of an integrand at one of so many points that are summed together: real and imaginary
    part, then those of the next kernel. planes_later: normals of the trial side are applied to the sums."""
    radial_value = radial.value
    of_trial, of_test, gradient, outer = (normal == each for each in ("trial", "test", "gradient", "outer"))
    both, test_traction, trial_traction = (normal == each for each in ("both", "test_traction", "trial_traction"))

    @jitable
    def put_values(s, place, d0, d1, d2, square, m, n, parameters, reference):  # type: ignore[no-untyped-def]
        (m0, m1, m2), (n0, n1, n2), apart = m, n, together * lanes(s)
        g, gi, h, hi = radial_value(square, parameters, reference)
        if (of_trial or both) and planes_later:
            put_value(s, place, apart, h, hi, oscillates)
        elif of_trial or both:
            offset = -(d0 * n0 + d1 * n1 + d2 * n2)
            put_value(s, place, apart, h * offset, hi * offset, oscillates)
        elif not of_test:
            put_value(s, place, apart, g, gi, oscillates)
        if of_test or both:
            offset, here = d0 * m0 + d1 * m1 + d2 * m2, place + (2 * apart if both else 0)
            put_value(s, here, apart, h * offset, hi * offset, oscillates)
        if gradient:
            put_gradient(s, place, apart, h, hi, d0, d1, d2, oscillates)
        if outer:
            put_outer(s, place, apart, h, hi, d0, d1, d2, oscillates)
        if test_traction:
            put_traction(s, place, apart, g, h, d0, d1, d2, d0 * m0 + d1 * m1 + d2 * m2)
        if trial_traction:
            put_traction(s, place, apart, g, h, d0, d1, d2, d0 * n0 + d1 * n1 + d2 * n2)

    return put_values


@jitable
def put_value(s, place, apart, re, im, oscillates):  # type: ignore[no-untyped-def]
    """Store the real part of a kernel and, so much further, its imaginary part."""
    store(s, place, re)
    if oscillates:
        store(s, place + apart, im)


@jitable
def end_of_batch(rules, start, limit):  # type: ignore[no-untyped-def]
    """Where the pairs from `start` on with the same rule end, at most `limit`."""
    stop = start
    while stop < limit and rules[stop] == rules[start]:
        stop += 1
    return stop


@jitable
def clear(s, place, count):  # type: ignore[no-untyped-def]
    """Fill vectors with zeros."""
    for k in range(count):
        store(s, place + k * lanes(s), zero(s))


@jitable
def add_products(s, sums, values, products, first, pitch, sizes):  # type: ignore[no-untyped-def]
    """Add the values at eight points times the products of functions there, in rows so far apart, to their sums."""
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
def put_traction(s, place, apart, g, h, d0, d1, d2, offset):  # type: ignore[no-untyped-def]
    """Store h g^2 offset d d^T, then h d."""
    put_outer(s, place, apart, h * g * g * offset, h, d0, d1, d2, False)
    put_gradient(s, place + 12 * apart, apart, h, h, d0, d1, d2, False)


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
    return COMPONENTS.get(normal, 2 if normal == "both" else 1)
