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
from numba.extending import register_jitable
from numpy.typing import NDArray

from calderon.backends.vectors import jitable, lanes, load, number, store, zero
from calderon.greens import Radial
from calderon.greens.elementary import inverse_square_root
from calderon.operators.regular import add, squared, turned
from calderon.operators.row_sides import CHUNK, GEOMETRY, PITCH

ROWS = 64
"""Rows of a block that are computed at a time."""


class Skips(NamedTuple):
    """triangles[starts[t] : starts[t + 1]] of the other side, increasing, that triangle t of one side skips."""

    starts: NDArray[np.int64]
    triangles: NDArray[np.int32]


class Sums(NamedTuple):
    """fill(fixed, varying, scalars, position, cluster, scratch, out) and block(fixed, varying, scalars, skips,
    fixed_cluster, cluster, scratch, out)."""

    fill: Callable[..., None]
    block: Callable[..., None]


def sums_scratch(points: int, functions: int, fixed_functions: int, vector: int) -> int:
    """Numbers of working memory of one thread."""
    chunk = (3 * points + GEOMETRY + 9) * PITCH
    work = (3 * points + 2 * points * fixed_functions) * vector
    return chunk + work + PITCH + 2 * ROWS * functions * PITCH


@register_jitable
def chunk_of(side, points, low, high, curls, scratch):  # type: ignore[no-untyped-def]
    """Gather triangles low..high of the lists of a side into scratch, as RowSide.chunks has them; then the curls."""
    width, step = 3 * points, lanes(scratch)
    base = scratch[(width + 7) * PITCH :]  # where corners wait, and curls in the end
    for k in range(high - low):
        t = side.lists[low + k]
        corners, normal = side.corners[t], side.normals[t]
        for c in range(9):
            base[c * PITCH + k] = corners[c]
        for c in range(3):
            scratch[(width + 3 + c) * PITCH + k] = normal[c]
        scratch[(width + 6) * PITCH + k] = side.jacobian[t]
    for v in range(0, high - low, step):
        for c in range(3):
            x0, x1, x2 = load(base, c * PITCH + v), load(base, (3 + c) * PITCH + v), load(base, (6 + c) * PITCH + v)
            for q in range(points):
                y = side.shape[0, q] * x0 + side.shape[1, q] * x1 + side.shape[2, q] * x2
                store(scratch, (3 * q + c) * PITCH + v, y)
            store(scratch, (width + c) * PITCH + v, (x0 + x1 + x2) * (1.0 / 3.0))
            if curls:
                inverse = 1.0 / load(scratch, (width + 6) * PITCH + v)
                store(base, c * PITCH + v, (x1 - x2) * inverse)
                store(base, (3 + c) * PITCH + v, (x2 - x0) * inverse)
                store(base, (6 + c) * PITCH + v, (x0 - x1) * inverse)


