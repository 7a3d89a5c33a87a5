"""Estimates of operators by fast multipole products, before memory is taken: levels, order, bytes, seconds."""

from collections.abc import Callable, Hashable, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from calderon.fmm.elastic import layout_of
from calderon.fmm.laplace import MomentsKey
from calderon.fmm.layout import Layout
from calderon.fmm.orders import ELASTIC, ELASTOSTATICS, FUNCTIONS, LAPLACE, Promise, first_order
from calderon.fmm.p2m_l2p import SUMS
from calderon.fmm.product import DIRECTIONS
from calderon.operators.boundary import IntegralOperator
from calderon.operators.memory_estimate import preparation_bytes
from calderon.operators.methods import Plan
from calderon.operators.tree import Term
from calderon.products.check import ROWS
from calderon.products.cost import BLOCKS, HALO, SINGLE, Cost, pair_flops, row_flops, touching_flops
from calderon.quadrature import triangle_rule


class Counts(NamedTuple):
    """Operations and bytes of set-ups and products, about.

    preparation, product: operations outside compiled code, in a set-up for lists of boxes and pairs, tables of rules
    and records. harmonic: flops of a harmonic at a point, a step of its recurrence with the weights of the functions.
    tables: bytes over the square of the rank, by how far neighbours are apart. entry, number: bytes of an entry in 16
    bits with its part of an exponent, and of a number of a moment, the first of which have two integers.
    """

    preparation: float
    product: float
    harmonic: int
    tables: tuple[int, int]
    entry: float
    number: float


COUNTS = Counts(preparation=1.6e5, product=1e3, harmonic=10, tables=(1500, 3300), entry=2.07, number=2.3)
"""The counts by measurement."""


