"""Static images at interfaces next to thin layers: what Green's functions have closer than an element's size.

At wavenumbers k_rho = kappa far beyond those of all layers, 2 kappa times G_xx and K are the voltages of lines with the
admittances 1 / mu and eps of their layers and k_z = i kappa: sums of exp(-kappa s) over the paths s between faces, each
the transform of 1 / (4 pi R), R^2 = rho^2 + s^2. What follows, of the order of (k / kappa)^2, are multiples of
-(1 + kappa s) exp(-kappa s) / kappa^2, those of R / (4 pi). The factors of distances in a geometric series follow from
least squares, with which any number of layers and of reflections has ten to forty images. They need not be those of the
paths: what they miss, 1e-9 of the source, is left to tables.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.layers.limits.interface import direct_part
from calderon.layers.lines import spectral_greens
from calderon.layers.sections import OPEN, WALL, Sections

THIN = 0.8
"""Distance in sizes of triangles below which images are taken out, up to FARTHEST sizes. At that distance rules of
degree 14 integrate them to 1e-6."""
FARTHEST = 1.0


class Fit(NamedTuple):
    """The least squares by which images are found."""

    ratios: tuple[Any, ...] = (1.2, 1.5)
    """Ratios of neighbouring distances, next to the closest and to the farthest one. An error at wavenumber kappa makes
    a peak in proportion to kappa above the source, where rules for the same triangle have points."""
    lowest: float = 8.0
    highest: float = 60.0
    """Wavenumbers over the inverse of the farthest and the closest distance."""
    samples: int = 12
    """Wavenumbers for each distance."""
    cut: float = 1e-13
    next_cut: float = 1e-10
    """Singular values over the largest one, below which they are left out."""


FIT = Fit()
Complex = NDArray[np.complex128]


class Images(NamedTuple):
    """distances s (m,) in m, and factors (m,) of 1 / (4 pi R) in G_xx and K, then those of R / (4 pi) in 1/m^2."""

    distances: NDArray[np.float64]
    xx: Complex
    K: Complex
    next_xx: Complex
    next_K: Complex

    def __call__(self, rho: NDArray[np.float64]) -> Complex:
        """(2, ...) both sums in 1/m at distances rho in m."""
        waves = 1 / (4 * np.pi * np.hypot(np.asarray(rho)[..., None], self.distances))
        return np.stack([waves @ self.xx, waves @ self.K]) + self.growing(rho)

    def growing(self, rho: NDArray[np.float64]) -> Complex:
        """(2, ...) the terms with R alone."""
        lengths = np.hypot(np.asarray(rho)[..., None], self.distances) / (4 * np.pi)
        return np.stack([lengths @ self.next_xx, lengths @ self.next_K])


NO_IMAGES = Images(np.zeros(0), *np.zeros((4, 0), complex))


def image_distance(sections: Sections, z: float, source_z: float) -> float:
    """The least vertical distance between an observer and a source or image that is not at its height."""
    if z != source_z:
        return abs(z - source_z)
    eps, mu = sections.eps, sections.mu
    jumps = sections.high[:-1][(eps[1:] != eps[:-1]) | (mu[1:] != mu[:-1])]
    ends = np.array([sections.low[0], sections.high[-1]])[sections.ends != OPEN]
    faces = np.concatenate([jumps, ends])
    others = np.abs(faces[faces != z] - z)
    return 2 * float(others.min()) if others.size else np.inf


def static_images(sections: Sections, z: float, source_z: float, size: float, required: bool = False) -> Images:
    """Static images between two interfaces that triangles of that size in m see as close; none where all are
    farther. At one height the first one is the source itself, which is there if `required`, too."""
    closest = image_distance(sections, z, source_z)
    if closest >= THIN * size:
        if not required:
            return NO_IMAGES
        closest = np.inf
    farthest = FARTHEST * size
    distances = _distances(closest, farthest)
    # wavenumbers at which the images are fitted
    kappa = np.geomspace(
        FIT.lowest / farthest, FIT.highest / distances.min(initial=farthest), FIT.samples * (len(distances) + 2)
    )
    scale = np.sqrt(kappa)  # between equal errors at all kappa, and an equal share in the peak
    waves = scale[:, None] * np.exp(-kappa[:, None] * distances)
    growing = -(1 + kappa[:, None] * distances) * np.exp(-kappa[:, None] * distances) / (kappa[:, None] * farthest) ** 2
    exact, direct = spectral_greens(sections, kappa, z, source_z), direct_part(sections, z) if z == source_z else None
    static, following = [], []
    for electric, whole in ((False, exact.xx), (True, exact.K)):
        # static images, then those that grow with distance, of what is left
        line = 2 * _voltages(sections, kappa, z, source_z, electric)
        left = 2 * kappa * whole - line
        own, next_own = [], []
        if direct is not None:
            factor, k = (direct.K, direct.k_K) if electric else (direct.xx, direct.k_xx)
            own, next_own = [factor], [-factor * k**2 / 2]
            line, left = line - factor, left - factor * k**2 / (2 * kappa**2)
        found = np.linalg.lstsq(waves, scale * line, rcond=FIT.cut)[0]
        static.append(np.concatenate([own, found]))
        found = np.linalg.lstsq(growing, left, rcond=FIT.next_cut)[0] / farthest**2
        following.append(np.concatenate([next_own, found]))
    return Images(np.concatenate([np.zeros(len(own)), distances]), *static, *following)


def _distances(closest: float, farthest: float) -> NDArray[np.float64]:
    """From the closest one to the first one that is farther than `farthest`."""
    if np.isinf(closest):
        return np.zeros(0)
    found, (first, last) = [closest], FIT.ratios
    while found[-1] < farthest:
        found.append(found[-1] * (first + (last - first) * np.log(found[-1] / closest) / np.log(farthest / closest)))
    return np.array(found)


def _voltages(sections: Sections, kappa: NDArray[np.float64], z: float, source_z: float, electric: bool) -> Complex:
    """(n,) at the interface z of unit currents at the interface source_z, on the line of K (electric) or G_xx."""
    admittances: Any = sections.eps if electric else 1 / sections.mu
    source, observer = sections.layer_of(source_z), sections.layer_of(z)  # above the interfaces
    last = len(sections.eps) - 1
    below, waves_below = _seen(sections, admittances, kappa, range(source), electric)
    above, waves_above = _seen(sections, admittances, kappa, range(last, source - 1, -1), electric)
    voltage = 1 / (below + above)
    step = 1 if observer >= source else -1
    for n in range(source, observer) if step == 1 else range(source - 1, observer - 1, -1):
        reflected = (waves_above if step == 1 else waves_below)[n]
        through = np.exp(-kappa * (sections.high[n] - sections.low[n]))
        voltage = voltage * (1 + reflected) * through / (1 + reflected * through**2)
    return voltage


def _seen(
    sections: Sections, admittances: Complex, kappa: NDArray[np.float64], layers: range, electric: bool
) -> tuple[Complex, dict[int, Complex]]:
    """The admittance (n,) at the end of layers that follow each other from an end of the stack, and the reflection in
    each of what goes toward that end, where it comes from."""
    place = 0 if layers.step > 0 else 1
    end = sections.ends[place]
    reflected = np.full(len(kappa), 0j if end == OPEN else 1 + 0j)
    if end == WALL:
        wall = complex(sections.walls[place]) / 1j
        ratio = wall * sections.k0 * admittances[layers[0]] / kappa if electric else -wall * kappa / sections.k0
        if not electric:
            ratio = ratio * admittances[layers[0]]
        reflected = (ratio - 1) / (ratio + 1) if wall else np.full(len(kappa), -1 + 0j)
    waves, before = dict[int, Complex](), None
    for n in layers:
        if before is not None:
            reflected = (admittances[n] - before) / (admittances[n] + before)
        waves[n] = reflected
        thickness = sections.high[n] - sections.low[n]
        if thickness > 0:
            reflected = reflected * np.exp(-2 * kappa * thickness)
        before = admittances[n] * (1 - reflected) / (1 + reflected)
    return before, waves  # type: ignore[return-value]
