"""Products that several backends compute at once."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from calderon.backends import Execution, at_the_same_time, balanced, runs_of_work
from calderon.backends.devices.sharing import TRIAL, Distribution, seconds_together
from calderon.products.near_store import NearStore

Shares = NDArray[np.float64]
"""The parts of all work that the members of a team are to have, the processor first."""


def distributed_leaves(
    near: Sequence[NearStore], far: NDArray[np.float64], shares: Shares, with_processor: bool, part: Callable[..., Any]
) -> Distribution:
    """Parts of a product: near blocks of the rows of a run of leaves, and the fields in another run of all charges;
    work: numbers that a product reads or computes, far (leaves,) for the fields in each leaf.

    with_processor: whether the first part is the processor's, which has no fields. part(rows, fields): the part of two
    runs of leaves."""
    rows = np.zeros(len(far))
    for each in near:
        rows += np.bincount(each.layout.pairs[:, 0], np.diff(each.layout.starts), len(rows))
    # devices share the fields, and what the processor leaves of the near blocks
    own = [min(1.0, shares[0] * (rows.sum() + far.sum()) / max(1.0, rows.sum()))] * with_processor
    there = np.maximum(shares[len(own) :], 1e-9)
    there /= there.sum()
    fields = [(0, 0)] * len(own) + runs_of_work(far, there.tolist())
    both = list(zip(runs_of_work(rows, [*own, *(1 - sum(own)) * there]), fields, strict=True))
    work = np.array([rows[slice(*a)].sum() + far[slice(*b)].sum() for a, b in both])
    return work, lambda: [part(*each) for each in both]


class SharedProduct(LinearOperator):
    """The sum of parts of a matrix, one of each member of a team, which multiply at once; the processor adds what they
    find, in their order. A linear operator or sparse matrix may be a part."""

    def __init__(self, execution: Execution, distributed: Callable[[Shares], Distribution]) -> None:
        """Distribute a matrix to a team by measured seconds. distributed(shares): see `balanced`."""
        own = [TRIAL] * execution.uses_processor
        count = len(execution.devices)
        first = np.array([*own, *[(1 - sum(own)) / count] * count])
        parts, work = balanced(distributed, first, self._seconds_of)
        super().__init__(dtype=parts[0].dtype, shape=parts[0].shape)
        self.parts = [aslinearoperator(each) for each in parts]
        execution.parts.append(work)

    @staticmethod
    def _seconds_of(parts: Sequence[Any]) -> NDArray[np.float64]:
        """Seconds of a product with each part, all at the same time."""
        operators = [aslinearoperator(each) for each in parts]
        x = np.ones((operators[0].shape[1], 1), operators[0].dtype)
        return seconds_together([partial(each.matmat, x) for each in operators])

    def _matmat(self, x: NDArray[Any]) -> NDArray[Any]:
        return self._sum([partial(each.matmat, x) for each in self.parts])

    def _rmatmat(self, x: NDArray[Any]) -> NDArray[Any]:
        return self._sum([partial(each.rmatmat, x) for each in self.parts])

    @staticmethod
    def _sum(products: Sequence[Callable[[], Any]]) -> NDArray[Any]:
        found, _ = at_the_same_time(products)
        return np.asarray(sum(found[1:], found[0]))
