"""Sums of oscillating charges over points, with a checked error."""

import math
import time
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.backends import format_bytes
from calderon.backends.vectors import aligned, width
from calderon.fmm.lists import Lists, lists_of
from calderon.fmm.octree import DEEPEST, Cube, Octree, octree
from calderon.fmm.point_expansions import padded
from calderon.fmm.translations import in_parts
from calderon.greens.helmholtz import helmholtz
from calderon.mlfmm.far import Far, find_degrees
from calderon.mlfmm.plan import SAFETY, Attempt, attempts, rtol_of
from calderon.mlfmm.points import TINY, Points, centres_of, near_kernel
from calderon.mlfmm.spectrum import Array
from calderon.validation import points_in_space, unmasked

FEW = 5e6
"""Pairs of points that are summed one by one."""
LEAF = 40
"""Points of a leaf at most, unless its edge is the least one."""
LOW_LEAF, FULL = (240, 80), 150
"""Of a leaf where all boxes are small against the wavelength and where the smallest may be, and the number in the leaf
of a source, in the mean, above which some are."""
LOW_SINGLE = 9e-6
"""Tolerance that equivalent sources hold in single precision; points that are close together do not."""
CHECKED = 64
"""Random targets whose sums are computed directly, too."""
TIGHTER, TRIES = 0.3, 3
"""Share of the tolerance by the last one, where the checked error is too large, and how many are tried."""


class HelmholtzInfo(NamedTuple):
    """What was computed. method: "mlfmm" or "direct". error, gradient_error: relative errors in the 2-norm at 64 random
    targets (0 for direct sums, None where there is no gradient). levels: with plane waves. degree: of translations, the
    highest one. nbytes: of plane waves, equivalent sources, and lists. seconds: wall-clock. low_levels: with equivalent
    sources, of smaller boxes, and edge_points: how many of these an edge of a cube has."""

    method: str
    rtol: float
    error: float
    gradient_error: float | None
    levels: int
    degree: int
    nbytes: int
    seconds: float
    low_levels: int = 0
    edge_points: int = 0

    def __str__(self) -> str:
        if self.method == "direct":
            return f"direct sums, {self.seconds:.2f} s"
        slope = "" if self.gradient_error is None else f", of the gradient {self.gradient_error:.1e}"
        low = f", {self.low_levels} low-frequency levels, {self.edge_points} points an edge" if self.low_levels else ""
        return (
            f"multilevel fast multipole sums, rtol {self.rtol:g}: error {self.error:.1e}{slope} at {CHECKED} points, "
            f"{self.levels} levels, degrees to {self.degree}{low}, {format_bytes(self.nbytes)}, {self.seconds:.2f} s"
        )


@dataclass(frozen=True, eq=False)
class HelmholtzSums:
    """potential (m,), gradient (m, 3) or None, and `info`."""

    potential: NDArray[np.complex128]
    gradient: NDArray[np.complex128] | None
    info: HelmholtzInfo


