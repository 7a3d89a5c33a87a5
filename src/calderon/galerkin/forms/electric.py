"""The electric field between edge functions: f . g - div f div g / k^2, with moments M_mn of G and l_m, l_n.

With V_m = sum_n M_mn b_n, S_m = sum_n M_mn and a test function with values c_m at the vertices and divergence 2 q

    entry = s_b (u + b_b . t),   u = sum_m c_m . V_m - (4 / k^2) q sum_m S_m,   t = - sum_m S_m c_m.
"""

from calderon.backends.vectors import jitable, lanes, load, store, zero
from calderon.galerkin.forms.edge import FIELDS, HEAD, strength, turn_corners
from calderon.galerkin.forms.form import Form

ROOM = FIELDS + 20
"""Corners; S_m, V_m1, V_m2 for each m, real and imaginary; the sum of the charges."""


@jitable
def fields(s, m, a, b, imaginary, w, x, i, x_step, y, j, y_step, d0, d1, d2, c0, c1, c2, c3):  # type: ignore[no-untyped-def]
    """As `Form` says."""
    step = lanes(s)
    turn_corners(s, w, x, i, x_step, y, j, y_step)
    totals, at = w + (FIELDS + 18) * step, w + FIELDS * step
    for part in range(2):
        here, total = m + part * imaginary, zero(s)
        for k in range(3):
            h0, h1, h2 = load(s, here + k * a), load(s, here + k * a + b), load(s, here + k * a + 2 * b)
            charge = h0 + h1 + h2
            total = total + charge
            store(s, at + (9 * part + 3 * k) * step, charge)
            for c in range(2):
                b0, b1, b2 = load(s, w + c * step), load(s, w + (3 + c) * step), load(s, w + (6 + c) * step)
                store(s, at + (9 * part + 3 * k + 1 + c) * step, h0 * b0 + h1 * b1 + h2 * b2)
        store(s, totals + part * step, total)
    re, im = load(s, totals), load(s, totals + step)
    store(s, totals, c2 * re - c3 * im)
    store(s, totals + step, c2 * im + c3 * re)


@jitable
def entries(s, w, a, x, i, x_step, y, j, y_step, e):  # type: ignore[no-untyped-def]
    """As `Form` says."""
    for part in range(2):
        put_entries(s, w, part, x, i, x_step, y, j, y_step, e + part * lanes(s))


@jitable
def put_entries(s, w, part, x, i, x_step, y, j, y_step, e):  # type: ignore[no-untyped-def]
    """The real or the imaginary part."""
    step = lanes(s)
    u, t1, t2 = -(load(x, i + 6 * x_step) * load(s, w + (FIELDS + 18 + part) * step)), zero(s), zero(s)
    for m in range(3):
        c1, c2, at = (
            load(x, i + 2 * m * x_step),
            load(x, i + (2 * m + 1) * x_step),
            w + (FIELDS + 9 * part + 3 * m) * step,
        )
        u = u + c1 * load(s, at + step) + c2 * load(s, at + 2 * step)
        t1, t2 = t1 - c1 * load(s, at), t2 - c2 * load(s, at)
    for b in range(3):
        along = u + t1 * load(s, w + 3 * b * step) + t2 * load(s, w + (3 * b + 1) * step)
        store(s, e + 2 * b * step, strength(y, j, y_step, b) * along)


ELECTRIC = Form("electric", "value", "none", 3, 3, 3, HEAD, 7, ROOM, fields, fields, entries)
