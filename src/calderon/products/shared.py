"""Products that several backends compute at once."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator, aslinearoperator

from calderon.backends import Execution, at_the_same_time, balanced_share, runs_of_work
from calderon.products.near_store import NearStore

Distributed = tuple[Sequence[Any], NDArray[np.float64]]
"""The parts of a matrix that the members of a team multiply by, the processor's first, and the work of each."""


def distributed_leaves(
    near: Sequence[NearStore], far: NDArray[np.float64], count: int, share: float | None, part: Callable[..., Any]
) -> Distributed:
    """Parts of a product for so many devices: near blocks of the rows of a run of leaves, and the fields in another run
    of all charges; work: numbers that a product reads or computes, far (leaves,) for the fields in each leaf.

    share: of the near blocks for one more part, the first, without fields: the processor's. part(rows, fields): the
    part of two runs of leaves."""
    own, rows = [] if share is None else [share], np.zeros(len(far))
    for each in near:
        rows += np.bincount(each.layout.pairs[:, 0], np.diff(each.layout.starts), len(rows))
    runs = runs_of_work(rows, [*own, *[(1 - sum(own)) / count] * count])
    fields = [(0, 0)] * len(own) + runs_of_work(far, [1 / count] * count)
    both = list(zip(runs, fields, strict=True))
    work = [rows[slice(*a)].sum() + far[slice(*b)].sum() for a, b in both]
    return [part(*each) for each in both], np.array(work)


class SharedProduct(LinearOperator):
    """The sum of parts of a matrix, one of each member of a team, which multiply at once; the processor adds what they
    find, in their order. A linear operator or sparse matrix may be a part."""

    def __init__(self, execution: Execution, distributed: Callable[[float | None], Distributed]) -> None:
        """Distribute a matrix to a team, by measured seconds where the processor is one of it. distributed(share): its
        parts, with this share of near entries for the processor, None where it is none of the team."""

        def products(share: float) -> list[Callable[[], Any]]:
            parts = [aslinearoperator(each) for each in distributed(share)[0]]
            x = np.ones((parts[0].shape[1], 1), parts[0].dtype)
            return [partial(each.matmat, x) for each in parts]

        parts, work = distributed(balanced_share(products) if execution.uses_processor else None)
        super().__init__(dtype=parts[0].dtype, shape=parts[0].shape)
        self.parts = [aslinearoperator(each) for each in parts]
        execution.parts.append(work)

    def _matmat(self, x: NDArray[Any]) -> NDArray[Any]:
        return self._sum([partial(each.matmat, x) for each in self.parts])

    def _rmatmat(self, x: NDArray[Any]) -> NDArray[Any]:
        return self._sum([partial(each.rmatmat, x) for each in self.parts])

    @staticmethod
    def _sum(products: Sequence[Callable[[], Any]]) -> NDArray[Any]:
        found, _ = at_the_same_time(products)
        return np.asarray(sum(found[1:], found[0]))
