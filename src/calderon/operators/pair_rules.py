"""The quadrature rule of every touching and near pair, and the tables that the compiled kernel reads."""

import functools
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.backends import run_tasks
from calderon.operators.near import degree_for, subdivided
from calderon.operators.pairs import Numbers, TouchingPairs, longest_edges
from calderon.operators.singular import Pairs, RuleTable, rule_table
from calderon.operators.smoothness import COUNTS, Lines, ellipse_kernel, points_needed, sample_lines
from calderon.quadrature.singular import ROLES, angular_maps, condensed_rule, product_rule
from calderon.spaces.element import Element

Array = NDArray[np.float64]
TOUCHING = 1.8
"""Exponent of the error of touching pairs per point of `Quadrature.singular`: 8 gives exp(-14.4) per angular direction,
in the worst corner of a pair, and 1e-6 of its integral."""
NODES = ((0.0, 1), (0.2, 3), (0.6, 4), (1.8, 5), (3.5, 6))
"""(phase over the longest edge, points on a fibre): up to that phase so many keep 1e-6."""
SHARE = 4096
"""Pairs whose ellipses are found in one task."""


class Batch(NamedTuple):
    """Pairs of selected triangles sorted by test triangle; rules (n,) says which of the tables each takes; parts: None
    or the barycentric corners ((n, 3, 3), (n, 3, 3)) where a pair is a part of its triangles."""

    tables: RuleTable
    rules: NDArray[np.int32]
    pairs: Pairs
    parts: tuple[Array, Array] | None

    def between(self, low: int, high: int) -> "Batch":
        """The pairs with low <= test triangle < high, those that share a rule together."""
        a, b = np.searchsorted(self.pairs.triangles[:, 0], [low, high])
        order = a + np.argsort(self.rules[a:b], kind="stable")
        parts = None if self.parts is None else (self.parts[0][order], self.parts[1][order])
        return Batch(self.tables, self.rules[order], self.pairs.part(order), parts)


class Assigned(NamedTuple):
    """Pairs and the code of the rule of each."""

    codes: NDArray[np.int64]
    pairs: Pairs


def batch_of(
    assigned: list[Assigned], elements: tuple[Element, Element], power: int, parts: tuple[Array, Array] | None = None
) -> Batch:
    """Sort by test triangle and tabulate the rules; power: of the kernel, singular like 1/|x - y|^power."""
    codes = np.concatenate([each.codes for each in assigned])
    pairs = Pairs(*(np.concatenate(each) for each in zip(*(each.pairs for each in assigned), strict=True)))
    distinct, rules = np.unique(codes, return_inverse=True)
    order = np.argsort(pairs.triangles[:, 0], kind="stable")
    tables = [_table(int(code), power, *elements) for code in distinct]
    size = elements[0].size * elements[1].size
    tables.append(RuleTable(np.zeros((4, 0)), np.zeros((size, 0)), np.zeros(2, np.int64)))  # there may be no pairs
    table = RuleTable(
        np.concatenate([each.points for each in tables], axis=1),
        np.concatenate([each.products for each in tables], axis=1),
        np.cumsum([0, *(each.points.shape[1] for each in tables)]),
    )
    if parts is not None:
        parts = (parts[0][order], parts[1][order])
    return Batch(table, rules[order].astype(np.int32), pairs.part(order), parts)


