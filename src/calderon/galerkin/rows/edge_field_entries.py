"""Entries of an edge function with those of a cluster: the loops behind compiled rows of electric and magnetic fields.

As in scalar_entries.py the fixed function is summed over first, at each quadrature point of each triangle of the
cluster. With the sums F of G (electric) or G'/r (magnetic) times 1, xi_1, xi_2, |xi|^2 over a triangle of the fixed
function, f = s (xi - alpha) in its frame, they give a vector V and a charge C at a point y of the cluster:

    electric   V = int G f,  C = s int G,      entry = int g . V - 4/k^2 s' C,
    magnetic   V = int G'/r g' x (x - y),      entry = int g . V,  with g' = f or f x n,

for the functions g = s' (eta - beta), or g x n, of the cluster. A column is a row with the sides exchanged: of
f . (n x (d x g)) = (f x n) . (d x g) the cross product with n goes with the test function, and (f x n) . (d x g) =
g . ((f x n) x d). Test functions may also be affine on triangles (dual_test_entries.py).
"""

import functools

import numpy as np
from numpy.typing import DTypeLike, NDArray

from calderon.backends.numba import jitable_part
from calderon.backends.vectors import add, complex_product, jitable, lanes, load, number, store, width, zero
from calderon.galerkin.regular.edge_tables import edge_test
from calderon.galerkin.regular.element_tables import Surface
from calderon.galerkin.rows.chunks import distance, marking
from calderon.galerkin.rows.cluster_tables import (
    CHUNK,
    FIRST,
    LENGTH,
    LIST_STARTS,
    LISTS,
    LOCALS,
    PITCH,
    PLACES,
    RECORDS,
    SIZES,
    STARTS,
    TRIANGLES,
    item,
)
from calderon.galerkin.rows.dual_test_entries import (
    AFFINE_COLUMNS,
    emitted_affine,
    field_moments,
    scattered_moments,
    three,
)
from calderon.galerkin.rows.scalar_entries import Sums
from calderon.greens import Radial
from calderon.greens.elementary import inverse_square_root
from calderon.quadrature import TriangleRule
from calderon.spaces import EdgeSpace

COLUMNS = 7
"""Numbers of a quadrature point of an edge function."""


def field_table(rule: TriangleRule) -> NDArray[np.float64]:
    """The table of a RowSide: weights (P,), barycentric coordinates (3, P)."""
    return np.concatenate([rule.weights, rule.barycentric.T.ravel()])


def field_records(
    space: EdgeSpace, surface: Surface, scales: NDArray[np.float64], degree: int, crossed: bool
) -> NDArray[np.float64]:
    """Records of the triangles: nodes (P, 7) and frame as in `edge_test`, s, s alpha of the local functions, corners;
    as part of a cluster beta, crossed with the normal or not, and s' times the Jacobian."""
    side = edge_test(space, surface, scales, degree, True, np.float64)
    arms = surface.corners - surface.corners.mean(axis=1, keepdims=True)
    if crossed:
        arms = np.cross(arms, surface.normals[:, None])
    strengths = scales * surface.jacobian[:, None]
    parts = side.nodes, side.centres, side.frames, side.arms, surface.corners, arms, strengths
    return np.concatenate([each.reshape(len(arms), -1) for each in parts], axis=1)


def field_scratch(points: int, triangles: int, real: DTypeLike) -> int:
    """Numbers of working memory of one thread, where functions live on so many triangles at most."""
    return (3 * points + 15 + 18 + triangles) * PITCH + 8 * points * width(real)


