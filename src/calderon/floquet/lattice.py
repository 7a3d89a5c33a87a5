"""Periods of a surface in a plane, and the horizontal wavenumbers of its Floquet waves."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.validation import LARGEST, unmasked


@dataclass(frozen=True, eq=False)
class Lattice:
    """Periods a_1, a_2, the rows of `periods` (2, 2) in m, along x and y."""

    periods: NDArray[np.float64]

    @staticmethod
    def of(period: ArrayLike) -> "Lattice":
        """From one number, the side of a square; two, sides along x and y; or two vectors (2, 2), in m."""
        given = unmasked(period, "period")
        if given.dtype.kind not in "fiu" or given.shape not in ((), (2,), (2, 2)):
            raise ValueError(
                f"period is a length in m, two lengths along x and y, or two vectors of x and y, got {period!r}"
            )
        periods = np.diag(np.broadcast_to(given, (2,))) if given.ndim < 2 else given
        periods = np.array(periods, dtype=np.float64)
        if not np.abs(periods).max() <= LARGEST or (given.ndim < 2 and not (given > 0).all()):
            raise ValueError(f"periods must be positive and finite, in m, got {period!r}")
        # the sine of the angle between two periods is a thousandth at least
        if abs(np.linalg.det(periods)) <= 1e-3 * float(np.prod(np.linalg.norm(periods, axis=1))):
            raise ValueError(f"two periods must have different directions, got {period!r}")
        return Lattice(periods)

    @property
    def area(self) -> float:
        """Area of a cell, in m^2."""
        return float(abs(np.linalg.det(self.periods)))

    @cached_property
    def reciprocal(self) -> NDArray[np.float64]:
        """(2, 2) rows b_1, b_2 with a_i . b_j = 2 pi for i = j, else 0, in 1/m."""
        return np.asarray(2 * np.pi * np.linalg.inv(self.periods).T, np.float64)

    @property
    def spacing(self) -> float:
        """The least distance of two opposite sides of the cell in m: how far copies are apart."""
        return float(self.area / np.linalg.norm(self.periods, axis=1).max())

    def orders(self, transverse: NDArray[np.float64], limit: float) -> NDArray[np.int64]:
        """(n, 2) orders m for which k_t + m b is at most `limit` long, in 1/m, by this length; 0, 0 among them."""
        reach = (limit + np.linalg.norm(transverse)) * np.linalg.norm(self.periods, axis=1) / (2 * np.pi)
        first, second = (np.arange(-int(each), int(each) + 1) for each in reach)
        orders = np.stack([np.repeat(first, len(second)), np.tile(second, len(first))], axis=1)
        length = np.linalg.norm(transverse + orders @ self.reciprocal, axis=1)
        kept = (length <= limit) | ~orders.any(axis=1)
        ranking = np.lexsort((orders[kept, 1], orders[kept, 0], length[kept].round(9)))
        return orders[kept][ranking]
