"""Zones of pairs of triangles by distance: the usual rule, and from a distance on a cheaper one.

Two triangles whose centroids are d edges apart, where an edge is the root of the mean square of the three and the
larger one of both counts, are distant if

    C / d^p <= accuracy   and   B (k l)^q <= accuracy,

with the longest edge l of a triangle. The cheaper rules miss terms of the third or fourth order in 1 / d, and waves as
far as they oscillate over a triangle, at any distance; between linear functions the points of waves have weights of
their own (`wave_weights` in galerkin/regular/centroid_distances.py). All is measured (docs/decisions/72-zones.md), for
errors of entries over the largest one and of products with constant, smooth and random vectors over their largest
number, on spheres, cubes, ellipsoids and graded boxes: a tenth of the bound with C (`STATIC`), all of it with B.
"""

from dataclasses import replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.backends.numba import kernel
from calderon.quadrature import Quadrature
from calderon.quadrature.options import ACCURACY

DistantRule = Literal["series", "slopes", "points"]
"""Taylor's series about the centroids, of c / r or of its normal derivative, or the symmetric rule of `DEGREE` on both
triangles."""
DistantKernel = Literal["value", "normal", "curls"]
"""A Green's function, its normal derivative, or the form that is integrated by parts."""
DEGREE = 2
"""Degree of the rule of three points."""
USUAL = 4
"""The degree of `Quadrature.regular` that zones replace; another one holds for all pairs."""
NEVER = 1e30
"""The square of a distance that no pair has, in coordinates in which a mesh has unit size."""
STATIC = 0.1
"""Errors of static kernels over the accuracy, which errors of waves may reach."""
SHARE = 0.4
"""Errors of distant pairs over the tolerance of products."""
CORNER = 2 / 3
"""A corner is at most as far from the centroid as so many longest edges."""


Error = tuple[float, float]
"""A factor and a power."""


class Errors(NamedTuple):
    """Errors of rules of distant pairs, each by the larger degree of the functions of both triangles.

    series: C and p of a Green's function by series, curls: those of a form that is integrated by parts, the differences
    of whose products are harder; slopes: of its normal derivative between linear functions by series; points: of a
    Green's function by points, normal: of its normal derivative; waves: B and q.
    """

    series: tuple[Error, ...] = ((0.042, 4), (0.15, 4))
    curls: tuple[Error, ...] = ((0.13, 4), (0.15, 4))
    slopes: Error = 0.0316, 3.5
    points: tuple[Error, ...] = ((0.066, 4), (0.15, 4))
    normal: tuple[Error, ...] = ((0.21, 4), (0.16, 3))
    waves: tuple[Error, ...] = ((9e-5, 3.5), (2e-4, 2.5))

    def of(self, rule: DistantRule, kernel: DistantKernel, degree: int) -> Error:
        """C and p of a kernel by a rule."""
        if rule == "slopes":
            return self.slopes
        if kernel == "normal":
            return self.normal[degree]
        table = self.points if rule == "points" else self.curls if kernel == "curls" else self.series
        return table[degree]


ERRORS = Errors()


def reaches(
    rule: DistantRule | None, kernel: DistantKernel, degree: int, surface: Any, wavenumber: complex,
    quadrature: Quadrature,
) -> NDArray[np.float64]:  # fmt: skip
    """(n,) the squares of the distances of centroids from which on others are distant from the triangles of a surface,
    `NEVER` where none is: a pair is distant where it is as far apart as the larger one of both.

    rule: of distant pairs; kernel: what is integrated; degree: the larger one of the functions of both sides; surface:
    `FlatTriangles`; wavenumber: k, of which |k| counts; quadrature: its accuracy counts, 0 for no zones, and near
    pairs, which have rules of their own, are never distant.
    """
    accuracy = quadrature.accuracy
    if rule is None or accuracy <= 0 or degree >= len(ERRORS.points):
        return np.full(len(surface.corners), NEVER)
    bound, power = ERRORS.of(rule, kernel, degree)
    factors, most = ((bound / accuracy) ** (2 / power), (quadrature.near + 2 * CORNER) ** 2), np.inf
    if wavenumber:
        bound, power = ERRORS.waves[degree]
        most = (accuracy / bound) ** (2 / power) / abs(wavenumber) ** 2
    distance = np.empty(len(surface.corners))
    put_reaches(np.ascontiguousarray(surface.corners), *factors, most, distance)
    return distance


@kernel
def put_reaches(corners, of_mean, of_longest, most, distance):
    """Fill distance (n,) for triangles with corners (n, 3, 3): the larger one of of_mean times the mean square of the
    edges and of_longest times the largest square, NEVER where that is more than `most`."""
    for n in range(corners.shape[0]):
        total, largest = 0.0, 0.0
        for a in range(3):
            b = a + 1 if a < 2 else 0
            square = 0.0
            for c in range(3):
                square += (corners[n, b, c] - corners[n, a, c]) ** 2
            total, largest = total + square, max(largest, square)
        distance[n] = max(of_mean * total / 3, of_longest * largest) if largest <= most else NEVER


def tolerant(operator: Any, rtol: float, loosened: bool = True) -> Any:
    """An integral operator with the accuracy of distant pairs that products of the relative error rtol permit, and if
    it is smaller than the usual one, require; where another one than the usual one was chosen, as it is.

    loosened: False for entries with which products are compared, which are at least as accurate as usual.
    """
    error = SHARE * rtol / (1.0 if operator.green.wavenumber else STATIC)
    quadrature = operator.quadrature.permitting(error if loosened else min(error, ACCURACY))
    return operator if quadrature == operator.quadrature else replace(operator, quadrature=quadrature)
