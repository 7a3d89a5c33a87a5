"""Classes of elements with time steps of their own: the longest step, half of it, a quarter and so on."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from calderon.mesh import TetrahedralMesh


@dataclass(frozen=True, eq=False)
class StepClasses:
    """own (tetrahedra,): how often the step is halved for E; near (tetrahedra,): for H, the largest `own` of an element
    and its neighbours. These differ by one at most. ratio: longest over least step that was requested."""

    own: NDArray[np.int64]
    near: NDArray[np.int64]
    ratio: float

    @property
    def deepest(self) -> int:
        """Halvings for the smallest elements; 0 if all have one step."""
        return int(self.own.max())

    @property
    def counts(self) -> tuple[int, ...]:
        """Elements by the halvings of their step."""
        return tuple(int(each) for each in np.bincount(self.own))

    @cached_property
    def work(self) -> float:
        """Updates of E and H in the longest step, for each update with that step for all elements."""
        return float((2.0**self.own + 2.0**self.near).sum() / 2 / len(self.own))

    @property
    def keys(self) -> NDArray[np.int64]:
        """(tetrahedra,) own + near: elements that participate in the k-th halving have at least 2 k for E, 2 k - 1 for
        H."""
        return self.own + self.near


def one_class(count: int) -> StepClasses:
    """One step for all of that many elements."""
    return StepClasses(np.zeros(count, np.int64), np.zeros(count, np.int64), 1.0)


def step_classes(mesh: TetrahedralMesh, delay: NDArray[np.float64], whole: NDArray[np.bool_]) -> StepClasses:
    """The classes with the least work, whose longest steps are 2^(n/8) times the least delay, n = 0 .. 64.

    At most six halvings; each costs about 4 % of the longest step, since stability bounds of adjacent classes interact.

    delay (tetrahedra,): to which the stable step of each is about proportional. whole (tetrahedra,): those that take
    the longest step, also their neighbours.
    """
    across = np.maximum(mesh.neighbours, 0)
    inside = mesh.neighbours >= 0
    kept = whole | (whole[across] & inside).any(axis=1)
    longest = delay[kept].min() if kept.any() else np.inf
    ratios = (ratio for ratio in 2.0 ** np.arange(0, 8.01, 0.125) if ratio * delay.min() <= longest)
    candidates = (_halved(delay, ratio, across, inside) for ratio in ratios)
    possible = (each for each in candidates if each.deepest <= 6 and not each.near[whole].any())
    return min(possible, key=lambda each: each.work / each.ratio / (1 - 0.04 * each.deepest))


def _halved(
    delay: NDArray[np.float64], ratio: float, across: NDArray[np.int64], inside: NDArray[np.bool_]
) -> StepClasses:
    """With that multiple of the least delay for the longest step; next to each class only the one above and below."""
    longest = ratio * delay.min() * (1 - 1e-9)
    own = np.maximum(np.ceil(np.log2(longest / delay)), 0).astype(np.int64)
    while True:
        near = np.maximum(own, np.where(inside, own[across], 0).max(axis=1))
        smooth = np.maximum(own, near - 1)
        if np.array_equal(smooth, own):
            return StepClasses(own, near, ratio)
        own = smooth
