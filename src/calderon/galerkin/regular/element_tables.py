"""The two sides of a Galerkin block as arrays that compiled loops read: test triangles in rows, trial triangles in
lanes.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from calderon.backends.vectors import aligned
from calderon.galerkin.regular.scatter_columns import Columns, columns_of
from calderon.mesh.geometry import FlatTriangles
from calderon.quadrature import TriangleRule, triangle_rule

LANES = 128
"""Trial triangles in a block: rows of one block stay in the first-level cache. A multiple of 16."""
FUNCTIONS_AT_ONCE = 3
"""Test functions that a kernel applies at a time, unless there is only one."""


class TestSide(NamedTuple):
    """Test triangles, one after the other.

    nodes (n, 3 P): coordinates of the quadrature points. weights (groups, m): each row has the F = 1 or 3 functions of
    a group times the weights of the rule, (F, P) flat; with points in threes (see `in_threes`) alpha, then beta, of
    each three points. factors (groups, n): the numbers that `weights` lack, unit times Jacobian. normals, centres (n,
    3); curls (n, 3, 3) of the linear functions; data (n, k): what a form reads.
    """

    nodes: NDArray[np.floating]
    weights: NDArray[np.floating]
    factors: NDArray[np.floating]
    normals: NDArray[np.floating]
    centres: NDArray[np.floating]
    curls: NDArray[np.floating]
    data: NDArray[np.floating]


class TrialSide(NamedTuple):
    """Trial triangles in blocks of LANES, structure of arrays; the last block is padded with triangles of no area.

    points (blocks, Q, 3 * LANES), normals, centres (blocks, 3 * LANES): x, then y, then z. jacobian (blocks, LANES),
    curls (blocks, L, 3, LANES). table: weights times local functions (L, Q), or with points in threes alpha and beta
    (groups, 2, Q / 3) of each group of three functions, to be multiplied by units (groups,); measure (Q,) weights.
    columns: where the results of a block go. data (blocks, k, LANES): what a form reads.
    """

    points: NDArray[np.floating]
    normals: NDArray[np.floating]
    centres: NDArray[np.floating]
    jacobian: NDArray[np.floating]
    columns: Columns
    curls: NDArray[np.floating]
    table: NDArray[np.floating]
    units: NDArray[np.floating]
    measure: NDArray[np.floating]
    data: NDArray[np.floating]


def in_threes(rule: TriangleRule, *tables: NDArray[np.float64]) -> bool:
    """Whether all points of a rule come in threes that a rotation of the triangle exchanges, and the functions of
    tables (L, P), too.

    At such points functions a = 0, 1, 2 (of the vertices, or of the edges opposite to them) have the values
    alpha delta_ap + beta, p = 0, 1, 2: their sums over k_p are alpha k_a + beta (k_0 + k_1 + k_2), four products where
    there would be nine. The default rule is one of these, and so are all elements up to degree 2.
    """
    if rule.number_of_points % 3:
        return False
    for table in (rule.barycentric.T, *tables):
        if len(table) > 1 and len(table) % FUNCTIONS_AT_ONCE:
            return False
        for group in np.split(table, max(1, len(table) // FUNCTIONS_AT_ONCE)):
            values = group.reshape(len(group), -1, 3)
            beta = values[0, :, 1]
            alpha = values[0, :, 0] - beta
            unit = np.eye(3)[:, None] if len(group) == 3 else np.zeros((1, 1, 3))
            if not np.allclose(values, beta[:, None] + alpha[:, None] * unit):
                return False
    return True


def _threes(table: NDArray[np.float64]) -> tuple[NDArray[np.float64], float]:
    """alpha and beta (2, P / 3) of three functions (3, P), divided by the first alpha, and that; of one function beta
    alone stands for both."""
    beta = table[0, 1::3]
    alpha = table[0, ::3] - beta if len(table) == 3 else beta
    return np.stack([alpha, beta]) / alpha[0], float(alpha[0])


def groups_of(functions: int) -> int:
    """Groups of three functions; 0 for one function."""
    return 0 if functions == 1 else -(-functions // FUNCTIONS_AT_ONCE)


def by_groups(table: NDArray[np.float64], threes: bool) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Weights (groups, m) of functions (L, P), the last group filled up with zeros, and the factor (groups,) that they
    lack. threes: see `in_threes`."""
    number = groups_of(len(table))
    if number:
        table = np.pad(table, [(0, FUNCTIONS_AT_ONCE * number - len(table)), (0, 0)])
    groups = np.split(table, max(1, number))
    if not threes:
        return np.stack(groups).reshape(len(groups), -1), np.ones(len(groups))
    weights, units = zip(*map(_threes, groups), strict=True)
    return np.stack(weights).reshape(len(groups), -1), np.array(units)


