"""The compiled integral over pairs of triangles that are much closer to each other than their size.

Over the inner triangle it is computed for each point x of the outer triangle by itself: with a the point of the inner
triangle next to x, the triangle is the union of those of a and its edges, and these are halved at q, the point of the
edge next to x. On each of the six, y = a + t (q - a + s (end - q)), s and t in [0, 1], the kernel is nearly singular
at t = 0, on the scale |x - a|, and at s = 0, on the scale |x - q|, and nowhere else: rules that are graded toward 0
(quadrature/graded.py) need about as many points for every distance. The lanes of a vector are points x.
"""

import functools
import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.backends.numba import jitable_part, kernel
from calderon.backends.vectors import add, aligned, complex_product, jitable, lanes, load, store, width, zero
from calderon.greens import Radial, parameter_reader
from calderon.quadrature.graded import graded

LEVELS = 41
"""Scales 1, 1/2, ... of graded rules: the finest is 1e-12 of the size."""
CONE = 11
"""Vectors of one of the six triangles: q - a, end - q, their reference coordinates, twice the area."""
HEAD = 5
"""Vectors of a point: x - a and the reference coordinates of a."""
ROOM = HEAD + 6 * CONE


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
def _level(square):  # type: ignore[no-untyped-def]
    """Of a rule on a line whose length over the scale of the singularity beside it is the root of `square`."""
    if square <= 1.0:
        return 0
    return min(LEVELS - 1, int(math.ceil(0.5 * math.log2(square))))


@jitable_part
def _dot(a, b):  # type: ignore[no-untyped-def]
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@jitable_part
def _less(a, b):  # type: ignore[no-untyped-def]
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@jitable_part
def _next_on_edge(x, start, along):  # type: ignore[no-untyped-def]
    """Which point start + k * along of an edge is next to x."""
    return min(1.0, max(0.0, _dot(_less(x, start), along) / _dot(along, along)))


@jitable_part
def _place(corners, u, v):  # type: ignore[no-untyped-def]
    """The point with these reference coordinates."""
    w = 1.0 - u - v
    return (
        w * corners[0][0] + u * corners[1][0] + v * corners[2][0],
        w * corners[0][1] + u * corners[1][1] + v * corners[2][1],
        w * corners[0][2] + u * corners[1][2] + v * corners[2][2],
    )


@jitable_part
def _prepare(x, corners, lane, step, s, ratios):  # type: ignore[no-untyped-def]
    """Fill one lane with the six triangles of the inner triangle for the point x; ratios (6, 2) of s and t, squared
    length over scale, become the largest of all lanes; they remain -1 where a triangle has no area."""
    e, f, w = _less(corners[1], corners[0]), _less(corners[2], corners[0]), _less(x, corners[0])
    ee, ff, ef, we, wf = _dot(e, e), _dot(f, f), _dot(e, f), _dot(w, e), _dot(w, f)
    determinant = ee * ff - ef * ef  # of the order of the fourth power of the size
    au, av = (ff * we - ef * wf) / determinant, (ee * wf - ef * we) / determinant
    inside = au >= 0.0 and av >= 0.0 and au + av <= 1.0
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
    if distance < 1e-26 * ee:  # x lies on the inner triangle: what is left of the kernel does not depend on t
        distance = 1e300
    s[lane], s[step + lane], s[2 * step + lane] = offset
    s[3 * step + lane], s[4 * step + lane] = au, av
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
            area = c0 * c0 + c1 * c1 + c2 * c2
            at = (HEAD + CONE * (2 * side + half)) * step + lane
            s[at], s[at + step], s[at + 2 * step] = g
            s[at + 3 * step], s[at + 4 * step], s[at + 5 * step] = h
            s[at + 6 * step], s[at + 7 * step] = u - au, v - av
            s[at + 8 * step] = (1.0 if number == 1 else 0.0) - u
            s[at + 9 * step] = (1.0 if number == 2 else 0.0) - v
            s[at + 10 * step] = math.sqrt(area)
            if area > 1e-26 * determinant:
                r, k = _less(end, a), 2 * side + half
                ratios[k, 0] = max(ratios[k, 0], _dot(h, h) / max(away, 1e-300))
                ratios[k, 1] = max(ratios[k, 1], max(gg, _dot(r, r)) / distance)