def helmholtz_sums(
    points: ArrayLike,
    charges: ArrayLike,
    wavenumber: complex,
    *,
    targets: ArrayLike | None = None,
    gradient: bool = False,
    rtol: float = 1e-4,
) -> HelmholtzSums:
    """Potentials of charges q_j at points y_j (n, 3), in m,

        u(x) = sum_j q_j exp(i k |x - y_j|) / (4 pi |x - y_j|),

    at targets x (m, 3), or at the points themselves; points that coincide with x are left out of its sum. charges (n,)
    real or complex. wavenumber: k in 1/m, Re k > 0, with Im k >= 0 for losses. gradient: the gradients of u, too.

    rtol: relative error in the 2-norm over all targets, of the potential and of the gradient; 1e-9 and above. Sums of
    many points are computed by the multilevel fast multipole method, in double precision below 8e-5. 64 random targets
    are then summed directly; above rtol degrees are raised, and after that RuntimeError is raised. Raises ValueError
    for other shapes and for numbers that are not finite.
    """
    started, wanted = time.perf_counter(), rtol_of(rtol, "double")
    k = complex(helmholtz(wavenumber, "sum over points").wavenumber)
    sources = points_in_space(points)
    places = None if targets is None else points_in_space(targets, "targets")
    numbers = _charges(charges, len(sources))
    at = sources if places is None else places
    if len(sources) * len(at) <= FEW:
        found = direct_sums(sources, at, numbers, k, gradient)
        info = HelmholtzInfo("direct", wanted, 0.0, 0.0 if gradient else None, 0, 0, 0, time.perf_counter() - started)
        return _result(found, gradient, info)
    chosen = np.random.default_rng(0).integers(len(at), size=CHECKED)
    exact = direct_sums(sources, at[chosen], numbers, k, gradient)
    sums, found, errors = None, exact, [math.inf]
    for attempt in attempts(wanted):  # smaller shares of the tolerance with leaves of one size, then larger leaves
        for n in range(TRIES):
            tried = PointSums.of(sources, places, k, wanted, gradient, attempt._replace(share=TIGHTER**n))
            if tried is None:
                break
            sums, found = tried, tried.product(numbers)
            parts = (slice(0, 1), slice(1, None))[: 1 + gradient]
            errors = [_error(found[chosen, own], exact[:, own]) for own in parts]
            if max(errors) <= SAFETY * wanted:
                break
        if max(errors) <= wanted:
            break
    if sums is None or max(errors) > wanted:
        raise RuntimeError(
            f"multilevel fast multipole sums have an error of {max(errors):.1e} at {CHECKED} random targets, and "
            f"rtol={wanted:g} was requested: increase rtol, or sum fewer targets at a time, which is done directly"
        )
    levels, low = (sums.far.traversal.levels, sums.far.low) if sums.far else ([], None)
    info = HelmholtzInfo(
        "mlfmm", wanted, errors[0], errors[1] if gradient else None, len(levels),
        max((each.full.degree for each in levels), default=0),
        sum(each.nbytes(1) for each in levels) + (low.nbytes(1) if low else 0), time.perf_counter() - started,
        len(low.levels) if low else 0, low.cubes.p if low else 0,
    )  # fmt: skip
    return _result(found, gradient, info)


def _error(found: NDArray[Any], exact: NDArray[Any]) -> float:
    change, norm = np.linalg.norm(found - exact), np.linalg.norm(exact)
    return float(change / norm if norm > 0 else change)


def _charges(values: ArrayLike, count: int) -> NDArray[np.complex128]:
    array = unmasked(values, "charges")
    if array.dtype.kind not in "fiuc":
        raise TypeError(f"charges must be numbers, got an array of {array.dtype}")
    if array.shape != (count,):
        raise ValueError(f"charges of {count} points must have shape {(count,)}, got {array.shape}")
    if bad := int(np.count_nonzero(~np.isfinite(array))):
        raise ValueError(f"{bad} of the charges are NaN or infinite")
    return np.asarray(array, complex)


def _result(found: NDArray[np.complex128], gradient: bool, info: HelmholtzInfo) -> HelmholtzSums:
    return HelmholtzSums(found[:, 0].copy(), found[:, 1:].copy() if gradient else None, info)


def direct_sums(
    sources: Array, targets: Array, charges: NDArray[Any], k: complex, gradient: bool
) -> NDArray[np.complex128]:
    """(m, 1 or 4) sums without a tree, in double precision."""
    tree = octree(sources, targets, max(len(sources), len(targets), 1))
    return PointSums.on(tree, sources, targets, k, gradient, np.dtype(np.float64)).product(charges)