def jointly(table: NDArray[np.float64], threes: bool) -> tuple[NDArray[np.float64], float]:
    """Weights (m,) of functions (L, P) that are applied together, and the factor that they lack."""
    weights, units = by_groups(table, threes)
    return (weights * (units / units[0])[:, None]).ravel(), float(units[0])


def test_weights(
    functions: NDArray[np.float64], rule: TriangleRule, threes: bool, together: bool
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Weights (groups, m) of test functions (F, P) at the points of a rule, in groups or all of them together, and the
    factors (groups,) that they lack."""
    if not together:
        return by_groups(functions * rule.weights, threes)
    joint, unit = jointly(functions * rule.weights, threes)
    return joint[None], np.array([unit])


def barycentric_functions(rule: TriangleRule, functions: int) -> NDArray[np.float64]:
    """(3, P) barycentric coordinates, or (6, P) products of two, at the points of a rule (`Form.tests`)."""
    l0, l1, l2 = rule.barycentric.T
    if functions == 3:
        return np.stack([l0, l1, l2])
    return np.stack([l0 * l0, l1 * l1, l2 * l2, l1 * l2, l2 * l0, l0 * l1])


def test_side(
    surface: FlatTriangles, functions: NDArray[np.float64], data: NDArray[np.float64], degree: int, threes: bool,
    curls: bool, points: bool, together: bool, real: DTypeLike,
) -> TestSide:  # fmt: skip
    """Tabulate the test triangles, of which a form reads `data` and perhaps curls, and loops perhaps points, for a rule
    of that degree with functions (F, P) at its points, in groups, or all of them together."""
    rule = triangle_rule(degree)
    weights, units = test_weights(functions, rule, threes, together)
    nodes = surface.points(rule.points).reshape(len(surface.corners), -1) if points else np.zeros((0, 0))
    factors, read = units[:, None] * surface.jacobian, surface.curls if curls else np.zeros((0, 3, 3))
    parts = (nodes, weights, factors, surface.normals, surface.centroids, read, data)
    return TestSide(*(packed(part, real) for part in parts))


def trial_side(
    surface: FlatTriangles, functions: NDArray[np.float64], data: NDArray[np.float64], columns: NDArray[np.int64],
    degree: int, threes: bool, curls: bool, points: bool, real: DTypeLike,
) -> TrialSide:  # fmt: skip
    """Tabulate the trial triangles; columns (n, L) of their local functions; curls, points: whether they are read."""
    rule = triangle_rule(degree)
    table, units = rule.weights, np.ones(1)
    if len(functions) > 1:
        table, units = by_groups(functions * rule.weights, threes)

    def pack(array: NDArray) -> NDArray:
        return packed(array, real)

    nodes = surface.points(rule.points[: len(rule.points) * points]).astype(real)
    return TrialSide(  # one after the other: what they are packed from need not be there at once
        pack(joined(blocked(np.moveaxis(nodes, 0, 2), None))),
        pack(joined(blocked(surface.normals.T, None))),
        pack(joined(blocked(surface.centroids.T, None))),
        jacobian := pack(blocked(surface.jacobian, 0.0)),
        columns_of(blocked(columns.T, -1).reshape(len(jacobian), -1)),
        pack(blocked(np.moveaxis(surface.curls if curls else np.zeros((0, 3, 3)), 0, 2), None)),
        pack(table.ravel()),
        pack(units),
        pack(rule.weights),
        pack(blocked(data.T, None) if data.size else np.zeros((0, 0))),
    )


def joined(array: NDArray) -> NDArray:
    """(..., n, LANES) to (..., n * LANES)."""
    *before, n, lanes = array.shape
    return array.reshape(*before, n * lanes)


def packed(array: NDArray, real: DTypeLike) -> NDArray:
    """Contiguous, floating-point numbers in the working precision, where a vector may begin."""
    out = aligned(array.shape, real if array.dtype.kind == "f" else array.dtype)
    out[...] = array
    return out


def blocked(array: NDArray, filler: float | None) -> NDArray:
    """(..., n) to (blocks, ..., LANES), padded with `filler` or with the last entry."""
    n = array.shape[-1]
    padding = -n % LANES
    width = [(0, 0)] * (array.ndim - 1) + [(0, padding)]
    if filler is None:
        padded = np.pad(array, width, mode="edge")
    else:
        padded = np.pad(array, width, constant_values=filler)
    return np.moveaxis(padded.reshape(*array.shape[:-1], (n + padding) // LANES, LANES), -2, 0)
