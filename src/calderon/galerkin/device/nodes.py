"""The numbers of triangles that both rules of regular pairs read on a device (distant.h): points, weights of waves,
centroids, and from which distance on other triangles are distant."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.backends import Defines
from calderon.backends.records import Record
from calderon.galerkin.device.triangles import CENTROID, Combinations, Nested
from calderon.galerkin.regular.centroid_distances import WEIGHT, spread_records
from calderon.galerkin.regular.distant import Zones, are_weighed
from calderon.mesh.geometry import FlatTriangles
from calderon.pairs.zones import DEGREE, NEVER
from calderon.quadrature import TriangleRule, triangle_rule

CORNERS = TriangleRule(1, np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]), np.ones(3))
"""The points and weights by which tables have the values of functions at the corners, for series."""


class Nodes(NamedTuple):
    """The points of both rules. rule: those of the usual one, then those of the rule of distant pairs, if there is one;
    usual: how many the former has; series, weighed: SERIES and WEIGHED of distant.h; square: Re k^2 of waves."""

    rule: TriangleRule
    usual: int
    series: int
    weighed: bool = False
    square: float = 0.0

    @staticmethod
    def of(block: Any, zones: Zones) -> "Nodes":
        """The points of a block; of the usual rule alone where no triangle is distant from another."""
        usual = triangle_rule(block.quadrature.regular)
        if zones.rule is None or min(float(each.min(initial=NEVER)) for each in zones.reached) >= NEVER:
            return Nodes(usual, usual.number_of_points, 0)
        values = 1 if len(block.moment_functions(CORNERS)[0]) == 1 else 2
        series = {"points": 0, "series": values, "slopes": 3}[zones.rule]
        added = CORNERS if series else triangle_rule(DEGREE)
        points, weights = (
            np.concatenate([getattr(each, part) for each in (usual, added)]) for part in ("points", "weights")
        )
        sizes = (len(each) for each in block.moment_functions(CORNERS))
        weighed, rule = are_weighed(zones.rule, block.radial, *sizes), TriangleRule(usual.degree, points, weights)
        return Nodes(rule, usual.number_of_points, series, weighed, block.square)

    @property
    def record(self) -> Record:
        """The numbers of a triangle."""
        return Record("NODES", points=3 * self.rule.number_of_points, weights=4 * self.weighed, centre=3, reach=1)

    @property
    def defines(self) -> Defines:
        """The definitions for distant.h."""
        points = ("POINTS", self.rule.number_of_points), ("USUAL_POINTS", self.usual), ("SERIES", self.series)
        return *points, ("WEIGHED", int(self.weighed)), *self.record.defines

    def of_triangles(self, surface: FlatTriangles, reach: NDArray[np.float64], kept: Any = None) -> Nested:
        """The record of the triangles of a surface with its parts; reach (n,): squares; kept: known weights by key."""
        key, kept = (self.square, float(self.rule.weights[-1])), {} if kept is None else kept
        if self.weighed and key not in kept:
            kept[key] = self._weights(surface)
        weights = kept[key] if self.weighed else np.zeros((len(reach), 0))
        points = Combinations(self.rule.barycentric)
        return Nested(self.record, {"points": points, "weights": weights, "centre": CENTROID, "reach": reach[:, None]})

    def _weights(self, surface: FlatTriangles) -> NDArray[np.float64]:
        """(n, 4) alpha w and beta_a w of the three points of distant waves, with the weights w of the rule."""
        rho, *shares = spread_records(surface, self.square, np.float64)[:, WEIGHT:].T
        alpha = rho / 2 * self.rule.weights[-1]
        return np.stack([alpha, *(alpha * each for each in shares)], axis=1)

    def linear(self, surface: FlatTriangles) -> NDArray[np.float64]:
        """(n, 3, P) linear functions of the triangles of a surface at the points of both rules, times weights."""
        table = np.tile((self.rule.barycentric * self.rule.weights[:, None]).T, (len(surface.corners), 1, 1))
        if self.weighed:
            alpha, *betas = self._weights(surface).T
            table[..., self.usual :] = np.stack(betas, axis=1)[..., None] + alpha[:, None, None] * np.eye(3)
        return table

    def evaluations(self, zones: Zones, test: FlatTriangles, trial: FlatTriangles) -> float:
        """Values of the Green's function for a pair of triangles of both sides, on average."""
        if self.rule.number_of_points == self.usual:
            return float(self.usual**2)
        share, distant = zones.share(test, trial), 1 if self.series else (self.rule.number_of_points - self.usual) ** 2
        return share * distant + (1 - share) * self.usual**2
