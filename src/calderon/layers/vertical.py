"""Fields of a uniform vertical current between a wall below and the upper face of the layer on it.

A thin current I from z = 0 to h has the horizontal field E = i k0 (int G_xz dz') cos phi I of its vector potential; its
charge at the upper end is that of the current that goes on there. Its reaction on itself at the distance a is i k0 int
int G_zz dz dz', where G_zz has

  mu (g(z - z') + g(z + z') - 2 b g(2h - z - z')),  g(s) = exp(i k R) / (4 pi R), R^2 = a^2 + s^2,

as singular parts, b = (eps - eps') / (eps + eps') with the medium eps' above.
"""

import numpy as np
from numpy.typing import NDArray

from calderon.layers.sections import WALL, Sections
from calderon.layers.sommerfeld import spatial_greens
from calderon.quadrature import gauss

POINTS = 6
"""Gauss points over the height."""


def require_ground(sections: Sections, z: float, what: str) -> None:
    """ValueError unless the layer below height z stands on a wall."""
    if sections.ends[0] != WALL:
        raise ValueError(f'{what} needs a conductor below the stack: give Stack(..., below="pec") or Conductor(sigma)')
    if z != sections.high[0] or sections.low[0] == z:
        raise ValueError(
            f"{what} goes from the ground through one layer, to z = {1e3 * sections.high[0]:g} mm, got z = "
            f"{1e3 * z:g} mm"
        )


def horizontal_field(sections: Sections, rho: NDArray[np.float64]) -> NDArray[np.complex128]:
    """int G_xz(rho, h, z') dz' from 0 to the upper face h of the lowest layer, without unit."""
    height, rule = float(sections.high[0]), gauss(POINTS)
    parts = [spatial_greens(sections, rho, height, height * t, 0, 0).xz for t in rule.points]
    return height * np.asarray(np.tensordot(rule.weights, parts, 1), np.complex128)


def self_reaction(sections: Sections, radius: float) -> complex:
    """int int G_zz(radius, z, z') dz dz' from 0 to the upper face of the lowest layer, in m."""
    h, rule, rho = float(sections.high[0]), gauss(POINTS), np.array([radius])
    eps, mu, k = sections.eps, sections.mu[0], complex(sections.wavenumbers[0])
    ratio = 2 * (eps[0] - eps[1]) / (eps[0] + eps[1]) if len(eps) > 1 else 0.0

    def g(s: NDArray[np.float64]) -> NDArray[np.complex128]:
        r = np.hypot(radius, s)
        return np.asarray(np.exp(1j * k * r) / (4 * np.pi * r))

    total = 0.0 + 0.0j
    for a, wa in zip(h * rule.points, rule.weights, strict=True):
        for b, wb in zip(h * rule.points, rule.weights, strict=True):
            if b > a:  # symmetric in both heights
                continue
            whole = complex(spatial_greens(sections, rho, a, b, 0, 0).zz[0])
            images = g(np.array([a - b, a + b, 2 * h - a - b]))
            rest = whole - mu * (images[0] + images[1] - ratio * images[2])
            total += wa * wb * h * h * rest * (1 if a == b else 2)
    # over all pairs of heights: s = z - z' occurs h - |s| times, z + z' min(s, 2h - s) times
    s, w = _toward_zero(h, radius)
    near = np.sum(w * (h - s) * 2 * g(s)) + (1 - ratio) * (np.sum(w * s * g(s)) + np.sum(w * (h - s) * g(h + s)))
    return complex(total + mu * near)


def _toward_zero(h: float, radius: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """A rule on [0, h] for functions of the root of radius^2 + s^2: s = radius sinh t."""
    rule, end = gauss(30), np.arcsinh(h / radius)
    t = end * rule.points
    return radius * np.sinh(t), end * rule.weights * radius * np.cosh(t)
