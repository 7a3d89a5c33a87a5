"""Sums of oscillating charges over points, with a checked error."""

import math
import time
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.backends import InOrder, format_bytes, one_thread, run_tasks, thread_count
from calderon.backends.threads import TASKS, in_parts
from calderon.backends.vectors import aligned, width
from calderon.greens import Green, Helmholtz
from calderon.greens.elementary import SHORT
from calderon.greens.helmholtz import helmholtz
from calderon.mlfmm.degrees import shortest, with_real_part
from calderon.mlfmm.far import Far, find_degrees
from calderon.mlfmm.plan import SAFETY, SINGLE, Attempt, attempts, rtol_of
from calderon.mlfmm.points import TINY, Points, centres_of, mutual_kernel, near_kernel
from calderon.mlfmm.spectrum import Array
from calderon.potentials.summation import FastSums
from calderon.products.lists import Lists, lists_of
from calderon.products.octree import DEEPEST, Cube, Octree, octree
from calderon.products.point_sums import Kinds, in_two, padded
from calderon.validation import points_in_space, unmasked

FEW, DIRECT = 5e6, 3e10
"""Pairs of points that are summed one by one: always, and where plane waves do not hold the tolerance or do not fit
into memory; a core sums 5e8 a second."""
LEAF = 40
"""Points of a leaf at most, unless its edge is the least one."""
LOW_LEAF, FULL = (240, 80), 150
"""Of a leaf where all boxes are small against the wavelength and where the smallest may be, and the number in the leaf
of a source, in the mean, above which some are."""
LITTLE = 2e8, 2e9
"""Pairs of points in neighbouring leaves that are summed sooner than equivalent sources are prepared, in single and in
double precision."""
LOW_SINGLE = 9e-6
"""Tolerance that equivalent sources hold in single precision; points that are close together do not."""
CHECKED, PAIRS = (64, 1024), 1.3e7
"""Random targets whose sums are computed directly, too: at least, at most, and pairs of points of these. Few targets,
those at corners of boxes, have most of the error: of 200 estimates with 128 of 100,000 targets on a sphere one in a
hundred is below a half of the error, and so it is with 500."""
ROUNDED = 0.07
"""Part of the tolerance that phases over the edge of the tree are rounded by at most where these are in single
precision."""
CANCELLED, SIZED = 1e-3, 8
"""Part of sums of absolute values with which sums are compared where they are smaller, and the random targets at which
these are computed."""
TOGETHER = 4
"""Columns that take one traversal."""
ALONE = Kinds(charges=True, dipoles=False, gradient=False)
FIRST, AIM, TRIES = 0.5, 0.4, 5
"""Share of tolerances below SINGLE that is tried first, part of the tolerance that the error should have with the next
one, and how many are tried."""
TIGHTER = 0.3, 0.5
"""Share by the last one, at least and at most."""


class HelmholtzInfo(NamedTuple):
    """What was computed. method: "mlfmm" or "direct". error, gradient_error: relative errors in the 2-norm at `checked`
    random targets (0 for direct sums, None where there is no gradient). levels: with plane waves. degree: of
    translations, the highest one. nbytes: of plane waves, equivalent sources, and lists. seconds: wall-clock.
    low_levels: with equivalent sources, of smaller boxes; edge_points: how many of these an edge of a cube has."""

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
    checked: int = 0

    def __str__(self) -> str:
        if self.method == "direct":
            return f"direct sums, {self.seconds:.2f} s"
        slope = "" if self.gradient_error is None else f", of the gradient {self.gradient_error:.1e}"
        low = f", {self.low_levels} low-frequency levels, {self.edge_points} points an edge" if self.low_levels else ""
        return (
            f"multilevel fast multipole sums, rtol {self.rtol:g}: error {self.error:.1e}{slope} at {self.checked} "
            f"points, {self.levels} levels, degrees to {self.degree}{low}, {format_bytes(self.nbytes)}, "
            f"{self.seconds:.2f} s"
        )


@dataclass(frozen=True, eq=False)
class HelmholtzSums:
    """potential (m,), gradient (m, 3) or None, and `info`; of c columns of charges (m, c) and (m, c, 3)."""

    potential: NDArray[np.complex128]
    gradient: NDArray[np.complex128] | None
    info: HelmholtzInfo


