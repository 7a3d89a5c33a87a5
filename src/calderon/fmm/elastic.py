"""Single and double layers of elastostatics by four harmonic sums, those of a table of operators in one traversal."""

import copy
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.backends import Execution, return_memory
from calderon.backends.threads import in_parts
from calderon.fmm.device.products import Block, Functions, Plan
from calderon.fmm.elastic_moments import SUMS, Fields, elastic_moments, move_origin, piece_kernels
from calderon.fmm.layout import Layout
from calderon.fmm.moment_store import Moments
from calderon.fmm.near import near_store
from calderon.fmm.orders import Promise
from calderon.fmm.passes import Translations
from calderon.fmm.tables import Tables, tables
from calderon.operators.tree import Term
from calderon.products.far_field import far_product
from calderon.products.near_store import NearStore, products
from calderon.products.operator import RealProducts
from calderon.quadrature import NearQuadrature
from calderon.spaces.pieces import Pieces

SINGLE, STORED = 3e-5, 9e-6
"""Tolerances from which near blocks and moments are computed, and from which they are stored, in single precision;
products, which for a smooth displacement are a hundredth of their terms, are in double precision always."""
PACKED = 1e-4
"""Tolerance from which near blocks and moments are kept in 16 bits."""
FIELDS = 3
CLOSER = 0.67
"""Part of `Quadrature.near` that is enough where numbers are packed, as for waves at such tolerances."""
TOGETHER = 2
"""Columns of a product."""
WORTH = 1.0
"""Cost of a translation in `Layout.of`: pairs of triangles have nine times as many numbers."""


def is_joint(terms: Sequence[Term]) -> bool:
    """Whether terms are a full table of layers with one Poisson's ratio and one quadrature, of which each column has
    the same multiple of one operator on different test spaces."""
    if not all(each.atom.is_elastic and each.is_plain for each in terms):
        return False
    if any(each.atom.integrand.normal == "test" or np.imag(each.factor) for each in terms):
        return False
    if len({(each.atom.green.poissons_ratio, each.atom.quadrature) for each in terms}) > 1:
        return False
    tops, lefts = {each.top for each in terms}, {each.left for each in terms}
    columns = {(each.left, each.factor, each.atom.green, each.atom.integrand, each.atom.trial) for each in terms}
    rows = {(each.top, each.atom.test) for each in terms}
    return len(columns) == len(lefts) and len(rows) == len(tops) and len(terms) == len(tops) * len(lefts)


class Line(NamedTuple):
    """One row or column of a table: its first unknown, the pieces of its functions with three components, runs (n 3 4)
    of the moments of n pieces, or of `values` (n 4), and from the centre of the tree to those of leaves (leaves, 3)."""

    first: int
    pieces: Pieces
    moments: Moments
    values: bool
    centres: NDArray[np.float64]

    @property
    def part(self) -> slice:
        return slice(self.first, self.first + self.pieces.dimension)

    @property
    def functions(self) -> Functions:
        """For devices."""
        count = int(self.pieces.starts[-1]) * SUMS // (FIELDS if self.values else 1)
        return Functions(self.first, self.pieces, self.moments.runs(0, count).ravel(), self.values, self.arms)

    @property
    def arms(self) -> NDArray[np.float64]:
        """The arms of `move_origin`."""
        return self.centres if self.values else -self.centres


