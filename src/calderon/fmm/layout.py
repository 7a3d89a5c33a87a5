"""The functions of the two sides of operators, cut at the leaves of one tree of their triangles."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.backends import run_tasks
from calderon.backends.numba import kernel
from calderon.fmm.orders import Promise
from calderon.fmm.tables import SLACK, Order
from calderon.galerkin.bilinear_form import BilinearForm
from calderon.galerkin.rows.special_pairs import FoundPairs
from calderon.mesh import TriangleMesh
from calderon.products.lists import Lists, lists_of, pair_counts
from calderon.products.octree import DEEPEST, Cube, Octree, octree
from calderon.spaces import NodalVectorSpace, Space
from calderon.spaces.pieces import Pieces

SAMPLE = 8192
"""Triangles by which trees are compared, at least."""
SHARE = 8
"""A triangle of the sample stands for so many at most: leaves of 40 then have 5. Trees of twelve surfaces that were
chosen by every eighth triangle in the order of `locality` are those chosen by a random one of four; one of them takes
5 % more than that chosen by all triangles, all others up to 1 % more. Every 16th, and a random one of 8, lead to 4 and
5 % more on others, too."""


@dataclass(frozen=True, eq=False)
class Elements:
    """The triangles of some spaces, each once: meshes, and of each mesh the numbers of its triangles, increasing, and
    the place of the first of them; centres (n, 3) of the boxes around triangles; least (n,): the smallest edge of a
    leaf for each."""

    meshes: list[TriangleMesh]
    triangles: list[NDArray[np.int64]]
    first: list[int]
    centres: NDArray[np.float64]
    least: NDArray[np.float64]

    @staticmethod
    def of(spaces: Sequence[Space], order: Order, near: float) -> "Elements":
        """Triangles lie outside of their leaf by the margin of an order at most, and those of separated leaves are not
        near for a quadrature with that option."""
        meshes = list({id(each.mesh): each.mesh for each in spaces}.values())
        held = [np.zeros(mesh.number_of_triangles, bool) for mesh in meshes]
        for own, mesh in zip(held, meshes, strict=True):
            for space in spaces:
                if space.mesh is mesh:
                    own[space.triangles] = True
        triangles = [np.flatnonzero(own) for own in held]
        first = [int(each) for each in np.cumsum([0, *(len(each) for each in triangles)])[:-1]]
        given = list(zip(meshes, triangles, strict=True))
        centres, least = np.empty((sum(map(len, triangles)), 3)), np.empty(sum(map(len, triangles)))
        outside = 2 * order.margin
        for place, (mesh, each) in zip(first, given, strict=True):
            if not mesh.is_flat:
                mesh.flat_triangles(each, "boxes of triangles")  # says that there is none
            factors = SLACK / outside, near / (order.apart - outside)
            put_boxes(mesh.vertices, mesh.triangles, each, mesh.diameters, *factors, centres[place:], least[place:])
        return Elements(meshes, triangles, first, centres, least)

    def sample(self, share: int) -> "Elements":
        """One of `share` triangles, in the order in which neighbours come together, as far as trees read them; all
        for 1."""
        if share == 1:
            return self
        orders = [mesh.locality if len(own) == mesh.number_of_triangles else mesh.locality[np.isin(mesh.locality, own)]
                  for mesh, own in zip(self.meshes, self.triangles, strict=True)]  # fmt: skip
        given = zip(self.first, self.triangles, orders, strict=True)
        chosen = np.concatenate([first + np.searchsorted(own, each[share // 2 :: share]) for first, own, each in given])
        return replace(self, centres=self.centres.take(chosen, axis=0), least=self.least.take(chosen))

    def is_of(self, other: "Elements") -> bool:
        """Whether both sides have the same triangles."""
        same = [id(each) for each in self.meshes] == [id(each) for each in other.meshes]
        return same and all(map(np.array_equal, self.triangles, other.triangles))

    def places(self, space: Space) -> NDArray[np.int64]:
        """The place of each triangle of a space."""
        number = next(n for n, mesh in enumerate(self.meshes) if mesh is space.mesh)
        if np.array_equal(self.triangles[number], space.triangles):
            return np.arange(self.first[number], self.first[number] + len(space.triangles))
        return self.first[number] + np.searchsorted(self.triangles[number], space.triangles)


@kernel
def put_boxes(vertices, triangles, chosen, diameters, wide, far, centres, least):
    """Fill centres (n, 3) and least (n,) of `Elements` for the chosen (n,) of the triangles (T, 3) between vertices
    (V, 3), which have diameters (T,); wide, far: factors of the extents of boxes, and of diameters."""
    for n in range(len(chosen)):
        one, two, three = triangles[chosen[n]]
        extent = 0.0
        for c in range(3):
            x, y, z = vertices[one, c], vertices[two, c], vertices[three, c]
            low, high = min(min(x, y), z), max(max(x, y), z)
            centres[n, c], extent = (low + high) / 2, max(extent, high - low)
        least[n] = max(wide * extent, far * diameters[chosen[n]])


@kernel
def put_deepest(least, root, levels):
    """Fill levels (n,) with the last one, DEEPEST at most, at which boxes have an edge of `least` (n,) or more; root:
    the edge of the first one."""
    for n in range(len(least)):
        levels[n] = min(max(math.frexp(root / least[n])[1] - 1, 0), DEEPEST)


@dataclass(frozen=True, eq=False)
class Side:
    """Triangles of one side, and the number of the leaf that each is in."""

    elements: Elements
    leaf: NDArray[np.int64]
    leaves: int
    _kept: dict[Any, Pieces] = field(default_factory=dict)

    @staticmethod
    def of(elements: Elements, tree: Octree, lists: Lists, order: NDArray[np.int64], runs: NDArray[np.int64]) -> "Side":
        """order, runs: of the tree, for the points of this side."""
        leaf = np.empty(len(order), np.int64)
        leaf[order] = np.repeat(np.arange(len(lists.leaves)), np.diff(runs[lists.leaves])[:, 0])
        return Side(elements, leaf, len(lists.leaves))

    @cached_property
    def counts(self) -> NDArray[np.int64]:
        """(leaves,) triangles of each leaf."""
        return np.bincount(self.leaf, minlength=self.leaves)

    def pieces(self, space: Space | NodalVectorSpace) -> Pieces:
        """The functions of a space, cut; the same object for the same space."""
        if space not in self._kept:
            if isinstance(space, NodalVectorSpace):
                self._kept[space] = self.pieces(space.scalar).with_components(space.components)
            else:
                self._kept[space] = Pieces.of(space, self.leaf[self.elements.places(space)], self.leaves)
        return self._kept[space]

    def forget(self) -> None:
        """Drop tables of the spaces of pieces, which are made anew when they are needed."""
        for each in self._kept.values():
            for name in ("dofs", "carriers"):
                if isinstance(getattr(type(each.space), name, None), cached_property):
                    vars(each.space).pop(name, None)


@dataclass(frozen=True, eq=False)
class Layout:
    """A tree of the triangles of both sides; one side where they are the same. order: one that it is made for.
    several: whether several forms need near pairs; then searches holds those of parts of the triangles."""

    order: Order
    tree: Octree
    lists: Lists
    rows: Side
    columns: Side
    several: bool = False
    searches: dict[tuple[Any, ...], FoundPairs] = field(default_factory=dict)

    @staticmethod
    def of(
        tests: Sequence[Space],
        trials: Sequence[Space],
        promise: Promise,
        near: float,
        worth: float,
        several: bool = False,
    ) -> "Layout":
        """Leaves are not divided where triangles would lie further outside than `promise.order.margin`, nor where pairs
        with a raised degree (closer than `near` diameters) would not be neighbours. worth: of a translation in a score
        of products over its rank, in pairs of triangles of neighbouring leaves."""
        order = promise.order
        trial = Elements.of(trials, order, near)
        test = trial if set(map(id, tests)) == set(map(id, trials)) else Elements.of(tests, order, near)
        same = trial.is_of(test)

        def divided(cube: Cube, sides: tuple[Elements, Elements], share: int) -> Octree:
            one, two = sides
            each = [one] if same else [one, two]
            deepest = [np.empty(len(own.least), np.int8) for own in each]
            for own, levels in zip(each, deepest, strict=True):
                put_deepest(own.least, cube.edge, levels)
            both = deepest[0], deepest[-1]
            return octree(one.centres, None if same else two.centres, promise.leaf // share, both, cube)

        # trees of a sample, each triangle of which stands for several, tell which cube is best
        cube = Cube.around(trial.centres, test.centres)
        share = min(SHARE, max(1, min(len(trial.centres), len(test.centres)) // SAMPLE))
        sample = trial.sample(share), test.sample(share)

        def cheapest(factors: Sequence[float]) -> tuple[float, float, Octree]:
            """The least cost of set-up and products, in pairs of triangles of neighbouring leaves, and its tree."""
            found = dict[int, tuple[float, float, Octree]]()

            def compare(k: int) -> None:
                tree = divided(cube.enlarged(factors[k]), sample, share)
                near, far = pair_counts(tree, order.apart)
                found[k] = share**2 * near + worth * order.r * int(far.sum()), factors[k], tree

            run_tasks(compare, len(factors))
            return min(found.values(), key=lambda each: each[:2])

        # edges of the root by the least one, with which leaves of all sizes are possible, then around the best of these
        best = cheapest([1.0, 1.15, 1.3, 1.5, 1.75])
        others = [each * best[2].cube.edge / cube.edge for each in (0.94, 0.97, 1.03, 1.06)]
        best = min([best, cheapest([each for each in others if each > 1])], key=lambda each: each[0])
        # lists of the best one alone
        tree = best[2] if share == 1 else divided(best[2].cube, (trial, test), 1)
        lists = lists_of(tree, order.apart)
        columns = Side.of(trial, tree, lists, tree.source_order, tree.sources)
        rows = columns if same else Side.of(test, tree, lists, tree.target_order, tree.targets)
        return Layout(order, tree, lists, rows, columns, several)

    def serves(self, order: Order) -> bool:
        """Whether products of an order may use this tree."""
        return self.order.apart == order.apart and self.order.margin <= order.margin

    @property
    def centres(self) -> NDArray[np.float64]:
        """(leaves, 3) vectors from the centre of the tree to the centres of leaves, in edges of the root."""
        return np.asarray(self.tree.centre[self.lists.leaves] - 0.5)

    def boxes_with(self, pieces: Pieces) -> NDArray[np.bool_]:
        """(boxes,) which boxes have some of the pieces."""
        tree, found = self.tree, np.zeros(len(self.tree.level), bool)
        found[self.lists.leaves] = np.diff(pieces.starts) > 0
        for low, high in reversed(tree.runs_of_levels()[1:]):
            found[tree.parent[low:high][found[low:high]]] = True
        return found

    @property
    def mean_edge(self) -> float:
        """The edge of leaves on average, in m."""
        return float(self.tree.edge[self.lists.leaves].mean()) * self.tree.cube.edge

    def forget(self) -> None:
        """Drop what near blocks alone need."""
        self.searches.clear()
        for side in (self.rows, self.columns):
            side.forget()

    def near_entries(self, form: BilinearForm) -> int:
        """Entries between pieces in neighbouring leaves, both halves of symmetric forms."""
        rows, columns = self.rows.pieces(form.test), self.columns.pieces(form.trial)
        return self.lists.near_sum(np.diff(rows.starts), np.diff(columns.starts))

    @property
    def near_triangles(self) -> float:
        """Pairs of triangles of neighbouring leaves."""
        return float(self.lists.near_sum(self.rows.counts, self.columns.counts))
