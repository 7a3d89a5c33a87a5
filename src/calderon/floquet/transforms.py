"""Fourier transforms of edge functions, exact for every wavenumber.

On a triangle with corners v_j and centre c an edge function is scale (x - v_a), and with the barycentric coordinates
l_j of x

  int (x - v_a) exp(-i K . x) dx = 2 A exp(-i K . c) sum_j (v_j - v_a) m_j,    m_j = int l_j exp(-i l . p) dl,

p_j = K . (v_j - c). By the formula of Hermite and Genocchi m_j is the divided difference of the exponential function at
-i p_0, -i p_1, -i p_2 and -i p_j once more: differences over the largest gap of the p, or a series where all are close.
"""

import numpy as np
from numpy.typing import NDArray

from calderon.backends.numba import jitable_part, kernel
from calderon.backends.threads import run_tasks
from calderon.spaces import EdgeSpace

WAVES_PER_TILE = 32
CLOSE = 1.0
TERMS = 15
"""Terms of the series; its rest is below 1e-14."""


@jitable_part
def _expi(x):
    """exp(-i x)."""
    return complex(np.cos(x), -np.sin(x))


@jitable_part
def _confluent(x, y, wave_x):
    """Divided difference of exp(-i .) at x, x, y as a function of -i times the argument; wave_x = exp(-i x)."""
    z = complex(0.0, x - y)
    if abs(x - y) < 0.5:
        total, term = complex(0.0, 0.0), complex(0.5, 0.0)
        for k in range(3, 16):
            total += term
            term *= z / k
        return wave_x * total
    return wave_x * ((_expi(y - x) - 1.0 - z) / (z * z))


@jitable_part
def _first(x, y):
    """Divided difference at x and y."""
    half = 0.5 * (x - y)
    ratio = np.sin(half) / half if abs(half) > 1e-8 else 1.0
    return _expi(0.5 * (x + y)) * ratio


@jitable_part
def _far_moments(a, b, c):
    """Moments at a <= b <= c that are not close."""
    wave_a, wave_b, wave_c = _expi(a), _expi(b), _expi(c)
    gap = complex(0.0, a - c)
    middle = (_first(b, c) - _first(a, b)) / gap
    return (
        (middle - _confluent(a, b, wave_a)) / gap,
        (_confluent(b, c, wave_b) - _confluent(b, a, wave_b)) / gap,
        (_confluent(c, b, wave_c) - middle) / gap,
    )


@jitable_part
def _close_moments(a, b, c):
    """Moments by complete homogeneous polynomials: the sum of (-i)^p h_p(a, b, c, a) / (p + 3)!, and so on."""
    one, two, three, ha, hb, hc = 1.0, 1.0, 1.0, 1.0, 1.0, 1.0
    factor = complex(1.0 / 6.0, 0.0)
    ma, mb, mc = factor, factor, factor
    for p in range(1, TERMS):
        one *= a
        two = one + b * two
        three = two + c * three
        ha, hb, hc = three + a * ha, three + b * hb, three + c * hc
        factor *= complex(0.0, -1.0 / (p + 3))
        ma, mb, mc = ma + factor * ha, mb + factor * hb, mc + factor * hc
    return ma, mb, mc


@jitable_part
def _moments(a, b, c):
    """The moments m_j for the phases a, b and c at the corners, in the order of the arguments: by `_far_moments`, or by
    `_close_moments` where they differ by less than CLOSE."""
    low, high = min(a, b, c), max(a, b, c)
    if high - low < CLOSE:
        return _close_moments(a, b, c)
    if a <= b:
        if b <= c:
            return _far_moments(a, b, c)
        if a <= c:
            ma, mc, mb = _far_moments(a, c, b)
            return ma, mb, mc
        mc, ma, mb = _far_moments(c, a, b)
        return ma, mb, mc
    if a <= c:
        mb, ma, mc = _far_moments(b, a, c)
        return ma, mb, mc
    if b <= c:
        mb, mc, ma = _far_moments(b, c, a)
        return ma, mb, mc
    mc, mb, ma = _far_moments(c, b, a)
    return ma, mb, mc


@kernel
def _transform(waves, along, corners, doubled, scale, dofs, out):
    """out[:, w, f] += the component along `along`, and along that turned by 90 degrees, of function f at wave w.

    waves (n, 2): K in 1/m; along (n, 2): unit vectors; corners (m, 3, 2): of triangles, in m; doubled (m,): their
    double areas; scale, dofs (m, 3): factors and numbers of the edge functions (-1: none); out (2, n, functions), in
    m^2.
    """
    for w in range(len(waves)):
        kx, ky, ux, uy = waves[w, 0], waves[w, 1], along[w, 0], along[w, 1]
        for t in range(len(corners)):
            v = corners[t]
            cx, cy = (v[0, 0] + v[1, 0] + v[2, 0]) / 3, (v[0, 1] + v[1, 1] + v[2, 1]) / 3
            m = _moments(
                kx * (v[0, 0] - cx) + ky * (v[0, 1] - cy),
                kx * (v[1, 0] - cx) + ky * (v[1, 1] - cy),
                kx * (v[2, 0] - cx) + ky * (v[2, 1] - cy),
            )
            factor = doubled[t] * _expi(kx * cx + ky * cy)
            total = factor * (m[0] + m[1] + m[2])
            sx = factor * (m[0] * v[0, 0] + m[1] * v[1, 0] + m[2] * v[2, 0])
            sy = factor * (m[0] * v[0, 1] + m[1] * v[1, 1] + m[2] * v[2, 1])
            for a in range(3):
                f = dofs[t, a]
                if f >= 0:
                    fx, fy = scale[t, a] * (sx - total * v[a, 0]), scale[t, a] * (sy - total * v[a, 1])
                    out[0, w, f] += ux * fx + uy * fy
                    out[1, w, f] += ux * fy - uy * fx


def transforms(space: EdgeSpace, waves: NDArray[np.float64], along: NDArray[np.float64]) -> NDArray[np.complex128]:
    """(2, n, space.dimension) int f exp(-i K . x) of functions in planes of constant z, at the waves K (n, 2) in 1/m.

    The components along the unit vectors `along` (n, 2), and along those turned by 90 degrees, +x to +y, in m^2.
    """
    corners = np.ascontiguousarray(space.mesh.vertices[space.mesh.triangles[space.triangles]][:, :, :2])
    data = corners, 2 * space.mesh.areas[space.triangles], space.scale, space.dofs
    out = np.zeros((2, len(waves), space.dimension), dtype=complex)

    def tile(number: int) -> None:
        part = slice(WAVES_PER_TILE * number, WAVES_PER_TILE * (number + 1))
        _transform(waves[part], along[part], *data, out[:, part])

    run_tasks(tile, -(-len(waves) // WAVES_PER_TILE))
    return out