@jitable_part
def gathered_fields(side, points, before, more, low, high, scratch):  # type: ignore[no-untyped-def]
    """Gather triangles low..high of the lists of a side into scratch: points, centres, and `more` numbers: beta,
    strengths. before: what comes before the corners in a record."""
    step, numbers, index = lanes(scratch), side.numbers, side.integers
    rest = (3 * points + 3) * PITCH
    corners = rest + 12 * PITCH
    for k in range(high - low):
        place = number(index, RECORDS) + number(index, LENGTH) * item(index, LISTS, low + k) + before
        for c in range(9):
            scratch[corners + c * PITCH + k] = number(numbers, place + c)
        for c in range(more):
            scratch[rest + c * PITCH + k] = number(numbers, place + 9 + c)
    for v in range(0, high - low, step):
        for c in range(3):
            here = corners + c * PITCH + v
            x0, x1, x2 = load(scratch, here), load(scratch, here + 3 * PITCH), load(scratch, here + 6 * PITCH)
            for q in range(points):
                b0, b1 = number(numbers, points + q), number(numbers, 2 * points + q)
                b2 = number(numbers, 3 * points + q)
                store(scratch, (3 * q + c) * PITCH + v, b0 * x0 + b1 * x1 + b2 * x2)
            store(scratch, (3 * points + c) * PITCH + v, (x0 + x1 + x2) * (1.0 / 3.0))


