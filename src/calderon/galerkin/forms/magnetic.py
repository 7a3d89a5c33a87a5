"""The magnetic field of edge functions: c . ((G'/r)(x - y) x g), with the field c = sum l_m c_m of a test function, the
cross product with the normal included, and g = s_b (y - w_b).

As (x - y) x (y - w_b) = (x - w_b) x (y - w_b), moments of h = G'/r with products l_m l_k on the test side and l_n on
the trial side are enough. With D = c_i - c_j and, for each m, the sums S = sum H_(mk)n, A = sum a_k H_(mk)n, q = sum
b_n H_(mk)n, C = sum a_k x b_n H_(mk)n over k and n

    g_m = D S + A - q = int int h l_m (x - y),   E_m = D x q + C = int int h l_m (x - c_j) x (y - c_j),
    entry = s_b (u + b_b . t),   u = sum_m c_m . E_m,   t = sum_m g_m x c_m.

Touching and near pairs have the moments M_mn of h (x - y) with l_m, l_n: g_m = sum_n M_mn, E_m = sum_n M_mn x b_n.
"""

from calderon.backends.records import Record
from calderon.backends.vectors import add, jitable, lanes, load, store, zero
from calderon.galerkin.forms.edge import TEST_TRIANGLE, in_frame, strength, turn_corners
from calderon.galerkin.forms.form import Form
from calderon.integrands import Component, monomials

LAYOUT = Record("FIELDS", corners=9, real=15, imaginary=15, products=24)
"""Vectors of the fields: corners b_n of the trial triangle; E_m1, E_m2, g_m1, g_m2, g_m3 (m = 0, 1, 2) of each part;
charge and three components of sums with each of the six products of test functions."""
FIELDS, VECTORS, PRODUCTS = LAYOUT["real"], LAYOUT["imaginary"] - LAYOUT["real"], LAYOUT["products"]
TEST_FUNCTION = Record("TEST_FUNCTION", values=6)
"""Numbers of a test function: tangential components of c_m (3, 2)."""


@jitable
def fields(s, m, a, b, imaginary, w, x, i, x_step, y, j, y_step, d0, d1, d2, c0, c1, c2, c3):
    """Store the corners b_n, E_m and g_m of a regular pair at s[w:], from moments of h; arguments as in `Form`."""
    step = lanes(s)
    turn_corners(s, w, x, i, x_step, y, j, y_step)
    # D = c_i - c_j in the frame of the test triangle
    e1, e2, e3 = (
        in_frame(x, i, x_step, 0, d0, d1, d2),
        in_frame(x, i, x_step, 1, d0, d1, d2),
        in_frame(x, i, x_step, 2, d0, d1, d2),
    )
    sums = w + PRODUCTS * step
    for part in range(2):
        # of each product l_m l_k: sum_n H_(mk)n and sum_n H_(mk)n b_n
        for k in range(6):
            here, at = m + k * a + part * imaginary, sums + 4 * k * step
            h0, h1, h2 = load(s, here), load(s, here + b), load(s, here + 2 * b)
            store(s, at, h0 + h1 + h2)
            for c in range(3):
                b0, b1, b2 = load(s, w + c * step), load(s, w + (3 + c) * step), load(s, w + (6 + c) * step)
                store(s, at + (1 + c) * step, h0 * b0 + h1 * b1 + h2 * b2)
        for n in range(3):
            # S, A, q and C of vertex n: sums over k
            total, a1, a2, q1, q2, q3, c1, c2 = zero(s), zero(s), zero(s), zero(s), zero(s), zero(s), zero(s), zero(s)
            for k in range(3):
                at = sums + 4 * (n if n == k else 6 - n - k) * step
                charge, p1, p2, p3 = load(s, at), load(s, at + step), load(s, at + 2 * step), load(s, at + 3 * step)
                v1, v2 = load(x, i + (9 + 2 * k) * x_step), load(x, i + (10 + 2 * k) * x_step)
                total, a1, a2 = total + charge, a1 + v1 * charge, a2 + v2 * charge
                q1, q2, q3, c1, c2 = q1 + p1, q2 + p2, q3 + p3, c1 + v2 * p3, c2 - v1 * p3
            # both tangential components of E_n = D x q + C, and g_n = D S + A - q
            place = w + (FIELDS + VECTORS * part + 5 * n) * step
            store(s, place, e2 * q3 - e3 * q2 + c1)
            store(s, place + step, e3 * q1 - e1 * q3 + c2)
            store(s, place + 2 * step, e1 * total + a1 - q1)
            store(s, place + 3 * step, e2 * total + a2 - q2)
            store(s, place + 4 * step, e3 * total - q3)


