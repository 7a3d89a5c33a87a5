"""Touching and near pairs of triangles, integrated with rules over the pair of reference triangles.

A batch is a set of pairs that share one rule. The lanes of a vector are pairs: at every point of the rule the integrand
is evaluated in all lanes, and the moments with products of test and trial functions are summed eight points at a time.
Always in double precision, whatever the precision of the regular part.
"""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.backends.numba import STAMP, kernel
from calderon.backends.vectors import BYTES, aligned, jitable, lanes, load, number, put, store, zero
from calderon.greens import Radial
from calderon.greens.elementary import inverse_square_root
from calderon.operators.regular import turned
from calderon.quadrature.singular import CondensedRule, PairRule
from calderon.spaces.element import Element

CHUNK = 8
"""Rule points whose values are kept while the moments are summed."""
WIDTH = BYTES // 8


class Pairs(NamedTuple):
    """Pairs (n, 2) of triangles that share a rule, and the vertices (n, 3) of each in the order of the rule."""

    triangles: NDArray[np.int32]
    test_order: NDArray[np.int8]
    trial_order: NDArray[np.int8]

    def part(self, which: Any) -> "Pairs":
        """Some of the pairs."""
        return Pairs(*(each[which] for each in self))

    def exchanged(self) -> "Pairs":
        """Test and trial triangles exchanged."""
        return Pairs(np.ascontiguousarray(self.triangles[:, ::-1]), self.trial_order, self.test_order)


class RuleTable(NamedTuple):
    """Points (4, Q) of several rules as u1, u2, v1, v2 and products of local functions (A * B, Q), weights included;
    rule r has the points starts[r] to starts[r + 1], all multiples of 8."""

    points: NDArray[np.float64]
    products: NDArray[np.float64]
    starts: NDArray[np.int64]


def rule_table(rule: PairRule | CondensedRule, test: Element, trial: Element) -> RuleTable:
    """Tabulate a rule for two elements; padded with points of no weight."""
    count = len(rule.weights)
    padding = -count % CHUNK
    points = np.concatenate([rule.test_points, rule.trial_points], axis=1).T
    points = np.pad(points, [(0, 0), (0, padding)], mode="edge")
    if isinstance(rule, CondensedRule):
        left = test.values(rule.test_fibres.reshape(-1, 2)).reshape(-1, *rule.weights.shape) * rule.weights
        right = trial.values(rule.trial_fibres.reshape(-1, 2)).reshape(-1, *rule.weights.shape)
        products = np.einsum("anr,bnr->abn", left, right)
    else:
        left, right = test.values(rule.test_points) * rule.weights, trial.values(rule.trial_points)
        products = left[:, None] * right[None]
    products = np.pad(products.reshape(-1, count), [(0, 0), (0, padding)])
    return RuleTable(np.ascontiguousarray(points), products, np.array([0, count + padding]))


