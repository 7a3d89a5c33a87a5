"""Fields of point charges and point sources: exact solutions for surfaces of any shape.

u(x) = sum_j q_j exp(ik |x - y_j|) / (4 pi |x - y_j|)  satisfies  -Laplace u - k^2 u = sum_j q_j delta(x - y_j)  and
radiates. k = 0 gives point charges, k = i w sources of the modified Helmholtz equation, with exp(-w r) / (4 pi r).
Placed inside a closed surface, the sources give an exterior solution whose Dirichlet and Neumann data are known; placed
outside, an interior one (the method of manufactured solutions).
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from calderon.exact.angular import unit_directions
from calderon.exact.layers import portions
from calderon.validation import (
    along_normals,
    nonnegative_wavenumber,
    one_or_more_points,
    points_in_space,
    positive_length,
    unmasked,
    whole_number,
)


@dataclass(frozen=True, eq=False)
class PointSources:
    """positions (m, 3), strengths (m,) complex or real, wavenumber real or complex."""

    positions: np.ndarray
    strengths: np.ndarray
    wavenumber: complex

    def __repr__(self) -> str:
        return f"PointSources({len(self.positions)} sources, k = {self.wavenumber:g})"

    def __call__(self, x: ArrayLike, n: ArrayLike | None = None) -> np.ndarray:
        """The field (n,) at points (n, 3); normals, if given, are ignored. Real when k is 0 or imaginary and q real."""
        return self._summed(points_in_space(x), self._field)

    def gradient(self, x: ArrayLike) -> np.ndarray:
        """The gradient (n, 3) at points (n, 3)."""
        return self._summed(points_in_space(x), self._gradient)

    def normal_derivative(self, x: ArrayLike, n: ArrayLike) -> np.ndarray:
        """n . grad u (n,) at points (n, 3) with normals (n, 3)."""
        return along_normals(self.gradient(x), n)

    def far_field(self, theta: ArrayLike, phi: ArrayLike | None = None) -> np.ndarray:
        """F (...) with u ~ F(d) exp(ikr) / r: F(d) = sum_j q_j exp(-ik d . y_j) / (4 pi), in directions d given by
        angles or vectors, see `unit_directions`."""
        d = unit_directions(theta, phi)
        return self._typed(np.exp(-1j * self.wavenumber * (d @ self.positions.T)) @ self.strengths / (4 * np.pi))

    def _field(self, x: np.ndarray) -> np.ndarray:
        _, distance = self._separations(x)
        return (np.exp(1j * self.wavenumber * distance) / distance) @ self.strengths / (4 * np.pi)

    def _gradient(self, x: np.ndarray) -> np.ndarray:
        separation, distance = self._separations(x)
        slope = np.exp(1j * self.wavenumber * distance) * (1j * self.wavenumber * distance - 1) / distance**3
        return np.einsum("pm,pmi->pi", slope * self.strengths, separation) / (4 * np.pi)

    def _separations(self, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        separation = x[:, None, :] - self.positions
        distance = np.linalg.norm(separation, axis=2)
        if np.any(distance == 0):
            raise ValueError("a point lies on a point source, where the field is infinite")
        return separation, distance

    def _summed(self, x: np.ndarray, part: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        parts = [part(x[some]) for some in portions(len(x), 10 * len(self.positions))]
        return self._typed(np.concatenate([part(x[:0]), *parts]))

    def _typed(self, values: np.ndarray) -> np.ndarray:
        real = np.real(self.wavenumber) == 0 and self.strengths.dtype.kind != "c"
        return values.real.copy() if real else values


def point_sources(positions: ArrayLike, strengths: ArrayLike = 1.0, wavenumber: complex = 0.0) -> PointSources:
    """Sources at `positions` (m, 3) or (3,) of the given strengths (m,), or the same for all."""
    places = one_or_more_points(positions, "positions")
    if len(places) == 0:
        raise ValueError("at least one point source is needed")
    amplitudes = unmasked(strengths, "strengths")
    if amplitudes.dtype.kind not in "fciu" or amplitudes.shape not in ((), (len(places),)):
        raise ValueError(f"strengths must be numbers of shape ({len(places)},), got shape {amplitudes.shape}")
    if not np.all(np.isfinite(amplitudes)):
        raise ValueError("a strength of a point source is NaN or infinite")
    amplitudes = np.broadcast_to(amplitudes, (len(places),)).astype(np.result_type(amplitudes, np.float64))
    return PointSources(places, amplitudes, nonnegative_wavenumber(wavenumber))


def spread_point_sources(radius: float, number: int = 5, wavenumber: complex = 0.0, seed: int = 0) -> PointSources:
    """Sources of mixed strengths at random places within a ball about the origin, for a manufactured solution."""
    generator = np.random.default_rng(whole_number(seed, "seed", 0))
    directions = generator.standard_normal((whole_number(number, "number", 1, 1_000_000), 3))
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    distances = positive_length(radius, "radius") * generator.uniform(0, 1, number) ** (1 / 3)
    return point_sources(distances[:, None] * directions, generator.uniform(0.5, 1.5, number), wavenumber)
