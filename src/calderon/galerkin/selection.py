"""Which triangles of a space a block integrates, in which coordinates and numbers of vertices, and where it adds."""

from typing import Any, NamedTuple

import numpy as np
import scipy
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.galerkin.regular.element_tables import FUNCTIONS_AT_ONCE, groups_of
from calderon.mesh.geometry import corner_places
from calderon.mesh.locality import are_in_order, triangle_order
from calderon.pairs.grouping import arranged
from calderon.spaces import Space


class Selection(NamedTuple):
    """The triangles of a space that carry wanted functions, in order: numbers into space.triangles, places in the
    output (n, L)."""

    triangles: NDArray[np.int64]
    places: NDArray[np.int64]


def select(space: Space, wanted: NDArray[np.int64] | None) -> Selection:
    """Triangles that carry the wanted functions (all for None) and where in the output each local function goes, or
    -1."""
    if wanted is None:
        triangles, index = np.arange(len(space.dofs)), space.dofs
        if index.min(initial=0) < 0:
            triangles = np.flatnonzero((index >= 0).any(axis=1))
            index = index.take(triangles, axis=0)
    else:  # takes as long as there are wanted functions, however large the mesh
        triangles = space.carriers.of(wanted)
        index, order = space.dofs[triangles], np.argsort(wanted)
        place = np.searchsorted(wanted, index, sorter=order).clip(max=len(wanted) - 1)
        index = np.where(wanted[order[place]] == index, order[place], -1) if len(wanted) else index
    if space.is_continuous:
        own = space.triangles[triangles]  # which increase
        whole = len(own) == space.mesh.number_of_triangles
        order = space.mesh.locality if whole else triangle_order(space.mesh.vertices, space.mesh.triangles[own])
        triangles, index = triangles[order], arranged(np.ascontiguousarray(index), order)
    return Selection(triangles, np.ascontiguousarray(index))


def common_frame(first: Any, second: Any) -> tuple[float, NDArray[np.float64]]:
    """Scale and origin that bring both meshes into a box of about unit size, where squared distances suit single
    precision."""
    if first is second:
        return first.unit_frame
    low = np.minimum(first.bounds[0], second.bounds[0])
    high = np.maximum(first.bounds[1], second.bounds[1])
    return 1.0 / float(np.linalg.norm(high - low)), (low + high) / 2


def vertex_numbers(
    test: Space, test_triangles: Any, trial: Space, trial_triangles: Any
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Vertex numbers (n, 3) of both sides in one numbering; vertices at the same place are one."""
    same = test is trial and test_triangles is trial_triangles
    sides = ((test, test_triangles), (trial, trial_triangles))[: 1 if same else 2]
    chosen = [(each.mesh, each.triangles[own]) for each, own in sides]
    if test.mesh is trial.mesh:
        found = [
            mesh.local_places if are_in_order(own, mesh) else corner_places(mesh.vertex_places, mesh.triangles, own)
            for mesh, own in chosen
        ]
        return found[0], found[-1]
    tolerance = 1e-10 / common_frame(test.mesh, trial.mesh)[0]
    tree = scipy.spatial.cKDTree(test.mesh.vertices)
    distance, nearest = tree.query(trial.mesh.vertices, distance_upper_bound=tolerance)
    offset = test.mesh.number_of_vertices
    numbers = np.where(np.isfinite(distance), nearest, offset + np.arange(trial.mesh.number_of_vertices))
    first, second = (corner_places(places, mesh.triangles, own)
                     for places, (mesh, own) in zip((np.arange(offset), numbers), chosen, strict=True))  # fmt: skip
    return first, second


class Rows(NamedTuple):
    """Where a tile adds: tile_rows (triangles of the tile, L) numbers its rows, which are rows `ids` of `out`; places
    (n, L): the row in `out` of each local function of all test triangles, -1 for none."""

    out: NDArray[Any]
    tile_rows: NDArray[np.int64]
    ids: NDArray[np.int64]
    places: NDArray[np.int64]


def incidence(number: NDArray[np.int64], places: NDArray[np.int64], shape: tuple[int, int]) -> sp.csr_array:
    """(tasks, unknowns) > 0 where the task of a triangle, number (n,), carries the unknown at one of its places (n,
    L)."""
    rows = np.repeat(number.astype(np.int32)[:, None], places.shape[1], axis=1)
    kept = places >= 0
    which = rows[kept], places[kept].astype(np.int32)
    return sp.coo_array((np.ones(len(which[0]), np.float32), which), shape=shape).tocsr()


def carried(bounds: NDArray[np.int64], places: NDArray[np.int64], unknowns: int) -> sp.csr_array:
    """(ranges, unknowns) > 0 where one of the triangles between two bounds carries an unknown; places (n, L)."""
    number = np.repeat(np.arange(len(bounds) - 1), np.diff(bounds))
    return incidence(number, places, (len(bounds) - 1, unknowns))


def sharing(table: sp.csr_array) -> list[NDArray[np.int64]]:
    """For each task of a table (tasks, unknowns) those, itself among them, that carry one of its unknowns."""
    both = (table @ table.T).tocsr()
    return [both.indices[both.indptr[t] : both.indptr[t + 1]] for t in range(table.shape[0])]


def filled_rows(tile_rows: NDArray[np.int64], count: int) -> NDArray[np.int64]:
    """Rows (m, L) of the tile for whole groups of test functions (`element_tables.by_groups`), with the dummy row
    `count` for those that fill up the last group."""
    missing = FUNCTIONS_AT_ONCE * groups_of(tile_rows.shape[1]) - tile_rows.shape[1]
    return tile_rows if missing <= 0 else np.pad(tile_rows, [(0, 0), (0, missing)], constant_values=count)


def numbered_rows(places: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Places (m, L) as numbers of the n that occur, -1 as the dummy row n; and these (n,)."""
    found, inverse = np.unique(places, return_inverse=True)
    numbers = inverse.reshape(places.shape).astype(np.int64)
    if found[0] < 0:
        found, numbers = found[1:], numbers - 1
        numbers[numbers < 0] = len(found)
    return numbers, found
