"""Degrees of the plane waves of a level: guessed by tables, then searched for with true points of separated boxes.

A pattern of points within a radius a needs about k a + c (k a)^(1/3), a translation between two of them that of 2 a.
Where boxes are small, sources stick out, or numbers are in single precision, the error depends on more than this, so it
is measured: with the exact kernel, at points of the closest pairs of boxes of the level. Samples and errors are kept:
searches for tolerances in turn, on the same points, need most of them again.
"""

import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.polynomial.legendre import legval
from numpy.typing import NDArray

from calderon.mlfmm.equivalent.cube_kernels import evaluated
from calderon.mlfmm.levels import Degrees, Pairs, pairs_of_levels
from calderon.mlfmm.points import Panels, Points, PointsOfLevel, radii_of
from calderon.mlfmm.spectrum import Array, Grid, phi_matrices, theta_matrices
from calderon.mlfmm.translation import coefficients
from calderon.products.lists import Lists
from calderon.products.octree import Octree


class SearchLimits(NamedTuple):
    """Limits of a search for degrees: samples that it looks at, and where it ends.

    beyond: degrees above the guess that are tried. sure: degree above which guesses for tolerances from the first
    number on are not verified: they are good there, and the search would take long; the first one is for tables of a
    single product, of which the search would take more. margin: factor by which the excess of guesses that are not
    verified is enlarged; their patterns have one degree more. falls: factors by which errors become smaller with each
    degree, at least and at most, up to those of `sure`. rise: times the least one before it, an error that rounding
    makes, which grows with degrees. pairs, points: pairs of boxes, from all distances, and points of each box that a
    search looks at. directions: up to which all pairs are looked at, the second number for a single product; of more,
    fewer pairs, but `few`.
    """

    beyond: int = 20
    sure: tuple[tuple[float, int], ...] = ((1e-4, 15), (1e-6, 50), (0.0, 120))
    margin: float = 1.15
    falls: tuple[float, float] = (2.0, 4.0)
    rise: float = 10.0
    pairs: int = 32
    points: int = 16
    directions: tuple[int, int] = (250, 125)
    few: int = 8

    def searched(self, rtol: float, once: bool) -> int:
        """The degree up to which guesses for a tolerance are verified."""
        return next(degree for least, degree in self.sure[not once :] if rtol >= least)


LIMITS = SearchLimits()


def with_real_part(k: complex) -> complex:
    """The wavenumber; a purely imaginary one gets a real part that changes no digit, as kernels divide by it."""
    return k if k.real else complex(1e-12 * k.imag, k.imag)


def shortest(k: complex, edge: float) -> float:
    """The least edge in m of a box with plane waves, from that in wavelengths; infinite where fields decay faster than
    they oscillate: plane waves of such boxes grow more than they oscillate."""
    return math.inf if k.imag > 3.0 * k.real else edge * 2 * math.pi / abs(k)


def other_green(green: Any) -> Any:
    """A Green's function that is no wave exp(i k r) / (4 pi r), None for one that is."""
    return None if getattr(green, "solves_helmholtz", False) else green