@functools.lru_cache(maxsize=64)
def close_kernel(radial: Radial, normal: str, oscillates: bool, degree: int) -> Callable[..., None]:
    """Compiled close(corners, normals, jacobian, inner, inner_normals, parent, rules, points, products, starts,
    line_points, line_weights, line_starts, numbers, scratch, ratios, out): out[0, 0 or 1, n, a, m] gets the real and
    imaginary parts of int int k phi_a q_m over the n-th outer triangle and its inner one, with the monomials q_m = 1,
    u, v, u^2, u v, v^2 (up to `degree`) of the reference coordinates of the inner one.

    Outer triangles by corners (n, 3, 3), normals (n, 3), jacobian (n,); that of triangle `parent` (n,) of inner
    (m, 3, 3), inner_normals (m, 3). points (2, Q), products (A, Q) of functions and weights: rules on outer triangles,
    rule r from starts[r] to starts[r + 1]; rules (n,) which one each takes. line_*: Lines. normal: of which triangle,
    "none", "outer", "inner" or "both": those of the inner one in out[0], of the outer one in out[1]; the kernel takes
    x - y with x in the outer one.
    """
    radial_phase, shifts, parameters_of = radial.phase, radial.shifts, parameter_reader(radial.parameters)
    kernels, stride = 2 if normal == "both" else 1, 2 if oscillates else 1
    count_of = (1, 3, 6)[degree]
    inner_sums = sums_over_the_inner_triangle(radial, normal, oscillates, degree)

    @kernel
    def close(
        corners,
        normals,
        jacobian,
        inner,
        inner_normals,
        parent,
        rules,
        points,
        products,
        starts,
        line_points,
        line_weights,
        line_starts,
        numbers,
        scratch,
        ratios,
        out,
    ):  # type: ignore[no-untyped-def]
        parameters = parameters_of(numbers, 0)
        step, s = lanes(scratch), scratch
        functions = products.shape[0]
        here, sums = (ROOM + 9) * step, (ROOM + 9 + 24) * step
        for n in range(rules.size):
            pair = parent[n]
            x, y = corners[n], inner[pair]
            vertices = (
                (y[0, 0], y[0, 1], y[0, 2]), (y[1, 0], y[1, 1], y[1, 2]), (y[2, 0], y[2, 1], y[2, 2]),
            )  # fmt: skip
            reference = zero(s)
            if shifts:  # distance of the centroids
                square = 0.0
                for c in range(3):
                    square += ((x[0, c] + x[1, c] + x[2, c] - y[0, c] - y[1, c] - y[2, c]) / 3.0) ** 2
                reference = reference + math.sqrt(square)
            m0, m1, m2 = normals[n, 0], normals[n, 1], normals[n, 2]
            n0, n1, n2 = inner_normals[pair, 0], inner_normals[pair, 1], inner_normals[pair, 2]
            for place in range(kernels * stride * functions * count_of):
                store(s, sums + place * step, zero(s))
            for chunk in range(starts[rules[n]], starts[rules[n] + 1], 8):
                for k in range(6):
                    ratios[k, 0], ratios[k, 1] = -1.0, -1.0
                for lane in range(8):
                    u, v = points[0, chunk + lane], points[1, chunk + lane]
                    w = 1.0 - u - v
                    point = (
                        w * x[0, 0] + u * x[1, 0] + v * x[2, 0],
                        w * x[0, 1] + u * x[1, 1] + v * x[2, 1],
                        w * x[0, 2] + u * x[1, 2] + v * x[2, 2],
                    )
                    _prepare(point, vertices, lane, step, s, ratios)
                inner_sums(
                    s, step, here, (m0, m1, m2), (n0, n1, n2), ratios, line_points, line_weights, line_starts,
                    parameters, reference,
                )  # fmt: skip
                place = sums
                for kind in range(kernels * stride):
                    for a in range(functions):
                        weights = load(products[a], chunk)
                        for m in range(count_of):
                            value = load(s, here + (kind * count_of + m) * step)
                            store(s, place, load(s, place) + weights * value)
                            place += step
            c, d = radial_phase(reference, parameters)
            for kind in range(kernels):
                for a in range(functions):
                    for m in range(count_of):
                        place = sums + ((kind * stride * functions + a) * count_of + m) * step
                        re, im = load(s, place), zero(s)
                        if oscillates:
                            im = load(s, place + functions * count_of * step)
                        re, im = complex_product(re, im, c, d)
                        store(s, here, re)
                        store(s, here + step, im)
                        total, total_i = 0.0, 0.0
                        for lane in range(8):
                            total += s[here + lane]
                            total_i += s[here + step + lane]
                        out[kind, 0, n, a, m] = jacobian[n] * total
                        if oscillates:
                            out[kind, 1, n, a, m] = jacobian[n] * total_i

    return close


