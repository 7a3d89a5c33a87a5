"""What an operator by fast multipole products will take, before memory is taken: levels, order, bytes, seconds."""

from collections.abc import Callable, Hashable
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from calderon.backends import thread_count
from calderon.fmm.elastic import FIELDS, SINGLE, STORED, layout_of
from calderon.fmm.elastic_moments import SUMS
from calderon.fmm.layout import Layout
from calderon.fmm.orders import ELASTIC, FUNCTIONS, Promise, first_order
from calderon.fmm.packed import RTOL
from calderon.operators.boundary import IntegralOperator
from calderon.operators.memory_estimate import preparation_bytes
from calderon.operators.methods import STREAM, Plan
from calderon.operators.tree import terms_of
from calderon.products.check import ROWS

NEAR, SPECIAL, ROW, MOMENT, FAR = 1e-7, 3e-5, 2.5e-8, 2e-8, 3e-9
"""Processor seconds, in estimates, of a near entry, of the special pairs of a triangle, of an entry of a row that is
computed directly (double precision takes twice as long), of a harmonic of a function, and of a number of a
translation (twice)."""
ELASTIC_NEAR, ELASTIC_SPECIAL, ELASTIC_ROW, ELASTIC_MOMENT, ELASTIC_FAR = 1.5e-8, 4.5e-5, 1.7e-7, 1.1e-10, 4e-9
"""The same of layers of elastostatics, rows and translations always in double precision; of each number of a moment for
each harmonic."""
TABLES, PACKED, DIGITS = (1500, 3300), 1.7, 1.55
"""Bytes of tables over the square of their rank, by how far neighbours are apart; of a number of packed blocks with
exponents and the ends of rows, and of a moment in digits, about."""


class Part(NamedTuple):
    """What one integral operator takes: levels and order, bytes that stay and bytes while it is computed, seconds."""

    levels: int
    order: tuple[int, int]
    stored: int
    passing: int
    seconds: float
    product_seconds: float

    @staticmethod
    def of(operator: IntegralOperator, layout: Layout, promise: Promise, single: bool) -> "Part":
        """The estimate of one operator. single: whether numbers are in single precision."""
        size, times = (4, 1) if single else (8, 2)
        normal, (p, rank) = operator.integrand.normal != "none", promise.order[:2]
        components = 3 if operator.integrand.curls else 1
        near = layout.near_entries(operator) // (2 if operator.is_symmetric else 1)
        one_side = operator.test is operator.trial and not normal
        sides = layout.rows.pieces(operator.test), layout.columns.pieces(operator.trial)
        functions = components * sum(len(each.whole) for each in sides[: 1 if one_side else 2])
        boxes, pairs = len(layout.tree.level), len(layout.lists.far.source)
        far = functions * rank + 2 * boxes * components * rank
        stored = size * near + (8 if normal else size) * far + 32 * pairs
        triangles = len(operator.test.triangles) + (0 if one_side else len(operator.trial.triangles))
        seconds = NEAR * near + SPECIAL * triangles + ROW * ROWS * operator.shape[1]
        seconds = times * seconds + MOMENT * functions * (p + 1) ** 2
        product = stored / STREAM + (2 if normal else times) * FAR * pairs * components * rank
        passing = preparation_bytes(operator) + 8 * ROWS * operator.shape[1]
        return Part(int(layout.tree.level[-1]), (p, rank), stored, passing, seconds, product)


class Planner:
    """Collects the parts of an expression of operators. layout(operator, promise) gives the tree of one."""

    def __init__(self, rtol: float, single: bool, layout: Callable[[IntegralOperator, Promise], Layout]) -> None:
        self.rtol, self.single, self.layout = rtol, single, layout
        self.parts: dict[Hashable, Part] = {}

    def leaf(self, operator: IntegralOperator) -> LinearOperator:
        """Enter an integral operator; what stands for its products is never used."""
        if operator.key not in self.parts:
            promise = first_order(FUNCTIONS, self.rtol, operator.integrand.normal != "none")[0]
            layout = self.layout(operator, promise)
            self.parts[operator.key] = Part.of(operator, layout, promise, self.single)
        return aslinearoperator(np.broadcast_to(0.0, operator.shape))

    @property
    def plan(self) -> Plan:
        """Of all parts together; they are computed one after the other."""
        parts, threads = list(self.parts.values()), thread_count()
        nbytes = sum(each.stored for each in parts) + max((each.passing for each in parts), default=0)
        seconds, product = sum(each.seconds for each in parts), sum(each.product_seconds for each in parts)
        levels, (p, rank) = max((each[:2] for each in parts), default=(0, (0, 0)), key=lambda each: each[1])
        text, numbers = f"{levels} levels, degree {p} with {rank} combinations", "single" if self.single else "double"
        return Plan("fmm", nbytes, seconds / threads, product / threads, text, numbers)


def plan_elastic(operator: Any, rtol: float) -> Plan:
    """About what products with a table of layers of elastostatics will take, from their tree alone."""
    terms, promise = terms_of(operator), first_order(ELASTIC, rtol, True)[0]
    layout, (p, rank) = layout_of(terms, promise), promise.order[:2]
    size, times = 4 if rtol >= STORED else 8, 1 if rtol >= SINGLE else 2
    near = [layout.near_entries(each.atom) // (2 if each.atom.is_symmetric else 1) for each in terms]
    values = {each.top: len(layout.rows.pieces(each.atom.test).whole) // FIELDS for each in terms}
    fields = {each.left: len(layout.rows.pieces(each.atom.trial).whole) for each in terms}
    moments = SUMS * rank * (sum(values.values()) + sum(fields.values()))
    packed, digits = (PACKED, DIGITS) if rtol >= RTOL else (size, size)
    read = packed * sum(near) + digits * moments
    stored = read + 2 * SUMS * rank * 8 * len(layout.tree.level) + TABLES[promise.order.apart - 1] * rank**2
    triangles = sum(max(len(side.scalar.triangles) for side in (each.atom.test, each.atom.trial)) for each in terms)
    seconds = times * (ELASTIC_NEAR * sum(near) + ELASTIC_SPECIAL * triangles)
    seconds += ELASTIC_ROW * ROWS * sum(each.shape[1] for each in terms) + ELASTIC_MOMENT * (p + 1) ** 2 * moments
    product = read / STREAM + ELASTIC_FAR * SUMS * rank * len(layout.lists.far.source)
    levels, threads = int(layout.tree.level[-1]), thread_count()
    text = f"{levels} levels, degree {p} with {rank} combinations"
    return Plan("fmm", int(stored), seconds / threads, product / threads, text, "single" if size == 4 else "double")
