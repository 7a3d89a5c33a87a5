"""Many small square matrices, or a large one, in 16 bits: approximate inverses."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.backends.numba import kernel
from calderon.backends.threads import in_parts
from calderon.backends.vector_loads import load_as, total
from calderon.backends.vectors import aligned, lanes, load, zero
from calderon.fmm.near import BEYOND
from calderon.formulations.elastic.coarse.columns import Index

LARGEST = 2**15 - 1


class Squares(NamedTuple):
    """Square matrices, each between some unknowns (n,), with entries of 16 bits, row after row, and a unit for each
    row: for approximate inverses. starts: of the unknowns of each; places: of its entries."""

    unknowns: Index
    starts: Index
    places: Index
    entries: NDArray[np.int16]
    units: NDArray[np.float32]

    @staticmethod
    def empty(groups: Sequence[Index]) -> "Squares":
        """Zeros between the unknowns of each group."""
        sizes = np.array([len(each) for each in groups], np.int64)
        starts, places = np.append(0, np.cumsum(sizes)), np.append(0, np.cumsum(sizes**2))
        entries = np.zeros(int(places[-1]) + BEYOND, np.int16)
        return Squares(np.concatenate(groups), starts, places, entries, np.zeros(int(starts[-1]), np.float32))

    def enter(self, number: int, values: NDArray[Any]) -> None:
        """One of the matrices."""
        first, units = self.places[number], self.units[self.starts[number] : self.starts[number + 1]]
        enter_square(values, self.entries[first : self.places[number + 1]], units)

    def product(self, x: NDArray[Any]) -> NDArray[np.float64]:
        """The sum of all products with the vector x. Sums in single precision would take as long, and be linear to 2e-7
        only: GMRES needs more where the norm of an inverse is large."""
        y, widest = np.zeros(len(x)), int(np.diff(self.starts).max(initial=0)) + BEYOND

        def add(low: int, high: int) -> None:
            add_squares(*self, x, y, aligned(widest, np.float64), low, high)

        in_parts(add, len(self.places) - 1)
        return y


@kernel
def enter_square(values, entries, units):  # type: ignore[no-untyped-def]
    """Round the rows of a matrix (n, n)."""
    count = len(units)
    for r in range(count):
        largest = 1e-30
        for c in range(count):
            largest = max(largest, abs(values[r, c]))
        units[r] = largest / LARGEST
        for c in range(count):
            entries[r * count + c] = np.int16(np.rint(values[r, c] / units[r]))


@kernel
def add_squares(unknowns, starts, places, entries, units, x, y, room, low, high):  # type: ignore[no-untyped-def]
    """y += B x of the matrices low .. high, no two of which have an unknown in common; a product of vectors ends with
    zeros."""
    size = lanes(room)
    for n in range(low, high):
        first, count = starts[n], starts[n + 1] - starts[n]
        for c in range(count):
            room[c] = x[unknowns[first + c]]
        room[count : count + size] = 0
        for r in range(count):
            at, t = places[n] + r * count, zero(room)
            for c in range(0, count, size):
                t = t + load_as(entries, at + c, room) * load(room, c)
            y[unknowns[first + r]] += units[first + r] * total(t)
