"""The quadrature rule of every touching and near pair, and the tables that the compiled kernel reads."""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from calderon.backends.memory import bounded_cache
from calderon.backends.threads import in_parts
from calderon.mesh.geometry import Extents, extents
from calderon.pairs.classes import Numbers, Pairs, TouchingPairs, joined_orders, unchanged_orders
from calderon.pairs.close import CLOSE, ClosePairs, in_order, warn_of_closest
from calderon.pairs.grouping import arranged, grouped, numbered
from calderon.pairs.near import accuracy_for, degree_for, subdivided
from calderon.pairs.tables import ProductTable, RuleTable
from calderon.pairs.touching import Limits, code_of, touching_codes
from calderon.quadrature.options import Quadrature
from calderon.quadrature.singular import ROLES, Side, condensed_rule, points_on_side
from calderon.spaces.element import Element

Array = NDArray[np.float64]
COUNTED = 8192
"""Touching pairs whose rules are found at a time: many numbers for each."""
EXCHANGED = 1 << 40
"""Added to the code of a rule: its test and trial triangles change places."""
TABLE_BYTES = 1 << 28
"""Bytes of tables of touching pairs that are kept for the next assembly: they take long to make."""
NODES = (
    ((0.0, 1), (0.25, 2), (1.1, 3), (2.2, 4), (3.5, 5)),
    ((0.0, 1), (0.4, 3), (1.1, 4), (2.2, 5), (3.5, 6)),
    ((0.0, 1), (0.4, 4), (1.1, 5), (2.2, 6), (3.5, 7)),
)
"""(phase over the longest edge, points on a fibre): up to that phase so many keep 1e-6; for constant, linear and
quadratic test and trial functions; each further degree takes one point more."""


class Batch(NamedTuple):
    """Pairs of selected triangles sorted by test triangle, or by rule; rules (n,) says which of the tables each takes;
    parts: None or the barycentric corners ((n, 3, 3), (n, 3, 3)) where a pair is a part of its triangles; close: None,
    or how pairs without a rule are integrated (close_moments.py)."""

    tables: RuleTable | ProductTable
    rules: NDArray[np.int32]
    pairs: Pairs
    parts: tuple[Array, Array] | None
    close: ClosePairs | None = None

    def part(self, which: Any) -> "Batch":
        """Some of the pairs, as compiled kernels take them."""
        rules, triangles = self.rules[which], self.pairs.triangles[which]
        given = self.pairs[1:]
        orders = [unchanged_orders(len(rules)) if each.strides[0] == 0 else each[which] for each in given]
        return self._of(rules, triangles, orders, which)

    def between(self, low: int, high: int) -> "Batch":
        """The pairs with low <= test triangle < high, those that share a rule together; of a batch sorted by test
        triangle."""
        a, b = np.searchsorted(self.pairs.triangles[:, 0], [low, high])
        order = int(a) + grouped(self.rules[a:b], self.tables.number_of_rules)[1]
        given = self.pairs[1:]
        orders = [unchanged_orders(len(order)) if each.strides[0] == 0 else arranged(each, order) for each in given]
        return self._of(self.rules[order], arranged(self.pairs.triangles, order), orders, order)

    def _of(self, rules: Numbers, triangles: Numbers, orders: list[NDArray[np.int8]], which: Any) -> "Batch":
        parts = None if self.parts is None else (self.parts[0][which], self.parts[1][which])
        return Batch(self.tables, rules, Pairs(triangles, orders[0], orders[1]), parts, self.close)


class Assigned(NamedTuple):
    """Pairs and which of the coded rules (distinct) each has."""

    codes: NDArray[np.int64]
    rules: NDArray[np.int32]
    pairs: Pairs

    @staticmethod
    def of(codes: NDArray[np.int64], pairs: Pairs) -> "Assigned":
        """The assignment from the code of each pair, which takes more memory."""
        return Assigned(*numbered(codes), pairs)


