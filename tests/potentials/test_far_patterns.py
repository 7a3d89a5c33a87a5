"""Far fields in many directions, which are interpolated, are those of a few directions, which are summed."""

import numpy as np
import pytest

import calderon as cal
from calderon.potentials.far_patterns import Body, in_directions, interpolated

CENTRE = np.array([3.0, -2.0, 1.0])


def directions(count):
    found = np.random.default_rng(0).standard_normal((count, 3))
    found[:6] = np.concatenate([np.eye(3), -np.eye(3)])  # the poles, and ends of the circles
    return found / np.linalg.norm(found, axis=1)[:, None]


def fields(k):
    sphere, random = cal.mesh.sphere(1.0, 0.25), np.random.default_rng(1)
    mesh = cal.TriangleMesh(sphere.vertices + CENTRE, sphere.triangles)
    values, edges = random.standard_normal((2, cal.P1(mesh).dimension)), cal.RWG(mesh)
    density = cal.Function(cal.P1(mesh), values[0] + 1j * values[1])
    return (
        cal.double_layer_potential(cal.Helmholtz(k), density),
        cal.electric_field_potential(k, cal.VectorFunction(edges, random.standard_normal(edges.dimension))),
    )


@pytest.mark.parametrize("number", [0, 1])
def test_many_directions_have_the_values_of_few(number, monkeypatch):
    """Fewer directions than are wanted are summed, about a body far from the origin."""
    field, unit = fields(2.5)[number], directions(3000)
    asked, known = [], type(field)._far_sums

    def counted(self, unit, *given):
        asked.append(len(unit))
        return known(self, unit, *given)

    monkeypatch.setattr(type(field), "_far_sums", counted)
    many = field.far_field(unit)
    few = np.concatenate([field.far_field(each) for each in np.split(unit[:400], 4)])
    assert asked[0] < 1500 and asked[1:] == [100] * 4
    assert np.abs(many[:400] - few).max() < 1e-13 * np.abs(few).max()


@pytest.mark.parametrize("k", [5.0, -5.0])
def test_waves_of_sources_on_the_edge_are_interpolated_to_rounding(k):
    """The phase of a source at the radius has the highest degree."""
    unit, place, asked = directions(4000), CENTRE + [0.0, 0.6, 0.8], []

    def sums(unit):
        asked.append(len(unit))
        return np.exp(-1j * k * unit @ place)[:, None]

    error = np.abs(in_directions(sums, Body(k, CENTRE, 1.0, 10**6), unit) - sums(unit)).max()
    assert asked[0] < 2000 and error < 2e-13


def test_bodies_of_many_wavelengths_and_few_sources_are_summed():
    """Where interpolation does not take less time, directions are those that are wanted."""
    unit = directions(500)
    for body in Body(40.0, CENTRE, 1.0, 10**6), Body(1.0, CENTRE, 1.0, 50):
        assert np.array_equal(in_directions(lambda some: some.astype(complex), body, unit), unit)


def test_harmonics_of_the_highest_degree_are_exact():
    """A product of cosines of degree L, with several values."""
    degree, unit = 7, directions(200)
    theta = (np.arange(degree + 1) + 0.5) * np.pi / (degree + 1)
    phi = np.arange(2 * degree + 2) * np.pi / (degree + 1)

    def pattern(x, y, z):
        return np.stack([((x + 1j * y) ** degree).ravel(), (z**degree).ravel()], axis=1)

    grid = [np.multiply.outer(np.sin(theta), f(phi)) for f in (np.cos, np.sin)]
    values = pattern(*grid, np.multiply.outer(np.cos(theta), np.ones(len(phi))))
    assert np.allclose(interpolated(values, degree, unit), pattern(*unit.T), atol=1e-13)
