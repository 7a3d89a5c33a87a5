"""Sources and targets in leaves of an octree, and sums of charges and dipoles over them, by all passes or directly."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.backends.threads import in_parts
from calderon.backends.vectors import aligned, width
from calderon.fmm.orders import Promise
from calderon.fmm.passes import Translations, multiply
from calderon.fmm.point_expansions import basis_moments, inverse_products, value_kernel
from calderon.fmm.tables import Tables, tables
from calderon.products.direct_sums import Kinds, direct_kernel, in_two, padded, scaled_near
from calderon.products.lists import Lists, lists_of
from calderon.products.octree import Octree, octree

Array = NDArray[np.float64]


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
        self._p2m(numbers, moments)
        self.translations.m2m(moments)
        self.translations.m2l(moments, local)
        self.translations.l2l(local)
        return self._l2p(local)

    def _p2m(self, numbers: Array, moments: NDArray[Any]) -> None:
        """Moments of all leaves: in the basis, then of the combinations."""
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