def touching_rules(
    touching: TouchingPairs, test: Array, trial: Array, singular: int, wavenumber: float
) -> list[Assigned]:
    """Rules for touching pairs of triangles with corners (m, 3, 3); wavenumber: |k|."""
    phase = wavenumber * np.maximum(
        longest_edges(test)[touching.pairs[:, 0]], longest_edges(trial)[touching.pairs[:, 1]]
    )
    bounds, nodes = np.array(NODES).T
    assigned = []
    for shared in (3, 2, 1):
        chosen = np.flatnonzero(touching.shared == shared)
        if not chosen.size:
            continue
        pairs = Pairs(touching.pairs[chosen], touching.test_order[chosen], touching.trial_order[chosen])
        number = np.searchsorted(bounds, phase[chosen])
        beyond = np.ceil(np.maximum(phase[chosen] - bounds[-1], 0))
        points = nodes[np.minimum(number, len(nodes) - 1)] + beyond
        ellipses = ellipses_of(test, trial, pairs, _angular_lines(shared))
        counts = np.minimum(points_needed(ellipses, TOUCHING * singular), 16 if shared == 1 else COUNTS[-1])
        assigned.append(Assigned(_code([np.full(chosen.size, shared), points.astype(np.int64), *counts.T]), pairs))
    return assigned


def near_rules(
    pairs: Numbers, ratio: Array, test: Array, trial: Array
) -> tuple[list[Assigned], tuple[list[Assigned], tuple[Array, Array]] | None]:
    """Rules for near pairs: those that one rule integrates; pieces of the others with their barycentric corners."""
    degree = degree_for(ratio)
    order = np.broadcast_to(np.arange(3, dtype=np.int8), (len(pairs), 3))
    even = degree > 0
    assigned = [Assigned(_code([0 * degree[even], degree[even]]), Pairs(pairs[even], order[even], order[even]))]
    close = pairs[~even]
    if not len(close):
        return assigned, None
    pieces = subdivided(test[close[:, 0]], trial[close[:, 1]])
    unchanged = np.broadcast_to(np.arange(3, dtype=np.int8), (len(pieces.parent), 3))
    whole = Pairs(close[pieces.parent], unchanged, unchanged)
    along, across = pieces.counts.reshape(-1, 2, 2)[:, :, 0], pieces.counts.reshape(-1, 2, 2)[:, :, 1]
    even = across >= along  # a symmetric rule has fewer points
    sides = np.stack([np.where(even, across, along), across], axis=2).reshape(-1, 4)
    codes = _code([np.full(len(pieces.parent), 4), *sides.T])
    return assigned, ([Assigned(codes, whole)], (pieces.test, pieces.trial))


def ellipses_of(test: Array, trial: Array, pairs: Pairs, lines: Lines) -> Array:
    """(n, coordinates) the least E of each pair along each coordinate (see smoothness.py)."""
    out = np.empty((len(pairs.triangles), int(lines.lines[:, 0].max()) + 1))
    compute = ellipse_kernel()

    def run(number: int) -> None:
        part = slice(number * SHARE, (number + 1) * SHARE)
        compute(test, trial, pairs.part(part), lines, out[part])

    run_tasks(run, -(-len(out) // SHARE))
    return out


@functools.lru_cache(maxsize=3)
def _angular_lines(shared: int) -> Lines:
    return sample_lines(angular_maps(shared), list(ROLES[shared]))


def _code(digits: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Small numbers, the first below 8, as one: the first in the lowest place."""
    code = np.zeros(len(digits[0]), dtype=np.int64)
    for place, digit in enumerate(digits):
        code += digit << (3 + 8 * (place - 1) if place else 0)
    return code


@functools.lru_cache(maxsize=64)
def _table(code: int, power: int, test: Element, trial: Element) -> RuleTable:
    """The table of a coded rule: 0 and a degree; 1 to 3 shared vertices, points on a fibre and angular points; 4 and
    the points along and across of both triangles."""
    kind, (first, *rest) = code % 8, [(code >> 3 + 8 * place) % 256 for place in range(4)]
    if kind == 0:
        rule = product_rule(first, first)
    elif kind == 4:
        rule = product_rule((first, rest[0]), (rest[1], rest[2]))
    else:
        angular = tuple(rest[: (1, 2, 3)[3 - kind]])
        return rule_table(condensed_rule(kind, angular, first, power, test.degree + trial.degree), test, trial)
    return rule_table(rule, test, trial)
