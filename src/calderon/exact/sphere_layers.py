"""Radial functions of electromagnetic multipoles in a layered sphere.

In a layer of relative permittivity e and permeability m, with index N = sqrt(e m) and p = kr, k the wavenumber outside,
the radial functions u (TE, magnetic multipoles) and w (TM, electric ones) of order n satisfy
  u'' + (N^2 - n(n+1)/p^2) u = 0;  u and v = u'/m are continuous, likewise w and q = w'/e.
Outside, u = psi(p) - b xi(p) and w = psi(p) - a xi(p), psi = p j_n, xi = p h_n (Riccati and Bessel). In a layer
  u = alpha psi(Np) s(N p2)  +  beta xi(Np) / s(N p1)
as in `calderon.exact.layers`, which carries the pairs (u, v) and (w, q) from face to face. Core: regular (beta = 0), or
a perfect conductor, u = 0 and q = 0.
"""

from dataclasses import dataclass

import numpy as np

from calderon.exact.bessel import growth, spherical_hankel
from calderon.exact.layers import Multipoles, Shell, functions_within, last_order, outgoing_from, solve_layers


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
        index, faces = self.index, (self.inner, self.outer)
        functions = functions_within(Multipoles, self.te.shape[1], index, faces, p)
        u, du, w, dw = (
            np.asarray(sum(factor[:, None] * each[i] for factor, each in zip(pair, functions, strict=False)))
            for pair in (self.te, self.tm)
            for i in (0, 1)
        )
        return Radial(u, index / self.permeability * du, w, index / self.permittivity * dw)


@dataclass(frozen=True, eq=False)
class Outside:
    """The medium around a sphere of size parameter x = ka; te, tm (N,): b_n s_n(x) and a_n s_n(x)."""

    size: float
    te: np.ndarray
    tm: np.ndarray

    def scattered(self, p: np.ndarray) -> Radial:
        """The radial functions of the scattered field alone, -b xi and -a xi, at p = kr >= x."""
        xi, slope = outgoing_from(Multipoles, len(self.te), 1.0, self.size, p)
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


def solve(
    sizes: np.ndarray, permittivity: np.ndarray, permeability: np.ndarray, conducting_core: bool
) -> tuple[Outside, tuple[Layer, ...]]:
    """The fields outside and in every layer, from the inside out, for the incident multipoles psi_n(p).

    sizes (L,): k times the radii of all interfaces, increasing. permittivity, permeability (L,), or (L - 1,) around a
    conducting core.
    """
    size = float(sizes[-1])
    what = f"multipoles are needed: the size parameter {size:.3g} is too large"
    last = last_order(Multipoles, lambda orders: growth(orders, size), what)
    inner = sizes[:-1] if conducting_core else np.concatenate([[0.0], sizes[:-1]])
    outer = sizes[1:] if conducting_core else sizes
    index = [refractive_index(*pair) for pair in zip(permittivity, permeability, strict=True)]
    scale = spherical_hankel(last, size).scale[1:, 0]
    # on a conductor u = 0 and q = 0
    solved = []
    for contrast, core in ((permeability, (0, 1)), (permittivity, (1, 0))):
        media = zip(inner, outer, index, contrast, strict=True)
        shells = [Shell(n * p1, n * p2, n / divisor) for p1, p2, n, divisor in media]
        given = np.full(last, core[0]), np.full(last, core[1])
        solved.append(solve_layers(Multipoles, last, shells, given, size, 1 / scale))
    te, tm = solved
    layers = zip(inner.tolist(), outer.tolist(), permittivity, permeability, te.pairs, tm.pairs, strict=True)
    return Outside(size, te.scattered, tm.scattered), tuple(Layer(*each) for each in layers)