@functools.lru_cache(maxsize=64)
def row_sums(radial: Radial, normal: str, curls: bool, mass: bool, oscillates: bool, points: int) -> Sums:
    """The loops of one Green's function and integrand.

    normal: "none", "varying" or "fixed", the side of the normal derivative. curls: integrate by parts; mass: with
    values of the functions (without for curls of Laplace). oscillates: complex values. points: of a triangle.
    scalars as in regular.py.
    """
    radial_value, radial_phase, shifts = radial
    of_varying, of_fixed = normal == "varying", normal == "fixed"
    width = 3 * points

    @jitable
    def kernel_part(values, offsets, place):  # type: ignore[no-untyped-def]
        value, value_i, slope, slope_i = values
        if of_varying:
            offset = load(offsets, place)
            return slope * offset, slope_i * offset
        if of_fixed:
            return slope, slope_i
        return value, value_i

    @jitable
    def pair_factors(fixed, t, flat, pitch, place, offsets, scalars):  # type: ignore[no-untyped-def]
        """Reference distance and factor of the triangle t with a vector of others; fills offsets."""
        p0, p1, tiny = scalars[0], scalars[1], scalars[2]
        centre, x, step = fixed.centres[t], fixed.nodes[t], lanes(flat)
        here = width * pitch + place
        e0, e1, e2 = load(flat, here), load(flat, here + pitch), load(flat, here + 2 * pitch)
        reference = zero(flat)
        if shifts:
            d0, d1, d2 = centre[0] - e0, centre[1] - e1, centre[2] - e2
            square = d0 * d0 + tiny + d1 * d1 + d2 * d2
            reference = square * inverse_square_root(square)
        f_re, f_im = radial_phase(reference, p0, p1)
        if of_varying:
            here += 3 * pitch
            n0, n1, n2 = load(flat, here), load(flat, here + pitch), load(flat, here + 2 * pitch)
            for p in range(points):
                d0, d1, d2 = number(x, 3 * p) - e0, number(x, 3 * p + 1) - e1, number(x, 3 * p + 2) - e2
                store(offsets, p * step, -(d0 * n0 + d1 * n1 + d2 * n2))
        factor = zero(flat) + fixed.jacobian[t]
        return reference, f_re * factor, f_im * factor

    @register_jitable
    def fill(fixed, varying, scalars, position, cluster, scratch, out):  # type: ignore[no-untyped-def]
        """out[:n] = the entries of the unknown at `position` with those of the cluster."""
        step, own = lanes(scratch), varying.lists.size == 0
        p0, p1, tiny = scalars[0], scalars[1], scalars[2]
        functions = varying.weights.shape[0]
        work = scratch[(width + 16) * PITCH :]  # sums at points: real, imaginary; offsets
        offsets = work[2 * points * step :]
        results = scratch[(width + 16) * PITCH + 3 * points * step :]
        first, count = varying.first[cluster], varying.sizes[cluster]
        low, high = first, first + count
        if not own:
            low, high = varying.list_starts[cluster], varying.list_starts[cluster + 1]
            for k in range(count):
                out[k] = 0.0
        begin, end = fixed.starts[position], fixed.starts[position + 1]
        for chunk in range(low, high, CHUNK):
            size = min(CHUNK, high - chunk)
            if own:
                flat, pitch, origin = varying.chunks, varying.pitch, chunk
            else:
                flat, pitch, origin = scratch, PITCH, 0
                chunk_of(varying, points, chunk, chunk + size, curls, scratch)
            for v in range(0, size, step):
                place = origin + v
                for q in range(2 * points):
                    store(work, q * step, zero(scratch))
                c0, c1, c2, h0, h1, h2 = zero(work), zero(work), zero(work), zero(work), zero(work), zero(work)
                for e in range(begin, end):
                    t, a = fixed.triangles[e], fixed.functions[e]
                    x, m, w = fixed.nodes[t], fixed.normals[t], fixed.weights[a]
                    reference, f_re, f_im = pair_factors(fixed, t, flat, pitch, place, offsets, scalars)
                    total, total_i = zero(work), zero(work)
                    g_re, g_im = f_re, f_im
                    if curls:
                        here = (width + 3) * pitch + place
                        n0, n1, n2 = load(flat, here), load(flat, here + pitch), load(flat, here + 2 * pitch)
                        cosine = m[0] * n0 + m[1] * n1 + m[2] * n2
                        g_re, g_im = f_re * cosine, f_im * cosine
                    for q in range(points):
                        here = 3 * q * pitch + place
                        y0, y1, y2 = load(flat, here), load(flat, here + pitch), load(flat, here + 2 * pitch)
                        s, si, every, every_i = zero(work), zero(work), zero(work), zero(work)
                        for p in range(points):
                            r2 = squared(x, 3 * p, y0, y1, y2, tiny)
                            k, u = kernel_part(radial_value(r2, p0, p1, reference), offsets, p * step)
                            if mass:
                                s = s + number(w, p) * k
                                if oscillates:
                                    si = si + number(w, p) * u
                            if curls:
                                weight = number(fixed.measure, p)
                                every = every + weight * k
                                if oscillates:
                                    every_i = every_i + weight * u
                        if of_fixed:
                            centre = fixed.centres[t]
                            d0, d1, d2 = centre[0] - y0, centre[1] - y1, centre[2] - y2
                            offset = d0 * m[0] + d1 * m[1] + d2 * m[2]
                            s, si = s * offset, si * offset
                        if mass:
                            s, si = turned(s, si, g_re, g_im)
                            add(work, q * step, s)
                            if oscillates:
                                add(work, (points + q) * step, si)
                        if curls:
                            weight = number(varying.measure, q)
                            total = total + weight * every
                            total_i = total_i + weight * every_i
                    if curls:
                        total, total_i = turned(total, total_i, f_re, f_im)
                        curl = fixed.curls[t, a]
                        c0, c1, c2 = c0 + curl[0] * total, c1 + curl[1] * total, c2 + curl[2] * total
                        if oscillates:
                            h0, h1, h2 = h0 + curl[0] * total_i, h1 + curl[1] * total_i, h2 + curl[2] * total_i
                jacobian = load(flat, (width + 6) * pitch + place)
                for f in range(functions):
                    re, im = zero(work), zero(work)
                    if mass:
                        s, si = zero(work), zero(work)
                        for q in range(points):
                            weight = varying.weights[f, q]
                            s = s + weight * load(work, q * step)
                            if oscillates:
                                si = si + weight * load(work, (points + q) * step)
                        re, im = turned(s, si, zero(work) + scalars[5], zero(work) + scalars[6])
                    if curls:
                        here = (width + 7 + 3 * f) * PITCH + v
                        d0, d1, d2 = load(scratch, here), load(scratch, here + PITCH), load(scratch, here + 2 * PITCH)
                        s, si = d0 * c0 + d1 * c1 + d2 * c2, d0 * h0 + d1 * h1 + d2 * h2
                        s, si = turned(s, si, zero(work) + scalars[3], zero(work) + scalars[4])
                        re, im = re + s, im + si
                    store(results, 2 * f * PITCH + v, jacobian * re)
                    if oscillates:
                        store(results, (2 * f + 1) * PITCH + v, jacobian * im)
            if own:
                for k in range(size):
                    if oscillates:
                        out[chunk - low + k] = complex(results[k], results[PITCH + k])
                    else:
                        out[chunk - low + k] = results[k]
            else:
                for k in range(size):
                    t = varying.lists[chunk + k]
                    for f in range(functions):
                        target = varying.places[t, f] - first
                        if 0 <= target < count:
                            if oscillates:
                                out[target] += complex(results[2 * f * PITCH + k], results[(2 * f + 1) * PITCH + k])
                            else:
                                out[target] += results[2 * f * PITCH + k]

    return Sums(fill, _blocks(radial, kernel_part, pair_factors, curls, mass, oscillates, of_fixed, points))


