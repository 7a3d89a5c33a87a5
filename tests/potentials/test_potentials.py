"""Potentials and far fields of layers against closed forms."""

import numpy as np
import pytest

import calderon as cal

K = 2.0


@pytest.fixture(scope="module")
def space():
    return cal.P1(cal.mesh.sphere(radius=1.0, h=0.3))


def test_double_layer_of_one_is_minus_one_inside_and_zero_outside_however_near(space):
    one = cal.Function(space, np.ones(space.dimension))
    radii = np.array([0.0, 0.5, 0.9, 0.97, 1.01, 1.1, 3.0])
    direction = np.array([0.3, -0.5, 0.8]) / np.linalg.norm([0.3, -0.5, 0.8])
    values = cal.double_layer_potential(cal.Laplace(), one).evaluate(radii[:, None] * direction)
    assert np.abs(values + (radii < 0.99)).max() < 1e-6


def test_points_on_the_surface_warn_and_say_where(space):
    one = cal.Function(space, np.ones(space.dimension))
    centre = space.mesh.centroids[7]
    with pytest.warns(cal.AccuracyWarning, match="1 of 2 points lie on the surface, the first is number 1"):
        value = cal.double_layer_potential(cal.Laplace(), one).evaluate([[0, 0, 3.0], centre])
    assert value[1] == pytest.approx(-0.5, abs=2e-3)


@pytest.mark.parametrize("digits", [np.float32, np.float64])
@pytest.mark.parametrize("shape", ["sphere", "cube"])
def test_on_the_surface_there_is_the_mean_of_both_sides(shape, digits):
    """In triangles, on edges and at corners, also where points come from numbers of few digits: of D 1 the mean of -1
    and 0, and of the gradient of S f that of its two limits, which differ by the density along the normal."""
    mesh = cal.mesh.sphere(1.0, 0.5) if shape == "sphere" else cal.mesh.cube(1.0, 0.5)
    space, green = cal.P0(mesh), cal.Laplace()
    one = cal.Function(space, np.ones(space.dimension))
    places = np.concatenate([mesh.centroids, mesh.vertices, mesh.vertices[mesh.edges].mean(axis=1)]).astype(digits)
    with pytest.warns(cal.AccuracyWarning, match=f"{len(places)} of {len(places)} points lie on the surface"):
        values = cal.double_layer_potential(green, one).evaluate(places)
    assert np.abs(values + 0.5).max() < 1e-6
    single, step = cal.single_layer_potential(green, one), 1e-3 * mesh.normals
    with pytest.warns(cal.AccuracyWarning):
        gradient = single.gradient(mesh.centroids.astype(digits))
    sides = [single.gradient(mesh.centroids + sign * step) for sign in (1, -1)]
    assert np.abs(gradient - (sides[0] + sides[1]) / 2).max() < 1e-3
    nearby = single.evaluate(mesh.centroids + step)
    assert np.abs(single.evaluate(mesh.centroids.astype(digits)) - nearby).max() < 1e-3


def test_representation_formula_outside_gives_the_field_and_inside_nothing():
    """u = D u - S du/dn outside, 0 inside, for a source inside: at the rate of the surface's approximation, h^2."""
    green, source = cal.Helmholtz(K), cal.PointSource([0.2, 0.1, -0.1], wavenumber=K)
    points = np.array([[1.5, 0.2, 0.3], [0.0, -2.0, 1.0], [0.1, 0.5, 0.2]])
    expected = np.where([True, True, False], source(points), 0)
    errors = []
    for h in (0.3, 0.15):
        space = cal.P1(cal.mesh.sphere(radius=1.0, h=h))
        u = cal.Function.project(space, source)
        flux = cal.Function.project(space, source.normal_derivative)
        field = cal.double_layer_potential(green, u).evaluate(points)
        field = field - cal.single_layer_potential(green, flux).evaluate(points)
        errors.append(np.abs(field - expected).max() / np.abs(expected).max())
    assert errors[1] < 0.02
    assert np.log2(errors[0] / errors[1]) > 1.6


@pytest.mark.parametrize("layer", [cal.single_layer_potential, cal.double_layer_potential])
def test_gradients_are_the_derivatives_of_the_values(space, layer):
    potential = layer(cal.Helmholtz(K), cal.Function.project(space, lambda x: 1 + x[:, 0] - 1j * x[:, 1] * x[:, 2]))
    point, step = np.array([[0.6, 1.9, -0.9]]), 1e-4  # where no triangle becomes near within a step
    shifts = step * np.concatenate([np.eye(3), -np.eye(3)])
    values = potential.evaluate(point + shifts)
    assert potential.gradient(point)[0] == pytest.approx((values[:3] - values[3:]) / (2 * step), rel=1e-6)


@pytest.mark.parametrize("layer", [cal.single_layer_potential, cal.double_layer_potential])
def test_far_field_is_the_limit_of_the_field(space, layer):
    potential = layer(cal.Helmholtz(K), cal.Function.project(space, lambda x: 1 + x[:, 2] ** 2))
    directions = np.array([[0.0, 0.0, 1.0], [0.6, 0.0, -0.8], [1.0, 2.0, 2.0]])
    unit = directions / np.linalg.norm(directions, axis=1, keepdims=True)
    r = 1e5
    limit = potential.evaluate(r * unit) * r * np.exp(-1j * K * r)
    assert np.abs(potential.far_field(directions) - limit).max() < 1e-4 * np.abs(limit).max()


def test_bad_points_are_refused(space):
    potential = cal.single_layer_potential(cal.Laplace(), cal.Function(space, np.ones(space.dimension)))
    with pytest.raises(ValueError, match="shape"):
        potential.evaluate(np.zeros((4, 2)))
    with pytest.raises(ValueError, match="NaN or infinite, the first is number 1"):
        potential.evaluate([[0, 0, 0], [np.nan, 0, 0]])
    with pytest.raises(ValueError, match=r"far field exists for a real wavenumber .* solution.field\(points\)"):
        potential.far_field([[0, 0, 1]])


@pytest.mark.parametrize("ulps", [-1, 0, 1])
@pytest.mark.parametrize("kind", ["evaluate", "gradient"])
def test_where_distances_begin_to_count_as_larger_nothing_is_lost_or_counted_twice(space, kind, ulps):
    """Points as far from a centroid as its triangle is long, to the last digit, against many more points of Gauss."""
    mesh, green = space.mesh, cal.Helmholtz(K)
    f = cal.Function.project(space, lambda x: 1 + x[:, 0] - 1j * x[:, 1] * x[:, 2])
    step = mesh.diameters[:, None] * mesh.normals
    points = mesh.centroids + step * (1 + ulps * np.finfo(float).eps)
    for layer in (cal.single_layer_potential, cal.double_layer_potential):
        few, many = (getattr(layer(green, f, quadrature=cal.Quadrature(degree)), kind)(points) for degree in (4, 20))
        assert np.abs(few - many).max() < 1e-6 * np.abs(many).max()
