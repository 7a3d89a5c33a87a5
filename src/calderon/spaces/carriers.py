"""The triangles that carry each function of a space, the other way round than `dofs`."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Carriers(NamedTuple):
    """Rows of dofs: those with function f stand from start[f] to start[f + 1] in `rows`."""

    start: NDArray[np.int64]
    rows: NDArray[np.int64]

    def of(self, functions: NDArray[np.int64]) -> NDArray[np.int64]:
        """The rows of dofs with any of these functions, in order."""
        first, count = self.start[functions], self.start[functions + 1] - self.start[functions]
        ends = np.cumsum(count)
        places = np.repeat(first - ends + count, count) + np.arange(count.sum())
        return np.unique(self.rows[places])


def carriers_of(dofs: NDArray[np.int64], dimension: int) -> Carriers:
    """From dofs (n, L), numbers of functions, -1 for none."""
    rows, local = np.nonzero(dofs >= 0)
    functions = dofs[rows, local]
    order = np.argsort(functions, kind="stable")
    return Carriers(np.searchsorted(functions[order], np.arange(dimension + 1)), rows[order])
