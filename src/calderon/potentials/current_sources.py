"""Fields of point sources with a current and a charge, evaluated in lanes of target points."""

import functools
from collections.abc import Callable

from calderon.backends.numba import kernel
from calderon.backends.vectors import above, complex_product, jitable, lanes, load, smaller, store, zero
from calderon.greens import Radial, parameter_reader
from calderon.greens.elementary import inverse_square_root
from calderon.potentials.point_sources import CUT, PARAMETERS, at_least


@jitable
def electric_emission(g, gi, h, hi, d0, d1, d2, j0, j1, j2, k0, k1, k2, c, ci):  # type: ignore[no-untyped-def]
    """G j + grad G c with the current j + i k and the charge c + i ci, grad G = h d: three complex values."""
    w, wi = h * c - hi * ci, h * ci + hi * c
    return (
        g * j0 - gi * k0 + w * d0, g * k0 + gi * j0 + wi * d0,
        g * j1 - gi * k1 + w * d1, g * k1 + gi * j1 + wi * d1,
        g * j2 - gi * k2 + w * d2, g * k2 + gi * j2 + wi * d2,
    )  # fmt: skip


@jitable
def magnetic_emission(g, gi, h, hi, d0, d1, d2, j0, j1, j2, k0, k1, k2, c, ci):  # type: ignore[no-untyped-def]
    """grad G x j = h d x j: three complex values."""
    a0, b0 = d1 * j2 - d2 * j1, d1 * k2 - d2 * k1
    a1, b1 = d2 * j0 - d0 * j2, d2 * k0 - d0 * k2
    a2, b2 = d0 * j1 - d1 * j0, d0 * k1 - d1 * k0
    return h * a0 - hi * b0, h * b0 + hi * a0, h * a1 - hi * b1, h * b1 + hi * a1, h * a2 - hi * b2, h * b2 + hi * a2


@functools.lru_cache(maxsize=16)
def current_field_kernel(radial: Radial, magnetic: bool) -> Callable[..., None]:
    """Compiled field(targets, sources, centres, scalars, out) of sources in groups (the points of a triangle).

    targets (3, TARGETS); sources (groups, Q, 11) as y, Re j, Im j, Re and Im of the charge; centres (groups, 3);
    scalars SCALARS of point_sources.py: distances below sqrt(cut) count as that. Adds to out (3, 2, TARGETS).
    """
    radial_value, radial_phase, shifts = radial.value, radial.phase, radial.shifts
    emission = magnetic_emission if magnetic else electric_emission
    parameters_of = parameter_reader(radial.parameters)

    @kernel
    def field(targets, sources, centres, scalars, out):  # type: ignore[no-untyped-def]
        cut, parameters = scalars[CUT], parameters_of(scalars, PARAMETERS)
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
                    r2 = -smaller(-(d0 * d0) - d1 * d1 - d2 * d2, -cut)
                    g, gi, h, hi = radial_value(r2, parameters, reference)
                    a0, b0, a1, b1, a2, b2 = emission(
                        g, gi, h, hi, d0, d1, d2, s[3], s[4], s[5], s[6], s[7], s[8], s[9], s[10]
                    )
                    s0, s1, s2, s3, s4, s5 = s0 + a0, s1 + b0, s2 + a1, s3 + b1, s4 + a2, s5 + b2
                if shifts:
                    f_re, f_im = radial_phase(reference, parameters)
                    s0, s1 = complex_product(s0, s1, f_re, f_im)
                    s2, s3 = complex_product(s2, s3, f_re, f_im)
                    s4, s5 = complex_product(s4, s5, f_re, f_im)
                t0, t1, t2, t3, t4, t5 = t0 + s0, t1 + s1, t2 + s2, t3 + s3, t4 + s4, t5 + s5
            store(t, v, load(t, v) + t0)
            store(t, size + v, load(t, size + v) + t1)
            store(t, 2 * size + v, load(t, 2 * size + v) + t2)
            store(t, 3 * size + v, load(t, 3 * size + v) + t3)
            store(t, 4 * size + v, load(t, 4 * size + v) + t4)
            store(t, 5 * size + v, load(t, 5 * size + v) + t5)

    return field


@functools.lru_cache(maxsize=16)
def paired_current_kernel(radial: Radial, magnetic: bool) -> Callable[..., None]:
    """Compiled paired(targets, sources, floors, scalars, lo, hi, out): source j acts on target j alone, as in
    point_sources.paired_field_kernel; sources (11, n), out (3, 2, n)."""
    radial_value = radial.value
    emission = magnetic_emission if magnetic else electric_emission
    parameters_of = parameter_reader(radial.parameters)

    @kernel
    def paired(targets, sources, floors, scalars, lo, hi, out):  # type: ignore[no-untyped-def]
        drop, parameters = scalars[CUT], parameters_of(scalars, PARAMETERS)
        t, s = out.reshape(-1), sources
        size = targets.shape[1]
        for v in range(lo, hi, lanes(t)):
            d0, d1 = load(targets[0], v) - load(s[0], v), load(targets[1], v) - load(s[1], v)
            d2 = load(targets[2], v) - load(s[2], v)
            square = d0 * d0 + d1 * d1 + d2 * d2
            g, gi, h, hi_ = radial_value(at_least(square, load(floors, v)), parameters, zero(t))
            keep = above(square, drop)
            a0, b0, a1, b1, a2, b2 = emission(
                keep * g, keep * gi, keep * h, keep * hi_, d0, d1, d2,
                load(s[3], v), load(s[4], v), load(s[5], v), load(s[6], v), load(s[7], v), load(s[8], v),
                load(s[9], v), load(s[10], v),
            )  # fmt: skip
            store(t, v, a0)
            store(t, size + v, b0)
            store(t, 2 * size + v, a1)
            store(t, 3 * size + v, b1)
            store(t, 4 * size + v, a2)
            store(t, 5 * size + v, b2)

    return paired
