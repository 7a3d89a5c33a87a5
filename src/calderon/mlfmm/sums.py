"""Sums of oscillating charges over points, with a checked error."""

import math
import time
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.backends import Device, Execution, InOrder, one_thread, run_tasks, thread_count
from calderon.backends.threads import in_parts
from calderon.backends.vectors import aligned, width
from calderon.greens import Helmholtz, RadialGreen
from calderon.greens.elementary import SHORT
from calderon.greens.helmholtz import helmholtz
from calderon.mlfmm.degrees import LIMITS, SampledLevels, guess, shortest, with_real_part
from calderon.mlfmm.device.point_sums import DevicePointFar, DeviceSums
from calderon.mlfmm.equivalent.cubes import Cubes, likely_points
from calderon.mlfmm.far import Far, find_degrees
from calderon.mlfmm.plan import FINE, SINGLE, WORK, Attempt, attempts, rtol_of
from calderon.mlfmm.points import TINY, Points, centres_of, mutual_kernel, near_kernel
from calderon.mlfmm.spectrum import Array, Grid
from calderon.potentials.summation import FastSums
from calderon.products.attempts import first_that_holds
from calderon.products.check import ACCEPT_WAVE_SUMS, ROWS
from calderon.products.direct_sums import Kinds, in_two, padded
from calderon.products.far_field import far_product
from calderon.products.lists import Lists, lists_of
from calderon.products.octree import DEEPEST, Cube, Octree, octree
from calderon.products.point_sums import Arguments, PointCheck, PointSums, SumsInfo

ALONE = Kinds(charges=True, dipoles=False, gradient=False)


class SumRules(NamedTuple):
    """By which sums and leaves of points are chosen.

    few, direct: pairs of points that are summed one by one: always, and where plane waves do not hold the tolerance or
    do not fit into memory; a core sums 5e8 a second. leaf: points of a leaf at most, unless its edge is the least one.
    low, low_mixed: the same where all boxes are small against the wavelength, and where the smallest may be; these are
    tried where there are more than `full` points in the leaf of a source, in the mean. little: pairs of points in
    neighbouring leaves that are summed sooner than equivalent sources are prepared, in double and in single precision.
    low_single: tolerance that equivalent sources hold in single precision; points that are close together do not.
    rounded: part of the tolerance that phases over the edge of the tree are rounded by at most where these are in
    single precision. cancelled: part of sums of absolute values with which errors of smaller sums are compared. first:
    share of tolerances below SINGLE that is tried first, as errors of levels add up in double precision; tighter: the
    next share by the last one, at least and at most; slope: errors are in proportion to that power of the share, as
    long as nothing else is known; stagnant: below that power a smaller share is no remedy. together: columns that take
    one traversal.
    """

    few: float = 5e6
    direct: float = 3e10
    leaf: int = 40
    low: int = 240
    low_mixed: int = 80
    full: int = 150
    little: tuple[float, float] = (2e9, 2e8)
    low_single: float = 9e-6
    rounded: float = 0.07
    cancelled: float = 1e-3
    first: float = 0.5
    tighter: tuple[float, float] = (0.1, 0.5)
    slope: float = 0.7
    stagnant: float = 0.2
    together: int = 4


class SumWork(NamedTuple):
    """Nanoseconds of a core in double precision, by which sums without a tree are preferred: measured for 20,000 and
    60,000 points in a cube, on a sphere and in clusters of 3 to 64 wavelengths, within a factor of three.

    direct: of a pair of points without a tree; near: in neighbouring leaves. direction: of a direction of a pair of
    boxes; term: of a term of the series of a translation in a direction; searched: of a direction of levels whose
    degrees are searched for. equivalent: of a pair of equivalent sources of two boxes.
    """

    direct: float = 1.7
    near: float = 1.2
    direction: float = 1.2
    term: float = 0.4
    searched: float = 5e4
    equivalent: float = 0.5


RULES, NANOSECONDS = SumRules(), SumWork()


