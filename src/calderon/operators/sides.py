"""The two sides of a Galerkin block as arrays that compiled loops read: test triangles in rows, trial triangles in
lanes.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from calderon.quadrature import triangle_rule
from calderon.spaces.element import barycentric
from calderon.spaces.space import Space

LANES = 128
"""Trial triangles in a block: rows of one block stay in the first-level cache."""


class TestSide(NamedTuple):
    """Test triangles, one after the other. P quadrature points (padded to a multiple of 3), L local functions.

    points (n, P, 3), normals (n, 3), jacobian (n,) twice the area, rows (n, L) output row or -1, curls (n, L, 3)
    surface curls of the linear functions, table (L, P) weights times local functions, measure (1, P) weights alone.
    """

    points: NDArray[np.floating]
    normals: NDArray[np.floating]
    jacobian: NDArray[np.floating]
    rows: NDArray[np.int64]
    curls: NDArray[np.floating]
    table: NDArray[np.floating]
    measure: NDArray[np.floating]


class TrialSide(NamedTuple):
    """Trial triangles in blocks of LANES, structure of arrays; the last block is padded with triangles of no area.

    points (blocks, Q, 6 * LANES) coordinates x, y, z and normals x, y, z, one row after the other (one array with
    constant offsets: the compiler proves in one test that nothing overlaps), jacobian (blocks, LANES), columns
    (blocks, L, LANES) output column or -1, curls (blocks, L, 3, LANES), table (L, Q) weights times local functions,
    measure (Q,) weights.
    """

    points: NDArray[np.floating]
    jacobian: NDArray[np.floating]
    columns: NDArray[np.int64]
    curls: NDArray[np.floating]
    table: NDArray[np.floating]
    measure: NDArray[np.floating]


class Surface(NamedTuple):
    """The triangles of one side's support, scaled and shifted: corners (n, 3, 3), normals (n, 3), jacobian (n,)."""

    corners: NDArray[np.float64]
    normals: NDArray[np.float64]
    jacobian: NDArray[np.float64]


def surface_of(space: Space, selection: NDArray[np.int64], scale: float, origin: NDArray[np.float64]) -> Surface:
    """The selected supporting triangles of `space` in coordinates (x - origin) * scale."""
    mesh, triangles = space.mesh, space.triangles[selection]
    corners = (mesh.vertices[mesh.triangles[triangles]] - origin) * scale
    return Surface(corners, mesh.normals[triangles], 2 * mesh.areas[triangles] * scale**2)


def linear_curls(surface: Surface) -> NDArray[np.float64]:
    """(n, 3, 3) surface curls n x grad l_a of the linear functions: the opposite edge over twice the area."""
    c = surface.corners
    edges = np.stack([c[:, 1] - c[:, 2], c[:, 2] - c[:, 0], c[:, 0] - c[:, 1]], axis=1)
    return edges / surface.jacobian[:, None, None]


def test_side(space: Space, surface: Surface, rows: NDArray[np.int64], degree: int, real: DTypeLike) -> TestSide:
    """Tabulate the test triangles for a rule of that degree."""
    rule = triangle_rule(degree)
    padding = -len(rule.weights) % 3
    reference = np.concatenate([rule.points, np.full((padding, 2), 1 / 3)])
    weights = np.concatenate([rule.weights, np.zeros(padding)])
    points = np.einsum("bp,nbc->npc", barycentric(reference), surface.corners)
    table = space.element.values(reference) * weights
    curls = linear_curls(surface)
    parts = (points, surface.normals, surface.jacobian, rows, curls, table, weights[None])
    return TestSide(*(_packed(part, real) for part in parts))


def trial_side(space: Space, surface: Surface, columns: NDArray[np.int64], degree: int, real: DTypeLike) -> TrialSide:
    """Tabulate the trial triangles for a rule of that degree."""
    rule = triangle_rule(degree)
    points = np.einsum("bq,nbc->qcn", barycentric(rule.points), surface.corners)
    normals = np.broadcast_to(surface.normals.T, points.shape)
    curls = np.moveaxis(linear_curls(surface), 0, 2)
    parts = (
        _rows_joined(_blocked(np.concatenate([points, normals], axis=1), None)),
        _blocked(surface.jacobian, 0.0),
        _blocked(columns.T, -1),
        _blocked(curls, None),
        space.element.values(rule.points) * rule.weights,
        rule.weights,
    )
    return TrialSide(*(_packed(part, real) for part in parts))


def _rows_joined(array: NDArray) -> NDArray:
    """(blocks, Q, 6, LANES) to (blocks, Q, 6 * LANES)."""
    return array.reshape(*array.shape[:2], -1)


def _packed(array: NDArray, real: DTypeLike) -> NDArray:
    """Contiguous, integers as int64 and the rest in the working precision."""
    kind = np.int64 if np.issubdtype(array.dtype, np.integer) else real
    return np.ascontiguousarray(array, dtype=kind)


def _blocked(array: NDArray, filler: float | None) -> NDArray:
    """(..., n) to (blocks, ..., LANES), padded with `filler` or with the last entry."""
    n = array.shape[-1]
    padding = -n % LANES
    width = [(0, 0)] * (array.ndim - 1) + [(0, padding)]
    if filler is None:
        padded = np.pad(array, width, mode="edge")
    else:
        padded = np.pad(array, width, constant_values=filler)
    return np.moveaxis(padded.reshape(*array.shape[:-1], -1, LANES), -2, 0)
