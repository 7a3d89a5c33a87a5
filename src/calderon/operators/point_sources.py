"""Sums over point sources, evaluated in lanes of target points: the inner loops of potentials and far fields."""

import functools
from collections.abc import Callable
from typing import Any

from calderon.backends.numba import STAMP, kernel
from calderon.backends.vectors import above, jitable, lanes, load, store, zero
from calderon.greens import Radial
from calderon.greens.elementary import inverse_square_root, short_sine_cosine, sine_cosine
from calderon.operators.regular import turned

TARGETS = 64
"""Target points of one call of a field or far kernel, a multiple of 16."""


@jitable
def monopole(u, ui, h, hi, r2, d0, d1, d2, n0, n1, n2, k_re, k_im):  # type: ignore[no-untyped-def]
    """G: one complex value."""
    return u, ui, u, u, u, u


@jitable
def dipole(u, ui, h, hi, r2, d0, d1, d2, n0, n1, n2, k_re, k_im):  # type: ignore[no-untyped-def]
    """dG/dn_y = -h d.n: one complex value."""
    s = -(d0 * n0 + d1 * n1 + d2 * n2)
    return h * s, hi * s, h, h, h, h


@jitable
def monopole_gradient(u, ui, h, hi, r2, d0, d1, d2, n0, n1, n2, k_re, k_im):  # type: ignore[no-untyped-def]
    """grad_x G = h d: three complex values."""
    return h * d0, hi * d0, h * d1, hi * d1, h * d2, hi * d2


@jitable
def dipole_gradient(u, ui, h, hi, r2, d0, d1, d2, n0, n1, n2, k_re, k_im):  # type: ignore[no-untyped-def]
    """grad_x of -h d.n = -h n - (h'/r)(d.n) d, with h'/r = -(k^2 G + 3 h)/r^2 by the equation itself."""
    f = (d0 * n0 + d1 * n1 + d2 * n2) / r2
    w = f * (k_re * u - k_im * ui + 3.0 * h)
    wi = f * (k_re * ui + k_im * u + 3.0 * hi)
    return (
        w * d0 - h * n0, wi * d0 - hi * n0, w * d1 - h * n1, wi * d1 - hi * n1, w * d2 - h * n2, wi * d2 - hi * n2,
    )  # fmt: skip


EMISSIONS = {
    (False, False): monopole,
    (True, False): dipole,
    (False, True): monopole_gradient,
    (True, True): dipole_gradient,
}
"""(double layer, gradient): what a source of unit strength sends to a point."""


@functools.lru_cache(maxsize=64)
def field_kernel(radial: Radial, emission: Callable[..., Any], gradient: bool, oscillates: bool) -> Callable[..., None]:
    """Compiled field(targets, sources, centres, scalars, out) of sources in groups (the points of a triangle).

    targets (3, TARGETS); sources (groups, Q, 8) as y, n, Re c, Im c; centres (groups, 3); scalars (p0, p1, Re k^2,
    Im k^2, cut): sources nearer than sqrt(cut) count nothing. Adds to out (1 or 3, 2, TARGETS): Re and Im of each
    value.
    """
    stamp = STAMP
    radial_value, radial_phase, shifts = radial.value, radial.phase, radial.shifts
    values = 3 if gradient else 1

    @kernel
    def field(targets, sources, centres, scalars, out):  # type: ignore[no-untyped-def]
        _ = stamp
        p0, p1, k_re, k_im, cut = scalars[0], scalars[1], scalars[2], scalars[3], scalars[4]
        t = out.reshape(-1)
        size = targets.shape[1]
        for v in range(0, size, lanes(t)):
            x0, x1, x2 = load(targets[0], v), load(targets[1], v), load(targets[2], v)
            t0, t1, t2, t3, t4, t5 = zero(t), zero(t), zero(t), zero(t), zero(t), zero(t)
            for group in range(sources.shape[0]):
                reference = zero(t)
                if shifts:
                    d0, d1, d2 = x0 - centres[group, 0], x1 - centres[group, 1], x2 - centres[group, 2]
                    r2 = d0 * d0 + 1e-37 + d1 * d1 + d2 * d2
                    reference = r2 * inverse_square_root(r2)
                s0, s1, s2, s3, s4, s5 = zero(t), zero(t), zero(t), zero(t), zero(t), zero(t)
                for q in range(sources.shape[1]):
                    s = sources[group, q]
                    d0, d1, d2 = x0 - s[0], x1 - s[1], x2 - s[2]
                    r2 = d0 * d0 + 1e-37 + d1 * d1 + d2 * d2
                    u, ui, h, hi = radial_value(r2, p0, p1, reference)
                    if not oscillates:
                        ui, hi = zero(t), zero(t)
                    keep = above(r2, cut)
                    c, e = keep * s[6], keep * s[7]
                    a0, b0, a1, b1, a2, b2 = emission(u, ui, h, hi, r2, d0, d1, d2, s[3], s[4], s[5], k_re, k_im)
                    s0 = s0 + (a0 * c - b0 * e)
                    s1 = s1 + (a0 * e + b0 * c)
                    if gradient:
                        s2 = s2 + (a1 * c - b1 * e)
                        s3 = s3 + (a1 * e + b1 * c)
                        s4 = s4 + (a2 * c - b2 * e)
                        s5 = s5 + (a2 * e + b2 * c)
                if shifts:
                    f_re, f_im = radial_phase(reference, p0, p1)
                    s0, s1 = turned(s0, s1, f_re, f_im)
                    s2, s3 = turned(s2, s3, f_re, f_im)
                    s4, s5 = turned(s4, s5, f_re, f_im)
                t0, t1, t2, t3, t4, t5 = t0 + s0, t1 + s1, t2 + s2, t3 + s3, t4 + s4, t5 + s5
            store(t, v, load(t, v) + t0)
            store(t, size + v, load(t, size + v) + t1)
            if values == 3:
                store(t, 2 * size + v, load(t, 2 * size + v) + t2)
                store(t, 3 * size + v, load(t, 3 * size + v) + t3)
                store(t, 4 * size + v, load(t, 4 * size + v) + t4)
                store(t, 5 * size + v, load(t, 5 * size + v) + t5)

    return field


