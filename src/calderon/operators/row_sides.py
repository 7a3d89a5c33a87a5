"""One side of a Galerkin matrix in cluster order, as compiled rows and columns read it.

In a row the test function is fixed and the trial functions of a cluster vary; in a column it is the other way round. So
each side is tabulated twice: unknown by unknown, as the triangles, points and weights of its function, and cluster by
cluster, as the triangles on which functions of a cluster live.
"""

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from calderon.backends.numba import STAMP, kernel
from calderon.operators.compiled_rows import Clusters
from calderon.operators.sides import Surface, packed, points_of
from calderon.quadrature import triangle_rule
from calderon.spaces.element import Element, barycentric

CHUNK = 128
"""Triangles of a cluster that are worked on at a time: what belongs to them stays in the first-level cache."""
PITCH = CHUNK + 16
"""Numbers from one row of a chunk to the next: not a power of two, which would meet few places of the cache."""
GEOMETRY = 7
"""Rows of a chunk after those of the quadrature points: centre, normal, Jacobian."""


class RowSide(NamedTuple):
    """The n unknowns of one side by their positions in cluster order, and their T triangles in that order.

    starts (n + 1,): the triangles of position i are triangles[starts[i] : starts[i + 1]], on which its function is the
    local one `functions` of the same place. nodes (T, 3 P) coordinates of the quadrature points; weights (L, P) of the
    local functions, measure (P,) of the function 1; jacobian (T,), normals, centres (T, 3), curls (T, 3, 3) of
    the linear functions.

    first, sizes (clusters,): the run of positions of a cluster; its triangles are lists[list_starts[c] :
    list_starts[c + 1]], increasing, or first .. first + size if `lists` is empty, each triangle having its own
    function; then `chunks` holds what a chunk of a cluster holds, for all triangles: rows of `pitch` numbers, the
    coordinates of points, centres, normals and Jacobians. corners (T, 9). places (T, L) position of each local
    function, -1 for none. table (L, P) weights times local functions; shape (3, P) barycentric coordinates.
    """

    starts: NDArray[np.int64]
    triangles: NDArray[np.int32]
    functions: NDArray[np.int32]
    nodes: NDArray[np.floating]
    weights: NDArray[np.floating]
    measure: NDArray[np.floating]
    jacobian: NDArray[np.floating]
    normals: NDArray[np.floating]
    centres: NDArray[np.floating]
    curls: NDArray[np.floating]
    first: NDArray[np.int64]
    sizes: NDArray[np.int64]
    list_starts: NDArray[np.int64]
    lists: NDArray[np.int32]
    chunks: NDArray[np.floating]
    pitch: int
    corners: NDArray[np.floating]
    places: NDArray[np.int32]
    shape: NDArray[np.floating]


def row_side(
    surface: Surface, places: NDArray[np.int64], element: Element, clusters: Clusters, degree: int, real: DTypeLike
) -> tuple[RowSide, NDArray[np.int64]]:
    """Tabulate a side; also the order of its triangles: of which of the surface each one is.

    places (T, L): the unknown of each local function, -1 for none.
    """
    position = np.empty(len(clusters.order) + 1, np.int64)
    position[clusters.order] = np.arange(len(clusters.order))
    position[-1] = -1
    local = position[places]
    order = np.argsort(np.where(local >= 0, local, len(clusters.order)).min(axis=1), kind="stable")
    local = np.ascontiguousarray(local[order])
    surface = Surface(*(each[order] for each in surface))
    rule = triangle_rule(degree)
    centres = surface.corners.mean(axis=1)
    points = points_of(surface, rule)
    starts, triangles, functions = _incidence(local, len(clusters.order))
    own = local.shape[1] == 1 and np.array_equal(local[:, 0], np.arange(len(local)))
    if own:
        list_starts, lists = np.zeros(1, np.int64), np.zeros(0, np.int32)
        chunks = _chunks(np.concatenate([points.reshape(len(local), -1), centres, surface.normals], axis=1), surface)
    else:
        list_starts, lists = _lists(starts, triangles, clusters)
        chunks = np.zeros((1, 1))
    numbers = (
        points.reshape(len(local), -1), element.values(rule.points) * rule.weights, rule.weights,
        surface.jacobian, surface.normals,
        centres, surface.curls, chunks.ravel(), surface.corners.reshape(-1, 9), barycentric(rule.points),
    )  # fmt: skip
    nodes, weights, measure, jacobian, normals, centres, curls, flat, corners, shape = (
        packed(each, real) for each in numbers
    )
    first, count = clusters.start.astype(np.int64), (clusters.stop - clusters.start).astype(np.int64)
    side = RowSide(
        starts, triangles, functions, nodes, weights, measure, jacobian, normals, centres, curls, first, count,
        list_starts, lists, flat, chunks.shape[1], corners, local.astype(np.int32), shape,
    )  # fmt: skip
    return side, order


def _incidence(local: NDArray[np.int64], count: int) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
    """starts, triangles and functions of a RowSide from the positions (T, L)."""
    triangle, function = np.nonzero(local >= 0)
    position = local[triangle, function]
    order = np.argsort(position, kind="stable")
    starts = np.searchsorted(position[order], np.arange(count + 1))
    return starts, triangle[order].astype(np.int32), function[order].astype(np.int32)


def _chunks(columns: NDArray[np.float64], surface: Surface) -> NDArray[np.float64]:
    """Rows (numbers of a triangle, pitch): one row for each column, then the Jacobian; the last vectors may be read
    beyond the end."""
    count = len(columns)
    pitch = -(-(count + 16) // 512) * 512 + 16
    rows = np.zeros((columns.shape[1] + 1, pitch))
    rows[:-1, :count], rows[-1, :count] = columns.T, surface.jacobian
    return rows


def _lists(
    starts: NDArray[np.int64], triangles: NDArray[np.int32], clusters: Clusters
) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    """list_starts and lists of a RowSide."""
    seen = np.full(int(triangles.max(initial=-1)) + 1, -1)
    sizes = np.zeros(len(clusters.start) + 1, np.int64)
    listing = _listing_kernel()
    listing(starts, triangles, clusters.start, clusters.stop, seen, sizes, np.zeros(0, np.int32))
    ends = np.cumsum(sizes)
    lists = np.empty(ends[-1], np.int32)
    seen[:] = -1
    listing(starts, triangles, clusters.start, clusters.stop, seen, ends, lists)
    return ends, lists


@functools.lru_cache(maxsize=1)
def _listing_kernel() -> Callable[..., Any]:
    stamp = STAMP

    @kernel
    def run(starts, triangles, first, stop, seen, ends, lists):  # type: ignore[no-untyped-def]
        """Each triangle of each cluster once, in increasing order; without `lists` the number of them in ends[1:]."""
        _ = stamp
        for c in range(first.size):
            count = 0
            for m in range(starts[first[c]], starts[stop[c]]):
                t = triangles[m]
                if seen[t] != c:
                    seen[t] = c
                    if lists.size:
                        lists[ends[c] + count] = t
                    count += 1
            if lists.size:
                lists[ends[c] : ends[c] + count].sort()
            else:
                ends[c + 1] = count

    return run
