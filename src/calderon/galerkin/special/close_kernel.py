"""The compiled integral over pairs of triangles that are much closer to each other than their size.

Over the inner triangle it is computed for each point x of the outer triangle by itself: with a the point of the inner
triangle next to x, the triangle is the union of those of a and its edges, and these are halved at q, the point of the
edge next to x. On each of the six, y = a + t (q - a + s (end - q)), s and t in [0, 1], the kernel is nearly singular
at t = 0, on the scale |x - a|, and at s = 0, on the scale |x - q|, and nowhere else: rules that are graded toward 0
(quadrature/graded.py) need about as many points for every distance. The lanes of a vector are points x.

The kernels are components (integrands/component.py) of which the outer triangle is the test and the inner one the trial
triangle; along lines of constant s they are integrated in close_lines.py.
"""

import functools
import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.backends.numba import jitable_part, kernel
from calderon.backends.vectors import aligned, complex_product, jitable, lanes, load, store, width, zero
from calderon.galerkin.special.close_lines import line_room, putting_components, sums_along_a_line
from calderon.greens import Radial, parameter_reader
from calderon.integrands import Components
from calderon.integrands.component import functions_read
from calderon.quadrature.graded import graded
from calderon.spaces.element import Element

LEVELS = 41
"""Scales 1, 1/2, ... of graded rules: the finest is 1e-12 of the size."""
CONE = 11
"""Vectors of one of the six triangles (a, q, end): q - a (3), end - q (3), both in reference coordinates (2 + 2), and
twice the area."""
HEAD = 5
"""Vectors of a point x: x - a (3) and the reference coordinates of a (2)."""
ROOM = HEAD + 6 * CONE
"""Vectors of a point and its six triangles."""
SIDES = 9
"""Vectors after these, of the points q on the three sides: u, then v, then |x - q|^2."""


class Lines(NamedTuple):
    """Graded rules one after the other: that of a level has the points starts[level] to starts[level + 1]."""

    points: NDArray[np.float64]
    weights: NDArray[np.float64]
    starts: NDArray[np.int64]


@functools.lru_cache(maxsize=32)
def graded_lines(first: int, slope: float) -> Lines:
    """Rules of all levels with first + slope * level points."""
    rules = [graded(int(first + slope * level), level) for level in range(LEVELS)]
    starts = np.cumsum([0, *(len(rule.points) for rule in rules)])
    return Lines(
        np.concatenate([rule.points for rule in rules]), np.concatenate([rule.weights for rule in rules]), starts
    )


@jitable_part
def _level(square):
    """The level of the rule on a line; square: (its length over the scale of the singularity next to it)^2."""
    if square <= 1.0:
        return 0
    return min(LEVELS - 1, int(math.ceil(0.5 * math.log2(square))))


