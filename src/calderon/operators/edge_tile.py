"""Regular part of a Galerkin block of edge functions: as regular.py, with the local matrices of pairs of triangles.

For a pair of triangles the kernel is summed with 1, xi_1, xi_2 on the test side at each trial point, then with the
barycentric coordinates on the trial side: nine moments (twelve with |xi|^2), from which all nine entries of the local
matrix follow. Every entry is  s_b (s_a u_b + s_a alpha_a . t_b)  with a number u_b and a tangent t_b: the forms below
say which. Vectors are in the frame of the test triangle, Delta = c_i - c_j is the distance of the centroids.
"""

import functools
from collections.abc import Callable
from typing import Any

from numpy.typing import DTypeLike, NDArray

from calderon.backends.numba import STAMP, kernel
from calderon.backends.vectors import aligned, jitable, lanes, load, store, width, zero
from calderon.greens import Radial
from calderon.greens.elementary import inverse_square_root
from calderon.operators.columns import add_complex_columns, column_scratch
from calderon.operators.regular import turned
from calderon.operators.sides import LANES

MOMENTS = 12
"""Moments of a pair: 1, xi_1, xi_2, |xi|^2 times three barycentric coordinates."""


def edge_scratch(rows: int, points: int, real: DTypeLike) -> NDArray[Any]:
    """Working memory of one tile: for each of its output rows (and one that nobody reads) three local trial functions,
    real and imaginary; results of some rows; a mask; in vectors, of one pair: the sums at each trial point, the
    moments, the corners beta in the frame, the parts of the local matrix."""
    vectors = 8 * points + 2 * MOMENTS + 9 + 18
    results = column_scratch(3 * LANES, width(real))
    return aligned((6 * (rows + 1) + 1) * LANES + results + vectors * width(real), real)


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