def sums_over_the_inner_triangle(radial: Radial, normal: str, oscillates: bool, degree: int) -> Callable[..., None]:
    """The compiled integrals of the kernel and the monomials over the inner triangle, for eight points of the outer
    one: six triangles with a vertex at the point next to x, along lines through it (theory, (T39) and (T40))."""
    radial_value = radial.value
    of_inner, of_outer, both = normal in ("inner", "both"), normal == "outer", normal == "both"
    kernels, stride = 2 if both else 1, 2 if oscillates else 1
    count_of = (1, 3, 6)[degree]

    @jitable
    def along_line(line, low, high, points, weights, a, parameters, reference, s):  # type: ignore[no-untyped-def]
        """Integrals of the kernels times 1, t, t^2, times t, along the lines a - t g: real and imaginary parts of the
        first kernel, then of the second."""
        (a0, a1, a2), (g0, g1, g2), (fixed, fixed_two), (slope, slope_two) = a, line[0], line[1], line[2]
        z = zero(s)
        r0, r1, r2, i0, i1, i2, t0, t1, t2, j0, j1, j2 = z, z, z, z, z, z, z, z, z, z, z, z
        for j in range(low, high):
            t = points[j]
            wt = t * weights[j]
            d0, d1, d2 = a0 - t * g0, a1 - t * g1, a2 - t * g2
            square = d0 * d0 + 1e-37 + d1 * d1 + d2 * d2
            re, im, h, hi = radial_value(square, parameters, reference)
            if of_inner or of_outer:
                factor = fixed + t * slope
                re, im = h * factor, hi * factor
            r0, r1, r2 = powers(r0, r1, r2, wt, t, re)
            if oscillates:
                i0, i1, i2 = powers(i0, i1, i2, wt, t, im)
            if both:
                factor = fixed_two + t * slope_two
                t0, t1, t2 = powers(t0, t1, t2, wt, t, h * factor)
                if oscillates:
                    j0, j1, j2 = powers(j0, j1, j2, wt, t, hi * factor)
        return (r0, r1, r2), (i0, i1, i2), (t0, t1, t2), (j0, j1, j2)

    @jitable
    def powers(s0, s1, s2, wt, t, value):  # type: ignore[no-untyped-def]
        """Add a value times wt, wt t and wt t^2, as many as the degree asks for."""
        s0 = s0 + wt * value
        if degree > 0:
            s1 = s1 + (wt * t) * value
        if degree > 1:
            s2 = s2 + (wt * t * t) * value
        return s0, s1, s2

    @jitable
    def put_monomials(s, step, place, weight, values, au, av, gu, gv):  # type: ignore[no-untyped-def]
        """Add the integrals of one kernel along a line with u = au + t gu, v = av + t gv."""
        r0, r1, r2 = values
        add(s, place, weight * r0)
        if degree > 0:
            mu, mv = au * r0 + gu * r1, av * r0 + gv * r1
            add(s, place + step, weight * mu)
            add(s, place + 2 * step, weight * mv)
            if degree > 1:
                lu, lv = au * r1 + gu * r2, av * r1 + gv * r2
                add(s, place + 3 * step, weight * (au * mu + gu * lu))
                add(s, place + 4 * step, weight * (au * mv + gu * lv))
                add(s, place + 5 * step, weight * (av * mv + gv * lv))

    @jitable
    def normal_part(v, m, n):  # type: ignore[no-untyped-def]
        """-v . n for the normal of the inner triangle, v . m for that of the outer one, and the latter again."""
        (v0, v1, v2), (m0, m1, m2), (n0, n1, n2) = v, m, n
        outer = v0 * m0 + v1 * m1 + v2 * m2
        first = outer
        if of_inner:
            first = -(v0 * n0 + v1 * n1 + v2 * n2)
        return first, outer

    @jitable
    def inner_sums(s, step, here, m, n, ratios, points, weights, starts, parameters, reference):  # type: ignore[no-untyped-def]
        for k in range(kernels * stride * count_of):
            store(s, here + k * step, zero(s))
        a = load(s, 0), load(s, step), load(s, 2 * step)
        au, av = load(s, 3 * step), load(s, 4 * step)
        fixed = normal_part(a, m, n)
        for k in range(6):
            if ratios[k, 0] < 0.0:
                continue
            level, level_t = _level(ratios[k, 0]), _level(ratios[k, 1])
            at = (HEAD + CONE * k) * step
            q0, q1, q2 = load(s, at), load(s, at + step), load(s, at + 2 * step)
            e0, e1, e2 = load(s, at + 3 * step), load(s, at + 4 * step), load(s, at + 5 * step)
            qu, qv = load(s, at + 6 * step), load(s, at + 7 * step)
            eu, ev = load(s, at + 8 * step), load(s, at + 9 * step)
            area = load(s, at + 10 * step)
            for i in range(starts[level], starts[level + 1]):
                c = points[i]
                weight = area * weights[i]
                g = q0 + c * e0, q1 + c * e1, q2 + c * e2
                gu, gv = qu + c * eu, qv + c * ev
                first, second = normal_part(g, m, n)
                re, im, two, two_i = along_line(
                    (g, fixed, (-first, -second)), starts[level_t], starts[level_t + 1], points, weights, a, parameters,
                    reference, s,
                )  # fmt: skip
                apart = count_of * step
                put_monomials(s, step, here, weight, re, au, av, gu, gv)
                if oscillates:
                    put_monomials(s, step, here + apart, weight, im, au, av, gu, gv)
                if both:
                    put_monomials(s, step, here + stride * apart, weight, two, au, av, gu, gv)
                    if oscillates:
                        put_monomials(s, step, here + 3 * apart, weight, two_i, au, av, gu, gv)

    return inner_sums


def close_scratch(functions: int, degree: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Working memory of one thread of `close_kernel`: scratch and ratios."""
    sums = 4 * functions * (1, 3, 6)[degree]
    return aligned((ROOM + 9 + 24 + sums) * width(np.float64), np.float64), np.zeros((6, 2))
