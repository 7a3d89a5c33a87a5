"""Plane waves and surface waves that currents in a stack of layers excite.

A horizontal current of the transform J at the height z' makes at the height z, for each k,

  E_u = -V_i^e J_u,  E_v = -V_i^h J_v,  u along k, v = z x u,

and a vertical current of 1 from the ground to z' makes E_u = k0 (int G_xz dz'' + k K(z, z') / k0^2), all with eta0 = 1.
Of vertical metal, with the transform D of the divergence, E_u = i k0 (G_xx J_u - i G_xz J_z + i k K D / k0^2).
"""

from typing import NamedTuple

import numpy as np
import scipy
from numpy.typing import NDArray

from calderon.layers.lines import spectral_greens
from calderon.layers.sections import OPEN, Sections
from calderon.quadrature import gauss

Complex = NDArray[np.complex128]


ROUNDED = 1e-3
"""Relative rounding error of k - k_0 from which on a pole cannot be distinguished from the branch point k_0, that of
boards so thin that they guide next to nothing."""


class Responses(NamedTuple):
    """(n,) What E_u, E_v are for J_u, J_v of 1 at one height, and E_u for a vertical current of 1 up to it."""

    tm: Complex
    te: Complex
    vertical: Complex


def responses(sections: Sections, k: NDArray[np.complex128], z: float, source_z: float, probes: bool) -> Responses:
    """At the height z for horizontal currents at source_z, of wavenumbers k (n,)."""
    found = spectral_greens(sections, k, z, source_z)
    te = 1j * sections.k0 * found.xx
    tm = te - 1j * found.K * k**2 / sections.k0
    if not probes:
        return Responses(tm, te, np.zeros_like(te))
    # six Gauss points over the height of each layer
    rule, potential = gauss(6), np.zeros_like(te)
    for n, (low, high) in enumerate(zip(sections.low, sections.high, strict=True)):
        if low < high <= source_z:
            parts = [spectral_greens(sections, k, z, low + (high - low) * t, None, n).xz for t in rule.points]
            potential = potential + (high - low) * np.tensordot(rule.weights, parts, 1)
    return Responses(tm, te, sections.k0 * (potential + found.K * k / sections.k0**2))


class SourceResponses(NamedTuple):
    """(n,) E_u for J_u without its charge, which is E_v for J_v, for J_z, and for the divergence, at one height."""

    level: Complex
    upright: Complex
    charge: Complex


def source_responses(sections: Sections, k: NDArray[np.complex128], z: float, source_z: float) -> SourceResponses:
    """At the height z for any currents at source_z within a layer, of wavenumbers k (n,)."""
    found, k0 = spectral_greens(sections, k, z, source_z), sections.k0
    return SourceResponses(
        *(np.asarray(each, complex) for each in (1j * k0 * found.xx, k0 * found.xz, -k * found.K / k0))
    )


class SurfaceWave(NamedTuple):
    """A pole k in 1/m of the TM or TE response at a height, its residue, and at the pole the ratio of the vertical
    response to that of horizontal currents (0 for TE)."""

    kind: str
    k: complex
    residue: complex
    vertical: complex


def surface_waves(sections: Sections, z: float, probes: bool = False) -> list[SurfaceWave]:
    """The waves that travel along the stack without decay from height to height, by rational fits of the responses
    next to the axis, and the secant method. Walls on both sides have none of these.

    Beyond the largest wavenumber k of half-spaces responses have no branch point as functions of the root t of k_rho -
    k: poles may be close to it.
    """
    low, high = outside_wavenumber(sections), sections.densest
    if not low or high <= low * (1 + 1e-9):
        return []
    span = high - low
    path = np.asarray((1 - 0.03j) * np.linspace(0, 1.03, 121)[1:], np.complex128)
    values, waves = responses(sections, low + span * path**2, z, z, False), list[SurfaceWave]()
    for kind, sampled in (("TM", values.tm), ("TE", values.te)):
        poles = scipy.interpolate.AAA(path, sampled / np.abs(sampled).max(), rtol=1e-11).poles()
        squares = poles**2
        for start in poles[(poles.real > 0) & (squares.real > 0) & (squares.real < 1) & (np.abs(squares.imag) < 0.2)]:
            t = _refined(sections, z, kind, complex(start), (low, span))
            if t is None or not 0 < t.real < 1:
                continue
            k = low + span * t**2
            if all(abs(k - each.k) > 1e-6 * abs(k - low) for each in waves):
                waves.append(_wave(sections, z, kind, k, low, probes))
    return sorted(waves, key=lambda wave: -wave.k.real)


