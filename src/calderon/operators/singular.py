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
from calderon.backends.vectors import BYTES, aligned, lanes, load, store, zero
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
    radial_value, radial_phase, shifts = radial
    of_trial, of_test, both = normal == "trial", normal == "test", normal == "both"
    kernels, stride = moment_kernels(normal), 2 if oscillates else 1

    @kernel
    def moments(test, trial, pairs, rules, table, parameters, scratch, out):  # type: ignore[no-untyped-def]
        _ = stamp
        p0, p1 = parameters[0], parameters[1]
        step, s = lanes(scratch), scratch
        number = table.products.shape[0]
        values, sums = 22 * step, 54 * step
        count = pairs.triangles.shape[0]
        start, stop = 0, 0
        while stop < count:
            start = stop
            rule = rules[start]
            while stop < count and stop < start + step and rules[stop] == rule:
                stop += 1
            for lane in range(step):
                pair = min(start + lane, stop - 1)
                i, j = pairs.triangles[pair, 0], pairs.triangles[pair, 1]
                a, b = pairs.test_order[pair], pairs.trial_order[pair]
                x, y = test.corners[i], trial.corners[j]
                for c in range(3):
                    s[c * step + lane] = x[a[0], c] - y[b[0], c]
                    s[(3 + c) * step + lane] = x[a[1], c] - x[a[0], c]
                    s[(6 + c) * step + lane] = x[a[2], c] - x[a[0], c]
                    s[(9 + c) * step + lane] = y[b[1], c] - y[b[0], c]
                    s[(12 + c) * step + lane] = y[b[2], c] - y[b[0], c]
                    s[(15 + c) * step + lane] = test.normals[i, c]
                    s[(18 + c) * step + lane] = trial.normals[j, c]
                s[21 * step + lane] = test.jacobian[i] * trial.jacobian[j]
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
            for m in range(kernels * stride * number):
                store(s, sums + m * step, zero(s))
            for chunk in range(table.starts[rule], table.starts[rule + 1], 8):
                for q in range(8):
                    u1, u2 = table.points[0, chunk + q], table.points[1, chunk + q]
                    v1, v2 = table.points[2, chunk + q], table.points[3, chunk + q]
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
                for m in range(number):
                    w = table.products[m]
                    for kind in range(kernels):
                        place, here = sums + (kind * stride * number + m) * step, values + 16 * kind * step
                        total, total_i = load(s, place), zero(s)
                        if oscillates:
                            total_i = load(s, place + number * step)
                        for q in range(8):
                            total = total + w[chunk + q] * load(s, here + q * step)
                            if oscillates:
                                total_i = total_i + w[chunk + q] * load(s, here + (8 + q) * step)
                        store(s, place, total)
                        if oscillates:
                            store(s, place + number * step, total_i)
            c, d = radial_phase(reference, p0, p1)
            jacobian = load(s, 21 * step)
            for kind in range(kernels):
                for m in range(number):
                    place = sums + (kind * stride * number + m) * step
                    re, im = load(s, place), zero(s)
                    if oscillates:
                        im = load(s, place + number * step)
                    re, im = turned(re, im, jacobian * c, jacobian * d)
                    store(s, values, re)
                    store(s, values + step, im)
                    for lane in range(stop - start):
                        out[kind, 0, start + lane, m] = s[values + lane]
                        if oscillates:
                            out[kind, 1, start + lane, m] = s[values + step + lane]

    return moments


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
        size, width = rows.shape[1], columns.shape[1]
        for pair in range(pairs.triangles.shape[0]):
            i, j = pairs.triangles[pair, 0], pairs.triangles[pair, 1]
            part = 0.5 if half and i == j else 1.0
            total, total_i, cosine = 0.0, 0.0, 1.0
            if curls:
                for a in range(size):
                    for b in range(width):
                        total += moments[0, pair, a, b]
                        total_i += moments[1, pair, a, b]
                cosine = 0.0
                for c in range(3):
                    cosine += test.normals[i, c] * trial.normals[j, c]
            for a in range(size):
                local_a = a if size == 1 else pairs.test_order[pair, a % 3] + a - a % 3
                row = rows[i, local_a]
                if row < 0:
                    continue
                for b in range(width):
                    local_b = b if width == 1 else pairs.trial_order[pair, b % 3] + b - b % 3
                    column = columns[j, local_b]
                    if column < 0:
                        continue
                    mass = part * cosine
                    x, y = mass * moments[0, pair, a, b], mass * moments[1, pair, a, b]
                    re = coefficients[2] * x - coefficients[3] * y
                    im = coefficients[2] * y + coefficients[3] * x
                    if curls:
                        product = 0.0
                        for c in range(3):
                            product += test.curls[i, local_a, c] * trial.curls[j, local_b, c]
                        x, y = part * product * total, part * product * total_i
                        re += coefficients[0] * x - coefficients[1] * y
                        im += coefficients[0] * y + coefficients[1] * x
                    if complex_out:
                        out[row, column] += complex(re, im)
                    else:
                        out[row, column] += re

    return scatter
