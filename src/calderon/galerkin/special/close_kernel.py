"""The compiled integral over pairs of triangles that are much closer to each other than their size.

Over the inner triangle it is computed for each point x of the outer triangle by itself: with a the point of the inner
triangle next to x, the triangle is the union of those of a and its edges, and these are halved at q, the point of the
edge next to x. On each of the six, y = a + t (q - a + s (end - q)), s and t in [0, 1], the kernel is nearly singular
at t = 0, on the scale |x - a|, and at s = 0, on the scale |x - q|, and nowhere else: rules that are graded toward 0
(quadrature/graded.py) need about as many points for every distance. The lanes of a vector are points x.

On a line x - y is linear in t, so kernels are the radial function times polynomials of t, and its integrals with powers
of t serve all kernels.
"""

import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.backends.numba import jitable_part, kernel
from calderon.backends.vectors import add, aligned, complex_product, jitable, lanes, load, store, width, zero
from calderon.greens import Radial, parameter_reader
from calderon.quadrature.graded import graded
from calderon.spaces.element import Element

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
    """Of a rule on a line whose length over the scale of the singularity next to it is the root of `square`."""
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


def close_kernels(normal: str) -> int:
    """How many kernels `close_kernel` integrates at once."""
    return {"both": 2, "gradient": 3, "dyad": 6, "inner_traction": 9, "outer_traction": 9}.get(normal, 1)


@jitable
def add_to_functions(s, sums, values, products, chunk, parts, count):  # type: ignore[no-untyped-def]
    """Add so many integrals over the inner triangle of each part, times each function at eight points, to the sums."""
    step, place = lanes(s), sums
    for part in range(parts):
        for a in range(products.shape[0]):
            weights = load(products[a], chunk)
            for m in range(count):
                value = load(s, values + (part * count + m) * step)
                store(s, place, load(s, place) + weights * value)
                place += step


@jitable
def give_sums(s, sums, work, kernels, oscillates, count, c, d, jacobian, n, out):  # type: ignore[no-untyped-def]
    """Turn the sums of pair n by the phase c + d i, and write those of all points times the Jacobian."""
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
def close_kernel(radial: Radial, normal: str, oscillates: bool, degree: int) -> Callable[..., None]:
    """Compiled close(corners, normals, jacobian, inner, inner_normals, parent, rules, points, products, starts,
    line_points, line_weights, line_starts, numbers, scratch, ratios, out): out[k, 0 or 1, n, a, m] gets the real and
    imaginary parts of int int k phi_a q_m over the n-th outer triangle and its inner one, with the monomials q_m = 1,
    u, v, u^2, u v, v^2, ... (up to `degree`) of the reference coordinates of the inner one.

    Outer triangles by corners (n, 3, 3), normals (n, 3), jacobian (n,); that of triangle `parent` (n,) of inner
    (m, 3, 3), inner_normals (m, 3). points (2, Q), products (A, Q) of functions and weights: rules on outer triangles,
    rule r from starts[r] to starts[r + 1]; rules (n,) which one each takes. line_*: Lines. normal: of which triangle,
    "none", "outer", "inner" or "both": those of the inner one in out[0], of the outer one in out[1]; "gradient"
    (G'/r) (x - y), "dyad" (G'/r) (x - y) (x - y)^T, "inner_traction" or "outer_traction", see forms.form.COMPONENTS,
    component by component. x is in the outer triangle.
    """
    radial_phase, shifts, parameters_of = radial.phase, radial.shifts, parameter_reader(radial.parameters)
    kernels, stride, room = close_kernels(normal), 2 if oscillates else 1, line_room(degree, close_kernels(normal))
    count_of = Element(degree).size
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
        here, sums = (ROOM + 9) * step, (ROOM + 9 + room) * step
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
                add_to_functions(s, sums, here, products, chunk, kernels * stride, count_of)
            c, d = radial_phase(reference, parameters)
            give_sums(s, sums, here, kernels, oscillates, count_of, c, d, jacobian[n], n, out)

    return close


