"""Pairs of triangles that are near but do not touch: raised degree, or pieces with as many points as each direction
needs."""

import functools
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.backends.numba import kernel
from calderon.mesh.errors import warn_of_accuracy
from calderon.pairs.classes import Pairs, closest_points
from calderon.pairs.gauss_counts import Lines, ellipse_scratch, points_needed, put_ellipses, sample_lines
from calderon.spaces.element import Element, barycentric

Array = NDArray[np.float64]


class NearRules(NamedTuple):
    """Rules of near pairs by the accuracy that is wanted."""

    degrees: dict[int, Any] = {
        7: ((2.0, 8), (1.3, 10), (0.6, 14)),
        6: ((1.0, 6), (0.6, 8), (0.45, 10)),
        5: ((0.7, 6), (0.6, 8), (0.45, 10)),
    }
    """By decimal digits, (ratio of distance to size, degree): from that ratio on the product rule of that degree is
    accurate to about so many. Random pairs at 0.45, also of needles, have smaller errors of degree 10 than those at 0.6
    of degree 8."""
    accuracy: dict[int, Any] = {1: 9.0, 2: 12.5}
    """By the power of the kernel, singular like 1/|x - y|^power: exponent of the error at the worst place of a piece
    (see gauss_counts.py); over the pair that makes six digits."""
    digit: dict[int, Any] = {1: 1.0, 2: 2.3}
    """Addition to that exponent for each digit, by the power of the kernel."""
    counts: NDArray[Any] = np.array([3, 4, 6, 10, 14])
    """Gauss points along one direction of a piece; what needs more is cut."""
    smallest: float = 1 / 256
    """Size of the smallest pieces, as a fraction of the size of the smaller triangle."""


RULES = NearRules()
MOST = int(RULES.counts[-1])


class Pieces(NamedTuple):
    """Parts of pairs: `parent` (n,) the pair; corners of the parts as barycentric coordinates (n, 3, 3) in the two
    triangles, the corner opposite the shortest edge first; Gauss points (n, 4) along and across the test and the trial
    part (quadrature.singular.side_rule)."""

    parent: NDArray[np.int64]
    test: Array
    trial: Array
    counts: NDArray[np.int64]


def accuracy_for(power: int, digits: int) -> float:
    """The exponent of RULES.accuracy for so many digits."""
    return RULES.accuracy[power] - RULES.digit[power] * (6 - digits)


def degree_for(ratio: NDArray[np.floating], digits: int) -> NDArray[np.int8]:
    """(n,) degree of the product rule for pairs at that ratio of distance to size; 0 where they must be subdivided."""
    degree = np.zeros(len(ratio), dtype=np.int8)
    for bound, value in reversed(RULES.degrees[digits]):
        degree[ratio >= bound] = value
    return degree


def subdivided(test: Array, trial: Array, accuracy: float) -> Pieces:
    """Cut pairs with corners (n, 3, 3) into smaller ones that a product rule integrates; accuracy: the exponent of
    RULES.accuracy.

    Of a piece that needs more than MOST points along some direction, the triangle that needs them is halved across its
    longest edge: a needle becomes shorter ones, not thinner ones. Warns where pairs are still too near when they are
    cut to 1/256 (distance below about 1/1000 of the size of the smaller one), with their number.
    """
    parent = np.arange(len(test))
    left = right = np.broadcast_to(np.eye(3), (len(test), 3, 3))
    smallest = RULES.smallest * np.minimum(
        *(_edges(each).max(axis=1) for each in (left @ test[parent], right @ trial[parent]))
    )
    done: list[Pieces] = []
    unresolved: list[NDArray[np.int64]] = []
    while len(parent) or not done:
        # the Gauss points that each direction of the pieces needs
        x, y = left @ test[parent], right @ trial[parent]
        (x, left, x_size), (y, right, y_size) = _from_the_tip(x, left), _from_the_tip(y, right)
        counts = points_needed(_ellipses(x, y), accuracy, RULES.counts)
        need = counts.reshape(-1, 2, 2).max(axis=2)
        # pieces that a rule integrates, or that are too small to be cut, are done
        size = np.stack([x_size, y_size], axis=1)
        size_left = np.where(need > MOST, size, 0)
        hopeless = (need > MOST).any(axis=1) & (size_left.max(axis=1) < smallest)
        unresolved.append(parent[hopeless])
        ready = hopeless | (need <= MOST).all(axis=1)
        done.append(Pieces(parent[ready], left[ready], right[ready], np.minimum(counts[ready], MOST)))
        # halve the triangle that needs it, the larger one if both do
        rest = ~ready
        first = size_left[rest, 0] >= size_left[rest, 1]
        parent, left, right, smallest = parent[rest], left[rest], right[rest], smallest[rest]
        parent, smallest = (
            np.concatenate([each[first], each[first], each[~first], each[~first]]) for each in (parent, smallest)
        )
        left, right = (
            np.concatenate([*halves(left[first]), left[~first], left[~first]]),
            np.concatenate([right[first], right[first], *halves(right[~first])]),
        )
    if number := len(np.unique(np.concatenate(unresolved))):
        warn_of_accuracy(
            f"{number} pairs of triangles are nearer than 1/1000 of their "
            "size without touching; their integrals lose accuracy: merge the surfaces or refine the mesh there"
        )
    return Pieces(*map(np.concatenate, zip(*done, strict=True)))


