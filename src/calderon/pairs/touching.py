"""How many Gauss points touching pairs of triangles need."""

import functools
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.backends.threads import in_parts
from calderon.pairs.classes import Pairs
from calderon.pairs.gauss_counts import COUNTS, Lines, ellipse_scratch, points_needed, put_ellipses, sample_lines
from calderon.pairs.search import extents
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


def angular_points(shared: int, test: Array, trial: Array, pairs: Pairs, singular: int) -> NDArray[np.int64]:
    """(n, 3) Gauss points along the angular coordinates of pairs that share so many vertices, of triangles with corners
    (m, 3, 3); 99 where COUNTS has not enough, 1 for coordinates that there are not."""
    ellipses = np.empty((len(pairs.triangles), 1 + max(max(each) for each in ROLES[shared])))
    lines = _angular_lines(shared)

    def work(low: int, high: int) -> None:
        some = pairs.part(slice(low, high))
        put_ellipses(test, trial, some, lines, ellipse_scratch(lines), ellipses[low:high])

    in_parts(work, len(ellipses))
    counts = np.ones((len(ellipses), 3), np.int64)
    counts[:, : ellipses.shape[1]] = points_needed(ellipses, TOUCH.accuracy * singular, COUNTS)
    large = np.flatnonzero(counts[:, 0] * counts[:, 1] * counts[:, 2] > TOUCH.large)
    i, j = pairs.triangles[large].T
    large = large[(extents(test[i]).stretch > TOUCH.stretched) | (extents(trial[j]).stretch > TOUCH.stretched)]
    counts[large, : ellipses.shape[1]] = points_needed(ellipses[large], TOUCH.accuracy * singular, TOUCH.coarse)
    return counts


@functools.lru_cache(maxsize=3)
def _angular_lines(shared: int) -> Lines:
    return sample_lines(angular_maps(shared), list(ROLES[shared]), TOUCH.others[shared])