class Samples(NamedTuple):
    """Pairs of boxes: offsets (n, 3) in m, points of the target and of the source relative to their centres, each
    (n, points, 3), and unit vectors at them."""

    offsets: Array
    targets: Array
    sources: Array
    inward: Array
    outward: Array

    def step(self, count: int) -> int:
        """The step through the pairs that leaves about so many of them, of all distances."""
        return max(1, len(self.offsets) // count)

    def every(self, step: int) -> "Samples":
        """One pair of each `step` of them."""
        return Samples(*(each[step // 2 :: step] for each in self))

    @staticmethod
    def of(pairs: Pairs, edge: float, targets: PointsOfLevel, sources: PointsOfLevel) -> "Samples | None":
        """None where there are no pairs with points."""
        random = np.random.default_rng(0)
        box = np.repeat(np.arange(len(pairs.first) - 1), np.diff(pairs.first))
        filled = np.flatnonzero((targets.sizes > 0)[box] & (sources.sizes > 0)[pairs.source])
        if not len(filled):
            return None
        square = np.asarray((pairs.used**2).sum(axis=1), np.int16)
        order = filled[np.argsort(square[pairs.offset[filled]], kind="stable")]
        count = min(LIMITS.pairs, len(order))
        chosen = order[((np.arange(count) + random.random(count)) * (len(order) / count)).astype(np.int64)]

        def some(level: PointsOfLevel, boxes: NDArray[np.int64]) -> Array:
            return level.of_boxes(
                boxes, np.array([random.integers(size, size=LIMITS.points) for size in level.sizes[boxes]])
            )

        one, other = some(targets, box[chosen]), some(sources, pairs.source[chosen])
        vectors = random.standard_normal((2, *one.shape))
        inward, outward = np.asarray(vectors / np.linalg.norm(vectors, axis=-1, keepdims=True))
        return Samples(np.asarray(pairs.used[pairs.offset[chosen]] * edge, np.float64), one, other, inward, outward)


class SampledLevel(NamedTuple):
    """A level at which searches look. edge: of its boxes, in m; samples: of pairs of boxes, None where there are none
    with points; radius: the largest distance in m of a point from the centre of its box; known: errors by the search,
    the step through the samples, and what was tried."""

    edge: float
    samples: Samples | None
    radius: float
    known: dict[Any, float]

    def error(self, key: Any, measure: Callable[[], float]) -> float:
        """The error of that key, which is measured once."""
        if key not in self.known:
            self.known[key] = measure()
        return self.known[key]


class SampledLevels:
    """The levels of a tree, with samples of those that searches look at. pairs: separated boxes of all levels; first:
    the first level that has some; runs: first box and end of each; edges (levels,): of boxes, in m."""

    def __init__(self, tree: Octree, lists: Lists, sources: Panels | Points, targets: Panels | Points) -> None:
        """sources, targets: points by the leaves of the lists, the same object where they are the same."""
        self.pairs, self.runs = pairs_of_levels(tree, lists), tree.runs_of_levels()
        self.edges = 0.5 ** np.arange(len(self.runs)) * tree.cube.edge
        self.first = next((n for n, each in enumerate(self.pairs) if len(each.source)), len(self.pairs))
        sides = (targets,) if sources.same_places(targets) else (targets, sources)
        self._points = [[PointsOfLevel.of(side, tree, lists, *run) for run in self.runs[self.first :]]
                        for side in sides]  # fmt: skip
        self._radii = np.max([radii_of(side) for side in self._points if side], axis=0, initial=0.0)
        self._levels = dict[int, SampledLevel]()

    def level(self, n: int) -> SampledLevel:
        """The level of that number, `first` or one below it; samples are drawn when it is first needed."""
        if n not in self._levels:
            near, far = (side[n - self.first] for side in (self._points[0], self._points[-1]))
            samples = Samples.of(self.pairs[n], self.edges[n], near, far)
            self._levels[n] = SampledLevel(float(self.edges[n]), samples, float(self._radii[n - self.first]), {})
        return self._levels[n]


class Search(NamedTuple):
    """For a wavenumber, a precision, and the derivatives of the kernel at targets and sources; once: for a single
    product; green: the function that takes the place of waves, None for these."""

    k: complex
    real: Any
    inward: bool
    outward: bool
    once: bool = False
    green: Any = None

    def degrees(self, level: SampledLevel, rtol: float) -> Degrees | None:
        """The least ones with that relative error (root mean square), None where it cannot be reached; likely ones of
        a level without samples."""
        guesses = [guess(abs(self.k) * each, rtol) for each in (2 * level.radius, level.radius)]
        if level.samples is None or guesses[0] > LIMITS.searched(rtol, self.once):
            return self.likely(level.radius, rtol)
        many = round(LIMITS.pairs * LIMITS.directions[self.once] / Grid.of(guesses[0]).count)
        step = level.samples.step(max(LIMITS.few, many))
        samples = level.samples.every(step)
        # what several degrees have in common
        exact = functools.cache(lambda: self.exact(samples))
        patterns = functools.cache(lambda degree: self.patterns(samples, Grid.of(degree)))
        factors = functools.cache(lambda degree: self.factors(samples, Grid.of(degree)))

        def error(half: int, full: int) -> float:
            degrees = Degrees(half, full)
            return level.error(
                (self, step, degrees), lambda: self.error(exact(), patterns(half), factors(full), degrees)
            )

        full = least(guesses[0] - 1, (max(2, guesses[0] - 4), guesses[0] + LIMITS.beyond), rtol, LIMITS.falls,
                     lambda n: error(n, n))  # fmt: skip
        if full is None:
            return None
        half = least(min(guesses[1] + 1, full), (max(1, min(guesses[1] - 3, full)), full), 1.15 * rtol, LIMITS.falls,
                     lambda n: error(n, full))  # fmt: skip
        return Degrees(full if half is None else half, full)

    def likely(self, radius: float, rtol: float) -> Degrees:
        """Degrees that need not be verified."""
        extra = 1 if self.inward or self.outward else 0
        sizes = [abs(self.k) * each for each in (radius, 2 * radius)]
        fewer, most = (math.ceil(ka + LIMITS.margin * (guess(ka, rtol) - ka)) + extra for ka in sizes)
        return Degrees(min(fewer + 1, most), most)

    def exact(self, samples: Samples) -> NDArray[np.complex128]:
        """(pairs, targets, sources) the kernel with its derivatives along the unit vectors."""
        r = samples.offsets[:, None, None] + samples.targets[:, :, None] - samples.sources[:, None]
        length = np.linalg.norm(r, axis=-1)
        r /= length[..., None]
        if self.green is not None:
            value, slope = evaluated(self.green, length) / (4 * np.pi)
            if self.inward and self.outward:
                raise ValueError(f"second derivatives of {self.green!r} are not known: use method='hmatrix'")
            along = np.einsum("npqc,npc->npq", r, samples.inward)
            across = -np.einsum("npqc,nqc->npq", r, samples.outward)
            return np.asarray(
                slope * length * (along if self.inward else across) if self.inward or self.outward else value
            )
        k, g = self.k, np.exp(1j * self.k * length) / (4 * np.pi * length)
        first = (1j * k - 1 / length) * g
        second = ((1j * k - 1 / length) ** 2 + 1 / length**2) * g
        along = np.einsum("npqc,npc->npq", r, samples.inward)
        across = -np.einsum("npqc,nqc->npq", r, samples.outward)
        if self.inward and self.outward:
            both = -np.einsum("npc,nqc->npq", samples.inward, samples.outward)
            return np.asarray((second - first / length) * along * across + first / length * both)
        return np.asarray(g if not (self.inward or self.outward) else first * (along if self.inward else across))

    def patterns(self, samples: Samples, half: Grid) -> tuple[NDArray[Any], NDArray[Any]]:
        """(pairs, points, directions) waves of the sources and of the targets on a grid."""
        return (
            self._waves(samples.sources, samples.outward, half, -1, self.outward),
            self._waves(samples.targets, samples.inward, half, 1, self.inward),
        )

    def factors(self, samples: Samples, full: Grid) -> NDArray[Any]:
        """(pairs, directions) factors of translations on a grid, with those of derivatives."""
        distances = np.linalg.norm(samples.offsets, axis=1)
        lengths, which = np.unique(np.round(distances, 12), return_inverse=True)
        series = coefficients(self.k, lengths, full.degree)[which].T
        cosines = samples.offsets / distances[:, None] @ full.directions
        slopes = (1j * self.k) ** self.inward * (-1j * self.k) ** self.outward
        found = legval(cosines, series[:, :, None], tensor=False) * (slopes * full.weights)
        return np.asarray(found.astype(np.result_type(self.real, np.complex64)))

    def error(
        self, exact: NDArray[Any], patterns: tuple[NDArray[Any], NDArray[Any]], factors: NDArray[Any], degrees: Degrees
    ) -> float:
        """Relative, in the root mean square over all pairs of points; patterns: on the half grid, factors: on the full
        one."""
        out, into = patterns
        if degrees.half != degrees.full:
            full, half = Grid.of(degrees.full), Grid.of(degrees.half)
            matrices = theta_matrices(half, full), phi_matrices(half.rows, full.rows)
            out, into = (resampled(each, half, full, matrices) for each in patterns)
        found = into * factors[:, None] @ out.swapaxes(1, 2)
        change = float((np.abs(found - exact) ** 2).sum())
        total = float((np.abs(exact) ** 2).sum())
        return math.sqrt(change / total) if total > 0 and math.isfinite(change) else math.inf

    def _waves(self, points: Array, vectors: Array, grid: Grid, sign: int, derivative: bool) -> NDArray[Any]:
        """(..., count) of points (..., 3), times the part of vectors (..., 3) along each direction if `derivative`."""
        waves = oscillation(sign * self.k, points @ grid.directions, self.real)
        if derivative:
            waves *= (vectors @ grid.directions).astype(self.real)
        return waves


def oscillation(k: complex, r: Array, real: Any) -> NDArray[Any]:
    """exp(i k r), in single precision where that is wanted: NumPy's exponentials of complex numbers take as long as
    seventy of its sines in single precision."""
    phase = (np.real(k) * r).astype(real)
    found = np.empty(r.shape, np.result_type(real, np.complex64))
    np.cos(phase, out=found.real)
    np.sin(phase, out=found.imag)
    if np.imag(k):
        found *= np.exp(-np.imag(k) * r).astype(real)
    return found


def least(
    first: int, bounds: tuple[int, int], allowed: float, falls: tuple[float, float], error: Callable[[int], float]
) -> int | None:
    """The least number, from bounds[0] to before bounds[1], whose error is allowed, found from `first` on: downwards
    where its is, else upwards; None if there is none. Each one more divides errors by at least falls[0], so that none
    below can hold where the error is not so small, and by no more than falls[1]; none above can hold where errors have
    begun to rise by rounding."""
    n = min(max(first, bounds[0]), bounds[1] - 1)
    if bounds[0] >= bounds[1]:
        return None
    found = error(n)
    if found <= allowed:
        while n > bounds[0] and found * falls[0] <= allowed and (found := error(n - 1)) <= allowed:
            n -= 1
        return n
    smallest = found
    while found > allowed:
        n += max(1, math.floor(math.log(min(found / allowed, 1e9)) / math.log(falls[1])))
        if n >= bounds[1] or found > LIMITS.rise * smallest:
            return None
        found = error(n)
        smallest = min(smallest, found)
    return n


def resampled(values: NDArray[Any], coarse: Grid, fine: Grid, matrices: tuple[Array, Array]) -> NDArray[Any]:
    """Functions (..., count) on another grid, as `passes.interpolate`; matrices: in theta and in phi."""
    n, (theta, phi) = coarse.rows, [each.astype(values.dtype) for each in matrices]
    u, v = values.reshape(-1, n, 2, n).transpose(2, 0, 1, 3)
    # one product for all functions in phi, then one for each of them in theta
    even, odd = (theta[p] @ (each.reshape(-1, n) @ (phi[p].T / 2)).reshape(-1, n, fine.rows)
                 for p, each in enumerate((u + v, u - v)))  # fmt: skip
    return np.stack([even + odd, even - odd], axis=2).reshape(*values.shape[:-1], -1)


def guess(ka: float, rtol: float) -> int:
    """ka + c (ka)^(1/3), with c as measured for boxes of two wavelengths and more, and more for smaller ones."""
    digits = -math.log10(min(rtol, 0.3))
    small = 1 + 0.25 * max(0.0, 6 - ka) / 2
    return math.ceil(ka + small * (0.65 * (digits - 2) + 0.3) * ka ** (1 / 3))