class Part(NamedTuple):
    """The estimate of layers that are multiplied together: levels and order, bytes that stay and bytes while they are
    computed, seconds of set-up and of a product, and whether numbers are in single precision."""

    levels: int
    order: tuple[int, int]
    stored: int
    passing: int
    seconds: float
    product_seconds: float
    single: bool

    @staticmethod
    def of_laplace(
        operator: IntegralOperator, layout: Layout, promise: Promise, rtol: float, single: bool,
        counted: set[MomentsKey],
    ) -> "Part":  # fmt: skip
        """The estimate of one layer of Laplace's equation; counted: moments of functions that are there already, to
        which those of its own are added."""
        normal, (p, rank) = operator.integrand.normal != "none", promise.order[:2]
        components = 3 if operator.integrand.curls else 1
        halves = 1 if operator.is_symmetric else 2
        near = layout.near_entries(operator) * halves // 2
        size = 4 if single or rtol >= LAPLACE.stored else 8
        keys = dict.fromkeys(MomentsKey.both(operator, layout, promise.order, rtol))  # one where both are equal
        functions = sum(0 if key in counted else components * len(side.pieces(key.space).whole)
                        for side, key in zip((layout.rows, layout.columns), keys, strict=False))  # fmt: skip
        counted.update(keys)
        boxes, pairs = len(layout.tree.level), len(layout.lists.far.source)
        far = size * functions * rank + (8 if normal or not single else 4) * 2 * boxes * components * rank
        stored = size * near + far + 32 * pairs
        # near blocks in the precision of numbers; harmonics and rows of the check, on both sides of double layers
        blocks = halves * (touching_flops(operator) + layout.near_triangles / 2 * pair_flops(operator))
        rows = ROWS * (2 if normal else 1) * operator.shape[1] * row_flops(operator) / HALO
        seconds = Cost((SINGLE if single else 1.0) * (blocks + rows), calls=COUNTS.preparation).seconds
        harmonics = moment_flops([each.space for each in keys], operator.quadrature.regular, p, rank)
        seconds += Cost(harmonics * components).seconds
        translations = 2 * rank**2 * pairs * components
        product = Cost((SINGLE if single and not normal else 1.0) * translations, BLOCKS * stored, COUNTS.product)
        passing = preparation_bytes(operator) + 8 * ROWS * operator.shape[1]
        return Part(int(layout.tree.level[-1]), (p, rank), stored, passing, seconds, product.seconds, single)

    @staticmethod
    def of_elastic(terms: Sequence[Term], rtol: float) -> "Part":
        """The estimate of a table of layers of elastostatics, from their tree alone."""
        promise = first_order(ELASTIC, rtol, any(each.atom.integrand.normal != "none" for each in terms))[0]
        layout, (p, rank), formats = layout_of(terms, promise), promise.order[:2], ELASTOSTATICS
        size, form = 4 if rtol >= formats.stored else 8, terms[0].atom
        near = [layout.near_entries(each.atom) // (2 if each.atom.is_symmetric else 1) for each in terms]
        values, fields = {each.top: each.atom.test for each in terms}, {each.left: each.atom.trial for each in terms}
        moments = sum(len(layout.rows.pieces(each).whole) // DIRECTIONS for each in values.values())
        moments = SUMS * rank * (moments + sum(len(layout.rows.pieces(each).whole) for each in fields.values()))
        entry, number = (COUNTS.entry, COUNTS.number) if rtol >= formats.packed else (size, size)
        read = entry * sum(near) + number * moments
        stored = read + 2 * SUMS * rank * 8 * len(layout.tree.level) + COUNTS.tables[promise.order.apart - 1] * rank**2
        # near blocks, rows of the check, harmonics
        pairs = layout.near_triangles * sum(1 if each.atom.is_symmetric else 2 for each in terms) / 2
        blocks = pairs * pair_flops(form) + sum(touching_flops(each.atom) for each in terms)
        rows = ROWS / DIRECTIONS * sum(each.shape[1] / DIRECTIONS * row_flops(each.atom) / HALO for each in terms)
        spaces = [each.scalar for each in [*values.values(), *fields.values()]]
        harmonics = SUMS * moment_flops(spaces, form.quadrature.regular, p, rank)
        flops = (SINGLE if rtol >= formats.computed else 1.0) * blocks + rows + harmonics
        seconds = Cost(flops, calls=COUNTS.preparation).seconds
        product = Cost(SUMS * 2 * rank**2 * len(layout.lists.far.source), BLOCKS * read, COUNTS.product).seconds
        return Part(int(layout.tree.level[-1]), (p, rank), int(stored), 0, seconds, product, size == 4)


def moment_flops(spaces: Sequence[Any], degree: int, p: int, rank: int) -> float:
    """Flops of the moments of the functions of some spaces: harmonics of degree p at the points of all triangles, for
    each local function, and their combinations. degree: of the rule of points."""
    points = triangle_rule(degree).number_of_points
    each = (COUNTS.harmonic * points * space.dofs.size + 2 * rank * space.dimension for space in spaces)
    return float(sum(each) * (p + 1) ** 2)


class Planner:
    """Collects the parts of an expression of operators. layout(operator, promise) gives the tree of one of Laplace's
    equation; single: whether its numbers are in single precision."""

    def __init__(self, rtol: float, single: bool, layout: Callable[[IntegralOperator, Promise], Layout]) -> None:
        self.rtol, self.single, self.layout = rtol, single, layout
        self.parts: dict[Hashable, Part] = {}
        self._counted = set[MomentsKey]()

    def leaf(self, operator: IntegralOperator) -> LinearOperator:
        """Enter an integral operator; what stands for its products is never used."""
        if operator.key not in self.parts:
            if operator.is_elastic:
                self.parts[operator.key] = Part.of_elastic([Term(1.0, operator)], self.rtol)
            else:
                promise = first_order(FUNCTIONS, self.rtol, operator.integrand.normal != "none")[0]
                layout = self.layout(operator, promise)
                given = operator, layout, promise, self.rtol, self.single, self._counted
                self.parts[operator.key] = Part.of_laplace(*given)
        return aslinearoperator(np.broadcast_to(0.0, operator.shape))

    def enter(self, terms: Sequence[Term]) -> None:
        """Enter a table of layers of elastostatics."""
        self.parts[None] = Part.of_elastic(terms, self.rtol)

    @property
    def plan(self) -> Plan:
        """The plan of all parts together; they are computed one after the other."""
        parts = list(self.parts.values())
        nbytes = sum(each.stored for each in parts) + max((each.passing for each in parts), default=0)
        seconds, product = sum(each.seconds for each in parts), sum(each.product_seconds for each in parts)
        levels, (p, rank) = max((each[:2] for each in parts), default=(0, (0, 0)), key=lambda each: each[1])
        text, single = f"{levels} levels, degree {p} with {rank} combinations", all(each.single for each in parts)
        return Plan("fmm", nbytes, seconds, product, text, "single" if single else "double")
