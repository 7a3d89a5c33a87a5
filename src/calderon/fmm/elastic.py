"""Layers of elastostatics in the fast multipole method: a table of them takes four harmonic sums together."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from calderon.backends import Execution, return_memory
from calderon.fmm.check import elastic_check
from calderon.fmm.elastic_moments import Fields, elastic_moments
from calderon.fmm.far import DIRECTIONS, HarmonicFar, Line
from calderon.fmm.layout import Layout
from calderon.fmm.near import near_store
from calderon.fmm.orders import ELASTOSTATICS, Promise
from calderon.fmm.p2m_l2p import SUMS
from calderon.fmm.passes import Translations
from calderon.fmm.product import MultipoleProduct
from calderon.fmm.tables import tables
from calderon.operators.tree import Term
from calderon.products.check import Check
from calderon.products.near_store import NearStore
from calderon.quadrature import NearQuadrature


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


class ElasticTable:
    """A table of layers (see `is_joint`), as `Layers` of galerkin.py.

    rtol: the tolerance of its products. processor: in whose precision entries are, unless rtol allows single precision.
    """

    def __init__(self, terms: Sequence[Term], rtol: float, processor: Execution) -> None:
        self.terms, self.rtol, self._processor = terms, rtol, processor
        self.name = "elastic " + " and ".join(dict.fromkeys(each.atom.integrand.name for each in terms))

    @cached_property
    def checks(self) -> list[Check]:
        """Random rows, and columns of one double layer alone."""
        alone = len(self.terms) == 1 and self.terms[0].atom.integrand.normal != "none"
        found = [elastic_check(self.terms, transposed) for transposed in ((False, True) if alone else (False,))]
        return_memory()
        return found

    def layout(self, promise: Promise) -> Layout:
        """All spaces in one tree, with one side."""
        return layout_of(self.terms, promise)

    def near(self, layout: Layout) -> list[NearStore]:
        """Exact entries between neighbouring leaves, of symmetric operators one block of two. Where numbers are packed
        and functions linear, near pairs have five digits: they are two thirds as close, as for waves at such
        tolerances."""
        execution = Execution.of("numba", "single") if self.rtol >= ELASTOSTATICS.computed else self._processor
        kind = np.dtype(np.float32) if self.rtol >= ELASTOSTATICS.stored else execution.real
        packs, found = self.rtol >= ELASTOSTATICS.packed, []
        for term in self.terms:
            form, given = term.atom, term.atom.quadrature
            if packs and max(space.scalar.element.degree for space in (form.test, form.trial)) < 2:
                form = replace(form, quadrature=NearQuadrature(given.regular, given.singular, 0.67 * given.near))
            found.append(near_store(form, term.factor, layout, execution, kind, np.dtype(np.float64), packs))
            return_memory()
        layout.forget()
        return found

    def far(self, layout: Layout, promise: Promise) -> HarmonicFar:
        """Moments of all rows and columns; translations are in double precision always."""
        table = tables(promise.order, False)
        return_memory()
        stored = np.float32 if self.rtol >= ELASTOSTATICS.stored else np.float64
        real, edge = None if self.rtol >= ELASTOSTATICS.packed else np.dtype(stored), layout.tree.cube.edge

        def line(first: int, fields: Fields) -> Line:
            pieces = layout.rows.pieces(fields.space)
            own = fields._replace(space=pieces.space.scalar)
            moments = elastic_moments(own, layout, pieces.starts // DIRECTIONS, table, real)
            return_memory()
            values = fields.kind == "value"
            return Line(first, pieces, moments, SUMS, values, layout.centres if values else -layout.centres)

        rows = [line(top, Fields(atom.test, "value", 0.0, 1.0, atom.quadrature.regular))
                for top, atom in {each.top: each.atom for each in self.terms}.items()]  # fmt: skip
        columns = []
        for term in {each.left: each for each in self.terms}.values():
            green, double = term.atom.green, term.atom.integrand.normal == "trial"
            factor = term.factor / (8 * np.pi * (1 - green.poissons_ratio) * edge**2)
            factor *= 1.0 if double else edge / (2 * green.shear_modulus)
            kind = "dislocation" if double else "force"
            fields = Fields(term.atom.trial, kind, green.poissons_ratio, factor, term.atom.quadrature.regular)
            columns.append(line(term.left, fields))
        # two columns, with four vectors of each box each, meet a matrix often enough: more take a tenth of the memory
        passes = Translations(layout.tree, layout.lists.far, table, SUMS)
        return HarmonicFar(layout, rows, columns, passes, most=2)

    def errors(self, product: MultipoleProduct) -> list[float]:
        """The errors of products at each of the checks."""
        return [each.error(product) for each in self.checks]

    def following(self, orders: tuple[Promise, ...], error: float) -> tuple[Promise, ...]:
        """The orders that are left after the first of them had this error: all others."""
        return orders[1:]


def layout_of(terms: Sequence[Term], promise: Promise) -> Layout:
    """The spaces of a table in one tree, with one side. A translation costs an eighth of that of one operator of
    Laplace's equation, as pairs of triangles have nine times as many numbers."""
    spaces = [space.scalar for each in terms for space in (each.atom.test, each.atom.trial)]
    return Layout.of(spaces, spaces, promise, terms[0].atom.quadrature.near, 1.0, len(terms) > 1)
