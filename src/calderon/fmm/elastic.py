"""Layers of elastostatics in the fast multipole method: a table of them takes four harmonic sums together."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from calderon.backends import Device, Execution, require_memory, return_memory, run_tasks
from calderon.fmm.device.moments import DeviceMoments
from calderon.fmm.elastic_moments import Fields, elastic_moments
from calderon.fmm.layout import Layout
from calderon.fmm.moment_store import Moments
from calderon.fmm.near import near_store
from calderon.fmm.orders import ELASTOSTATICS, Promise
from calderon.fmm.p2m_l2p import SUMS
from calderon.fmm.passes import Translations
from calderon.fmm.product import DIRECTIONS, HarmonicFar, Line, MultipoleProduct
from calderon.fmm.tables import tables
from calderon.operators.tree import Term
from calderon.products.check import ROWS, Check, checked_rows
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
    devices: the one where near blocks are made, if there is one.
    """

    def __init__(
        self, terms: Sequence[Term], rtol: float, processor: Execution, devices: Sequence[Device] = ()
    ) -> None:
        self.terms, self.rtol, self._processor, self._devices = terms, rtol, processor, devices
        self.name = "elastic " + " and ".join(dict.fromkeys(each.atom.integrand.name for each in terms))

    @cached_property
    def checks(self) -> list[Check]:
        """Random rows, and columns of one double layer alone."""
        alone = len(self.terms) == 1 and self.terms[0].atom.integrand.normal != "none"
        found = [
            elastic_check(self.terms, transposed, self._devices)
            for transposed in ((False, True) if alone else (False,))
        ]
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
            form, rules = term.atom, term.atom.quadrature
            if packs and max(space.scalar.element.degree for space in (form.test, form.trial)) < 2:
                form = replace(
                    form, quadrature=NearQuadrature(rules.regular, rules.singular, 0.67 * rules.near, rules.accuracy)
                )
            given = kind, np.dtype(np.float64), packs, self._devices
            found.append(near_store(form, term.factor, layout, execution, *given))
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
            """The moments of the functions of one row or column of the table, from unknown `first` on."""
            moments: Moments | DeviceMoments
            pieces = layout.rows.pieces(fields.space)
            own = fields._replace(space=pieces.space.scalar)
            values, starts = fields.kind == "value", pieces.starts // DIRECTIONS
            if able := [each for each in self._devices if each.has_double]:
                combined = own.combined(table.order.p, real)
                moments = DeviceMoments(able[0], own.space, starts, own.degree, combined, layout, table)
            else:
                moments = elastic_moments(own, layout, starts, table, real)
            return_memory()
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


def elastic_check(terms: Sequence[Term], transposed: bool = False, devices: Sequence[Device] = ()) -> Check:
    """The check of a table of layers, or of its transpose, with vectors that are zero but for the columns of one layer.
    Each layer has four random vectors with one error, and a constant one with another. devices: the first one
    computes entries, if there is one."""
    random, order = np.random.default_rng(0), -1 if transposed else 1
    many = 4  # with one random vector, a row whose errors happen to add up decides
    # where each term begins, and its shape; of the transpose
    ends = [((each.top, each.left)[::order], each.shape[::order]) for each in terms]
    heights = {top: height for (top, _), (height, _) in ends}
    columns = {left: (width, (each.factor, each.atom.green, each.atom.integrand))
               for ((_, left), (_, width)), each in zip(ends, terms, strict=True)}  # fmt: skip
    layers = list(dict.fromkeys(layer for _, layer in columns.values()))
    chosen = {}  # rows of each row of the table
    for top, height in heights.items():  # three rows of a function cost as much as one
        functions = random.choice(height // DIRECTIONS, min(height, ROWS + 2) // DIRECTIONS, replace=False)
        chosen[top] = (DIRECTIONS * np.sort(functions)[:, None] + np.arange(DIRECTIONS)).ravel()
    starts = dict(zip(chosen, np.cumsum([0, *(len(each) for each in chosen.values())])[:-1], strict=True))
    rows = np.concatenate([top + each for top, each in chosen.items()])
    # vectors of each layer, zero in the columns of the others
    vectors = np.zeros((max(left + n for left, (n, _) in columns.items()), (many + 1) * len(layers)))
    exact = np.zeros((len(rows), vectors.shape[1]))
    for left, (size, layer) in columns.items():
        given = np.split(vectors[left : left + size], len(layers), axis=1)[layers.index(layer)]
        given[:, :many] = random.standard_normal((size, many))
        given[:, many] = 1.0
    # exact products of each term, some side by side
    double = np.dtype(np.float64)
    products: list[np.ndarray] = [np.zeros(0)] * len(terms)
    numbers = iter(range(len(terms)))

    def line(_: int) -> None:
        for number in numbers:  # shared: each comes once
            multiply(number)

    def multiply(number: int) -> None:
        (top, left), (_, width), each = *ends[number], terms[number]
        own = chosen[top]
        require_memory(8 * len(own) * width, f"{len(own)} rows of {each.atom!r}", "try a coarser mesh")
        matrix, given = each.atom.T if transposed else each.atom, vectors[left : left + width]
        products[number] = each.factor * checked_rows(matrix, [each.atom], own, double, devices, given)[1]

    run_tasks(line, 2)  # side by side, as one thread makes tables of triangles
    for ((top, _), _), each in zip(ends, products, strict=True):
        exact[starts[top] : starts[top] + len(each)] += each
    groups = 2 * np.repeat(np.arange(len(layers)), many + 1)
    groups[many :: many + 1] += 1
    return Check(rows, vectors, exact, groups, transposed=transposed)
