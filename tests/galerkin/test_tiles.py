"""Dense matrices are filled by tiles of triangles: any rule, any space, functions that some triangles lack."""

import numpy as np
import pytest

import calderon as cal
from calderon.galerkin.assembly import Execution, block_of
from calderon.galerkin.regular.element_tables import LANES


@pytest.mark.variant
def test_rules_agree():
    """Rules with and without points in threes, of higher degree, have one limit."""
    mesh = cal.mesh.sphere(1.0, 0.6)
    far = cal.TriangleMesh(mesh.vertices + [20.0, 0, 0], mesh.triangles)
    test, trial = cal.P1(mesh), cal.P1(far)
    matrices = [
        cal.single_layer(cal.Laplace(), trial, test, quadrature=rule).assemble().to_array()
        for rule in (cal.Quadrature(degree, accuracy=0) for degree in (4, 5, 8))
    ]
    for matrix in matrices[:2]:
        assert np.abs(matrix - matrices[2]).max() < 1e-7 * np.abs(matrices[2]).max()


PLATE, SPHERE = cal.mesh.plate((1.0, 1.0), 0.09), cal.mesh.sphere(1.0, 0.3)
SEVERAL = {
    "P0": cal.single_layer(cal.Laplace(), cal.P0(PLATE)),
    "without the boundary": cal.single_layer(cal.Laplace(), cal.P1(PLATE, boundary=False)),
    "curls": cal.hypersingular(cal.Helmholtz(2.0), cal.P1(PLATE, boundary=False)),
    "other spaces": cal.double_layer(cal.Laplace(), cal.P1(SPHERE), cal.P0(PLATE)),
    "open currents": cal.electric_field(2.0, cal.RWG(PLATE)),
    "magnetic": cal.magnetic_field(2.0, cal.RWG(SPHERE)),
}


@pytest.mark.parametrize("name", SEVERAL)
def test_entries_are_those_of_matrices_of_several_groups_of_columns(name):
    """Also of functions that some triangles lack."""
    operator, random = SEVERAL[name], np.random.default_rng(0)
    assert min(operator.test.mesh.number_of_triangles, operator.trial.mesh.number_of_triangles) > 2 * LANES
    matrix = operator.assemble().to_array()
    rows, columns = (random.integers(0, size, 60) for size in matrix.shape)
    found = operator.entries(rows, columns)
    assert np.abs(found - matrix[np.ix_(rows, columns)]).max() < 1e-12 * np.abs(matrix).max()


DOUBLED = cal.mesh.sphere(1.0, 0.6)
FAR_PAIRS = {
    "P0": (cal.single_layer, cal.Laplace(), cal.P0, 4),
    "P1": (cal.single_layer, cal.Laplace(), cal.P1, 3),
    "slopes": (cal.double_layer, cal.Laplace(), cal.P1, 3),
    "waves": (cal.single_layer, cal.Helmholtz(0.3), cal.P1, 0),
}


@pytest.mark.parametrize("name", FAR_PAIRS)
def test_errors_of_distant_pairs_fall_with_the_distance(name):
    """Series of 1/r and of its normal derivative by the powers that they lack, from the first distance to the second;
    points see waves at any distance."""
    layer, green, space, order = FAR_PAIRS[name]
    test, errors = space(DOUBLED), []
    for distance in (8.0, 16.0):
        trial = space(cal.TriangleMesh(DOUBLED.vertices + [distance, 0.2, 0.1], DOUBLED.triangles))
        exact, found = (
            layer(green, trial, test, quadrature=cal.Quadrature(accuracy=accuracy)).assemble().to_array()
            for accuracy in (0, 0.1)
        )
        errors.append(np.abs(found - exact).max() / np.abs(exact).max())
    assert 1e-9 < errors[1] < errors[0] < 1e-4
    assert order == 0 or errors[1] < errors[0] / 2 ** (order - 0.5)