def line_room(degree: int, kernels: int) -> int:
    """Vectors of the integrals of complex kernels over the inner triangle, and of those along a line."""
    return 2 * kernels * Element(degree).size + (degree + 1) ** 2


def power_sums(degree: int) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """degree + 1 sums that are zero, and what adds a value times weight, weight t, weight t^2, ... to them."""
    fewer, add_fewer = (None, None) if degree == 0 else power_sums(degree - 1)

    @jitable
    def nothing(s):  # type: ignore[no-untyped-def]
        first = (zero(s),)
        return first if fewer is None else first + fewer(s)

    @jitable
    def powers(sums, weight, t, value):  # type: ignore[no-untyped-def]
        first = (sums[0] + weight * value,)
        return first if add_fewer is None else first + add_fewer(sums[1:], weight * t, t, value)

    return nothing, powers


def products_with_line(order: int, degree: int) -> Callable[..., Any]:
    """The integrals of a function times (c_0 + ... + c_order t^order) t^j, j up to `degree`, from those of the function
    times t^j, j up to order + degree."""
    fewer = None if degree == 0 else products_with_line(order, degree - 1)

    @jitable
    def products(c, r):  # type: ignore[no-untyped-def]
        total = c[0] * r[0]
        if order > 0:
            total = total + c[1] * r[1]
        if order > 1:
            total = total + c[2] * r[2]
        if order > 2:
            total = total + c[3] * r[3]
        return (total,) if fewer is None else (total,) + fewer(c, r[1:])

    return products


def sums_along_a_line(radial: Radial, value: bool, fifth: bool, oscillates: bool, degree: int) -> Callable[..., Any]:
    """The compiled integrals of the radial function, G or G'/r, or (fifth) (G'/r) G^2 of a real one, with powers of t
    up to `degree`."""
    radial_value, (nothing, powers) = radial.value, power_sums(degree)

    @jitable
    def along_line(g, low, high, points, weights, a, parameters, reference, s):  # type: ignore[no-untyped-def]
        """Integrals of the radial function times t, t^2, ... along the line a - t g: real and imaginary parts."""
        (a0, a1, a2), (g0, g1, g2) = a, g
        real, imaginary = nothing(s), nothing(s)
        for j in range(low, high):
            t = points[j]
            wt = t * weights[j]
            d0, d1, d2 = a0 - t * g0, a1 - t * g1, a2 - t * g2
            square = d0 * d0 + 1e-37 + d1 * d1 + d2 * d2
            re, im, h, hi = radial_value(square, parameters, reference)
            if fifth:
                re = h * re * re
            elif not value:
                re, im = h, hi
            real = powers(real, wt, t, re)
            if oscillates:
                imaginary = powers(imaginary, wt, t, im)
        return real, imaginary

    return along_line


def putting_kernels(order: int, value: bool, oscillates: bool, degree: int, work: int) -> Callable[..., None]:
    """What adds the integrals along a line to those of a kernel, the radial function times a polynomial of this order
    in t, and the monomials; work: where working memory begins, in vectors."""
    products, stride, count_of = products_with_line(order, degree), 2 if oscillates else 1, Element(degree).size

    @jitable
    def put_monomials(s, step, place, weight, r, c, u, v):  # type: ignore[no-untyped-def]
        """Add the integrals of the kernel that is the radial function times c_0 + c_1 t + c_2 t^2 along a line with
        u = u_0 + t u_1, v = v_0 + t v_1: from those of q t^j for the monomials q of degree n, at s[work + k pitch + j],
        those of u q t^(j - 1) and v q t^(j - 1)."""
        (au, gu), (av, gv) = u, v
        pitch, first = (degree + 1) * step, work * step
        values = r if value else products(c, r)
        for j in range(degree + 1):
            store(s, first + j * step, values[j])
        for n in range(degree + 1):
            for k in range(n + 1):
                add(s, place, weight * load(s, first + k * pitch))
                place += step
            for j in range(degree - n):
                here = first + n * pitch + j * step
                store(s, here + pitch, av * load(s, here) + gv * load(s, here + step))
                for k in range(n + 1):
                    here = first + k * pitch + j * step
                    store(s, here, au * load(s, here) + gu * load(s, here + step))

    @jitable
    def put_kernel(s, step, here, number, weight, r, c, u, v):  # type: ignore[no-untyped-def]
        """The real and the imaginary part of one kernel."""
        place = here + number * stride * count_of * step
        put_monomials(s, step, place, weight, r[0], c, u, v)
        if oscillates:
            put_monomials(s, step, place + count_of * step, weight, r[1], c, u, v)

    return put_kernel


