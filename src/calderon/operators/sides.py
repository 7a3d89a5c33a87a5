"""The two sides of a Galerkin block as arrays that compiled loops read: test triangles in rows, trial triangles in
lanes.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from calderon.quadrature import triangle_rule
from calderon.spaces import EdgeSpace
from calderon.spaces.element import barycentric
from calderon.spaces.space import Space

LANES = 128
"""Trial triangles in a block: rows of one block stay in the first-level cache. A multiple of 16."""
GROUP = 3
"""Test functions that a kernel applies at a time, unless they are constant."""


class TestSide(NamedTuple):
    """Test triangles, one after the other.

    nodes (groups, n, P, 3 + F): coordinates of the quadrature points and, for the F = 1 or 3 local functions of the
    group, values times weight times Jacobian. normals, centres (n, 3); curls (n, 3, 3) of the linear functions.
    """

    nodes: NDArray[np.floating]
    normals: NDArray[np.floating]
    centres: NDArray[np.floating]
    curls: NDArray[np.floating]


class TrialSide(NamedTuple):
    """Trial triangles in blocks of LANES, structure of arrays; the last block is padded with triangles of no area.

    points (blocks, Q, 3 * LANES), normals, centres (blocks, 3 * LANES): x, then y, then z. jacobian (blocks, LANES),
    curls (blocks, L, 3, LANES), table (L, Q) weights times local functions, measure (Q,) weights. columns: where the
    results of a block go.
    """

    points: NDArray[np.floating]
    normals: NDArray[np.floating]
    centres: NDArray[np.floating]
    jacobian: NDArray[np.floating]
    columns: "Columns"
    curls: NDArray[np.floating]
    table: NDArray[np.floating]
    measure: NDArray[np.floating]


class Columns(NamedTuple):
    """Output columns of the L * LANES results of each block, for a sum without conflicts.

    distinct (blocks, n) the columns that occur, those that occur most often first; level k of `source` (blocks,
    L * LANES), from level[b, k] to level[b, k + 1], holds the numbers of the k-th result of the first columns (as many
    as have so many). first (blocks,) is the first column where the results are consecutive columns, else -1.
    """

    distinct: NDArray[np.int64]
    source: NDArray[np.int64]
    level: NDArray[np.int64]
    first: NDArray[np.int64]


class Surface(NamedTuple):
    """The triangles of one side's support, scaled and shifted: corners (n, 3, 3), normals (n, 3), jacobian (n,) twice
    the area, curls (n, 3, 3) surface curls n x grad l_a of the linear functions: opposite edge over twice the area."""

    corners: NDArray[np.float64]
    normals: NDArray[np.float64]
    jacobian: NDArray[np.float64]
    curls: NDArray[np.float64]


def surface_of(
    space: Space | EdgeSpace, selection: NDArray[np.int64], scale: float, origin: NDArray[np.float64]
) -> Surface:
    """The selected supporting triangles of `space` in coordinates (x - origin) * scale."""
    mesh, triangles = space.mesh, space.triangles[selection]
    corners = (mesh.vertices[mesh.triangles[triangles]] - origin) * scale
    return surface(corners, mesh.normals[triangles], 2 * mesh.areas[triangles] * scale**2)


def surface(corners: NDArray[np.float64], normals: NDArray[np.float64], jacobian: NDArray[np.float64]) -> Surface:
    """A surface with its curls."""
    edges = np.roll(corners, -1, axis=1) - np.roll(corners, -2, axis=1)
    return Surface(corners, normals, jacobian, edges / jacobian[:, None, None])


def test_side(space: Space | EdgeSpace, surface: Surface, degree: int, constant: bool, real: DTypeLike) -> TestSide:
    """Tabulate the test triangles for a rule of that degree; `constant`: with the function 1 only."""
    rule = triangle_rule(degree)
    points = np.einsum("bp,nbc->npc", barycentric(rule.points), surface.corners)
    table = np.ones((1, len(rule.weights))) if constant else space.element.values(rule.points)
    weights = np.einsum("n,fp->npf", surface.jacobian, table * rule.weights)
    size = min(GROUP, len(table))
    groups = [np.concatenate([points, weights[..., f : f + size]], axis=2) for f in range(0, len(table), size)]
    parts = (np.stack(groups), surface.normals, surface.corners.mean(axis=1), surface.curls)
    return TestSide(*(packed(part, real) for part in parts))


def trial_side(
    space: Space | EdgeSpace, surface: Surface, columns: NDArray[np.int64], degree: int, real: DTypeLike
) -> TrialSide:
    """Tabulate the trial triangles for a rule of that degree."""
    rule = triangle_rule(degree)
    inside = np.einsum("bq,nbc->qcn", barycentric(rule.points), surface.corners)
    parts = (
        joined(blocked(inside, None)),
        joined(blocked(surface.normals.T, None)),
        joined(blocked(surface.corners.mean(axis=1).T, None)),
        blocked(surface.jacobian, 0.0),
        blocked(np.moveaxis(surface.curls, 0, 2), None),
        space.element.values(rule.points) * rule.weights,
        rule.weights,
    )
    points, normals, centres, jacobian, *rest = (packed(part, real) for part in parts)
    places = _columns(blocked(columns.T, -1).reshape(len(points), -1))
    return TrialSide(points, normals, centres, jacobian, places, *rest)


def _columns(columns: NDArray[np.int64]) -> Columns:
    """From the column (blocks, L * LANES) of each result, -1 for none."""
    blocks, size = columns.shape
    distinct, source = np.zeros((blocks, size), np.int64), np.zeros((blocks, size), np.int64)
    levels: list[NDArray[np.int64]] = []
    for b, block in enumerate(columns):
        order = np.argsort(block, kind="stable")
        order = order[np.searchsorted(block[order], 0) :]  # without the -1
        found, start, count = np.unique(block[order], return_index=True, return_counts=True)
        often = np.argsort(-count, kind="stable")
        distinct[b, : len(found)] = found[often]
        rank = np.empty(len(found), np.int64)
        rank[often] = np.arange(len(found))
        column = np.repeat(np.arange(len(found)), count)
        turn = np.arange(len(order)) - start[column]
        source[b, : len(order)] = order[np.lexsort((rank[column], turn))]
        levels.append(np.concatenate([[0], np.cumsum(np.bincount(turn))]).astype(np.int64))
    level = np.stack([np.pad(each, (0, max(map(len, levels)) - len(each)), mode="edge") for each in levels])
    consecutive = (np.diff(columns, axis=1) == 1).all(axis=1) & (columns[:, 0] >= 0)
    return Columns(distinct, source, level, np.where(consecutive, columns[:, 0], -1))


def joined(array: NDArray) -> NDArray:
    """(..., 3, LANES) to (..., 3 * LANES)."""
    return array.reshape(*array.shape[:-2], -1)


def packed(array: NDArray, real: DTypeLike) -> NDArray:
    """Contiguous, floating-point numbers in the working precision."""
    return np.ascontiguousarray(array, dtype=real if array.dtype.kind == "f" else array.dtype)


def blocked(array: NDArray, filler: float | None) -> NDArray:
    """(..., n) to (blocks, ..., LANES), padded with `filler` or with the last entry."""
    n = array.shape[-1]
    padding = -n % LANES
    width = [(0, 0)] * (array.ndim - 1) + [(0, padding)]
    if filler is None:
        padded = np.pad(array, width, mode="edge")
    else:
        padded = np.pad(array, width, constant_values=filler)
    return np.moveaxis(padded.reshape(*array.shape[:-1], -1, LANES), -2, 0)