def helmholtz_sums(
    points: ArrayLike,
    charges: ArrayLike | None,
    wavenumber: complex,
    dipoles: ArrayLike | None = None,
    *,
    targets: ArrayLike | None = None,
    gradient: bool = False,
    rtol: float = 1e-4,
) -> HelmholtzSums:
    """Potentials of charges q_j and dipoles d_j at points y_j (n, 3), in m,

        u(x) = sum_j (q_j + d_j . grad_y) exp(i k |x - y_j|) / (4 pi |x - y_j|),

    at targets x (m, 3), or at the points themselves; points that coincide with x are left out of its sum. charges (n,)
    and dipoles (n, 3) real or complex, None for none; c columns of them, (n, c) and (n, c, 3), are summed together.
    wavenumber: k in 1/m, not 0, Re k >= 0, with Im k >= 0 for losses; i w for exp(-w r). gradient: the gradients of u,
    too.

    rtol: relative error in the 2-norm over all targets, of the potential (or of the smaller one of a thousandth of the
    sum of |q| / r + |d| (|k| + 1 / r) / r and the root of the sum of its squares, where that is larger) and likewise of
    the gradient; 1e-9 and above. Sums of many points are computed by the multilevel fast multipole method, in double
    precision below 8e-5. 64 random targets or more are then summed directly; above rtol degrees are raised. Where plane
    waves do not hold rtol or do not fit into memory, up to 3e10 pairs of points are summed directly, which `info` says;
    RuntimeError or MemoryError for more. Raises ValueError for other shapes and for numbers that are not finite.
    """
    started, wanted = time.perf_counter(), rtol_of(rtol, "double")
    k = with_real_part(complex(helmholtz(wavenumber, "sum over points").wavenumber))
    sources = points_in_space(points)
    places = None if targets is None else points_in_space(targets, "targets")
    kinds = Kinds(charges is not None, dipoles is not None, bool(gradient))
    numbers, single = _numbers(charges, dipoles, len(sources))
    pairs = len(sources) * len(sources if places is None else places) * numbers.shape[1]
    if pairs > FEW:
        try:
            return _result(*_fast(sources, places, numbers, k, wanted, kinds, started), single)
        except (MemoryError, RuntimeError):
            if pairs > DIRECT:
                raise
    found = direct_sums(sources, sources if places is None else places, numbers, k, kinds)
    seconds = time.perf_counter() - started
    return _result(found, HelmholtzInfo("direct", wanted, 0.0, 0.0 if gradient else None, 0, 0, 0, seconds), single)


def _fast(
    sources: Array, places: Array | None, numbers: NDArray[np.complex128], k: complex, rtol: float, kinds: Kinds,
    started: float,
) -> tuple[NDArray[np.complex128], HelmholtzInfo]:  # fmt: skip
    """Sums by plane waves. RuntimeError where they do not hold the tolerance, MemoryError where they do not fit."""
    with one_thread:  # matrices are small
        sums, found, errors, checked = _checked(sources, places, numbers, k, rtol, kinds)
    levels, low = (sums.far.traversal.levels, sums.far.low) if sums.far else ([], None)
    return found, HelmholtzInfo(
        "mlfmm", rtol, errors[0], errors[1] if kinds.gradient else None, len(levels),
        max((each.full.degree for each in levels), default=0),
        sum(each.nbytes(1) for each in levels) + (low.nbytes(1) if low else 0), time.perf_counter() - started,
        len(low.levels) if low else 0, low.cubes.p if low else 0, checked,
    )  # fmt: skip


def _checked(
    sources: Array, targets: Array | None, numbers: NDArray[np.complex128], k: complex, rtol: float, kinds: Kinds
) -> tuple["PointSums", NDArray[np.complex128], list[float], int]:
    """The first sums that hold the tolerance, what they give, its errors, and at how many targets; RuntimeError where
    there are none."""
    check = _Check.of(sources, sources if targets is None else targets, numbers, k, kinds, rtol)
    errors = [math.inf]
    for attempt in attempts(rtol):  # smaller shares of the tolerance with leaves of one size, then larger leaves
        sums, share = None, _first(rtol)
        for _ in range(TRIES):
            tried = PointSums.of(sources, targets, k, rtol, kinds, attempt._replace(share=share))
            if tried is None:
                break
            sums, found = tried, tried.product(numbers)
            errors = check.errors(found, SAFETY * rtol)
            if max(errors) <= SAFETY * rtol:
                break
            share *= float(np.clip(AIM * rtol / max(errors), *TIGHTER))
        if sums is not None and max(errors) <= rtol:
            return sums, found, errors, len(check.chosen)
    raise RuntimeError(
        f"multilevel fast multipole sums have an error of {max(errors):.1e} at {len(check.chosen)} random targets, and "
        f"rtol={rtol:g} was requested: increase rtol, or sum fewer targets at a time, which is then done directly"
    )