def batch_of(
    assigned: list[Assigned],
    elements: tuple[Element, Element],
    power: int,
    real: DTypeLike,
    parts: tuple[Array, Array] | None = None,
    by_rule: bool = False,
) -> Batch:
    """Sort by test triangle, or by rule, and tabulate rules in a floating-point type; power: of the kernel, singular
    like 1/|x - y|^power.

    Takes the pairs out of `assigned`, one array after the other: they would be held twice.
    """
    distinct = np.unique(np.concatenate([each.codes for each in assigned]))
    rules = np.concatenate([np.searchsorted(distinct, each.codes).astype(np.int32)[each.rules] for each in assigned])
    fields = [list(each) for each in zip(*(each.pairs for each in assigned), strict=True)]
    assigned.clear()
    triangles = np.concatenate(fields.pop(0))
    keys = rules if by_rule else triangles[:, 0]
    order = grouped(keys, int(keys.max(initial=0)) + 1)[1]
    rules, triangles = rules.take(order), arranged(triangles, order)
    orders = [joined_orders(fields.pop(0), order) for _ in range(2)]
    if parts is not None:
        parts = (parts[0][order], parts[1][order])
    del order
    tables = _united(distinct, power, *elements).to(real)
    return Batch(tables, rules, Pairs(triangles, *orders), parts)


def _united(codes: NDArray[np.int64], power: int, test: Element, trial: Element) -> RuleTable | ProductTable:
    """The tables of all these codes as one: of pairs that touch, or of pairs that do not."""
    if (codes % 8 == 0).any() or (codes % 8 == 4).any():
        return ProductTable.of([_sides(int(code)) for code in codes], test, trial)
    return RuleTable.united([_table(int(code), power, test, trial) for code in codes])


class Wanted(NamedTuple):
    """Requirements of rules: `singular` of Quadrature, |k|, the power of the kernel, singular like 1/|x - y|^power,
    the degree of the products of shape functions, and digits of near pairs (near.DEGREES). mirrored: whether integrals
    over a triangle and itself are principal values, which need points in mirrored pairs: no close pairs."""

    singular: int
    wavenumber: float
    power: int
    degree: int
    digits: int
    mirrored: bool = False


def close_batches(close: tuple[Numbers, Numbers], wanted: Wanted, by_rule: bool) -> list[Batch]:
    """Batches of the pairs (n, 2) whose outer triangle is the test, and of those where it is the trial triangle."""
    batches = []
    for exchanged, triangles in enumerate(close):
        if len(triangles):
            if not by_rule:
                triangles = triangles[np.argsort(triangles[:, 0], kind="stable")]
            order = np.broadcast_to(np.arange(3, dtype=np.int8), (len(triangles), 3))
            pairs = Pairs(np.ascontiguousarray(triangles), order, order)
            none = RuleTable.united([])
            more = max(0, wanted.singular - Quadrature().singular)  # above the default close pairs get more points, too
            settings = ClosePairs(bool(exchanged), wanted.wavenumber, wanted.power, more)
            batches.append(Batch(none, np.zeros(len(triangles), np.int32), pairs, None, settings))
    return batches


class SpecialRules(NamedTuple):
    """Rules for pairs that touch and pairs that do not; for pieces of the others, and the barycentric corners of
    those; close pairs (n, 2) whose outer triangle is the test, and those where it is the trial triangle."""

    touching: list[Assigned]
    near: list[Assigned]
    pieces: list[Assigned]
    parts: tuple[Array, Array]
    close: tuple[Numbers, Numbers]


def special_rules(
    touching: TouchingPairs,
    near: Numbers,
    ratio: NDArray[np.float32],
    test: Array,
    trial: Array,
    backward: tuple[NDArray[np.bool_], NDArray[np.bool_]],
    wanted: Wanted,
) -> SpecialRules:
    """Rules for touching and near pairs (at that ratio of distance to size) of triangles with corners (m, 3, 3).

    backward: which of them take the rule of the pair in the other order, so that (i, j) and (j, i) have the same
    points.
    """
    touch, close = backward
    if not (touch.any() or close.any()):
        return _forward_rules(touching, near, ratio, test, trial, wanted)
    rules = _forward_rules(touching.part(~touch), near[~close], ratio[~close], test, trial, wanted)
    exchanged = touching.part(touch).exchanged(), near[close][:, ::-1]
    back = _forward_rules(*exchanged, ratio[close], trial, test, wanted)

    def united(forward: list[Assigned], backward: list[Assigned]) -> list[Assigned]:
        exchanged = (Assigned(each.codes + EXCHANGED, each.rules, each.pairs.exchanged()) for each in backward)
        return [*forward, *exchanged]

    parts = (np.concatenate(each) for each in zip(rules.parts, back.parts[::-1], strict=True))
    apart = (np.concatenate([one, two[:, ::-1]]) for one, two in zip(rules.close, back.close[::-1], strict=True))
    return SpecialRules(
        united(rules.touching, back.touching), united(rules.near, back.near), united(rules.pieces, back.pieces),
        (next(parts), next(parts)), (next(apart), next(apart)),
    )  # fmt: skip


