"""Rational functions as partial fractions, and Pade approximants of the square root with a rotated branch cut."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


@dataclass(frozen=True, eq=False)
class PartialFractions:
    """f(X) = constant + sum_j weights[j] / (1 + shifts[j] X), with distinct shifts that are not zero.

    Affine maps, sums and reciprocals of such functions are such functions.
    """

    constant: complex
    weights: NDArray[Any]
    shifts: NDArray[Any]

    def __call__(self, X: ArrayLike) -> NDArray[np.complex128]:
        """f at numbers X of any shape."""
        x = np.asarray(X, dtype=complex)[..., None]
        return np.asarray(self.constant + np.sum(self.weights / (1 + self.shifts * x), axis=-1))

    def scaled(self, factor: complex) -> "PartialFractions":
        """factor f."""
        return PartialFractions(factor * self.constant, factor * self.weights, self.shifts)

    def raised(self, term: complex) -> "PartialFractions":
        """f + term."""
        return PartialFractions(self.constant + term, self.weights, self.shifts)

    def plus(self, other: "PartialFractions") -> "PartialFractions":
        """The sum of two functions without common shifts."""
        weights, shifts = np.append(self.weights, other.weights), np.append(self.shifts, other.shifts)
        return PartialFractions(self.constant + other.constant, weights, shifts)

    def reciprocal(self) -> "PartialFractions":
        """1 / f.

        With w_j = 1 / (1 + b_j X) the zeros of c + sum a_j w_j are the eigenvalues X of -(1 + 1 a^T / c) w = X b w; at
        each, 1 / f has the residue 1 / f'. Raises ValueError where f has a zero at X = 0 or at infinity.
        """
        a, b, c = self.weights, self.shifts, self.constant
        least = 1e-8 * max(abs(c), float(np.abs(a).max(initial=0.0)))
        if abs(c) <= least or abs(c + a.sum()) <= least:
            raise ValueError("the function vanishes at 0 or at infinity: its reciprocal has no partial fractions here")
        zeros = np.linalg.eigvals(-(np.eye(len(a)) + a[None] / c) / b[:, None])
        slopes = -np.sum(a * b / (1 + b * zeros[:, None]) ** 2, axis=1)
        return PartialFractions(1 / c, -1 / (slopes * zeros), -1 / zeros)


def square_root(order: int, angle: float) -> PartialFractions:
    """The Pade approximant of sqrt(1 + X) with numerator and denominator of degree `order`, branch cut rotated by
    `angle`:

        sqrt(1 + X) = e^(i angle/2) sqrt(1 + Y),  Y = (1 + X) e^(-i angle) - 1,
        sqrt(1 + Y) ~ 1 + sum_j a_j Y / (1 + b_j Y),  a_j = 2/n sin^2(j pi/n),  b_j = cos^2(j pi/n),  n = 2 order + 1.

    Its relative error is 2 w^n / (1 - w^n) with w = (1 - s) / (1 + s), s = sqrt(1 + Y), so that it converges for all X
    but those on the ray 1 + X = -t e^(i angle), where the cut lies; without rotation that would be the evanescent
    modes.

    F. A. Milinazzo, C. A. Zala and G. H. Brooke, J. Acoust. Soc. Am. 101 (1997) 760.
    """
    n = 2 * order + 1
    j = np.arange(1, order + 1)
    a, b = 2 / n * np.sin(j * np.pi / n) ** 2, np.cos(j * np.pi / n) ** 2
    turn = np.exp(-1j * angle)
    at_zero = 1 + b * (turn - 1)  # the denominators at X = 0
    # e^(i angle/2) a_j Y / (1 + b_j Y) tends to e^(i angle/2) a_j / b_j, from which it differs by a simple fraction
    limits = np.exp(0.5j * angle) * a / b
    constant = np.exp(0.5j * angle) + limits.sum()
    return PartialFractions(complex(constant), -limits / at_zero, b * turn / at_zero)


def square_root_error(order: int, angle: float, X: ArrayLike) -> NDArray[np.float64]:
    """|approximant / sqrt(1 + X) - 1| of `square_root`, from its closed form."""
    s = np.sqrt(1 + np.asarray(X, dtype=complex)) * np.exp(-0.5j * angle)
    power = ((1 - s) / (1 + s)) ** (2 * order + 1)
    return np.asarray(np.abs(2 * power / (1 - power)))
