"""Local matrices of pairs of triangles from moments of the kernel.

The kernel is summed with 1, xi_1, xi_2 (and |xi|^2, or all products of two) on the test side and with the barycentric
coordinates on the trial side. Vectors are in the frame of the test triangle, Delta = c_i - c_j is the distance of the
centroids. Between edge functions every entry is  s_b (s_a u_b + s_a alpha_a . t_b)  with a number u_b and a tangent
t_b, with an affine test field  s_b sum_k u_k . E_b^k  with the moments E_b^k of the field of trial function b.
"""

from collections.abc import Callable
from typing import NamedTuple

from calderon.backends.vectors import jitable, load, store, zero


@jitable
def put(w, step, n, u, ui, t1, t1i, t2, t2i):  # type: ignore[no-untyped-def]
    """Keep u and t of trial function n."""
    store(w, 6 * n * step, u)
    store(w, (6 * n + 1) * step, ui)
    store(w, (6 * n + 2) * step, t1)
    store(w, (6 * n + 3) * step, t1i)
    store(w, (6 * n + 4) * step, t2)
    store(w, (6 * n + 5) * step, t2i)


@jitable
def electric(m, b, w, step, d1, d2, d3, c_re, c_im):  # type: ignore[no-untyped-def]
    """(x - v_a) . (y - w_b) - c  with  c = 4 / k^2.  With the integrals S, X, Y, P of 1, xi, eta, xi . eta:
    u_b = P - c S - beta_b . X,  t_b = beta_b S - Y.
    """
    s, si, x1, x1i, x2, x2i = zero(m), zero(m), zero(m), zero(m), zero(m), zero(m)
    y1, y1i, y2, y2i, p, pi = zero(m), zero(m), zero(m), zero(m), zero(m), zero(m)
    for n in range(3):
        b1, b2 = load(b, 3 * n * step), load(b, (3 * n + 1) * step)
        h0, h1, h2 = load(m, n * step), load(m, (3 + n) * step), load(m, (6 + n) * step)
        i0, i1, i2 = load(m, (12 + n) * step), load(m, (15 + n) * step), load(m, (18 + n) * step)
        s, si, x1, x1i, x2, x2i = s + h0, si + i0, x1 + h1, x1i + i1, x2 + h2, x2i + i2
        y1, y1i, y2, y2i = y1 + b1 * h0, y1i + b1 * i0, y2 + b2 * h0, y2i + b2 * i0
        p, pi = p + b1 * h1 + b2 * h2, pi + b1 * i1 + b2 * i2
    p, pi = p - (c_re * s - c_im * si), pi - (c_re * si + c_im * s)
    for n in range(3):
        b1, b2 = load(b, 3 * n * step), load(b, (3 * n + 1) * step)
        u, ui = p - b1 * x1 - b2 * x2, pi - b1 * x1i - b2 * x2i
        put(w, step, n, u, ui, b1 * s - y1, b1 * si - y1i, b2 * s - y2, b2 * si - y2i)


@jitable
def magnetic(m, b, w, step, d1, d2, d3, c_re, c_im):  # type: ignore[no-untyped-def]
    """((x - v_a) x n) . ((x - y) x (y - w_b)) = ((x - v_a) . (x - w_b)) n . (y - w_b)
    - ((x - v_a) . (y - w_b)) n . (x - w_b), with the moments of h = G'/r: S, X, Y, P as above, Q of |xi|^2 and, with
    the factor n . eta, S', X', Q'; index 3 is the component along n:

    u_b = Q' - D_3 P + D . X' + beta_b3 (P - Q - D . X) - beta_b . (X' - D_3 X),
    t_b = -X' + D_3 Y - D S' + beta_b3 (X - Y + D S) + beta_b (S' - D_3 S),  D = Delta.
    """
    s, si, x1, x1i, x2, x2i = zero(m), zero(m), zero(m), zero(m), zero(m), zero(m)
    y1, y1i, y2, y2i, p, pi = zero(m), zero(m), zero(m), zero(m), zero(m), zero(m)
    q, qi, s3, s3i, q3, q3i = zero(m), zero(m), zero(m), zero(m), zero(m), zero(m)
    z1, z1i, z2, z2i = zero(m), zero(m), zero(m), zero(m)
    for n in range(3):
        b1, b2, b3 = load(b, 3 * n * step), load(b, (3 * n + 1) * step), load(b, (3 * n + 2) * step)
        h0, h1, h2, h3 = load(m, n * step), load(m, (3 + n) * step), load(m, (6 + n) * step), load(m, (9 + n) * step)
        i0, i1 = load(m, (12 + n) * step), load(m, (15 + n) * step)
        i2, i3 = load(m, (18 + n) * step), load(m, (21 + n) * step)
        s, si, x1, x1i, x2, x2i, q, qi = s + h0, si + i0, x1 + h1, x1i + i1, x2 + h2, x2i + i2, q + h3, qi + i3
        y1, y1i, y2, y2i = y1 + b1 * h0, y1i + b1 * i0, y2 + b2 * h0, y2i + b2 * i0
        p, pi = p + b1 * h1 + b2 * h2, pi + b1 * i1 + b2 * i2
        s3, s3i, q3, q3i = s3 + b3 * h0, s3i + b3 * i0, q3 + b3 * h3, q3i + b3 * i3
        z1, z1i, z2, z2i = z1 + b3 * h1, z1i + b3 * i1, z2 + b3 * h2, z2i + b3 * i2
    a, ai = q3 - d3 * p + d1 * z1 + d2 * z2, q3i - d3 * pi + d1 * z1i + d2 * z2i
    c, ci = p - q - d1 * x1 - d2 * x2, pi - qi - d1 * x1i - d2 * x2i
    e1, e1i, e2, e2i = z1 - d3 * x1, z1i - d3 * x1i, z2 - d3 * x2, z2i - d3 * x2i
    f1, f1i = d3 * y1 - z1 - d1 * s3, d3 * y1i - z1i - d1 * s3i
    f2, f2i = d3 * y2 - z2 - d2 * s3, d3 * y2i - z2i - d2 * s3i
    g1, g1i, g2, g2i = x1 - y1 + d1 * s, x1i - y1i + d1 * si, x2 - y2 + d2 * s, x2i - y2i + d2 * si
    v, vi = s3 - d3 * s, s3i - d3 * si
    for n in range(3):
        b1, b2, b3 = load(b, 3 * n * step), load(b, (3 * n + 1) * step), load(b, (3 * n + 2) * step)
        put(
            w, step, n,
            a + b3 * c - b1 * e1 - b2 * e2, ai + b3 * ci - b1 * e1i - b2 * e2i,
            f1 + b3 * g1 + b1 * v, f1i + b3 * g1i + b1 * vi, f2 + b3 * g2 + b2 * v, f2i + b3 * g2i + b2 * vi,
        )  # fmt: skip


