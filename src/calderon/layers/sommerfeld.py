"""Green's functions of a stack as Sommerfeld integrals (1 / 2 pi) int_0^inf G J_n(k rho) k dk.

The path is half an ellipse below the real axis, to 1.2 k_max + 0.2 k0, beyond all branch points and poles that are
close to the axis, as those of conductors are not. Then the axis: panels that grow, up to the length pi / rho, then
intervals of that length, whose sums are extrapolated by weighted averages (K. A. Michalski and J. R. Mosig, IEEE Trans.
Antennas Propag. 46 (1998) 1412).
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from calderon.backends.numba import jitable_part, kernel, read_only
from calderon.backends.threads import in_parts
from calderon.exact.vacuum import SPEED_OF_LIGHT
from calderon.layers.bessel import bessel
from calderon.layers.field_components import FIELDS, add_field_components
from calderon.layers.lines import line_functions, place, spectral_components
from calderon.layers.sections import OPEN, TURN, Sections
from calderon.quadrature import gauss


class Path(NamedTuple):
    """The path of integration, and where integrals end."""

    depth: tuple[Any, ...] = (0.3, 4.0)
    """Depth of the path below the axis, over k0 at most and times rho at most: J_n grows on it."""
    intervals: int = 26
    """Intervals of the tail."""
    growth: float = 1.5
    """Ratio of neighbouring panels on the axis."""
    small: float = 1e-17
    rounding: float = 1e-15
    """Fractions of the sum, and of the part that is left out: panels below them end the integral."""
    error: float = 1e-13
    """Fraction of the part that is left out: intervals below it are not extrapolated."""
    farthest: float = 1e9
    """End of the path over that of the ellipse."""
    slope: float = 400.0
    decayed: float = 40.0
    """Distance over the difference of heights up to which fields are integrated without averages, and the exponent at
    which they end."""
    vertical: float = 1e-6
    resonant: float = 150.0
    """Waves between walls are sampled at k_rho = `vertical` k0; voltages there above `resonant` times the largest
    impedance mean a resonance: a pole is then so close to the beginning of the path that integrals are wrong by 1e-8
    and more."""


PATH = Path()


class Direct(NamedTuple):
    """Parts c exp(i k r) / (4 pi r) of G_xx and K that are left out; wavenumbers k in 1/m."""

    xx: complex
    K: complex
    k_xx: complex
    k_K: complex


Static = tuple[np.ndarray, np.ndarray, np.ndarray]
"""Distances s in m and factors of 1 / (4 pi R), R^2 = rho^2 + s^2, in G_xx and K, that are left out."""
NO_IMAGES: Static = (np.zeros(0), np.zeros(0, complex), np.zeros(0, complex))
NOTHING = Direct(0j, 0j, 1.0 + 0j, 1.0 + 0j)


class SpatialGreens(NamedTuple):
    """Green's functions at some distances, in 1/m; zx and xz: the factors of cos phi, the azimuth of the observer seen
    from the source."""

    xx: np.ndarray
    K: np.ndarray
    zx: np.ndarray
    xz: np.ndarray
    zz: np.ndarray


@jitable_part
def _direct(k, wavenumber):
    """The spectrum of exp(i wavenumber r) / (4 pi r) at k_rho = k, i / (2 k_z) with Im k_z >= 0."""
    kz = np.sqrt(wavenumber * wavenumber - k * k)
    return 0.5j / (-kz if kz.imag < 0.0 else kz)


@jitable_part
def _add_point(total, k, weight, rho, place, direct):
    """Add the integrands at one point k_rho to the sums `total` (3 or 6, or FIELDS + 1,), and the sizes of the parts
    that are left out to the last one.

    k: k_rho; weight: of the point, times dk_rho; rho: distance in m; place: (`Sections.data`, z, layer, source_z,
    source_layer); direct: factors of G_xx and K, their wavenumbers, and (distances, factors_xx, factors_K) of images.
    """
    sections, z, layer, source_z, source_layer = place
    if len(total) == FIELDS + 1:
        add_field_components(total, k, weight, rho, place)
        return
    values = spectral_components(k, sections, z, layer, source_z, source_layer)
    j0, j1 = bessel(k * rho)
    even, odd = j0 * k * weight, j1 * k * k * weight
    one, two = direct[0] * _direct(k, direct[2]) * even, direct[1] * _direct(k, direct[3]) * even
    distances, factors_xx, factors_K = direct[4]
    for n in range(len(distances)):
        wave = 0.5 * np.exp(-k * distances[n]) / k * even
        one += factors_xx[n] * wave
        two += factors_K[n] * wave
    total[0] += values[0] * even - one
    total[1] += values[1] * even - two
    if len(total) > 3:
        total[2] += values[2] * odd
        total[3] += values[3] * odd
        total[4] += values[4] * even
    total[-1] += abs(one) + abs(two)


@jitable_part
def _average(sums, ends, errors, count):
    """The limit of the partial sums up to the ends (count,), by weighted averages of those whose differences are not
    errors. Remainders are taken to change sign from one interval to the next with equal sizes: ratios of terms, which
    the t-variant takes for those of remainders, are arbitrary where terms of two images, or of a layer and the direct
    part, cancel."""
    averages = sums.copy()
    for k in range(2, count):
        before, now = sums[k - 1] - sums[k - 2], sums[k] - sums[k - 1]
        if min(abs(now), abs(before)) <= max(1e-16 * abs(sums[k]), errors[k]):
            return sums[k]
        for j in range(1, k):
            weight = 1.0 + 2.0 * (j - 1) * (ends[k] - ends[k - 1]) / ends[k - j]
            averages[k - j] = (weight * averages[k - j + 1] + averages[k - j]) / (1.0 + weight)
    return averages[1]


@jitable_part
def _on_axis(total, before, low, high, rho, place, direct, points, weights):
    """Add the panel from low to high of the axis; whether nothing follows, as its sums are rounding errors.

    before: working memory like `total`; points, weights (q,): of a rule on 0 to 1; rho, place and direct as in
    `_add_point`.
    """
    for c in range(len(total)):
        before[c] = total[c]
    for q in range(len(points)):
        k = low + (high - low) * points[q] + 0j
        _add_point(total, k, weights[q] * (high - low), rho, place, direct)
    error = PATH.rounding * (total[-1] - before[-1]).real
    for c in range(len(total) - 1):
        if abs(total[c] - before[c]) > max(PATH.small * abs(total[c]), error):
            return False
    return True


@jitable_part
def _integral(rho, end, depth, place, direct, points, weights, out):
    """Fill out (components,) with the integrals at the distance rho in m: over an ellipse below the axis from 0 to
    `end`, of that depth, then along the axis, in the end between zeros of J_n with weighted averages; direct and
    place as in `_add_point`, points and weights as in `_on_axis`."""
    total, before = np.zeros(len(out) + 1, np.complex128), np.empty(len(out) + 1, np.complex128)
    # half of an ellipse from 0 to `end`, below the poles near the axis
    panels = max(math.ceil(end * rho / 7.0), math.ceil(0.9 * end / depth), 10)
    for p in range(panels):
        for q in range(len(points)):
            t = (p + points[q]) * math.pi / panels
            k = 0.5 * end * (1.0 - math.cos(t)) - 1j * depth * math.sin(t)
            step = 0.5 * end * math.sin(t) - 1j * depth * math.cos(t)
            _add_point(total, k, step * (weights[q] * math.pi / panels), rho, place, direct)
    # panels that grow until Bessel's functions oscillate
    low, done = end, False
    while low * rho < math.pi and low < PATH.farthest * end and not done:
        done = _on_axis(total, before, low, PATH.growth * low, rho, place, direct, points, weights)
        low *= PATH.growth
    # fields far above or below their source: integrated until they have decayed
    away = abs(place[1] - place[3])
    if len(out) == FIELDS and rho < PATH.slope * away:  # derivatives have terms that averages do not suit
        while low * away < PATH.decayed and not done:
            high = min(PATH.growth * low, low + 7.0 / rho)
            done = _on_axis(total, before, low, high, rho, place, direct, points, weights)
            low = high
        done = True
    # partial sums at the ends of intervals between zeros, extrapolated by weighted averages
    sums, ends, errors = (
        np.empty((len(out), PATH.intervals), np.complex128),
        np.empty(PATH.intervals),
        np.empty(PATH.intervals),
    )
    first, count = math.ceil(low * rho / math.pi + 0.25), 0
    while low < PATH.farthest * end and not done and count < PATH.intervals:
        high = (first + count + 0.25) * math.pi / rho
        done = _on_axis(total, before, low, high, rho, place, direct, points, weights)
        errors[count] = PATH.error * (total[-1] - before[-1]).real
        sums[:, count], ends[count], low = total[:-1], high, high
        count += 1
    for c in range(len(out)):
        limit = total[c] if done or count < PATH.intervals else _average(sums[c], ends, errors, count)
        out[c] = limit / (2.0 * math.pi)


@kernel
def _integrals(rho, z, low, high, end, depths, place, direct, points, weights, out):
    """Fill out (n, components) with the integrals at the distances rho (n,) and heights z (n,) in m from low to high.
    depths (2,): of the path at most, and times rho at most; place: (`Sections.data`, layer, source_z, source_layer);
    other arguments as in `_integral`."""
    for i in range(low, high):
        depth = depths[0] if rho[i] * depths[0] < depths[1] else depths[1] / rho[i]
        here = place[0], z[i], place[1], place[2], place[3]
        _integral(rho[i], end, depth, here, direct, points, weights, out[i])


def spatial_greens(
    sections: Sections,
    rho: ArrayLike,
    z: float,
    source_z: float,
    layer: int | None = None,
    source_layer: int | None = None,
) -> SpatialGreens:
    """Green's functions of a stack at horizontal distances rho in m, not zero, of any shape.

    z, source_z: heights of the observer and the source in m. layer, source_layer: the numbers of their layers from
    below, half-spaces included, which heights on an interface require: G_zx, G_xz and G_zz jump there. Errors are
    about 1e-10 of the envelope up to 5 wavelengths, 1e-9 up to 100.
    """
    for name, height, given in (("layer", z, layer), ("source_layer", source_z, source_layer)):
        if given is None and sections.is_interface(height):
            raise ValueError(
                f"z = {height:g} m is an interface, where vertical components jump: give {name}=, "
                f"{sections.layer_of(height, 'below')} for the lower or {sections.layer_of(height)} for the upper side"
            )
    distances = np.asarray(rho, dtype=float)
    if not np.all((distances > 0) & (distances < np.inf)):
        raise ValueError(
            "distances rho must be positive and finite: at rho = 0 the Green's functions are infinite or not unique"
        )
    places = (place(sections, z, layer), place(sections, source_z, source_layer))
    return SpatialGreens(*_evaluated(sections, distances, (z, source_z), places, NOTHING, 5))


def greens_above(sections: Sections, rho: ArrayLike, height: ArrayLike) -> SpatialGreens:
    """The five between sources on the face of the upper half-space, within it, and points of the horizontal distances
    rho and that height above the face, in m and not zero, of one shape."""
    top, face = len(sections.eps) - 1, float(sections.low[-1])
    distances, z = np.asarray(rho, dtype=float), face + np.asarray(height, dtype=float)
    return SpatialGreens(*_evaluated(sections, distances, (z, face), (top, top), NOTHING, 5))


def horizontal_greens(
    sections: Sections, rho: ArrayLike, z: float, source_z: float, direct: Direct = NOTHING,
    images: Static = NO_IMAGES,
) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """G_xx and K, which are continuous at interfaces, less direct parts and images, which may leave values at rho = 0
    finite."""
    places = place(sections, z, None), place(sections, source_z, None)
    xx, charge = _evaluated(sections, np.asarray(rho, dtype=float), (z, source_z), places, direct, 2, images)
    return xx, charge


def field_integrals(
    sections: Sections, rho: np.ndarray, z: float, source_z: float, source_layer: int | None = None
) -> np.ndarray:
    """(FIELDS, ...) what fields at distances rho in m, not zero, are made of, as `field_components` lists it; on an
    interface the observer is above it."""
    places = place(sections, z, None), place(sections, source_z, source_layer)
    return _evaluated(sections, np.asarray(rho, dtype=float), (z, source_z), places, NOTHING, FIELDS)


def _require_no_resonance(sections: Sections, heights: tuple[float, float], layers: tuple[int, int]) -> None:
    """ValueError where walls above and below keep a field between them that has no losses: a pole at k_rho = 0."""
    if OPEN in sections.ends:
        return
    line = line_functions(PATH.vertical * sections.k0, sections.data, heights[0], layers[0], heights[1], layers[1])
    impedances = np.abs(np.sqrt(sections.mu / sections.eps))
    if max(abs(line[0]), abs(line[4])) > PATH.resonant * impedances.max():
        frequency = sections.k0 * SPEED_OF_LIGHT / (2 * np.pi)
        raise ValueError(
            f"the layers between the walls resonate close to {frequency / 1e9:.6g} GHz, where the field is sensitive "
            "or not determined: change the frequency by half a per cent, or give a layer a loss"
        )


def _evaluated(
    sections: Sections,
    rho: np.ndarray,
    heights: tuple[float | np.ndarray, float],
    layers: tuple[int, int],
    direct: Direct,
    components: int,
    images: Static = NO_IMAGES,
) -> np.ndarray:
    """The first components (n, ...) at heights, one or many of the observer, and in layers of the observer and the
    source."""
    flat = np.ascontiguousarray(rho).ravel()
    z = read_only(np.ascontiguousarray(np.broadcast_to(heights[0], np.shape(rho)), dtype=float).ravel())
    if len(z):
        _require_no_resonance(sections, (float(z[0]), heights[1]), layers)
    places = sections.data, layers[0], float(heights[1]), layers[1]
    close = [abs(k) for c, k in zip(direct[:2], direct[2:], strict=True) if c and k.imag < TURN * k.real]
    end = 1.2 * max([sections.densest, *close]) + 0.2 * sections.k0
    depths, rule = (PATH.depth[0] * sections.k0, PATH.depth[1]), gauss(16)
    points, weights = rule.points.copy(), rule.weights.copy()
    out = np.empty((len(flat), components), dtype=complex)
    given = *(complex(each) for each in direct), images
    numbers = end, depths, places, given, points, weights, out
    in_parts(lambda low, high: _integrals(flat, z, low, high, *numbers), len(flat), most=16)
    return out.T.reshape(components, *rho.shape)
