"""The electric field between edge functions: f . g - div f div g / k^2, with moments M_mn of G and l_m, l_n.

With V_m = sum_n M_mn b_n, S_m = sum_n M_mn and a test function with values c_m at the vertices and divergence 2 q

    entry = s_b (u + b_b . t),   u = sum_m c_m . V_m - (4 / k^2) q sum_m S_m,   t = - sum_m S_m c_m.

Functions s (x - a) and t (y - b) of triangles in parallel planes, such as metal between layers, need fewer moments:
with xi = x - c_i, alpha = a - c_i and eta = y - c_j, beta = b - c_j of the centroids,

    entry = s t int int [G (xi - alpha) . (eta - beta) - (4 / k^2) K],

where another function K may be that of charges (`put_products`).
"""

from calderon.backends.numba import jitable_part
from calderon.backends.records import Record
from calderon.backends.vectors import jitable, lanes, load, store, zero
from calderon.galerkin.forms.edge import TEST_TRIANGLE, strength, turn_corners
from calderon.galerkin.forms.form import Form
from calderon.integrands import ELECTRIC_FIELD

LAYOUT = Record("FIELDS", corners=9, real=9, imaginary=9, charges=2)
"""Vectors of the fields: corners b_n of the trial triangle; S_m, V_m1, V_m2 (m = 0, 1, 2) of each part; both parts of
(4 / k^2) sum_m S_m."""
FIELDS, VECTORS, CHARGES = LAYOUT["real"], LAYOUT["imaginary"] - LAYOUT["real"], LAYOUT["charges"]
TEST_FUNCTION = Record("TEST_FUNCTION", values=6, divergence=1)
"""Numbers of a test function: tangential components of c_m (3, 2), half the divergence q."""
DIVERGENCE = TEST_FUNCTION["divergence"]


@jitable
def fields(s, m, a, b, imaginary, w, x, i, x_step, y, j, y_step, d0, d1, d2, c0, c1, c2, c3):
    """Store the corners b_n, S_m, V_m and the charges of a pair of triangles at s[w:]; arguments as in `Form`.

    c2, c3: real and imaginary part of 4 / k^2.
    """
    step = lanes(s)
    turn_corners(s, w, x, i, x_step, y, j, y_step)
    totals, at = w + CHARGES * step, w + FIELDS * step
    for part in range(2):
        here, total = m + part * imaginary, zero(s)
        for k in range(3):
            # S_k = sum_n M_kn
            h0, h1, h2 = load(s, here + k * a), load(s, here + k * a + b), load(s, here + k * a + 2 * b)
            charge = h0 + h1 + h2
            total = total + charge
            place = at + (VECTORS * part + 3 * k) * step
            store(s, place, charge)
            # both tangential components of V_k = sum_n M_kn b_n
            for c in range(2):
                b0, b1, b2 = load(s, w + c * step), load(s, w + (3 + c) * step), load(s, w + (6 + c) * step)
                store(s, place + (1 + c) * step, h0 * b0 + h1 * b1 + h2 * b2)
        store(s, totals + part * step, total)
    # charges: (4 / k^2) sum_m S_m
    re, im = load(s, totals), load(s, totals + step)
    store(s, totals, c2 * re - c3 * im)
    store(s, totals + step, c2 * im + c3 * re)


@jitable
def entries(s, w, a, x, i, x_step, y, j, y_step, e):
    """Store the entries of test function a and the three trial functions at s[e:]; arguments as in `Form`."""
    for part in range(2):
        put_entries(s, w, part, x, i, x_step, y, j, y_step, e + part * lanes(s))


@jitable
def put_entries(s, w, part, x, i, x_step, y, j, y_step, e):
    """Store one part of the entries of a test function, the real (part = 0) or the imaginary one (part = 1), two
    vectors apart from s[e] on; s, w, x, i, x_step, y, j, y_step as in `entries`."""
    step = lanes(s)
    # u = sum_m c_m . V_m - q (4 / k^2) sum_m S_m and t = - sum_m S_m c_m
    u, t1, t2 = -(load(x, i + DIVERGENCE * x_step) * load(s, w + (CHARGES + part) * step)), zero(s), zero(s)
    for m in range(3):
        c1, c2 = load(x, i + 2 * m * x_step), load(x, i + (2 * m + 1) * x_step)
        at = w + (FIELDS + VECTORS * part + 3 * m) * step
        u = u + c1 * load(s, at + step) + c2 * load(s, at + 2 * step)
        t1, t2 = t1 - c1 * load(s, at), t2 - c2 * load(s, at)
    # s_b (u + b_b . t)
    for b in range(3):
        along = u + t1 * load(s, w + 3 * b * step) + t2 * load(s, w + (3 * b + 1) * step)
        store(s, e + 2 * b * step, strength(y, j, y_step, b) * along)


@jitable_part
def put_products(e, m, i, j, vertices, factors, charge):
    """Store the entries (9,) of the three functions of triangle i and the three of triangle j, in parallel planes, in
    e.

    m (14,): real and imaginary parts of int int G, G xi_x, G xi_y, G eta_x, G eta_y, G xi . eta and K; vertices (n, 3,
    2): alpha of all triangles, factors (n, 3): s, flat; charge: 4 / k^2.
    """
    for a in range(3):
        # of function a: int int G (xi - alpha) . eta - charge K, and -int int G (xi - alpha)
        at = 2 * (3 * i + a)
        u, v, s = vertices[at], vertices[at + 1], factors[3 * i + a]
        re0, im0 = m[10] - u * m[6] - v * m[8] - charge * m[12], m[11] - u * m[7] - v * m[9] - charge * m[13]
        rex, imx, rey, imy = u * m[0] - m[2], u * m[1] - m[3], v * m[0] - m[4], v * m[1] - m[5]
        # with beta of function b
        for b in range(3):
            other = 2 * (3 * j + b)
            x, y, st = vertices[other], vertices[other + 1], s * factors[3 * j + b]
            e[3 * a + b] = complex(st * (re0 + x * rex + y * rey), st * (im0 + x * imx + y * imy))


VALUE = (ELECTRIC_FIELD.component,)
SIZES = TEST_TRIANGLE.length, TEST_FUNCTION.length, LAYOUT.length
ELECTRIC = Form("electric", VALUE, VALUE, 3, 3, 3, *SIZES, fields, fields, entries)