def _first(rtol: float) -> float:
    """Share of a tolerance that is tried first: in double precision errors of levels add up."""
    return 1.0 if rtol >= SINGLE else FIRST


def potential_sums(
    points: Array, charges: Any, dipoles: Any, wavenumber: complex, *, targets: Array, gradient: bool, rtol: float
) -> NDArray[np.complex128]:
    """Of complex charges (n, c) or dipoles (n, c, 3), or both: potentials (m, c, 1) or gradients (m, c, 3). In double
    precision, as targets may be close to points."""
    rtol = min(rtol_of(rtol, "double"), 0.99 * SINGLE)
    found = helmholtz_sums(points, charges, wavenumber, dipoles, targets=targets, gradient=gradient, rtol=rtol)
    return found.potential[..., None] if found.gradient is None else found.gradient


def oscillates(green: Green) -> bool:
    """Whether it is exp(i k r) / (4 pi r) with Re k >= 0, k not 0."""
    return isinstance(green, Helmholtz) and green.wavenumber != 0 and complex(green.wavenumber).real >= 0


LAYERS = FastSums("mlfmm", "Helmholtz's equation", oscillates, potential_sums, 2e10)
"""For potentials at points."""


def _numbers(charges: ArrayLike | None, dipoles: ArrayLike | None, count: int) -> tuple[NDArray[np.complex128], bool]:
    """(n, columns, charge and three of the dipole) numbers, and whether they were given without columns."""
    if charges is None and dipoles is None:
        raise ValueError("no charges and no dipoles: give at least one of them")
    parts, single = list[NDArray[np.complex128]](), True
    for values, name, last in ((charges, "charges", ()), (dipoles, "dipoles", (3,))):
        if values is None:
            continue
        array = unmasked(values, name)
        if array.dtype.kind not in "fiuc":
            raise TypeError(f"{name} must be numbers, got an array of {array.dtype}")
        columns = array.shape[1:2] if array.ndim == 2 + len(last) else ()
        if array.shape != (count, *columns, *last) or columns == (0,):
            alone, more = (str((count, *each, *last)).replace("'", "") for each in ((), ("c",)))
            raise ValueError(f"{name} of {count} points must have shape {alone}, or {more}, got {array.shape}")
        if bad := int(np.count_nonzero(~np.isfinite(array))):
            raise ValueError(f"{bad} of the {name} are NaN or infinite")
        single = not columns
        parts.append(np.asarray(array, complex).reshape(count, columns[0] if columns else 1, 3 if last else 1))
    if len({each.shape[1] for each in parts}) > 1:
        raise ValueError(f"{parts[0].shape[1]} columns of charges and {parts[1].shape[1]} of dipoles: give as many")
    return np.concatenate(parts, axis=2), single


def _result(found: NDArray[np.complex128], info: HelmholtzInfo, single: bool) -> HelmholtzSums:
    found = found[:, 0] if single else found
    return HelmholtzSums(found[..., 0].copy(), found[..., 1:].copy() if found.shape[-1] > 1 else None, info)


@dataclass(frozen=True, eq=False)
class _Check:
    """Direct sums (m, columns, fields) of numbers at chosen targets."""

    sources: Array
    targets: Array
    numbers: NDArray[np.complex128]
    k: complex
    kinds: Kinds
    chosen: NDArray[np.int64]
    exact: NDArray[np.complex128]

    @staticmethod
    def of(
        sources: Array, targets: Array, numbers: NDArray[np.complex128], k: complex, kinds: Kinds, rtol: float
    ) -> "_Check":
        count = int(np.clip(PAIRS / max(1, len(sources)), *CHECKED))
        chosen = np.random.default_rng(0).integers(len(targets), size=count)
        rounding = abs(k) * Cube.around(sources, targets).edge * float(np.finfo(np.float32).eps)
        single = rtol >= SINGLE and rounding <= ROUNDED * rtol
        exact = direct_sums(sources, targets[chosen], numbers, k, kinds, np.float32 if single else np.float64)
        return _Check(sources, targets[chosen], numbers, k, kinds, chosen, exact)

    @cached_property
    def least(self) -> Array:
        """The smallest norms that errors of potentials and gradients are compared with."""
        numbers, sizes = self.numbers, np.zeros((2, SIZED))
        charge = np.linalg.norm(numbers[:, :, 0], axis=1) if self.kinds.charges else np.zeros(len(self.sources))
        dipole = np.linalg.norm(numbers[:, :, -3:], axis=(1, 2)) if self.kinds.dipoles else 0.0
        for n, x in enumerate(self.targets[:SIZED]):
            r = np.linalg.norm(self.sources - x, axis=1)
            inverse = np.divide(1.0, r, out=np.zeros_like(r), where=r > 0)
            slope = inverse + abs(self.k) * (r > 0)
            strength = charge + dipole * slope
            for row, part in enumerate((strength * inverse, strength * inverse * slope)):
                sizes[row, n] = min(CANCELLED * part.sum(), np.linalg.norm(part))
        return np.asarray(np.linalg.norm(sizes, axis=1) * np.sqrt(len(self.chosen) / SIZED) / (4 * np.pi))

    def errors(self, found: NDArray[np.complex128], enough: float) -> list[float]:
        """Of potentials, and of gradients if there are some; compared with `least` only where they are not small
        enough anyway."""
        errors = []
        for n, own in enumerate((slice(0, 1), slice(1, None))):
            if self.exact[..., own].size:
                exact = self.exact[..., own]
                change, size = (float(np.linalg.norm(each)) for each in (found[self.chosen][..., own] - exact, exact))
                size = size if change <= enough * size else max(float(self.least[n]), size)
                errors.append(change / (size or 1.0))
        return errors


