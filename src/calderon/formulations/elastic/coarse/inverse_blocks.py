"""Many small square matrices, or a large one, in single precision: approximate inverses."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.backends.numba import kernel
from calderon.backends.threads import in_parts
from calderon.backends.vector_loads import load_as, total
from calderon.backends.vectors import aligned, lanes, load, zero
from calderon.formulations.elastic.coarse.columns import REAL, Index
from calderon.products.near_entries import BEYOND


class InverseBlocks(NamedTuple):
    """Square matrices, each between some unknowns.

    unknowns (m,): those of all matrices, one after the other; no two have one in common. starts (blocks + 1,): where
    the unknowns of each begin. places (blocks + 1,): where its entries begin. entries: of all, row after row.
    """

    unknowns: Index
    starts: Index
    places: Index
    entries: NDArray[np.float32]

    @staticmethod
    def empty(groups: Sequence[Index]) -> "InverseBlocks":
        """Matrices without entries yet, between the unknowns (n,) of each group."""
        sizes = np.array([len(each) for each in groups], np.int64)
        starts, places = np.append(0, np.cumsum(sizes)), np.append(0, np.cumsum(sizes**2))
        return InverseBlocks(np.concatenate(groups), starts, places, np.zeros(int(places[-1]) + BEYOND, REAL))

    def enter(self, number: int, values: NDArray[Any]) -> None:
        """Set the entries (n, n) of one matrix."""
        self.entries[self.places[number] : self.places[number + 1]] = values.ravel()

    def product(self, x: NDArray[Any]) -> NDArray[np.float64]:
        """(n,) the sum of all products with a vector x (n,). Sums in single precision would take as long, and be linear
        to 2e-7 only: GMRES needs more where the norm of an inverse is large."""
        y, widest = np.zeros(len(x)), int(np.diff(self.starts).max(initial=0)) + BEYOND

        def add(low: int, high: int) -> None:
            """Add the products of the matrices low .. high."""
            add_products(*self, x, y, aligned(widest, np.float64), low, high)

        in_parts(add, len(self.places) - 1)
        return y


@kernel
def add_products(unknowns, starts, places, entries, x, y, room, low, high):
    """Add the products of the matrices low .. high with x (n,) to y (n,). unknowns, starts, places, entries: as in
    InverseBlocks. room: space for the numbers of the largest matrix and a vector of zeros."""
    size = lanes(room)
    for n in range(low, high):
        first, count = starts[n], starts[n + 1] - starts[n]
        # gather the unknowns of the matrix, and end with zeros, as vectors read beyond its rows
        for c in range(count):
            room[c] = x[unknowns[first + c]]
        room[count : count + size] = 0
        # one scalar product for each row
        for r in range(count):
            at, t = places[n] + r * count, zero(room)
            for c in range(0, count, size):
                t = t + load_as(entries, at + c, room) * load(room, c)
            y[unknowns[first + r]] += total(t)
