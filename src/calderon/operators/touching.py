"""How many Gauss points touching pairs of triangles need, and the pieces of those that need too many."""

import functools
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.backends import run_tasks
from calderon.operators.near import halves
from calderon.operators.pair_search import extents
from calderon.operators.pairs import common_vertices
from calderon.operators.singular import Pairs
from calderon.operators.smoothness import COUNTS, Lines, ellipse_kernel, points_needed, sample_lines
from calderon.quadrature.singular import ROLES, angular_maps

Array = NDArray[np.float64]
ACCURACY = 1.8
"""Exponent of the error of touching pairs per point of `Quadrature.singular`: 8 gives exp(-14.4) per angular direction,
in the worst corner of a pair."""
MOST = {3: 60, 2: 1300, 1: 2200}
"""By shared vertices: points of a region, angular ones times each other; stretched triangles that need more are cut."""
CAPS = {3: 60, 2: 30, 1: 16}
"""Points along each angular coordinate where cutting does not help: folded by a small angle, not stretched, a tip."""
LARGE, COARSE = 300, np.array([4, 6, 10, 18, 36, 60])
"""Above so many points of a region, numbers of points of stretched triangles go in larger steps: for few tables."""
EASE = 0.7
"""Of that exponent for these: needles have small integrals, and their worst corners are a small part of them."""
STRETCHED = 2.5
"""Longest edge over the height on it, from which on a triangle is cut: below, its halves are no better."""
DEEPEST = 16
SHARE = 4096
"""Pairs whose ellipses are found in one task."""


class TouchingPieces(NamedTuple):
    """Parts of pairs: `parent` (n,) the pair; corners of the parts as barycentric coordinates (n, 3, 3) in the two
    triangles, `shared` (n,) common ones first, and Gauss points (n, 3) along their angular coordinates."""

    parent: NDArray[np.int64]
    test: Array
    trial: Array
    shared: NDArray[np.int64]
    counts: NDArray[np.int64]


