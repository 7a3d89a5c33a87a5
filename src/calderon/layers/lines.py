"""Green's functions of the transmission lines of a stack, and the spectral Green's functions made of them.

A layer with eps, mu and k_z = sqrt(k0^2 eps mu - k_rho^2), Im k_z >= 0, is a section of two lines with the impedances
Z^e = k_z / (k0 eps) of TM and Z^h = k0 mu / k_z of TE waves (those of vacuum are 1). A current source of 1 at z' makes
the voltage V_i and the current I_i, a voltage source V_v and I_v. Reflection of what leaves layer n upward:
  G_n = (r + g) / (1 + r g),  r = (Z_(n+1) - Z_n) / (Z_(n+1) + Z_n),  g = G_(n+1) exp(2i k_z d) of layer n + 1,
0, -1, 1 or (Z_s - Z)/(Z_s + Z) at the end, and likewise downward. From layer n a wave enters layer n + 1 with
(1 + r)/(1 + r g) of its amplitude. In the layer of the source, which reaches from low to high, above the source
  V_i = Z/2 exp(i k_z (z - z')) (1 + G_down exp(2i k_z (z' - low))) (1 + G_up exp(2i k_z (high - z))) / D,
  D = 1 - G_down G_up exp(2i k_z d):
no exponential grows.

Formulation C of K. A. Michalski and D. Zheng (1990), with exp(-i omega t): of horizontal currents J
  E = i omega mu0 (int G J + grad int K div J / k0^2).
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from calderon.backends.numba import jitable_part, kernel
from calderon.layers.sections import Sections

GRAZING = 4e-15
"""By how much of it k_rho is kept below the wavenumbers of layers, where impedances are zero and infinite."""
SMALL = 1e-3
"""Value of |k_rho / k|^2 from which on components are no longer taken as means over a circle."""


@jitable_part
def _vertical(k2):
    """k_z, the root of k2 with Im >= 0 for k_rho on the real axis or below. Its branch cut runs upward from the
    branch point, so that it is analytic around k_rho = 0."""
    kz = np.sqrt(k2)
    return -kz if kz.imag < 0 and -kz.imag > kz.real else kz


@jitable_part
def _end_reflection(end, wall, impedance):
    """Reflection on a line of that impedance at its end: a half-space (0), a wall (1) with the impedance `wall`, or a
    perfect magnetic wall (2)."""
    if end == 1:
        return (wall - impedance) / (wall + impedance)
    return 0j + (1.0 if end == 2 else 0.0)


@jitable_part
def _cascade(square, sections, step, last, observed):
    """Reflections and amplitudes on the TM (e) and the TE line (h), from the lower (step 1) or upper end (step -1) to
    the layer `last`: reflection ge, gh in `last` of waves toward that end; amplitude te, th that enters the layer
    `observed` on the way, for 1 that leaves `last`; reflection seen_e, seen_h in `observed`.

    square: k_rho^2; sections: `Sections.data`.
    """
    k0, eps, mu, low, high, ends, walls = sections
    # begin with the reflection at the end of the stack
    first, place = (0, 0) if step == 1 else (len(eps) - 1, 1)
    kz = _vertical(k0 * k0 * eps[first] * mu[first] - square)
    ze, zh = kz / (k0 * eps[first]), k0 * mu[first] / kz
    ge, gh = _end_reflection(ends[place], walls[place], ze), _end_reflection(ends[place], walls[place], zh)
    te, th, seen_e, seen_h = 1.0 + 0j, 1.0 + 0j, ge, gh
    passed = False
    n = first
    while n != last:
        through = np.exp(1j * kz * (high[n] - low[n]))
        # impedances of the next layer m, and reflections at the interface seen from it
        ke, kh = ze, zh
        m = n + step
        kz = _vertical(k0 * k0 * eps[m] * mu[m] - square)
        ze, zh = kz / (k0 * eps[m]), k0 * mu[m] / kz
        re, rh = (ke - ze) / (ke + ze), (kh - zh) / (kh + zh)
        # carry reflections and amplitudes through layer n, then through the interface
        if n == observed:
            passed, seen_e, seen_h = True, ge, gh
        elif passed:
            te, th = te * through, th * through
        ge, gh = ge * through * through, gh * through * through
        de, dh = 1.0 / (1.0 + re * ge), 1.0 / (1.0 + rh * gh)
        if passed:
            te, th = te * (1.0 + re) * de, th * (1.0 + rh) * dh
        ge, gh = (re + ge) * de, (rh + gh) * dh
        n = m
    if not passed:
        seen_e, seen_h = ge, gh
    return ge, gh, te, th, seen_e, seen_h


@jitable_part
def line_functions(k, sections, z, layer, source_z, source_layer):
    """V_i, I_i, V_v, I_v of the TM line, then those of the TE line, at z in `layer` of a source at source_z in
    source_layer.

    k: k_rho; sections: `Sections.data`; heights in m. At the height of the source the limits from above.
    """
    k0, eps, mu, low, high, ends, walls = sections
    p, square = source_layer, k * k
    # reflections behind the source and in front of it, toward the observer
    up = layer > p or (layer == p and z >= source_z)
    back_e, back_h, _, _, _, _ = _cascade(square, sections, 1 if up else -1, p, p)
    front_e, front_h, te, th, seen_e, seen_h = _cascade(square, sections, -1 if up else 1, p, layer)
    kp = _vertical(k0 * k0 * eps[p] * mu[p] - square)
    kl = _vertical(k0 * k0 * eps[layer] * mu[layer] - square)
    # lengths behind the source and beyond the observer, and the direct path between them
    behind = max(source_z - low[p] if up else high[p] - source_z, 0.0)
    beyond = max(high[layer] - z if up else z - low[layer], 0.0)
    thick = high[p] - low[p]
    if layer == p:
        path = np.exp(1j * kp * abs(z - source_z))
    else:
        ahead = high[p] - source_z if up else source_z - low[p]
        path = np.exp(1j * (kp * ahead + kl * (z - low[layer] if up else high[layer] - z)))
    # all reflections in the layer of the source, on lines of impedance 1; then the impedances
    around, echo, turn = np.exp(2j * kp * thick), np.exp(2j * kp * behind), np.exp(2j * kl * beyond)
    sign = 0.5 if up else -0.5
    e = _four(back_e * echo, seen_e * turn, path * te / (1.0 - back_e * front_e * around), sign)
    h = _four(back_h * echo, seen_h * turn, path * th / (1.0 - back_h * front_h * around), sign)
    zp, zl = kp / (k0 * eps[p]), kl / (k0 * eps[layer])
    yp, yl = kp / (k0 * mu[p]), kl / (k0 * mu[layer])
    return e[0] * zp, e[1] * zp / zl, e[2], e[3] / zl, h[0] / yp, h[1] * yl / yp, h[2], h[3] * yl


@jitable_part
def _four(back, front, amplitude, sign):
    """V_i, I_i, V_v, I_v on a line of impedance 1: `amplitude` between source and observer, the reflected parts
    `back` behind the source and `front` beyond the observer; sign: 1/2 upward, -1/2 downward."""
    source, dipole = amplitude * (1.0 + back), amplitude * (1.0 - back)
    plus, minus = 1.0 + front, 1.0 - front
    return 0.5 * source * plus, sign * source * minus, sign * dipole * plus, 0.5 * dipole * minus


@jitable_part
def components_of(line, k, sections, layer, source_layer):
    """G_xx, K, G_zx / k_rho, G_xz / k_rho and G_zz from the eight `line` functions at k_rho = k; sections, layer and
    source_layer as in `line_functions`."""
    ve, ie, wve, wie, vh, ih, wvh, wih = line
    k0, eps, mu = sections[0], sections[1], sections[2]
    square, m, ms = k * k, mu[layer], mu[source_layer]
    zz = (m / eps[source_layer] + ms / eps[layer]) * wie + k0 * k0 * m * ms / square * (wih - wie)
    return (
        1j * vh / k0,
        -1j * k0 * (ve - vh) / square,
        -m * (ih - ie) / square,
        -ms * (wvh - wve) / square,
        1j * zz / k0,
    )


@jitable_part
def spectral_components(k, sections, z, layer, source_z, source_layer):
    """G_xx, K, G_zx / k_rho, G_xz / k_rho and G_zz at one k_rho, not zero: even functions of it. Arguments as in
    `line_functions`."""
    line = line_functions(k, sections, z, layer, source_z, source_layer)
    return components_of(line, k, sections, layer, source_layer)


@kernel
def _spectral(k, sections, z, layer, source_z, source_layer, out):
    """Fill out (5, n) with the `spectral_components` at each k (n,); other arguments as in `line_functions`."""
    for i in range(len(k)):
        values = spectral_components(k[i], sections, z, layer, source_z, source_layer)
        for c in range(5):
            out[c, i] = values[c]


class SpectralGreens(NamedTuple):
    """Spectral Green's functions, each of the shape of k_rho: xx, K, zz in m, zx and xz, the factors of i cos phi, too.

    The function of rho is (1 / 2 pi) int G J_n(k_rho rho) k_rho dk_rho with n = 0, and n = 1 for zx and xz.
    """

    xx: np.ndarray
    K: np.ndarray
    zx: np.ndarray
    xz: np.ndarray
    zz: np.ndarray


def spectral_greens(
    sections: Sections,
    k_rho: ArrayLike,
    z: float,
    source_z: float,
    layer: int | None = None,
    source_layer: int | None = None,
) -> SpectralGreens:
    """Green's functions of a stack at horizontal wavenumbers k_rho in 1/m, of any shape.

    k_rho: real, or complex with Im <= 0; zero is allowed. z, source_z: heights of the observer and the source in m.
    layer, source_layer: the numbers of their layers from below, half-spaces included; on an interface the upper one
    unless given, which matters to zx and zz (observer), xz and zz (source) alone.

    Near k_rho = 0, where differences of both lines vanish, components are means over a circle of k_rho^2. At a
    wavenumber of a layer they are those next to it, to about 1e-7.
    """
    k = np.asarray(k_rho, dtype=complex)
    at = place(sections, z, layer), place(sections, source_z, source_layer)
    limit = SMALL * np.abs(sections.wavenumbers).min() ** 2
    squares = sections.wavenumbers**2
    grazing = (np.abs(k.ravel()[:, None] ** 2 - squares) < GRAZING * np.abs(squares)).any(axis=1)
    flat = np.where(grazing, 1 - GRAZING, 1.0) * k.ravel()
    small = np.abs(flat) ** 2 < limit
    circle = 10 * limit * np.exp(2j * np.pi * (np.arange(12) + 0.5) / 12)
    ring = np.sqrt(flat[small, None] ** 2 + circle).ravel()
    values = _evaluate(np.concatenate([flat[~small], ring]), sections, (float(z), at[0], float(source_z), at[1]))
    out = np.empty((5, len(flat)), dtype=complex)
    out[:, ~small] = values[:, : np.count_nonzero(~small)]
    out[:, small] = values[:, np.count_nonzero(~small) :].reshape(5, -1, len(circle)).mean(axis=2)
    out[2:4] *= flat
    return SpectralGreens(*out.reshape(5, *k.shape))


def place(sections: Sections, z: float, layer: int | None) -> int:
    found = sections.layer_of(z)
    if layer is None or layer == found:
        return found
    if layer != sections.layer_of(z, "below"):
        raise ValueError(f"z = {z:g} m is not in layer {layer}, but in layer {found}, counted from below")
    return layer


def _evaluate(k: np.ndarray, sections: Sections, heights: tuple[Any, ...]) -> np.ndarray:
    out = np.empty((5, len(k)), dtype=complex)
    _spectral(k, sections.data, *heights, out)
    return out
