"""The inner sum of regular pairs: a Green's function over all pairs of points of two triangles, times test functions.

One triangle is fixed, others are the lanes of vectors. Innermost is a loop over the points of the fixed triangle for
one point of the others, in which the functions of the fixed triangle are applied. Tiles of dense matrices and blocks of
clusters share this loop, the distances through centroids and the extraction of the phase (theory, equations of "Regular
pairs").
"""

import functools
from collections.abc import Callable
from typing import Any

from calderon.backends.vectors import jitable, lanes, load, number, store, zero
from calderon.galerkin.regular.centroid_distances import (
    PRODUCTS,
    WEIGHT,
    along,
    dot,
    put_pair,
    put_planes,
    three_squares,
)
from calderon.galerkin.regular.point_sums import EVEN, applied, combined, put_shares, squared, three, totals, zeros
from calderon.greens import Radial
from calderon.greens.elementary import inverse_square_root
from calderon.integrands import Component


def held_groups(groups: int, joint: bool) -> int:
    """How many threes of sums are held at a point: one of each group of functions, one where there is a single function
    (groups = 0), and two where two components have one group (joint)."""
    return 2 if joint else max(1, groups)


def pair_room(points: int, groups: int, components: int = 1) -> int:
    """Vectors of working memory: distances of the points x from planes, sums at each point y, parts of squared
    distances (`put_pair`), distances of the points y from a plane, and, for more than two groups or two components,
    values of so many components at the points x for one y."""
    kept = 2 * components if groups > 2 or components > 1 else 0
    return (4 + 6 * max(1, groups) + kept) * points + PRODUCTS


def value_place(points: int, groups: int, components: int = 1) -> int:
    """The place of the values at one point, in vectors of the working memory; arguments as of `pair_room`."""
    return pair_room(points, groups, components) - 2 * components * points


