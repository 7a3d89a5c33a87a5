"""Degrees of the plane waves of a level: guessed by tables, then searched for with true points of separated boxes.

A pattern of points within a radius a needs about k a + c (k a)^(1/3), a translation between two of them that of 2 a.
Where boxes are small, sources stick out, or numbers are in single precision, the error depends on more than this, so it
is measured: with the exact kernel, at points of the closest pairs of boxes of the level.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.polynomial.legendre import legval
from numpy.typing import NDArray

from calderon.mlfmm.levels import Degrees, Pairs
from calderon.mlfmm.points import PointsOfLevel
from calderon.mlfmm.spectrum import Array, Grid, phi_matrices, theta_matrices
from calderon.mlfmm.translation import coefficients

BEYOND = 20
"""Degrees above the guess that are tried."""
SURE = (1e-6, 50), (0.0, 120)
"""Degree above which guesses for tolerances from the first number on are not verified: they are good there, and the
search would take long."""
MARGIN = 1.15
"""Of guesses that are not verified, in the excess."""
WAVES, FEW = 450, 8
"""Directions up to which all pairs are looked at; of more, fewer pairs, but this many."""
PAIRS, POINTS = 32, 16
"""Of boxes, from all distances, and of each box, that a search looks at."""


class Samples(NamedTuple):
    """Pairs of boxes: offsets (n, 3) in m, points of the target and of the source relative to their centres, each
    (n, POINTS, 3), and unit vectors at them."""

    offsets: Array
    targets: Array
    sources: Array
    inward: Array
    outward: Array

    def some(self, count: int) -> "Samples":
        """So many of the pairs, of all distances."""
        step = max(1, len(self.offsets) // count)
        return Samples(*(each[step // 2 :: step] for each in self))

    @staticmethod
    def of(pairs: Pairs, edge: float, targets: PointsOfLevel, sources: PointsOfLevel) -> "Samples | None":
        """None where there are no pairs with points."""
        random = np.random.default_rng(0)
        offset, box = pairs.used[pairs.offset], np.repeat(np.arange(len(pairs.first) - 1), np.diff(pairs.first))
        filled = np.flatnonzero((targets.sizes > 0)[box] & (sources.sizes > 0)[pairs.source])
        if not len(filled):
            return None
        order = filled[np.argsort((offset[filled] ** 2).sum(axis=1), kind="stable")]
        count = min(PAIRS, len(order))
        chosen = order[((np.arange(count) + random.random(count)) * (len(order) / count)).astype(np.int64)]

        def some(points: Array) -> Array:
            return points[random.integers(len(points), size=POINTS)]

        one: Array = np.array([some(targets.of_box(b)) for b in box[chosen]])
        other = np.array([some(sources.of_box(b)) for b in pairs.source[chosen]])
        vectors = random.standard_normal((2, *one.shape))
        inward, outward = np.asarray(vectors / np.linalg.norm(vectors, axis=-1, keepdims=True))
        return Samples(np.asarray(offset[chosen] * edge, np.float64), one, other, inward, outward)


class Search(NamedTuple):
    """For a wavenumber, a precision, and the derivatives of the kernel at targets and sources."""

    k: complex
    real: Any
    inward: bool
    outward: bool

    def degrees(self, samples: Samples, radius: float, rtol: float) -> Degrees | None:
        """The least ones with that relative error (root mean square), None where it cannot be reached."""
        guesses = [guess(abs(self.k) * each, rtol) for each in (2 * radius, radius)]
        extra = 1 if self.inward or self.outward else 0
        if guesses[0] > next(degree for least, degree in SURE if rtol >= least):
            most = math.ceil(2 * abs(self.k) * radius + MARGIN * (guesses[0] - 2 * abs(self.k) * radius)) + extra
            fewer = math.ceil(abs(self.k) * radius + MARGIN * (guesses[1] - abs(self.k) * radius)) + extra
            return Degrees(min(fewer, most), most)
        samples = samples.some(max(FEW, round(PAIRS * WAVES / Grid.of(guesses[0]).count)))
        exact = self.exact(samples)
        full = least(guesses[0] - 1, (max(2, guesses[0] - 4), guesses[0] + BEYOND),
                     lambda n: self.error(samples, exact, Degrees(n, n)) <= rtol)  # fmt: skip
        if full is None:
            return None
        half = least(min(guesses[1], full), (max(1, min(guesses[1] - 3, full)), full),
                     lambda n: self.error(samples, exact, Degrees(n, full)) <= 1.15 * rtol)  # fmt: skip
        return Degrees(full if half is None else half, full)

    def exact(self, samples: Samples) -> NDArray[np.complex128]:
        """(pairs, targets, sources) the kernel with its derivatives along the unit vectors."""
        r = samples.offsets[:, None, None] + samples.targets[:, :, None] - samples.sources[:, None]
        length = np.linalg.norm(r, axis=-1)
        r /= length[..., None]
        k, g = self.k, np.exp(1j * self.k * length) / (4 * np.pi * length)
        first = (1j * k - 1 / length) * g
        second = ((1j * k - 1 / length) ** 2 + 1 / length**2) * g
        along = np.einsum("npqc,npc->npq", r, samples.inward)
        across = -np.einsum("npqc,nqc->npq", r, samples.outward)
        if self.inward and self.outward:
            both = -np.einsum("npc,nqc->npq", samples.inward, samples.outward)
            return np.asarray((second - first / length) * along * across + first / length * both)
        return np.asarray(g if not (self.inward or self.outward) else first * (along if self.inward else across))

    def error(self, samples: Samples, exact: NDArray[Any], degrees: Degrees) -> float:
        """Relative, in the root mean square over all pairs of points."""
        full, half = Grid.of(degrees.full), Grid.of(degrees.half)
        kind = np.result_type(self.real, np.complex64)
        same = degrees.half == degrees.full
        matrices = None if same else (theta_matrices(half, full), phi_matrices(half.rows, full.rows))
        change = 0.0
        for n, offset in enumerate(samples.offsets):
            out = self._waves(samples.sources[n], samples.outward[n], half, -1, self.outward)
            into = self._waves(samples.targets[n], samples.inward[n], half, 1, self.inward)
            if matrices is not None:
                out, into = resampled(out, half, full, matrices), resampled(into, half, full, matrices)
            distance = float(np.linalg.norm(offset))
            factors = legval(offset @ full.directions / distance, coefficients(self.k, distance, degrees.full))
            middle = (factors * full.weights).astype(kind)
            found = (into.astype(kind) * middle) @ out.astype(kind).T
            change += float((np.abs(found - exact[n]) ** 2).sum())
        total = float((np.abs(exact) ** 2).sum())
        return math.sqrt(change / total) if total > 0 and math.isfinite(change) else math.inf

    def _waves(self, points: Array, vectors: Array, grid: Grid, sign: int, derivative: bool) -> NDArray[Any]:
        """(points, count)."""
        waves = np.exp(sign * 1j * self.k * (points @ grid.directions))
        return waves * (sign * 1j * self.k * (vectors @ grid.directions)) if derivative else waves


def least(first: int, bounds: tuple[int, int], holds: Callable[[int], bool]) -> int | None:
    """The least number, from bounds[0] to before bounds[1], that holds, found from `first` on: downwards where that
    holds, else upwards; None if there is none."""
    first = min(max(first, bounds[0]), bounds[1] - 1)
    if bounds[0] >= bounds[1]:
        return None
    if holds(first):
        while first > bounds[0] and holds(first - 1):
            first -= 1
        return first
    return next((n for n in range(first + 1, bounds[1]) if holds(n)), None)


def resampled(values: NDArray[Any], coarse: Grid, fine: Grid, matrices: tuple[Array, Array]) -> NDArray[Any]:
    """Functions (n, count) on another grid, as `passes.interpolate`; matrices: in theta and in phi."""
    n, (theta, phi) = coarse.rows, matrices
    u, v = values.reshape(-1, n, 2, n).transpose(2, 0, 1, 3)
    even, odd = (theta[p] @ (each / 2) @ phi[p].T for p, each in enumerate((u + v, u - v)))
    return np.stack([even + odd, even - odd], axis=2).reshape(len(values), -1)


def guess(ka: float, rtol: float) -> int:
    """ka + c (ka)^(1/3), with c as measured for boxes of two wavelengths and more, and more for smaller ones."""
    digits = -math.log10(min(rtol, 0.3))
    small = 1 + 0.25 * max(0.0, 6 - ka) / 2
    return math.ceil(ka + small * (0.65 * (digits - 2) + 0.3) * ka ** (1 / 3))
