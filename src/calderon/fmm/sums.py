"""Sums of charges and dipoles over points, with a checked error."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.backends import Execution, require_memory
from calderon.backends.threads import in_parts
from calderon.backends.vectors import aligned, width
from calderon.fmm.device.point_sums import DeviceSums
from calderon.fmm.orders import POINTS, Promise, first_order
from calderon.fmm.passes import Translations, multiply
from calderon.fmm.point_expansions import basis_moments, inverse_products, value_kernel
from calderon.fmm.tables import Tables, tables
from calderon.greens import Laplace
from calderon.potentials.summation import FastSums
from calderon.products.attempts import first_that_holds
from calderon.products.check import ACCEPT_POINT_SUMS, ROWS
from calderon.products.direct_sums import Kinds, direct_kernel, direct_sums, in_two, padded, scaled_near
from calderon.products.lists import Lists, lists_of
from calderon.products.octree import Octree, octree
from calderon.products.point_sums import Arguments, PointCheck, PointSums, SumsInfo
from calderon.solvers.iteration import tolerance

Array = NDArray[np.float64]
FEW = 2e7
"""Pairs of points that are summed one by one: the tree would take as long."""
ADVICE = "split the targets into parts, or increase rtol"


def laplace_sums(
    points: ArrayLike,
    charges: ArrayLike | None,
    dipoles: ArrayLike | None = None,
    *,
    targets: ArrayLike | None = None,
    gradient: bool = False,
    rtol: float = 1e-6,
    backend: str = "numba",
) -> PointSums:
    """Potentials of charges q_j and dipoles d_j at points y_j (n, 3),

        u(x) = sum_j (q_j + d_j . grad_y) 1 / (4 pi |x - y_j|),

    at targets x (m, 3), or at the points themselves; points that coincide with x are left out of its sum. charges (n,),
    None for none; dipoles (n, 3). gradient: its gradients, too.

    rtol: relative error in the 2-norm over all targets, of the potential (or of a thousandth of the sum of |q| / r and
    three hundredths of that of |d| / r^2, where these are larger) and likewise of the gradient; 2e-10 and above, with
    gradients or dipoles 6e-10. Sums of many points are computed by the fast multipole method, in time proportional to
    their number. 64 random targets are then summed directly; above rtol the next higher order is used, and after that
    RuntimeError is raised.

    backend: "numba", or a device with double precision, "cuda", "cuda:0" or "opencl", which makes the octree and the
    lists, too; its sums agree with the processor's to 2e-12, and to 1e-5 where these are in single precision. Raises
    ValueError for other shapes, for numbers that are not finite and for several backends, MemoryError before there is
    no room.
    """
    started, wanted = time.perf_counter(), tolerance(rtol)
    execution = Execution.of(backend, "double")
    given = Arguments.of(points, charges, dipoles, targets, gradient, real=True)
    kinds, numbers = given.kinds, given.numbers[:, 0]
    arguments = given.sources, given.targets, numbers, kinds, ADVICE
    sums_of = DeviceSums(execution.devices[0], *arguments) if execution.devices else HostSums(*arguments)

    def direct(targets: Array) -> Array:
        return np.asarray(sums_of.direct(targets)[:, None])

    # few pairs one by one
    if given.pairs <= FEW:
        found = direct(given.at) if given.pairs else np.zeros((len(given.at), 1, kinds.fields))
        seconds = time.perf_counter() - started
        return given.result(found, SumsInfo.direct(wanted, kinds.gradient, seconds, execution.name))
    return given.result(*_fast(given, sums_of, direct, wanted, started, execution.name))


class _Attempt(NamedTuple):
    """Sums by an order of the harmonics: fields (m, 1, 1 or 4) of potentials and gradients, and their errors."""

    promise: Promise
    fields: Array
    errors: list[float]


class HostSums:
    """Sources, targets and numbers of a sum on the processor, as `DeviceSums`. levels, nbytes: of the last tree."""

    def __init__(self, sources: Array, targets: Array | None, numbers: Array, kinds: Kinds, advice: str) -> None:
        """sources (n, 3), targets (m, 3) or None for the sources, numbers (n, kinds.numbers); advice: where memory is
        short."""
        self.sources, self.targets, self.kinds, self.advice = sources, targets, kinds, advice
        self.numbers, self.levels, self.nbytes = np.array(numbers.T, order="C"), 0, 0

    def direct(self, targets: Array) -> Array:
        """(m, 1 or 4) fields at targets (m, 3), by all pairs of points."""
        return np.asarray(direct_sums(self.sources)(targets, self.numbers, self.kinds).T / (4 * np.pi))

    def sums(self, promise: Promise, single: bool) -> Array:
        """(m, 1 or 4) fields by an order of the harmonics, of potentials and gradients."""
        count, numbers = len(self.sources) + (0 if self.targets is None else len(self.targets)), self.numbers.copy()
        require_memory(promise.bytes_of_sums(count), f"the sum over {count} points", self.advice)
        tree = PointTree.of(self.sources, self.targets, promise, self.kinds, (single, single))
        edge = tree.tree.cube.edge  # places are in edges of the root
        if self.kinds.dipoles:
            numbers[-3:] /= edge
        found = tree.sums(numbers) / edge
        found[1:] /= edge
        self.levels, self.nbytes = int(tree.tree.level[-1]), tree.nbytes
        return np.asarray(found.T / (4 * np.pi))


def _fast(
    given: Arguments, sums_of: "HostSums | DeviceSums", direct: Callable[[Array], Array], wanted: float,
    started: float, backend: str,
) -> tuple[Array, SumsInfo]:  # fmt: skip
    """Fields (m, 1, 1 or 4) of the first order that holds the tolerance `wanted`, and their record.

    direct(targets): exact fields; started: when the sum began; backend: the name of where it is computed.
    """
    kinds = given.kinds
    # the first order that should hold, or higher ones, by the checked errors
    times = 6.0 if kinds.gradient and kinds.dipoles else 1.0  # errors by those of gradients of charges
    orders = first_order(POINTS, wanted, kinds.gradient or kinds.dipoles, times)
    # errors of sums below these parts of those of |q| / r and of |d| / r^2 (for gradients one power more) are compared
    # with them: what cancels further, as dipoles on a closed surface do outside, is not resolved
    check = PointCheck.of(given, direct, ROWS, (1e-3, 3e-2), wanted)
    # in single precision where potentials of charges are summed to 1e-5 or worse
    single = wanted >= 1e-5 and kinds == Kinds(True, False, False)

    def attempt(promise: Promise) -> _Attempt:
        fields = sums_of.sums(promise, single)[:, None]
        return _Attempt(promise, fields, check.errors(fields))

    _, sums, _ = first_that_holds(  # few targets may have none of the largest gradients, and so a larger error
        orders,
        prepare=attempt,
        error_of=lambda sums: max(sums.errors),
        rtol=wanted,
        accept=ACCEPT_POINT_SUMS,
        refusal=lambda error: (
            f"fast multipole sums have an error of {error:.1e} at {ROWS} random targets, and rtol={wanted:g} was "
            "requested: increase rtol, or sum fewer targets at a time, which is done directly"
        ),
    )
    info = SumsInfo(
        "fmm", wanted, sums.errors[0], sums.errors[1] if kinds.gradient else None,
        seconds=time.perf_counter() - started, checked=ROWS, levels=sums_of.levels, degree=sums.promise.order.p,
        combinations=sums.promise.order.r, nbytes=sums_of.nbytes, backend=backend,
    )  # fmt: skip
    return sums.fields, info


def potential_sums(
    points: Array, charges: Any, dipoles: Any, wavenumber: complex, *, targets: Array, gradient: bool, rtol: float
) -> NDArray[np.complex128]:
    """Potentials (m, c, 1), or gradients (m, c, 3), of complex charges (n, c) or dipoles (n, c, 3), or both."""
    given = [None if each is None else np.asarray(each, complex) for each in (charges, dipoles)]
    columns = next(each.shape[1] for each in given if each is not None)
    out = np.zeros((len(targets), columns, 3 if gradient else 1), complex)
    for column in range(columns):
        for unit in (1, 1j):
            parts = [None if each is None else (each[:, column] / unit).real for each in given]
            if any(each is not None and each.any() for each in parts):
                found = laplace_sums(points, *parts, targets=targets, gradient=gradient, rtol=rtol)
                out[:, column] += unit * (found.gradient if found.gradient is not None else found.potential[:, None])
    return out


class Side(NamedTuple):
    """Points of one side by leaves: order (n,), starts (leaves + 1,), and places (3, n + a vector) relative to the
    centres of leaves, in edges of the root for sums of near ones, in edges of the leaf for far ones. In single
    precision three rows more hold the rest of the near places."""

    order: NDArray[np.int64]
    starts: NDArray[np.int64]
    leaf: NDArray[np.int64]
    near: NDArray[Any]
    far: NDArray[Any]

    @staticmethod
    def of(tree: Octree, lists: Lists, points: Array, order: NDArray[np.int64], runs: NDArray[np.int64], near: Any,
           far: Any) -> "Side":  # fmt: skip
        """The points (n, 3) of one side, sorted by the leaves of the lists; order: that of the tree; runs (boxes, 2):
        the points of each box in it; near, far: types of numbers of near and of far sums."""
        starts = np.append(runs[lists.leaves, 0], len(points))
        leaf = np.repeat(np.arange(len(lists.leaves)), np.diff(starts))
        boxes = lists.leaves[leaf]
        places = (tree.inside(points)[order] - tree.centre[boxes]).T
        return Side(order, starts, leaf, padded(in_two(places, near), near), padded(places / tree.edge[boxes], far))


@dataclass(frozen=True, eq=False)
class PointTree:
    """Points by leaves, and what is needed for products with their charges. near, far: the types of numbers."""

    tree: Octree
    lists: Lists
    sources: Side
    targets: Side
    table: Tables
    kinds: Kinds

    @staticmethod
    def of(
        sources: Array, targets: Array | None, promise: Promise, kinds: Kinds, single: tuple[bool, bool]
    ) -> "PointTree":
        """single: whether near and far sums are computed in single precision."""
        near, far = (np.dtype(np.float32 if each else np.float64) for each in single)
        tree = octree(sources, targets, promise.leaf)
        lists = lists_of(tree)
        own = Side.of(tree, lists, sources, tree.source_order, tree.sources, near, far)
        other = own
        if targets is not None:
            other = Side.of(tree, lists, targets, tree.target_order, tree.targets, near, far)
        return PointTree(tree, lists, own, other, tables(promise.order, single[1]), kinds)

    @property
    def nbytes(self) -> int:
        """Bytes of places, lists, expansions and tables."""
        sides = {id(side): side for side in (self.sources, self.targets)}.values()
        far, tree = self.lists.far, self.tree
        arrays: list[NDArray[Any]] = [*far, self.lists.near, tree.children, tree.position, tree.sources, tree.targets]
        arrays += [each for side in sides for each in side]
        expansions = 2 * self.translations.size * self.table.numbers.itemsize
        return sum(each.nbytes for each in arrays) + expansions + self.table.nbytes

    @cached_property
    def translations(self) -> Translations:
        return Translations(self.tree, self.lists.far, self.table)

    def sums(self, numbers: Array) -> Array:
        """(fields, m) potentials times 4 pi edge, and gradients, if kinds has them, times 4 pi edge^2, at the targets,
        from charges and dipoles over the edge, (numbers, n), of the sources."""
        given = numbers[:, self.sources.order]
        result = self._near(given)
        if len(self.lists.far.source):
            result += self._far(given)
        out = np.empty((self.kinds.fields, len(self.targets.order)))
        out[:, self.targets.order] = result
        return out

    def _near(self, numbers: Array) -> Array:
        """(fields, m) sums over the points of neighbouring leaves, in the order of the tree."""
        real, lists, kinds = self.sources.near.dtype, self.lists, self.kinds
        places = self.sources.near
        sources = np.concatenate([places[:3], padded(numbers, real), places[3:]])
        targets, centres = self.targets.near, self.tree.centre[lists.leaves]
        across = targets.shape[1]
        out = np.zeros((kinds.fields, across), real)
        arguments = (targets.ravel(), across, sources.ravel(), sources.shape[1], self.targets.starts,
                     self.sources.starts, lists.near_start, lists.near, centres, False)  # fmt: skip
        run = direct_kernel(*kinds, split=len(targets) > 3)
        in_parts(lambda low, high: run(*arguments, aligned(4 * width(real), real), out.ravel(), low, high),
                 len(lists.leaves))  # fmt: skip
        return scaled_near(out[:, : len(self.targets.order)], kinds)

    def _far(self, numbers: Array) -> Array:
        """(fields, m) sums over the points of separated boxes, in the order of the tree, by all five passes."""
        moments, local = self.translations.empty(), self.translations.empty()
        self._p2m(numbers, moments)
        self.translations.m2m(moments)
        self.translations.m2l(moments, local)
        self.translations.l2l(local)
        return self._l2p(local)

    def _p2m(self, numbers: Array, moments: NDArray[Any]) -> None:
        """P2M: store the moments of all leaves, in the basis of point_expansions.py, then of its r combinations."""
        table, side, kinds = self.table, self.sources, self.kinds
        real, leaves = side.far.dtype, self.lists.leaves
        charges = padded(numbers, real)
        if kinds.dipoles:  # derivatives by places in edges of the leaf
            charges[-3:, : len(side.order)] /= self.tree.edge[leaves][side.leaf]
        matrix = np.ascontiguousarray(table.expand[kinds.rows]).ravel()
        vectors, size = table.rank // width(real), kinds.numbers * table.functions

        def work(low: int, high: int) -> None:
            found = basis_moments(side.far, charges, side.starts[low : high + 1], table.order.p).ravel()
            multiply(matrix, vectors, size, found, np.arange(high - low), size, moments, leaves[low:high], table.rank,
                     0, high - low)  # fmt: skip

        in_parts(work, len(leaves))

    def _l2p(self, local: NDArray[Any]) -> Array:
        """L2P: (fields, m) values of the local expansions, and gradients, at the targets in the order of the tree."""
        table, side, kinds, leaves = self.table, self.targets, self.kinds, self.lists.leaves
        real, pitch, fields = side.far.dtype, table.functions, kinds.fields
        lanes, inverse = width(real), inverse_products(table.order.p, real)
        matrix = aligned(table.rank * fields * pitch, real)
        matrix[:] = table.expand[:fields].transpose(2, 0, 1).ravel()
        run, (x, y, z) = value_kernel(fields), side.far
        out = np.zeros((fields, side.far.shape[1]), real)

        def work(low: int, high: int) -> None:
            size = fields * pitch
            found = aligned((high - low) * size, real)
            multiply(matrix, size // lanes, table.rank, local, leaves[low:high], table.rank, found,
                     np.arange(high - low), size, 0, high - low)  # fmt: skip
            run(x, y, z, side.starts[low : high + 1], table.order.p, inverse, pitch, found, aligned(4 * lanes, real),
                out.ravel(), out.shape[1], 0, high - low)  # fmt: skip

        in_parts(work, len(leaves))
        result = out[:, : len(side.order)].astype(float)
        if kinds.gradient:
            result[1:] /= self.tree.edge[leaves][side.leaf]
        return result


LAYERS = FastSums("fmm", "Laplace's equation", lambda green: isinstance(green, Laplace), potential_sums, 1e11)
"""For potentials at points."""
