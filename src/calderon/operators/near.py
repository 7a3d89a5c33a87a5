"""Pairs of triangles that are near but do not touch: raised degree, or subdivision until a rule is accurate."""

import warnings
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.operators.accuracy import AccuracyWarning
from calderon.operators.pairs import distances
from calderon.spaces.element import Element, barycentric

DEGREES = ((1.0, 6), (0.6, 8), (0.35, 12), (0.2, 20))
"""(ratio of distance to size, degree): from that ratio on the product rule of that degree is accurate to about 1e-6."""
DEEPEST = 8
CHILDREN = np.array(
    [
        [[1, 0, 0], [0.5, 0.5, 0], [0.5, 0, 0.5]],
        [[0.5, 0.5, 0], [0, 1, 0], [0, 0.5, 0.5]],
        [[0.5, 0, 0.5], [0, 0.5, 0.5], [0, 0, 1]],
        [[0.5, 0.5, 0], [0, 0.5, 0.5], [0.5, 0, 0.5]],
    ]
)
"""(4, 3, 3) barycentric coordinates of the corners of the four children of a triangle."""


class Pieces(NamedTuple):
    """Parts of pairs: `parent` (n,) the pair, corners of the parts as barycentric coordinates (n, 3, 3) in the two
    triangles."""

    parent: NDArray[np.int64]
    test: NDArray[np.float64]
    trial: NDArray[np.float64]


def degree_for(ratio: NDArray[np.float64]) -> NDArray[np.int64]:
    """(n,) degree of the product rule for pairs at that ratio of distance to size; 0 where they must be subdivided."""
    degree = np.zeros(len(ratio), dtype=np.int64)
    for bound, value in reversed(DEGREES):
        degree[ratio >= bound] = value
    return degree


def subdivided(test: NDArray[np.float64], trial: NDArray[np.float64]) -> list[tuple[int, Pieces]]:
    """Cut pairs with corners (n, 3, 3) into pieces, each with a degree that integrates it: [(degree, pieces)].

    The larger triangle of a pair is cut into four (both when alike). Warns where pairs are still too near after eight
    cuts (distance below 1/1000 of the size), with their number.
    """
    whole = np.broadcast_to(np.eye(3), (len(test), 3, 3))
    work = Pieces(np.arange(len(test)), whole, whole)
    done: dict[int, list[Pieces]] = {}
    for level in range(DEEPEST + 1):
        x, y = work.test @ test[work.parent], work.trial @ trial[work.parent]
        x_size, y_size = _size(x), _size(y)
        degree = degree_for(distances(x, y) / np.maximum(x_size, y_size))
        if level == DEEPEST and (degree == 0).any():
            warnings.warn(
                f"{len(np.unique(work.parent[degree == 0]))} pairs of triangles are nearer than 1/1000 of their "
                "size without touching; their integrals lose accuracy: merge the surfaces or refine the mesh there",
                AccuracyWarning,
                stacklevel=2,
            )
            degree[degree == 0] = DEGREES[-1][1]
        for value in np.unique(degree[degree > 0]):
            done.setdefault(int(value), []).append(Pieces(*(part[degree == value] for part in work)))
        rest = degree == 0
        if not rest.any():
            break
        cut_test, cut_trial = x_size[rest] > 0.6 * y_size[rest], y_size[rest] > 0.6 * x_size[rest]
        work = _cut(Pieces(*(part[rest] for part in work)), cut_test, cut_trial)
    return [(degree, Pieces(*map(np.concatenate, zip(*parts, strict=True)))) for degree, parts in done.items()]


def _cut(work: Pieces, cut_test: NDArray[np.bool_], cut_trial: NDArray[np.bool_]) -> Pieces:
    """Every piece with its test or trial side (or both) replaced by the four children."""
    new = []
    for left in (False, True):
        for right in (False, True):
            chosen = (cut_test == left) & (cut_trial == right)
            for s in CHILDREN if left else np.eye(3)[None]:
                for t in CHILDREN if right else np.eye(3)[None]:
                    new.append(Pieces(work.parent[chosen], s @ work.test[chosen], t @ work.trial[chosen]))
    return Pieces(*map(np.concatenate, zip(*new, strict=True)))


def _size(corners: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max(axis=1)


def restriction(element: Element, corners: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n, size, size): local function a of the whole triangle as a combination [a, c] of those of the part `corners`
    (n, 3, 3)."""
    inside = np.einsum("bm,nbk->nmk", barycentric(element.nodes), corners)
    values = element.values(inside[..., 1:].reshape(-1, 2)).reshape(element.size, len(corners), element.size)
    return np.swapaxes(values, 0, 1)
