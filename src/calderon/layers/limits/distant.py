"""Green's functions of a stack at many wavelengths: surface waves and branch cuts instead of integrals along the axis.

For even G the Sommerfeld integral is (1 / 4 pi) int G H0(k rho) k dk along the whole axis, H0 of the first kind.
Upward it is closed around poles p with residues R and around cuts from the wavenumbers k_b of half-spaces:

  G(rho) = sum i p R H0(p rho) / 2 + (1 / 4 pi) sum over k_b and both sides of +-int G H0(k rho) k dk,
  k = k_b + i exp(i a) s^2 / rho, 0 < s < END:

about steepest descent, as H0 falls like exp(-s^2). Both sides are turned away from the cut, along which k_rho^2 -
k_b^2 is imaginary, to the left by a = CUTS.tilt, to the right by as much. G is analytic in s; poles next to k_b, as of
thin layers, come close to s = 0, toward which panels become shorter. Poles on other sheets that are left out decay with
the distance: from where on these sums hold is measured (L. B. Felsen and N. Marcuvitz, Radiation and Scattering of
Waves, 1973, on branch cuts and steepest descent).
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import scipy
from numpy.polynomial import chebyshev
from numpy.typing import NDArray

from calderon.layers.lines import spectral_greens
from calderon.layers.radiation import surface_waves
from calderon.layers.sections import OPEN, Sections
from calderon.layers.sommerfeld import horizontal_greens
from calderon.quadrature import gauss


class Cuts(NamedTuple):
    """Rules along branch cuts, and where the sums are tried."""

    tilt: float = 0.4
    """Angle from a cut."""
    panels: NDArray[Any] = 6.3 * np.array([0, 1 / 512, 1 / 128, 1 / 32, 1 / 8, 0.35, 0.65, 1])
    """Ends of the panels of s, each with `points` points."""
    points: int = 16
    degree: int = 32
    smooth: float = 1e-12
    """Degree of the polynomials that interpolate integrals along cuts, and the part of the largest of their terms that
    the last ones may have."""
    wavelengths: tuple[Any, ...] = (5.0, 10.0, 20.0)
    """Distances in wavelengths of vacuum from which on the sums are tried."""
    samples: int = 4
    agreement: float = 1e-8
    """Distances at which integrals are computed too, and by how much of the largest one both may differ."""


CUTS = Cuts()
Complex = NDArray[np.complex128]


@dataclass(frozen=True, eq=False)
class DistantGreens:
    """G_xx and K between two heights from the distance `start` in m on; poles p in 1/m with residues (2,) of both."""

    sections: Sections
    heights: tuple[float, float]
    start: float
    poles: list[tuple[complex, Complex]]
    branches: list[complex]

    def __call__(self, rho: NDArray[np.float64]) -> Complex:
        """(2, ...) both in 1/m at distances in m."""
        r = np.ravel(rho)
        total = np.zeros((2, len(r)), complex)
        for p, residues in self.poles:
            total += 0.5j * p * residues[:, None] * scipy.special.hankel1e(0, p * r) * np.exp(1j * p * r)
        for branch in self.branches:
            total += self._beside(branch, r) * np.exp(1j * branch * r)
        return total.reshape(2, *np.shape(rho))

    def _beside(self, branch: complex, r: NDArray[np.float64]) -> Complex:
        """(2, n) the integrals along the cut from k_b over exp(i k_b r), at distances (n,): smooth functions of log r,
        which are interpolated where there are many distances."""
        low, high = np.log([r.min(), r.max()]) if len(r) > 2 * CUTS.degree else (0.0, 0.0)
        if high > low:
            middle, half = 0.5 * (high + low), 0.5 * (high - low)
            series: Any = chebyshev.chebinterpolate(
                lambda x: self._integrated(branch, np.exp(middle + half * x)).T, CUTS.degree
            )
            if np.all(np.abs(series[-2:]).max(axis=0) < CUTS.smooth * np.abs(series).max(axis=0)):
                return np.asarray(chebyshev.chebval((np.log(r) - middle) / half, series))
        return self._integrated(branch, r)

    def _integrated(self, branch: complex, r: NDArray[np.float64]) -> Complex:
        """(2, n) these integrals by a rule for each distance."""
        rule, widths = gauss(CUTS.points), np.diff(CUTS.panels)
        s = (CUTS.panels[:-1, None] + widths[:, None] * rule.points).ravel()
        weights = 2 * s * (widths[:, None] * rule.weights).ravel() / r[:, None]
        total = np.zeros((2, len(r)), complex)
        for sign, turn in ((-1, 1j * np.exp(1j * CUTS.tilt)), (1, 1j * np.exp(-1j * CUTS.tilt))):
            k = branch + turn * s**2 / r[:, None]
            waves = scipy.special.hankel1e(0, k * r[:, None]) * np.exp(1j * turn * s**2)
            values = _both(self.sections, k, self.heights)
            total += sign * turn / (4 * np.pi) * np.sum(values * (waves * k * weights), axis=2)
        return total


def distant_greens(sections: Sections, z: float, source_z: float, reach: float) -> DistantGreens | None:
    """The Green's functions of distant points between two heights, from where they agree with integrals; None where
    they do not up to `reach`, or where it is too close or walls keep the field between them."""
    wavelength = 2 * np.pi / sections.k0
    opened = (sections.ends == OPEN) & sections.travels[[0, -1]]  # others decay within a wavelength
    branches = set(sections.wavenumbers[[0, -1]][opened].tolist())
    if not branches or reach < CUTS.wavelengths[1] * wavelength:
        return None
    # residues of surface waves, by circles around their poles
    waves = [wave.k for height in {z, source_z} for wave in surface_waves(sections, height)]
    poles = [k for n, k in enumerate(waves) if all(abs(k - other) > 1e-6 * abs(k) for other in waves[:n])]
    found = []
    for p in poles:
        distance = min(abs(p - other) for other in [*poles, *branches] if other != p)
        circle = 0.3 * distance * np.exp(2j * np.pi * (np.arange(24) + 0.5) / 24)
        found.append((p, np.mean(_both(sections, p + circle, (z, source_z)) * circle, axis=1)))
    # the first distance from which on sums and integrals agree
    for start in wavelength * np.array(CUTS.wavelengths):
        sums = DistantGreens(sections, (z, source_z), float(start), found, list(branches))
        rho = start * np.linspace(1, 1.2, CUTS.samples)
        if start > reach:
            break
        expected = np.stack(horizontal_greens(sections, rho, z, source_z))
        errors = np.abs(sums(rho) - expected).max(axis=1)
        if np.all(errors <= CUTS.agreement * np.abs(expected).max(axis=1)):
            return sums
    return None


def _both(sections: Sections, k: Complex, heights: tuple[float, float]) -> Complex:
    """(2, ...) the transforms of G_xx and K."""
    found = spectral_greens(sections, k, *heights)
    return np.stack([found.xx, found.K])
