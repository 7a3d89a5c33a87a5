"""From points to plane waves (P2M) and back (L2P): patterns of charges about the centres of their boxes, and fields.

A source has some complex numbers, the components of its strength; of each the sum

    S_c(d) = sum_p q_cp exp(-i k d.(y_p - c'))

over the points of a box is a function of the direction d, and the patterns of the box are combinations of them with
factors that depend on d alone: 1 for charges, -i k d for dipoles, unit vectors of theta and phi for currents. On the
way back combinations of incoming patterns are summed at points,

    F_c(x_p) = sum_d P_c(d) exp(i k d.(x_p - c)).

Sines and cosines are computed when they are needed: reading stored ones would take longer.
"""

import functools
from collections.abc import Callable

from calderon.backends.numba import jitable_part, kernel
from calderon.backends.vector_loads import total
from calderon.backends.vectors import lanes, load, number, store, zero
from calderon.greens.elementary import decaying_exponential, sine_cosine

POINTS = 8
"""Points whose waves are held at a time."""


@jitable_part
def combine(x, x0, count_x, y, y0, count_y, pitch, factors, adds):
    """Write y_j = sum_i f_ji x_i of complex functions of the direction to y, or add it, where adds is True.

    x, y: numbers, with count_x functions from x0 on and count_y from y0 on, real parts first, imaginary ones `pitch`
    later; factors (count_y, count_x, 2, pitch): f.
    """
    w = lanes(y)
    for j in range(count_y):
        to = y0 + j * 2 * pitch
        for d in range(0, pitch, w):
            re, im = zero(y), zero(y)
            for i in range(count_x):
                f, s = (j * count_x + i) * 2 * pitch + d, x0 + i * 2 * pitch + d
                a, b = load(factors, f), load(factors, f + pitch)
                c, e = load(x, s), load(x, s + pitch)
                re, im = re + (a * c - b * e), im + (a * e + b * c)
            if adds:
                re, im = re + load(y, to + d), im + load(y, to + pitch + d)
            store(y, to + d, re)
            store(y, to + pitch + d, im)


def waves(lossy: bool, mixed: bool) -> Callable[..., None]:
    """A function that computes cos and sin of k d.x for a vector of directions, times exp(sign Im k d.x) / exp(growth).

    sign: 1 for P2M, which conjugates them, -1 for L2P. lossy: whether k has an imaginary part. mixed: whether they are
    multiplied by the amplitude a - sign i b k d.n of a point with the normal n, where mix holds a and b: a charge a
    with a dipole b n, or a test of both.
    """

    @jitable_part
    def wave(places, p, normals, mix, along, d, pitch, loss, sign, growth, room, at):
        """Write cos and sin of point p for the directions d, d + 1, ... to room[at :], a vector each.

        places (points, 3), normals (points, 4), mix (rows, 4), along (3 pitch,), loss, growth: as in `p2m_kernel`;
        sign: 1 or -1, see `waves`.
        """
        kx, ky, kz = load(along, d), load(along, pitch + d), load(along, 2 * pitch + d)
        t = kx * places[p, 0] + ky * places[p, 1] + kz * places[p, 2]
        s, c = sine_cosine(t)
        # decay
        if lossy:
            decay = decaying_exponential(growth - t * (sign * loss))
            s, c = s * decay, c * decay
        # times the amplitude of a charge with a dipole
        if mixed:
            slope = kx * normals[p, 0] + ky * normals[p, 1] + kz * normals[p, 2]
            g = int(normals[p, 3])
            re = slope * (sign * (mix[g, 2] * loss + mix[g, 3])) + mix[g, 0]
            im = (slope * (sign * (mix[g, 3] * loss - mix[g, 2])) + mix[g, 1]) * sign
            s, c = re * s - im * c, re * c + im * s
        store(room, at, c)
        store(room, at + lanes(room), s)

    return wave


