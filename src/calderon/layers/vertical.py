"""Fields of a uniform vertical current between a wall below and an interface.

A thin current I from z = 0 to h has the horizontal field E = i k0 (int G_xz dz') cos phi I of its vector potential; its
charge at the upper end is that of the current that goes on there. Its reaction on itself at the distance a is i k0 int
int G_zz dz dz'. With g(s) = exp(i k R) / (4 pi R), R^2 = a^2 + s^2, the singular parts of G_zz are, for mu = 1,

  g(z - z'),  in the layer on the wall g(z + z'),  in one layer -2 b g(z + z' - 2 t) at each face t with another medium

eps' behind, b = (eps - eps') / (eps + eps'); those of one layer are multiplied by its mu.
"""

import numpy as np
from numpy.typing import NDArray

from calderon.layers.sections import WALL, Sections
from calderon.layers.sommerfeld import spatial_greens
from calderon.quadrature import gauss

GAUSS = 6
"""Gauss points over the height of a layer."""


def require_ground(sections: Sections, z: float, what: str) -> None:
    """ValueError unless there is a wall below height z, and above it, through several layers, no magnetic media."""
    if sections.ends[0] != WALL:
        raise ValueError(f'{what} needs a conductor below the stack: give Stack(..., below="pec") or Conductor(sigma)')
    if z not in sections.high[:-1] or z <= 0:
        raise ValueError(f"{what} goes from the ground to metal on an interface above it, got z = {1e3 * z:g} mm")
    passed = sections.high <= z
    if passed.sum() > 1 and np.any(sections.mu[passed] != 1):
        raise ValueError(f"{what} through several layers needs mu_r = 1 in all of them, got {sections.mu[passed]}")


def _layers(sections: Sections, z: float) -> list[tuple[int, float, float]]:
    """Number and faces of the layers below height z."""
    faces = zip(sections.low.tolist(), sections.high.tolist(), strict=True)
    return [(n, low, high) for n, (low, high) in enumerate(faces) if high <= z and high > low]


def horizontal_field(sections: Sections, z: float, rho: NDArray[np.float64], top: float) -> NDArray[np.complex128]:
    """int G_xz(rho, z, z') dz' from 0 to the interface at `top`, without unit."""
    total, rule, layer = np.zeros(len(rho), complex), gauss(GAUSS), sections.layer_of(z, "below")
    for n, low, high in _layers(sections, top):
        for t, w in zip(rule.points, rule.weights, strict=True):
            source = low + (high - low) * t
            total += w * (high - low) * spatial_greens(sections, rho, z, source, layer, n).xz
    return total


def self_reaction(sections: Sections, z: float, radius: float) -> complex:
    """int int G_zz(radius, z', z'') dz' dz'' from 0 to the interface at z, in m."""
    layers, k = _layers(sections, z), complex(sections.wavenumbers[0])
    rule, rho = gauss(GAUSS), np.array([radius])
    images = _images(sections, layers)

    def g(s: NDArray[np.float64]) -> NDArray[np.complex128]:
        r = np.hypot(radius, s)
        return np.asarray(np.exp(1j * k * r) / (4 * np.pi * r))

    # the smooth rest, without the direct part and its images, at pairs of heights
    total = 0.0 + 0.0j
    nodes = [
        (n, low + (high - low) * t, (high - low) * w)
        for n, low, high in layers
        for t, w in zip(rule.points, rule.weights, strict=True)
    ]
    for one, (n, a, wa) in enumerate(nodes):
        for m, b, wb in nodes[: one + 1]:  # symmetric in both heights
            rest = complex(spatial_greens(sections, rho, a, b, n, m).zz[0])
            rest -= complex(sections.mu[n] * g(np.array(a - b)))
            if n == m:
                rest -= sum(factor * complex(g(np.array(a + b - 2 * face))) for factor, face in images[n])
            total += wa * wb * rest * (1 if a == b else 2)
    # over all pairs of heights: s = z - z' occurs h - |s| times, the sum of distances from a face min(s, 2h - s) times
    s, w = _toward_zero(z, radius)
    total += sections.mu[0] * np.sum(w * (z - s) * 2 * g(s))
    for n, low, high in layers:
        h = high - low
        s, w = _toward_zero(h, radius)
        once = np.sum(w * s * g(s)) + np.sum(w * (h - s) * g(h + s))
        total += sum(factor for factor, _ in images[n]) * once
    return complex(total)


def _images(sections: Sections, layers: list[tuple[int, float, float]]) -> dict[int, list[tuple[complex, float]]]:
    """Factors and faces of the images in each layer."""
    found: dict[int, list[tuple[complex, float]]] = {}
    for n, low, high in layers:
        mu = complex(sections.mu[n])
        below = (mu, low) if n == 0 else (-2 * mu * _step(sections, n, n - 1), low)
        above = [(-2 * mu * _step(sections, n, n + 1), high)] if n + 1 < len(sections.eps) else []
        found[n] = [below, *above]
    return found


def _step(sections: Sections, here: int, behind: int) -> complex:
    one, two = sections.eps[here], sections.eps[behind]
    return complex((one - two) / (one + two))


def _toward_zero(h: float, radius: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """A rule on [0, h] for functions of the root of radius^2 + s^2: s = radius sinh t."""
    rule, end = gauss(30), np.arcsinh(h / radius)
    t = end * rule.points
    return radius * np.sinh(t), end * rule.weights * radius * np.cosh(t)
