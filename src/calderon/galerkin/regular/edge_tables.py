"""The two sides of a Galerkin block of edge functions, in the frames of the test triangles.

The local functions of triangles i and j are f_a = s_a (x - v_a), g_b = s_b (y - w_b). With xi = x - c_i, alpha_a =
v_a - c_i, eta = y - c_j, beta_b = w_b - c_j all numbers are of the size of a triangle and nothing cancels.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from calderon.galerkin.regular.element_tables import Surface, blocked, joined, packed, points_of, trial_side
from calderon.galerkin.regular.scatter_columns import Columns
from calderon.quadrature import triangle_rule
from calderon.spaces import EdgeSpace


class EdgeTest(NamedTuple):
    """Test triangles, one after the other.

    nodes (n, P, 6 or 7): coordinates of the quadrature points, then weight times Jacobian times 1, xi_1, xi_2 and,
    where asked, |xi|^2; xi_1, xi_2 are components in the frame. centres (n, 3). frames (n, 3, 3): two orthonormal
    tangents, the normal. arms (n, 3, 3): s_a, s_a alpha_a1, s_a alpha_a2 of each local function.
    """

    nodes: NDArray[np.floating]
    centres: NDArray[np.floating]
    frames: NDArray[np.floating]
    arms: NDArray[np.floating]


class EdgeTrial(NamedTuple):
    """Trial triangles in blocks of LANES, structure of arrays (see sides.TrialSide).

    points (blocks, Q, 3 * LANES), centres (blocks, 3 * LANES); table (3, Q) weights times barycentric coordinates;
    corners (blocks, 3, 3 * LANES) the beta_b; strengths (blocks, 3, LANES) s_b times the Jacobian.
    """

    points: NDArray[np.floating]
    centres: NDArray[np.floating]
    table: NDArray[np.floating]
    columns: Columns
    corners: NDArray[np.floating]
    strengths: NDArray[np.floating]


def edge_scales(space: EdgeSpace, selection: NDArray[np.int64], scale: float) -> NDArray[np.float64]:
    """(n, 3) factors s_a of the local functions of the selected rows in coordinates x * scale."""
    return space.scale[selection] / scale


def frames_of(surface: Surface) -> NDArray[np.float64]:
    """(n, 3, 3) two orthonormal tangents of each triangle and its normal."""
    along = surface.corners[:, 1] - surface.corners[:, 0]
    first = along / np.linalg.norm(along, axis=1, keepdims=True)
    return np.stack([first, np.cross(surface.normals, first), surface.normals], axis=1)


def edge_test(
    space: EdgeSpace, surface: Surface, scales: NDArray[np.float64], degree: int, square: bool, real: DTypeLike
) -> EdgeTest:
    """Tabulate the test triangles for a rule of that degree; square: with |xi|^2."""
    rule = triangle_rule(degree)
    points, centres = points_of(surface, rule), surface.corners.mean(axis=1)
    weights = surface.jacobian[:, None, None] * rule.weights[:, None]
    frames = frames_of(surface)
    inside = np.einsum("npc,ntc->npt", points - centres[:, None], frames[:, :2])
    functions = [inside, (inside**2).sum(axis=2, keepdims=True)] if square else [inside]
    table = np.concatenate([points, weights, weights * np.concatenate(functions, axis=2)], axis=2)
    alpha = np.einsum("nac,ntc->nat", surface.corners - centres[:, None], frames[:, :2])
    arms = scales[:, :, None] * np.concatenate([np.ones((len(alpha), 3, 1)), alpha], axis=2)
    return EdgeTest(*(packed(part, real) for part in (table, centres, frames, arms)))


def edge_trial(
    space: EdgeSpace,
    surface: Surface,
    scales: NDArray[np.float64],
    columns: NDArray[np.int64],
    degree: int,
    real: DTypeLike,
) -> EdgeTrial:
    """Tabulate the trial triangles for a rule of that degree."""
    side = trial_side(space, surface, columns, degree, real)
    corners = surface.corners - surface.corners.mean(axis=1, keepdims=True)
    beta = joined(blocked(np.moveaxis(corners, 0, 2), None))
    strengths = blocked((scales * surface.jacobian[:, None]).T, 0.0)
    rule = triangle_rule(degree)
    table = packed(space.element.values(rule.points) * rule.weights, real)
    return EdgeTrial(side.points, side.centres, table, side.columns, packed(beta, real), packed(strengths, real))
