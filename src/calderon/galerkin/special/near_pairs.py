"""Near pairs of triangles that do not touch: every point of a rule on one with every point of a rule on the other.

As in touching_pairs.py the lanes of a vector are pairs. But the points of both triangles are found once,
not for every pair of points, and values are summed by trial functions for each test point, then by test functions:
about half of the work. The first components of the trial normal take their factor, the distance of the test point from
the plane of the trial triangle, after the sum over trial points.
"""

import functools
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from calderon.backends.numba import kernel
from calderon.backends.vectors import aligned, jitable, lanes, load, number, store, width, zero
from calderon.galerkin.forms.component_values import component_values, trial_planes
from calderon.galerkin.special.touching_pairs import (
    PAIR,
    clear,
    distance_of_centroids,
    end_of_batch,
    four,
    give_moments,
    put_pairs,
    three,
)
from calderon.greens import Radial, parameter_reader
from calderon.integrands import Components
from calderon.pairs.tables import ProductTable


@functools.lru_cache(maxsize=64)
def product_kernel(radial: Radial, components: Components, oscillates: bool) -> Callable[..., None]:
    """Compiled moments(test, trial, pairs, rules, table, numbers, scratch, out) by products of two rules; table:
    ProductTable, scratch: `product_scratch`, the rest as in `touching_pairs.moment_kernel`."""
    radial_phase, shifts, parameters_of = radial.phase, radial.shifts, parameter_reader(radial.parameters)
    kernels, stride, later = len(components), 2 if oscillates else 1, trial_planes(components)
    parts, planes = kernels * stride, later * stride
    add_trials = sums_over_trials(component_values(radial, components, oscillates, 4, later), parts, oscillates)

    @kernel
    def moments(test, trial, pairs, rules, table, numbers, scratch, out):
        parameters = parameters_of(numbers, 0)
        step, s = lanes(scratch), scratch
        one, two = table
        height, functions = one.products.shape[0], two.products.shape[0]
        values, inner = PAIR * step, (PAIR + 8 * kernels) * step
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
            # the next pairs that share a rule into the lanes: corner difference o, test edges e, f
            start, rule = stop, rules[stop]
            stop = end_of_batch(rules, start, min(count, start + step))
            put_pairs(
                s, corners[0], corners[1], normals[0], normals[1], jacobians[0], jacobians[1],
                triangles, orders[0], orders[1], start, stop,
            )  # fmt: skip
            (o0, o1, o2), (e0, e1, e2), (f0, f1, f2) = three(s, 0), three(s, 3), three(s, 6)
            m, (n0, n1, n2) = three(s, 15), three(s, 18)
            # the phase is extracted at the distance of the centroids
            reference = zero(s)
            if shifts:
                reference = distance_of_centroids(s)
            # all trial points, then for each test point the sums over these
            first, last = number(trial_starts, rule), number(trial_starts, rule + 1)
            put_places(s, places, trial_points, first, last, all_trial)
            clear(s, sums, parts * height * functions)
            for p in range(number(starts, rule), number(starts, rule + 1)):
                u1, u2 = number(points, p), number(points, all_points + p)
                x0, x1, x2 = u1 * e0 + u2 * f0, u1 * e1 + u2 * f1, u1 * e2 + u2 * f2
                clear(s, inner, parts * functions)
                add_trials(
                    s, inner, values, places, (x0, x1, x2), m, (n0, n1, n2), trial_products, first, last, all_trial,
                    functions, parameters, reference,
                )  # fmt: skip
                # sums with test functions; -(x - y) . n_y is that of x alone
                offset = -((x0 + o0) * n0 + (x1 + o1) * n1 + (x2 + o2) * n2)
                add_to_tests(s, sums, inner, parts, planes, functions, products, p, all_points, height, offset)
            # phase and Jacobians, lane by lane to the results
            c, d = radial_phase(reference, parameters)
            give_moments(s, sums, values, kernels, oscillates, height * functions, c, d, results, count, start, stop)

    return moments