@functools.lru_cache(maxsize=64)
def moment_kernel(radial: Radial, normal: str, oscillates: bool) -> Callable[..., None]:
    """Compiled moments(test, trial, pairs, rules, table, parameters, scratch, out): out[0, 0 or 1, n, A * B] gets the
    real and imaginary parts of int int k phi_a psi_b over the triangles of the n pairs by the rules (n,) of the table;
    test and trial are surfaces (sides.py), local functions are numbered in the order of the rule. Pairs of one rule
    should follow each other. normal: the integrand's, or "both": those of the trial side in out[0], of the test side in
    out[1]."""
    stamp = STAMP
    radial_value, radial_phase, shifts = radial.value, radial.phase, radial.shifts
    of_trial, of_test, both = normal == "trial", normal == "test", normal == "both"
    kernels, stride = moment_kernels(normal), 2 if oscillates else 1

    @kernel
    def moments(test, trial, pairs, rules, table, parameters, scratch, out):  # type: ignore[no-untyped-def]
        _ = stamp
        p0, p1 = parameters[0], parameters[1]
        step, s = lanes(scratch), scratch
        sizes, values, sums = table.products.shape[0], 22 * step, 54 * step
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
            for lane in range(step):
                pair = min(start + lane, stop - 1)
                i, j = number(triangles, 2 * pair), number(triangles, 2 * pair + 1)
                side(s, lane, 3 * step, corners[0], i, orders[0], pair)
                side(s, lane, 9 * step, corners[1], j, orders[1], pair)
                for c in range(3):
                    x, y = (
                        first_corner(corners[0], i, orders[0], pair, c),
                        first_corner(corners[1], j, orders[1], pair, c),
                    )
                    put(s, c * step + lane, x - y)
                    put(s, (15 + c) * step + lane, number(normals[0], 3 * i + c))
                    put(s, (18 + c) * step + lane, number(normals[1], 3 * j + c))
                put(s, 21 * step + lane, number(jacobians[0], i) * number(jacobians[1], j))
            o0, o1, o2 = load(s, 0), load(s, step), load(s, 2 * step)
            e0, e1, e2 = load(s, 3 * step), load(s, 4 * step), load(s, 5 * step)
            f0, f1, f2 = load(s, 6 * step), load(s, 7 * step), load(s, 8 * step)
            g0, g1, g2 = load(s, 9 * step), load(s, 10 * step), load(s, 11 * step)
            h0, h1, h2 = load(s, 12 * step), load(s, 13 * step), load(s, 14 * step)
            m0, m1, m2 = load(s, 15 * step), load(s, 16 * step), load(s, 17 * step)
            n0, n1, n2 = load(s, 18 * step), load(s, 19 * step), load(s, 20 * step)
            reference = zero(s)
            if shifts:  # distance of the centroids
                d0 = o0 + (e0 + f0 - g0 - h0) * (1.0 / 3.0)
                d1 = o1 + (e1 + f1 - g1 - h1) * (1.0 / 3.0)
                d2 = o2 + (e2 + f2 - g2 - h2) * (1.0 / 3.0)
                square = d0 * d0 + 1e-37 + d1 * d1 + d2 * d2
                reference = square * inverse_square_root(square)
            for m in range(kernels * stride * sizes):
                store(s, sums + m * step, zero(s))
            for chunk in range(table.starts[rule], table.starts[rule + 1], 8):
                for q in range(8):
                    here = chunk + q
                    u1, u2 = number(points, here), number(points, all_points + here)
                    v1, v2 = number(points, 2 * all_points + here), number(points, 3 * all_points + here)
                    d0 = o0 + u1 * e0 + u2 * f0 - v1 * g0 - v2 * h0
                    d1 = o1 + u1 * e1 + u2 * f1 - v1 * g1 - v2 * h1
                    d2 = o2 + u1 * e2 + u2 * f2 - v1 * g2 - v2 * h2
                    square = d0 * d0 + 1e-37 + d1 * d1 + d2 * d2
                    g, gi, h, hi = radial_value(square, p0, p1, reference)
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
                for m in range(sizes):
                    first = m * all_points + chunk
                    for kind in range(kernels):
                        place, here = sums + (kind * stride * sizes + m) * step, values + 16 * kind * step
                        total, total_i = load(s, place), zero(s)
                        if oscillates:
                            total_i = load(s, place + sizes * step)
                        for q in range(8):
                            weight = number(products, first + q)
                            total = total + weight * load(s, here + q * step)
                            if oscillates:
                                total_i = total_i + weight * load(s, here + (8 + q) * step)
                        store(s, place, total)
                        if oscillates:
                            store(s, place + sizes * step, total_i)
            c, d = radial_phase(reference, p0, p1)
            jacobian = load(s, 21 * step)
            for kind in range(kernels):
                for m in range(sizes):
                    place = sums + (kind * stride * sizes + m) * step
                    re, im = load(s, place), zero(s)
                    if oscillates:
                        im = load(s, place + sizes * step)
                    re, im = turned(re, im, jacobian * c, jacobian * d)
                    store(s, values, re)
                    store(s, values + step, im)
                    place = (2 * kind * count + start) * sizes + m
                    for lane in range(stop - start):
                        put(results, place + lane * sizes, number(s, values + lane))
                        if oscillates:
                            put(results, place + (count + lane) * sizes, number(s, values + step + lane))

    return moments


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


