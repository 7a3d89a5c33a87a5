"""The functions of several spaces, or of the two sides of an operator, in one tree."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.fmm.functions import Leaves
from calderon.fmm.lists import Lists, lists_of
from calderon.fmm.octree import DEEPEST, Cube, Octree, octree
from calderon.fmm.orders import Promise
from calderon.operators.boundary import IntegralOperator
from calderon.spaces.supports import support_boxes

FACTORS = 1.0, 1.15, 1.3, 1.5, 1.75
"""Edges of the root by the least one: with them, leaves of all sizes are possible."""


def least_edges(space: Any, boxes: NDArray[np.float64], margin: float, near: float) -> NDArray[np.float64]:
    """(dimension,) the least edge of a box for each function: supports, with boxes (dimension, 2, 3) around them, lie
    outside of it by `margin` of its edge at most, and those of separated boxes are not near for a quadrature with that
    option."""
    reach = np.zeros(space.dimension + 1)  # the last for local functions that are left out
    diameters = space.mesh.diameters[space.triangles]
    np.maximum.at(reach, space.dofs, np.broadcast_to(diameters[:, None], space.dofs.shape))
    own = (boxes[:, 1] - boxes[:, 0]).max(axis=1) / (2 * margin)
    return np.maximum(own, near / (1 - 2 * margin) * reach[:-1])


@dataclass(frozen=True, eq=False)
class Pairing:
    """The functions of two spaces in one tree: rows those of the test, columns those of the trial space. margin: how
    far supports may lie outside of their boxes, in edges."""

    margin: float
    tree: Octree
    lists: Lists
    rows: Leaves
    columns: Leaves

    @staticmethod
    def of(operator: IntegralOperator, promise: Promise) -> "Pairing":
        """Boxes are not divided where supports would lie further outside than `promise.order.margin`, nor where pairs
        of triangles with a raised degree would not be neighbours."""
        same, margin = operator.trial is operator.test, promise.order.margin
        spaces = [operator.trial] if same else [operator.trial, operator.test]
        boxes = [support_boxes(space) for space in spaces]
        centres = [each.mean(axis=1) for each in boxes]
        given = zip(spaces, boxes, strict=True)
        reach = [least_edges(space, box, margin, operator.quadrature.near) for space, box in given]

        def pairing(cube: Cube) -> Pairing:
            deepest = [np.clip(np.log2(cube.edge / each), 0, DEEPEST).astype(np.int64) for each in reach]
            tree = octree(centres[0], None if same else centres[1], promise.leaf, (deepest[0], deepest[-1]), cube)
            lists = lists_of(tree)
            columns = Leaves.of(lists, tree.source_order, tree.sources)
            rows = columns if same else Leaves.of(lists, tree.target_order, tree.targets)
            return Pairing(margin, tree, lists, rows, columns)

        cube = Cube.around(*centres)
        return min((pairing(cube.enlarged(factor)) for factor in FACTORS), key=lambda each: each.cost(promise.order.r))

    @property
    def near_entries(self) -> int:
        """Entries between neighbouring leaves, both halves of symmetric ones."""
        rows, columns = (np.diff(each.starts) for each in (self.rows, self.columns))
        return int(rows @ np.add.reduceat(np.append(columns[self.lists.near], 0), self.lists.near_start[:-1]))

    def cost(self, rank: int) -> float:
        """Of set-up and a score of products, in near entries: a translation is worth half as many as its rank."""
        return self.near_entries + rank / 2 * len(self.lists.far.source)


@dataclass(frozen=True, eq=False)
class Layout:
    """Scalar spaces, and the functions of each of them in the leaves of a common tree."""

    tree: Octree
    lists: Lists
    spaces: list[Any]
    leaves: list[Leaves]

    @staticmethod
    def of(spaces: list[Any], promise: Promise, near: float) -> "Layout":
        """Of different spaces, with leaves of all of them together."""
        boxes = [support_boxes(space) for space in spaces]
        centres = np.concatenate([each.mean(axis=1) for each in boxes])
        given = zip(spaces, boxes, strict=True)
        reach = np.concatenate([least_edges(*each, promise.order.margin, near) for each in given])

        def layout(cube: Cube) -> Layout:
            deepest = np.clip(np.log2(cube.edge / reach), 0, DEEPEST).astype(np.int64)
            tree = octree(centres, None, promise.leaf, (deepest, deepest), cube)
            lists = lists_of(tree)
            return Layout(tree, lists, spaces, _of_spaces(Leaves.of(lists, tree.source_order, tree.sources), spaces))

        cube = Cube.around(centres)
        return min((layout(cube.enlarged(factor)) for factor in FACTORS), key=lambda each: each.cost(promise.order.r))

    def cost(self, rank: int) -> float:
        """Of set-up and a score of products, in near entries: four translations are worth as many as half a rank."""
        count = np.sum([np.diff(each.starts) for each in self.leaves], axis=0)
        entries = count @ np.add.reduceat(np.append(count[self.lists.near], 0), self.lists.near_start[:-1])
        return float(9 * entries + 4 * rank / 2 * len(self.lists.far.source))

    def leaves_of(self, space: Any) -> Leaves:
        """Of one of the spaces."""
        return next(each for own, each in zip(self.spaces, self.leaves, strict=True) if own is space)


def _of_spaces(whole: Leaves, spaces: list[Any]) -> list[Leaves]:
    """From the functions of all spaces, one space after the other, those of each."""
    found, offset = [], 0
    for space in spaces:
        own = (whole.order >= offset) & (whole.order < offset + space.dimension)
        found.append(Leaves(whole.order[own] - offset, np.append(0, np.cumsum(own))[whole.starts]))
        offset += space.dimension
    return found


def components(leaves: Leaves, count: int) -> Leaves:
    """The same with so many components of each function next to each other."""
    order = count * leaves.order[:, None] + np.arange(count)
    return Leaves(order.ravel(), count * leaves.starts)
