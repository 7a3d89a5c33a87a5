"""Point sources by triangles and patches of them, as the kernels of potentials read them."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.greens.elementary import SHORT
from calderon.mesh.locality import locality_order

PATCH = 16
"""Triangles of a patch at most."""


class GroupedSources(NamedTuple):
    """Triangles with their quadrature points, neighbours together in patches whose phase is taken once.

    patches (p, 4): the mean of their centroids, and a squared distance: targets closer count as that far; starts (p +
    1,) the first triangle of each; groups (n, 7): centroid, the same for the triangle (which raises the squared
    distances of its points by as much), normal; sources (n, Q, 6): -2 o and |o|^2 of the offset o from the centroid, Re
    and Im of the charge. spread: the wavenumber times the most that a distance of a target from a source, as it counts,
    differs from that from its patch.
    """

    patches: NDArray[np.float64]
    starts: NDArray[np.int64]
    groups: NDArray[np.float64]
    sources: NDArray[np.float64]
    spread: float

    @staticmethod
    def of(
        sources: NDArray[np.float64], centres: NDArray[np.float64], sizes: NDArray[np.float64], wavenumber: float
    ) -> "GroupedSources":
        """Group sources (n, Q, 8), as y, normal, Re and Im of the charge, with centroids (n, 3): targets nearer to
        one than sizes (n,) count as that far. No offset is longer than 2/3 of the size."""
        order = locality_order(centres, PATCH)
        sources, centres, sizes = sources[order], centres[order], sizes[order]
        starts, middles, nearest, spreads = _patches(centres, sizes, SHORT / wavenumber if wavenumber else np.inf)
        offsets = sources[..., :3] - centres[:, None]
        squares = (offsets**2).sum(axis=2, keepdims=True)
        return GroupedSources(
            np.concatenate([middles, nearest[:, None] ** 2], axis=1),
            starts,
            np.concatenate([centres, sizes[:, None] ** 2, sources[:, 0, 3:6]], axis=1),
            np.concatenate([-2 * offsets, squares, sources[..., 6:]], axis=2),
            wavenumber * float(spreads.max()),
        )


def _patches(
    centres: NDArray[np.float64], sizes: NDArray[np.float64], allowed: float
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Runs of triangles in an order of neighbours, halved until their spread is allowed or they are single triangles:
    starts (p + 1,), middles (p, 3), nearest (p,) and spreads (p,).

    A target at distance D from a centroid is at max(D, size) as it counts, and at most 2/3 of the size from that are
    its points; at max(D', nearest) from the patch. These differ by max(|D - D'|, |size - nearest|) at most.
    """
    starts = np.array([0, len(centres)])
    while True:
        first, counts = starts[:-1], np.diff(starts)
        middles = np.add.reduceat(centres, first) / counts[:, None]
        nearest = np.add.reduceat(sizes, first) / counts
        radii = np.linalg.norm(centres - np.repeat(middles, counts, axis=0), axis=1)
        apart = np.maximum(radii, np.abs(sizes - np.repeat(nearest, counts)))
        spreads = np.maximum.reduceat(apart + 2 / 3 * sizes, first)
        halved = (counts > PATCH) | ((counts > 1) & (spreads > allowed))
        if not halved.any():
            return starts, middles, nearest, spreads
        starts = np.sort(np.append(starts, (first + counts // 2)[halved]))
