"""Radial functions of electromagnetic multipoles in a layered sphere.

In a layer of relative permittivity e and permeability m, with index N = sqrt(e m) and p = kr, k the wavenumber outside,
the radial functions u (TE, magnetic multipoles) and w (TM, electric ones) of order n satisfy
  u'' + (N^2 - n(n+1)/p^2) u = 0;  u and v = u'/m are continuous, likewise w and q = w'/e.
Outside, u = psi(p) - b xi(p) and w = psi(p) - a xi(p), psi = p j_n, xi = p h_n (Riccati and Bessel). In a layer
  u = alpha psi(Np) s(N p2)  +  beta xi(Np) / s(N p1),
with s the growth of xi (`calderon.exact.bessel`), so that no basis function exceeds its value on one of the two faces
p1 < p2, however thick or lossy the layer. The pair (u, v) is carried from face to face up to a factor, which the
condition outside fixes; inward, alpha and beta are multiplied by factors that follow from the Wronskian, without
cancellation. Core: regular (beta = 0), or a perfect conductor, u = 0 and q = 0. The idea of ratios within each layer
is that of Z. S. Wu and Y. P. Wang, Radio Sci. 26 (1991) 1393, and W. Yang, Appl. Opt. 42 (2003) 1710.
"""

from dataclasses import dataclass, replace

import numpy as np

from calderon.exact.bessel import ScaledFunctions, growth, spherical_bessel, spherical_hankel

LARGEST_ORDER = 20_000
_NEGLIGIBLE = 42.0  # terms below exp(-42) = 6e-19 of the largest are left out


@dataclass(frozen=True, eq=False)
class Radial:
    """u, v = u'/m (TE) and w, q = w'/e (TM) at p points, orders 1 .. N: arrays (N, p)."""

    u: np.ndarray
    v: np.ndarray
    w: np.ndarray
    q: np.ndarray

    def inward_power(self) -> np.ndarray:
        """-sum_n (2n+1) Im(u* v + w* q) (p,): the power that flows inward, in units of pi |E|^2 / (eta k^2)."""
        n = np.arange(1, len(self.u) + 1)[:, None]
        return -np.sum((2 * n + 1) * np.imag(self.u.conj() * self.v + self.w.conj() * self.q), axis=0)


@dataclass(frozen=True, eq=False)
class Layer:
    """One layer p1 < p < p2 (p = kr; p1 = 0 for a core) with the coefficients of its radial functions.

    permittivity, permeability: relative, complex. te, tm: alpha and beta (2, N) of u and of w.
    """

    inner: float
    outer: float
    permittivity: complex
    permeability: complex
    te: np.ndarray
    tm: np.ndarray

    @property
    def index(self) -> complex | float:
        """sqrt(e m) with positive real and imaginary parts."""
        return refractive_index(self.permittivity, self.permeability)

    @property
    def lossless(self) -> bool:
        return np.imag(self.permittivity) == 0 and np.imag(self.permeability) == 0

    def radial(self, p: np.ndarray) -> Radial:
        """The radial functions at p = kr within the layer."""
        last, index = self.te.shape[1], self.index
        here = spherical_bessel(last, index * p)
        psi, slope = riccati(here, index * p)
        fall = spherical_bessel(last, index * self.outer).scale_over(here)[1:]
        # the scale of the outer face over the one here falls with the order: p <= p2
        regular = [psi * fall, slope * fall]
        outgoing = [np.zeros(1), np.zeros(1)]
        if self.inner > 0:
            third = spherical_hankel(last, index * p)
            xi, slope = riccati(third, index * p)
            fall = third.scale_over(spherical_hankel(last, index * self.inner))[1:]
            outgoing = [xi * fall, slope * fall]
        u, du = (self.te[0, :, None] * regular[i] + self.te[1, :, None] * outgoing[i] for i in range(2))
        w, dw = (self.tm[0, :, None] * regular[i] + self.tm[1, :, None] * outgoing[i] for i in range(2))
        return Radial(u, index / self.permeability * du, w, index / self.permittivity * dw)


@dataclass(frozen=True, eq=False)
class Outside:
    """The medium around a sphere of size parameter x = ka; te, tm (N,): b_n s_n(x) and a_n s_n(x)."""

    size: float
    te: np.ndarray
    tm: np.ndarray

    def scattered(self, p: np.ndarray) -> Radial:
        """The radial functions of the scattered field alone, -b xi and -a xi, at p = kr >= x."""
        here = spherical_hankel(len(self.te), p)
        fall = here.scale_over(spherical_hankel(len(self.te), self.size))[1:]
        xi, slope = (part * fall for part in riccati(here, p))
        te, tm = -self.te[:, None], -self.tm[:, None]
        return Radial(te * xi, te * slope, tm * xi, tm * slope)

    def coefficients(self) -> tuple[np.ndarray, np.ndarray]:
        """a_n and b_n (N,)."""
        scale = spherical_hankel(len(self.te), self.size).scale[1:, 0]
        return self.tm / scale, self.te / scale


def refractive_index(permittivity: complex, permeability: complex) -> complex | float:
    """sqrt(e) sqrt(m), real where it can be."""
    index = complex(np.sqrt(complex(permittivity)) * np.sqrt(complex(permeability)))
    return index.real if index.imag == 0 else index