def sums_over_trials(put_values: Callable[..., None], parts: int, oscillates: bool) -> Callable[..., None]:
    """The kernel that adds components at one test point and all trial points, times trial functions, to sums.

    add(s, inner, values, places, x, m, n, products, first, last, pitch, functions, parameters, reference): to sums
    (parts, functions) from s[inner] on, of the trial points first to last, which are at s[places:] (`put_places`); x:
    the test point less the first test corner; m, n: normals, three vectors each; s[values:]: room for the components
    at four points (`component_values`); products: flat rows of trial functions, `pitch` numbers apart; parameters,
    reference: as `Radial` says.
    """

    @jitable
    def add(s, inner, values, places, x, m, n, products, first, last, pitch, functions, parameters, reference):
        """Add the components at all trial points to the sums."""
        step, (x0, x1, x2) = lanes(s), x
        for chunk in range(first, last, 4):
            for q in range(4):
                place = places + 3 * (chunk - first + q) * step
                d0, d1, d2 = x0 - load(s, place), x1 - load(s, place + step), x2 - load(s, place + 2 * step)
                square = d0 * d0 + d1 * d1 + d2 * d2
                put_values(s, values + q * step, d0, d1, d2, square, m, n, parameters, reference)
            add_products_of_four(s, inner, values, parts, oscillates, products, chunk, pitch, functions)

    return add


@jitable
def put_places(s, places, points, first, last, pitch):
    """Store the trial points first to last, less the first corner of the test triangle, at s[places:], three vectors
    each; points: flat rows of both reference coordinates, `pitch` numbers apart; s: pairs in lanes (`put_pairs`)."""
    step = lanes(s)
    (o0, o1, o2), (g0, g1, g2), (h0, h1, h2) = three(s, 0), three(s, 9), three(s, 12)
    for q in range(first, last):
        t1, t2 = number(points, q), number(points, pitch + q)
        place = places + 3 * (q - first) * step
        store(s, place, t1 * g0 + t2 * h0 - o0)
        store(s, place + step, t1 * g1 + t2 * h1 - o1)
        store(s, place + 2 * step, t1 * g2 + t2 * h2 - o2)


@jitable
def add_products_of_four(s, sums, values, parts, oscillates, products, first, pitch, functions):
    """Add the values of all parts at four points, from s[values] on, times the functions there to the sums (parts,
    functions) from s[sums] on; products: flat rows, `pitch` numbers apart, in which the points are those from `first`
    on. oscillates: whether every second part is imaginary; else values have room for these."""
    step = lanes(s)
    for part in range(parts):
        v0, v1, v2, v3 = four(s, values + 4 * (part if oscillates else 2 * part) * step)
        for n in range(functions):
            place, here = sums + (part * functions + n) * step, n * pitch + first
            total = load(s, place) + number(products, here) * v0
            total = total + number(products, here + 1) * v1
            total = total + number(products, here + 2) * v2
            store(s, place, total + number(products, here + 3) * v3)


@jitable
def add_to_tests(s, sums, inner, parts, planes, functions, products, p, pitch, height, offset):
    """Add the sums over trial points (parts, functions) from s[inner] on, those of the first `planes` parts times
    `offset`, times the `height` test functions at point p to the sums (parts, height, functions) from s[sums] on;
    products: flat rows of test functions, `pitch` numbers apart."""
    step = lanes(s)
    for part in range(parts):
        for n in range(functions):
            value = load(s, inner + (part * functions + n) * step)
            if part < planes:
                value = value * offset
            for m in range(height):
                place = sums + ((part * height + m) * functions + n) * step
                store(s, place, load(s, place) + number(products, m * pitch + p) * value)


def product_scratch(table: ProductTable, parts: int) -> NDArray[np.floating]:
    """Working memory of one thread of `product_kernel`, for so many parts: kernels, twice those of complex ones."""
    (height, functions), real = table.sizes, table.test.points.dtype
    return aligned((PAIR + 4 * parts + parts * functions * (1 + height) + 3 * table.most) * width(real), real)
