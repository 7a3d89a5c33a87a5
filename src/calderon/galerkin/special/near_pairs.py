"""Near pairs of triangles that do not touch: every point of a rule on one with every point of a rule on the other.

As in touching_pairs.py the lanes of a vector are pairs. But the points of both triangles are found once,
not for every pair of points, and values are summed by trial functions for each test point, then by test functions:
about half of the work.
"""

import functools
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from calderon.backends.numba import kernel
from calderon.backends.vectors import aligned, lanes, load, number, store, width, zero
from calderon.galerkin.special.touching_pairs import (
    distance_of_centroids,
    four,
    give_moments,
    moment_kernels,
    put_gradient,
    put_outer,
    put_pairs,
    three,
)
from calderon.greens import Radial, parameter_reader
from calderon.pairs.tables import ProductTable


@functools.lru_cache(maxsize=64)
def product_kernel(radial: Radial, normal: str, oscillates: bool) -> Callable[..., None]:
    """Compiled moments(test, trial, pairs, rules, table, numbers, scratch, out): as `singular.moment_kernel` for a
    ProductTable."""
    radial_value, radial_phase, shifts = radial.value, radial.phase, radial.shifts
    parameters_of = parameter_reader(radial.parameters)
    of_trial, of_test, both, gradient = (normal == each for each in ("trial", "test", "both", "gradient"))
    kernels, parts, outer = moment_kernels(normal), moment_kernels(normal) * (2 if oscillates else 1), normal == "outer"

    @kernel
    def moments(test, trial, pairs, rules, table, numbers, scratch, out):  # type: ignore[no-untyped-def]
        parameters = parameters_of(numbers, 0)
        step, s = lanes(scratch), scratch
        one, two = table
        height, functions = one.products.shape[0], two.products.shape[0]
        values, inner = 22 * step, (22 + 8 * kernels) * step
        sums = inner + parts * functions * step
        places = sums + parts * height * functions * step
        # references to arrays are counted where these are indexed or taken from a tuple: not within the loops
        points, products, all_points = one.points.reshape(-1), one.products.reshape(-1), one.points.shape[1]
        trial_points, trial_products = two.points.reshape(-1), two.products.reshape(-1)
        all_trial, starts, trial_starts = two.points.shape[1], one.starts, two.starts
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
            first, last = number(trial_starts, rule), number(trial_starts, rule + 1)
            for q in range(first, last):  # from the first corner of the test triangle
                t1, t2 = number(trial_points, q), number(trial_points, all_trial + q)
                place = places + 3 * (q - first) * step
                store(s, place, t1 * g0 + t2 * h0 - o0)
                store(s, place + step, t1 * g1 + t2 * h1 - o1)
                store(s, place + 2 * step, t1 * g2 + t2 * h2 - o2)
            for m in range(parts * height * functions):
                store(s, sums + m * step, zero(s))
            for p in range(number(starts, rule), number(starts, rule + 1)):
                u1, u2 = number(points, p), number(points, all_points + p)
                x0, x1, x2 = u1 * e0 + u2 * f0, u1 * e1 + u2 * f1, u1 * e2 + u2 * f2
                for m in range(parts * functions):
                    store(s, inner + m * step, zero(s))
                for chunk in range(first, last, 4):
                    for q in range(4):
                        place = places + 3 * (chunk - first + q) * step
                        d0, d1, d2 = x0 - load(s, place), x1 - load(s, place + step), x2 - load(s, place + 2 * step)
                        square = d0 * d0 + d1 * d1 + d2 * d2
                        g, gi, h, hi = radial_value(square, parameters, reference)
                        re, im, by_test, by_test_i = g, gi, h, hi
                        if of_trial or both:  # times what does not depend on the trial point, below
                            re, im = h, hi
                        if of_test or both:
                            offset = d0 * m0 + d1 * m1 + d2 * m2
                            by_test, by_test_i = h * offset, hi * offset
                        if of_test:
                            re, im = by_test, by_test_i
                        store(s, values + q * step, re)
                        if oscillates:
                            store(s, values + (4 + q) * step, im)
                        if both:
                            store(s, values + (8 + q) * step, by_test)
                            if oscillates:
                                store(s, values + (12 + q) * step, by_test_i)
                        if gradient:
                            put_gradient(s, values + q * step, 4 * step, h, hi, d0, d1, d2, oscillates)
                        if outer:
                            put_outer(s, values + q * step, 4 * step, h, hi, d0, d1, d2, oscillates)
                    for part in range(parts):
                        v0, v1, v2, v3 = four(s, values + 4 * (part if oscillates else 2 * part) * step)
                        for n in range(functions):
                            place, weight = inner + (part * functions + n) * step, n * all_trial + chunk
                            total = load(s, place) + number(trial_products, weight) * v0
                            total = total + number(trial_products, weight + 1) * v1
                            total = total + number(trial_products, weight + 2) * v2
                            store(s, place, total + number(trial_products, weight + 3) * v3)
                offset = -((x0 + o0) * n0 + (x1 + o1) * n1 + (x2 + o2) * n2)  # from the plane of the trial triangle
                for part in range(parts):
                    for n in range(functions):
                        value = load(s, inner + (part * functions + n) * step)
                        if of_trial or (both and part < parts // 2):
                            value = value * offset
                        for m in range(height):
                            place = sums + ((part * height + m) * functions + n) * step
                            store(s, place, load(s, place) + number(products, m * all_points + p) * value)
            c, d = radial_phase(reference, parameters)
            give_moments(s, sums, values, kernels, oscillates, height * functions, c, d, results, count, start, stop)

    return moments


def product_scratch(table: ProductTable, parts: int) -> NDArray[np.floating]:
    """Working memory of one thread of `product_kernel`, for so many parts: kernels, twice those of complex ones."""
    (height, functions), real = table.sizes, table.test.points.dtype
    return aligned((22 + 4 * parts + parts * functions * (1 + height) + 3 * table.most) * width(real), real)