@jitable
def magnetic_rotated(m, b, w, step, d1, d2, d3, c_re, c_im):  # type: ignore[no-untyped-def]
    """(x - v_a) . ((x - y) x (y - w_b)) = (v_a - w_b) . ((y - w_b) x (x - v_a)) with S, X, Y as above and C of
    eta x xi:  u_b = D . C - beta_b . (C - D x X),  t_b = C - D x Y + beta_b x (Y - X - S D).
    """
    s, si, x1, x1i, x2, x2i = zero(m), zero(m), zero(m), zero(m), zero(m), zero(m)
    y1, y1i, y2, y2i, y3, y3i = zero(m), zero(m), zero(m), zero(m), zero(m), zero(m)
    c1, c1i, c2, c2i, c3, c3i = zero(m), zero(m), zero(m), zero(m), zero(m), zero(m)
    for n in range(3):
        b1, b2, b3 = load(b, 3 * n * step), load(b, (3 * n + 1) * step), load(b, (3 * n + 2) * step)
        h0, h1, h2 = load(m, n * step), load(m, (3 + n) * step), load(m, (6 + n) * step)
        i0, i1, i2 = load(m, (12 + n) * step), load(m, (15 + n) * step), load(m, (18 + n) * step)
        s, si, x1, x1i, x2, x2i = s + h0, si + i0, x1 + h1, x1i + i1, x2 + h2, x2i + i2
        y1, y1i, y2, y2i = y1 + b1 * h0, y1i + b1 * i0, y2 + b2 * h0, y2i + b2 * i0
        y3, y3i = y3 + b3 * h0, y3i + b3 * i0
        c1, c1i, c2, c2i = c1 - b3 * h2, c1i - b3 * i2, c2 + b3 * h1, c2i + b3 * i1
        c3, c3i = c3 + b1 * h2 - b2 * h1, c3i + b1 * i2 - b2 * i1
    a, ai = d1 * c1 + d2 * c2 + d3 * c3, d1 * c1i + d2 * c2i + d3 * c3i
    v1, v1i, v2, v2i = c1 + d3 * x2, c1i + d3 * x2i, c2 - d3 * x1, c2i - d3 * x1i
    v3, v3i = c3 - d1 * x2 + d2 * x1, c3i - d1 * x2i + d2 * x1i
    f1, f1i = c1 - d2 * y3 + d3 * y2, c1i - d2 * y3i + d3 * y2i
    f2, f2i = c2 - d3 * y1 + d1 * y3, c2i - d3 * y1i + d1 * y3i
    g1, g1i, g2, g2i = y1 - x1 - s * d1, y1i - x1i - si * d1, y2 - x2 - s * d2, y2i - x2i - si * d2
    g3, g3i = y3 - s * d3, y3i - si * d3
    for n in range(3):
        b1, b2, b3 = load(b, 3 * n * step), load(b, (3 * n + 1) * step), load(b, (3 * n + 2) * step)
        put(
            w, step, n,
            a - b1 * v1 - b2 * v2 - b3 * v3, ai - b1 * v1i - b2 * v2i - b3 * v3i,
            f1 + b2 * g3 - b3 * g2, f1i + b2 * g3i - b3 * g2i, f2 + b3 * g1 - b1 * g3, f2i + b3 * g1i - b1 * g3i,
        )  # fmt: skip