@jitable_part
def _dot(a, b):
    """a . b of three numbers each."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@jitable_part
def _less(a, b):
    """a - b of three numbers each."""
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@jitable_part
def _corners(x):
    """The corners x (3, 3) of a triangle as tuples."""
    return (x[0, 0], x[0, 1], x[0, 2]), (x[1, 0], x[1, 1], x[1, 2]), (x[2, 0], x[2, 1], x[2, 2])


@jitable_part
def _distance_of_centroids(x, y):
    """The distance of the centroids of two triangles by their corners x, y (3, 3)."""
    square = 0.0
    for c in range(3):
        square += ((x[0][c] + x[1][c] + x[2][c] - y[0][c] - y[1][c] - y[2][c]) / 3.0) ** 2
    return math.sqrt(square)


@jitable_part
def _next_on_edge(x, start, along):
    """k of the point start + k * along, 0 <= k <= 1, of an edge that is next to x; three numbers each."""
    return min(1.0, max(0.0, _dot(_less(x, start), along) / _dot(along, along)))


@jitable_part
def _place(corners, u, v):
    """The point with the reference coordinates (u, v) in the triangle with corners (3, 3)."""
    w = 1.0 - u - v
    return (
        w * corners[0][0] + u * corners[1][0] + v * corners[2][0],
        w * corners[0][1] + u * corners[1][1] + v * corners[2][1],
        w * corners[0][2] + u * corners[1][2] + v * corners[2][2],
    )


@jitable_part
def _prepare(x, corners, lane, step, s, ratios):
    """Fill one lane of `s`, vectors of `step` numbers, with the six parts (a, q, end) of the inner triangle with these
    corners (3, 3) for the point x (3,): HEAD vectors of x, CONE of each part, SIDES of the points q.

    A point of a triangle is y = a + t (q - a + sigma (end - q)), sigma the s of the head of this file. ratios (6, 2),
    updated to the largest of all lanes: squared length of a line over squared scale of the kernel there, |end - q|^2 /
    |x - q|^2 along sigma and max(|q - a|, |end - a|)^2 / |x - a|^2 along t; they remain -1 where a triangle has no
    area.
    """
    # reference coordinates au, av of the foot of x in the plane of the triangle
    e, f, w = _less(corners[1], corners[0]), _less(corners[2], corners[0]), _less(x, corners[0])
    ee, ff, ef, we, wf = _dot(e, e), _dot(f, f), _dot(e, f), _dot(w, e), _dot(w, f)
    determinant = ee * ff - ef * ef  # of the order of the fourth power of the size
    au, av = (ff * we - ef * wf) / determinant, (ee * wf - ef * we) / determinant
    inside = au >= 0.0 and av >= 0.0 and au + av <= 1.0
    # the points q next to x on the three sides; a is the nearest of them unless the foot is inside
    nearest = 1e300
    for side in range(3):  # reference coordinates of the corners: (0, 0), (1, 0), (0, 1)
        start, end = corners[side], corners[(side + 1) % 3]
        k = _next_on_edge(x, start, _less(end, start))
        u = 1.0 - k if side == 1 else (k if side == 0 else 0.0)
        v = k if side == 1 else (1.0 - k if side == 2 else 0.0)
        q = _place(corners, u, v)
        gap = _less(x, q)
        away = _dot(gap, gap)
        s[(ROOM + side) * step + lane], s[(ROOM + 3 + side) * step + lane] = u, v
        s[(ROOM + 6 + side) * step + lane] = away
        if not inside and away < nearest:
            nearest, au, av = away, u, v
    a = _place(corners, au, av)
    offset = _less(x, a)
    distance = _dot(offset, offset)
    if distance < 1e-26 * ee:  # x = a: the kernel times the Jacobian t is smooth along t, which needs no graded rule
        distance = 1e300
    s[lane], s[step + lane], s[2 * step + lane] = offset
    s[3 * step + lane], s[4 * step + lane] = au, av
    # two triangles (a, q, end) for each side
    for side in range(3):
        u, v = s[(ROOM + side) * step + lane], s[(ROOM + 3 + side) * step + lane]
        away = s[(ROOM + 6 + side) * step + lane]
        q = _place(corners, u, v)
        g = _less(q, a)
        gg = _dot(g, g)
        for half in range(2):
            number = (side + half) % 3
            end = corners[number]
            h = _less(end, q)
            c0, c1, c2 = g[1] * h[2] - g[2] * h[1], g[2] * h[0] - g[0] * h[2], g[0] * h[1] - g[1] * h[0]
            normal2 = c0 * c0 + c1 * c1 + c2 * c2  # (twice the area)^2
            at = (HEAD + CONE * (2 * side + half)) * step + lane
            s[at], s[at + step], s[at + 2 * step] = g
            s[at + 3 * step], s[at + 4 * step], s[at + 5 * step] = h
            s[at + 6 * step], s[at + 7 * step] = u - au, v - av
            s[at + 8 * step] = (1.0 if number == 1 else 0.0) - u
            s[at + 9 * step] = (1.0 if number == 2 else 0.0) - v
            s[at + 10 * step] = math.sqrt(normal2)
            if normal2 > 1e-26 * determinant:
                r, k = _less(end, a), 2 * side + half
                ratios[k, 0] = max(ratios[k, 0], _dot(h, h) / max(away, 1e-300))
                ratios[k, 1] = max(ratios[k, 1], max(gg, _dot(r, r)) / distance)


@jitable
def add_to_functions(s, sums, values, products, chunk, parts, count):
    """Add integrals over the inner triangle at eight points, times each outer function there, to the sums over them.

    s[values:]: `count` integrals of each of the parts; s[sums:]: sums (parts, A, count); products (A, Q) of functions
    and weights, of which those at the points chunk to chunk + 8 are taken.
    """
    step, place = lanes(s), sums
    for part in range(parts):
        for a in range(products.shape[0]):
            weights = load(products[a], chunk)
            for m in range(count):
                value = load(s, values + (part * count + m) * step)
                store(s, place, load(s, place) + weights * value)
                place += step


@jitable
def give_sums(s, sums, work, kernels, oscillates, count, c, d, jacobian, n, out):
    """Multiply the sums of pair n over all points by the phase c + d i and the `jacobian` and write them to
    out[:, :, n] (kernels, 2, A, count).

    s[sums:]: sums (kernels, parts, A, count) of eight points each, where parts are real and, if `oscillates`,
    imaginary; s[work:]: room for two vectors.
    """
    step, functions, stride = lanes(s), out.shape[3], 2 if oscillates else 1
    for kind in range(kernels):
        for a in range(functions):
            for m in range(count):
                place = sums + ((kind * stride * functions + a) * count + m) * step
                re, im = load(s, place), zero(s)
                if oscillates:
                    im = load(s, place + functions * count * step)
                re, im = complex_product(re, im, c, d)
                store(s, work, re)
                store(s, work + step, im)
                total, total_i = 0.0, 0.0
                for lane in range(8):
                    total += s[work + lane]
                    total_i += s[work + step + lane]
                out[kind, 0, n, a, m] = jacobian * total
                if oscillates:
                    out[kind, 1, n, a, m] = jacobian * total_i


@functools.lru_cache(maxsize=64)
def close_kernel(radial: Radial, components: Components, oscillates: bool, degree: int) -> Callable[..., None]:
    """Compiled close(corners, normals, jacobian, inner, inner_normals, parent, rules, points, products, starts,
    line_points, line_weights, line_starts, numbers, scratch, ratios, out): out[k, 0 or 1, n, a, m] gets the real and
    imaginary parts of int int c_k phi_a q_m over the n-th outer triangle and its inner one, with the k-th component and
    the monomials q_m = 1, u, v, u^2, u v, v^2, ... (up to `degree`) of the reference coordinates of the inner one.

    Outer triangles by corners (n, 3, 3), normals (n, 3), jacobian (n,); the inner one is triangle `parent` (n,) of
    inner (m, 3, 3), inner_normals (m, 3). points (2, Q), products (A, Q) of functions and weights: rules on outer
    triangles, rule r from starts[r] to starts[r + 1]; rules (n,) which one each takes. line_*: Lines. numbers:
    parameters of the Green's function. scratch, ratios: `close_scratch`. x is in the outer triangle, the test triangle
    of components.
    """
    radial_phase, shifts, parameters_of = radial.phase, radial.shifts, parameter_reader(radial.parameters)
    kernels, stride = len(components), 2 if oscillates else 1
    room, count_of = line_room(degree, kernels), Element(degree).size
    inner_sums = sums_over_the_inner_triangle(radial, components, oscillates, degree)

    @kernel
    def close(
        corners, normals, jacobian, inner, inner_normals, parent, rules, points, products, starts, line_points,
        line_weights, line_starts, numbers, scratch, ratios, out,
    ):  # fmt: skip
        """Integrate all pairs of outer and inner triangles."""
        parameters = parameters_of(numbers, 0)
        step, s = lanes(scratch), scratch
        functions = products.shape[0]
        here, sums = (ROOM + SIDES) * step, (ROOM + SIDES + room) * step
        for n in range(rules.size):
            pair = parent[n]
            # corners, the distance of the centroids, normals
            x, y, reference = _corners(corners[n]), _corners(inner[pair]), zero(s)
            if shifts:
                reference = reference + _distance_of_centroids(x, y)
            m0, m1, m2 = normals[n, 0], normals[n, 1], normals[n, 2]
            n0, n1, n2 = inner_normals[pair, 0], inner_normals[pair, 1], inner_normals[pair, 2]
            for place in range(kernels * stride * functions * count_of):
                store(s, sums + place * step, zero(s))
            for chunk in range(starts[rules[n]], starts[rules[n] + 1], 8):
                # eight points of the outer triangle and the six triangles of each
                for k in range(6):
                    ratios[k, 0], ratios[k, 1] = -1.0, -1.0
                for lane in range(8):
                    point = _place(x, points[0, chunk + lane], points[1, chunk + lane])
                    _prepare(point, y, lane, step, s, ratios)
                # integrals over the inner triangle, and their sums with outer functions
                inner_sums(
                    s, step, here, (m0, m1, m2), (n0, n1, n2), ratios, line_points, line_weights, line_starts,
                    parameters, reference,
                )  # fmt: skip
                add_to_functions(s, sums, here, products, chunk, kernels * stride, count_of)
            c, d = radial_phase(reference, parameters)
            give_sums(s, sums, here, kernels, oscillates, count_of, c, d, jacobian[n], n, out)

    return close


def sums_over_the_inner_triangle(
    radial: Radial, components: Components, oscillates: bool, degree: int
) -> Callable[..., None]:
    """The compiled integrals of components and monomials over the inner triangle, for eight points of the outer one:
    six triangles with a vertex at the point next to x, along lines through it (theory, (T39) and (T40)).

    inner_sums(s, step, here, m, n, ratios, points, weights, starts, parameters, reference): from the six triangles at
    the head of s (`_prepare`) to s[here:]; m, n: normals of the outer and of the inner triangle; points, weights,
    starts: Lines; ratios, parameters, reference as in `close_kernel`.
    """
    kernels, stride, count_of = len(components), 2 if oscillates else 1, Element(degree).size
    along_line = sums_along_a_line(radial, components, oscillates, degree)
    work = ROOM + SIDES + 2 * kernels * count_of
    put_components = putting_components(components, functions_read(components), oscillates, degree, work)

    @jitable
    def inner_sums(s, step, here, m, n, ratios, points, weights, starts, parameters, reference):
        """Integrate over the inner triangle at eight outer points."""
        for k in range(kernels * stride * count_of):
            store(s, here + k * step, zero(s))
        (m0, m1, m2), (n0, n1, n2) = m, n
        # x - a and the reference coordinates of a; the distance of x from the plane of the inner triangle
        a = load(s, 0), load(s, step), load(s, 2 * step)
        au, av = load(s, 3 * step), load(s, 4 * step)
        inner = -(a[0] * n0 + a[1] * n1 + a[2] * n2)
        for k in range(6):
            if ratios[k, 0] < 0.0:
                continue
            level, level_t = _level(ratios[k, 0]), _level(ratios[k, 1])
            # q - a, end - q, their reference coordinates and twice the area of this triangle
            at = (HEAD + CONE * k) * step
            q0, q1, q2 = load(s, at), load(s, at + step), load(s, at + 2 * step)
            e0, e1, e2 = load(s, at + 3 * step), load(s, at + 4 * step), load(s, at + 5 * step)
            qu, qv, area = load(s, at + 6 * step), load(s, at + 7 * step), load(s, at + 10 * step)
            eu, ev = load(s, at + 8 * step), load(s, at + 9 * step)
            low, high = starts[level_t], starts[level_t + 1]
            for i in range(starts[level], starts[level + 1]):
                # the line d = a - t g through the point number i of the rule in s
                along = points[i]
                weight = area * weights[i]
                g = q0 + along * e0, q1 + along * e1, q2 + along * e2
                u, v = (au, qu + along * eu), (av, qv + along * ev)
                sums = along_line(a, g, low, high, points, weights, parameters, reference, s)
                outer = a[0] * m0 + a[1] * m1 + a[2] * m2, -(g[0] * m0 + g[1] * m1 + g[2] * m2)
                put_components(s, step, here, weight, sums, a, g, outer, inner, u, v)

    return inner_sums


def close_scratch(functions: int, degree: int, kernels: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Working memory of one thread of `close_kernel`: scratch and ratios (6, 2)."""
    sums = line_room(degree, kernels) + 2 * kernels * functions * Element(degree).size
    return aligned((ROOM + SIDES + sums) * width(np.float64), np.float64), np.zeros((6, 2))