class ElasticFar:
    """The far field (`FarField`) of a table of layers: rows and columns with their moments, in one tree.

    run: the leaves low .. high that have fields, None for all of them.
    """

    run: tuple[int, int] | None = None

    def __init__(self, terms: Sequence[Term], layout: Layout, promise: Promise, rtol: float) -> None:
        self.promise = promise
        self.table: Tables = tables(promise.order, False)
        return_memory()
        self.stored = None if rtol >= PACKED else np.dtype(np.float32 if rtol >= STORED else np.float64)
        self.kernels = piece_kernels(self.stored is None)
        self.layout = layout
        self.passes = Translations(layout.tree, layout.lists.far, self.table, SUMS)
        self.centres = layout.tree.centre[layout.lists.leaves] - 0.5
        edge = layout.tree.cube.edge
        self.rows = [self._line(top, Fields(atom.test, "value", 0.0, 1.0, atom.quadrature.regular))
                     for top, atom in {each.top: each.atom for each in terms}.items()]  # fmt: skip
        self.columns = []
        for term in {each.left: each for each in terms}.values():
            green, double = term.atom.green, term.atom.integrand.normal == "trial"
            factor = term.factor / (8 * np.pi * (1 - green.poissons_ratio) * edge**2)
            factor *= 1.0 if double else edge / (2 * green.shear_modulus)
            kind = "dislocation" if double else "force"
            fields = Fields(term.atom.trial, kind, green.poissons_ratio, factor, term.atom.quadrature.regular)
            self.columns.append(self._line(term.left, fields))

    def _line(self, first: int, fields: Fields) -> Line:
        layout, pieces = self.layout, self.layout.rows.pieces(fields.space)
        own = fields._replace(space=pieces.space.scalar)
        moments = elastic_moments(own, layout.tree, layout.lists, pieces.starts // FIELDS, self.table, self.stored)
        return_memory()
        return Line(first, pieces, moments, fields.kind == "value", self.centres)

    def first(self, columns: int) -> "ElasticFar":
        """The far field of the first columns alone; this object keeps the moments of all."""
        found = copy.copy(self)
        found.columns = [each for each in self.columns if each.first < columns]
        return found

    @property
    def nbytes(self) -> int:
        """Bytes of moments, expansions, lists and tables."""
        lists = sum(each.nbytes for each in [*self.layout.lists.far, self.layout.lists.near])
        moments = sum(each.moments.nbytes for each in [*self.rows, *self.columns])
        return moments + lists + 2 * self.passes.size * self.table.numbers.itemsize + self.table.nbytes

    @property
    def cost(self) -> NDArray[np.float64]:
        """(leaves,) numbers of the moments of rows."""
        runs = sum(np.diff(self._starts(line)) for line in self.rows)
        return np.asarray(runs * float(SUMS * self.table.rank))

    def part(self, low: int, high: int) -> "ElasticFar":
        """The far field in the leaves low .. high alone, of all charges."""
        found = copy.copy(self)
        found.passes, found.run = self.passes.part(self.layout.lists, low, high), (low, high)
        return found

    @property
    def transposed(self) -> "ElasticFar":
        """The far field of the transposed table: rows are columns, in the same tree."""
        found = copy.copy(self)
        found.rows, found.columns = self.columns, self.rows
        return found

    def send(self, x: NDArray[Any]) -> NDArray[Any]:
        """Moments of all boxes, of SUMS sums and m columns, from columns x (n, m) of unknowns."""
        boxes, real, count = self.layout.lists.leaves, self.table.numbers.dtype, x.shape[1]
        moments, first = self.passes.empty(count), self.columns[0]
        given = [np.ascontiguousarray(x[line.part].T[:, line.pieces.whole], real) for line in self.columns]

        # coefficients to moments, and local expansions to results, about the centres of boxes
        def gather(low: int, high: int) -> None:
            for line, each in zip(self.columns, given, strict=True):
                self._gather(line, each, moments, low, high)
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
        """Columns (n, m) of the product from local expansions, which are added to those of children."""
        self.passes.l2l(incoming)
        boxes, count, first = self.layout.lists.leaves, len(incoming) // self.passes.size, self.rows[0]
        results = [np.zeros((count, len(line.pieces.whole)), incoming.dtype) for line in self.rows]
        begin, end = self.run or (0, len(boxes))

        def spread(low: int, high: int) -> None:
            own = begin + low, begin + high
            move_origin(incoming, boxes, first.arms, count, self.table.rank, not first.values, *own)
            for line, each in zip(self.rows, results, strict=True):
                self._spread(line, incoming, each, *own)

        in_parts(spread, end - begin)
        out = np.zeros((max(line.part.stop for line in self.rows), count))
        for line, each in zip(self.rows, results, strict=True):
            out[line.part] += line.pieces.sums(each).T
        return out

    def _gather(self, line: Line, x: NDArray[Any], moments: NDArray[Any], low: int, high: int) -> None:
        run = self.kernels.from_values if line.values else self.kernels.from_fields
        given, leaves = (line.moments[:5], line.moments.rank, self._starts(line)), self.layout.lists.leaves
        run(*given, x.ravel(), len(x), leaves, moments, low, high)

    def _spread(self, line: Line, local: NDArray[Any], y: NDArray[Any], low: int, high: int) -> None:
        run = self.kernels.to_values if line.values else self.kernels.to_fields
        given, leaves = (line.moments[:5], line.moments.rank, self._starts(line)), self.layout.lists.leaves
        run(*given, local, leaves, y.ravel(), len(y), low, high)

    @staticmethod
    def _starts(line: Line) -> NDArray[np.int64]:
        return line.pieces.starts // (FIELDS if line.values else 1)


class ElasticProduct(RealProducts):
    """Products with a table of layers; near: blocks of each of its terms."""

    def __init__(self, terms: Sequence[Term], near: Sequence[NearStore], far: ElasticFar, real: np.dtype[Any]) -> None:
        shape = max(each.top + each.shape[0] for each in terms), max(each.left + each.shape[1] for each in terms)
        super().__init__(dtype=real, shape=shape)
        self.terms, self.near, self.far = terms, near, far

    def forget(self) -> None:
        """Free the moments of functions, which products of another order do not need, and let blocks go."""
        del self.near, self.far

    @property
    def layout(self) -> Layout:
        """The tree of all spaces."""
        return self.far.layout

    @property
    def promise(self) -> Promise:
        """The order of the harmonics, and the errors that it holds."""
        return self.far.promise

    def first(self, columns: int) -> "ElasticProduct":
        """The first columns alone; this object keeps the memory of all."""
        terms = [each for each in self.terms if each.left < columns]
        near = [blocks for each, blocks in zip(self.terms, self.near, strict=True) if each.left < columns]
        return ElasticProduct(terms, near, self.far.first(columns), self.dtype)

    @property
    def together(self) -> int:
        """Columns that are multiplied at a time: two, with four vectors of each box each, meet a matrix often enough,
        and expansions of more would be a tenth of the memory."""
        return min(TOGETHER, self.far.passes.together)

    @property
    def nbytes(self) -> int:
        """Bytes of blocks, moments of functions, lists, expansions and tables."""
        return sum(each.nbytes for each in self.near) + self.far.nbytes

    @property
    def device_plan(self) -> Plan:
        """For products on a device."""
        far = self.far
        tops, lefts = ([each.first for each in lines] for lines in (far.rows, far.columns))
        rows, columns = ([each.functions for each in lines] for lines in (far.rows, far.columns))
        blocks = [Block(tops.index(term.top), lefts.index(term.left), near)
                  for term, near in zip(self.terms, self.near, strict=True)]  # fmt: skip
        leaves = far.layout.lists.leaves
        return Plan(rows, columns, blocks, leaves, far.passes, far.passes, 1.0, self.nbytes)

    def _products(self, x: NDArray[Any], transposed: bool) -> NDArray[Any]:
        out = np.zeros((self.shape[1 if transposed else 0], x.shape[1]), np.result_type(self.dtype, x.dtype))
        rows, columns = ({each.first: each for each in lines} for lines in (self.far.rows, self.far.columns))
        sides = [(columns[term.left], rows[term.top])[:: -1 if transposed else 1] for term in self.terms]
        stores = [(near, x[given.part]) for near, (given, _) in zip(self.near, sides, strict=True)]
        for (_, wanted), found in zip(sides, products(stores, transposed), strict=True):
            out[wanted.part] += found
        if len(self.layout.lists.far.source):
            out += far_product(self.far.transposed if transposed else self.far, x)
        return out


def layout_of(terms: Sequence[Term], promise: Promise) -> Layout:
    """The spaces of a table in one tree, with one side."""
    spaces = [space.scalar for each in terms for space in (each.atom.test, each.atom.trial)]
    return Layout.of(spaces, spaces, promise, terms[0].atom.quadrature.near, WORTH, len(terms) > 1)


def near_of(term: Term, layout: Layout, rtol: float, execution: Execution) -> NearStore:
    """Exact entries between neighbouring leaves, of symmetric operators one block of two; where numbers are packed,
    near pairs have five digits, unless functions are quadratic."""
    execution, form = Execution.of("numba", "single") if rtol >= SINGLE else execution, term.atom
    if rtol >= PACKED and max(space.scalar.element.degree for space in (form.test, form.trial)) < 2:
        given = form.quadrature
        form = replace(form, quadrature=NearQuadrature(given.regular, given.singular, CLOSER * given.near))
    kind = np.dtype(np.float32) if rtol >= STORED else execution.real
    return near_store(form, term.factor, layout, execution, kind, np.dtype(np.float64), rtol >= PACKED)