def direct_sums(
    sources: Array, targets: Array, numbers: NDArray[Any], k: complex, kinds: Kinds, real: Any = np.float64
) -> NDArray[np.complex128]:
    """(m, columns, 1 or 4) sums without a tree."""
    tree = octree(sources, targets, max(len(sources), len(targets), 1))
    return PointSums.on(tree, sources, targets, with_real_part(k), kinds, np.dtype(real)).product(numbers)


@dataclass(frozen=True, eq=False)
class PointSums:
    """A tree of points, and products with charges there. far: None where all leaves are neighbours."""

    k: complex
    tree: Octree
    lists: Lists
    far: Far | None
    sources: Points
    targets: Points
    kinds: Kinds
    real: Any

    @staticmethod
    def of(
        sources: Array, targets: Array | None, k: complex, rtol: float, kinds: Kinds, attempt: Attempt
    ) -> "PointSums | None":
        """None where plane waves cannot hold the tolerance with these leaves."""
        cube = Cube.around(sources) if targets is None else Cube.around(sources, targets)
        least = shortest(k, attempt.edge)
        depth = max(0, math.ceil(math.log2(cube.edge / least))) if math.isfinite(least) else 0
        if depth:
            cube = cube.enlarged(max(1.0, least * 2.0**depth / cube.edge))
        real = attempt.real
        if not depth and rtol >= LOW_SINGLE and attempt.share >= _first(rtol):
            real = np.dtype(np.float32)
        trees = (LEAF, min(depth, DEEPEST)), (LOW_LEAF[depth > 0], DEEPEST)
        every = len(sources) * len(sources if targets is None else targets)
        for most, deepest in trees if depth or every <= LITTLE[real == np.float64] else trees[1:]:
            limit = np.full(1, deepest)
            limits = limit.repeat(len(sources)), limit.repeat(len(sources if targets is None else targets))
            tree = octree(sources, targets, most, limits, cube)
            found = PointSums.on(tree, sources, targets, k, kinds, attempt.real)
            full = (np.diff(found.sources.starts) ** 2).sum() > FULL * len(sources)
            if found.near_pairs <= LITTLE[real == np.float64] or (depth and not full):
                break
        if not len(found.lists.far.source):
            return found
        ends = found.sources, found.targets
        own = ends[0]._replace(local=ends[0].local.astype(real))
        sides = own, own if targets is None else ends[1]._replace(local=ends[1].local.astype(real))
        derivatives = kinds.gradient, kinds.dipoles
        waves = find_degrees(tree, found.lists, k, attempt.share * rtol, real, *sides, derivatives, 0.99 * least, True)
        if waves is None:
            return None
        traversal, low = waves.levels(tree, found.lists, k, real)
        out = ("value",) * kinds.charges + ("gradient",) * kinds.dipoles
        into = ("value", "gradient")[: 1 + kinds.gradient]
        far = Far(k, tree, found.lists, traversal, *sides, out, into, low)
        return PointSums(k, tree, found.lists, far, *ends, kinds, attempt.real)

    @staticmethod
    def on(tree: Octree, sources: Array, targets: Array | None, k: complex, kinds: Kinds, real: Any) -> "PointSums":
        """Of neighbouring leaves alone."""
        lists = lists_of(tree)
        centres = centres_of(tree)[lists.leaves]

        def side(points: Array, order: Any, runs: Any) -> Points:
            return Points.of(points[order], np.append(runs[lists.leaves, 0], len(points)), centres, float)

        own = side(sources, tree.source_order, tree.sources)
        other = own if targets is None else side(targets, tree.target_order, tree.targets)
        return PointSums(k, tree, lists, None, own, other, kinds, real)

    def product(self, numbers: NDArray[Any]) -> NDArray[np.complex128]:
        """(m, columns, 1 or 4) potentials and gradients of charges and dipoles (n, columns, 1, 3 or 4), in the order of
        the points."""
        given = numbers[self.tree.source_order]
        out = np.stack([self._near(given[:, n]) for n in range(given.shape[1])], axis=1) / (4 * np.pi)
        for n in range(0, given.shape[1] if self.far is not None else 0, TOGETHER):
            assert self.far is not None
            out[:, n : n + TOGETHER] += self.far.product(given[:, n : n + TOGETHER])
        result = np.empty(out.shape, complex)
        result[self.tree.target_order] = out
        return result

    @property
    def near_pairs(self) -> float:
        """Pairs of points in neighbouring leaves."""
        target, source = (np.diff(each.starts).astype(float)[n] for each, n in
                          zip((self.targets, self.sources), self.lists.near_pairs.T, strict=True))  # fmt: skip
        return float(target @ source)

    @property
    def _unit(self) -> float:
        """Of distances of points that coincide: a wavelength over 2 pi, or the edge of the smallest leaf."""
        return min(1 / abs(self.k), self.tree.cube.edge * 0.5 ** float(self.tree.level[-1]))

    def _near(self, numbers: NDArray[Any]) -> NDArray[Any]:
        """From neighbouring leaves, times 4 pi."""
        real, k, count = self.real, self.k, len(self.lists.leaves)
        places, at = (in_two(each.local.T, real) for each in (self.sources, self.targets))
        given = padded(np.array([*places[:3], *np.ascontiguousarray(numbers).view(float).T, *places[3:]]), real)
        wanted, split = padded(at, real), real == np.float32
        out = np.zeros((2 * self.kinds.fields, wanted.shape[1]), real)
        tiny = TINY[split] * self._unit**2
        rows = wanted.ravel(), wanted.shape[1], given.ravel(), given.shape[1]
        rest = (
            self.lists.near_start, self.lists.near, centres_of(self.tree)[self.lists.leaves], real.type(k.real),
            real.type(k.imag / k.real), real.type(tiny),
        )  # fmt: skip
        if self.targets is self.sources and self.kinds == ALONE:
            self._mutual((*rows, self.sources.starts, *rest), split, out)
            return np.asarray((out[0] + 1j * out[1])[: len(self.targets.local), None])
        arguments = *rows, self.targets.starts, self.sources.starts, *rest
        run = near_kernel(*self.kinds, k.imag > 0, split)
        room = 8 * width(real)
        in_parts(lambda low, high: run(*arguments, aligned(room, real), out.ravel(), low, high), count)
        found = out[:, : len(self.targets.local)].T
        if not self.kinds.gradient:
            return np.asarray(found[:, :1] + 1j * found[:, 1:])
        return np.asarray(found[:, [0, 2, 3, 4]] + 1j * found[:, [1, 5, 6, 7]])

    def _mutual(self, arguments: tuple[Any, ...], split: bool, out: NDArray[Any]) -> None:
        """Add fields of charges at their own points to out (2, points)."""
        starts, lists, real = self.sources.starts, self.lists, out.dtype
        farthest = 2 * math.sqrt(3) * self.tree.cube.edge * 0.5 ** float(self.tree.level[lists.leaves].min())
        run = mutual_kernel(self.k.imag > 0, split, self.k.real * farthest <= SHORT)
        bounds = np.linspace(0, len(lists.leaves), TASKS * thread_count() + 1).astype(np.int64)
        room = (6 + 2 * int(np.diff(starts).max(initial=0))) * width(real)

        def add(first: int, part: NDArray[Any]) -> None:
            out[:, first : first + part.shape[1]] += part

        joined = InOrder(add)

        def work(n: int) -> None:
            low, high = bounds[n : n + 2]
            last = lists.near[lists.near_start[low] : lists.near_start[high]].max(initial=high - 1)
            part = np.zeros((2, starts[last + 1] - starts[low]), real)
            run(*arguments, aligned(room, real), part.ravel(), starts[low], low, high)
            joined.add(n, int(starts[low]), part)

        run_tasks(work, len(bounds) - 1)
