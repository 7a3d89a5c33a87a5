"""Sources of triangles by patches and clusters of neighbours, as the kernels of potentials read them.

A patch has one phase, and the sources in it only their differences from that; a cluster of patches has one expansion
(sources/multipoles.py), which targets take that are some radii away.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.greens.elementary import SHORT
from calderon.mesh.locality import block_order
from calderon.potentials.sources.multipoles import count, degree_for, degree_of, moments, recurrence

PATCH = 16
"""Triangles of a patch at most."""
CLUSTER = 64
"""Triangles of a cluster at most."""
WIDEST = 3.0
"""Radius of a cluster times the wavenumber at most."""
RATIO = 6.0
"""Radii of a cluster from which on its expansion serves."""
OUTSIDE = 1.5
"""Distance of the farthest source of a cluster in such radii: the corners of a square have 1.2."""
PAYS = 1.0
"""Sources of a cluster for each pair n, m of its expansion from which on this takes less time."""
AT_ONCE = 1024
"""Clusters whose sources are expanded at a time."""
FieldOfCharges = Callable[[NDArray[Any], complex], NDArray[Any]]
"""From coefficients (p, c, 2 pairs) of charges and k^2 to those (p, values, 2 pairs) of the field (multipoles.py)."""


@dataclass(frozen=True, eq=False)
class Clusters:
    """Triangles with their sources: neighbours together in patches, whose phase is taken once, and these in clusters,
    which have one expansion.

    members (c + 1,): the first patch of each cluster; starts (p + 1,): the first triangle of each patch, in the order
    (n,) of triangles. patches (p, 4): the mean of their centroids, and the square of a floor, a distance that closer
    targets count as; groups (n, 7): centroid, square of a floor and normal of each triangle; sources (n, Q, C). spread:
    the wavenumber k times the most that a distance of a target from a source, as it counts, differs from that from its
    patch.
    """

    order: NDArray[np.int64]
    members: NDArray[np.int64]
    starts: NDArray[np.int64]
    patches: NDArray[np.float64]
    groups: NDArray[np.float64]
    sources: NDArray[np.float64]
    spread: float
    k: complex

    @staticmethod
    def of(
        sources: NDArray[np.float64],
        centroids: NDArray[np.float64],
        normals: NDArray[np.float64],
        sizes: NDArray[np.float64],
        floors: NDArray[np.float64],
        k: complex,
    ) -> "Clusters":
        """Group triangles with sources (n, Q, C), places first, centroids and normals (n, 3), sizes and floors (n,)."""
        order, wave = bisected_order(centroids), abs(k)
        centroids, sizes, floors = centroids[order], sizes[order], floors[order]
        blocks = np.append(np.arange(0, len(order), CLUSTER), len(order))
        clusters = halved(blocks, centroids, sizes, np.zeros(len(order)), CLUSTER, wave, WIDEST)
        starts, middles, nearest, spread = halved(clusters[0], centroids, sizes, floors, PATCH, wave, SHORT)
        return Clusters(
            order,
            np.searchsorted(starts, clusters[0]),
            starts,
            np.column_stack([middles, nearest**2]),
            np.concatenate([centroids, floors[:, None] ** 2, normals[order]], axis=1),
            sources[order],
            spread,
            k,
        )

    @property
    def of_clusters(self) -> NDArray[np.int64]:
        """(c + 1,) the first triangle of each cluster."""
        return self.starts[self.members]

    def arrays(self, sources: NDArray[np.float64], found: "Expansions | None") -> tuple[NDArray[Any], ...]:
        """The arrays that kernels of patch_sums.py read: clusters (c, 5), as centre, distance from which the expansion
        serves, and 0, the floor of its squares; members, patches, starts, groups; sources (n, Q, C) as the kernels read
        them; the records of expansions and the factors of their recurrence. found: None where none serves."""
        none = len(self.members) - 1
        found = found or Expansions(np.zeros((1, 1)), np.zeros((none, 3)), np.full(none, np.inf), 0)
        clusters = np.column_stack([found.centres, found.reach, np.zeros(len(found.reach))])
        arrays = clusters, self.members, self.patches, self.starts, self.groups, sources
        return *arrays, found.records, recurrence(found.degree)

    def expansions(
        self, charges: NDArray[np.complex128], field: FieldOfCharges, order: int, accuracy: float, real: bool
    ) -> "Expansions | None":
        """Expansions of the field of charges (n, Q, c), None where no cluster would save time.

        field: what the charges make; order: of the field, as for `degree_for`; accuracy: relative; real: whether the
        Green's function and the charges are.
        """
        first, counts = self.of_clusters[:-1], np.diff(self.of_clusters)
        places, each = self.sources[..., :3], charges.shape[1]
        centres = np.add.reduceat(places.mean(axis=1), first) / counts[:, None]
        offsets = places - np.repeat(centres, counts, axis=0)[:, None]
        # radii of disks with the same mean square, unless some sources are far outside of them
        squares = (offsets**2).sum(axis=2)
        disks = np.sqrt(2 * np.add.reduceat(squares.mean(axis=1), first) / counts)
        radii = np.maximum(disks, np.sqrt(np.maximum.reduceat(squares.max(axis=1), first)) / OUTSIDE)
        degree = degree_for(accuracy, RATIO, abs(self.k) * float(radii.max()), order)
        if degree is None:
            return None
        pays = counts * each >= PAYS * count(degree)
        if not np.any(pays):
            return None
        parts = []
        for low in range(0, len(first), AT_ONCE):
            some = slice(low, low + AT_ONCE)
            # sources of each cluster, filled up to the same number by charges of zero
            number = np.arange(counts[some].max())
            at = np.minimum(first[some, None] + number, len(charges) - 1)
            given = np.where((number < counts[some, None])[..., None, None], charges[at], 0)
            given = given.reshape(len(at), -1, charges.shape[2])
            found = moments(offsets[at].reshape(len(at), -1, 3), given, self.k, degree)
            coefficients = field(found.reshape(*found.shape[:2], -1), self.k**2)
            parts.append(_records(coefficients, real))
        raised = degree_of(coefficients.shape[2])
        return Expansions(np.concatenate(parts), centres, np.where(pays, RATIO * radii, np.inf), raised)


class Expansions(NamedTuple):
    """Records (c, numbers) of clusters as the kernels read them, their centres (c, 3), distances (c,) from which they
    serve, and their degree."""

    records: NDArray[np.float64]
    centres: NDArray[np.float64]
    reach: NDArray[np.float64]
    degree: int


def bisected_order(points: NDArray[np.float64]) -> NDArray[np.int64]:
    """A permutation that puts neighbours among points (n, 3) into blocks of CLUSTER, a power of two, and within each
    block into halves, quarters and so on."""
    order = block_order(points, CLUSTER)
    whole, size = len(order) // CLUSTER * CLUSTER, CLUSTER
    while size > 1:
        parts = order[:whole].reshape(-1, size)
        given = points[parts]
        along = np.ptp(given, axis=1).argmax(axis=1)
        places = np.take_along_axis(given, along[:, None, None], axis=2)[..., 0]
        order[:whole] = np.take_along_axis(parts, places.argsort(axis=1), axis=1).ravel()
        size //= 2
    return order


def halved(
    starts: NDArray[np.int64],
    centroids: NDArray[np.float64],
    sizes: NDArray[np.float64],
    floors: NDArray[np.float64],
    most: int,
    wavenumber: float,
    widest: float,
) -> tuple[NDArray[np.int64], NDArray[np.float64], NDArray[np.float64], float]:
    """Runs of triangles in an order of neighbours, those that begin at `starts` (p + 1,) halved until they have `most`
    at most and the wavenumber times their spread is at most `widest`, or they are single triangles: starts, middles (p,
    3), nearest (p,) and the wavenumber times the largest spread.

    A target at distance D from a centroid is at max(D, floor) as it counts, and at most 2/3 of the size from that are
    its points; at max(D', nearest) from the middle of the run. These differ by max(|D - D'|, |floor - nearest|) at
    most.
    """
    while True:
        first, counts = starts[:-1], np.diff(starts)
        middles = np.add.reduceat(centroids, first) / counts[:, None]
        nearest = np.add.reduceat(floors, first) / counts
        radii = np.linalg.norm(centroids - np.repeat(middles, counts, axis=0), axis=1)
        apart = np.maximum(radii, np.abs(floors - np.repeat(nearest, counts)))
        spreads = wavenumber * np.maximum.reduceat(apart + 2 / 3 * sizes, first)
        large = (counts > most) | ((counts > 1) & (spreads > widest))
        if not large.any():
            return starts, middles, nearest, float(spreads.max())
        starts = np.sort(np.append(starts, (first + counts // 2)[large]))


def _records(coefficients: NDArray[Any], real: bool) -> NDArray[np.float64]:
    """(p, numbers) records from coefficients (p, values, 2 pairs): for each pair and value Re a, Re b, Im a, Im b, of
    `real` ones the first two."""
    pairs = np.swapaxes(coefficients.reshape(*coefficients.shape[:2], -1, 2), 1, 2)
    parts = pairs.real if real else np.concatenate([pairs.real, pairs.imag], axis=3)
    return np.ascontiguousarray(parts.reshape(len(parts), -1), float)