def _blocks(radial, kernel_part, pair_factors, curls, mass, oscillates, of_fixed, points):  # type: ignore[no-untyped-def]
    """`Sums.block`: each pair of triangles once for all entries of the block."""
    radial_value = radial.value
    width = 3 * points

    @jitable
    def pair(fixed, t, inside, varying, flat, pitch, place, v, mask, scalars, work, acc):  # type: ignore[no-untyped-def]
        """Add triangle t and a vector of others to the rows in acc; inside[a]: the row of local function a or -1."""
        step, p0, p1, tiny = lanes(work), scalars[0], scalars[1], scalars[2]
        functions, size = varying.weights.shape[0], fixed.weights.shape[0]
        at = 2 * points * step  # kernel values are at 0, offsets at `at`, then sums at points of the varying triangles
        sums = work[3 * points * step :]
        x, m = fixed.nodes[t], fixed.normals[t]
        reference, f_re, f_im = pair_factors(fixed, t, flat, pitch, place, work[at:], scalars)
        factor = load(mask, v) * load(flat, (width + 6) * pitch + place)
        f_re, f_im = f_re * factor, f_im * factor
        total, total_i = zero(work), zero(work)
        for q in range(points):
            here = 3 * q * pitch + place
            y0, y1, y2 = load(flat, here), load(flat, here + pitch), load(flat, here + 2 * pitch)
            offset = zero(work) + 1.0
            if of_fixed:
                centre = fixed.centres[t]
                offset = (centre[0] - y0) * m[0] + (centre[1] - y1) * m[1] + (centre[2] - y2) * m[2]
            every, every_i = zero(work), zero(work)
            for p in range(points):
                r2 = squared(x, 3 * p, y0, y1, y2, tiny)
                k, u = kernel_part(radial_value(r2, p0, p1, reference), work[at:], p * step)
                if of_fixed:
                    k, u = k * offset, u * offset
                store(work, p * step, k)
                if oscillates:
                    store(work, (points + p) * step, u)
                if curls:
                    weight = number(fixed.measure, p)
                    every = every + weight * k
                    every_i = every_i + weight * u
            if curls:
                weight = number(varying.measure, q)
                total, total_i = total + weight * every, total_i + weight * every_i
            if mass:
                for a in range(size):
                    if inside[a] < 0:
                        continue
                    s, si, w = zero(work), zero(work), fixed.weights[a]
                    for p in range(points):
                        weight = number(w, p)
                        s = s + weight * load(work, p * step)
                        if oscillates:
                            si = si + weight * load(work, (points + p) * step)
                    store(sums, 2 * (a * points + q) * step, s)
                    store(sums, (2 * (a * points + q) + 1) * step, si)
        if curls:
            total, total_i = turned(total, total_i, f_re, f_im)
            total, total_i = turned(total, total_i, zero(work) + scalars[3], zero(work) + scalars[4])
            here = (width + 3) * pitch + place
            n0, n1, n2 = load(flat, here), load(flat, here + pitch), load(flat, here + 2 * pitch)
            cosine = m[0] * n0 + m[1] * n1 + m[2] * n2
            f_re, f_im = f_re * cosine, f_im * cosine
        if mass:
            f_re, f_im = turned(f_re, f_im, zero(work) + scalars[5], zero(work) + scalars[6])
        for a in range(size):
            if inside[a] < 0:
                continue
            for f in range(functions):
                base = 2 * (inside[a] * functions + f) * PITCH + v
                re, im = zero(work), zero(work)
                if mass:
                    w = varying.weights[f]
                    for q in range(points):
                        weight = number(w, q)
                        re = re + weight * load(sums, 2 * (a * points + q) * step)
                        if oscillates:
                            im = im + weight * load(sums, (2 * (a * points + q) + 1) * step)
                    re, im = turned(re, im, f_re, f_im)
                if curls:
                    here, curl = (width + 7 + 3 * f) * pitch + place, fixed.curls[t, a]
                    product = curl[0] * load(flat, here) + curl[1] * load(flat, here + pitch)
                    product = product + curl[2] * load(flat, here + 2 * pitch)
                    re, im = re + product * total, im + product * total_i
                add(acc, base, re)
                if oscillates:
                    add(acc, base + PITCH, im)

    @register_jitable
    def scattered(varying, acc, chunk, size, own, first, count, group, rows, out):  # type: ignore[no-untyped-def]
        """Add the results of a chunk to rows group .. group + rows of the block."""
        functions = varying.weights.shape[0]
        for k in range(size):
            for f in range(functions):
                target = chunk + k - first
                if not own:
                    target = varying.places[varying.lists[chunk + k], f] - first
                if 0 <= target < count:
                    for r in range(rows):
                        here = 2 * (r * functions + f) * PITCH + k
                        if oscillates:
                            out[group + r, target] += complex(acc[here], acc[here + PITCH])
                        else:
                            out[group + r, target] += acc[here]

    @register_jitable
    def block(fixed, varying, scalars, skips, fixed_cluster, cluster, scratch, out):  # type: ignore[no-untyped-def]
        """out[:m, :n] = the entries of two clusters, without those of pairs of triangles in skips (starts, triangles):
        for each triangle of the fixed side increasing numbers of the other side's."""
        step, own = lanes(scratch), varying.lists.size == 0
        functions, size = varying.weights.shape[0], fixed.weights.shape[0]
        work = scratch[(width + 16) * PITCH :]
        mask = work[(3 * points + 2 * points * size) * step :]
        acc = mask[PITCH:]
        first, count = varying.first[cluster], varying.sizes[cluster]
        top, rows = fixed.first[fixed_cluster], fixed.sizes[fixed_cluster]
        low, high = first, first + count
        if not own:
            low, high = varying.list_starts[cluster], varying.list_starts[cluster + 1]
        inside = np.empty(size, np.int64)
        for i in range(rows):
            for j in range(count):
                out[i, j] = 0.0
        for chunk in range(low, high, CHUNK):
            width_of_chunk = min(CHUNK, high - chunk)
            if own:
                flat, pitch, origin = varying.chunks, varying.pitch, chunk
            else:
                flat, pitch, origin = scratch, PITCH, 0
                chunk_of(varying, points, chunk, chunk + width_of_chunk, curls, scratch)
            for k in range(PITCH):
                mask[k] = 1.0
            for group in range(0, rows, ROWS):
                some = min(ROWS, rows - group)
                for v in range(0, 2 * some * functions * PITCH, step):
                    store(acc, v, zero(acc))
                for r in range(some):
                    position = top + group + r
                    for e in range(fixed.starts[position], fixed.starts[position + 1]):
                        t, least = fixed.triangles[e], some
                        for a in range(size):
                            inside[a] = fixed.places[t, a] - top - group
                            if inside[a] >= some:
                                inside[a] = -1
                            if 0 <= inside[a] < least:
                                least = inside[a]
                        if least != r:
                            continue  # it has had its turn
                        marked = marking(skips, t, varying, own, chunk, width_of_chunk, mask, 0.0)
                        for v in range(0, width_of_chunk, step):
                            pair(fixed, t, inside, varying, flat, pitch, origin + v, v, mask, scalars, work, acc)
                        if marked:
                            marking(skips, t, varying, own, chunk, width_of_chunk, mask, 1.0)
                scattered(varying, acc, chunk, width_of_chunk, own, first, count, group, some, out)

    return block


@register_jitable
def marking(skips, t, varying, own, chunk, count, mask, value):  # type: ignore[no-untyped-def]
    """mask = value at the triangles of the chunk that t skips; whether there are any."""
    found, k = False, 0
    numbers = skips.triangles
    low = chunk if own else varying.lists[chunk]
    high = chunk + count - 1 if own else varying.lists[chunk + count - 1]
    for m in range(skips.starts[t], skips.starts[t + 1]):
        if numbers[m] > high:
            break
        if numbers[m] < low:
            continue
        if own:
            mask[numbers[m] - chunk] = value
            found = True
        else:
            while varying.lists[chunk + k] < numbers[m]:
                k += 1
            if varying.lists[chunk + k] == numbers[m]:
                mask[k] = value
                found = True
    return found
