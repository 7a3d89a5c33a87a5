"""The magnetic field tested with fields that are affine on triangles: every way to its entries gives the same."""

from dataclasses import replace

import numpy as np
import pytest

import calderon as cal
from calderon.operators import identity, magnetic_field
from calderon.quadrature import Quadrature
from calderon.spaces import RBC, RWG, DualTests, dual_tests

BODIES = {"sphere": cal.mesh.sphere(1.0, 0.45), "box": cal.mesh.cube(1.0, 0.4)}


def relative(value, exact):
    return np.abs(value - exact).max() / np.abs(exact).max()


@pytest.fixture(scope="module", params=BODIES)
def space(request):
    return RWG(BODIES[request.param])


@pytest.mark.parametrize("k", [2.0, pytest.param(1.5 + 0.4j, marks=pytest.mark.variant)])
def test_edge_functions_as_affine_fields_have_their_own_entries(space, k):
    """RWG functions are affine on triangles: as a table of such fields they are integrated by other loops, whose
    matrices, far, near and touching, are those of the loops for edge functions."""
    tests = DualTests(space, space.triangles, space.dofs, space.corner_values)
    other = replace(space)  # another object: points of touching pairs
    exact = magnetic_field(k, space, other).assemble().to_array()
    operator = magnetic_field(k, space, tests)
    assert relative(operator.assemble().to_array(), exact) < 1e-12
    compressed = operator.assemble("hmatrix", rtol=1e-9)
    assert relative(compressed @ np.eye(space.dimension), exact) < 1e-7


def prepared(space):
    """The operator, its matrix and two vectors."""
    operator = magnetic_field(2.0, space, dual_tests(space))
    rng = np.random.default_rng(1)
    x = rng.normal(size=(space.dimension, 2)) + 1j * rng.normal(size=(space.dimension, 2))
    return operator, operator.assemble().to_array(), x


def test_dual_tests_have_products_and_entries(space):
    operator, exact, x = prepared(space)
    assert relative(operator.assemble("matrix-free") @ x, exact @ x) < 1e-13
    rows, columns = [3, 40, 7], [1, 2, 30, 5]
    assert relative(operator.entries(rows, columns), exact[np.ix_(rows, columns)]) < 1e-13


@pytest.mark.variant
def test_dual_tests_are_compressed(space):
    """Their rows in single precision are those of the combined field by plane waves, which runs always."""
    operator, exact, x = prepared(space)
    for rtol in (1e-3, 1e-5):
        compressed = operator.assemble("hmatrix", rtol=rtol)
        assert np.linalg.norm(compressed @ x - exact @ x) < rtol * np.linalg.norm(exact @ x)
        adjoint = exact.conj().T @ x
        assert np.linalg.norm(compressed.rmatmat(x) - adjoint) < rtol * np.linalg.norm(adjoint)


@pytest.mark.variant
def test_dual_tests_in_single_precision(space):
    operator = magnetic_field(2.0, space, dual_tests(space))
    exact = operator.assemble().to_array()
    for precision in ("single", "mixed"):
        assert relative(operator.assemble(precision=precision).to_array(), exact) < 2e-6


def test_distant_functions_see_the_same_field_as_by_the_dual_functions():
    """But for second derivatives of the field over a triangle."""
    near, far = cal.mesh.sphere(1.0, 0.4), cal.mesh.sphere(1.0, 0.4).translated([0.0, 0.0, 8.0])
    mesh = cal.TriangleMesh(
        np.concatenate([near.vertices, far.vertices]),
        np.concatenate([near.triangles, far.triangles + near.number_of_vertices]),
    )
    space = RWG(mesh)
    tests, dual = dual_tests(space), RBC(mesh)
    factors = space.mass_matrix().diagonal() / space.mass_matrix(dual).diagonal()
    low = np.flatnonzero(space.mesh.centroids[space.pairs[:, 0], 2] < 4)[:40]
    high = np.flatnonzero(space.mesh.centroids[space.pairs[:, 0], 2] > 4)[:40]
    exact = factors[low, None] * magnetic_field(1.0, space, dual).entries(low, high)
    assert relative(magnetic_field(1.0, space, tests).entries(low, high), exact) < 1e-3


def test_sums_take_dual_tests_for_the_functions_that_they_number():
    space = RWG(BODIES["sphere"])
    tests = dual_tests(space)
    total = cal.electric_field(2.0, space) + identity(space, tests) - magnetic_field(2.0, space, tests)
    parts = (cal.electric_field(2.0, space), identity(space, tests), magnetic_field(2.0, space, tests))
    a, b, c = (part.assemble().to_array() for part in parts)
    assert relative(total.assemble().to_array(), a + b - c) < 1e-14
    compressed = total.assemble("hmatrix", rtol=1e-6)
    assert relative(compressed @ np.eye(space.dimension), a + b - c) < 1e-5
    other = RWG(cal.TriangleMesh(BODIES["sphere"].vertices, BODIES["sphere"].triangles))
    with pytest.raises(ValueError, match="same trial and test space"):
        _ = cal.electric_field(2.0, other) + magnetic_field(2.0, space, tests)
    with pytest.raises(ValueError, match="of the space that they are of"):
        magnetic_field(2.0, other, tests)
    with pytest.raises(ValueError, match="electric field"):
        cal.electric_field(2.0, space, tests)


def test_touching_triangles_do_not_limit_the_accuracy():
    space = RWG(BODIES["box"])
    tests = dual_tests(space)
    fine = (
        magnetic_field(2.0, space, tests, quadrature=Quadrature(regular=10, singular=11, near=4.0))
        .assemble()
        .to_array()
    )
    assert relative(magnetic_field(2.0, space, tests).assemble().to_array(), fine) < 2e-5
