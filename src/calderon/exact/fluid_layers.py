"""Scattering of sound by a sphere of fluid layers: partial waves from the inside out.

In a layer of wavenumber k and density rho (over that of the surroundings) the partial wave n is
u = alpha j_n(kr) + beta h_n(kr), and u and v = (1/rho) du/dr are continuous. From (u, v) on the inner face, up to a
factor, with the Wronskian j h' - j' h = i / z^2,

    alpha : beta = u h' - (rho / k) v h : (rho / k) v j - u j',

and so (u, v) on the outer face. Around the sphere u = g_n (j_n(k0 r) + c_n h_n(k0 r)). All functions are scaled by
their growth (`calderon.exact.bessel`), so that no layer, however thin, thick or lossy, overflows. P. M. Morse and
K. U. Ingard, Theoretical Acoustics (1968), chapter 8.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from calderon.exact.bessel import spherical_bessel, spherical_hankel
from calderon.exact.sphere import SphereScattering, incident_waves, series
from calderon.validation import finite_number, nonzero_wavenumber, one_of, points_in_space, positive_length

CORES = ("fluid", "rigid", "soft")


@dataclass(frozen=True, eq=False)
class FluidLayer:
    """A layer between two spheres (inner 0 for a ball). regular, outgoing (N + 1,): alpha of j_n(kr) / j-scale at the
    outer face, beta of h_n(kr) / h-scale at the inner one."""

    inner: float
    outer: float
    wavenumber: complex
    density: complex
    regular: np.ndarray
    outgoing: np.ndarray

    def radial(self, r: np.ndarray) -> np.ndarray:
        """(N + 1, p) the partial waves at r (p,) within the layer."""
        last, k = len(self.regular) - 1, self.wavenumber
        here = spherical_bessel(last, k * r)
        waves = self.regular[:, None] * here.values * spherical_bessel(last, k * self.outer).scale_over(here)
        if self.inner > 0:
            third = spherical_hankel(last, k * r)
            fall = third.scale_over(spherical_hankel(last, k * self.inner))
            waves = waves + self.outgoing[:, None] * third.values * fall
        return np.asarray(waves)


@dataclass(frozen=True, eq=False)
class LayeredScattering(SphereScattering):
    """The exact field of a wave on a sphere of fluid layers, see `SphereScattering`.

    layers: from the inside out; core: "fluid", or "rigid" or "soft", in which there is no field.
    """

    layers: tuple[FluidLayer, ...]
    core: str

    def interior(self, points: ArrayLike) -> np.ndarray:
        """The field (n,) at points (n, 3) within the sphere; 0 in a core that is no fluid."""
        distance, cosine = self._polar(points_in_space(points))
        if np.any(distance > self.radius * (1 + 1e-9)):
            raise ValueError(f"{np.count_nonzero(distance > self.radius * (1 + 1e-9))} points lie outside the sphere")
        values = np.zeros(len(distance), np.complex128)
        for layer in self.layers:
            here = (distance >= layer.inner) & (distance <= layer.outer * (1 + 1e-9))
            if here.any():
                r = np.minimum(distance[here], layer.outer)
                values[here] = series(np.ones(self.number_of_terms), layer.radial, r, cosine[here])
        return values


def layered_fluid_sphere(
    k: complex,
    radii: Sequence[float],
    wavenumbers: Sequence[complex],
    density_ratios: Sequence[complex],
    direction: ArrayLike | None = None,
    source: ArrayLike | None = None,
    core: str = "fluid",
) -> LayeredScattering:
    """Sphere of concentric fluid layers, from the inside out: outer radii in m, increasing; wavenumbers (positive
    imaginary part for loss); densities over that of the surroundings (complex for lossy equivalent fluids).

    core: "fluid"; or "rigid" or "soft", then radii[0] is that of the core, and there is one wavenumber and one density
    less. Other arguments as for `soft_sphere`.
    """
    sizes, inside, densities = _checked(radii, wavenumbers, density_ratios, core)
    count = len(inside)
    largest = max(
        (abs(each) * size for each, size in zip(inside, sizes[-count:] if count else [], strict=True)), default=0
    )
    k, position, axis, last, forcing = incident_waves(
        k, float(sizes[-1]), direction, source, largest / float(sizes[-1])
    )
    # from the inside out: value and slope of the field at the outer face of each layer, up to a factor for each degree
    faces = sizes if core != "fluid" else np.concatenate([[0.0], sizes])
    value, slope = (np.full(last + 1, each, np.complex128) for each in ((1, 0) if core == "rigid" else (0, 1)))
    pairs: list[Any] = []
    for inner, outer, own, density in zip(faces[:-1], faces[1:], inside, densities, strict=True):
        pair, link, value, slope = _through(float(inner), float(outer), own, density, value, slope, last)
        pairs.append([pair, link])
    # outgoing terms from value and slope on the sphere
    z = k * float(sizes[-1])
    regular, outgoing = spherical_bessel(last, z), spherical_hankel(last, z)
    J, J_slope, H, H_slope = (each[:, 0] for each in (regular.values, regular.slopes, outgoing.values, outgoing.slopes))
    slope = slope / k
    denominator = (H_slope * value - H * slope) / H
    scattered = -(J_slope * value - J * slope) / denominator
    amplitude = 1j / z**2 / H / denominator  # u on the sphere is `value` times this and the incident wave
    surface, surface_slope, layers = amplitude * value, amplitude * slope, []
    # from the outside in: the factors
    amplitude = forcing * amplitude
    for (pair, link), inner, outer, own, density in reversed(
        [*zip(pairs, faces[:-1], faces[1:], inside, densities, strict=True)]
    ):
        layers.append(FluidLayer(float(inner), float(outer), own, density, pair[0] * amplitude, pair[1] * amplitude))
        amplitude = amplitude * link
    return LayeredScattering(
        kind="layered",
        wavenumber=k,
        radius=float(sizes[-1]),
        axis=axis,
        source=position,
        outgoing_terms=forcing * scattered,
        surface_terms=forcing * surface,
        slope_terms=forcing * surface_slope * k,
        interior_terms=forcing,
        interior_wavenumber=inside[-1] if inside else None,
        layers=tuple(reversed(layers)),
        core=core,
    )


def _checked(radii: Any, wavenumbers: Any, density_ratios: Any, core: str) -> tuple[np.ndarray, list[Any], list[Any]]:
    """Radii, and the wavenumber and the density of each layer; ValueError for those that do not fit together."""
    one_of(core, CORES, "core")
    radii, wavenumbers, density_ratios = (
        np.atleast_1d(np.array(each, dtype=object)).tolist() for each in (radii, wavenumbers, density_ratios)
    )
    sizes = np.array([positive_length(each, "a radius") for each in radii])
    count = len(sizes) - (core != "fluid")
    if len(sizes) == 0 or np.any(np.diff(sizes) <= 0):
        raise ValueError(f"radii increase from the inside out, got {radii}")
    if not len(wavenumbers) == len(density_ratios) == count:
        raise ValueError(
            f"{len(sizes)} radii and a {core} core have {count} layers of fluid: got {len(wavenumbers)} wavenumbers "
            f"and {len(density_ratios)} density ratios"
        )
    inside = [nonzero_wavenumber(each, "wavenumbers") for each in wavenumbers]
    densities = [finite_number(each, "density_ratios") for each in density_ratios]
    for density in densities:
        if not np.real(density) > 0:
            raise ValueError(f"density ratios must be positive, got {density!r}")
    return sizes, inside, densities


def _through(
    inner: float, outer: float, k: complex, density: complex, value: np.ndarray, slope: np.ndarray, last: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """From (u, v) on the inner face, up to a factor, to (alpha, beta) as in `FluidLayer` and (u, v) on the outer face,
    up to another. Also the link: (u, v) on the inner face of (alpha, beta) are those given times link."""
    far, blank = spherical_bessel(last, k * outer), np.zeros(last + 1, np.complex128)
    if inner == 0:
        alpha, beta, link = blank + 1, blank, blank
        value, slope = far.values[:, 0], k / density * far.slopes[:, 0]
    else:
        near, third = spherical_bessel(last, k * inner), spherical_hankel(last, k * inner)
        away = spherical_hankel(last, k * outer)
        fall = far.scale_over(near)[:, 0]  # of s_n at the outer over the inner face: j rises and h falls by it
        alpha = third.slopes[:, 0] * value - density / k * slope * third.values[:, 0]
        beta = density / k * slope * near.values[:, 0] - near.slopes[:, 0] * value
        link = 1j / (k * inner) ** 2 * fall
        beta = beta * fall
        value = alpha * far.values[:, 0] + beta * fall * away.values[:, 0]
        slope = k / density * (alpha * far.slopes[:, 0] + beta * fall * away.slopes[:, 0])
    size = np.maximum(np.abs(value), np.abs(slope) / abs(k))
    return np.stack([alpha, beta]) / size, link / size, value / size, slope / size