def riccati(functions: ScaledFunctions, z: np.ndarray | complex) -> tuple[np.ndarray, np.ndarray]:
    """z f_n and its derivative by z, of orders 1 .. N, scaled as f."""
    values, slopes = functions.values[1:], functions.slopes[1:]
    return z * values, values + z * slopes


def last_order(size: float) -> int:
    """The order after which the multipoles of a plane wave are negligible on a sphere of size parameter `size`."""
    orders = np.arange(1, LARGEST_ORDER + 1)
    enough = np.flatnonzero(np.cumsum(np.log(growth(orders, size))) > _NEGLIGIBLE + 3 * np.log(2 * orders + 1))
    if len(enough) == 0:
        raise ValueError(f"more than {LARGEST_ORDER} multipoles are needed: the size parameter {size:.3g} is too large")
    return int(orders[enough[0]])


def solve(
    sizes: np.ndarray, permittivity: np.ndarray, permeability: np.ndarray, conducting_core: bool
) -> tuple[Outside, tuple[Layer, ...]]:
    """The fields outside and in every layer, from the inside out, for the incident multipoles psi_n(p).

    sizes (L,): k times the radii of all interfaces, increasing. permittivity, permeability (L,), or (L - 1,) around a
    conducting core.
    """
    last = last_order(sizes[-1])
    inner = sizes[:-1] if conducting_core else np.concatenate([[0.0], sizes[:-1]])
    outer = sizes[1:] if conducting_core else sizes
    blank = np.zeros((2, last), np.complex128)
    layers = [
        Layer(float(p1), float(p2), e, m, blank, blank)
        for p1, p2, e, m in zip(inner, outer, permittivity, permeability, strict=True)
    ]
    # on a conductor u = 0 and q = 0
    outside_te, te = _coefficients(sizes[-1], layers, permeability, np.zeros(last), last)
    outside_tm, tm = _coefficients(sizes[-1], layers, permittivity, np.ones(last), last)
    filled = tuple(replace(layer, te=te[i], tm=tm[i]) for i, layer in enumerate(layers))
    return Outside(float(sizes[-1]), outside_te, outside_tm), filled


def _coefficients(
    size: float, layers: list[Layer], contrast: np.ndarray, value_on_core: np.ndarray, last: int
) -> tuple[np.ndarray, list[np.ndarray]]:
    """b_n s_n(x) (N,), and (alpha, beta) (2, N) of each layer, for one polarisation.

    contrast: what divides u' in the second continuous quantity. value_on_core: u on a conducting core; u'/m is 1 - u.
    """
    value, slope = value_on_core.astype(np.complex128), (1 - value_on_core).astype(np.complex128)
    pairs, links = [], []
    for layer, divisor in zip(layers, contrast, strict=True):
        pair, link, value, slope = _through(layer, divisor, value, slope, last)
        pairs.append(pair)
        links.append(link)
    outgoing = spherical_hankel(last, size)
    psi, psi_slope = (part[:, 0] for part in riccati(spherical_bessel(last, size), size))
    xi, xi_slope = (part[:, 0] for part in riccati(outgoing, size))
    scale = outgoing.scale[1:, 0]
    denominator = xi_slope * value - xi * slope
    scattered = (psi_slope * value - psi * slope) / denominator / scale
    amplitude = 1j / denominator / scale  # the total field on the sphere is `value` times this, by the Wronskian
    for i in range(len(layers) - 1, -1, -1):
        pairs[i] = pairs[i] * amplitude
        amplitude = amplitude * links[i]
    return scattered, pairs


def _through(
    layer: Layer, divisor: complex, value: np.ndarray, slope: np.ndarray, last: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """From (u, v) on the inner face, up to a factor, to (alpha, beta) and (u, v) on the outer face, up to another.

    Also the link: u on the inner face is that of (alpha, beta) where it is `value` times link.
    """
    index, blank = layer.index, np.zeros(last, np.complex128)
    ratio = index / divisor
    far = spherical_bessel(last, index * layer.outer)
    psi2, psi2_slope = (part[:, 0] for part in riccati(far, index * layer.outer))
    if layer.inner == 0:
        alpha, beta, link = blank + 1, blank, blank
        value, slope = psi2, ratio * psi2_slope
    else:
        near, z1, z2 = spherical_bessel(last, index * layer.inner), index * layer.inner, index * layer.outer
        psi1, psi1_slope = (part[:, 0] for part in riccati(near, z1))
        xi1, xi1_slope = (part[:, 0] for part in riccati(spherical_hankel(last, z1), z1))
        xi2, xi2_slope = (part[:, 0] for part in riccati(spherical_hankel(last, z2), z2))
        fall = far.scale_over(near)[1:, 0]
        alpha = xi1_slope * ratio * value - xi1 * slope
        beta = fall * (psi1 * slope - psi1_slope * ratio * value)
        link = fall * 1j * ratio
        value = alpha * psi2 + beta * fall * xi2
        slope = ratio * (alpha * psi2_slope + beta * fall * xi2_slope)
    size = np.maximum(np.abs(value), np.abs(slope))
    return np.stack([alpha, beta]) / size, link / size, value / size, slope / size