@functools.lru_cache(maxsize=64)
def edge_tile_kernel(radial: Radial, form: Callable[..., None]) -> Callable[..., None]:
    """The compiled tile of one Green's function and form (`electric`, `magnetic`, `magnetic_rotated`).

    tile(test, trial, skip_start, skip_position, scalars, lo, hi, upper, tile_rows, row_ids, scratch, out): as in
    regular.py; scalars = (p0, p1, tiny, Re and Im of alpha, Re and Im of 4 / k^2).
    """
    stamp = STAMP
    radial_value, radial_phase, shifts = radial
    of_value, square = form is electric, form is magnetic

    @kernel
    def tile(  # type: ignore[no-untyped-def]
        test, trial, skip_start, skip_position, scalars, lo, hi, upper, tile_rows, row_ids, scratch, out
    ):
        _ = stamp
        p0, p1, tiny = scalars[0], scalars[1], scalars[2]
        points, blocks = trial.points.shape[1], trial.points.shape[0]
        rows, step, t = row_ids.size, lanes(scratch), scratch
        work = 3 * (rows + 1) * LANES
        rest = scratch[2 * work :]
        size = 3 * LANES
        results = rest[: 4 * size * step]
        mask = rest[4 * size * step : 4 * size * step + LANES]
        sums = rest[4 * size * step + LANES :]
        m = sums[8 * points * step :]
        beta = m[2 * MOMENTS * step :]
        w = beta[9 * step :]
        start = lo // LANES if upper else 0
        cursors = skip_start[lo:hi].copy()  # for each test triangle the first pair to leave out that is still ahead
        for i in range(lo, hi):
            while cursors[i - lo] < skip_start[i + 1] and skip_position[cursors[i - lo]] < start * LANES:
                cursors[i - lo] += 1
        for b in range(start, blocks):
            for v in range(0, 2 * work, step):
                store(t, v, zero(t))
            centres, table = trial.centres[b], trial.table
            top = min(hi, (b + 1) * LANES) if upper else hi
            for i in range(lo, top):
                cursor, last = cursors[i - lo], skip_start[i + 1]
                masked = (upper and i >= b * LANES) or (cursor < last and skip_position[cursor] < (b + 1) * LANES)
                if masked:
                    for j in range(LANES):
                        mask[j] = 0.0 if upper and b * LANES + j <= i else 1.0
                    while cursor < last and skip_position[cursor] < (b + 1) * LANES:
                        mask[skip_position[cursor] - b * LANES] = 0.0
                        cursor += 1
                    cursors[i - lo] = cursor
                x, centre, frame, arms = test.nodes[i], test.centres[i], test.frames[i], test.arms[i]
                for v in range(0, LANES, step):
                    e0, e1 = centre[0] - load(centres, v), centre[1] - load(centres, LANES + v)
                    e2 = centre[2] - load(centres, 2 * LANES + v)
                    reference = zero(t)
                    if shifts:
                        r2 = e0 * e0 + tiny + e1 * e1 + e2 * e2
                        reference = r2 * inverse_square_root(r2)
                    f_re, f_im = radial_phase(reference, p0, p1)
                    if masked:
                        f_re = f_re * load(mask, v)
                        f_im = f_im * load(mask, v)
                    for q in range(points):
                        y = trial.points[b, q]
                        y0, y1, y2 = load(y, v), load(y, LANES + v), load(y, 2 * LANES + v)
                        s0, s1, s2, s3 = zero(t), zero(t), zero(t), zero(t)
                        i0, i1, i2, i3 = zero(t), zero(t), zero(t), zero(t)
                        for p in range(x.shape[0]):
                            d0, d1, d2 = x[p, 0] - y0, x[p, 1] - y1, x[p, 2] - y2
                            g, gi, h, hi_ = radial_value(d0 * d0 + tiny + d1 * d1 + d2 * d2, p0, p1, reference)
                            k, ki = h, hi_
                            if of_value:
                                k, ki = g, gi
                            s0, i0 = s0 + x[p, 3] * k, i0 + x[p, 3] * ki
                            s1, i1 = s1 + x[p, 4] * k, i1 + x[p, 4] * ki
                            s2, i2 = s2 + x[p, 5] * k, i2 + x[p, 5] * ki
                            if square:
                                s3, i3 = s3 + x[p, 6] * k, i3 + x[p, 6] * ki
                        a0 = 8 * q * step
                        store(sums, a0, s0)
                        store(sums, a0 + step, s1)
                        store(sums, a0 + 2 * step, s2)
                        store(sums, a0 + 4 * step, i0)
                        store(sums, a0 + 5 * step, i1)
                        store(sums, a0 + 6 * step, i2)
                        if square:
                            store(sums, a0 + 3 * step, s3)
                            store(sums, a0 + 7 * step, i3)
                    for f in range(4 if square else 3):
                        s0, s1, s2, i0, i1, i2 = zero(t), zero(t), zero(t), zero(t), zero(t), zero(t)
                        for q in range(points):
                            re, im = load(sums, (8 * q + f) * step), load(sums, (8 * q + 4 + f) * step)
                            s0, i0 = s0 + table[0, q] * re, i0 + table[0, q] * im
                            s1, i1 = s1 + table[1, q] * re, i1 + table[1, q] * im
                            s2, i2 = s2 + table[2, q] * re, i2 + table[2, q] * im
                        a0 = 3 * f * step
                        store(m, a0, s0)
                        store(m, a0 + step, s1)
                        store(m, a0 + 2 * step, s2)
                        a0 += MOMENTS * step
                        store(m, a0, i0)
                        store(m, a0 + step, i1)
                        store(m, a0 + 2 * step, i2)
                    for n in range(3):
                        corner = trial.corners[b, n]
                        b0, b1, b2 = load(corner, v), load(corner, LANES + v), load(corner, 2 * LANES + v)
                        for c in range(3):
                            place = (3 * n + c) * step
                            store(beta, place, frame[c, 0] * b0 + frame[c, 1] * b1 + frame[c, 2] * b2)
                    d0 = frame[0, 0] * e0 + frame[0, 1] * e1 + frame[0, 2] * e2
                    d1 = frame[1, 0] * e0 + frame[1, 1] * e1 + frame[1, 2] * e2
                    d2 = frame[2, 0] * e0 + frame[2, 1] * e1 + frame[2, 2] * e2
                    form(m, beta, w, step, d0, d1, d2, scalars[5], scalars[6])
                    for n in range(3):
                        a0 = 6 * n * step
                        u, ui = turned(load(w, a0), load(w, a0 + step), f_re, f_im)
                        t1, t1i = turned(load(w, a0 + 2 * step), load(w, a0 + 3 * step), f_re, f_im)
                        t2, t2i = turned(load(w, a0 + 4 * step), load(w, a0 + 5 * step), f_re, f_im)
                        for a in range(3):
                            a0 = (3 * tile_rows[i - lo, a] + n) * LANES + v
                            c0, c1, c2 = arms[a, 0], arms[a, 1], arms[a, 2]
                            store(t, a0, load(t, a0) + c0 * u + c1 * t1 + c2 * t2)
                            store(t, work + a0, load(t, work + a0) + c0 * ui + c1 * t1i + c2 * t2i)
            for group in range(0, rows, step):
                count = min(step, rows - group)
                for r in range(count):
                    for n in range(3):
                        for v in range(0, LANES, step):
                            a0 = (3 * (group + r) + n) * LANES + v
                            strength = load(trial.strengths[b, n], v)
                            c_re, c_im = strength * scalars[3], strength * scalars[4]
                            re, im = turned(load(t, a0), load(t, work + a0), c_re, c_im)
                            place = r * size + n * LANES + v
                            store(results, place, re)
                            store(results, size * step + place, im)
                add_complex_columns(out, row_ids[group:], count, trial.columns, b, results)

    return tile
