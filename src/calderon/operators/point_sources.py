"""Sums over point sources, evaluated in lanes of 128 target points: the inner loops of potentials and far fields."""

import functools
from collections.abc import Callable
from typing import Any

from calderon.backends.numba import STAMP, kernel, wide_vectors
from calderon.greens.elementary import sine_cosine
from calderon.operators.sides import LANES


@functools.lru_cache(maxsize=64)
def field_kernel(radial: Callable[..., Any], dipoles: bool, gradient: bool, oscillates: bool) -> Callable[..., None]:
    """Compiled field of sources: monopoles G, or dipoles dG/dn_y; the value or, with `gradient`, its three derivatives.

    field(targets, sources, scalars, lo, hi, out): targets (3, LANES), sources (8, n) as y, n, Re c, Im c;
    scalars (p0, p1, Re k^2, Im k^2, cut): sources nearer than sqrt(cut) count nothing. Sources lo..hi are added to
    out (2, 3 or 1, LANES). With lo = -1, source j acts on target j alone.
    """
    stamp = STAMP

    @kernel
    def field(targets, sources, scalars, lo, hi, out):  # type: ignore[no-untyped-def]
        wide_vectors()
        _ = stamp
        p0, p1, k_re, k_im, cut = scalars[0], scalars[1], scalars[2], scalars[3], scalars[4]
        x, t = targets.reshape(-1), out.reshape(-1)
        single = lo < 0
        s = sources
        for i in range(0 if single else lo, 1 if single else hi):
            y0, y1, y2, n0, n1, n2 = s[0, i], s[1, i], s[2, i], s[3, i], s[4, i], s[5, i]
            a, b = s[6, i], s[7, i]
            for j in range(LANES):
                if single:
                    y0, y1, y2, n0, n1, n2 = s[0, j], s[1, j], s[2, j], s[3, j], s[4, j], s[5, j]
                    a, b = s[6, j], s[7, j]
                d0, d1, d2 = x[j] - y0, x[LANES + j] - y1, x[2 * LANES + j] - y2
                r2 = d0 * d0 + 1e-37 + d1 * d1 + d2 * d2
                u, ui, h, hi_ = radial(r2, p0, p1)
                keep = 1.0 if r2 > cut else 0.0
                c, e = keep * a, keep * b
                dn = d0 * n0 + d1 * n1 + d2 * n2
                if not gradient:
                    if dipoles:
                        v, vi = -h * dn, -hi_ * dn
                    else:
                        v, vi = u, ui
                    if oscillates:
                        t[j] += v * c - vi * e
                        t[LANES + j] += v * e + vi * c
                    else:
                        t[j] += v * c
                        t[LANES + j] += v * e
                else:
                    if not oscillates:
                        ui, hi_ = 0.0, 0.0
                    if dipoles:
                        # grad of -h d.n = -h n - (h'/r)(d.n) d, with h'/r = -(k^2 g + 3 h)/r^2 by the equation itself
                        f = dn / r2
                        w = f * (k_re * u - k_im * ui + 3.0 * h)
                        wi = f * (k_re * ui + k_im * u + 3.0 * hi_)
                    else:
                        w, wi = h, hi_
                    cw, ew = w * c - wi * e, w * e + wi * c
                    t[j] += cw * d0
                    t[LANES + j] += cw * d1
                    t[2 * LANES + j] += cw * d2
                    t[3 * LANES + j] += ew * d0
                    t[4 * LANES + j] += ew * d1
                    t[5 * LANES + j] += ew * d2
                    if dipoles:
                        ch, eh = h * c - hi_ * e, h * e + hi_ * c
                        t[j] -= ch * n0
                        t[LANES + j] -= ch * n1
                        t[2 * LANES + j] -= ch * n2
                        t[3 * LANES + j] -= eh * n0
                        t[4 * LANES + j] -= eh * n1
                        t[5 * LANES + j] -= eh * n2

    return field


@functools.lru_cache(maxsize=2)
def far_field_kernel() -> Callable[..., None]:
    """Compiled far(directions (3, LANES), sources (8, n), k, dipoles, out (2, LANES)): adds sum_j f_j c_j exp(-i k
    d.y_j),
    f = 1 for monopoles, -i k d.n_j for dipoles."""
    stamp = STAMP

    @kernel
    def far(directions, sources, k, dipoles, out):  # type: ignore[no-untyped-def]
        wide_vectors()
        _ = stamp
        x, t = directions.reshape(-1), out.reshape(-1)
        s = sources
        for i in range(s.shape[1]):
            y0, y1, y2, n0, n1, n2 = s[0, i], s[1, i], s[2, i], s[3, i], s[4, i], s[5, i]
            c, e = s[6, i], s[7, i]
            for j in range(LANES):
                d0, d1, d2 = x[j], x[LANES + j], x[2 * LANES + j]
                sine, cosine = sine_cosine(-k * (d0 * y0 + d1 * y1 + d2 * y2))
                re, im = cosine * c - sine * e, cosine * e + sine * c
                f = -k * (d0 * n0 + d1 * n1 + d2 * n2)
                t[j] += -f * im if dipoles else re
                t[LANES + j] += f * re if dipoles else im

    return far