@functools.lru_cache(maxsize=256)
def pair_sums(
    radial: Radial, component: Component, groups: int, every: bool, stored: bool, exchanged: bool, oscillates: bool,
    threes: bool, through_centroids: bool, points: int, second: Component | None = None, weighed: bool = False,
) -> Callable[..., Any]:  # fmt: skip
    """The compiled sums sum_p w_a(x_p) k(x_p, y_q) at each point y_q of one component k or two, without monomials.

    component: k is a radial function f, or f d . m with the normal m of the fixed triangle, its "test" side (d = x - y,
    x in the fixed one), or -f d . n with the normals n of the others, its "trial" side. groups: how many groups of
    three functions w_a the fixed triangle has, at most two for points in threes; 0: one constant function. every: add
    up the sums at all y, too, with the weights `measure`. stored: keep the sums at each point y. exchanged: x and y
    change places in the loops, and functions are those of the others (not with the normal of the fixed triangle;
    through centroids). second: another component, of at most three functions in threes, not exchanged: distances, roots
    and phases are found once for both. threes: points are in threes (point_sums.py); through_centroids: distances are
    those of centroid_distances.py. points: number of points of a triangle. weighed: the three points of a triangle have
    the weights of `centroid_distances.wave_weights`, of three functions on both sides.

    sums(x, o, m, c, shapes, record, weights, y, here, pitch, e, n, around, there, steps, pairs, ones, measure,
    parameters, tiny, missing, kept, s, w): x[o:]: points of the fixed triangle, m, c: its normal and centroid, weights:
    its functions; coordinate k of the points y_q of the others is at y[here + (3 q + k) pitch], e, n: their centroids
    and normals; shapes[record:], around[there:], steps, pairs: `Spreads`; ones: 1 for each three points; missing, kept:
    whether lanes are left out, and 0 in these; parameters, tiny: of the Green's function, and added to squares.
    Returns the phase, and the sums over all points of both components; s[w:] then has the distances from planes
    (points), or where sides are `weighed` the shares of the points of the outer loop (3,), and for each y 3
    `held_groups` real and as many imaginary sums, those of the second component last.
    """
    radial_phase, shifts, triples = radial.phase, radial.shifts, points // 3
    held, joint = held_groups(groups, second is not None), second or component
    normals = component.normal, joint.normal
    functions, of_varying, of_fixed = 3 * held, "trial" in normals, "test" in normals
    scaled = component.normal == "test" or (exchanged and of_varying)
    scaled_two = joint.normal == "test" if second else scaled
    value = both_values(radial, component, joint, exchanged)
    at_one_point = sums_one_by_one(value, groups, oscillates, points)
    if threes:
        at_one_point = sums_in_threes(value, groups, held, exchanged, oscillates, through_centroids, points, weighed)
    shares_of, finish = weighing(exchanged) if weighed else (even_shares, finish_even)
    put_sums, put_offsets = putting_sums(groups, held, oscillates), putting_offsets(through_centroids, points)
    values, heights = value_place(points, held), (functions * 2 + 3) * points + PRODUCTS
    offsets = heights if of_fixed else 0

    @jitable
    def more_sums(s, w, weights, f):
        """The real and the imaginary sum at one point y with function f, from values that `sums_one_by_one` kept."""
        step, part_i = lanes(s), zero(s)
        place = w + values * step
        if oscillates:
            part_i = combined(s, place + points * step, step, points, weights, f * points)
        return combined(s, place, step, points, weights, f * points), part_i

    @jitable
    def sums(
        x, o, m, c, shapes, record, weights, y, here, pitch, e, n, around, there, steps, pairs, ones, measure,
        parameters, tiny, missing, kept, s, w,
    ):  # fmt: skip
        """Sum over all pairs of points of a fixed triangle and a vector of others."""
        # the distance of the centroids: phase, and distances of points from it
        step, (c0, c1, c2), (e0, e1, e2), (m0, m1, m2) = lanes(s), c, e, m
        d0, d1, d2 = c0 - e0, c1 - e1, c2 - e2
        square, reference = d0 * d0 + tiny + d1 * d1 + d2 * d2, zero(s)
        if shifts:
            reference = square * inverse_square_root(square)
        if through_centroids:
            put_pair(
                shapes, record, around, there, pitch, steps, triples, d0, d1, d2, square, missing, kept, s,
                w + (functions * 2 + 3) * points * step, w + (functions * 2 + 1) * points * step,
                w + (functions * 2 + 2) * points * step,
            )  # fmt: skip
        # distances of the points of the fixed triangle from the planes of the others
        if of_varying:
            put_offsets(x, o, shapes, record, (d0, d1, d2), e, n, steps, ones, s, w)
        # distances of the points of the others from the plane of the fixed triangle
        if of_fixed and through_centroids:
            w0, w1 = along(around, there, pitch, m0, m1, m2), along(around, there + 3 * pitch, pitch, m0, m1, m2)
            put_planes(steps, triples, ones, 0, d0 * m0 + d1 * m1 + d2 * m2, w0, w1, s, w + heights * step)
        total, total_i, other, other_i = zero(s), zero(s), zero(s), zero(s)
        shares, others = shares_of(shapes, record, around, there, pitch, s)
        for q in range(points):
            offset, y0, y1, y2 = zero(s), zero(s), zero(s), zero(s)
            if not through_centroids:
                y0, y1, y2 = three(y, here + 3 * q * pitch, pitch)
            # sums over the points of the fixed triangle, times the distance from its plane
            one, one_i, two, two_i = at_one_point(
                x, o, weights, y0, y1, y2, pairs, q, parameters, tiny, reference, shares, s, w
            )  # fmt: skip
            if of_fixed and not through_centroids:  # the same factor for all points of the fixed triangle
                offset = (c0 - y0) * m0 + (c1 - y1) * m1 + (c2 - y2) * m2
            elif of_fixed or (exchanged and of_varying):
                offset = load(s, w + (offsets + q) * step)
            if scaled:
                one, one_i = times(one, offset), times(one_i, offset)
            if scaled_two:
                two, two_i = times(two, offset), times(two_i, offset)
            # sum over all points of both sides; sums at this point
            if every:
                weight = number(measure, q)
                total, other = total + weight * (one[0] + one[1] + one[2]), other + weight * (two[0] + two[1] + two[2])
                if oscillates:
                    total_i = total_i + weight * (one_i[0] + one_i[1] + one_i[2])
                    other_i = other_i + weight * (two_i[0] + two_i[1] + two_i[2])
            if stored:
                at = w + (points + 2 * functions * q) * step
                put_sums(s, at, one, one_i, two, two_i)
                for f in range(6, functions):  # further groups, from the values at this point
                    part, part_i = more_sums(s, w, weights, f)
                    if of_fixed:
                        part, part_i = part * offset, part_i * offset
                    store(s, at + f * step, part)
                    if oscillates:
                        store(s, at + (functions + f) * step, part_i)
        return finish(radial_phase(reference, parameters), (total, other), (total_i, other_i), others, s, w)

    return sums


