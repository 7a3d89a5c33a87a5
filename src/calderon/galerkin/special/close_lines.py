"""Integrals of components times monomials along the lines of close_kernel.py.

On a line d = a - t g a component is a radial function times a polynomial c_0 + c_1 t + ... whose coefficients follow
from a, g and the normals, and the monomials of the reference coordinates are polynomials of t, too. So the integrals of
the radial functions times powers of t serve all components and all monomials.
"""

import functools
from collections.abc import Callable
from typing import Any

from calderon.backends.vectors import add, jitable, load, store, zero
from calderon.greens import Radial
from calderon.integrands import Component, Components
from calderon.integrands.component import functions_read
from calderon.spaces.element import Element

Wanted = tuple[tuple[int, int], ...]
"""(number of a radial function, highest power of t with which it is integrated)."""


def line_order(component: Component) -> int:
    """The degree in t of a component over its radial function; its test triangle is the outer one, of whose plane alone
    the distance changes along a line within the inner triangle."""
    return component.degree + (component.normal == "test")


def line_room(degree: int, kernels: int) -> int:
    """Vectors of the integrals of complex kernels over the inner triangle, and of those along a line."""
    return 2 * kernels * Element(degree).size + (degree + 1) ** 2


@functools.lru_cache(maxsize=64)
def power_sums(degree: int) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The compiled (s) -> degree + 1 sums that are zero, and (sums, weight, t, value) -> the sums with value times
    weight, weight t, weight t^2, ... added."""
    fewer, add_fewer = (None, None) if degree == 0 else power_sums(degree - 1)

    @jitable
    def nothing(s):
        """Sums that are zero."""
        first = (zero(s),)
        return first if fewer is None else first + fewer(s)

    @jitable
    def powers(sums, weight, t, value):
        """Add value times weight, weight t, weight t^2, ..."""
        first = (sums[0] + weight * value,)
        return first if add_fewer is None else first + add_fewer(sums[1:], weight * t, t, value)

    return nothing, powers


def function_sums(wanted: Wanted, oscillates: bool) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The two functions of `power_sums` for several radial functions: each has a pair of real and, where `oscillates`,
    imaginary sums;
        value: the tuple of values of all of them."""
    (function, most), *others = wanted
    nothing, powers = power_sums(most)
    no_others, add_others = function_sums(tuple(others), oscillates) if others else (None, None)
    real = 2 * function
    imaginary = real + 1

    @jitable
    def start(s):
        """Sums of all functions to begin with, zeros of the type of the vectors in s."""
        first = ((nothing(s), nothing(s)),)
        return first if no_others is None else first + no_others(s)

    @jitable
    def added(sums, weight, t, values):
        """Add the values of all functions at one point: each times weight, weight t, weight t^2, ..."""
        re, im = sums[0]
        re = powers(re, weight, t, values[real])
        if oscillates:
            im = powers(im, weight, t, values[imaginary])
        first = ((re, im),)
        return first if add_others is None else first + add_others(sums[1:], weight, t, values)

    return start, added


def sums_along_a_line(radial: Radial, components: Components, oscillates: bool, degree: int) -> Callable[..., Any]:
    """The compiled integrals of the radial functions that components read, in increasing order, times powers of t as
    high as these and monomials up to `degree` need.

    along_line(a, g, low, high, points, weights, parameters, reference, s): along the line d = a - t g, a and g three
    vectors each, times the Jacobian t, by the rule with points and weights low to high; a pair of real and imaginary
    integrals (powers) for each function.
    """
    read = functions_read(components)
    orders = [max(line_order(each) for each in components if each.radial == function) for function in read]
    start, added = function_sums(tuple(zip(read, (order + degree for order in orders), strict=True)), oscillates)
    radial_value = radial.value

    @jitable
    def along_line(a, g, low, high, points, weights, parameters, reference, s):
        """Sum over the points of the rule."""
        (a0, a1, a2), (g0, g1, g2) = a, g
        sums = start(s)
        for j in range(low, high):
            t = points[j]
            d0, d1, d2 = a0 - t * g0, a1 - t * g1, a2 - t * g2
            square = d0 * d0 + 1e-37 + d1 * d1 + d2 * d2
            sums = added(sums, t * weights[j], t, radial_value(square, parameters, reference))
        return sums

    return along_line


@functools.lru_cache(maxsize=64)
def times_linear(count: int) -> Callable[..., Any]:
    """The compiled product (c, before, b) -> coefficients of (c_0 + c_1 t + ...) (b_0 + b_1 t) + before b_1, where c
    has so many coefficients."""
    fewer = None if count == 1 else times_linear(count - 1)

    @jitable
    def product(c, before, b):
        """Multiply by a linear polynomial."""
        first = (c[0] * b[0] + before * b[1],)
        return first + (c[0] * b[1],) if fewer is None else first + fewer(c[1:], c[0], b)

    return product