@jitable
def special_fields(s, m, a, b, imaginary, w, x, i, x_step, y, j, y_step, d0, d1, d2, c0, c1, c2, c3):
    """Store the corners b_n, E_m and g_m of a touching or near pair at s[w:], from moments of the three components of
    h (x - y); arguments as in `Form`."""
    step, pitch = lanes(s), imaginary // 3
    turn_corners(s, w, x, i, x_step, y, j, y_step)
    for part in range(2):
        for k in range(3):
            place = w + (FIELDS + VECTORS * part + 5 * k) * step
            for c in range(5):
                store(s, place + c * step, zero(s))
            for n in range(3):
                # M_kn in the frame of the test triangle, and b_n
                here = m + k * a + n * b + part * imaginary
                h0, h1, h2 = load(s, here), load(s, here + pitch), load(s, here + 2 * pitch)
                g1, g2 = in_frame(x, i, x_step, 0, h0, h1, h2), in_frame(x, i, x_step, 1, h0, h1, h2)
                g3, at = in_frame(x, i, x_step, 2, h0, h1, h2), w + 3 * n * step
                b1, b2, b3 = load(s, at), load(s, at + step), load(s, at + 2 * step)
                # E_k = sum_n M_kn x b_n and g_k = sum_n M_kn
                add(s, place, g2 * b3 - g3 * b2)
                add(s, place + step, g3 * b1 - g1 * b3)
                add(s, place + 2 * step, g1)
                add(s, place + 3 * step, g2)
                add(s, place + 4 * step, g3)


@jitable
def entries(s, w, a, x, i, x_step, y, j, y_step, e):
    """Store the entries of test function a and the three trial functions at s[e:]; arguments as in `Form`."""
    for part in range(2):
        put_entries(s, w, part, x, i, x_step, y, j, y_step, e + part * lanes(s))


@jitable
def put_entries(s, w, part, x, i, x_step, y, j, y_step, e):
    """Store one part of the entries of a test function, the real (part = 0) or the imaginary one (part = 1), two
    vectors apart from s[e] on; s, w, x, i, x_step, y, j, y_step as in `entries`."""
    step, u, t1, t2, t3 = lanes(s), zero(s), zero(s), zero(s), zero(s)
    # u = sum_m c_m . E_m and t = sum_m g_m x c_m
    for m in range(3):
        c1, c2 = load(x, i + 2 * m * x_step), load(x, i + (2 * m + 1) * x_step)
        at = w + (FIELDS + VECTORS * part + 5 * m) * step
        g1, g2, g3 = load(s, at + 2 * step), load(s, at + 3 * step), load(s, at + 4 * step)
        u = u + c1 * load(s, at) + c2 * load(s, at + step)
        t1, t2, t3 = t1 - g3 * c2, t2 + g3 * c1, t3 + g1 * c2 - g2 * c1
    # s_b (u + b_b . t)
    for b in range(3):
        at = w + 3 * b * step
        along = u + t1 * load(s, at) + t2 * load(s, at + step) + t3 * load(s, at + 2 * step)
        store(s, e + 2 * b * step, strength(y, j, y_step, b) * along)


GRADIENT = (Component(1),), monomials(1, 1)
SIZES = TEST_TRIANGLE.length, TEST_FUNCTION.length, LAYOUT.length
MAGNETIC = Form("magnetic", *GRADIENT, 6, 3, 3, *SIZES, fields, special_fields, entries)