def angular_points(shared: int, test: Array, trial: Array, pairs: Pairs, singular: int) -> NDArray[np.int64]:
    """(n, 3) Gauss points along the angular coordinates of pairs that share so many vertices, of triangles with corners
    (m, 3, 3); 99 where COUNTS has not enough, 1 for coordinates that there are not."""
    ellipses = np.empty((len(pairs.triangles), 1 + max(max(each) for each in ROLES[shared])))
    compute = ellipse_kernel()

    def run(number: int) -> None:
        part = slice(number * SHARE, (number + 1) * SHARE)
        compute(test, trial, pairs.part(part), _angular_lines(shared), ellipses[part])

    run_tasks(run, -(-len(ellipses) // SHARE))
    counts = np.ones((len(ellipses), 3), np.int64)
    counts[:, : ellipses.shape[1]] = points_needed(ellipses, ACCURACY * singular, COUNTS)
    large = np.flatnonzero(counts[:, 0] * counts[:, 1] * counts[:, 2] > LARGE)
    i, j = pairs.triangles[large].T
    large = large[(extents(test).stretch[i] > STRETCHED) | (extents(trial).stretch[j] > STRETCHED)]
    counts[large, : ellipses.shape[1]] = points_needed(ellipses[large], EASE * ACCURACY * singular, COARSE)
    return counts


def cut_needles(
    test: Array, trial: Array, singular: int
) -> tuple[TouchingPieces, tuple[NDArray[np.int64], Array, Array]]:
    """Cut touching pairs with corners (n, 3, 3) until the pieces that touch need few points; also the pieces that touch
    no more, as parent (m,) and barycentric corners.

    The longest edge of a stretched piece is halved, in both pieces where they share it: so pieces share vertices, edges
    or everything, and no part of an edge.
    """
    whole = np.broadcast_to(np.eye(3), (len(test), 3, 3))
    parent, left, right = np.arange(len(test)), whole, whole
    smallest = np.minimum(_edges(test).min(axis=1), _edges(trial).min(axis=1))
    done: list[TouchingPieces] = []
    apart: list[tuple[NDArray[np.int64], Array, Array]] = []
    for level in range(DEEPEST + 1):
        x, y = left @ test[parent], right @ trial[parent]
        shared, *orders = _common_corners(x, y)
        left, right, x, y = (
            np.take_along_axis(each, order[:, :, None], axis=1)
            for each, order in zip((left, right, x, y), 2 * orders, strict=True)
        )
        counts = _counts(shared, x, y, singular)
        most, caps = (np.array([0, *(each[s] for s in (1, 2, 3))])[shared] for each in (MOST, CAPS))
        across, which = _longest(x, y)
        short = np.maximum(_edges(x).max(axis=1), _edges(y).max(axis=1)) < smallest[parent]
        ready = (counts.prod(axis=1) <= most) | (across == 0) | short | (level == DEEPEST)
        free = shared == 0
        apart.append((parent[free], left[free], right[free]))
        ready &= ~free
        capped = np.where((counts.prod(axis=1) <= most)[:, None], counts, np.minimum(counts, caps[:, None]))
        done.append(TouchingPieces(*(each[ready] for each in (parent, left, right, shared, capped))))
        rest = ~ready & ~free
        if not rest.any():
            break
        parent, left, right = _cut(*(each[rest] for each in (parent, left, right, shared, across, which)))
    united = tuple(np.concatenate(each) for each in zip(*apart, strict=True))
    return TouchingPieces(*map(np.concatenate, zip(*done, strict=True))), united  # type: ignore[return-value]


def _counts(shared: NDArray[np.int64], x: Array, y: Array, singular: int) -> NDArray[np.int64]:
    """(n, 3) angular points of pieces whose common corners come first."""
    counts = np.ones((len(x), 3), np.int64)
    unchanged = np.arange(3, dtype=np.int8)
    for number in (1, 2, 3):
        chosen = np.flatnonzero(shared == number)
        if chosen.size:
            order = np.broadcast_to(unchanged, (chosen.size, 3))
            pairs = Pairs(np.repeat(chosen[:, None], 2, axis=1).astype(np.int32), order, order)
            counts[chosen] = angular_points(number, x, y, pairs, singular)
    return counts


def _common_corners(x: Array, y: Array) -> tuple[NDArray[np.int64], NDArray[np.int8], NDArray[np.int8]]:
    """How many corners (n, 3, 3) of pieces are the same points, and orders (n, 3) that put those first."""
    size = np.abs(x - x[:, :1]).max(axis=(1, 2))
    gap = np.abs(x[:, :, None] - y[:, None]).max(axis=3)
    equal = gap < 1e-9 * size[:, None, None]
    return equal.any(axis=2).sum(axis=1), *common_vertices(equal)


def _longest(x: Array, y: Array) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """(n,) which piece has the longest edge of the stretched ones, 1 or 2 (0: none is stretched), and the corner
    opposite that edge."""
    lengths = np.stack([_edges(x), _edges(y)], axis=1)
    longest = lengths.max(axis=2)
    longest[np.stack([extents(x).stretch, extents(y).stretch], axis=1) < STRETCHED] = 0
    side = np.where(longest[:, 0] >= longest[:, 1] * (1 - 1e-9), 0, 1)
    return np.where(longest.any(axis=1), side + 1, 0), lengths[np.arange(len(x)), side].argmax(axis=1)


def _edges(corners: Array) -> Array:
    return np.linalg.norm(np.roll(corners, -1, axis=1) - np.roll(corners, 1, axis=1), axis=2)


def _cut(parent, left, right, shared, across, opposite):  # type: ignore[no-untyped-def]
    """Every pair of pieces with one of them, or both across a common edge, replaced by its halves."""
    both = (shared == 3) | ((shared == 2) & (opposite == 2))
    turn = (opposite[:, None] + [1, 2, 0]) % 3  # the longest edge first
    turned = [np.take_along_axis(each, turn[:, :, None], axis=1) for each in (left, right)]
    new = []
    for chosen, cut_left, cut_right in (
        (both, True, True), (~both & (across == 1), True, False), (~both & (across == 2), False, True)
    ):  # fmt: skip
        lefts = halves(turned[0][chosen]) if cut_left else (left[chosen],)
        rights = halves(turned[1][chosen]) if cut_right else (right[chosen],)
        new += [(parent[chosen], one, two) for one in lefts for two in rights]
    return (np.concatenate(each) for each in zip(*new, strict=True))


@functools.lru_cache(maxsize=3)
def _angular_lines(shared: int) -> Lines:
    return sample_lines(angular_maps(shared), list(ROLES[shared]))
