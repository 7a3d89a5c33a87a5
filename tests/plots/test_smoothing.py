"""Values on triangles become continuous where the surface is smooth, and keep their jumps at edges."""

import numpy as np
import pytest

import calderon as cal
from calderon.plots.surfaces import corner_means


def test_means_are_continuous_on_a_sphere_and_nearly_those_of_a_linear_function():
    mesh = cal.mesh.sphere(1.0, 0.3)
    means = corner_means(mesh, mesh.centroids[:, 0] * (1 + 2j))
    at_vertices = np.full(mesh.number_of_vertices, np.nan, complex)
    at_vertices[mesh.triangles] = means
    assert np.array_equal(at_vertices[mesh.triangles], means)
    assert np.abs(at_vertices - mesh.vertices[:, 0] * (1 + 2j)).max() < 0.1


def test_faces_of_a_cube_keep_their_values():
    mesh = cal.mesh.cube(1.0, 0.25)
    face = np.abs(mesh.normals).argmax(axis=1) + 3 * (mesh.normals.sum(axis=1) > 0)
    assert corner_means(mesh, face.astype(float)) == pytest.approx(np.repeat(face[:, None], 3, axis=1))


def test_missing_values_do_not_count():
    mesh = cal.mesh.cube(1.0, 0.25)
    values = np.where(np.arange(mesh.number_of_triangles) % 3 == 0, np.nan, 2.0)
    means = corner_means(mesh, values)
    assert np.array_equal(np.isnan(means).all(axis=1), np.isnan(values)) and np.nanmax(np.abs(means - 2)) < 1e-12