@dataclass(frozen=True, eq=False)
class PointSums:
    """A tree of points, and products with charges there. far: None where all leaves are neighbours."""

    k: complex
    tree: Octree
    lists: Lists
    far: Far | None
    sources: Points
    targets: Points
    gradient: bool
    real: Any

    @staticmethod
    def of(
        sources: Array, targets: Array | None, k: complex, rtol: float, gradient: bool, attempt: Attempt
    ) -> "PointSums | None":
        """None where plane waves cannot hold the tolerance with these leaves."""
        cube = Cube.around(sources) if targets is None else Cube.around(sources, targets)
        least = attempt.edge * 2 * np.pi / abs(k)
        depth = max(0, math.ceil(math.log2(cube.edge / least)))
        if depth:
            cube = cube.enlarged(max(1.0, least * 2.0**depth / cube.edge))
        real = attempt.real
        if not depth and rtol >= LOW_SINGLE and attempt.share >= 1:
            real = np.dtype(np.float32)
        for most, deepest in ((LEAF, min(depth, DEEPEST)), (LOW_LEAF[depth > 0], DEEPEST)):
            limit = np.full(1, deepest)
            limits = limit.repeat(len(sources)), limit.repeat(len(sources if targets is None else targets))
            tree = octree(sources, targets, most, limits, cube)
            found = PointSums.on(tree, sources, targets, k, gradient, attempt.real)
            if depth and (np.diff(found.sources.starts) ** 2).sum() <= FULL * len(sources):
                break
        if not len(found.lists.far.source):
            return found
        ends = found.sources, found.targets
        sides = ends[0]._replace(local=ends[0].local.astype(real)), ends[1]._replace(local=ends[1].local.astype(real))
        waves = find_degrees(tree, found.lists, k, attempt.share * rtol, real, *sides, (gradient, False), 0.99 * least)
        if waves is None:
            return None
        traversal, low = waves.levels(tree, found.lists, k, real)
        kinds = ("value", "gradient") if gradient else ("value",)
        far = Far(k, tree, found.lists, traversal, *sides, ("value",), kinds, low)
        return PointSums(k, tree, found.lists, far, *ends, gradient, attempt.real)

    @staticmethod
    def on(tree: Octree, sources: Array, targets: Array | None, k: complex, gradient: bool, real: Any) -> "PointSums":
        """Of neighbouring leaves alone."""
        lists = lists_of(tree)
        centres = centres_of(tree)[lists.leaves]

        def side(points: Array, order: Any, runs: Any) -> Points:
            return Points.of(points[order], np.append(runs[lists.leaves, 0], len(points)), centres, real)

        own = side(sources, tree.source_order, tree.sources)
        other = own if targets is None else side(targets, tree.target_order, tree.targets)
        return PointSums(k, tree, lists, None, own, other, gradient, real)

    def product(self, charges: NDArray[Any]) -> NDArray[np.complex128]:
        """(m, 1 or 4) potentials and gradients of charges (n,), in the order of the points."""
        given = charges[self.tree.source_order]
        out = self._near(given) / (4 * np.pi)
        if self.far is not None:
            out = out + self.far.product(given[:, None, None])[:, 0]
        result = np.empty(out.shape, complex)
        result[self.tree.target_order] = out
        return result

    @property
    def _unit(self) -> float:
        """Of distances of points that coincide: a wavelength over 2 pi, or the edge of the smallest leaf."""
        return min(1 / abs(self.k), self.tree.cube.edge * 0.5 ** float(self.tree.level[-1]))

    def _near(self, charges: NDArray[Any]) -> NDArray[Any]:
        """From neighbouring leaves, times 4 pi."""
        real, k, count = self.real, self.k, len(self.lists.leaves)
        given = padded(np.array([*self.sources.local.T, charges.real, charges.imag]), real)
        wanted = padded(self.targets.local.T, real)
        out = np.zeros((8 if self.gradient else 2, wanted.shape[1]), real)
        run, tiny = near_kernel(self.gradient, k.imag > 0), TINY[real == np.float32] * self._unit**2
        arguments = (
            wanted.ravel(), wanted.shape[1], given.ravel(), given.shape[1], self.targets.starts, self.sources.starts,
            self.lists.near_start, self.lists.near, centres_of(self.tree)[self.lists.leaves], real.type(k.real),
            real.type(k.imag / k.real), real.type(tiny),
        )  # fmt: skip
        room = 8 * width(real)
        in_parts(lambda low, high: run(*arguments, aligned(room, real), out.ravel(), low, high), count)
        found = out[:, : len(self.targets.local)].T
        if not self.gradient:
            return np.asarray(found[:, :1] + 1j * found[:, 1:])
        return np.asarray(found[:, [0, 2, 3, 4]] + 1j * found[:, [1, 5, 6, 7]])
