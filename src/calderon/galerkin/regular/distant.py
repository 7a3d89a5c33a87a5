"""The rule of distant pairs of triangles (pairs/zones.py) in a tile: its tables, and the distant lanes of a vector.

Near lanes have the usual rule, distant ones the cheaper rule; where a vector has both, both are computed, and each is
multiplied by 1 where it holds, else by 0. The rule of a pair so depends on this pair alone.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from calderon.backends.vectors import jitable, where_less
from calderon.galerkin.forms.form import Form
from calderon.galerkin.regular.centroid_distances import steps_of
from calderon.galerkin.regular.element_tables import blocked, by_groups, in_threes, packed, test_weights
from calderon.greens import Radial
from calderon.integrands import Component
from calderon.mesh.geometry import FlatTriangles
from calderon.pairs.zones import DEGREE, DistantRule
from calderon.quadrature import TriangleRule, triangle_rule

Functions = Callable[[TriangleRule], tuple[NDArray[np.float64], NDArray[np.float64]]]
"""The functions (F, P) of the moments of both sides at the points of a rule."""

SAMPLE = 32
"""Test triangles by whose pairs the share of distant pairs is estimated."""


class Distant(NamedTuple):
    """The numbers of a tile for distant pairs.

    own (n,), others (blocks, LANES): squares of distances of the test and of the trial triangles (`pairs.zones`), from
    which on pairs are distant. weights (groups, m), table, units, measure: as in `TestSide` and `TrialSide`, factors
    (groups,) those of `TestSide` over those of the usual rule; steps, products: as in `Spreads`.
    """

    own: NDArray[np.floating]
    others: NDArray[np.floating]
    weights: NDArray[np.floating]
    factors: NDArray[np.floating]
    table: NDArray[np.floating]
    units: NDArray[np.floating]
    measure: NDArray[np.floating]
    steps: NDArray[np.floating]
    products: NDArray[np.floating]


def distant_rule(form: Form, radial: Radial, functions: Functions) -> DistantRule | None:
    """The rule of distant pairs of a form, None where pairs have one rule at any distance.

    A Green's function without parameters is c / r^p, as it has no length, and G has p = 1. Series are those of products
    of constants and of products of three linear functions, and of curls alone, which are constant; slopes those of
    products of three linear functions and the normal derivative of 1 / r.
    """
    rule = triangle_rule(DEGREE)
    if not form.is_plain or not in_threes(rule, *functions(rule)):
        return None
    sizes, component = [len(each) for each in functions(rule)], form.regular[0]
    if form.direct and radial.parameters == 0 and radial.orders[0] == 1:
        products = sizes == [3, 3] and not form.curls
        if component.normal != "none" and products:
            return "slopes"
        if component == Component(0) and (products or sizes == [1, 1]):
            return "series"
    return "points"


def are_weighed(rule: DistantRule | None, radial: Radial, tests: int, trials: int) -> bool:
    """Whether three points have the weights of waves (`centroid_distances.wave_weights`): a rule of distant pairs by
    points, of a Green's function with a wavenumber between three linear functions each."""
    return rule == "points" and radial.parameters > 0 and tests == trials == 3


class Zones(NamedTuple):
    """The rule of distant pairs, None where pairs have one rule at any distance, and for the triangles of the test and
    of the trial side the squares (n,) of the distances from which on others are distant (`pairs.zones`)."""

    rule: DistantRule | None
    reached: list[NDArray[np.float64]]

    @staticmethod
    def common(blocks: Sequence[Any]) -> "Zones":
        """The zones of blocks with the same triangles, whose pairs have one rule together, and take the larger
        distance; each block gets this rule as its own."""
        rules = {each.distant_rule for each in blocks}
        for each in blocks:
            each.distant_rule = None if None in rules else "points" if len(rules) > 1 else each.distant_rule
        sides = zip(*(each.reached() for each in blocks), strict=True)
        return Zones(blocks[0].distant_rule, [functools.reduce(np.maximum, each) for each in sides])

    def share(self, test: FlatTriangles, trial: FlatTriangles) -> float:
        """The share of distant pairs, from the pairs of SAMPLE triangles of the test side."""
        if self.rule is None or not len(test.corners):
            return 0.0
        (own, others), centres, places = self.reached, test.centroids, trial.centroids
        found = [
            np.mean(((centres[i] - places) ** 2).sum(axis=1) >= np.maximum(own[i], others))
            for i in np.unique(np.linspace(0, len(centres) - 1, SAMPLE).astype(int))
        ]
        return float(np.mean(found))


def distant_tables(
    rule: DistantRule | None, functions: Functions, usual: int, reached: list[NDArray[np.float64]], together: bool,
    real: DTypeLike,
) -> Distant:  # fmt: skip
    """The tables of a rule of distant pairs, empty for None.

    functions: of the moments; usual: degree of the usual rule; reached: squares of distances of both sides; together:
    whether test functions are applied together; real: the type of numbers.
    """
    if rule is None:
        return Distant(*(np.zeros((1,) * each, real) for each in (1, 2, 2, 1, 1, 1, 1, 1, 2)))
    points, before = triangle_rule(DEGREE), triangle_rule(usual)
    (first, second), lacking = functions(points), test_weights(functions(before)[0], before, True, together)[1]
    weights, units = test_weights(first, points, True, together)
    table, trial_units = points.weights, np.ones(1)
    if len(second) > 1:
        table, trial_units = by_groups(second * points.weights, True)
    if rule != "points":  # means over both triangles, of which Jacobians are twice the areas
        units = np.full(len(units), 1 / 4)
    steps = steps_of(points)
    parts = (
        reached[0], blocked(reached[1], 0.0), weights, units / lacking, table.ravel(), trial_units, points.weights,
        steps, -2 * np.outer(steps, steps),
    )  # fmt: skip
    return Distant(*(packed(each, real) for each in parts))


@jitable
def near_lanes(c, e, tiny, own, others):
    """1 where a pair of triangles is near, 0 where it is distant, from the centroids c and e, the number `tiny` that is
    added to squares and the squares of distances `own` and `others` of `Distant`."""
    d0, d1, d2 = c[0] - e[0], c[1] - e[1], c[2] - e[2]
    return where_less(d0 * d0 + tiny + d1 * d1 + d2 * d2, where_less(own, others, others, own), 1.0, 0.0)
