"""Integrals of 1 / R and R over two triangles in parallel planes, R^2 = rho^2 + s^2, however small the distance s.

With Laplacians in the plane, psi = R - s L, L = log(R + s), has that of 1 / R, and

  chi = R^3 / 9 - s rho^2 L / 4 + s rho^2 / 4 - 5 s^2 R / 12 + s^3 L / 6

that of psi; grad chi = g D, g = R / 3 - s L / 2 + s / 4 - s^2 / (6 (R + s)), with D = x - y. By Gauss' theorem in both
planes integrals with 1, x, y and x . y are those over edges, with outward normals n and n' (x and y from any origins):

  int int 1 / R = -oint oint n.n' psi,                  int int x / R = oint oint (n' n.D g - n.n' x psi),
  int int y / R = -oint oint (n n'.D g + n.n' y psi),
  int int x.y / R = oint oint (n.n' (chi - x.y psi) + n'.(y - x) n.D g).

The same holds of R with psi' = R^3 / 9 + s^2 psi / 3, chi' = R^5 / 225 + s^2 psi' / 15 + s^2 chi / 3, and g' =
R^3 / 45 + s^2 (R + s^2 / (R + s)) / 45 + s^2 g / 3.

The inner one has closed forms, in which n'.D = p is constant and w goes along the edge. The outer one is as smooth as
its distance in space from the ends of the inner edge, and from where both cross: t = t_0 + sigma sinh tau, with that
distance sigma, makes a rule of Gauss converge alike for all of them.
"""

import functools
import math

import numpy as np

from calderon.backends.numba import jitable_part, kernel
from calderon.galerkin.forms.electric import put_products
from calderon.quadrature import gauss

FLOOR = 1e-3
"""Least sigma, over the length of an edge. The part that is not resolved has the size of its cube."""
PANELS = ((2.0, 8), (4.5, 12), (np.inf, 16))
"""(range of tau, Gauss points): up to that range."""