def moment_scratch(moments: int) -> NDArray[np.float64]:
    """Working memory of one thread of `moment_kernel`."""
    return aligned((54 + 4 * moments) * WIDTH, np.float64)


def moment_kernels(normal: str) -> int:
    """How many kernels `moment_kernel` integrates at once."""
    return 2 if normal == "both" else 1


@functools.lru_cache(maxsize=2)
def scatter_kernel(complex_out: bool) -> Callable[..., None]:
    """Compiled scatter(moments, pairs, test, trial, rows, columns, coefficients, curls, half, out): adds the local
    matrices of the pairs.

    moments (2, n, A, B) real and imaginary; rows (triangles, A), columns (triangles, B) places in out or -1;
    coefficients Re and Im of alpha, Re and Im of the mass coefficient: the local matrix is alpha times the moments or,
    with `curls`, alpha * curl_a . curl_b * (sum of moments) + mass * n_x . n_y * moments. half: pairs of a triangle
    with itself count half (see `symmetrise`).
    """
    stamp = STAMP

    @kernel
    def scatter(moments, pairs, test, trial, rows, columns, coefficients, curls, half, out):  # type: ignore[no-untyped-def]
        _ = stamp
        size, width, pitch = rows.shape[1], columns.shape[1], out.shape[1]
        triangles, count = pairs.triangles.reshape(-1), pairs.triangles.shape[0]
        orders = pairs.test_order.reshape(-1), pairs.trial_order.reshape(-1)
        places, flat = (rows.reshape(-1), columns.reshape(-1)), out.reshape(-1)
        normals, edges = (
            (test.normals.reshape(-1), trial.normals.reshape(-1)),
            (test.curls.reshape(-1), trial.curls.reshape(-1)),
        )
        numbers, imaginary = moments.reshape(-1), count * size * width
        for pair in range(count):
            i, j = number(triangles, 2 * pair), number(triangles, 2 * pair + 1)
            part = 0.5 if half and i == j else 1.0
            total, total_i, cosine, first = 0.0, 0.0, 1.0, pair * size * width
            if curls:
                for m in range(first, first + size * width):
                    total += number(numbers, m)
                    total_i += number(numbers, imaginary + m)
                cosine = 0.0
                for c in range(3):
                    cosine += number(normals[0], 3 * i + c) * number(normals[1], 3 * j + c)
            for a in range(size):
                local_a = a if size == 1 else number(orders[0], 3 * pair + a % 3) + a - a % 3
                row = number(places[0], i * size + local_a)
                if row < 0:
                    continue
                for b in range(width):
                    local_b = b if width == 1 else number(orders[1], 3 * pair + b % 3) + b - b % 3
                    column = number(places[1], j * width + local_b)
                    if column < 0:
                        continue
                    mass, m = part * cosine, first + a * width + b
                    x, y = mass * number(numbers, m), mass * number(numbers, imaginary + m)
                    re = coefficients[2] * x - coefficients[3] * y
                    im = coefficients[2] * y + coefficients[3] * x
                    if curls:
                        product = 0.0
                        for c in range(3):
                            one, two = 9 * i + 3 * local_a + c, 9 * j + 3 * local_b + c
                            product += number(edges[0], one) * number(edges[1], two)
                        x, y = part * product * total, part * product * total_i
                        re += coefficients[0] * x - coefficients[1] * y
                        im += coefficients[0] * y + coefficients[1] * x
                    target = row * pitch + column
                    if complex_out:
                        put(flat, target, number(flat, target) + complex(re, im))
                    else:
                        put(flat, target, number(flat, target) + re)

    return scatter