def weighing(exchanged: bool) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """The compiled functions that read the weights of waves at the points of both triangles
    (`centroid_distances.wave_weights`) and that finish the sums with them; exchanged: as in `pair_sums`.

    shares_of(shapes, record, around, there, pitch, s), arguments as in `pair_sums`: shares of the inner loop, and what
    the other one needs: the product of both rho, 1 / rho of the outer loop (0 where sides are exchanged: sums over all
    points are not made there), vectors of the shares of the outer loop. finish(phase, total, total_i, kept, s, w): the
    results of `pair_sums`, from the phase, real and imaginary sums over all points of both components, and `kept`.
    """

    @jitable
    def shares_of(shapes, record, around, there, pitch, s):
        """Read the weights from the records of both triangles."""
        own, here, nothing = record + WEIGHT, there + WEIGHT * pitch, zero(s)
        rho, varying = number(shapes, own) * load(around, here), three(around, here + pitch, pitch)
        fixed = number(shapes, own + 1), number(shapes, own + 2), number(shapes, own + 3)
        if exchanged:
            return varying, (rho, nothing, (nothing + fixed[0], nothing + fixed[1], nothing + fixed[2]))
        return fixed, (rho, 0.5 * (1.0 + varying[0] + varying[1] + varying[2]), varying)

    @jitable
    def finish(phase, total, total_i, kept, s, w):
        """Multiply by what all sums lack, but not sums over all points, which have the weights of the rule."""
        rho, outside, shares = kept
        put_shares(s, w, shares)
        total, total_i = (outside * total[0], outside * total[1]), (outside * total_i[0], outside * total_i[1])
        return rho * phase[0], rho * phase[1], total, total_i

    return shares_of, finish


@jitable
def even_shares(shapes, record, around, there, pitch, s):
    """The shares of the rule, instead of those of `weighing`, and nothing to be kept; arguments as in `weighing`."""
    return EVEN, 0


@jitable
def finish_even(phase, total, total_i, kept, s, w):
    """The results of `pair_sums` without weights of waves; arguments as in `weighing`."""
    return phase[0], phase[1], total, total_i


def both_values(radial: Radial, component: Component, second: Component, exchanged: bool) -> Callable[..., Any]:
    """The compiled value(r2, parameters, reference, s, place): real and imaginary part of one component, then those of
    another one or of the first one again, without the factor d . m of the fixed triangle.

    r2: squared distance; parameters: of the Green's function; reference: distance at which the phase is extracted;
    s[place]: the factor -d . n of the other triangles for this x, unless `exchanged`, where it is applied later.
    """
    radial_value = radial.multiple or radial.value
    first, last = (value_of(each, exchanged) for each in (component, second))

    @jitable
    def both(r2, parameters, reference, s, place):
        """Evaluate the Green's function once for both components."""
        values = radial_value(r2, parameters, reference)
        return first(values, s, place), last(values, s, place)

    return both


def value_of(component: Component, exchanged: bool) -> Callable[..., Any]:
    """The compiled value(values, s, place) of one component, values: of a Green's function; the rest as in
    `both_values`."""
    multiplied, real = component.normal == "trial" and not exchanged, 2 * component.radial
    imaginary = real + 1

    @jitable
    def value(values, s, place):
        """Take the component out of the values of a Green's function."""
        if multiplied:
            offset = load(s, place)
            return values[real] * offset, values[imaginary] * offset
        return values[real], values[imaginary]

    return value


