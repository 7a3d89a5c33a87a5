"""Symmetric operators are integrated by half; the mirror image is exact."""

import numpy as np
import pytest

import calderon as cal
from calderon.backends import Execution
from calderon.galerkin.symmetry import symmetrise
from calderon.operators.tree import ArrayPlace
from calderon.quadrature import triangle_rule


@pytest.mark.parametrize("kind", [np.float64, np.float32, np.complex128, np.complex64])
@pytest.mark.parametrize("size", [1, 7, 64, 200, 333])
def test_mirror(kind, size):
    numbers = np.random.default_rng(size).standard_normal((2, size, size))
    matrix = (numbers[0] + 1j * numbers[1]).astype(kind) if np.dtype(kind).kind == "c" else numbers[0].astype(kind)
    inside = np.zeros((size, 2 * size + 3), kind)  # rows that do not follow each other
    inside[:, size : 2 * size] = matrix
    view, exact = inside[:, size : 2 * size], matrix + matrix.T
    symmetrise(matrix)
    symmetrise(view)
    assert np.array_equal(matrix, exact)
    assert np.array_equal(view, exact)
    assert not inside[:, :size].any() and not inside[:, 2 * size :].any()


@pytest.mark.parametrize("space", [cal.P0, cal.P1])
@pytest.mark.parametrize("green", [cal.Laplace(), cal.Helmholtz(3.0)])
def test_half_equals_whole(space, green):
    mesh = cal.mesh.sphere(1.0, 0.35)
    operators = [cal.single_layer(green, space(mesh))]
    if space is cal.P1:
        operators.append(cal.hypersingular(green, operators[0].trial))
    for operator in operators:
        halves = operator.assemble().to_array()
        whole = np.zeros_like(halves)
        operator.add_to(ArrayPlace(whole, Execution.of("numba", "double")), 1.0, None, None)
        assert np.array_equal(halves, halves.T)
        assert np.abs(halves - whole).max() < 1e-13 * np.abs(whole).max()  # both orders of a pair have the same points


@pytest.mark.parametrize(
    ("space", "green", "regular"),
    [
        (cal.P1, cal.Laplace(), 4),
        (cal.P1, cal.Helmholtz(3.0), 4),
        pytest.param(cal.P2, cal.Laplace(), 5, marks=pytest.mark.variant),
    ],
)
def test_both_orders_at_once(space, green, regular):
    """The matrix of a double layer takes both orders of a pair from one evaluation, its entries do not; the body has
    right angles, where distances lie on the bounds between rules."""
    trial = space(cal.mesh.cube(1.0, 0.19))
    rule = cal.Quadrature(regular=regular)
    numbers = np.arange(trial.dimension)
    for operator in (
        cal.double_layer(green, trial, quadrature=rule), cal.adjoint_double_layer(green, trial, quadrature=rule)
    ):  # fmt: skip
        matrix, entries = operator.assemble().to_array(), operator.entries(numbers, numbers)
        assert np.abs(matrix - entries).max() < 1e-13 * np.abs(entries).max()
        turned = (1j * operator).assemble().to_array()
        assert np.abs(turned - 1j * entries).max() < 1e-13 * np.abs(entries).max()


@pytest.mark.parametrize("gap", [1e-2, 1e-8])
def test_near_pairs_left_to_the_rule_of_distant_ones(gap):
    """Squared distances of points much closer than their triangles are large must not lose digits, where a user wants
    no other rule for near pairs."""
    plate = cal.mesh.plate(h=0.25)
    vertices = np.concatenate([plate.vertices, plate.vertices + [0, 0, gap]])
    trial = cal.P0(cal.TriangleMesh(vertices, np.concatenate([plate.triangles, plate.triangles + len(plate.vertices)])))
    operator = cal.double_layer(cal.Laplace(), trial, quadrature=cal.Quadrature(near=0.0))
    numbers = np.arange(trial.dimension)
    entries = operator.entries(numbers, numbers)
    bounds = {"double": 1e-12, "single": 1e-6 if gap > 1e-7 else 1e-3}  # what keeps 1/r finite is seen at the last
    for precision, bound in bounds.items():
        error = np.abs(operator.assemble(precision=precision).to_array() - entries).max()
        assert error < bound * np.abs(entries).max(), precision


@pytest.mark.variant
@pytest.mark.parametrize("gap", [1e-1, 1e-5])
def test_near_pairs_of_single_layers_by_the_rule_of_distant_ones(gap):
    """Against sums over the points of both triangles, term by term."""
    plate = cal.mesh.plate(h=0.25)
    vertices = np.concatenate([plate.vertices, plate.vertices + [0.0, 0.0, gap]])
    triangles = np.concatenate([plate.triangles, plate.triangles + len(plate.vertices)])
    space = cal.P0(cal.TriangleMesh(vertices, triangles))
    operator = cal.single_layer(cal.Laplace(), space, quadrature=cal.Quadrature(near=0.0))
    rule = triangle_rule(4)
    points = np.einsum("qb,nbd->nqd", rule.barycentric, vertices[triangles]).reshape(-1, 3)
    distance = np.sqrt(((points[:, None] - points[None]) ** 2).sum(axis=2)) + np.eye(len(points))
    weights = np.outer(space.mesh.areas * 2, rule.weights).ravel()
    sums = (np.outer(weights, weights) / (4 * np.pi * distance)).reshape(len(triangles), 6, -1, 6).sum(axis=(1, 3))
    half = len(plate.triangles)
    for precision, bound in {"double": 1e-12, "single": 3e-6}.items():
        found = operator.assemble(precision=precision).to_array()[:half, half:]
        assert np.abs(found / sums[:half, half:] - 1).max() < bound, precision
