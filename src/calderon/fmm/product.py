"""Products with a table of operators on functions in the leaves of one tree: near blocks of each of its terms, and one
far field."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.backends.threads import in_parts
from calderon.fmm.device.moments import DeviceMoments
from calderon.fmm.layout import Layout
from calderon.fmm.moment_store import Moments
from calderon.fmm.orders import Promise
from calderon.fmm.p2m_l2p import move_origin, piece_kernels
from calderon.fmm.passes import Translations
from calderon.fmm.tables import Tables
from calderon.operators.tree import Term
from calderon.products.far_field import far_product
from calderon.products.lists import BLOCK, Runs
from calderon.products.near_store import NearStore, products
from calderon.products.operator import RealProducts
from calderon.spaces.pieces import Pieces

DIRECTIONS = 3
"""Components of an elastic field."""


class Line(NamedTuple):
    """One row or column of a table of operators.

    first: its first unknown. pieces: its functions, cut at leaves. moments: `sums` runs of each piece, one for each
    harmonic sum; with `values`, of functions that test in DIRECTIONS, as many for all pieces of one function. arms
    (leaves, 3): of `move_origin`, None where moments are about the centres of boxes in all respects.
    """

    first: int
    pieces: Pieces
    moments: Moments | DeviceMoments
    sums: int
    values: bool = False
    arms: NDArray[np.float64] | None = None

    @property
    def part(self) -> slice:
        """The slice of the unknowns of the table that the line has."""
        return slice(self.first, self.first + self.pieces.dimension)

    @property
    def starts(self) -> NDArray[np.int64]:
        """(leaves + 1,) where the moments of each leaf begin, in units of `sums` runs."""
        return self.pieces.starts // (DIRECTIONS if self.values else 1)

    def gather(self, x: NDArray[Any], boxes: NDArray[np.int64], moments: NDArray[Any], low: int, high: int) -> None:
        """P2M: add coefficients x (m, pieces) to the moments (boxes m sums r,) of the leaves low up to, without, high;
        boxes (leaves,): of all leaves."""
        kernels, places = piece_kernels(self.moments.is_packed), (self.starts, x.ravel(), len(x), boxes)
        if self.values:
            kernels.from_values(self.moments.stored, self.moments.rank, *places, moments, low, high)
        else:
            kernels.from_fields(self.moments.stored, self.moments.rank, self.sums, *places, moments, low, high)

    def spread(self, local: NDArray[Any], boxes: NDArray[np.int64], y: NDArray[Any], low: int, high: int) -> None:
        """L2P: add local expansions (boxes m sums r,) of the leaves low up to, without, high, tested with pieces, to y
        (m, pieces); boxes (leaves,): of all leaves."""
        kernels, places = piece_kernels(self.moments.is_packed), (self.starts, local, boxes, y.ravel(), len(y))
        if self.values:
            kernels.to_values(self.moments.stored, self.moments.rank, *places, low, high)
        else:
            kernels.to_fields(self.moments.stored, self.moments.rank, self.sums, *places, low, high)


@dataclass(frozen=True, eq=False)
class HarmonicFar:
    """The far field (`FarField`) of a table of operators.

    layout: the tree of all functions. rows, columns: the lines of the table. passes: from columns to rows. scale: a
    factor of all fields. most: columns of a product at most, where `passes` has room for more. run: the leaves
    low up to, without, high that have fields, None for all of them. whole: the far field of which this is a part.
    """

    layout: Layout
    rows: list[Line]
    columns: list[Line]
    passes: Translations
    scale: float = 1.0
    most: int = 8
    run: tuple[int, int] | None = None
    whole: "HarmonicFar | None" = None

    @property
    def table(self) -> Tables:
        """The combinations of harmonics and their translations."""
        return self.passes.tables

    @property
    def together(self) -> int:
        """Columns that are multiplied at a time."""
        return min(self.most, self.passes.together)

    @property
    def nbytes(self) -> int:
        """Bytes of moments, expansions, lists and tables."""
        moments = {id(line.moments): line.moments.nbytes for line in [*self.rows, *self.columns]}
        lists = sum(each.nbytes for each in [*self.layout.lists.far, self.layout.lists.near])
        expansions = 2 * self.passes.size * self.passes.real.itemsize
        return sum(moments.values()) + lists + expansions + self.table.nbytes

    @property
    def cost(self) -> NDArray[np.float64]:
        """(leaves,) numbers of the moments of rows."""
        return np.asarray(sum(np.diff(line.starts) * float(line.sums * self.table.rank) for line in self.rows))

    def first(self, columns: int) -> "HarmonicFar":
        """The far field of the first columns alone; this object keeps the moments of all."""
        return replace(self, columns=[each for each in self.columns if each.first < columns])

    def part(self, low: int, high: int) -> "HarmonicFar":
        """The far field in the leaves low up to, without, high alone, of all charges."""
        return replace(self, passes=self.passes.part(self.layout.lists, low, high), run=(low, high), whole=self)

    @cached_property
    def transposed(self) -> "HarmonicFar":
        """The far field of the transposed table: rows are columns, and pairs of boxes go the other way. That of a part
        has fields in the same leaves; parts of it add up to the transposed table as those of the table do."""
        if self.whole is not None and self.run is not None:
            return self.whole.transposed.part(*self.run)
        return HarmonicFar(self.layout, self.columns, self.rows, self._back, self.scale, self.most)

    @property
    def _back(self) -> Translations:
        """The passes from rows to columns."""
        # of each pair of boxes both directions are there
        if self.layout.rows is self.layout.columns and self.passes.far is self.layout.lists.far:
            return self.passes
        far, directions = self.passes.far, len(self.table.starts)
        matrix = np.repeat(far.runs[:, 0], far.runs[:, 2] - far.runs[:, 1])
        pairs = Runs.of(far.target, far.source, directions - 1 - matrix, far.source // BLOCK, directions)
        return Translations(self.passes.tree, pairs, self.table, self.passes.columns)

    def send(self, x: NDArray[Any]) -> NDArray[Any]:
        """Moments (boxes, m, sums, r), one after the other, from columns x (n, m) of unknowns."""
        boxes, count, first = self.layout.lists.leaves, x.shape[1], self.columns[0]
        moments, real = self.passes.empty(count), self.passes.real
        given = [np.ascontiguousarray(x[line.part].T[:, line.pieces.whole], real) for line in self.columns]

        # coefficients to moments, about the centre of the tree
        def gather(low: int, high: int) -> None:
            for line, each in zip(self.columns, given, strict=True):
                line.gather(each, boxes, moments, low, high)
            if first.arms is not None:
                move_origin(moments, boxes, first.arms, count, self.table.rank, first.values, low, high)

        in_parts(gather, len(boxes))
        self.passes.m2m(moments)
        return moments

    def across(self, outgoing: NDArray[Any]) -> NDArray[Any]:
        """Local expansions of all boxes from moments."""
        local = self.passes.empty(len(outgoing) // self.passes.size)
        self.passes.m2l(outgoing, local)
        return local

    def receive(self, incoming: NDArray[Any]) -> NDArray[Any]:
        """Columns (n, m) of the product from local expansions; those of parents are added to those of their
        children."""
        self.passes.l2l(incoming)
        boxes, count, first = self.layout.lists.leaves, len(incoming) // self.passes.size, self.rows[0]
        results = [np.zeros((count, len(line.pieces.whole)), incoming.dtype) for line in self.rows]
        begin, end = self.run or (0, len(boxes))

        # local expansions, about the centres of leaves, to sums with pieces
        def spread(low: int, high: int) -> None:
            own = begin + low, begin + high
            if first.arms is not None:
                move_origin(incoming, boxes, first.arms, count, self.table.rank, not first.values, *own)
            for line, each in zip(self.rows, results, strict=True):
                line.spread(incoming, boxes, each, *own)

        in_parts(spread, end - begin)
        out = np.zeros((max(line.part.stop for line in self.rows), count))
        for line, each in zip(self.rows, results, strict=True):
            each *= self.scale
            out[line.part] += line.pieces.sums(each).T
        return out


class MultipoleProduct(RealProducts):
    """Products with the terms of a table, such as one operator alone; near: blocks of each of them; promise: the order
    of the harmonics, and the errors that it holds."""

    def __init__(
        self, terms: Sequence[Term], near: Sequence[NearStore], far: HarmonicFar, promise: Promise, real: np.dtype[Any]
    ) -> None:
        shape = max(each.top + each.shape[0] for each in terms), max(each.left + each.shape[1] for each in terms)
        super().__init__(dtype=real, shape=shape)
        self.terms, self.near, self.far, self.promise = terms, near, far, promise

    def forget(self) -> None:
        """Free the moments of functions, which products of another order do not need, and let blocks go."""
        del self.near, self.far

    @property
    def layout(self) -> Layout:
        """The tree of all functions."""
        return self.far.layout

    @property
    def together(self) -> int:
        """Columns that are multiplied at a time."""
        return self.far.together

    @property
    def nbytes(self) -> int:
        """Bytes of blocks, moments of functions, lists, expansions and tables."""
        return sum(each.nbytes for each in self.near) + self.far.nbytes

    def part(self, near: tuple[int, int], far: tuple[int, int]) -> "MultipoleProduct":
        """The near blocks of the rows of a run of leaves, and the fields in another run of all charges; parts with all
        leaves add up to the whole, and so do their transposed products."""
        stores = [each.part(*near) for each in self.near]
        return MultipoleProduct(self.terms, stores, self.far.part(*far), self.promise, self.dtype)

    def first(self, columns: int) -> "MultipoleProduct":
        """The first columns alone; this object keeps the memory of all."""
        terms = [each for each in self.terms if each.left < columns]
        near = [blocks for each, blocks in zip(self.terms, self.near, strict=True) if each.left < columns]
        return MultipoleProduct(terms, near, self.far.first(columns), self.promise, self.dtype)

    def _products(self, x: NDArray[Any], transposed: bool) -> NDArray[Any]:
        """A x, or A^T x if transposed, for x (n, k): near blocks, and the far field if there are separated boxes."""
        out = np.zeros((self.shape[1 if transposed else 0], x.shape[1]), np.result_type(self.dtype, x.dtype))
        # near blocks of all terms, whose tasks are distributed together
        rows, columns = ({each.first: each for each in lines} for lines in (self.far.rows, self.far.columns))
        sides = [(columns[term.left], rows[term.top])[:: -1 if transposed else 1] for term in self.terms]
        stores = [(near, x[given.part]) for near, (given, _) in zip(self.near, sides, strict=True)]
        for (_, wanted), found in zip(sides, products(stores, transposed), strict=True):
            out[wanted.part] += found
        # what boxes receive of separated ones
        far = self.far.transposed if transposed else self.far
        if len(far.passes.far.source):
            out += far_product(far, x)
        return out