def _forward_rules(
    touching: TouchingPairs, near: Numbers, ratio: NDArray[np.float32], test: Array, trial: Array, wanted: Wanted
) -> SpecialRules:
    """The rules of `special_rules` in the order of the pairs."""
    touch, many = _touching_rules(touching, test, trial, wanted)
    unchanged = np.arange(3, dtype=np.int8)
    nearest = ratio < CLOSE
    warn_of_closest(near[nearest], ratio[nearest], test, trial)
    close_pairs = in_order(np.concatenate([near[nearest], touching.pairs[many]]), test, trial)
    if nearest.any():
        near, ratio = near[~nearest], ratio[~nearest]
    degree = degree_for(ratio, wanted.digits)
    even = degree > 0
    cut = near[~even]
    pieces = subdivided(test[cut[:, 0]], trial[cut[:, 1]], accuracy_for(wanted.power, wanted.digits))
    parent, parts = pieces.parent, (pieces.test, pieces.trial)
    order = np.broadcast_to(unchanged, (len(parent), 3))
    divided = Assigned.of(_side_codes(pieces.counts), Pairs(cut[parent], order, order))
    return SpecialRules(touch, [_even_rules(near, degree)], [divided], parts, close_pairs)


def _even_rules(near: Numbers, degree: NDArray[np.int8]) -> Assigned:
    """The rules of pairs that have a degree: few distinct ones."""
    even = degree > 0
    chosen = degree[even]
    used = np.bincount(chosen) > 0
    distinct, number = np.flatnonzero(used), np.cumsum(used, dtype=np.int32) - 1
    rules = number.take(chosen)
    order = np.broadcast_to(np.arange(3, dtype=np.int8), (len(rules), 3))
    codes = code_of(0, distinct, 0, 0, 0)
    return Assigned(codes, rules, Pairs(near if even.all() else arranged(near, np.flatnonzero(even)), order, order))


def _touching_rules(
    touching: TouchingPairs, test: Array, trial: Array, wanted: Wanted
) -> tuple[list[Assigned], NDArray[np.int64]]:
    """Rules for touching pairs, and the numbers of those that need too many points."""
    read = slice(None if len(touching.pairs) else 0)
    one = test[read], extents(test[read])
    two = one if trial is test else (trial[read], extents(trial[read]))
    assigned, many = [], [np.zeros(0, np.int64)]
    for shared in (3, 2, 1):
        chosen = np.flatnonzero(touching.shared == shared)
        columns = touching.pairs, touching.test_order, touching.trial_order
        pairs = Pairs(*(arranged(each, chosen) for each in columns))
        codes = _touching_codes(one, two, pairs, Limits.of(shared, wanted.singular, wanted.mirrored), wanted)
        few = codes >= 0
        many.append(chosen[~few])
        assigned.append(Assigned.of(codes, pairs) if few.all() else Assigned.of(codes[few], pairs.part(few)))
    return assigned, np.concatenate(many)


def touching_points(
    touching: TouchingPairs, test: Array, trial: Array, wanted: Wanted, backward: NDArray[np.bool_]
) -> tuple[dict[int, int], dict[int, int], bool]:
    """The points of each distinct rule of touching pairs, by its code, known without tables: of pairs in their own
    order, and of those that take the rule of the other order; and whether some pairs need too many. Arguments as in
    `special_rules`."""
    forward, few = _points_of_rules(touching.part(~backward), test, trial, wanted)
    back, others = _points_of_rules(touching.part(backward).exchanged(), trial, test, wanted)
    return forward, back, not (few and others)


def _points_of_rules(touching: TouchingPairs, test: Array, trial: Array, wanted: Wanted) -> tuple[dict[int, int], bool]:
    """The points of each distinct rule of touching pairs by its code, and whether all pairs have one."""
    assigned, many = _touching_rules(touching, test, trial, wanted)
    points = {}
    for code in np.unique(np.concatenate([each.codes for each in assigned])).tolist():
        shared, (nodes, *angular) = _digits(code)
        points[code] = nodes * len(ROLES[shared]) * math.prod(angular[: 4 - shared])
    return points, not many.size


