"""Green's functions when observer and source are close to each other, or to each other's image.

For large k_rho = kappa all k_z are i kappa, and the lines of the layers n (observer) and m (source) give, with s the
vertical distance, functions of kappa times exp(-kappa s): with g = exp(i k R) / (4 pi R) for 1 / (2 kappa), and

  T = (exp(i k s) - (s / R) exp(i k R)) / rho = int exp(i k_z s) J_1(k_rho rho) dk_rho

for 1 / kappa in G_zx and G_xz. Through an interface, or in one medium (n = m),
  G_xx = 2 mu_n mu_m / (mu_n + mu_m) g,  K = 2 / (eps_n + eps_m) g,
  G_zz = 2 ((mu_n eps_n + mu_m eps_m) / (eps_n + eps_m) - mu_n mu_m / (mu_n + mu_m)) g,
and of the image at a face with the reflection r^e = (eps - eps') / (eps + eps'), r^h = (mu' - mu) / (mu' + mu), both -1
at a conductor and 1 at a magnetic wall,
  G_xx = mu r^h g,  K = r^e / eps g,  G_zz = mu (r^h - 2 r^e) g,  G_zx = -G_xz = +-mu (r^h - r^e) T / (4 pi)
with + at the face above. What is left is of order kappa^-3, or has the distance of a further image.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.layers.limits.interface import wavenumber_of_square
from calderon.layers.sections import MAGNETIC_WALL, OPEN, Sections
from calderon.layers.sommerfeld import SpatialGreens

Real = NDArray[np.float64]


class Part(NamedTuple):
    """Factors of g in G_xx, K and G_zz, and of T / (4 pi) in G_zx and G_xz; k in 1/m; mirror: z of the face at which
    the source is mirrored, if it is."""

    xx: complex
    K: complex
    zz: complex
    zx: complex
    xz: complex
    k: complex
    mirror: float | None = None

    def distance(self, z: Real, source_z: Real) -> Real:
        """Vertical distance s of observers and sources, or images."""
        return np.abs(z - (source_z if self.mirror is None else 2 * self.mirror - source_z))

    def __call__(self, rho: Real, s: Real) -> SpatialGreens:
        """Its five components at horizontal and vertical distances, not both zero."""
        r = np.hypot(rho, s)
        g = np.exp(1j * self.k * r) / (4 * np.pi * r)
        beyond = rho**2 / (r + s)
        turn = 2j * np.sin(0.5 * self.k * beyond) * np.exp(0.5j * self.k * beyond)
        t = np.exp(1j * self.k * s) * (rho / (r * (r + s)) - s / r * turn / rho) / (4 * np.pi)
        return SpatialGreens(self.xx * g, self.K * g, self.zx * t, self.xz * t, self.zz * g)


def singular_parts(sections: Sections, layer: int, source_layer: int) -> list[Part]:
    """The parts between two layers: of one layer the direct part and its images, of neighbours what passes through
    their interface, else none."""
    n, m = layer, source_layer
    if abs(n - m) > 1:
        return []
    (e, es), (u, us) = sections.eps[[n, m]], sections.mu[[n, m]]
    k = wavenumber_of_square(sections.k0**2 * complex(e * u + es * us) / 2)
    zz = 2 * ((u * e + us * es) / (e + es) - u * us / (u + us))
    sign = np.sign(n - m)
    zx = -2 * u * sign * (us / (u + us) - e / (e + es))
    xz = -2 * us * sign * (u / (u + us) - es / (e + es))
    parts = [Part(complex(2 * u * us / (u + us)), complex(2 / (e + es)), complex(zz), complex(zx), complex(xz), k)]
    if n != m:
        return parts
    for upper in (False, True):
        found = _reflections(sections, n, upper)
        if found is not None:
            re, rh = found
            cross = complex((1 if upper else -1) * u * (rh - re))
            face = float(sections.high[n] if upper else sections.low[n])
            parts.append(Part(complex(u * rh), complex(re / e), complex(u * (rh - 2 * re)), cross, -cross, k, face))
    return [part for part in parts if any(part[:5])]


def nothing_left(sections: Sections, layer: int, source_layer: int) -> bool:
    """Whether the singular parts are all: of one lossless medium, with one perfect wall at most, next to both."""
    media, walls = np.stack([sections.eps, sections.mu]), sections.ends != OPEN
    if np.any(media != media[:, :1]) or media.imag.any() or walls.all():
        return False
    if not walls.any():
        return abs(layer - source_layer) <= 1
    last = 0 if walls[0] else len(sections.eps) - 1
    return layer == source_layer == last and not sections.walls[walls].any()


def _reflections(sections: Sections, n: int, upper: bool) -> tuple[complex, complex] | None:
    """Limits of the reflections of TM and TE waves at a face of layer n; None if there is none."""
    other = n + (1 if upper else -1)
    if not 0 <= other < len(sections.eps):
        end = sections.ends[1 if upper else 0]
        return None if end == OPEN else (1.0, 1.0) if end == MAGNETIC_WALL else (-1.0, -1.0)
    (e, es), (u, us) = sections.eps[[n, other]], sections.mu[[n, other]]
    return complex((e - es) / (e + es)), complex((us - u) / (us + u))
