"""Triangles that are near but do not touch, against a closed form."""

import numpy as np
import pytest
from wilton import uniform_triangle_potential

import calderon as cal
from calderon.quadrature import triangle_rule


def reference_entry(test, trial, cuts=3):
    """int int 1/(4 pi r): the inner integral in closed form, the outer by a composite rule of degree 20."""
    pieces = [test]
    for _ in range(cuts):
        new = []
        for a, b, c in pieces:
            ab, bc, ca = (a + b) / 2, (b + c) / 2, (c + a) / 2
            new += [np.array(t) for t in ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))]
        pieces = new
    rule = triangle_rule(20)
    u, v = rule.points.T
    total = 0.0
    for corners in pieces:
        x = np.outer(1 - u - v, corners[0]) + np.outer(u, corners[1]) + np.outer(v, corners[2])
        area = np.linalg.norm(np.cross(corners[1] - corners[0], corners[2] - corners[0]))
        total += area * (rule.weights @ uniform_triangle_potential(trial, x))
    return total / (4 * np.pi)


def test_two_plates_a_fifth_of_the_mesh_size_apart():
    lower = cal.mesh.plate([1.0, 1.0], h=0.05)
    upper = lower.translated([0.0, 0.0, 0.01])
    test, trial = cal.P0(upper), cal.P0(lower)
    operator = cal.single_layer(cal.Laplace(), trial, test)
    row = 333
    centre = upper.centroids[row]
    order = np.argsort(np.linalg.norm(lower.centroids - centre, axis=1))
    columns = np.concatenate([order[:24], order[30:200:34], [order[-1]]])
    computed = operator.entries([row], columns)[0]
    corners = upper.vertices[upper.triangles[row]]
    expected = np.array([reference_entry(corners, lower.vertices[lower.triangles[j]]) for j in columns])
    assert np.abs(computed - expected).max() < 1e-5 * np.abs(expected).max()
    assert (np.abs(computed - expected) / np.abs(expected)).max() < 1e-4


@pytest.mark.parametrize("stretch", [1.0, 4.0])
def test_all_pair_classes_against_the_closed_form(stretch):
    """Coincident, common edge, common vertex, near and far entries of one row, also with stretched triangles."""
    vertices = cal.mesh.plate([1.0, 1.0], h=0.25)
    mesh = cal.TriangleMesh(vertices.vertices * [stretch, 1.0, 1.0], vertices.triangles)
    space = cal.P0(mesh)
    computed = cal.single_layer(cal.Laplace(), space).entries([12], np.arange(space.dimension))[0]
    corners = mesh.vertices[mesh.triangles]
    expected = np.array([reference_entry(corners[12], corners[j] + [0, 0, 1e-9], cuts=4) for j in range(len(corners))])
    assert np.abs(computed - expected).max() < 2e-5 * expected.max()


def test_surfaces_that_almost_touch_warn():
    lower = cal.mesh.plate([1.0, 1.0], h=0.5)
    upper = lower.translated([0.1, 0.05, 1e-6])
    operator = cal.single_layer(cal.Laplace(), cal.P0(lower), cal.P0(upper))
    with pytest.warns(cal.AccuracyWarning, match="without touching"):
        operator.entries([0], [0])
