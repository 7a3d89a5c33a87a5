"""Tables of both sides of compiled rows as sources for devices read them."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from calderon.galerkin.forms.edge import frames_of
from calderon.galerkin.regular.element_tables import Surface, packed, points_of
from calderon.galerkin.rows.special_pairs import SpecialPairs
from calderon.quadrature import TriangleRule, triangle_rule
from calderon.spaces import DualTests, EdgeSpace
from calderon.spaces.element import Element

Tables = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]


def device_tables(pairs: Any, test: bool, order: NDArray[np.int64]) -> Tables:
    """The table of a side, records of its triangles and their part in a chunk."""
    if pairs.form.direct:
        return _scalar_tables(pairs, test, order)
    if test and isinstance(pairs.test_space, DualTests):
        return _dual_tables(pairs, order)
    return _edge_tables(pairs, test, order)


def _scalar_tables(pairs: SpecialPairs, test: bool, order: NDArray[np.int64]) -> Tables:
    surface = pairs.test_surface if test else pairs.trial_surface
    space = pairs.test_space if test else pairs.trial_space
    rule = triangle_rule(pairs.quadrature.regular)
    records, chunk = sums_records(Surface(*(each[order] for each in surface)), rule)
    return sums_table(rule, space.element), chunk if space.element.degree == 0 else records, chunk


def _edge_tables(pairs: Any, test: bool, order: NDArray[np.int64]) -> Tables:
    surface = pairs.test_surface if test else pairs.trial_surface
    space, chosen = (pairs.test_space, pairs.test) if test else (pairs.trial_space, pairs.trial)
    scales = edge_scales(space, chosen.triangles, pairs.scale)
    square = not pairs.electric and not pairs.test_space.rotated
    degree = pairs.quadrature.regular
    ordered = Surface(*(each[order] for each in surface))
    records = field_records(pairs.test_space, ordered, scales[order], degree, test and square)
    return field_table(triangle_rule(degree)), records, records[:, :0]


def _dual_tables(pairs: Any, order: NDArray[np.int64]) -> Tables:
    rule, count = triangle_rule(pairs.quadrature.regular), len(order)
    ordered = Surface(*(each[order] for each in pairs.test_surface))
    values = pairs.test_space.corner_values[pairs.test.triangles[order]]
    crossed = np.cross(values, ordered.normals[:, None, None])
    side = affine_test(ordered, crossed, pairs.quadrature.regular, np.float64)
    values = crossed * ordered.jacobian[:, None, None, None]
    parts = side.nodes, side.centres, side.frames, ordered.corners, side.arms, values
    records = np.concatenate([each.reshape(count, -1) for each in parts], axis=1)
    return field_table(rule), records, records[:, :0]


def sums_table(rule: TriangleRule, element: Element) -> NDArray[np.float64]:
    """The table of a RowSide: weights times local functions (L, P), weights (P,), barycentric coordinates (3, P)."""
    parts = element.values(rule.points) * rule.weights, rule.weights, rule.barycentric.T
    return np.concatenate([each.ravel() for each in parts])


def sums_records(surface: Surface, rule: TriangleRule) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Records of the triangles: points (P, 3), centre, normal, Jacobian, curls (3, 3), corners (3, 3); and what a
    chunk has of them: the numbers before the curls."""
    count = len(surface.corners)
    columns = (
        points_of(surface, rule), surface.corners.mean(axis=1), surface.normals, surface.jacobian, surface.curls,
        surface.corners,
    )  # fmt: skip
    records = np.concatenate([each.reshape(count, -1) for each in columns], axis=1)
    return records, records[:, : 3 * rule.number_of_points + 7]


def field_table(rule: TriangleRule) -> NDArray[np.float64]:
    """The table of a RowSide: weights (P,), barycentric coordinates (3, P)."""
    return np.concatenate([rule.weights, rule.barycentric.T.ravel()])


def field_records(
    space: EdgeSpace, surface: Surface, scales: NDArray[np.float64], degree: int, crossed: bool
) -> NDArray[np.float64]:
    """Records of the triangles: nodes (P, 7) and frame as in `edge_test`, s, s alpha of the local functions, corners;
    as part of a cluster beta, crossed with the normal or not, and s' times the Jacobian."""
    side = edge_test(space, surface, scales, degree, True, np.float64)
    arms = surface.corners - surface.corners.mean(axis=1, keepdims=True)
    if crossed:
        arms = np.cross(arms, surface.normals[:, None])
    strengths = scales * surface.jacobian[:, None]
    parts = side.nodes, side.centres, side.frames, side.arms, surface.corners, arms, strengths
    return np.concatenate([each.reshape(len(arms), -1) for each in parts], axis=1)


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


def edge_scales(space: EdgeSpace, selection: NDArray[np.int64], scale: float) -> NDArray[np.float64]:
    """(n, 3) factors s_a of the local functions of the selected rows in coordinates x * scale."""
    return space.scale[selection] / scale


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


def affine_test(surface: Surface, crossed: NDArray[np.float64], degree: int, real: DTypeLike) -> EdgeTest:
    """Tabulate test triangles for a rule of that degree, with all products of two of the xi. arms (n, L, 6): both
    tangential components of u_0, u_1, u_2 of each local function t x n = u_0 + xi_1 u_1 + xi_2 u_2, crossed
    (n, L, 3, 3) at the vertices."""
    rule = triangle_rule(degree)
    points, centres, frames = points_of(surface, rule), surface.corners.mean(axis=1), frames_of(surface)
    xi = np.einsum("npc,ntc->npt", points - centres[:, None], frames[:, :2])
    products = np.stack([np.ones(xi.shape[:2]), *np.moveaxis(xi, 2, 0), *_products(xi)], axis=2)
    weights = surface.jacobian[:, None, None] * rule.weights[:, None]
    corners = np.einsum("nmc,ntc->nmt", surface.corners - centres[:, None], frames[:, :2])
    slopes = np.linalg.inv(np.concatenate([np.ones((len(corners), 3, 1)), corners], axis=2))  # 1, xi_1, xi_2 by vertex
    arms = np.einsum("nkm,namc,ntc->nakt", slopes, crossed, frames[:, :2], optimize=True)
    table = np.concatenate([points, weights * products], axis=2)
    return EdgeTest(*(packed(part, real) for part in (table, centres, frames, arms.reshape(*arms.shape[:2], 6))))


def _products(xi: NDArray[np.float64]) -> tuple[NDArray[np.float64], ...]:
    return xi[..., 0] ** 2, xi[..., 0] * xi[..., 1], xi[..., 1] ** 2