MESHES = {
    "sphere": cal.mesh.sphere(1.0, 0.14),
    "cube": cal.mesh.cube(1.0, 0.1),
    "ellipsoid": cal.mesh.ellipsoid((2.0, 1.0, 0.7), 0.2),
    "torus": cal.mesh.torus(1.0, 0.4, 0.2),
    "cylinder": cal.mesh.cylinder(0.5, 1.0, 0.12),
    "graded": cal.mesh.cuboid((1.0, 1.0, 1.0), 0.16, grading=2),
}
LAYERS = {
    "constants": (cal.single_layer, cal.P0),
    "linear": (cal.single_layer, cal.P1),
    "double": (cal.double_layer, cal.P1),
    "by parts": (cal.hypersingular, cal.P1),
}


def errors_of_zones(layer, green, space, accuracy):
    """Errors of entries and of products with a constant, a smooth and a random vector, over the largest numbers."""
    exact, found = (
        layer(green, space, quadrature=cal.Quadrature(accuracy=each)).assemble().to_array() for each in (0, accuracy)
    )
    places = space.mesh.centroids if space.element.degree == 0 else space.mesh.vertices
    smooth = np.cos(3 * places @ [0.5, 0.6, 0.4]) + places[:, 0]
    vectors = np.stack([np.ones(len(places)), smooth, np.random.default_rng(0).standard_normal(len(places))], axis=1)
    scale = np.abs(exact @ vectors).max(axis=0)
    if layer is cal.hypersingular:  # it takes constants to zero, but for waves
        scale[0] = max(scale[0], 1e-3 * np.abs(exact).sum(axis=1).max())
    error = found - exact
    return np.abs(error).max() / np.abs(exact).max(), *(np.abs(error @ vectors).max(axis=0) / scale)


@pytest.mark.parametrize("name", LAYERS)
def test_distant_pairs_keep_six_digits(name):
    """Entries and products of static operators on six meshes, one of them graded."""
    layer, space = LAYERS[name]
    errors = np.array([errors_of_zones(layer, cal.Laplace(), space(mesh), 1e-5) for mesh in MESHES.values()])
    assert errors.max() < 1e-6
    assert errors.max() > 1e-9  # there are distant pairs


@pytest.mark.parametrize("space", [cal.P0, cal.P1])
def test_errors_of_waves_stay_below_the_accuracy(space):
    """At ten edges a wavelength, where triangles are about equilateral, and more."""
    for mesh, edges in ((MESHES["sphere"], 10), (MESHES["cube"], 15), (MESHES["graded"], 15)):
        k = 2 * np.pi / (edges * np.linalg.norm(np.diff(mesh.vertices[mesh.triangles], axis=1), axis=2).mean())
        errors = errors_of_zones(cal.single_layer, cal.Helmholtz(k), space(mesh), 1e-4)
        assert max(errors) < 1e-4
    assert max(errors) > 1e-9


@pytest.mark.parametrize(("regular", "distant"), [(4, "series"), (3, None), (8, None)])
def test_other_degrees_than_the_usual_one_have_one_rule_at_any_distance(regular, distant):
    """Degree 3 has the points of degree 4, which come in threes, but may not have lower ones; degree 8 has others."""
    layer = cal.single_layer(cal.Laplace(), SEVERAL["P0"].trial, quadrature=cal.Quadrature(regular=regular))
    few = np.arange(9)
    assert block_of(layer, np.zeros((9, 9)), Execution(np.dtype(float)), rows=few, columns=few).distant_rule == distant


def test_one_rule_without_an_accuracy():
    usual, without = (
        cal.single_layer(cal.Laplace(), SEVERAL["P0"].trial, quadrature=cal.Quadrature(accuracy=each))
        for each in (1e-5, 0.0)
    )
    assert not np.array_equal(usual.entries(range(2), range(270, 279)), without.entries(range(2), range(270, 279)))
