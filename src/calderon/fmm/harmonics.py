"""Real solid harmonics and their exact translations.

With the complex regular and irregular functions

    R_n^m = r^n P_n^m(cos theta) exp(i m phi) / (n + m)!,    I_n^m = (n - m)! P_n^m(cos theta) exp(i m phi) / r^(n + 1),

1/|x - y| = sum R_n^m(y) conj(I_n^m(x)) for |y| < |x| (M. A. Epton and B. Dembart, SIAM J. Sci. Comput. 16 (1995) 865).
The real basis up to degree p has K = (p + 1)^2 functions: f Re R_n^m for m >= 0 and f Im R_n^m for m > 0, with
f = sqrt((n + m)! (n - m)!), times sqrt(2) for m > 0, so that numbers of all degrees have about one size. They stand in
the order of the recurrence of point_expansions.py, which evaluates the regular ones: m = 0, 1 .. p, of each m all
cosines n = m .. p, then all sines.
"""

import math
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Basis(NamedTuple):
    """The functions up to degree p: their degrees, orders, whether they are sines, and factors f, each (K,)."""

    degree: NDArray[np.int64]
    order: NDArray[np.int64]
    sine: NDArray[np.bool_]
    factor: Array

    @staticmethod
    def of(p: int) -> "Basis":
        found = [(n, m, sine) for m in range(p + 1) for sine in (False, True)[: 1 + (m > 0)] for n in range(m, p + 1)]
        degree, order, sine = (np.array(each) for each in zip(*found, strict=True))
        roots = [math.exp((math.lgamma(n + m + 1) + math.lgamma(n - m + 1)) / 2) for n, m, _ in found]
        return Basis(degree, order, sine.astype(bool), np.array(roots) * np.where(order > 0, math.sqrt(2), 1.0))

    def choose(self, cosines: Array, sines: Array) -> Array:
        """(K, ...) from values (p + 1, p + 1, ...) by degree and order."""
        return np.where(self.sine.reshape(-1, *[1] * (cosines.ndim - 2)), sines[self.degree, self.order],
                        cosines[self.degree, self.order])  # fmt: skip


def irregular_parts(x: Array, p: int) -> tuple[Array, Array]:
    """Re and Im (p + 1, p + 1, n) of I_n^m, by degree and order, at points x (n, 3)."""
    X, Y, Z = np.asarray(x, float).T
    C, S = np.zeros((2, p + 1, p + 1, len(X)))
    inverse = 1 / (X * X + Y * Y + Z * Z)
    C[0, 0] = np.sqrt(inverse)
    for m in range(p + 1):
        if m:
            C[m, m] = -(2 * m - 1) * (X * C[m - 1, m - 1] - Y * S[m - 1, m - 1]) * inverse
            S[m, m] = -(2 * m - 1) * (X * S[m - 1, m - 1] + Y * C[m - 1, m - 1]) * inverse
        for n in range(m + 1, p + 1):
            for A in (C, S):
                below = ((n - 1) ** 2 - m * m) * A[n - 2, m] if n > m + 1 else 0.0
                A[n, m] = ((2 * n - 1) * Z * A[n - 1, m] - below) * inverse
    return C, S


def irregular(x: Array, p: int) -> Array:
    """(n, K) functions at points x (n, 3) that make 1/|x - y| with the regular basis at y."""
    basis = Basis.of(p)
    return basis.choose(*irregular_parts(x, p)).T * (np.where(basis.order > 0, 2.0, 1.0) / basis.factor)


class LocalExpansions:
    """Matrices T_v (K, K) from moments about a point to the local expansion about another one, v away:
    1/|v + u - y| = regular(u)^T T_v regular(y). T_-v is the transpose of T_v.

    With k, m the orders of row and column, j, n the degrees and N = n + j, entries are (-1)^j times real or imaginary
    parts of I_N^(k+m) and +-I_N^(k-m), as products of cosines and sines are.
    """

    def __init__(self, p: int) -> None:
        basis, self._p = Basis.of(p), p
        j, n = basis.degree[:, None], basis.degree
        k, m = basis.order[:, None], basis.order
        odd = basis.sine[:, None] != basis.sine
        minus = 1.0 - 2.0 * (m % 2)
        first = np.where(basis.sine[:, None] & basis.sine, -1.0, 1.0)
        second = np.where(~basis.sine[:, None] & basis.sine, -1.0, 1.0) * minus
        below = k < m  # I^-M = (-1)^M conj(I^M)
        second = second * np.where(below, (1.0 - 2.0 * ((k - m) % 2)) * np.where(odd, -1.0, 1.0), 1.0)
        scale = (1.0 - 2.0 * (j % 2)) / (basis.factor[:, None] * basis.factor)
        for order in (k, m):  # both terms are the same for order 0
            scale = scale * np.where(order > 0, math.sqrt(2), math.sqrt(0.5))
        size = 2 * p + 1
        self._places = [(odd * size + n + j) * size + order for order in (k + m, abs(k - m))]
        self._factors = [scale * each for each in (first, second)]

    def parts(self, v: Array) -> Array:
        """(n, ...) the irregular functions of all degrees up to 2p for v (n, 3), as `matrix` reads them."""
        return np.ascontiguousarray(np.stack(irregular_parts(v, 2 * self._p)).reshape(-1, len(v)).T)

    def matrix(self, parts: Array) -> Array:
        """(K, K) for one v, from its parts."""
        return sum(f * parts[at] for f, at in zip(self._factors, self._places, strict=True))


def gradients(p: int) -> list[sp.csr_array]:
    """For each of x, y and z the sparse matrix G (K, K) with d regular = regular G^T, from (d_x + i d_y) R_n^m =
    R_(n-1)^(m+1), (d_x - i d_y) R_n^m = -R_(n-1)^(m-1) and d_z R_n^m = R_(n-1)^m."""
    basis = Basis.of(p)
    place = {(n, m, s): k for k, (n, m, s) in enumerate(zip(*(each.tolist() for each in basis[:3]), strict=True))}
    found: list[dict[tuple[int, int], float]] = [{}, {}, {}]

    # real matrices of real and imaginary parts, row by row
    def enter(axis: int, row: int, n: int, m: int, sine: bool, value: float) -> None:
        """Re or Im of R_n^m, also for m < 0, times value."""
        if m < 0:
            value, m = value * (-1.0) ** m * (-1.0 if sine else 1.0), -m
        if abs(m) <= n and not (sine and m == 0):
            at = row, place[n, m, sine]
            found[axis][at] = found[axis].get(at, 0.0) + value

    for row, (n, m, sine) in enumerate(zip(*(each.tolist() for each in basis[:3]), strict=True)):
        if n == 0:
            continue
        enter(2, row, n - 1, m, sine, 1.0)
        # d_x R = (R^(m+1) - R^(m-1)) / 2, d_y R = -i (R^(m+1) + R^(m-1)) / 2: of i times a number the parts change
        for order, sign in ((m + 1, 1.0), (m - 1, -1.0)):
            enter(0, row, n - 1, order, sine, sign / 2)
            enter(1, row, n - 1, order, not sine, (-0.5 if sine else 0.5))
    # from R_n^m to the functions of the basis, which have factors
    size, f = len(basis.degree), basis.factor
    matrices = []
    for each in found:
        rows, columns = np.array(list(each)).T
        values = np.array(list(each.values())) * f[rows] / f[columns]
        matrices.append(sp.coo_array((values, (rows, columns)), shape=(size, size)).tocsr())
    return matrices
