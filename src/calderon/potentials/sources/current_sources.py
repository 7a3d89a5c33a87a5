"""Fields of point sources with a current and a charge, evaluated in lanes of target points."""

import functools
from collections.abc import Callable

from calderon.backends.numba import kernel
from calderon.backends.vectors import complex_product, jitable, lanes, load, number, smaller, zero
from calderon.greens import Radial, parameter_reader
from calderon.greens.elementary import inverse_square_root
from calderon.potentials.sources.point_sources import CUT, PARAMETERS, Emission, add_values, products


@jitable
def current_charge(s, j):
    """Re j, Im j and the complex charge of the source that begins at s[j]."""
    return (
        number(s, j + 3), number(s, j + 4), number(s, j + 5), number(s, j + 6), number(s, j + 7), number(s, j + 8),
        number(s, j + 9), number(s, j + 10),
    )  # fmt: skip


@jitable
def electric(g, gi, h, hi, r2, d0, d1, d2, source, k_re, k_im):
    """G j + grad G c with the current a + i b and the charge c + i ci of the source, grad G = h d: three complex
    values.

    g, gi, h, hi: Re and Im of 4 pi G and 4 pi G'/r; r2: squared distances; d0, d1, d2: offsets from the source; source:
    see `current_charge`; k_re, k_im: of k^2; vectors of targets all but the last three.
    """
    a0, a1, a2, b0, b1, b2, c, ci = source
    w, wi = complex_product(h, hi, c, ci)
    return (
        g * a0 - gi * b0 + w * d0, g * b0 + gi * a0 + wi * d0,
        g * a1 - gi * b1 + w * d1, g * b1 + gi * a1 + wi * d1,
        g * a2 - gi * b2 + w * d2, g * b2 + gi * a2 + wi * d2,
    )  # fmt: skip


@jitable
def magnetic(g, gi, h, hi, r2, d0, d1, d2, source, k_re, k_im):
    """grad G x j = h d x j with the current a + i b: three complex values. Arguments as in `electric`."""
    a0, a1, a2, b0, b1, b2, _, _ = source
    p0, q0 = d1 * a2 - d2 * a1, d1 * b2 - d2 * b1
    p1, q1 = d2 * a0 - d0 * a2, d2 * b0 - d0 * b2
    p2, q2 = d0 * a1 - d1 * a0, d0 * b1 - d1 * b0
    return h * p0 - hi * q0, h * q0 + hi * p0, h * p1 - hi * q1, h * q1 + hi * p1, h * p2 - hi * q2, h * q2 + hi * p2


CURRENT_FIELDS = {
    False: Emission("point_sources.h", "ELECTRIC", 3, 1, 3, electric, current_charge),
    True: Emission("point_sources.h", "MAGNETIC", 3, 2, 3, magnetic, current_charge),
}
"""Whether magnetic."""


@functools.lru_cache(maxsize=16)
def current_field_kernel(radial: Radial, emission: Emission) -> Callable[..., None]:
    """Compiled field(targets, sources, centres, scalars, out) of sources in groups (the points of a triangle).

    targets (3, TARGETS); sources (groups, Q, 11) as y, Re j, Im j, Re and Im of the charge; centres (groups, 3);
    scalars SCALARS of point_sources.py: distances below sqrt(cut) count as that. Adds to out (3, 2, TARGETS).
    """
    radial_value, radial_phase, shifts = radial.value, radial.phase, radial.shifts
    emit, parameters_of = emission.emit, parameter_reader(radial.parameters)

    @kernel
    def field(targets, sources, centres, scalars, out):
        cut, parameters = scalars[CUT], parameters_of(scalars, PARAMETERS)
        t = out.reshape(-1)
        size = targets.shape[1]
        for v in range(0, size, lanes(t)):
            x0, x1, x2 = load(targets[0], v), load(targets[1], v), load(targets[2], v)
            t0, t1, t2, t3, t4, t5 = zero(t), zero(t), zero(t), zero(t), zero(t), zero(t)
            for group in range(sources.shape[0]):
                # distances from the centre of the group, whose phase is taken out
                reference = zero(t)
                if shifts:
                    d0, d1, d2 = x0 - centres[group, 0], x1 - centres[group, 1], x2 - centres[group, 2]
                    r2 = d0 * d0 + 1e-37 + d1 * d1 + d2 * d2
                    reference = r2 * inverse_square_root(r2)
                s0, s1, s2, s3, s4, s5 = zero(t), zero(t), zero(t), zero(t), zero(t), zero(t)
                # sum over the sources of the group
                for q in range(sources.shape[1]):
                    s = sources[group, q]
                    d0, d1, d2 = x0 - s[0], x1 - s[1], x2 - s[2]
                    r2 = -smaller(-(d0 * d0) - d1 * d1 - d2 * d2, -cut)
                    g, gi, h, hi = radial_value(r2, parameters, reference)
                    source = s[3], s[4], s[5], s[6], s[7], s[8], s[9], s[10]
                    a0, b0, a1, b1, a2, b2 = emit(g, gi, h, hi, r2, d0, d1, d2, source, 0.0, 0.0)
                    s0, s1, s2, s3, s4, s5 = s0 + a0, s1 + b0, s2 + a1, s3 + b1, s4 + a2, s5 + b2
                # the phase is multiplied back
                if shifts:
                    f_re, f_im = radial_phase(reference, parameters)
                    s0, s1, s2, s3, s4, s5 = products(s0, s1, s2, s3, s4, s5, f_re, f_im)
                t0, t1, t2, t3, t4, t5 = t0 + s0, t1 + s1, t2 + s2, t3 + s3, t4 + s4, t5 + s5
            add_values(t, v, size, True, t0, t1, t2, t3, t4, t5)

    return field
