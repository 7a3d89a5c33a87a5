"""Many small square matrices, or a large one, in 16 bits: approximate inverses."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.backends.numba import kernel
from calderon.backends.vectors import aligned, lanes, load, zero
from calderon.fmm.coarse.columns import REAL, Index
from calderon.fmm.near import BEYOND, load_as, total

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
        for row, each in enumerate(values):  # one after the other, as a matrix may be large
            unit, place = max(float(np.abs(each).max()), 1e-30) / LARGEST, self.places[number] + row * len(each)
            self.units[self.starts[number] + row] = unit
            self.entries[place : place + len(each)] = np.rint(each / unit)

    def product(self, x: NDArray[Any]) -> NDArray[np.float64]:
        """The sum of all products with the vector x, in single precision."""
        y, widest = np.zeros(len(x)), int(np.diff(self.starts).max(initial=0)) + BEYOND
        add_squares(*self, x, y, aligned(widest, REAL), 0, len(self.places) - 1)
        return y


@kernel
def add_squares(unknowns, starts, places, entries, units, x, y, room, low, high):  # type: ignore[no-untyped-def]
    """y += B x of the matrices low .. high; a product of vectors ends with zeros."""
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