@functools.lru_cache(maxsize=64)
def field_sums(radial: Radial, electric: bool, crossed: bool, points: int, affine: str = "none") -> Sums:
    """The loops of one Green's function; crossed: the fixed function is f x n (magnetic). affine: the "fixed" or the
    "varying" functions are t x n of dual tests, or "none". scalars as in edge_tile.py."""
    radial_value, radial_phase, shifts = radial.value, radial.phase, radial.shifts
    affine_fixed, affine_varying = affine == "fixed", affine == "varying"
    columns = AFFINE_COLUMNS if affine_fixed else COLUMNS
    first_arm, arm_length = columns * points + (21 if affine_fixed else 12), 6 if affine_fixed else 3
    before, more = (AFFINE_COLUMNS * points + 12, 0) if affine_varying else (COLUMNS * points + 21, 12)

    @jitable
    def emitted(x, base, arm, y0, y1, y2, sums, scratch, f0, i0, f1, i1, f2, i2, f3, i3):  # type: ignore[no-untyped-def]
        """Add V and C at the points y."""
        step, frame, centre = lanes(scratch), base + columns * points + 3, base + columns * points
        s, a1, a2 = number(x, arm), number(x, arm + 1), number(x, arm + 2)
        m1, j1, m2, j2 = s * f1 - a1 * f0, s * i1 - a1 * i0, s * f2 - a2 * f0, s * i2 - a2 * i0
        if crossed:
            m1, j1, m2, j2 = m2, j2, -m1, -j1
        e0, e1, e2 = number(x, frame), number(x, frame + 1), number(x, frame + 2)
        g0, g1, g2 = number(x, frame + 3), number(x, frame + 4), number(x, frame + 5)
        v0, v1, v2 = e0 * m1 + g0 * m2, e1 * m1 + g1 * m2, e2 * m1 + g2 * m2
        w0, w1, w2 = e0 * j1 + g0 * j2, e1 * j1 + g1 * j2, e2 * j1 + g2 * j2
        if electric:
            add(scratch, sums + 6 * step, s * f0)
            add(scratch, sums + 7 * step, s * i0)
        else:
            n, ni = a2 * f1 - a1 * f2, a2 * i1 - a1 * i2
            if crossed:
                n, ni = s * f3 - a1 * f1 - a2 * f2, s * i3 - a1 * i1 - a2 * i2
            n0, n1, n2 = number(x, frame + 6), number(x, frame + 7), number(x, frame + 8)
            d0, d1, d2 = number(x, centre) - y0, number(x, centre + 1) - y1, number(x, centre + 2) - y2
            v0, v1, v2 = v1 * d2 - v2 * d1 + n0 * n, v2 * d0 - v0 * d2 + n1 * n, v0 * d1 - v1 * d0 + n2 * n
            w0, w1, w2 = w1 * d2 - w2 * d1 + n0 * ni, w2 * d0 - w0 * d2 + n1 * ni, w0 * d1 - w1 * d0 + n2 * ni
        add(scratch, sums, v0)
        add(scratch, sums + step, v1)
        add(scratch, sums + 2 * step, v2)
        add(scratch, sums + 3 * step, w0)
        add(scratch, sums + 4 * step, w1)
        add(scratch, sums + 5 * step, w2)

    @jitable
    def summed(x, base, arm, mask, v, sums, scalars, scratch):  # type: ignore[no-untyped-def]
        """Add what a triangle of the fixed function sends to the points of a vector of others."""
        step, centre = lanes(scratch), base + columns * points
        p0, p1, tiny = scalars[0], scalars[1], scalars[2]
        reference = zero(scratch)
        if shifts:
            e0, e1, e2 = three(scratch, 3 * points * PITCH + v, PITCH)
            square = distance(x, centre, e0, e1, e2, tiny)
            reference = square * inverse_square_root(square)
        f_re, f_im = radial_phase(reference, p0, p1)
        if mask >= 0:
            f_re, f_im = f_re * load(scratch, mask + v), f_im * load(scratch, mask + v)
        for q in range(points):
            y0, y1, y2 = three(scratch, 3 * q * PITCH + v, PITCH)
            z = zero(scratch)
            s0, s1, s2, s3, s4, s5, i0, i1, i2, i3, i4, i5 = z, z, z, z, z, z, z, z, z, z, z, z
            for p in range(points):
                here = base + columns * p
                k, ki, h, hi = radial_value(distance(x, here, y0, y1, y2, tiny), p0, p1, reference)
                if not electric:
                    k, ki = h, hi
                w0, w1, w2 = number(x, here + 3), number(x, here + 4), number(x, here + 5)
                s0, s1, s2 = s0 + w0 * k, s1 + w1 * k, s2 + w2 * k
                i0, i1, i2 = i0 + w0 * ki, i1 + w1 * ki, i2 + w2 * ki
                if crossed or affine_fixed:
                    w3 = number(x, here + 6)
                    s3, i3 = s3 + w3 * k, i3 + w3 * ki
                if affine_fixed:
                    w4, w5 = number(x, here + 7), number(x, here + 8)
                    s4, i4, s5, i5 = s4 + w4 * k, i4 + w4 * ki, s5 + w5 * k, i5 + w5 * ki
            s0, i0 = complex_product(s0, i0, f_re, f_im)
            s1, i1 = complex_product(s1, i1, f_re, f_im)
            s2, i2 = complex_product(s2, i2, f_re, f_im)
            if crossed or affine_fixed:
                s3, i3 = complex_product(s3, i3, f_re, f_im)
            if affine_fixed:
                s4, i4 = complex_product(s4, i4, f_re, f_im)
                s5, i5 = complex_product(s5, i5, f_re, f_im)
                here = sums + 8 * q * step
                real, imaginary = (s0, s1, s2, s3, s4, s5), (i0, i1, i2, i3, i4, i5)
                emitted_affine(x, base + columns * points, arm, y0, y1, y2, here, scratch, real)
                emitted_affine(x, base + columns * points, arm, y0, y1, y2, here + 3 * step, scratch, imaginary)
                continue
            emitted(x, base, arm, y0, y1, y2, sums + 8 * q * step, scratch, s0, i0, s1, i1, s2, i2, s3, i3)

    @jitable
    def entries(varying, v, sums, results, scalars, scratch):  # type: ignore[no-untyped-def]
        """The entries with the three local functions of a vector of triangles."""
        numbers, step, rest = varying.numbers, lanes(scratch), (3 * points + 3) * PITCH + v
        z = zero(scratch)
        t0, t1, t2, k0, k1, k2, u, ui, c, ci = z, z, z, z, z, z, z, z, z, z
        for q in range(points):
            weight, here = number(numbers, q), sums + 8 * q * step
            g0, g1, g2 = z, z, z
            for n in range(3):
                b0, b1, b2 = three(scratch, rest + 3 * n * PITCH, PITCH)
                value = number(numbers, (n + 1) * points + q)
                g0, g1, g2 = g0 + value * b0, g1 + value * b1, g2 + value * b2
            v0, v1, v2 = three(scratch, here, step)
            w0, w1, w2 = three(scratch, here + 3 * step, step)
            u, ui = u + weight * (g0 * v0 + g1 * v1 + g2 * v2), ui + weight * (g0 * w0 + g1 * w1 + g2 * w2)
            t0, t1, t2 = t0 + weight * v0, t1 + weight * v1, t2 + weight * v2
            k0, k1, k2 = k0 + weight * w0, k1 + weight * w1, k2 + weight * w2
            if electric:
                c, ci = c + weight * load(scratch, here + 6 * step), ci + weight * load(scratch, here + 7 * step)
        if electric:
            c, ci = complex_product(c, ci, z + scalars[5], z + scalars[6])
            u, ui = u - c, ui - ci
        for b in range(3):
            b0, b1, b2 = three(scratch, rest + 3 * b * PITCH, PITCH)
            re, im = u - (b0 * t0 + b1 * t1 + b2 * t2), ui - (b0 * k0 + b1 * k1 + b2 * k2)
            strength = load(scratch, rest + (9 + b) * PITCH)
            re, im = complex_product(re, im, strength * scalars[3], strength * scalars[4])
            store(scratch, results + 2 * b * PITCH + v, re)
            store(scratch, results + (2 * b + 1) * PITCH + v, im)

    @jitable_part
    def row_of(fixed, varying, scalars, skips, masked, position, cluster, scratch, out):  # type: ignore[no-untyped-def]
        """out[:n] = the entries of the unknown at `position` with those of the cluster; masked: without pairs in
        skips, as in scalar_entries.py."""
        near, index, step = fixed.integers, varying.integers, lanes(scratch)
        results = (3 * points + 15) * PITCH
        sums = results + 18 * PITCH
        masks = sums + 8 * points * step
        first, count = item(index, FIRST, cluster), item(index, SIZES, cluster)
        for k in range(count):
            out[k] = 0.0
        begin, end = item(near, STARTS, position), item(near, STARTS, position + 1)
        low, high = item(index, LIST_STARTS, cluster), item(index, LIST_STARTS, cluster + 1)
        for chunk in range(low, high, CHUNK):
            size = min(CHUNK, high - chunk)
            gathered_fields(varying, points, before, more, chunk, chunk + size, scratch)
            if masked:
                for k in range((end - begin) * PITCH):
                    scratch[masks + k] = 1.0
                for e in range(begin, end):
                    t = item(near, TRIANGLES, e)
                    marking(skips, t, index, chunk, size, scratch, masks + (e - begin) * PITCH, 0.0)
            for v in range(0, size, step):
                for k in range(8 * points):
                    store(scratch, sums + k * step, zero(scratch))
                for e in range(begin, end):
                    base = number(near, RECORDS) + number(near, LENGTH) * item(near, TRIANGLES, e)
                    arm = base + first_arm + arm_length * item(near, LOCALS, e)
                    mask = masks + (e - begin) * PITCH if masked else -1
                    summed(fixed.numbers, base, arm, mask, v, sums, scalars, scratch)
                if affine_varying:
                    field_moments(varying.numbers, points, v, sums, results, scalars, scratch)
                else:
                    entries(varying, v, sums, results, scalars, scratch)
            if affine_varying:
                scattered_moments(varying, points, chunk, size, first, count, results, scratch, out)
                continue
            for k in range(size):
                t = item(index, LISTS, chunk + k)
                for b in range(3):
                    target = item(index, PLACES, 3 * t + b) - first
                    if 0 <= target < count:
                        here = results + 2 * b * PITCH + k
                        out[target] += complex(scratch[here], scratch[here + PITCH])

    @jitable_part
    def fill(fixed, varying, scalars, position, cluster, scratch, out):  # type: ignore[no-untyped-def]
        """As in scalar_entries.py."""
        nothing = varying.integers  # in place of skips, which are not read
        row_of(fixed, varying, scalars, nothing, False, position, cluster, scratch, out)

    @jitable_part
    def block(fixed, varying, scalars, skips, fixed_cluster, cluster, scratch, out):  # type: ignore[no-untyped-def]
        """As in scalar_entries.py."""
        first = item(fixed.integers, FIRST, fixed_cluster)
        for r in range(item(fixed.integers, SIZES, fixed_cluster)):
            row_of(fixed, varying, scalars, skips, True, first + r, cluster, scratch, out[r])

    return Sums(fill, block)