@functools.cache
def panel_rules() -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Points and weights of all rules, the ranges of tau, and where the rules start."""
    rules = [gauss(points) for _, points in PANELS]
    starts = np.cumsum([0, *(points for _, points in PANELS)])
    points, weights = (np.concatenate([getattr(each, name) for each in rules]) for name in ("points", "weights"))
    return points, weights, np.array([end for end, _ in PANELS]), starts


@jitable_part
def _bound(w, p, s):
    """Values at one end of an edge, at the place w along it, for the distances p from its line and s from its plane:
    R, L, w + R, T = atan(w / p) - atan(s w / (p R)), and s T / p."""
    square = w * w + p * p
    r = math.sqrt(square + s * s)
    log = math.log(r + s) if r + s > 0.0 else 0.0
    sum_ = r + w if w > 0.0 else (p * p + s * s) / (r - w) if r > w else 0.0
    below = (r + s) * (p * p * r + s * w * w)
    if below == 0.0:
        return r, log, sum_, 0.0, 0.0
    t = math.atan(w * p * square / below)
    ratio = s * t / p if abs(p) > 1e-9 * r else s * w * square / below
    return r, log, sum_, t, ratio


@jitable_part
def _primitives(w, p, s, r, log, t, ratio, wave):
    """Primitives of psi, w psi, chi, g and w g along an edge, then of those of R (psi', ...), at the place w.

    p: n'.D, constant along the edge; s: distance of the planes; r, log, t, ratio: R, L, T and s T / p of `_bound`;
    wave: log(w + R), or its difference to the other end, where it is 0 there.
    """
    # of powers of R, of L, of 1 / (R + s)
    s2, p2, w2 = s * s, p * p, w * w
    q2 = p2 + s2
    a0 = 0.5 * (w * r + q2 * wave)  # of R
    a3 = 0.25 * w * r * r * r + 0.75 * q2 * a0  # of R^3
    l0 = w * log - w + s * wave + p * t  # of L
    l1 = 0.5 * ((w2 + p2) * log - 0.5 * w2 + s * r)  # of w L
    other = w2 * w / 3.0 - p2 * w + p2 * p * t - s * (0.5 * (w * r - q2 * wave) - p2 * wave)
    l2 = p2 * l0 + (w2 * w * log - other) / 3.0  # of rho^2 L
    e0 = wave - ratio  # of 1 / (R + s)
    e1 = r - s * log  # of w / (R + s)
    flat = w2 * w / 3.0 + p2 * w  # of rho^2
    r3, r5 = r * r * r / 3.0, r * r * r * r * r / 5.0  # of w R, w R^3
    a5 = 0.5 * (w * r5 * (5.0 / 3.0)) + (5.0 / 6.0) * q2 * a3  # of R^5
    # of the functions of the module
    third = s2 / 3.0
    psi, psi_w = a0 - s * l0, r3 - s * l1
    chi = a3 / 9.0 - 0.25 * s * (l2 - flat) - (5.0 / 12.0) * s2 * a0 + s2 * s * l0 / 6.0
    g, g_w = (
        a0 / 3.0 - 0.5 * s * l0 + 0.25 * s * w - s2 * e0 / 6.0,
        r3 / 3.0 - 0.5 * s * l1 + 0.125 * s * w2 - s2 * e1 / 6.0,
    )
    psi2, psi2_w = a3 / 9.0 + third * psi, r5 / 9.0 + third * psi_w
    return (
        psi, psi_w, chi, g, g_w, psi2, psi2_w, a5 / 225.0 + 0.2 * third * psi2 + third * chi,
        a3 / 45.0 + 0.2 * third * (a0 + s2 * e0) / 3.0 + third * g,
        r5 / 45.0 + 0.2 * third * (r3 + s2 * e1) / 3.0 + third * g_w,
    )  # fmt: skip


@jitable_part
def _put_along(values, w1, w2, p, s):
    """Store in values (10,) the integrals from w1 to w2 of the functions that `_primitives` has primitives of; p, s: as
    in `_primitives`."""
    r1, log1, sum1, t1, ratio1 = _bound(w1, p, s)
    r2, log2, sum2, t2, ratio2 = _bound(w2, p, s)
    wave = math.log(sum2 / sum1) if sum1 > 0.0 and sum2 > 0.0 else 0.0
    a = _primitives(w2, p, s, r2, log2, t2, ratio2, wave)
    b = _primitives(w1, p, s, r1, log1, t1, ratio1, 0.0)
    for c in range(10):
        values[c] = a[c] - b[c]


@jitable_part
def _put_centres(centres, length, x, y, ex, ey, fx, fy, inner, s):
    """Store t_0 and sigma, sorted, in the rows of centres (4, 2); return how many there are, three at most.

    The outer edge of this length goes from the origin along (ex, ey), the inner one, of the length `inner`, from (x, y)
    along (fx, fy); s: distance of the planes.
    """
    # the ends of the inner edge
    count = 0
    least = FLOOR * length
    for n in range(2):
        dx, dy = x + n * inner * fx, y + n * inner * fy
        across = dx * ey - dy * ex
        centres[count, 0], centres[count, 1] = dx * ex + dy * ey, max(math.sqrt(across * across + s * s), least)
        count += 1
    # where the lines of both edges cross
    sine = ex * fy - ey * fx
    if abs(sine) > 1e-3:
        t, u = (x * fy - y * fx) / sine, (x * ey - y * ex) / sine
        if 0.0 < u < inner:
            centres[count, 0], centres[count, 1] = t, max(s / abs(sine), least)
            count += 1
    # in their order along the outer edge
    for n in range(1, count):
        for k in range(n, 0, -1):
            if centres[k, 0] < centres[k - 1, 0]:
                for c in range(2):
                    centres[k, c], centres[k - 1, c] = centres[k - 1, c], centres[k, c]
    kept = 0
    for n in range(count):  # those that are one
        if kept and centres[n, 0] - centres[kept - 1, 0] < 0.5 * max(centres[n, 1], centres[kept - 1, 1]):
            if centres[n, 1] < centres[kept - 1, 1]:
                centres[kept - 1] = centres[n]
            continue
        centres[kept] = centres[n]
        kept += 1
    return kept


@jitable_part
def _add_edges(m, one, two, length, inner, x0, y0, x1, y1, s, centres, points, weights, ends, starts):
    """Add the integrals over two edges to m (22,): the moments of 1 / R with 1, xi (2), eta (2), xi . eta, those of R,
    then ten numbers of room.

    one, two: (ex, ey, nx, ny), direction and outward normal of both; length, inner: their lengths; (x0, y0), (x1, y1):
    where they begin; s: distance of the planes. xi is from the origin, eta from centres[3]; centres (4, 2) has room for
    `_put_centres`, too. points, weights, ends, starts: `panel_rules`.
    """
    # both directions and normals, and how they are inclined; what the outer edge is near to
    ex, ey, nx, ny = one
    fx, fy, mx, my = two
    cx, cy = centres[3, 0], centres[3, 1]
    both, turned = nx * mx + ny * my, nx * fx + ny * fy
    beyond = mx * (x1 - cx) + my * (y1 - cy)
    count = _put_centres(centres, length, x1 - x0, y1 - y0, ex, ey, fx, fy, inner, s)
    low = 0.0
    for n in range(count):
        high = length if n == count - 1 else min(max(0.5 * (centres[n, 0] + centres[n + 1, 0]), low), length)
        if high <= low:
            continue
        # a rule in tau around each centre, up to the middle of it and the next one
        centre, sigma = centres[n, 0], centres[n, 1]
        begin, stop = math.asinh((low - centre) / sigma), math.asinh((high - centre) / sigma)
        kind = 0
        while stop - begin > ends[kind]:
            kind += 1
        for k in range(starts[kind], starts[kind + 1]):
            tau = begin + (stop - begin) * points[k]
            t = centre + sigma * math.sinh(tau)
            weight = weights[k] * (stop - begin) * sigma * math.cosh(tau)
            x, y = x0 + t * ex, y0 + t * ey
            p = mx * (x - x1) + my * (y - y1)
            u = fx * (x - x1) + fy * (y - y1)
            # integrals along the inner edge, then the formulas of the module for 1 / R and for R
            _put_along(m[12:], -u, inner - u, p, s)
            px, py = x1 - cx + u * fx, y1 - cy + u * fy
            for kind in range(2):
                at, to = 12 + 5 * kind, 6 * kind
                psi, psi_w, chi, g, g_w = m[at], m[at + 1], m[at + 2], m[at + 3], m[at + 4]
                h = p * both * g - turned * g_w
                m[to] -= weight * both * psi
                m[to + 1] += weight * (mx * h - both * x * psi)
                m[to + 2] += weight * (my * h - both * y * psi)
                m[to + 3] -= weight * (both * (px * psi + fx * psi_w) + nx * p * g)
                m[to + 4] -= weight * (both * (py * psi + fy * psi_w) + ny * p * g)
                m[to + 5] += weight * (
                    (beyond - mx * x - my * y) * h + both * (chi - (x * px + y * py) * psi - (x * fx + y * fy) * psi_w)
                )
        low = high


@jitable_part
def put_edges(edges, vertices, i):
    """Store beginning, direction, outward normal and length of the edges of triangle i in edges (3, 7); vertices: flat
    (n, 3, 2), as `Flat` has them."""
    x, y = vertices[6 * i : 6 * i + 6 : 2], vertices[6 * i + 1 : 6 * i + 6 : 2]
    turn = (x[1] - x[0]) * (y[2] - y[0]) - (x[2] - x[0]) * (y[1] - y[0])
    sign = 1.0 if turn > 0.0 else -1.0
    for a in range(3):
        b = (a + 1) % 3
        dx, dy = x[b] - x[a], y[b] - y[a]
        length = math.sqrt(dx * dx + dy * dy)
        ex, ey = dx / length, dy / length
        edges[a, 0], edges[a, 1], edges[a, 2], edges[a, 3] = x[a], y[a], ex, ey
        edges[a, 4], edges[a, 5], edges[a, 6] = sign * ey, -sign * ex, length


@jitable_part
def put_moments(m, first, second, dx, dy, s, centres, rule):
    """Store the integrals of 1, xi (2), eta (2), xi . eta over R, then those times R, of two triangles in m (22,).

    first, second: their edges (`put_edges`), from origins that are dx, dy apart; s: distance of the planes; centres
    (4, 2): room; rule: `panel_rules`.
    """
    points, weights, ends, starts = rule
    m[:] = 0.0
    centres[3, 0], centres[3, 1] = -dx, -dy
    for a in range(3):
        one = first[a, 2], first[a, 3], first[a, 4], first[a, 5]
        for b in range(3):
            two = second[b, 2], second[b, 3], second[b, 4], second[b, 5]
            _add_edges(
                m, one, two, first[a, 6], second[b, 6], first[a, 0], first[a, 1], second[b, 0] - dx, second[b, 1] - dy,
                s, centres, points, weights, ends, starts,
            )  # fmt: skip


@kernel
def image_products(pairs, low, high, flat, images, rule, factor, charge, out):
    """Add to out (n, 9) the part of static images in the electric field of pairs of horizontal triangles (n, 2), from
    pair `low` up to, without, `high`: factor int int (G_xx f_a . g_b - charge K / 4 div f_a div g_b).

    The functions are f_a = s (x - v_a), of divergence 2 s; G_xx and K are sums over the images between the heights of
    both triangles of (xx + next_xx R^2) / (4 pi R) and (K + next_K R^2) / (4 pi R), R^2 = rho^2 + distance^2. flat:
    `metal.Flat`; images: `metal.TakenImages`; rule: `panel_rules`; factor, charge: i k0 and 4 / k0^2.
    """
    centres, vertices, factors, areas, radii, heights = flat
    number, starts, distances, xx, K, next_xx, next_K = images
    # moments of 1 / R (6) and of R (6), and room (10); then Re and Im of six moments of G_xx and of int int K
    moments, m, e = np.empty(22), np.empty(14), np.empty(9, np.complex128)
    first, second, places = np.empty((3, 7)), np.empty((3, 7)), np.empty((4, 2))
    for n in range(low, high):
        i, j = pairs[n, 0], pairs[n, 1]
        table = number[heights[i], heights[j]]
        dx, dy = centres[2 * i] - centres[2 * j], centres[2 * i + 1] - centres[2 * j + 1]
        put_edges(first, vertices, i)
        put_edges(second, vertices, j)
        # moments of G_xx, and the integral of K, over all images
        m[:] = 0.0
        for k in range(starts[table], starts[table + 1]):
            put_moments(moments, first, second, dx, dy, distances[k], places, rule)
            for c in range(6):
                value = (xx[k] * moments[c] + next_xx[k] * moments[6 + c]) / (4.0 * math.pi)
                m[2 * c] += value.real
                m[2 * c + 1] += value.imag
            value = (K[k] * moments[0] + next_K[k] * moments[6]) / (4.0 * math.pi)
            m[12] += value.real
            m[13] += value.imag
        # entries of the three functions of each triangle
        put_products(e, m, i, j, vertices, factors, charge)
        for c in range(9):
            out[n, c] += factor * e[c]