@jitable
def at_least(square, floor):  # type: ignore[no-untyped-def]
    """The larger of two vectors."""
    return floor + above(square - floor, 0.0) * (square - floor)


@functools.lru_cache(maxsize=64)
def paired_field_kernel(
    radial: Radial, emission: Callable[..., Any], gradient: bool, oscillates: bool
) -> Callable[..., None]:
    """Compiled paired(targets, sources, floors, scalars, lo, hi, out): source j acts on target j alone, j = lo..hi
    (multiples of 8).

    targets (3, n), sources (8, n), out (1 or 3, 2, n); for a radial part that is not shifted. floors (n,): squared
    distances below count as that. scalars (p0, p1, Re k^2, Im k^2, drop): sources nearer than sqrt(drop) count nothing
    (none for a negative one).
    """
    stamp = STAMP
    radial_value = radial.value

    @kernel
    def paired(targets, sources, floors, scalars, lo, hi, out):  # type: ignore[no-untyped-def]
        _ = stamp
        p0, p1, k_re, k_im, drop = scalars[0], scalars[1], scalars[2], scalars[3], scalars[4]
        t, s = out.reshape(-1), sources
        size = targets.shape[1]
        for v in range(lo, hi, lanes(t)):
            d0, d1 = load(targets[0], v) - load(s[0], v), load(targets[1], v) - load(s[1], v)
            d2 = load(targets[2], v) - load(s[2], v)
            square = d0 * d0 + d1 * d1 + d2 * d2
            r2 = at_least(square, load(floors, v))
            u, ui, h, hi_ = radial_value(r2, p0, p1, zero(t))
            if not oscillates:
                ui, hi_ = zero(t), zero(t)
            keep = above(square, drop)
            c, e = keep * load(s[6], v), keep * load(s[7], v)
            n0, n1, n2 = load(s[3], v), load(s[4], v), load(s[5], v)
            a0, b0, a1, b1, a2, b2 = emission(u, ui, h, hi_, r2, d0, d1, d2, n0, n1, n2, k_re, k_im)
            store(t, v, a0 * c - b0 * e)
            store(t, size + v, a0 * e + b0 * c)
            if gradient:
                store(t, 2 * size + v, a1 * c - b1 * e)
                store(t, 3 * size + v, a1 * e + b1 * c)
                store(t, 4 * size + v, a2 * c - b2 * e)
                store(t, 5 * size + v, a2 * e + b2 * c)

    return paired


@functools.lru_cache(maxsize=4)
def far_field_kernel(double: bool, short: bool) -> Callable[..., None]:
    """Compiled far(directions, sources, centres, k, out): adds sum_j f_j c_j exp(-i k d.y_j), f = 1 for monopoles,
    -i k d.n_j for dipoles (`double`).

    directions (3, TARGETS); sources and centres as in `field_kernel`; out (2, TARGETS). short: k times the distance of
    a source from the centre of its group is at most elementary.SHORT.
    """
    stamp = STAMP

    @kernel
    def far(directions, sources, centres, k, out):  # type: ignore[no-untyped-def]
        _ = stamp
        t = out.reshape(-1)
        size = directions.shape[1]
        for v in range(0, size, lanes(t)):
            x0, x1, x2 = load(directions[0], v) * -k, load(directions[1], v) * -k, load(directions[2], v) * -k
            t0, t1 = zero(t), zero(t)
            for group in range(sources.shape[0]):
                c0, c1, c2 = centres[group, 0], centres[group, 1], centres[group, 2]
                s0, s1 = zero(t), zero(t)
                for q in range(sources.shape[1]):
                    s = sources[group, q]
                    angle = x0 * (s[0] - c0) + x1 * (s[1] - c1) + x2 * (s[2] - c2)
                    sine, cosine = short_sine_cosine(angle) if short else sine_cosine(angle)
                    re, im = cosine * s[6] - sine * s[7], cosine * s[7] + sine * s[6]
                    if double:
                        f = x0 * s[3] + x1 * s[4] + x2 * s[5]
                        re, im = f * im * -1.0, f * re
                    s0, s1 = s0 + re, s1 + im
                sine, cosine = sine_cosine(x0 * c0 + x1 * c1 + x2 * c2)
                s0, s1 = turned(s0, s1, cosine, sine)
                t0, t1 = t0 + s0, t1 + s1
            store(t, v, load(t, v) + t0)
            store(t, size + v, load(t, size + v) + t1)

    return far