@functools.lru_cache(maxsize=4)
def p2m_kernel(lossy: bool, mixed: bool) -> Callable[..., None]:
    """The kernel that makes outgoing patterns of leaves from charges at their points.

    lossy, mixed: as in `waves`. Arguments: places (n, 3): from the centres of leaves, of the points from `origin` on;
    normals (n, 4): and a row of mix (rows, 4), which is a and b in two parts; starts (leaves + 1,): where the points of
    each leaf begin;
    charges (points, columns, components, 2). along (3 pitch,): Re k times the directions; loss: Im k / Re k; growth: Im
    k times the radius of a box; factors (spectra, components, 2, pitch): from sums over charges to patterns. leaves,
    boxes (n,): leaves of one level, of which low up to, without, high are done, and their numbers in the level; x
    (boxes, columns, spectra, 2, pitch): patterns. room: for the waves of POINTS points and the sums of one leaf.
    """
    wave = waves(lossy, mixed)

    @kernel
    def p2m(
        places, normals, origin, mix, starts, charges, components, along, pitch, loss, growth, factors, leaves, boxes,
        x, columns, spectra, room, low, high,
    ):  # fmt: skip
        """Write the patterns of the leaves numbered leaves[low], ..., leaves[high - 1] to x: places, normals, origin,
        mix, starts, charges, components, along, pitch, loss, growth, factors, leaves, boxes, x, columns, spectra, room
        as in `p2m_kernel`."""
        w, one = lanes(room), room.dtype.type(1)
        sums = POINTS * 4 * w
        size = components * 2 * pitch
        for own in range(low, high):
            leaf = leaves[own]
            for i in range(sums, sums + columns * size):
                room[i] = 0
            # sums over points, two vectors of directions at a time
            for d in range(0, pitch, 2 * w):
                for begin in range(starts[leaf], starts[leaf + 1], POINTS):
                    end = min(begin + POINTS, starts[leaf + 1])
                    for p in range(begin, end):
                        at = (p - begin) * 4 * w
                        wave(places, p - origin, normals, mix, along, d, pitch, loss, one, growth, room, at)
                        wave(places, p - origin, normals, mix, along, d + w, pitch, loss, one, growth, room, at + 2 * w)
                    for column in range(columns):
                        for c in range(components):
                            to = sums + column * size + c * 2 * pitch + d
                            q = ((begin * columns + column) * components + c) * 2
                            add_points(room, charges, q, columns * components * 2, end - begin, to, pitch)
            # patterns from the sums
            for column in range(columns):
                at = (boxes[own] * columns + column) * spectra * 2 * pitch
                combine(room, sums + column * size, components, x, at, spectra, pitch, factors, False)

    return p2m


@jitable_part
def add_points(room, charges, q, apart, count, to, pitch):
    """Add charges times the conjugated waves of `count` points to two vectors of a sum at room[to :], whose imaginary
    parts are `pitch` later.

    room: begins with the waves, cos and sin of two vectors for each point; charges: numbers, that of the first point at
    q, others `apart` later each.
    """
    w = lanes(room)
    a0, b0, a1, b1 = load(room, to), load(room, to + pitch), load(room, to + w), load(room, to + pitch + w)
    for p in range(count):
        re, im, at = number(charges, q), number(charges, q + 1), p * 4 * w
        c, s = load(room, at), load(room, at + w)
        a0, b0 = a0 + c * re + s * im, b0 + c * im - s * re
        c, s = load(room, at + 2 * w), load(room, at + 3 * w)
        a1, b1 = a1 + c * re + s * im, b1 + c * im - s * re
        q += apart
    store(room, to, a0)
    store(room, to + pitch, b0)
    store(room, to + w, a1)
    store(room, to + pitch + w, b1)