def _touching_codes(
    test: tuple[Array, Extents], trial: tuple[Array, Extents], pairs: Pairs, limits: Limits, wanted: Wanted
) -> NDArray[np.int64]:
    """(n,) codes of the rules of pairs as in `touching_codes`, for |k| and the degree that are wanted."""
    codes = np.empty(len(pairs.triangles), np.int64)

    def work(low: int, high: int) -> None:
        some = pairs.part(slice(low, high))
        i, j = some.triangles.T
        nodes = fibre_points(wanted.wavenumber * np.maximum(test[1].size[i], trial[1].size[j]), wanted.degree)
        codes[low:high] = touching_codes(test, trial, some, nodes, limits)

    in_parts(work, len(codes), COUNTED)
    return codes


def fibre_points(phase: Array, degree: int) -> NDArray[np.int64]:
    """Points on a fibre at that phase over the longest edge, for products of shape functions of that degree; many in
    steps, so that few tables are made."""
    bounds, nodes = fibre_steps(degree)
    additional = np.where(phase > bounds[-1], np.ceil((phase - bounds[-1] + 1) / 1.8), 0)
    additional = np.where(additional > 4, 4 * np.ceil(additional / 4), additional)
    points = nodes[np.minimum(np.searchsorted(bounds, phase), len(nodes) - 1)] + additional
    return np.asarray(points.astype(np.int64))


def fibre_steps(degree: int) -> tuple[Array, Array]:
    """Phases and numbers of points on a fibre up to them, for products of shape functions of that degree."""
    kind = math.ceil(degree / 2)
    bounds, nodes = np.array(NODES[min(kind, len(NODES) - 1)]).T
    return bounds, nodes + max(0, kind - len(NODES) + 1)


def _side_codes(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Codes of product rules with so many points (n, 4) along and across both triangles."""
    along, across = counts.reshape(-1, 2, 2)[:, :, 0], counts.reshape(-1, 2, 2)[:, :, 1]
    even = across >= along  # a symmetric rule has fewer points
    sides = np.stack([np.where(even, across, along), across], axis=2).reshape(-1, 4)
    return np.asarray(code_of(4, *sides.T))


def tables_in_pairs(codes: list[int], power: int, elements: tuple[Element, Element], real: DTypeLike) -> RuleTable:
    """Tables of coded rules, those of pairs that do not touch in front, for pairs of points; arguments as in
    `batch_of`."""
    apart = [_sides(each) for each in codes if each % 8 == 0]
    tables = [ProductTable.of(apart, *elements).in_pairs()] if apart else []
    tables += [_table(each, power, *elements) for each in codes if each % 8 != 0]
    return RuleTable.united(tables, real)


def _digits(code: int) -> tuple[int, list[int]]:
    """The kind of a coded rule and its numbers: 0 and a degree; 1 to 3 shared vertices, points on a fibre and angular
    points; 4 and the points along and across of both triangles."""
    return code % 8, [(code >> 3 + 8 * place) % 256 for place in range(4)]


def _sides(code: int) -> tuple[Side, Side]:
    """Points and weights on both triangles of a coded rule of pairs that do not touch."""
    kind, digits = _digits(code)
    test, trial = (digits[0], digits[0]) if kind == 0 else ((digits[0], digits[1]), (digits[2], digits[3]))
    sides = points_on_side(test), points_on_side(trial)
    return sides[::-1] if code & EXCHANGED else sides


def _table(code: int, power: int, test: Element, trial: Element) -> RuleTable:
    """The table of a coded rule of touching pairs."""
    if code & EXCHANGED:
        back = _table(code ^ EXCHANGED, power, trial, test)
        products = back.products.reshape(trial.size, test.size, -1).swapaxes(0, 1)
        return RuleTable(back.points[[2, 3, 0, 1]], products.reshape(test.size * trial.size, -1), back.starts)
    kind, (first, *rest) = _digits(code)
    return _condensed_table(kind, tuple(rest[: (1, 2, 3)[3 - kind]]), first, power, test, trial)


@bounded_cache(TABLE_BYTES)
def _condensed_table(
    shared: int, angular: tuple[int, ...], nodes: int, power: int, test: Element, trial: Element
) -> RuleTable:
    return RuleTable.of(condensed_rule(shared, angular, nodes, power, test.degree + trial.degree), test, trial)


def forget_rules() -> None:
    """Drop the tables of touching pairs, which are made anew when they are needed: 12 MB, a third of a second."""
    _condensed_table.clear()  # type: ignore[attr-defined]
