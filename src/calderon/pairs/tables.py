"""Quadrature rules of touching and near pairs of triangles as the arrays that compiled loops read."""

from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from calderon.quadrature.singular import CondensedRule, Side
from calderon.spaces.element import Element

Array = NDArray[np.float64]
CHUNK = 8
"""Points whose values are kept while the moments are summed."""
GROUP = 4
"""Points on the trial triangle whose values are kept in products of rules."""


class RuleTable(NamedTuple):
    """Points (4, Q) of several rules as u1, u2, v1, v2 and products of local functions (A * B, Q), weights included;
    rule r has the points starts[r] to starts[r + 1], all multiples of CHUNK."""

    points: NDArray[np.floating]
    products: NDArray[np.floating]
    starts: NDArray[np.int64]

    @property
    def number_of_rules(self) -> int:
        return len(self.starts) - 1

    @staticmethod
    def of(rule: CondensedRule, test: Element, trial: Element) -> "RuleTable":
        """Tabulate a rule for two elements; padded with points of no weight."""
        fibres, _, radial = rule.weights.shape
        count = len(rule.test_points)
        padding = -count % CHUNK
        points = np.empty((4, count + padding))
        points[:2, :count], points[2:, :count] = rule.test_points.T, rule.trial_points.T
        points[:, count:] = points[:, count - 1 : count]
        left = test.values(rule.test_fibres.reshape(-1, 2)).reshape(-1, 1, fibres, radial)
        right = trial.values(rule.trial_fibres.reshape(-1, 2)).reshape(1, -1, fibres, radial)
        pairs = (left * right).reshape(-1, fibres, radial).swapaxes(0, 1)
        products = np.zeros((pairs.shape[1], count + padding))
        products[:, :count] = (pairs @ rule.weights.swapaxes(1, 2)).swapaxes(0, 1).reshape(-1, count)
        return RuleTable(points, products, np.array([0, count + padding]))

    def to(self, real: DTypeLike) -> "RuleTable":
        """In that floating-point type."""
        return RuleTable(self.points.astype(real, copy=False), self.products.astype(real, copy=False), self.starts)

    @staticmethod
    def united(tables: list["RuleTable"], real: DTypeLike = np.float64) -> "RuleTable":
        """Several tables as one, in a floating-point type; takes them out of the list: they would be held twice."""
        ends = np.cumsum([0, *(each.points.shape[1] for each in tables)])
        size = len(tables[0].products) if tables else 0
        starts = np.concatenate([[0], *(each.starts[1:] + end for each, end in zip(tables, ends, strict=False))])
        whole = RuleTable(np.empty((4, ends[-1]), real), np.empty((size, ends[-1]), real), starts)
        for start, stop in zip(ends[:-1], ends[1:], strict=True):
            each = tables.pop(0)
            whole.points[:, start:stop], whole.products[:, start:stop] = each.points, each.products
        return whole


class SideTable(NamedTuple):
    """Points (2, Q) of several rules on one triangle and local functions there (A, Q), weights included; rule r has the
    points starts[r] to starts[r + 1]."""

    points: NDArray[np.floating]
    products: NDArray[np.floating]
    starts: NDArray[np.int64]

    @staticmethod
    def of(rules: list[Side], element: Element, multiple: int) -> "SideTable":
        """The table of the points (n, 2) and weights (n,) of each rule, padded with points of no weight to
        multiples."""
        sizes = np.array([len(weights) for _, weights in rules])
        room = sizes + -sizes % multiple
        ends, starts = np.cumsum(sizes), np.append(0, np.cumsum(room))
        # which of all points each place has: those of padding the last one of the rule
        place = np.arange(starts[-1]) - np.repeat(starts[:-1], room)
        which = np.repeat(ends - sizes, room) + np.minimum(place, np.repeat(sizes - 1, room))
        points = np.concatenate([x for x, _ in rules])
        values = element.values(points) * np.concatenate([weights for _, weights in rules])
        products = np.where(place < np.repeat(sizes, room), values[:, which], 0.0)
        return SideTable(np.ascontiguousarray(points[which].T), np.ascontiguousarray(products), starts)

    def to(self, real: DTypeLike) -> "SideTable":
        """In that floating-point type."""
        return SideTable(self.points.astype(real, copy=False), self.products.astype(real, copy=False), self.starts)


class ProductTable(NamedTuple):
    """Rules of all points of one on the test triangle with all points of one on the trial triangle; those of the trial
    triangle are multiples of GROUP."""

    test: SideTable
    trial: SideTable

    @staticmethod
    def of(rules: list[tuple[Side, Side]], test: Element, trial: Element) -> "ProductTable":
        """The table of the points (n, 2) and weights (n,) on both triangles of each rule."""
        one, two = zip(*rules, strict=True)
        return ProductTable(SideTable.of(list(one), test, 1), SideTable.of(list(two), trial, GROUP))

    @property
    def number_of_rules(self) -> int:
        return len(self.test.starts) - 1

    def to(self, real: DTypeLike) -> "ProductTable":
        """In that floating-point type."""
        return ProductTable(self.test.to(real), self.trial.to(real))

    @property
    def sizes(self) -> tuple[int, int]:
        """Local functions of both triangles."""
        return len(self.test.products), len(self.trial.products)

    @property
    def most(self) -> int:
        """Points of the largest rule on the trial triangle."""
        return int(np.diff(self.trial.starts).max(initial=0))

    def in_pairs(self) -> RuleTable:
        """These rules as a table of pairs of points."""
        tables = []
        for p, q, p_end, q_end in zip(
            self.test.starts[:-1], self.trial.starts[:-1], self.test.starts[1:], self.trial.starts[1:], strict=True
        ):
            shape = p_end - p, q_end - q
            x, y = self.test.points[:, p:p_end, None], self.trial.points[:, None, q:q_end]
            points = np.concatenate([np.broadcast_to(each, (2, *shape)) for each in (x, y)]).reshape(4, -1)
            products = self.test.products[:, None, p:p_end, None] * self.trial.products[None, :, None, q:q_end]
            padding = -points.shape[1] % CHUNK
            tables.append(
                RuleTable(
                    np.pad(points, [(0, 0), (0, padding)], mode="edge"),
                    np.pad(products.reshape(-1, points.shape[1]), [(0, 0), (0, padding)]),
                    np.array([0, points.shape[1] + padding]),
                )
            )
        return RuleTable.united(tables)
