"""Points that coincide: found exactly or within a tolerance, and the triangle soup joined where they do."""

import numbers

import numpy as np
import scipy
from numpy.typing import NDArray

from calderon.backends.numba import kernel
from calderon.mesh.errors import MeshError
from calderon.mesh.sizes import LARGEST_LENGTH
from calderon.mesh.tolerances import TOLERANCES
from calderon.mesh.topology import connected, edge_table
from calderon.mesh.validation import areas_and_flat, repeated_rows


def joining_tolerance(given: float | None, diameter: float) -> float:
    """The distance up to which vertices are joined, 1e-7 of the diameter for None; MeshError if it is not a
    distance."""
    if given is None:
        return TOLERANCES.joined * diameter
    if isinstance(given, bool) or not (isinstance(given, numbers.Real) and 0 <= given <= LARGEST_LENGTH):
        raise MeshError(f"tolerance {given!r}: a value that is zero, positive or None is needed")
    return float(given)


def coincident_points(points: NDArray, tolerance: float = 0.0) -> NDArray:
    """For each point (n, 3) the lowest number of a point that it coincides with, (n,).

    Points closer than the tolerance coincide, and so do chains of them.
    """
    found, bits = np.empty(len(points), np.int64), 1 + len(points).bit_length()
    numbers = np.ascontiguousarray(points + 0.0, np.float64).view(np.uint64)  # of which -0.0 is 0.0
    _find_equal(numbers, np.uint64(64 - bits), np.full(1 << bits, -1, np.int32), found)
    if tolerance > 0:
        chosen, group = np.unique(found, return_inverse=True)
        pairs = scipy.spatial.cKDTree(points[chosen]).query_pairs(tolerance, output_type="ndarray")
        group = connected(pairs[:, 0], pairs[:, 1], len(chosen))[group]
        first, inverse = np.unique(group, return_index=True, return_inverse=True)[1:]
        found = first[inverse]
    return found


@kernel
def _find_equal(numbers, shift, table, found):
    """Fill found (n,) with the first of the rows of numbers (n, k) that equals each row; table: more places than there
    are rows, 2^(64 - shift), -1 at first."""
    for n in range(len(numbers)):
        key = np.uint64(0)
        for c in range(numbers.shape[1]):
            key = (key ^ numbers[n, c]) * np.uint64(0x9E3779B97F4A7C15)
            key ^= key >> np.uint64(32)
        place = np.int64((key * np.uint64(0x9E3779B97F4A7C15)) >> shift)
        while table[place] >= 0:
            is_equal = True
            for c in range(numbers.shape[1]):
                is_equal = is_equal and numbers[table[place], c] == numbers[n, c]
            if is_equal:
                break
            place = place + 1 if place + 1 < len(table) else 0
        if table[place] < 0:
            table[place] = n
        found[n] = table[place]


def torn_vertices(vertices: NDArray, triangles: NDArray, tolerance: float) -> NDArray:
    """Map (nv,) that joins the vertices of open edges that coincide; the identity elsewhere."""
    edges, triangle_edges, _ = edge_table(triangles, len(vertices))
    counts = np.bincount(triangle_edges.ravel(), minlength=len(edges))
    open_vertices = np.unique(edges[counts == 1])
    joined = np.arange(len(vertices))
    joined[open_vertices] = open_vertices[coincident_points(vertices[open_vertices], tolerance)]
    return joined


def sound_triangles(vertices: NDArray, triangles: NDArray) -> tuple[NDArray, NDArray]:
    """Masks (nt,) of the triangles with area and of those that do not repeat an earlier one."""
    with_area = ~areas_and_flat(vertices, triangles)[1]
    edges, triangle_edges, _ = edge_table(triangles, len(vertices))
    once = np.ones(len(triangles), dtype=bool)
    proper = np.flatnonzero(with_area)
    once[proper[repeated_rows(triangle_edges[proper], len(edges))]] = False
    return with_area, once


def compacted(vertices: NDArray, triangles: NDArray) -> tuple[NDArray, NDArray]:
    """Vertices without the unused ones, in the same order, and the triangles in the new numbering."""
    used = np.zeros(len(vertices), dtype=bool)
    used[triangles] = True
    return vertices[used], (np.cumsum(used) - 1)[triangles]
