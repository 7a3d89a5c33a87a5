"""A space of degree 3 from outside of the package: its numbering of functions is all that is written here."""

import math

import numpy as np
import pytest

import calderon as cal
from calderon.spaces.element import Element
from calderon.spaces.space import Space

FINE = cal.Quadrature(regular=8)


def P3(mesh):
    """Continuous piecewise cubic functions: one per vertex, two per edge, one per triangle. Those of an edge are in the
    order from its vertex of smaller number."""
    triangles, vertices = mesh.triangles, mesh.number_of_vertices
    dofs = np.empty((len(triangles), Element(3).size), np.int64)
    dofs[:, :3] = triangles
    for i in range(3):
        first = vertices + 2 * mesh.triangle_edges[:, i]
        backward = triangles[:, (i + 1) % 3] > triangles[:, (i + 2) % 3]
        dofs[:, 3 + 2 * i], dofs[:, 4 + 2 * i] = first + backward, first + ~backward
    dofs[:, 9] = vertices + 2 * mesh.number_of_edges + np.arange(len(triangles))
    return Space("P3", mesh, Element(3), np.arange(len(triangles)), dofs, int(dofs.max()) + 1)


@pytest.fixture(scope="module")
def sphere():
    return cal.mesh.sphere(1.0, h=0.7)


def test_continuity_is_seen_in_the_numbering(sphere):
    space = P3(sphere)
    assert space.is_continuous
    turned = space.dofs.copy()
    turned[:, [3, 4]] = turned[:, [4, 3]]
    assert not Space("turned", sphere, space.element, space.triangles, turned, space.dimension).is_continuous
    plate = P3(cal.mesh.plate([1.0, 1.0], h=0.5))
    assert plate.reaches_boundary and not space.reaches_boundary


def test_interpolation_has_order_four():
    smooth = lambda x: np.sin(2 * x[:, 0]) * np.cos(x[:, 1])  # noqa: E731
    errors = [P3(cal.mesh.plate([1.0, 1.0], h=h)).interpolation(smooth).l2_error(smooth) for h in (0.25, 0.125)]
    assert math.log2(errors[0] / errors[1]) == pytest.approx(4, abs=0.3)


@pytest.mark.parametrize("degree", range(6))
def test_elements_of_any_degree(degree):
    element, points = Element(degree), np.array([[0.2, 0.3], [0.5, 0.1], [0.1, 0.7]])
    assert np.abs(element.values(element.nodes) - np.eye(element.size)).max() < 1e-14
    assert np.abs(element.gradients(points).sum(axis=0)).max() < 1e-12
    step = 1e-6 * np.eye(2)
    slopes = [(element.values(points + each) - element.values(points - each)) / 2e-6 for each in step]
    assert np.abs(element.gradients(points) - np.stack(slopes, axis=2)).max() < 1e-7


def test_the_single_layer_is_symmetric_and_its_rows_are_those_of_the_matrix(sphere):
    operator = cal.single_layer(cal.Laplace(), P3(sphere), quadrature=FINE)
    dense = operator.assemble().to_array()
    largest = np.abs(dense).max()
    assert np.abs(dense - dense.T).max() < 1e-13 * largest
    rows, columns = np.arange(0, len(dense), 3), np.arange(0, len(dense), 2)
    assert np.abs(operator.entries(rows, columns) - dense[np.ix_(rows, columns)]).max() < 1e-13 * largest
    compressed = operator.assemble("hmatrix", rtol=1e-6).to_array()
    assert np.abs(compressed - dense).max() < 1e-6 * largest


@pytest.mark.variant
def test_double_layers_with_another_space(sphere):
    """Gauss: K 1 = -1/2."""
    one, two = P3(sphere), cal.P0(sphere)
    layer = cal.double_layer(cal.Laplace(), one, two, quadrature=FINE).assemble().to_array()
    assert np.abs(layer.sum(axis=1) + two.load_vector(1.0) / 2).max() < 1e-5 * np.abs(layer).sum(axis=1).max()


def test_the_hypersingular_operator_takes_it(sphere):
    matrix = cal.hypersingular(cal.Laplace(), P3(sphere), quadrature=FINE).assemble().to_array()
    assert np.abs(matrix - matrix.T).max() < 1e-13 * np.abs(matrix).max()
    assert np.abs(matrix.sum(axis=1)).max() < 1e-13 * np.abs(matrix).max()


@pytest.mark.variant
def test_close_triangles_converge():
    """Two plates a hundredth of their size apart, against finer rules."""
    first = cal.mesh.plate([1.0, 1.0], h=1.0)
    above = cal.TriangleMesh(first.vertices + [0.1, 0.05, 0.01], first.triangles)
    layer = [
        cal.single_layer(cal.Laplace(), P3(above), P3(first), quadrature=each).assemble().to_array()
        for each in (FINE, cal.Quadrature(regular=8, singular=12))
    ]
    assert np.abs(layer[0] - layer[1]).max() < 2e-6 * np.abs(layer[1]).max()


def test_energies_on_a_plate_converge_faster_than_with_quadratic_functions():
    """On flat triangles, where the density is all that is approximated."""
    mesh = cal.mesh.plate([1.0, 1.0], h=0.5)
    smooth = lambda x: np.exp(2 * x[:, 0] - x[:, 1])  # noqa: E731
    exact = energy(cal.P2(cal.mesh.plate([1.0, 1.0], h=0.125)), smooth)
    errors = [abs(energy(space, smooth) / exact - 1) for space in (cal.P2(mesh), P3(mesh))]
    assert errors[1] < 0.2 * errors[0]


def energy(space, function):
    """<f, V f> of the projection of f."""
    f = space.projection(function).coefficients
    return f @ (cal.single_layer(cal.Laplace(), space, quadrature=FINE).assemble() @ f)


@pytest.mark.parametrize("layer", [cal.single_layer, cal.double_layer])
def test_devices_have_the_numbers_of_the_processor(sphere, opencl, layer):
    for trial, test in ((P3, P3), (cal.P1, P3)):
        operator = layer(cal.Laplace(), trial(sphere), test(sphere))
        dense = operator.assemble().to_array()
        found = operator.assemble(backend="opencl").to_array()
        assert np.abs(found - dense).max() < 1e-12 * np.abs(dense).max()


def test_potentials_near_the_surface_refuse_it(sphere):
    """Potentials at a distance agree with the interpolated function of degree 2."""
    potentials = []
    for space in (P3(sphere), cal.P2(sphere)):
        density = space.interpolation(lambda x: 1 + x[:, 0] * x[:, 1])
        potentials.append(cal.single_layer_potential(cal.Laplace(), density, quadrature=FINE))
    values = [each.evaluate([[0.0, 0.0, 8.0]]) for each in potentials]
    assert values[0] == pytest.approx(values[1], rel=1e-6)
    with pytest.raises(NotImplementedError, match="accept densities of degree 0 to 2"):
        potentials[0].evaluate([[0.0, 0.0, 1.02]])