@jitable
def put_field(w, place, step, e1, e1i, e2, e2i):  # type: ignore[no-untyped-def]
    """Keep both tangential components of a moment of the field."""
    store(w, place, e1)
    store(w, place + step, e1i)
    store(w, place + 2 * step, e2)
    store(w, place + 3 * step, e2i)


@jitable
def with_corners(m, b, step, k):  # type: ignore[no-untyped-def]
    """S and Y of test function k: its moments summed, and with beta_n."""
    s, si, y1, y1i, y2, y2i, y3, y3i = zero(m), zero(m), zero(m), zero(m), zero(m), zero(m), zero(m), zero(m)
    for n in range(3):
        h, hi = load(m, (3 * k + n) * step), load(m, (18 + 3 * k + n) * step)
        b1, b2, b3 = load(b, 3 * n * step), load(b, (3 * n + 1) * step), load(b, (3 * n + 2) * step)
        s, y1, y2, y3 = s + h, y1 + b1 * h, y2 + b2 * h, y3 + b3 * h
        si, y1i, y2i, y3i = si + hi, y1i + b1 * hi, y2i + b2 * hi, y3i + b3 * hi
    return s, si, y1, y1i, y2, y2i, y3, y3i


@jitable
def magnetic_affine(m, b, w, step, d1, d2, d3, c_re, c_im):  # type: ignore[no-untyped-def]
    """(x - y) x (y - w_b) = (x - w_b) x (y - w_b), whose moments with 1, xi_1, xi_2 are, tangentially,

    E^k = (A_2 q_3^k - A_3 q_2^k + q_3^(k 2), A_3 q_1^k - A_1 q_3^k - q_3^(k 1)),  A = Delta - beta_b,  q = Y - beta_b S

    with the moments S and Y of 1 and eta with test function k, and those of its products with xi_1 and xi_2.
    """
    sa, sai, a1, a1i, a2, a2i, a3, a3i = with_corners(m, b, step, 0)
    sb, sbi, b1, b1i, b2, b2i, b3, b3i = with_corners(m, b, step, 1)
    sc, sci, c1, c1i, c2, c2i, c3, c3i = with_corners(m, b, step, 2)
    sd, sdi, _, _, _, _, d, di = with_corners(m, b, step, 3)
    se, sei, _, _, _, _, e, ei = with_corners(m, b, step, 4)
    sf, sfi, _, _, _, _, f, fi = with_corners(m, b, step, 5)
    for n in range(3):
        p1, p2, p3 = load(b, 3 * n * step), load(b, (3 * n + 1) * step), load(b, (3 * n + 2) * step)
        g1, g2, g3 = d1 - p1, d2 - p2, d3 - p3
        x, xi, y, yi, z, zi = a3 - p3 * sa, a3i - p3 * sai, b3 - p3 * sb, b3i - p3 * sbi, c3 - p3 * sc, c3i - p3 * sci
        r, ri, t, ti, u, ui = d - p3 * sd, di - p3 * sdi, e - p3 * se, ei - p3 * sei, f - p3 * sf, fi - p3 * sfi
        here = 12 * n * step
        put_field(
            w, here, step,
            g2 * x - g3 * (a2 - p2 * sa) + z, g2 * xi - g3 * (a2i - p2 * sai) + zi,
            g3 * (a1 - p1 * sa) - g1 * x - y, g3 * (a1i - p1 * sai) - g1 * xi - yi,
        )  # fmt: skip
        put_field(
            w, here + 4 * step, step,
            g2 * y - g3 * (b2 - p2 * sb) + t, g2 * yi - g3 * (b2i - p2 * sbi) + ti,
            g3 * (b1 - p1 * sb) - g1 * y - r, g3 * (b1i - p1 * sbi) - g1 * yi - ri,
        )  # fmt: skip
        put_field(
            w, here + 8 * step, step,
            g2 * z - g3 * (c2 - p2 * sc) + u, g2 * zi - g3 * (c2i - p2 * sci) + ui,
            g3 * (c1 - p1 * sc) - g1 * z - t, g3 * (c1i - p1 * sci) - g1 * zi - ti,
        )  # fmt: skip


class Form(NamedTuple):
    """A local matrix and what it is made of.

    local(m, b, w, step, d1, d2, d3, c_re, c_im): from moments m and corners b to results w, of Delta and 4 / k^2.
    of_value: whether moments are of G, else of G'/r. functions: on the test side 3, 4 with |xi|^2, 6 with all products.
    results: numbers for each trial function that the coefficients of a test function multiply.
    """

    local: Callable[..., None]
    of_value: bool
    functions: int
    results: int


ELECTRIC = Form(electric, True, 3, 3)
MAGNETIC = Form(magnetic, False, 4, 3)
MAGNETIC_ROTATED = Form(magnetic_rotated, False, 3, 3)
MAGNETIC_AFFINE = Form(magnetic_affine, False, 6, 6)
