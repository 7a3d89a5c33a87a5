"""Outgoing spherical waves about a point: sources with a directivity, given by coefficients or by measured pressures.

The waves are psi_nm = h_n(kr) Y_nm, n = 0 .. N, m = -n .. n, with orthonormal spherical harmonics (with the sign of
Condon and Shortley), numbered n^2 + n + m. Their derivatives are such waves again,

    d/dz psi_nm / k           =   a(n, m) psi_(n-1)m - a(n+1, m) psi_(n+1)m,
    (d/dx + i d/dy) psi_nm / k =   b(n, m) psi_(n-1)(m+1) + b(n+1, -m-1) psi_(n+1)(m+1),
    (d/dx - i d/dy) psi_nm / k = - b(n, -m) psi_(n-1)(m-1) - b(n+1, m-1) psi_(n+1)(m-1),

a(n, m)^2 = (n^2 - m^2) / (4 n^2 - 1), b(n, m)^2 = (n - m) (n - m - 1) / (4 n^2 - 1). N. A. Gumerov and R. Duraiswami,
Fast Multipole Methods for the Helmholtz Equation in Three Dimensions (2004), section 2.2.
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.exact.angular import unit_directions
from calderon.exact.bessel import spherical_hankel
from calderon.validation import finite_numbers, one_point, points_in_space, unmasked, wavenumber_of_a_wave, whole_number
from calderon.waves.field import Wave, described_wavenumber, reflected
from calderon.waves.given import Given

Complex = NDArray[np.complex128]


@dataclass(frozen=True, eq=False)
class Multipole(Wave):
    """u(x) = sum_nm coefficients[n^2 + n + m] h_n(k |x - y|) Y_nm, outgoing waves about y.

    position: y (3,). coefficients ((N + 1)^2,): by degree n and order m, (-n .. n); one number is a monopole, c h_0
    Y_00 = -i c exp(ikr) / (sqrt(4 pi) k r). wavenumber: k in 1/m, Im k >= 0; without it, that of the problem which is
    solved for the source. A point on the source is refused.
    """

    position: Given
    coefficients: Given
    wavenumber: complex = None  # type: ignore[assignment]

    def __post_init__(self) -> None:
        object.__setattr__(self, "position", one_point(self.position, "the position of a multipole"))
        count = np.atleast_1d(unmasked(self.coefficients, "coefficients")).size
        what = "a multipole needs a list of (N + 1)^2 finite numbers, by degree n and order m"
        given = finite_numbers(self.coefficients, count, "coefficients", what)
        if not count or math.isqrt(count) ** 2 != count:
            raise ValueError(f"{what}: 1, 4, 9, 16 ..., got {count}")
        given.flags.writeable = False
        object.__setattr__(self, "coefficients", given)
        if self.wavenumber is not None:
            object.__setattr__(self, "wavenumber", wavenumber_of_a_wave(self.wavenumber))

    @classmethod
    def fit(cls, position: ArrayLike, points: ArrayLike, pressures: ArrayLike, order: int, wavenumber: complex) -> Self:
        """The multipole of degree `order` about a position whose field is nearest to pressures (n,) in Pa, measured at
        points (n, 3), in the sense of least squares. ValueError for fewer points than (order + 1)^2 coefficients, or
        points that do not tell them apart."""
        x = points_in_space(points)
        degree = whole_number(order, "order", 0)
        given = finite_numbers(pressures, len(x), "pressures", "a pressure is needed for each point")
        count = (degree + 1) ** 2
        if len(x) < count:
            raise ValueError(f"{len(x)} points do not tell {count} coefficients of order {degree}: give more points")
        place, k = one_point(position, "the position of a multipole"), complex(wavenumber_of_a_wave(wavenumber))
        waves = cls(place, np.zeros(count), k)._waves(x, degree)
        sizes = np.maximum(np.linalg.norm(waves, axis=0), np.finfo(float).tiny)  # h_n grow fast with n near the source
        found, _, rank, _ = np.linalg.lstsq(waves / sizes, given, rcond=1e-10)
        if rank < count:
            raise ValueError(
                f"the {len(x)} points tell {rank} of {count} coefficients of order {degree} only: spread them around "
                "the source, or take a smaller order"
            )
        return cls(place, found / sizes, wavenumber)

    @property
    def order(self) -> int:
        """The largest degree N."""
        return math.isqrt(len(self.coefficients)) - 1

    def __call__(self, x: ArrayLike, n: ArrayLike | None = None) -> np.ndarray:
        """The field (n,) at points (n, 3); normals are ignored."""
        return np.asarray(self._waves(points_in_space(x), self.order) @ self.coefficients)

    def gradient(self, x: ArrayLike) -> np.ndarray:
        """The gradient (n, 3)."""
        k, degree = self._known_wavenumber, self.order
        found = np.zeros(((degree + 2) ** 2, 3), np.complex128)  # coefficients of d/dz, d/dx + i d/dy, d/dx - i d/dy
        for value, (n, m) in zip(self.coefficients, _numbers(degree), strict=True):
            for column, (below, above, shift) in enumerate(
                (
                    (_a(n, m), -_a(n + 1, m), 0),
                    (_b(n, m), _b(n + 1, -m - 1), 1),
                    (-_b(n, -m), -_b(n + 1, m - 1), -1),
                )
            ):
                for degree_of, factor in ((n - 1, below), (n + 1, above)):
                    if degree_of >= abs(m + shift):
                        found[degree_of**2 + degree_of + m + shift, column] += k * factor * value
        z, plus, minus = (self._waves(points_in_space(x), degree + 1) @ found).T
        return np.stack([(plus + minus) / 2, (plus - minus) / 2j, z], axis=1)

    def far_field(self, theta: ArrayLike, phi: ArrayLike | None = None) -> np.ndarray:
        """F(d) (...) in directions d given by angles or vectors, see `exact.unit_directions`: u ~ F exp(ikr) / r."""
        d = unit_directions(theta, phi)
        k = self._known_wavenumber
        degrees = np.array([n for n, _ in _numbers(self.order)])
        factors = self.coefficients * np.array([-1j, -1, 1j, 1])[degrees % 4] / k  # (-i)^(n+1)
        flat = d.reshape(-1, 3)
        values = spherical_harmonics(flat, self.order) @ factors * np.exp(-1j * k * (flat @ self.position))
        return np.asarray(values.reshape(d.shape[:-1]))

    def mirrored(self, plane: str) -> Self:
        """The multipole at R y, with Y_nm(R d) = (-1)^(n+m) Y_nm for z, Y_n(-m) for x, (-1)^m Y_n(-m) for y."""
        n, m = np.array([*_numbers(self.order)]).T
        opposite = n * n + n - m
        images = {
            "x": self.coefficients[opposite],
            "y": (-1.0) ** m * self.coefficients[opposite],
            "z": (-1.0) ** (n + m) * self.coefficients,
        }
        return replace(self, position=reflected(self.position, plane), coefficients=images[plane])

    def _waves(self, x: NDArray[np.float64], degree: int) -> Complex:
        """(n, (degree + 1)^2) psi at points (n, 3)."""
        away = x - self.position
        distance = np.linalg.norm(away, axis=1)
        if np.any(distance == 0):
            raise ValueError(f"{np.count_nonzero(distance == 0)} of {len(x)} points lie on the multipole itself")
        radial = spherical_hankel(degree, self._known_wavenumber * distance)
        hankel = (radial.values * radial.scale).T
        return spherical_harmonics(away / distance[:, None], degree) * np.repeat(
            hankel, 2 * np.arange(degree + 1) + 1, axis=1
        )

    def __str__(self) -> str:
        y = ", ".join(f"{coordinate:.4g}" for coordinate in self.position)
        return f"multipole of order {self.order} at [{y}], {described_wavenumber(self)}"


def spherical_harmonics(directions: NDArray[np.float64], degree: int) -> Complex:
    """(p, (degree + 1)^2) orthonormal Y_nm in directions (p, 3), unit vectors, numbered n^2 + n + m.

    By the recurrence of normalised Legendre functions over n, stable at all m, times ((x + iy) sign)^m, which has no
    singularity at the poles.
    """
    x, y, z = directions.T
    found = np.zeros((len(z), (degree + 1) ** 2), np.complex128)
    start = np.full(len(z), 1 / math.sqrt(4 * math.pi), np.complex128)
    for m in range(degree + 1):
        if m:
            start = -math.sqrt((2 * m + 1) / (2 * m)) * (x + 1j * y) * start
        below, here = np.zeros_like(start), start
        for n in range(m, degree + 1):
            if n > m:
                below, here = here, (z * here - _a(n - 1, m) * below) / _a(n, m)
            found[:, n * n + n + m] = here
            found[:, n * n + n - m] = (-1) ** m * here.conj()
    return found


def _numbers(degree: int) -> Iterator[tuple[int, int]]:
    """(n, m) in their order."""
    return ((n, m) for n in range(degree + 1) for m in range(-n, n + 1))


def _a(n: int, m: int) -> float:
    """a(n, m)."""
    return math.sqrt((n * n - m * m) / (4 * n * n - 1)) if n > abs(m) else 0.0


def _b(n: int, m: int) -> float:
    """b(n, m)."""
    product = (n - m) * (n - m - 1)
    return math.sqrt(product / (4 * n * n - 1)) if product > 0 and n > 0 else 0.0
