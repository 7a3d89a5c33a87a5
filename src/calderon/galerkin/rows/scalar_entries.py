"""Entries of one unknown with a cluster of others, and of two clusters: the loops behind compiled rows and columns.

An entry is a double sum over the quadrature points of two functions. The function that is fixed comes with all its
triangles and points; the triangles of the cluster are in the lanes of vectors. The kernel is summed over the points of
the fixed function first, once for each quadrature point of each triangle of the cluster; then the local functions of
the triangle are applied and the results added to the unknowns of the cluster. So a row of a matrix of continuous
functions costs each pair of triangles once, not once for each node of the cluster.
"""

import functools
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from calderon.backends.numba import jitable_part
from calderon.backends.vectors import add, complex_product, jitable, lanes, load, number, store, width, zero
from calderon.galerkin.regular.element_tables import Surface, points_of
from calderon.galerkin.rows.chunks import distance, gathered, run_of
from calderon.galerkin.rows.cluster_tables import (
    CHUNK,
    CHUNKS,
    FIRST,
    FUNCTIONS,
    LENGTH,
    LISTS,
    LOCALS,
    OWN,
    PITCH,
    PLACES,
    RECORDS,
    ROW,
    SIZES,
    STARTS,
    TRIANGLES,
    item,
)
from calderon.galerkin.rows.scalar_blocks import ROWS, block_sums
from calderon.greens import Radial
from calderon.greens.elementary import inverse_square_root
from calderon.quadrature import TriangleRule
from calderon.spaces.element import Element


class Sums(NamedTuple):
    """fill(fixed, varying, scalars, position, cluster, scratch, out) and block(fixed, varying, scalars, skips,
    fixed_cluster, cluster, scratch, out)."""

    fill: Callable[..., None]
    block: Callable[..., None]


def sums_table(rule: TriangleRule, element: Element) -> NDArray[np.float64]:
    """The table of a RowSide: weights times local functions (L, P), weights (P,), barycentric coordinates (3, P)."""
    parts = element.values(rule.points) * rule.weights, rule.weights, rule.barycentric.T
    return np.concatenate([each.ravel() for each in parts])