def putting_traction(put_kernel: Callable[..., None]) -> Callable[..., None]:
    """What adds the kernels of a traction along the line d = a - t g: d.n d d^T, then |d|^2 d, times (G'/r) G^2."""

    @jitable
    def put_component(s, step, here, number, weight, r, a, b, c, u, v):  # type: ignore[no-untyped-def]
        """The product of three numbers that are linear in t: (constant, slope) each."""
        c0, c1 = a[0] * b[0], a[0] * b[1] + a[1] * b[0]
        c2 = a[1] * b[1]
        line = c0 * c[0], c0 * c[1] + c1 * c[0], c1 * c[1] + c2 * c[0], c2 * c[1]
        put_kernel(s, step, here, number, weight, r, line, u, v)

    @jitable
    def put_traction(s, step, here, weight, r, a, g, n, u, v):  # type: ignore[no-untyped-def]
        (a0, a1, a2), (g0, g1, g2), (n0, n1, n2) = a, g, n
        x, y, z = (a0, -g0), (a1, -g1), (a2, -g2)
        o = a0 * n0 + a1 * n1 + a2 * n2, -(g0 * n0 + g1 * n1 + g2 * n2)
        put_component(s, step, here, 0, weight, r, o, x, x, u, v)
        put_component(s, step, here, 1, weight, r, o, y, y, u, v)
        put_component(s, step, here, 2, weight, r, o, z, z, u, v)
        put_component(s, step, here, 3, weight, r, o, y, z, u, v)
        put_component(s, step, here, 4, weight, r, o, z, x, u, v)
        put_component(s, step, here, 5, weight, r, o, x, y, u, v)
        aa, ag = a0 * a0 + a1 * a1 + a2 * a2, -2.0 * (a0 * g0 + a1 * g1 + a2 * g2)
        gg = g0 * g0 + g1 * g1 + g2 * g2
        put_kernel(s, step, here, 6, weight, r, (aa * a0, ag * a0 - aa * g0, gg * a0 - ag * g0, -gg * g0), u, v)
        put_kernel(s, step, here, 7, weight, r, (aa * a1, ag * a1 - aa * g1, gg * a1 - ag * g1, -gg * g1), u, v)
        put_kernel(s, step, here, 8, weight, r, (aa * a2, ag * a2 - aa * g2, gg * a2 - ag * g2, -gg * g2), u, v)

    return put_traction


