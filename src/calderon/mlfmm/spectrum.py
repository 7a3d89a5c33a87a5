"""Plane waves of a level: grids of directions, and exact interpolation between them.

A grid of degree L has n = L + 1 Gauss-Legendre angles theta and 2 n equal angles phi; it integrates products of two
functions of degree L. With u = f(phi) and v = f(phi + pi) on a half circle, u + v has even azimuthal orders and is a
polynomial in cos(theta), u - v has odd ones and is sin(theta) times a polynomial. Each of the two goes from one grid
to another by a matrix in theta (barycentric, scaled by sines for the odd part) and a trigonometric one in phi; that is
exact for functions of the lower degree. Components along the unit vectors of theta and phi exchange the matrices in
theta, as these vectors change their sign from u to v. The transposed takes the same matrices.
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.backends.vectors import aligned, width

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Grid:
    """Directions of a degree. count: 2 (degree + 1)^2 of them, those of each theta one after the other."""

    degree: int

    @property
    def rows(self) -> int:
        """Angles theta, and angles phi of a half circle."""
        return self.degree + 1

    @property
    def count(self) -> int:
        return 2 * self.rows**2

    def pitch(self, real: Any) -> int:
        """Numbers of a real or imaginary part: count, rounded up to two vectors."""
        pair = 2 * width(real)
        return -(-self.count // pair) * pair

    @staticmethod
    @lru_cache(maxsize=256)
    def of(degree: int) -> "Grid":
        """The grid of a degree: one object for each degree, which keeps its results."""
        return Grid(degree)

    @cached_property
    def nodes(self) -> tuple[Array, Array]:
        """cos(theta) and the weights, (rows,)."""
        x, w = np.polynomial.legendre.leggauss(self.rows)
        return x, w

    @cached_property
    def angles(self) -> tuple[Array, Array]:
        """(count,) cos(theta) and phi."""
        phi = np.pi * np.arange(2 * self.rows) / self.rows
        return np.repeat(self.nodes[0], 2 * self.rows), np.tile(phi, self.rows)

    @cached_property
    def directions(self) -> Array:
        """(3, count) unit vectors."""
        cosine, phi = self.angles
        sine = np.sqrt(1 - cosine**2)
        return np.stack([sine * np.cos(phi), sine * np.sin(phi), cosine])

    @property
    def frame(self) -> Array:
        """(2, 3, count) the unit vectors of theta and of phi."""
        cosine, phi = self.angles
        c, s = np.cos(phi), np.sin(phi)
        return np.array([[cosine * c, cosine * s, -np.sqrt(1 - cosine**2)], [-s, c, np.zeros_like(c)]])

    @property
    def weights(self) -> Array:
        """(count,) of the integral over the unit sphere."""
        return np.repeat(self.nodes[1], 2 * self.rows) * np.pi / self.rows


class Sizes(NamedTuple):
    """Sizes of the matrices of an interpolation: angles theta, and phi on half circles, of the coarse and of the
    fine grid; the latter rounded up to vectors."""

    coarse: int
    coarse_pitch: int
    fine: int
    fine_pitch: int


@dataclass(frozen=True)
class Interpolation:
    """The matrices of an interpolation from a grid to one of at least its degree. theta (2 parities, fine, coarse), phi
    (2, coarse, fine_pitch) both act on (u + v) / 2 and (u - v) / 2 of the values u, v on the two half circles;
    theta_back, phi_back: their transposes. All are flat and aligned."""

    sizes: Sizes
    theta: NDArray[Any]
    phi: NDArray[Any]
    theta_back: NDArray[Any]
    phi_back: NDArray[Any]

    @staticmethod
    def of(coarse: Grid, fine: Grid, real: Any) -> "Interpolation":
        """The matrices between two grids, in this type of numbers."""
        lanes, n, m = width(real), coarse.rows, fine.rows
        sizes = Sizes(n, -(-n // lanes) * lanes, m, -(-m // lanes) * lanes)
        theta = theta_matrices(coarse, fine) / 2
        phi = phi_matrices(n, m)
        wide, back = np.zeros((2, n, sizes.fine_pitch)), np.zeros((2, m, sizes.coarse_pitch))
        wide[:, :, :m], back[:, :, :n] = phi.transpose(0, 2, 1), phi
        return Interpolation(sizes, *(flat(each, real) for each in (theta, wide, theta.transpose(0, 2, 1), back)))

    def room(self, real: Any) -> NDArray[Any]:
        """Working memory of `interpolate` and `anterpolate`."""
        n, pad, m, wide = self.sizes
        return aligned(4 * n * pad + 2 * m * pad + 4 * m * wide + 4 * width(real), real)

    @property
    def nbytes(self) -> int:
        return sum(each.nbytes for each in (self.theta, self.phi, self.theta_back, self.phi_back))


def flat(values: Array, real: Any) -> NDArray[Any]:
    """A copy, aligned for vectors, with a vector of zeros behind."""
    out = aligned(values.size + width(real), real)
    out[: values.size] = values.ravel()
    return out


def theta_matrices(coarse: Grid, fine: Grid) -> Array:
    """(2, fine, coarse) matrices for polynomials in cos(theta), and for polynomials times sin(theta)."""
    x, y = coarse.nodes[0], fine.nodes[0]
    if coarse.rows == fine.rows:
        even = np.eye(len(x))
    else:
        apart = 2 * (x[:, None] - x) + np.eye(len(x))  # times 2: the capacity of [-1, 1] is 1/2
        weights = np.prod(np.sign(apart), axis=1) * np.exp(-np.log(np.abs(apart)).sum(axis=1))
        distance = y[:, None] - x
        same = np.abs(distance) < 1e-14
        even = weights / np.where(same, 1.0, distance)
        even[same.any(axis=1)] = 0
        even[same] = 1
        even /= even.sum(axis=1, keepdims=True)
    return np.stack([even, even * np.sqrt(1 - y * y)[:, None] / np.sqrt(1 - x * x)])


def phi_matrices(n: int, m: int) -> Array:
    """(2, m, n): from n to m equal angles of a half circle, for even and for odd azimuthal orders."""
    angle = np.pi * (np.arange(m)[:, None] / m - np.arange(2 * n) / n)
    half = np.tan(angle / 2)
    same = np.abs(half) < 1e-12
    kernel = np.where(same, 1.0, np.sin(n * angle) / (2 * n * np.where(same, 1.0, half)))
    return np.stack([kernel[:, :n] + kernel[:, n:], kernel[:, :n] - kernel[:, n:]])
