"""Which blocks of a matrix have a low rank: clusters far apart for their size, and for the wavelength."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calderon.hmatrix.cluster_tree import ClusterTree


@dataclass(frozen=True)
class Admissibility:
    """A pair of clusters is admissible when diameter <= eta * distance of their boxes.

    size: "min", the smaller of the two diameters counts, or "max", the larger. wavenumber (rad/m): of an oscillating
    kernel. Two clusters of diameters a, b at a distance d exchange about (k a b / (2 pi d))^2 independent waves (areas
    over the squared product of wavelength and distance); a block is not admissible where these are more than a
    quarter of its unknowns on the smaller side, since its parts then take less memory than its factors.
    """

    eta: float = 2.0
    size: str = "min"
    wavenumber: float = 0.0

    def __post_init__(self) -> None:
        if self.eta <= 0:
            raise ValueError(f"eta={self.eta}: the ratio of diameter to distance is positive, such as 2")
        if self.size not in ("min", "max"):
            raise ValueError(f"size={self.size!r}: choose 'min' or 'max'")

    def __call__(
        self, rows: ClusterTree, columns: ClusterTree, row: NDArray[np.int64], column: NDArray[np.int64]
    ) -> NDArray[np.bool_]:
        """(pairs,) whether clusters row[n] of `rows` and column[n] of `columns` are admissible."""
        a, b = rows.diameter[row], columns.diameter[column]
        distance = box_distance(rows.boxes[row], columns.boxes[column])
        size = np.minimum(a, b) if self.size == "min" else np.maximum(a, b)
        near = (size > self.eta * distance) | (distance == 0)
        if self.wavenumber:
            waves = (self.wavenumber * a * b / (2 * math.pi * np.where(near, 1, distance))) ** 2
            near |= waves > np.minimum(rows.size[row], columns.size[column]) / 4
        return np.asarray(~near)


def box_distance(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
    """(n,) distances of boxes (n, 2, 3), zero where they meet."""
    gap = np.maximum(first[:, 0] - second[:, 1], second[:, 0] - first[:, 1])
    return np.asarray(np.linalg.norm(np.maximum(gap, 0), axis=1))