def _from_the_tip(corners: Array, parts: Array) -> tuple[Array, Array, Array]:
    """Corners and barycentric corners (n, 3, 3) turned so that the shortest edge is opposite the first and the longest
    from the first to the second, and the longest edge (n,)."""
    lengths = _edges(corners)  # opposite to each corner
    index = np.argsort(lengths, axis=1)[:, :, None]
    return (np.take_along_axis(corners, index, axis=1), np.take_along_axis(parts, index, axis=1), lengths.max(axis=1))


def halves(parts: Array) -> tuple[Array, Array]:
    """Both halves of parts whose longest edge is the first."""
    middle = (parts[:, :1] + parts[:, 1:2]) / 2
    return (
        np.concatenate([parts[:, :1], middle, parts[:, 2:]], axis=1),
        np.concatenate([middle, parts[:, 1:]], axis=1),
    )


def _edges(corners: Array) -> Array:
    """(n, 3) lengths of the edges opposite to each corner."""
    after, before = np.roll(corners, -1, axis=1), np.roll(corners, 1, axis=1)
    return np.sqrt(((after - before) ** 2).sum(axis=2))


@functools.cache
def _side_lines() -> Lines:
    """Lines along and across both triangles (quadrature.singular.side_rule)."""

    def mapping(s: Any, t: Any, p: Any, q: Any) -> Any:
        return s * (1 - t), s * t, p * (1 - q), p * q

    return sample_lines([mapping], [(0, 1, 2, 3)])


def _ellipses(x: Array, y: Array) -> Array:
    """(n, 4) least E along and across both of triangles with corners (n, 3, 3), also on the lines through their
    closest points."""
    out = np.empty((len(x), 4))
    numbers = np.repeat(np.arange(len(x), dtype=np.int32)[:, None], 2, axis=1)
    order = np.tile(np.arange(3, dtype=np.int8), (len(x), 1))
    lines = _side_lines()
    put_ellipses(x, y, Pairs(numbers, order, order), lines, ellipse_scratch(lines), out)
    places = closest_points(x, y)
    for side, (corners, other) in enumerate(((x, y), (y, x))):
        near, opposite = places[:, 2 * side : 2 * side + 2], places[:, 2 - 2 * side : 4 - 2 * side]
        target = _point(other, opposite)
        s = near.sum(axis=1, keepdims=True)
        t = near[:, 1:] / np.maximum(s, 1e-300)
        tip, one, two = corners[:, 0], corners[:, 1], corners[:, 2]
        along = tip, one + t * (two - one)
        across = tip + s * (one - tip), tip + s * (two - tip)
        for axis, (start, end) in enumerate((along, across)):
            lengths = np.linalg.norm(start - target, axis=1) + np.linalg.norm(end - target, axis=1)
            step = np.maximum(np.linalg.norm(end - start, axis=1), 1e-3 * lengths)
            out[:, 2 * side + axis] = np.minimum(out[:, 2 * side + axis], lengths / step)
    return out


def _point(corners: Array, place: Array) -> Array:
    return (
        corners[:, 0] + place[:, :1] * (corners[:, 1] - corners[:, 0]) + place[:, 1:] * (corners[:, 2] - corners[:, 0])
    )


def restriction(element: Element, corners: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n, size, size): local function a of the whole triangle as a combination [a, c] of those of the part `corners`
    (n, 3, 3)."""
    inside = np.einsum("bm,nbk->nmk", barycentric(element.nodes), corners)
    values = element.values(inside[..., 1:].reshape(-1, 2)).reshape(element.size, len(corners), element.size)
    return np.ascontiguousarray(np.swapaxes(values, 0, 1))


@kernel
def restrict(left, right, moments):
    """Replace the moments (2, n, A, B) of parts by those of the functions of the whole triangles: left (n, A, A) times
    moments times right^T (n, B, B)."""
    size, width = moments.shape[2], moments.shape[3]
    half = np.empty((size, width))
    # left moments, then that times right^T, of real and imaginary parts
    for part in range(2):
        for n in range(moments.shape[1]):
            for a in range(size):
                for b in range(width):
                    half[a, b] = 0.0
                    for c in range(size):
                        half[a, b] += left[n, a, c] * moments[part, n, c, b]
            for a in range(size):
                for b in range(width):
                    total = 0.0
                    for c in range(width):
                        total += half[a, c] * right[n, b, c]
                    moments[part, n, a, b] = total
