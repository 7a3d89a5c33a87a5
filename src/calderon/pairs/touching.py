"""How many Gauss points touching pairs of triangles need."""

import functools
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.backends.numba import jitable_part, kernel
from calderon.mesh.geometry import Extents
from calderon.pairs.classes import Pairs
from calderon.pairs.gauss_counts import COUNTS, Lines, Steps, ellipse_scratch, put_ellipses, put_points, sample_lines
from calderon.quadrature.singular import ROLES, angular_maps

Array = NDArray[np.float64]


class TouchingRules(NamedTuple):
    """Rules of touching pairs by the accuracy that is wanted."""

    accuracy: float = 1.8
    """Exponent of the error of touching pairs per point of `Quadrature.singular`: 8 gives exp(-14.4) per angular
    direction, in the worst corner of a pair."""
    points_of_region: dict[int, Any] = {3: 60, 2: 1300, 1: 2200}
    """By shared vertices: points of a region, angular ones times each other; pairs that need more are integrated as
    close ones (close_moments.py)."""
    others: dict[int, Any] = {3: 3, 2: 9, 1: 3}
    """By shared vertices: at how many values of the other coordinates a coordinate is looked at. Of two triangles with
    a sharp angle at their common edge some points almost meet, in the middle of nowhere."""
    large: int = 300
    coarse: NDArray[Any] = np.array([4, 6, 10, 18, 36, 60])
    """Above so many points of a region, numbers of points of stretched triangles go in larger steps: for few tables."""
    stretched: float = 2.5
    """Longest edge over the height on it, from which on a triangle counts as that."""


TOUCH = TouchingRules()


class Limits(NamedTuple):
    """Limits of the rules of touching pairs that share so many vertices (`shared`).

    usual, coarse: numbers of points, and the smaller choice of them; large, stretched: points of a region and stretch
    of triangles above which that is taken. most: points of a region at most; most_along: those of one coordinate.
    """

    usual: Steps
    coarse: Steps
    shared: int
    large: int
    most: int
    most_along: int
    stretched: float

    @staticmethod
    def of(shared: int, singular: int, mirrored: bool) -> "Limits":
        """singular: of `Quadrature`; mirrored: whether integrals over a triangle and itself need points in mirrored
        pairs, so that they never have too many."""
        usual, coarse = (Steps.of(TOUCH.accuracy * singular, counts) for counts in (COUNTS, TOUCH.coarse))
        most = TOUCH.points_of_region[shared]
        along = most if mirrored and shared == 3 else int(np.iinfo(np.int64).max)
        return Limits(usual, coarse, shared, TOUCH.large, most, along, TOUCH.stretched)


def touching_codes(
    test: tuple[Array, Extents], trial: tuple[Array, Extents], pairs: Pairs, nodes: NDArray[np.int64], limits: Limits
) -> NDArray[np.int64]:
    """(n,) codes of the rules (rules.py) of pairs that share so many vertices, -1 where they need too many points.

    test, trial: corners (m, 3, 3) and extents of the triangles; nodes (n,): points on a fibre of each pair.
    """
    ellipses = np.empty((len(pairs.triangles), 1 + max(max(each) for each in ROLES[limits.shared])))
    codes, lines = np.empty(len(ellipses), np.int64), angular_lines(limits.shared)
    put_ellipses(test[0], trial[0], pairs, lines, ellipse_scratch(lines), ellipses)
    _put_codes(ellipses, pairs.triangles, test[1].stretch, trial[1].stretch, nodes, limits, codes)
    return codes


@jitable_part
def code_of(kind: Any, first: Any, second: Any, third: Any, fourth: Any) -> Any:
    """The code of a rule, which `rules._digits` takes apart: kind + 2^3 first + 2^11 second + 2^19 third + 2^27 fourth.

    kind: below 8; first, second, third, fourth: numbers below 256, or arrays of such (n,).
    """
    return kind + (first << 3) + (second << 11) + (third << 19) + (fourth << 27)


@kernel
def _put_codes(ellipses, triangles, stretch, other_stretch, nodes, limits, codes):
    """Store the codes (n,) of touching pairs, see `touching_codes`.

    ellipses (n, coordinates): least E along the angular coordinates of each pair; triangles (n, 2); stretch,
    other_stretch (m,): of the test and of the trial triangles; nodes (n,): points on a fibre; limits: `Limits`.
    """
    counts = np.ones(3, np.int64)
    for n in range(codes.size):
        product = put_points(ellipses[n], limits.usual, counts)
        i, j = triangles[n, 0], triangles[n, 1]
        if product > limits.large and max(stretch[i], other_stretch[j]) > limits.stretched:
            put_points(ellipses[n], limits.coarse, counts)
        product = 1
        for axis in range(ellipses.shape[1]):
            counts[axis] = min(counts[axis], limits.most_along)
            product *= counts[axis]
        code = code_of(limits.shared, nodes[n], counts[0], counts[1], counts[2])
        codes[n] = code if product <= limits.most else -1


@functools.lru_cache(maxsize=3)
def angular_lines(shared: int) -> Lines:
    """Lines along the angular coordinates of pairs that share so many vertices."""
    return sample_lines(angular_maps(shared), list(ROLES[shared]), TOUCH.others[shared])
