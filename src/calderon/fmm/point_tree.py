"""Sources and targets in leaves of an octree, and sums of charges and dipoles over them, by all passes or directly."""

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.backends.numba import kernel
from calderon.backends.vectors import aligned, jitable, lanes, load, number, store, where_less, width, zero
from calderon.fmm.lists import Lists, lists_of
from calderon.fmm.octree import Octree, octree
from calderon.fmm.orders import Promise
from calderon.fmm.point_expansions import inverse_products, moment_kernel, padded, value_kernel
from calderon.fmm.tables import Tables, tables
from calderon.fmm.translations import Translations, in_parts, multiply
from calderon.greens.elementary import inverse_square_root, inverse_square_root_multiple, root_factor

Array = NDArray[np.float64]
BLOCK = 256
"""Targets of a task of direct sums."""
TINY = 1e-30
"""Squared distance, in edges of the root, below which points are taken for one: they add nothing."""


class Kinds(NamedTuple):
    """Whether sources have charges and dipoles, and whether gradients are wanted."""

    charges: bool
    dipoles: bool
    gradient: bool

    @property
    def rows(self) -> slice:
        """Of `Tables.expand`, those of the numbers of a source."""
        return slice(0 if self.charges else 1, 4 if self.dipoles else 1)

    @property
    def numbers(self) -> int:
        """Numbers of a source."""
        return self.charges + 3 * self.dipoles

    @property
    def fields(self) -> int:
        """Numbers of a target."""
        return 4 if self.gradient else 1


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
        """(fields, m) potentials, and gradients if so, at the targets, times 4 pi edge (edge^2), from charges and
        dipoles per edge (numbers, n) of the sources."""
        given = numbers[:, self.sources.order]
        result = self._near(given)
        if len(self.lists.far.source):
            result += self._far(given)
        out = np.empty((self.kinds.fields, len(self.targets.order)))
        out[:, self.targets.order] = result
        return out

    def _near(self, numbers: Array) -> Array:
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
        moments, local = self.translations.empty(), self.translations.empty()
        self._moments(numbers, moments)
        self.translations.upward(moments)
        self.translations.across(moments, local)
        self.translations.downward(local)
        return self._values(local)

    def _moments(self, numbers: Array, moments: NDArray[Any]) -> None:
        """Moments of all leaves: in the basis, then of the combinations."""
        table, side, kinds = self.table, self.sources, self.kinds
        real, leaves, pitch = side.far.dtype, self.lists.leaves, table.functions
        charges = padded(numbers, real)
        if kinds.dipoles:  # derivatives by places in edges of the leaf
            charges[-3:, : len(side.order)] /= self.tree.edge[leaves][side.leaf]
        matrix = np.ascontiguousarray(table.expand[kinds.rows]).ravel()
        inverse, lanes, size = inverse_products(table.order.p, real), width(real), kinds.numbers * pitch
        run, (x, y, z) = moment_kernel(kinds.numbers), side.far

        def work(low: int, high: int) -> None:
            found = aligned((high - low) * size, real)
            room = aligned((4 * pitch + 4) * lanes, real)
            run(x, y, z, charges.ravel(), charges.shape[1], side.starts[low : high + 1], table.order.p, inverse, pitch,
                room, found, 0, high - low)  # fmt: skip
            multiply(matrix, table.rank // lanes, size, found, np.arange(high - low), size, moments,
                     leaves[low:high], table.rank, 0, high - low)  # fmt: skip

        in_parts(work, len(leaves))

    def _values(self, local: NDArray[Any]) -> Array:
        """Fields of the local expansions at the targets."""
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


def scaled_near(out: NDArray[Any], kinds: Kinds) -> Array:
    """What `direct_kernel` gives, in double precision, with the factor that it leaves out."""
    result = out.astype(float)
    plain = kinds == Kinds(True, False, False)
    return result * root_factor(8 * out.dtype.itemsize) if plain else result


def direct_sums(sources: Array) -> Callable[[Array, Array, Kinds], Array]:
    """Sums (fields, m) of numbers at sources, at targets (m, 3), as `PointTree.sums` in units of 1, without a tree."""
    real, origin = np.dtype(np.float64), sources.mean(axis=0)
    places = padded((sources - origin).T, real)

    def sums(targets: Array, numbers: Array, kinds: Kinds) -> Array:
        given, wanted = np.concatenate([places, padded(numbers, real)]), padded((targets - origin).T, real)
        count, across = math.ceil(len(targets) / BLOCK), wanted.shape[1]
        starts = np.minimum(np.arange(count + 1) * BLOCK, len(targets))
        out = np.zeros((kinds.fields, across))
        arguments = (wanted.ravel(), across, given.ravel(), given.shape[1], starts, np.array([0, len(sources)]),
                     np.arange(count + 1), np.zeros(count, np.int64), np.zeros((count, 3)), True)  # fmt: skip
        run = direct_kernel(*kinds)
        in_parts(lambda low, high: run(*arguments, aligned(4 * width(real), real), out.ravel(), low, high), count)
        return scaled_near(out[:, : len(targets)], kinds)

    return sums


def in_two(places: Array, near: Any) -> Array:
    """Rows (3, n), in single precision with what that leaves out: points may be closer together than its rounding."""
    return np.concatenate([places, places - places.astype(near)]) if near == np.float32 else places