def sums_over_the_inner_triangle(radial: Radial, normal: str, oscillates: bool, degree: int) -> Callable[..., None]:
    """The compiled integrals of the kernels and the monomials over the inner triangle, for eight points of the outer
    one: six triangles with a vertex at the point next to x, along lines through it (theory, (T39) and (T40))."""
    value, of_inner, of_outer = normal == "none", normal in ("inner", "both"), normal in ("outer", "both")
    gradient, dyad, kernels = normal == "gradient", normal == "dyad", close_kernels(normal)
    stride, count_of = 2 if oscillates else 1, Element(degree).size
    order = {"none": 0, "inner": 0, "dyad": 2, "inner_traction": 3, "outer_traction": 3}.get(normal, 1)
    traction, of_inner_plane = order == 3, normal == "inner_traction"
    along_line = sums_along_a_line(radial, value, traction, oscillates, degree + order)
    put_kernel = putting_kernels(0 if value else order, value, oscillates, degree, ROOM + 9 + 2 * kernels * count_of)
    put_traction = putting_traction(put_kernel)

    @jitable
    def inner_sums(s, step, here, m, n, ratios, points, weights, starts, parameters, reference):  # type: ignore[no-untyped-def]
        for k in range(kernels * stride * count_of):
            store(s, here + k * step, zero(s))
        (m0, m1, m2), (n0, n1, n2), z = m, n, zero(s)
        a0, a1, a2 = load(s, 0), load(s, step), load(s, 2 * step)
        au, av = load(s, 3 * step), load(s, 4 * step)
        for k in range(6):
            if ratios[k, 0] < 0.0:
                continue
            level, level_t = _level(ratios[k, 0]), _level(ratios[k, 1])
            at = (HEAD + CONE * k) * step
            q0, q1, q2 = load(s, at), load(s, at + step), load(s, at + 2 * step)
            e0, e1, e2 = load(s, at + 3 * step), load(s, at + 4 * step), load(s, at + 5 * step)
            qu, qv, area = load(s, at + 6 * step), load(s, at + 7 * step), load(s, at + 10 * step)
            eu, ev = load(s, at + 8 * step), load(s, at + 9 * step)
            for i in range(starts[level], starts[level + 1]):
                along = points[i]
                weight = area * weights[i]
                g0, g1, g2 = q0 + along * e0, q1 + along * e1, q2 + along * e2
                u, v = (au, qu + along * eu), (av, qv + along * ev)
                low, high = starts[level_t], starts[level_t + 1]
                r = along_line((g0, g1, g2), low, high, points, weights, (a0, a1, a2), parameters, reference, s)
                if value or of_inner:
                    c0 = -(a0 * n0 + a1 * n1 + a2 * n2)  # from the plane of the inner triangle
                    put_kernel(s, step, here, 0, weight, r, (c0, z, z), u, v)
                if of_outer:
                    c0, c1 = a0 * m0 + a1 * m1 + a2 * m2, -(g0 * m0 + g1 * m1 + g2 * m2)
                    put_kernel(s, step, here, kernels - 1, weight, r, (c0, c1, z), u, v)
                if traction and of_inner_plane:
                    put_traction(s, step, here, weight, r, (a0, a1, a2), (g0, g1, g2), (n0, n1, n2), u, v)
                elif traction:
                    put_traction(s, step, here, weight, r, (a0, a1, a2), (g0, g1, g2), (m0, m1, m2), u, v)
                if gradient:
                    put_kernel(s, step, here, 0, weight, r, (a0, -g0, z), u, v)
                    put_kernel(s, step, here, 1, weight, r, (a1, -g1, z), u, v)
                    put_kernel(s, step, here, 2, weight, r, (a2, -g2, z), u, v)
                if dyad:
                    put_kernel(s, step, here, 0, weight, r, (a0 * a0, -2.0 * a0 * g0, g0 * g0), u, v)
                    put_kernel(s, step, here, 1, weight, r, (a1 * a1, -2.0 * a1 * g1, g1 * g1), u, v)
                    put_kernel(s, step, here, 2, weight, r, (a2 * a2, -2.0 * a2 * g2, g2 * g2), u, v)
                    put_kernel(s, step, here, 3, weight, r, (a1 * a2, -(a1 * g2 + a2 * g1), g1 * g2), u, v)
                    put_kernel(s, step, here, 4, weight, r, (a2 * a0, -(a2 * g0 + a0 * g2), g2 * g0), u, v)
                    put_kernel(s, step, here, 5, weight, r, (a0 * a1, -(a0 * g1 + a1 * g0), g0 * g1), u, v)

    return inner_sums


def close_scratch(functions: int, degree: int, kernels: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Working memory of one thread of `close_kernel`: scratch and ratios."""
    sums = line_room(degree, kernels) + 2 * kernels * functions * Element(degree).size
    return aligned((ROOM + 9 + sums) * width(np.float64), np.float64), np.zeros((6, 2))