def sums_records(surface: Surface, rule: TriangleRule) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Records of the triangles: points (P, 3), centre, normal, Jacobian, curls (3, 3), corners (3, 3); and what a
    chunk has of them: the numbers before the curls."""
    count = len(surface.corners)
    columns = (
        points_of(surface, rule), surface.corners.mean(axis=1), surface.normals, surface.jacobian, surface.curls,
        surface.corners,
    )  # fmt: skip
    records = np.concatenate([each.reshape(count, -1) for each in columns], axis=1)
    return records, records[:, : 3 * rule.number_of_points + 7]


def sums_scratch(points: int, functions: int, real: DTypeLike) -> int:
    """Numbers of working memory of one thread."""
    chunk = (3 * points + 16) * PITCH
    work = 7 * points * width(real)
    return chunk + work + PITCH + 2 * ROWS * functions * PITCH


@functools.lru_cache(maxsize=64)
def row_sums(radial: Radial, normal: str, curls: bool, mass: bool, oscillates: bool, points: int) -> Sums:
    """The loops of one Green's function and integrand.

    normal: "none", "varying" or "fixed", the side of the normal derivative. curls: integrate by parts; mass: with
    values of the functions (without for curls of Laplace). oscillates: complex values. points: of a triangle.
    scalars as in tile.py.
    """
    radial_value, radial_phase, shifts = radial.value, radial.phase, radial.shifts
    of_varying, of_fixed = normal == "varying", normal == "fixed"
    width = 3 * points

    @jitable
    def asked(values, array, place):  # type: ignore[no-untyped-def]
        """The value or the slope, the latter times the distance from the plane of a varying triangle."""
        value, value_i, slope, slope_i = values
        if of_varying:
            offset = load(array, place)
            return slope * offset, slope_i * offset
        if of_fixed:
            return slope, slope_i
        return value, value_i

    @jitable
    def factors(x, base, flat, pitch, place, scratch, offsets, scalars):  # type: ignore[no-untyped-def]
        """Reference distance and factor of the triangle with its record at x[base] with a vector of others; stores
        distances of its points from their planes."""
        p0, p1, tiny = scalars[0], scalars[1], scalars[2]
        centre, step, here = base + width, lanes(flat), place + width * pitch
        e0, e1, e2 = load(flat, here), load(flat, here + pitch), load(flat, here + 2 * pitch)
        reference = zero(flat)
        if shifts:
            square = distance(x, centre, e0, e1, e2, tiny)
            reference = square * inverse_square_root(square)
        f_re, f_im = radial_phase(reference, p0, p1)
        if of_varying:
            here += 3 * pitch
            n0, n1, n2 = load(flat, here), load(flat, here + pitch), load(flat, here + 2 * pitch)
            for p in range(points):
                d0, d1 = number(x, base + 3 * p) - e0, number(x, base + 3 * p + 1) - e1
                d2 = number(x, base + 3 * p + 2) - e2
                store(scratch, offsets + p * step, -(d0 * n0 + d1 * n1 + d2 * n2))
        factor = zero(flat) + number(x, centre + 6)
        return reference, f_re * factor, f_im * factor

    @jitable
    def cosine(x, normal, flat, pitch, place):  # type: ignore[no-untyped-def]
        """Of the angle between normals."""
        here = (width + 3) * pitch + place
        n0, n1, n2 = load(flat, here), load(flat, here + pitch), load(flat, here + 2 * pitch)
        return number(x, normal) * n0 + number(x, normal + 1) * n1 + number(x, normal + 2) * n2

    @jitable
    def plane(x, centre, y0, y1, y2):  # type: ignore[no-untyped-def]
        """-(y - centre) . n of the fixed triangle."""
        d0, d1, d2 = number(x, centre) - y0, number(x, centre + 1) - y1, number(x, centre + 2) - y2
        return d0 * number(x, centre + 3) + d1 * number(x, centre + 4) + d2 * number(x, centre + 5)

    @jitable_part
    def fill(fixed, varying, scalars, position, cluster, scratch, out):  # type: ignore[no-untyped-def]
        """out[:n] = the entries of the unknown at `position` with those of the cluster."""
        x, near, numbers, index = fixed.numbers, fixed.integers, varying.numbers, varying.integers
        step, own, functions = lanes(scratch), number(index, OWN), number(index, FUNCTIONS)
        p0, p1, tiny = scalars[0], scalars[1], scalars[2]
        work = (width + 16) * PITCH  # sums at points: real, imaginary; offsets; results
        offsets = work + 2 * points * step
        results = offsets + points * step
        first, count = item(index, FIRST, cluster), item(index, SIZES, cluster)
        low, high = run_of(index, cluster)
        if not own:
            for k in range(count):
                out[k] = 0.0
        begin, end = item(near, STARTS, position), item(near, STARTS, position + 1)
        constant = functions == 1
        measure, fixed_measure = functions * points, number(near, FUNCTIONS) * points
        for chunk in range(low, high, CHUNK):
            size = min(CHUNK, high - chunk)
            if own:
                flat, pitch, origin = numbers, number(index, ROW), number(index, CHUNKS) + chunk
            else:
                flat, pitch, origin = scratch, PITCH, 0
                gathered(varying, points, chunk, chunk + size, curls, scratch)
            for v in range(0, size, step):
                place = origin + v
                if mass and not constant:
                    for q in range(2 * points if oscillates else points):
                        store(scratch, work + q * step, zero(scratch))
                c0, c1, c2 = zero(scratch), zero(scratch), zero(scratch)
                h0, h1, h2 = zero(scratch), zero(scratch), zero(scratch)
                one, one_i = zero(scratch), zero(scratch)
                for e in range(begin, end):
                    base = number(near, RECORDS) + number(near, LENGTH) * item(near, TRIANGLES, e)
                    local = item(near, LOCALS, e)
                    w = local * points
                    reference, f_re, f_im = factors(x, base, flat, pitch, place, scratch, offsets, scalars)
                    total, total_i = zero(scratch), zero(scratch)
                    g_re, g_im = f_re, f_im
                    if curls:
                        angle = cosine(x, base + width + 3, flat, pitch, place)
                        g_re, g_im = f_re * angle, f_im * angle
                    sum_, sum_i = zero(scratch), zero(scratch)
                    for q in range(points):
                        here = 3 * q * pitch + place
                        y0, y1, y2 = load(flat, here), load(flat, here + pitch), load(flat, here + 2 * pitch)
                        s, si, every, every_i = zero(scratch), zero(scratch), zero(scratch), zero(scratch)
                        for p in range(points):
                            r2 = distance(x, base + 3 * p, y0, y1, y2, tiny)
                            k, u = asked(radial_value(r2, p0, p1, reference), scratch, offsets + p * step)
                            if mass:
                                weight = number(x, w + p)
                                s = s + weight * k
                                if oscillates:
                                    si = si + weight * u
                            if curls:
                                weight = number(x, fixed_measure + p)
                                every = every + weight * k
                                if oscillates:
                                    every_i = every_i + weight * u
                        if of_fixed:
                            offset = plane(x, base + width, y0, y1, y2)
                            s, si = s * offset, si * offset
                        if curls:
                            weight = number(numbers, measure + q)
                            total = total + weight * every
                            total_i = total_i + weight * every_i
                        if mass:
                            if constant:
                                weight = number(numbers, measure + q)
                                sum_ = sum_ + weight * s
                                if oscillates:
                                    sum_i = sum_i + weight * si
                            else:
                                s, si = complex_product(s, si, g_re, g_im)
                                add(scratch, work + q * step, s)
                                if oscillates:
                                    add(scratch, work + (points + q) * step, si)
                    if mass:
                        sum_, sum_i = complex_product(sum_, sum_i, g_re, g_im)
                        one, one_i = one + sum_, one_i + sum_i
                    if curls:
                        total, total_i = complex_product(total, total_i, f_re, f_im)
                        curl = base + width + 7 + 3 * local
                        d0, d1, d2 = number(x, curl), number(x, curl + 1), number(x, curl + 2)
                        c0, c1, c2 = c0 + d0 * total, c1 + d1 * total, c2 + d2 * total
                        if oscillates:
                            h0, h1, h2 = h0 + d0 * total_i, h1 + d1 * total_i, h2 + d2 * total_i
                jacobian = load(flat, (width + 6) * pitch + place)
                for f in range(functions):
                    re, im = zero(scratch), zero(scratch)
                    if mass:
                        s, si = one, one_i
                        for q in range(0 if constant else points):
                            weight = number(numbers, f * points + q)
                            s = s + weight * load(scratch, work + q * step)
                            if oscillates:
                                si = si + weight * load(scratch, work + (points + q) * step)
                        re, im = complex_product(s, si, zero(scratch) + scalars[5], zero(scratch) + scalars[6])
                    if curls:
                        here = (width + 7 + 3 * f) * PITCH + v
                        d0, d1, d2 = load(scratch, here), load(scratch, here + PITCH), load(scratch, here + 2 * PITCH)
                        s, si = d0 * c0 + d1 * c1 + d2 * c2, d0 * h0 + d1 * h1 + d2 * h2
                        s, si = complex_product(s, si, zero(scratch) + scalars[3], zero(scratch) + scalars[4])
                        re, im = re + s, im + si
                    store(scratch, results + 2 * f * PITCH + v, jacobian * re)
                    if oscillates:
                        store(scratch, results + (2 * f + 1) * PITCH + v, jacobian * im)
            if own:
                for k in range(size):
                    if oscillates:
                        out[chunk - low + k] = complex(scratch[results + k], scratch[results + PITCH + k])
                    else:
                        out[chunk - low + k] = scratch[results + k]
            else:
                for k in range(size):
                    t = item(index, LISTS, chunk + k)
                    for f in range(functions):
                        target = item(index, PLACES, t * functions + f) - first
                        if 0 <= target < count:
                            here = results + 2 * f * PITCH + k
                            if oscillates:
                                out[target] += complex(scratch[here], scratch[here + PITCH])
                            else:
                                out[target] += scratch[here]

    parts = asked, factors, cosine, plane
    return Sums(fill, block_sums(radial, parts, curls, mass, oscillates, of_fixed, points))
