"""Symmetric Gauss rules on the reference triangle.

A rule of degree p satisfies  sum_q w_q f(u_q, v_q) = int_T f du dv  for every polynomial f of total degree at most p on
T = {u >= 0, v >= 0, u + v <= 1}. It is invariant under the six symmetries of the triangle, its weights are positive and
its points lie inside. The numbers are data (``data/triangle_xiao_gimbutas.txt``); the source is H. Xiao and
Z. Gimbutas, Comput. Math. Appl. 59 (2010) 663.
"""

import functools
import itertools
import operator
from dataclasses import dataclass
from importlib import resources

import numpy as np

HIGHEST_DEGREE = 20


@dataclass(frozen=True, eq=False)
class TriangleRule:
    """Quadrature on the triangle (0,0), (1,0), (0,1).

    degree: every polynomial of total degree up to this is integrated exactly.
    points: (n, 2) reference coordinates (u, v); a surface point is ``p0 + u (p1 - p0) + v (p2 - p0)``.
    weights: (n,), sum 1/2.

    The points come orbit by orbit (points that the symmetries of the triangle exchange, hence of equal weight); in an
    orbit of three, point i is the one that lies toward, or away from, vertex i.
    """

    degree: int
    points: np.ndarray
    weights: np.ndarray

    @property
    def number_of_points(self) -> int:
        return len(self.weights)

    @property
    def barycentric(self) -> np.ndarray:
        """Barycentric coordinates (n, 3) of the points: the P1 shape functions (1-u-v, u, v)."""
        u, v = self.points.T
        return np.stack([1 - u - v, u, v], axis=1)


def triangle_rule(degree: int) -> TriangleRule:
    """The symmetric rule that is exact for polynomials of total degree `degree`, 1 <= degree <= 20.

    Points: 1, 3, 6, 6, 7, 12, 15, 16, 19, 25, 28, 33, 37, 42, 49, 55, 60, 67, 73, 79 for degree 1 to 20.
    """
    try:
        number = operator.index(degree)
    except TypeError:
        raise TypeError(f"the degree of a quadrature rule is an integer, got {degree!r}") from None
    if not 1 <= number <= HIGHEST_DEGREE:
        raise ValueError(
            f"no triangle rule of degree {number}: choose 1 to {HIGHEST_DEGREE}, "
            "and subdivide the triangle where that is not enough"
        )
    return _rules()[number]


@functools.cache
def _rules() -> dict[int, TriangleRule]:
    text = resources.files(__package__).joinpath("data", "triangle_xiao_gimbutas.txt").read_text(encoding="utf-8")
    orbits: dict[int, list[tuple[int, list[float]]]] = {}
    degree = 0
    for line in text.splitlines():
        fields = line.split()
        if not fields or fields[0] == "#":
            continue
        if fields[0] == "rule":
            degree = int(fields[1])
            orbits[degree] = []
        else:
            orbits[degree].append((int(fields[0]), [float(field) for field in fields[1:]]))
    return {degree: _expanded(degree, rows) for degree, rows in orbits.items()}


def _expanded(degree: int, orbits: list[tuple[int, list[float]]]) -> TriangleRule:
    points: list[tuple[float, float]] = []
    weights: list[float] = []
    for size, (weight, *parameters) in orbits:
        if size == 1:
            orbit = [(1 / 3, 1 / 3, 1 / 3)]
        elif size == 3:
            (a,) = parameters
            orbit = [(1 - 2 * a, a, a), (a, 1 - 2 * a, a), (a, a, 1 - 2 * a)]
        else:
            a, b = parameters
            orbit = [(r, s, t) for r, s, t in itertools.permutations((a, b, 1 - a - b))]
        points.extend((u, v) for _, u, v in orbit)
        weights.extend([weight] * size)
    arrays = np.array(points), np.array(weights)
    for array in arrays:
        array.flags.writeable = False
    return TriangleRule(degree, *arrays)