@functools.lru_cache(maxsize=4)
def l2p_kernel(lossy: bool, mixed: bool) -> Callable[..., None]:
    """The kernel that makes fields at the points of leaves from the incoming patterns of their boxes.

    Arguments as in `p2m_kernel`, but for fields (points, columns, components, 2) instead of charges, factors
    (components, spectra, 2, pitch), and spans (points, 2): the components that a point has, none of which is left out
    where spans is empty.
    """
    wave = waves(lossy, mixed)

    @kernel
    def l2p(
        places, normals, origin, mix, starts, spans, fields, components, along, pitch, loss, growth, factors, leaves,
        boxes, x, columns, spectra, room, low, high,
    ):  # fmt: skip
        """Write the fields of the leaves numbered leaves[low], ..., leaves[high - 1]: places, normals, origin, mix,
        starts, spans, fields, components, along, pitch, loss, growth, factors, leaves, boxes, x, columns, spectra, room
        as in `l2p_kernel`."""
        w, one = lanes(room), room.dtype.type(1)
        size = components * 2 * pitch
        for own in range(low, high):
            # patterns of the components, combined from the spectra of the box
            leaf = leaves[own]
            # sums over directions are of these combinations of the patterns of the leaf
            for column in range(columns):
                at = (boxes[own] * columns + column) * spectra * 2 * pitch
                combine(x, at, spectra, room, 2 * pitch + column * size, components, pitch, factors, False)
            # the waves of a point at all directions, then sums over these of the components that it has
            for p in range(starts[leaf], starts[leaf + 1]):
                # waves of the point in all directions, and fields of its components
                for d in range(0, pitch, w):
                    wave(places, p - origin, normals, mix, along, d, pitch, loss, -one, growth, room, 2 * d)
                runs, first, last = 1, 0, columns * components
                if len(spans) and spans[p, 1] - spans[p, 0] < components:
                    runs, first, last = columns, spans[p, 0], spans[p, 1]
                for run in range(runs):
                    row, end = run * components + first, run * components + last
                    while row < end:
                        at, to = 2 * (row + 1) * pitch, 2 * (p * columns * components + row)
                        if row + 3 <= end:
                            three_fields(room, at, pitch, fields, to)
                            row += 3
                        else:
                            one_field(room, at, pitch, fields, to)
                            row += 1

    return l2p


@jitable_part
def one_field(room, start, pitch, fields, to):
    """Write the sum over directions of a pattern times waves to fields[to : to + 2].

    room: begins with cos and sin of the waves, vector by vector; the pattern is at room[start :], with its imaginary
    parts `pitch` later.
    """
    w = lanes(room)
    re, im, re1, im1 = zero(room), zero(room), zero(room), zero(room)
    for d in range(0, pitch, 2 * w):
        c0, s0 = load(room, 2 * d), load(room, 2 * d + w)
        a, b = load(room, start + d), load(room, start + pitch + d)
        re, im = re + (c0 * a - s0 * b), im + (c0 * b + s0 * a)
        c0, s0 = load(room, 2 * d + 2 * w), load(room, 2 * d + 3 * w)
        a, b = load(room, start + d + w), load(room, start + pitch + d + w)
        re1, im1 = re1 + (c0 * a - s0 * b), im1 + (c0 * b + s0 * a)
    fields[to], fields[to + 1] = total(re + re1), total(im + im1)


@jitable_part
def three_fields(room, start, pitch, fields, to):
    """Write the sums of three patterns, for which waves are loaded once, to fields[to : to + 6]; room, start, pitch: as
    in `one_field`."""
    w, second, third = lanes(room), start + 2 * pitch, start + 4 * pitch
    r0, i0, r1, i1, r2, i2 = zero(room), zero(room), zero(room), zero(room), zero(room), zero(room)
    for d in range(0, pitch, w):
        c, s = load(room, 2 * d), load(room, 2 * d + w)
        a, b = load(room, start + d), load(room, start + pitch + d)
        r0, i0 = r0 + c * a - s * b, i0 + c * b + s * a
        a, b = load(room, second + d), load(room, second + pitch + d)
        r1, i1 = r1 + c * a - s * b, i1 + c * b + s * a
        a, b = load(room, third + d), load(room, third + pitch + d)
        r2, i2 = r2 + c * a - s * b, i2 + c * b + s * a
    fields[to], fields[to + 1] = total(r0), total(i0)
    fields[to + 2], fields[to + 3] = total(r1), total(i1)
    fields[to + 4], fields[to + 5] = total(r2), total(i2)
