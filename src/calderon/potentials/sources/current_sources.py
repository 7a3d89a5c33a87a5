"""Fields of point sources with a current and a charge, evaluated in lanes of target points."""

from calderon.backends.vectors import complex_product, jitable, number
from calderon.potentials.sources.point_sources import Emission


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