def helmholtz_sums(
    points: ArrayLike,
    charges: ArrayLike | None,
    wavenumber: complex,
    dipoles: ArrayLike | None = None,
    *,
    targets: ArrayLike | None = None,
    gradient: bool = False,
    rtol: float = 1e-4,
    backend: str = "numba",
) -> PointSums:
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
    waves do not hold rtol, do not fit into memory or take longer, by a count of their work, up to 3e10 pairs of points
    are summed directly, which `info` says; RuntimeError or MemoryError for more. Raises ValueError for other shapes
    and for numbers that are not finite.

    backend: "numba", or a device with double precision, "cuda", "cuda:0" or "opencl", for sums, checked ones, too; the
    octree and tables are the processor's. Sums agree with its own to 2e-12 for small k r (the processor's phases are
    exact to 5e-14 k r), and to 1e-5 where they are in single precision. ValueError for several.
    """
    started, wanted = time.perf_counter(), rtol_of(rtol, "double")
    execution = Execution.of(backend, "double")
    k = with_real_part(complex(helmholtz(wavenumber, "sum over points").wavenumber))
    given = Arguments.of(points, charges, dipoles, targets, gradient, real=False)
    if given.pairs > RULES.few:
        try:
            with one_thread:  # matrices are small
                return given.result(*_fast(given, k, wanted, started, execution))
        except (MemoryError, RuntimeError):
            if given.pairs > RULES.direct:
                raise
    found = _direct(given, k, execution, given.at, np.float64)
    seconds = time.perf_counter() - started
    return given.result(found, SumsInfo.direct(wanted, given.kinds.gradient, seconds, execution.name))


def _direct(given: Arguments, k: complex, execution: Execution, targets: Array, real: Any) -> NDArray[np.complex128]:
    """(m, columns, 1 or 4) sums at targets (m, 3) without a tree."""
    if not execution.devices or not (len(targets) and len(given.sources)):
        return direct_sums(given.sources, targets, given.numbers, k, given.kinds, real)
    unit = min(1 / abs(k), Cube.around(given.sources, targets).edge)
    sums = DeviceSums(execution.devices[0], given.sources, None, with_real_part(k), given.kinds)
    tiny = TINY[real == np.float32] * unit**2
    return np.asarray(sums.direct(targets, given.numbers, real, tiny) / (4 * np.pi))


class _Sums(NamedTuple):
    """Sums of an attempt: their tree, fields (m, columns, 1 or 4), and the errors of these."""

    attempt: Attempt
    tree: "PointTree"
    fields: NDArray[np.complex128]
    errors: list[float]

    @staticmethod
    def of(
        given: Arguments, k: complex, rtol: float, attempt: Attempt, check: PointCheck, execution: Execution,
        allowed: float = math.inf,
    ) -> "_Sums | None":  # fmt: skip
        """The checked sums; None where plane waves cannot hold the tolerance with these leaves, or take more than the
        allowed nanoseconds of a core."""
        columns = given.numbers.shape[1]
        tree = PointTree.of(given.sources, given.targets, k, rtol, given.kinds, attempt, columns, allowed)
        if tree is None:
            return None
        if execution.devices:
            fields = tree.product_on(execution.devices[0], given.sources, given.targets, given.numbers)
        else:
            fields = tree.product(given.numbers)
        return _Sums(attempt, tree, fields, check.errors(fields))

    def info(self, rtol: float, checked: int, gradient: bool, seconds: float, backend: str) -> SumsInfo:
        """The record of these sums; checked: number of checked targets; backend: where they were computed."""
        far = self.tree.far
        levels, low = (far.traversal.levels, far.low) if far else ([], None)
        return SumsInfo(
            "mlfmm", rtol, self.errors[0], self.errors[1] if gradient else None, seconds, checked, levels=len(levels),
            degree=max((each.full.degree for each in levels), default=0), nbytes=far.nbytes if far else 0,
            low_levels=len(low.levels) if low else 0, edge_points=low.cubes.p if low else 0, backend=backend,
        )  # fmt: skip


def _fast(
    given: Arguments, k: complex, rtol: float, started: float, execution: Execution
) -> tuple[NDArray[np.complex128], SumsInfo]:
    """The first sums that hold the tolerance: smaller shares of it with leaves of one size, then larger leaves. Raises
    ToleranceError where there are none, MemoryError where plane waves do not fit."""
    # random targets whose sums are computed directly, too: with 13 million points about, 64 to 1,024
    count = int(np.clip(1.3e7 / max(1, len(given.sources)), ROWS, 1024))
    rounding = abs(k) * Cube.around(given.sources, given.at).edge * float(np.finfo(np.float32).eps)
    real = np.float32 if rtol >= SINGLE and rounding <= RULES.rounded * rtol else np.float64

    def direct(targets: Array) -> NDArray[np.complex128]:
        return _direct(given, k, execution, targets, real)

    check = PointCheck.of(
        given, direct, count, (RULES.cancelled, RULES.cancelled), ACCEPT_WAVE_SUMS.wished * rtol, abs(k)
    )

    # what direct sums take, where these are possible, and the work of the attempts so far
    pairs = float(given.pairs) if given.pairs <= RULES.direct else math.inf
    budget, spent = NANOSECONDS.direct * pairs * given.numbers.shape[1], 0.0
    tried = WORK.tried[0 if rtol >= SINGLE else 1 if rtol >= FINE else 2]

    def made(attempt: Attempt) -> _Sums | None:
        nonlocal spent
        if spent > budget:
            return None
        sums = _Sums.of(given, k, rtol, attempt, check, execution, budget / tried)
        spent += sums.tree.work if sums else 0.0
        return sums

    last = dict[float, tuple[float, float]]()  # share and error of the last sums, by the edges of leaves

    def better(sums: _Sums, error: float) -> _Sums | None:
        edge, share, slope = sums.attempt.edge, sums.attempt.share, RULES.slope
        if edge in last:
            slope = math.log(last[edge][1] / error) / math.log(last[edge][0] / share)
            if slope < RULES.stagnant and error > rtol:
                return None
        last[edge] = share, error
        factor = (ACCEPT_WAVE_SUMS.aimed * rtol / error) ** (1 / float(np.clip(slope, RULES.stagnant, 1.0)))
        return made(sums.attempt._replace(share=float(np.clip(factor, *RULES.tighter)) * share))

    _, sums, _ = first_that_holds(
        (attempt._replace(share=_first(rtol)) for attempt in attempts(rtol)),
        prepare=made,
        error_of=lambda sums: max(sums.errors),
        rtol=rtol,
        accept=ACCEPT_WAVE_SUMS,
        refusal=lambda error: (
            f"multilevel fast multipole sums have an error of {error:.1e} at {count} random targets, and "
            f"rtol={rtol:g} was requested: increase rtol, or sum fewer targets at a time, which is then done directly"
        ),
        better=better,
    )
    seconds = time.perf_counter() - started
    return sums.fields, sums.info(rtol, count, given.kinds.gradient, seconds, execution.name)


def _first(rtol: float) -> float:
    """Share of a tolerance that is tried first: in double precision errors of levels add up."""
    return 1.0 if rtol >= SINGLE else RULES.first


def potential_sums(
    points: Array, charges: Any, dipoles: Any, wavenumber: complex, *, targets: Array, gradient: bool, rtol: float
) -> NDArray[np.complex128]:
    """Potentials (m, c, 1), or gradients (m, c, 3), of complex charges (n, c) or dipoles (n, c, 3), or both; in double
    precision, as targets may be close to points."""
    rtol = min(rtol_of(rtol, "double"), 0.99 * SINGLE)
    found = helmholtz_sums(points, charges, wavenumber, dipoles, targets=targets, gradient=gradient, rtol=rtol)
    return found.potential[..., None] if found.gradient is None else found.gradient


def oscillates(green: RadialGreen) -> bool:
    """Whether it is exp(i k r) / (4 pi r) with Re k >= 0, k not 0."""
    return isinstance(green, Helmholtz) and green.wavenumber != 0 and complex(green.wavenumber).real >= 0


LAYERS = FastSums("mlfmm", "Helmholtz's equation", oscillates, potential_sums, 2e10)
"""For potentials at points."""


def direct_sums(
    sources: Array, targets: Array, numbers: NDArray[Any], k: complex, kinds: Kinds, real: Any = np.float64
) -> NDArray[np.complex128]:
    """(m, columns, 1 or 4) sums without a tree."""
    tree = octree(sources, targets, max(len(sources), len(targets), 1))
    return PointTree.on(tree, sources, targets, with_real_part(k), kinds, np.dtype(real)).product(numbers)


def far_work(sampled: SampledLevels, k: complex, rtol: float, least: float, columns: int) -> float:
    """Nanoseconds of a core for the far field of sums, with likely degrees; least: of edges with plane waves, in m."""
    total, places = 0.0, Cubes(likely_points(rtol)).size
    most = LIMITS.searched(rtol, once=True)
    for edge, pairs in zip(sampled.edges.tolist(), sampled.pairs, strict=True):
        if not len(pairs.source) or rtol * math.exp(min(k.imag * edge, 700.0)) >= 1:
            continue  # no boxes, or waves that have decayed between them
        if edge < least:
            total += NANOSECONDS.equivalent * columns * len(pairs.source) * places**2
            continue
        degree = guess(abs(k) * math.sqrt(3) * edge, rtol)
        directions = float(Grid.of(degree).count)
        total += directions * NANOSECONDS.direction * columns * len(pairs.source)
        total += directions * (NANOSECONDS.term * degree * len(pairs.used) + NANOSECONDS.searched * (degree <= most))
    return total


@dataclass(frozen=True, eq=False)
class PointTree:
    """A tree of points, and products with charges there. far: None where all leaves are neighbours; work: of a set-up
    and its product, in nanoseconds of a core, 0 where it was not counted."""

    k: complex
    tree: Octree
    lists: Lists
    far: Far | None
    sources: Points
    targets: Points
    kinds: Kinds
    real: Any
    work: float = 0.0

    @staticmethod
    def of(
        sources: Array, targets: Array | None, k: complex, rtol: float, kinds: Kinds, attempt: Attempt,
        columns: int = 1, allowed: float = math.inf,
    ) -> "PointTree | None":  # fmt: skip
        """The sums with these leaves, None where plane waves cannot hold the tolerance with them, or where so many
        columns take more than the allowed nanoseconds of a core."""
        cube = Cube.around(sources) if targets is None else Cube.around(sources, targets)
        least = shortest(k, attempt.edge)
        depth = max(0, math.ceil(math.log2(cube.edge / least))) if math.isfinite(least) else 0
        if depth:
            cube = cube.enlarged(max(1.0, least * 2.0**depth / cube.edge))
        real = attempt.real
        if not depth and rtol >= RULES.low_single and attempt.share >= _first(rtol):
            real = np.dtype(np.float32)
        trees = (RULES.leaf, min(depth, DEEPEST)), (RULES.low_mixed if depth else RULES.low, DEEPEST)
        little = RULES.little[real == np.float32]
        every = len(sources) * len(sources if targets is None else targets)
        for most, deepest in trees if depth or every <= little else trees[1:]:
            limit = np.full(1, deepest, np.int8)
            limits = limit.repeat(len(sources)), limit.repeat(len(sources if targets is None else targets))
            tree = octree(sources, targets, most, limits, cube)
            found = PointTree.on(tree, sources, targets, k, kinds, attempt.real)
            full = (np.diff(found.sources.starts) ** 2).sum() > RULES.full * len(sources)
            if found.near_pairs <= little or (depth and not full):
                break
        if not len(found.lists.far.source):
            return found
        ends = found.sources, found.targets
        own = ends[0]._replace(local=ends[0].local.astype(real))
        sides = own, own if targets is None else ends[1]._replace(local=ends[1].local.astype(real))
        derivatives = kinds.gradient, kinds.dipoles
        sampled = SampledLevels(tree, found.lists, *sides)
        work = columns * NANOSECONDS.near * found.near_pairs
        work += far_work(sampled, k, attempt.share * rtol, 0.99 * least, columns)
        if work > allowed:
            return None
        waves = find_degrees(sampled, k, attempt.share * rtol, real, derivatives, 0.99 * least, once=True)
        if waves is None:
            return None
        traversal, low = waves.levels(tree, found.lists, k, real)
        out = ("value",) * kinds.charges + ("gradient",) * kinds.dipoles
        into = ("value", "gradient")[: 1 + kinds.gradient]
        far = Far(k, tree, found.lists, traversal, *sides, out, into, low)
        return PointTree(k, tree, found.lists, far, *ends, kinds, attempt.real, work)

    @staticmethod
    def on(tree: Octree, sources: Array, targets: Array | None, k: complex, kinds: Kinds, real: Any) -> "PointTree":
        """The sums of neighbouring leaves alone."""
        lists = lists_of(tree)
        centres = centres_of(tree)[lists.leaves]

        def side(points: Array, order: Any, runs: Any) -> Points:
            return Points.of(points[order], np.append(runs[lists.leaves, 0], len(points)), centres, float)

        own = side(sources, tree.source_order, tree.sources)
        other = own if targets is None else side(targets, tree.target_order, tree.targets)
        return PointTree(k, tree, lists, None, own, other, kinds, real)

    def product(self, numbers: NDArray[Any]) -> NDArray[np.complex128]:
        """(m, columns, 1 or 4) potentials and gradients of charges and dipoles (n, columns, 1, 3 or 4), in the order of
        the points."""
        given = numbers[self.tree.source_order]
        out = np.stack([self._near(given[:, n]) for n in range(given.shape[1])], axis=1) / (4 * np.pi)
        for n in range(0, given.shape[1] if self.far is not None else 0, RULES.together):
            assert self.far is not None
            out[:, n : n + RULES.together] += far_product(self.far, given[:, n : n + RULES.together])
        result = np.empty(out.shape, complex)
        result[self.tree.target_order] = out
        return result

    def product_on(
        self, device: Device, sources: Array, targets: Array | None, numbers: NDArray[Any]
    ) -> NDArray[np.complex128]:
        """The `product` on a device, of the points of this tree."""
        given, ends = numbers[self.tree.source_order], (self.sources.starts, self.targets.starts)
        at = None if targets is None else targets[self.tree.target_order]
        sums = DeviceSums(device, sources[self.tree.source_order], at, self.k, self.kinds)
        tiny = TINY[self.real == np.float32] * self._unit**2
        out = sums.near(self.lists, ends, given, self.real, tiny) / (4 * np.pi)
        if self.far is not None:
            far = DevicePointFar(device, self.far, min(RULES.together, given.shape[1]))
            for n in range(0, given.shape[1], RULES.together):
                out[:, n : n + RULES.together] += far.product(given[:, n : n + RULES.together])
        result = np.empty(out.shape, complex)
        result[self.tree.target_order] = out
        return result

    @property
    def near_pairs(self) -> float:
        """Pairs of points in neighbouring leaves."""
        return float(self.lists.near_sum(np.diff(self.targets.starts), np.diff(self.sources.starts)))

    @property
    def _unit(self) -> float:
        """Unit of distances of points that coincide: a wavelength over 2 pi, or the edge of the smallest leaf."""
        return min(1 / abs(self.k), self.tree.cube.edge * 0.5 ** float(self.tree.level[-1]))

    def _near(self, numbers: NDArray[Any]) -> NDArray[Any]:
        """The sums over neighbouring leaves, times 4 pi."""
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
        bounds = np.linspace(0, len(lists.leaves), 2 * thread_count() + 1).astype(np.int64)
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