def putting_offsets(through_centroids: bool, points: int) -> Callable[..., None]:
    """The kernel that stores at s[w:] the distances of the points of the fixed triangle from the planes of the others.

    put_offsets(x, o, shapes, record, d, e, n, steps, ones, s, w): d = c - e; other arguments as in `pair_sums`."""
    triples = points // 3

    @jitable
    def put_offsets(x, o, shapes, record, d, e, n, steps, ones, s, w):
        """Store -(x - y) . n at each point x, the same for all y."""
        (d0, d1, d2), (e0, e1, e2), (n0, n1, n2) = d, e, n
        if through_centroids:
            w0, w1 = dot(shapes, record, n0, n1, n2), dot(shapes, record + 3, n0, n1, n2)
            put_planes(steps, triples, ones, 0, -(d0 * n0 + d1 * n1 + d2 * n2), w0, w1, s, w)
        else:
            for p in range(points):
                d0, d1 = number(x, o + 3 * p) - e0, number(x, o + 3 * p + 1) - e1
                d2 = number(x, o + 3 * p + 2) - e2
                store(s, w + p * lanes(s), -(d0 * n0 + d1 * n1 + d2 * n2))

    return put_offsets


def sums_in_threes(
    value: Callable[..., Any], groups: int, held: int, exchanged: bool, oscillates: bool, through_centroids: bool,
    points: int, weighed: bool,
) -> Callable[..., Any]:  # fmt: skip
    """The compiled sums at one point y, three points of the fixed triangle at a time, of one or two groups.

    value: of `both_values`; held: groups of sums. Where held is 2, the second group has three further functions
    (groups = 2), or the second component with the first three (groups = 1); with groups = 0 the first of the three sums
    is that of one function. The others are as in `pair_sums`.

    at_one_point(x, o, weights, y0, y1, y2, pairs, q, parameters, tiny, reference, shares, s, w): y = (y0, y1, y2),
    point number q of the others, not read where distances come through centroids; reference: distance at which the
    phase is extracted, 0 for none; shares: as in `point_sums.totals`; others as in `pair_sums`. Returns four triples of
    sums: real and imaginary ones of the first group, then those of the second.
    """
    triples, functions = points // 3, 3 * held

    @jitable
    def at_one_point(x, o, weights, y0, y1, y2, pairs, q, parameters, tiny, reference, shares, s, w):
        """Return the sums at point y number q of the others, over three points x of the fixed triangle at a time."""
        # where the parts of squared distances are, and those of this point
        step = lanes(s)
        inside, outside = w + (functions * 2 + 1) * points * step, w + (functions * 2 + 2) * points * step
        products, corner, stride = w + (functions * 2 + 3) * points * step, 3 * step, step
        if exchanged:
            inside, outside, corner, stride = outside, inside, step, 3 * step
        one, one_i, two, two_i = zeros(s), zeros(s), zeros(s), zeros(s)
        at_q, z0, z1, z2 = zero(s), zero(s), zero(s), zero(s)
        if through_centroids:
            at_q = load(s, outside + q * step)
            z0, z1, z2 = three(s, products + q % 3 * corner, stride)
        for p in range(triples):
            here = 3 * p * step
            if through_centroids:
                r0, r1, r2 = three_squares(s, inside + here, at_q, number(pairs, q // 3 * triples + p), z0, z1, z2)
            else:
                r0 = squared(x, o + 9 * p, y0, y1, y2, tiny)
                r1 = squared(x, o + 9 * p + 3, y0, y1, y2, tiny)
                r2 = squared(x, o + 9 * p + 6, y0, y1, y2, tiny)
            # values (k, u) of the first and (h, v) of the second component, real and imaginary
            (k0, u0), (h0, v0) = value(r0, parameters, reference, s, w + here)
            (k1, u1), (h1, v1) = value(r1, parameters, reference, s, w + here + step)
            (k2, u2), (h2, v2) = value(r2, parameters, reference, s, w + here + 2 * step)
            # times three functions, and three more
            alpha, beta = 1.0 if p == 0 else number(weights, p), 1.0 if weighed else number(weights, triples + p)
            one = applied(one, k0, k1, k2, alpha, beta)
            if oscillates:
                one_i = applied(one_i, u0, u1, u2, alpha, beta)
            if held == 2:
                if groups == 2:
                    alpha, beta = number(weights, 2 * triples + p), number(weights, 3 * triples + p)
                two = applied(two, h0, h1, h2, alpha, beta)
                if oscillates:
                    two_i = applied(two_i, v0, v1, v2, alpha, beta)
        if groups == 0:
            z = zero(s)
            return (one[3], z, z), (one_i[3], z, z), (two[3], z, z), (two_i[3], z, z)
        return totals(one, shares), totals(one_i, shares), totals(two, shares), totals(two_i, shares)

    return at_one_point


def sums_one_by_one(value: Callable[..., Any], groups: int, oscillates: bool, points: int) -> Callable[..., Any]:
    """The compiled sums s_a = sum_p w_a(x_p) k(x_p, y) at one point y, one point x_p of the fixed triangle at a time.

    groups: 0 one function a, 1 three, 2 and more six. With more than two, the values k(x_p, y) are kept as well, real
    then imaginary ones from vector `value_place` of s[w:] on, with which `pair_sums` applies further functions.

    at_one_point(x, o, weights, y0, y1, y2, pairs, q, parameters, tiny, reference, shares, s, w): weights (functions,
    points): w_a(x_p); pairs, q and shares are not read; the rest as in `sums_in_threes`. Returns four triples: (s_0,
    s_1, s_2), their imaginary parts, (s_3, s_4, s_5), and theirs; sums of functions that there are not are zero.
    """
    values = value_place(points, groups)

    @jitable
    def at_one_point(x, o, weights, y0, y1, y2, pairs, q, parameters, tiny, reference, shares, s, w):
        """Return the sums at point y number q of the others, over one point x of the fixed triangle after the other."""
        z = zero(s)
        s0, s1, s2, s3, s4, s5, i0, i1, i2, i3, i4, i5 = z, z, z, z, z, z, z, z, z, z, z, z
        for p in range(points):
            # the value at a pair of points
            r2 = squared(x, o + 3 * p, y0, y1, y2, tiny)
            k, u = value(r2, parameters, reference, s, w + p * lanes(s))[0]
            if groups > 2:
                store(s, w + (values + p) * lanes(s), k)
                store(s, w + (values + points + p) * lanes(s), u)
            # one function, or three or six of them
            w0 = number(weights, p)
            s0 = s0 + w0 * k
            if oscillates:
                i0 = i0 + w0 * u
            if groups > 0:
                w1, w2 = number(weights, points + p), number(weights, 2 * points + p)
                s1, s2 = s1 + w1 * k, s2 + w2 * k
                if oscillates:
                    i1, i2 = i1 + w1 * u, i2 + w2 * u
            if groups > 1:
                w3, w4, w5 = (
                    number(weights, 3 * points + p), number(weights, 4 * points + p), number(weights, 5 * points + p)
                )  # fmt: skip
                s3, s4, s5 = s3 + w3 * k, s4 + w4 * k, s5 + w5 * k
                if oscillates:
                    i3, i4, i5 = i3 + w3 * u, i4 + w4 * u, i5 + w5 * u
        return (s0, s1, s2), (i0, i1, i2), (s3, s4, s5), (i3, i4, i5)

    return at_one_point


def putting_sums(groups: int, held: int, oscillates: bool) -> Callable[..., None]:
    """The kernel put_sums(s, place, one, one_i, two, two_i) that stores the sums at one point y from s[place] on.

    one, two: three sums each of the first and the second group, one_i, two_i: their imaginary parts; only the first of
    `one` where groups is 0, and `two` where `held` is 2."""
    functions = 3 * held

    @jitable
    def put_sums(s, place, one, one_i, two, two_i):
        """Store real sums, then imaginary ones."""
        step, imaginary = lanes(s), place + functions * lanes(s)
        store(s, place, one[0])
        if oscillates:
            store(s, imaginary, one_i[0])
        if groups > 0:
            store(s, place + step, one[1])
            store(s, place + 2 * step, one[2])
            if oscillates:
                store(s, imaginary + step, one_i[1])
                store(s, imaginary + 2 * step, one_i[2])
        if held > 1:
            store(s, place + 3 * step, two[0])
            store(s, place + 4 * step, two[1])
            store(s, place + 5 * step, two[2])
            if oscillates:
                store(s, imaginary + 3 * step, two_i[0])
                store(s, imaginary + 4 * step, two_i[1])
                store(s, imaginary + 5 * step, two_i[2])

    return put_sums


@jitable
def times(values, factor):
    """Three vectors, values, times one factor."""
    v0, v1, v2 = values
    return v0 * factor, v1 * factor, v2 * factor