@functools.lru_cache(maxsize=64)
def line_of(coordinates: tuple[int, ...], normal: str) -> Callable[..., Any]:
    """The compiled coefficients (a, g, outer, inner) -> (c_0, c_1, ...) of a product of coordinates of d = a - t g and,
    for a normal, the distance from the plane of the outer ("test") or the inner ("trial") triangle: outer = (constant,
    slope), inner a constant."""
    if not coordinates:
        return {"none": one_line, "test": outer_line, "trial": inner_line}[normal]
    *others, axis = coordinates
    if not others and normal == "none":

        @jitable
        def line(a, g, outer, inner):
            """One coordinate of d."""
            return a[axis], -g[axis]

        return line
    before, product = line_of(tuple(others), normal), times_linear(len(others) + 1 + (normal == "test"))

    @jitable
    def longer_line(a, g, outer, inner):
        """Multiply by one more coordinate."""
        return product(before(a, g, outer, inner), 0.0 * inner, (a[axis], -g[axis]))

    return longer_line


@jitable
def one_line(a, g, outer, inner):
    """One, of a component that is a radial function itself; arguments as in `line_of`."""
    return (1.0,)


@jitable
def outer_line(a, g, outer, inner):
    """d . n of the outer triangle: constant and slope; arguments as in `line_of`."""
    return outer


@jitable
def inner_line(a, g, outer, inner):
    """-d . n of the inner triangle, in whose plane the line is; arguments as in `line_of`."""
    return (inner,)


@functools.lru_cache(maxsize=64)
def products_with_line(order: int, degree: int) -> Callable[..., Any]:
    """The compiled integrals (c, r) of a function times (c_0 + ... + c_order t^order) t^j, j up to `degree`, from those
    r_j of the function times t^j, j up to order + degree."""
    fewer = None if degree == 0 else products_with_line(order, degree - 1)
    dot = line_dot(order)

    @jitable
    def products(c, r):
        """Integrals with t^0, t^1, ..."""
        total = (dot(c, r),)
        return total if fewer is None else total + fewer(c, r[1:])

    return products


@functools.lru_cache(maxsize=16)
def line_dot(order: int) -> Callable[..., Any]:
    """The compiled sum (c, r) -> c_0 r_0 + ... + c_order r_order."""
    fewer = None if order == 0 else line_dot(order - 1)

    @jitable
    def dot(c, r):
        """Sum products of coefficients and integrals."""
        return c[0] * r[0] if fewer is None else c[0] * r[0] + fewer(c[1:], r[1:])

    return dot


@functools.lru_cache(maxsize=32)
def putting_monomials(degree: int, work: int) -> Callable[..., None]:
    """The kernel that adds integrals along a line with all monomials up to `degree`; work: where working memory
    begins, in vectors."""

    @jitable
    def put_monomials(s, step, place, weight, values, u, v):
        """Add the integrals of a function times the monomials along a line with u = u_0 + t u_1, v = v_0 + t v_1 to
        s[place:], from those of the function times t^j, values (degree + 1,), times `weight`; step: numbers of a
        vector.

        From those of q t^j for the monomials q of degree n, at s[work + k pitch + j], follow those of u q t^(j - 1) and
        v q t^(j - 1).
        """
        (au, gu), (av, gv) = u, v
        pitch, first = (degree + 1) * step, work * step
        for j in range(degree + 1):
            store(s, first + j * step, values[j])
        for n in range(degree + 1):
            # the monomials of degree n, then those of degree n + 1
            for k in range(n + 1):
                add(s, place, weight * load(s, first + k * pitch))
                place += step
            for j in range(degree - n):
                here = first + n * pitch + j * step
                store(s, here + pitch, av * load(s, here) + gv * load(s, here + step))
                for k in range(n + 1):
                    here = first + k * pitch + j * step
                    store(s, here, au * load(s, here) + gu * load(s, here + step))

    return put_monomials


def putting_components(
    components: Components, read: tuple[int, ...], oscillates: bool, degree: int, work: int, number: int = 0
) -> Callable[..., None]:
    """The kernel that adds the integrals along a line of components, from the one with that number on, times monomials.

    put(s, step, here, weight, sums, a, g, outer, inner, u, v): to s[here:], real and imaginary ones in turn, `weight`
    times the integrals that follow from `sums` (sums_along_a_line) of the radial functions `read`; a, g, outer, inner
    as in `line_of`, u, v as in `putting_monomials`.
    """
    first, *others = components
    rest = nothing_more
    if others:
        rest = putting_components(tuple(others), read, oscillates, degree, work, number + 1)
    stride, count_of, function = 2 if oscillates else 1, Element(degree).size, read.index(first.radial)
    put_monomials, line = putting_monomials(degree, work), line_of(first.coordinates, first.normal)
    products = products_with_line(line_order(first), degree)

    @jitable
    def put(s, step, here, weight, sums, a, g, outer, inner, u, v):
        """Add the integrals of one component, then of the others."""
        re, im = sums[function]
        c, place = line(a, g, outer, inner), here + number * stride * count_of * step
        put_monomials(s, step, place, weight, products(c, re), u, v)
        if oscillates:
            put_monomials(s, step, place + count_of * step, weight, products(c, im), u, v)
        rest(s, step, here, weight, sums, a, g, outer, inner, u, v)

    return put


@jitable
def nothing_more(s, step, here, weight, sums, a, g, outer, inner, u, v):
    """Add nothing more: the end of `putting_components`, arguments as in `putting_components`."""
