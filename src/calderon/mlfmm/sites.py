"""Where the unknowns of a matrix are: the boxes around their functions, by which an octree is divided; and regions of
the matrix with the same entries."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.mlfmm.spectrum import Array
from calderon.operators.tree import Index, Term
from calderon.products.lists import Lists, counts_of_runs, neighbours_of
from calderon.products.octree import Octree


@dataclass(frozen=True, eq=False)
class Sites:
    """Where the unknowns of both sides are: boxes around them (n, 2, 3). rows, columns: site of each row and column of
    the matrix."""

    boxes: Array
    rows: NDArray[np.int64]
    columns: NDArray[np.int64]

    @staticmethod
    def of(terms: Sequence[Term], shape: tuple[int, int]) -> "Sites":
        """Sites of both sides: one for row i and column i if the blocks on both sides have the same sizes."""
        ends = [(t.atom.trial, t.atom.test) if t.transposed else (t.atom.test, t.atom.trial) for t in terms]
        sides = [{(t.top, rows) for t, (rows, _) in zip(terms, ends, strict=True)},
                 {(t.left, columns) for t, (_, columns) in zip(terms, ends, strict=True)}]  # fmt: skip
        sizes = [{(first, space.dimension) for first, space in side} for side in sides]
        together = sizes[0] == sizes[1]
        boxes = np.empty((max(shape) if together else sum(shape), 2, 3))
        boxes[:, 0], boxes[:, 1] = np.inf, -np.inf
        starts = (0, 0) if together else (0, shape[0])
        for side, start in zip(sides, starts, strict=True):
            for first, space in side:
                own = boxes[start + first : start + first + space.dimension]
                found = space.boxes
                np.minimum(own[:, 0], found[:, 0], out=own[:, 0])
                np.maximum(own[:, 1], found[:, 1], out=own[:, 1])
        return Sites(boxes, np.arange(shape[0]) + starts[0], np.arange(shape[1]) + starts[1])

    def counts(self, tree: Octree, used: NDArray[np.bool_], alike: "Sequence[Alike]") -> tuple[list[int], Index]:
        """The near entries of these regions, and on each level how many pairs of separated boxes `meeting` keeps, of a
        tree of the sites that are used (n,): its lists are not made."""
        neighbours = neighbours_of(tree, 1, True)
        rows, columns = (self._runs(tree, used, own) for own in (self.rows, self.columns))
        every, far = counts_of_runs(tree, neighbours, columns, rows)
        if rows is not columns:  # pairs and their opposites, those once that are both
            both = ((np.diff(rows) > 0) & (np.diff(columns) > 0)).astype(np.int64)
            both = np.concatenate([0 * both, both], axis=1)
            far = 2 * far - counts_of_runs(tree, neighbours, both, both)[1]
        near = []
        for each in alike:
            (top, left), (height, width) = each.regions[0][0], each.terms[0].shape
            sides = self.rows[top : top + height], self.columns[left : left + width]
            of_rows, of_columns = (self._runs(tree, used, own) for own in sides)
            is_whole = of_rows is rows and of_columns is columns
            near.append(every if is_whole else counts_of_runs(tree, neighbours, of_columns, of_rows)[0])
        return near, far

    def _runs(self, tree: Octree, used: NDArray[np.bool_], own: Index) -> Index:
        """Runs (boxes, 2) as long as there are sites of each box among `own`, different ones."""
        if len(own) == len(used):
            return tree.sources
        chosen = np.zeros(len(used), bool)
        chosen[own] = True
        return np.append(0, np.cumsum(chosen[used][tree.source_order]))[tree.sources]

    def meeting(self, tree: Octree, lists: Lists, used: NDArray[np.bool_]) -> Lists:
        """Lists without the pairs of separated boxes that have no rows and columns of the matrix in common, as most do
        where rows are functions of a part of a surface. tree: of the sites that are used (n,). Products with the
        transposed matrix take the same pairs, so that of each of them the opposite one stays, too."""
        rows, columns = (np.diff(self._runs(tree, used, own))[:, 0] > 0 for own in (self.rows, self.columns))
        target, source = lists.far.target, lists.far.source
        kept = (rows[target] & columns[source]) | (columns[target] & rows[source])
        return lists if kept.all() else lists._replace(far=lists.far.of_pairs(kept))


class Alike(NamedTuple):
    """Regions of a matrix that are multiples of one: the first row and column of each, and its factor.

    terms: of the first region, whose factor is 1, plain ones; other factors are no larger, so that none overflows in
    single precision. mirrored: whether the transposed entries are in the mirror images of all regions, too."""

    regions: list[tuple[tuple[int, int], complex]]
    terms: list[Term]
    mirrored: bool

    @staticmethod
    def of(terms: Sequence[Term], sites: Sites) -> "list[Alike]":
        """All regions with plain terms, those together that have the same terms up to a factor and whose unknowns are
        at the same sites, such as those of T in [[z T, -K], [-K, -T / z]]."""
        regions: dict[tuple[int, int], list[Term]] = {}
        for term in terms:
            if not term.transposed:
                regions.setdefault((term.top, term.left), []).append(term)
        images = {(term.left, term.top) for term in terms if term.transposed}
        found: dict[Any, list[tuple[complex, tuple[int, int], list[Term]]]] = {}
        for place, own in regions.items():
            scale = next((complex(term.factor) for term in own if term.factor), 1.0 + 0.0j)
            sides = zip(place, own[0].shape, (sites.rows, sites.columns), strict=True)
            boxes = [sites.boxes[which[first : first + count]].tobytes() for first, count, which in sides]
            factors = tuple((term.atom.key, complex(term.factor) / scale) for term in own)
            found.setdefault((place in images, factors, *boxes), []).append((scale, place, own))
        alike = []
        for (mirrored, *_), group in found.items():
            group.sort(key=lambda each: -abs(each[0]))
            largest, _, own = group[0]
            alike.append(Alike([(place, scale / largest) for scale, place, _ in group], own, mirrored))
        return alike
