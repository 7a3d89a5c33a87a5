"""Tables of the functions of a side and records of its triangles (cluster_tables.py), which the loops behind rows,
columns and blocks of a matrix read."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.backends.records import Record
from calderon.backends.threads import in_parts
from calderon.galerkin.regular.centroid_distances import RECORD, spread_records, steps_of
from calderon.galerkin.regular.element_tables import by_groups, jointly
from calderon.mesh.geometry import FlatTriangles
from calderon.quadrature import TriangleRule

TRIANGLE = Record("TRIANGLE", centre=3, normal=3, jacobian=1, reach=1, spread=RECORD, data=None)
"""The record of a triangle, and the rows of a chunk: centroid, normal, twice the area, square of the distance of
distant triangles (pairs/zones.py), spread (see centroid_distances.py), what the form reads; then come the quadrature
points."""
CENTRE, NORMAL, JACOBIAN, REACH, SPREAD, DATA = TRIANGLE.places.values()
TOGETHER = 2048
"""Triangles whose records are made together: they have half a megabyte."""


class Layout(NamedTuple):
    """Places in the table of a side with so many moment functions, by points of a rule: table and units of the varying
    role, weights of the rule, barycentric coordinates, and what centroid_distances.py needs; weights of the fixed role
    at `begin`."""

    functions: int
    points: int
    threes: bool
    table: int
    units: int
    measure: int
    barycentric: int
    steps: int
    products: int
    ones: int
    begin: int = 0


def side_table(
    rule: TriangleRule, functions: NDArray[np.float64], threes: bool, begin: int = 0, means: bool = False
) -> tuple[Layout, NDArray[np.float64]]:
    """The layout and the table of a side with these moment functions (F, P) at the points of a rule; begin: numbers of
    the side that come before it. means: for series, whose sums are means over both triangles, of which Jacobians are
    twice the areas: with the f-th varying function at the f-th point."""
    fixed, unit = jointly(functions * rule.weights, threes)
    varying, units = by_groups(functions * rule.weights, threes)
    if means:
        varying, units, unit = np.eye(1, 2), np.ones(1), 1 / 4
    steps = steps_of(rule)
    barycentric, ones = rule.barycentric.T, np.ones(len(steps))
    parts = fixed, varying, np.append(units, unit), rule.weights, barycentric, steps, -2 * np.outer(steps, steps), ones
    begins = (begin + np.cumsum([each.size for each in parts])).tolist()
    layout = Layout(len(functions), rule.number_of_points, threes, *begins[:-1])._replace(begin=begin)
    return layout, np.concatenate([each.ravel() for each in parts])


def side_records(
    surface: FlatTriangles, data: NDArray[np.float64], reach: NDArray[np.float64], square: float, rule: TriangleRule
) -> NDArray[np.float64]:
    """(n, DATA + k + 3 P) records of the triangles, with what the form reads (n, k), the squares of the distances of
    distant triangles (n,), and weights of waves with Re k^2 = square."""
    count, width = len(surface.corners), DATA + data.shape[1] + 3 * rule.number_of_points
    out = np.empty((count, width))

    def work(low: int, high: int) -> None:
        """Fill the records of some triangles, whose numbers stay in the second-level cache."""
        some = FlatTriangles(*(each[low:high] for each in surface))
        columns = (
            some.centroids, some.normals, some.jacobian, reach[low:high],
            spread_records(some, square, np.float64), data[low:high], some.points(rule.points),
        )  # fmt: skip
        np.concatenate([each.reshape(high - low, -1) for each in columns], axis=1, out=out[low:high])

    in_parts(work, count, TOGETHER)
    return out