@functools.lru_cache(maxsize=2)
def places_of(split: bool) -> tuple[Callable[..., Any], Callable[..., Any], Callable[..., Any]]:
    """What takes a vector of places from rows (3, `across`), (6, `across`) if split; what moves these places by the
    difference of two centres; and what gives their distances to a source, whose rest is in the rows from `rest` on."""

    @jitable
    def taken(rows, s, across):  # type: ignore[no-untyped-def]
        x, y, z = load(rows, s), load(rows, s + across), load(rows, s + 2 * across)
        if split:
            return x, y, z, load(rows, s + 3 * across), load(rows, s + 4 * across), load(rows, s + 5 * across)
        return x, y, z, x, y, z

    @jitable
    def shifted(x, x1, shift, like):  # type: ignore[no-untyped-def]
        d = like.dtype.type(shift)
        whole = x + d
        if not split:
            return whole, x1
        part = whole - x
        return whole, x1 + ((x - (whole - part)) + (d - part)) + like.dtype.type(shift - d)

    @jitable
    def moved(place, to, centre, like):  # type: ignore[no-untyped-def]
        x, x1 = shifted(place[0], place[3], to[0] - centre[0], like)
        y, y1 = shifted(place[1], place[4], to[1] - centre[1], like)
        z, z1 = shifted(place[2], place[5], to[2] - centre[2], like)
        return x, y, z, x1, y1, z1

    @jitable
    def distances(place, sources, s, apart, rest):  # type: ignore[no-untyped-def]
        x, y, z, x1, y1, z1 = place
        ex, ey, ez = x - number(sources, s), y - number(sources, s + apart), z - number(sources, s + 2 * apart)
        if split:
            at = s + rest * apart
            ex = ex + (x1 - number(sources, at))
            ey = ey + (y1 - number(sources, at + apart))
            ez = ez + (z1 - number(sources, at + 2 * apart))
        return ex, ey, ez

    return taken, moved, distances


def interaction(charges: bool, dipoles: bool, gradient: bool, split: bool) -> Callable[..., Any]:
    """What adds the fields of one source at a vector of targets to t; once: they may coincide. split: places are sums
    of two numbers, see `in_two`."""
    plain = charges and not dipoles and not gradient
    rest, distances = 3 + charges + 3 * dipoles, places_of(split)[2]

    @jitable
    def interact(t, place, sources, s, apart, once):  # type: ignore[no-untyped-def]
        ex, ey, ez = distances(place, sources, s, apart, rest)
        r2 = ex * ex + ey * ey + ez * ez
        square = where_less(r2, TINY, 1.0, r2) if once else r2
        u = inverse_square_root_multiple(square) if plain else inverse_square_root(square)
        if once:
            u = where_less(r2, TINY, 0.0, u)
        t0, t1, t2, t3 = t
        if charges:
            v = u * number(sources, s + 3 * apart)
            t0 = t0 + v
            if gradient:
                v = v * (u * u)
                t1, t2, t3 = t1 - v * ex, t2 - v * ey, t3 - v * ez
        if dipoles:
            at = s + (4 if charges else 3) * apart
            dx, dy, dz = number(sources, at), number(sources, at + apart), number(sources, at + 2 * apart)
            cube = u * (u * u)
            v = (ex * dx + ey * dy + ez * dz) * cube
            t0 = t0 + v
            if gradient:
                v = v * (u * u) * 3.0
                t1, t2, t3 = t1 + (cube * dx - v * ex), t2 + (cube * dy - v * ey), t3 + (cube * dz - v * ez)
        return t0, t1, t2, t3

    return interact


@functools.lru_cache(maxsize=16)
def direct_kernel(charges: bool, dipoles: bool, gradient: bool, split: bool = False) -> Callable[..., None]:
    """Potentials, and gradients if so, of charges q and dipoles d at distances e = x - y, times 4 pi:
    q / r + d.e / r^3, and -q e / r^3 + d / r^3 - 3 (d.e) e / r^5. Of charges alone the potential is divided by
    `root_factor`. split: three more rows of targets and of sources hold the rest of places."""
    interact = interaction(charges, dipoles, gradient, split)
    taken, moved, _ = places_of(split)

    @kernel
    def sums(  # type: ignore[no-untyped-def]
        targets, across, sources, apart, target_starts, source_starts, near_start, near, centres, same, room, out, low,
        high,
    ):  # fmt: skip
        """out[f across + j] += field f at the points j of the target leaves low .. high. targets: rows x, y, z, of
        `across` numbers each, sources: the same of `apart`, with those of charges and dipoles. Places are relative to
        the centres (leaves, 3) of their leaves. same: whether points of different leaves may coincide."""
        width = lanes(room)
        for i in range(low, high):
            for s in range(target_starts[i], target_starts[i + 1], width):
                own = taken(targets, s, across)
                t = zero(room), zero(room), zero(room), zero(room)
                for e in range(near_start[i], near_start[i + 1]):
                    c = near[e]
                    place = moved(own, centres[i], centres[c], room)
                    if c == i or same:
                        for j in range(source_starts[c], source_starts[c + 1]):
                            t = interact(t, place, sources, j, apart, True)
                    else:
                        for j in range(source_starts[c], source_starts[c + 1]):
                            t = interact(t, place, sources, j, apart, False)
                for f in range(4 if gradient else 1):
                    store(room, f * width, t[f])
                for w in range(min(width, target_starts[i + 1] - s)):
                    for f in range(4 if gradient else 1):
                        out[f * across + s + w] += room[f * width + w]

    return sums