def outside_wavenumber(sections: Sections) -> float:
    """The largest wavenumber of half-spaces in which waves travel in 1/m, 0 without one."""
    outside = sections.wavenumbers[[0, -1]][(sections.ends == OPEN) & sections.travels[[0, -1]]]
    return float(max([abs(k) for k in outside], default=0.0))


def residue_ratio(sections: Sections, wave: SurfaceWave, z: float, source_z: float) -> complex:
    """How strongly currents at source_z excite a surface wave that was found at z, relative to those at z."""
    if z == source_z:
        return 1.0 + 0j
    circle = _circle(wave.k, outside_wavenumber(sections))
    found = responses(sections, circle, z, source_z, False)
    return _residue(wave, circle, found.tm if wave.kind == "TM" else found.te) / wave.residue


def residue_ratios(sections: Sections, wave: SurfaceWave, z: float, source_z: float) -> list[complex]:
    """Ratios of the residues of a surface wave for any currents at source_z within a layer, one for each of
    `SourceResponses`."""
    circle = _circle(wave.k, outside_wavenumber(sections))
    found = source_responses(sections, circle, z, source_z)
    return [_residue(wave, circle, each) / wave.residue for each in found]


def _residue(wave: SurfaceWave, circle: Complex, values: Complex) -> complex:
    return complex(np.mean(values * (circle - wave.k)))


def _circle(k: complex, low: float) -> NDArray[np.complex128]:
    """Points around a pole, which do not reach the branch point."""
    return np.asarray(k + 0.1 * abs(k - low) * np.exp(2j * np.pi * (np.arange(16) + 0.5) / 16))


def _refined(sections: Sections, z: float, kind: str, start: complex, scale: tuple[float, float]) -> complex | None:
    """The pole t next to a guess, of k = low + span t^2, as a zero of the inverse, by the secant method; None where
    there is none."""
    low, span = scale

    def inverse(t: complex) -> complex:
        found = responses(sections, np.array([low + span * t**2]), z, z, False)
        with np.errstate(divide="ignore", invalid="ignore"):  # far from any pole
            return complex(1 / (found.tm if kind == "TM" else found.te)[0])

    # k has rounding errors of eps low, t those of k over its derivative: next to low t is known to less than its digits
    rounding = 4 * np.finfo(float).eps * low / span
    noise, least = rounding / abs(start) ** 2, (rounding / ROUNDED) ** 0.5
    if abs(start) < least:
        return None
    a, b = start, start * (1 + max(1e-6, 1e2 * noise))
    one, two = inverse(a), inverse(b)
    for _ in range(30):
        if two == one:
            break
        a, b, one = b, b - two * (b - a) / (two - one), two
        if not abs(b) >= least:  # or not a number
            return None
        two = inverse(b)
        if abs(b - a) < max(1e-13, noise) * abs(b):
            break
    return b if abs(b - a) < max(1e-9, noise) * abs(b) and abs(b - start) < 0.05 * abs(start) else None


def _wave(sections: Sections, z: float, kind: str, k: complex, low: float, probes: bool) -> SurfaceWave:
    """The residue is a mean over a circle around the pole."""
    circle = _circle(k, low)
    found = responses(sections, circle, z, z, probes and kind == "TM")
    response = found.tm if kind == "TM" else found.te
    residue = complex(np.mean(response * (circle - k)))
    vertical = complex(np.mean(found.vertical * (circle - k))) / residue
    return SurfaceWave(kind, k, residue, vertical)
