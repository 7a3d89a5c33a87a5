"""Triangles that pass through or lie on each other are found and refused."""

from itertools import pairwise

import numpy as np
import pytest

import calderon as cal
from calderon.mesh.checks.crossings import crossing_pairs, overlapping

BASE = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0]])
CASES = {
    "through": ([[0.2, 0.2, -0.5], [0.2, 0.2, 0.5], [0.3, 0.3, 0.6]], True),
    "corner through": ([[0.3, 0.3, -0.01], [0.1, 0.1, 1], [0.6, 0.6, 1]], True),
    "the same": (BASE, True),
    "in the plane, shifted": (BASE + [0.2, 0.1, 0], True),
    "one in the other": (0.2 * BASE + [0.2, 0.2, 0], True),
    "star of David": ([[0.5, 0.6, 0], [-0.1, 0.1, 0], [0.6, -0.1, 0]], True),
    "neighbour in the plane": ([[1.0, 0, 0], [1, 1, 0], [0, 1, 0]], False),
    "half an edge in common": ([[0.25, 0.75, 0], [0.75, 0.25, 0], [1, 1, 0]], False),
    "fold": ([[0.0, 0, 0], [1, 0, 0], [0.3, 0, 1]], False),
    "corner on the inside": ([[0.3, 0.3, 0], [0.1, 0.1, 1], [0.6, 0.6, 1]], False),
    "above": (BASE + [0, 0, 1e-3], False),
    "lateral": (BASE + [2, 0, 0], False),
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e4])
def test_pairs_are_told_apart(name, scale):
    other, expected = CASES[name]
    turn = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]
    first, second = scale * BASE @ turn, scale * np.asarray(other) @ turn
    for x, y in ((first, second), (second, first), (first[[1, 2, 0]], second[[2, 1, 0]])):
        assert overlapping(x[None], y[None])[0] == expected


@pytest.mark.parametrize("shift", [[0.0, 0, 0], [1, 0, 0], [1, 0.2, 0], [0.5, 0.1, 0.1]])
@pytest.mark.parametrize("space", [cal.P0, cal.P1])
def test_bodies_that_overlap_are_refused(shift, space):
    cube = cal.mesh.cube(1.0, 0.5)
    both = cal.mesh.merge([cube, cube.translated(shift)])
    with pytest.raises(cal.mesh.MeshError, match="pass through or lie on each other"):
        cal.single_layer(cal.Laplace(), space(both)).assemble()


def test_bodies_that_touch_in_a_vertex_or_are_apart_are_fine():
    cube = cal.mesh.cube(1.0, 0.5)
    for shift in ([1.0, 1, 1], [1.01, 0, 0]):
        both = cal.mesh.merge([cube, cube.translated(shift)])
        assert np.isfinite(cal.single_layer(cal.Laplace(), cal.P0(both)).assemble().to_array()).all()


def test_triangles_with_vertices_of_their_own_are_neighbours():
    mesh = cal.mesh.sphere(1.0, 0.5)
    soup = cal.TriangleMesh(mesh.vertices[mesh.triangles].reshape(-1, 3), np.arange(mesh.triangles.size).reshape(-1, 3))
    whole, torn = (cal.double_layer(cal.Laplace(), cal.P0(each)).assemble().to_array() for each in (mesh, soup))
    assert np.abs(whole - torn).max() < 1e-12 * np.abs(whole).max()


def test_the_check_lists_crossing_triangles_of_any_size():
    sphere = cal.mesh.sphere(1.0, 0.3)
    small = cal.mesh.sphere(1.0, 0.3).scaled(0.05).translated([1.0, 0, 0])
    report = cal.mesh.merge([sphere, small]).check()
    (found,) = [each for each in report.problems if each.name == "crossings"]
    triangles = cal.mesh.merge([sphere, small]).vertices[cal.mesh.merge([sphere, small]).triangles]
    near = np.linalg.norm(triangles[found.ids].mean(axis=1) - [1, 0, 0], axis=1)
    assert 0 < found.count and near.max() < 0.3
    assert (found.ids >= sphere.number_of_triangles).any() and (found.ids < sphere.number_of_triangles).any()


def test_sound_surfaces_have_no_crossings():
    for mesh in (cal.mesh.sample("submarine"), cal.mesh.almond(0.25, 0.02), cal.mesh.plate((1, 1), 0.2)):
        assert not [each for each in mesh.check().problems if each.name == "crossings"]


TURN = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]
SHARING = {
    "one passes through the other": ([0, 3, 4], [[0.5, 0.2, -1], [0.5, 0.2, 1]], True),
    "sectors of a plane": ([0, 3, 4], [[0.3, 0.6, 0], [-1, 1, 0]], True),
    "sector within the other": ([0, 3, 4], [[2, 1, 0], [1, 2, 0]], True),
    "folded": ([0, 1, 3], [[0.5, 0.6, 0]], True),
    "opposite sectors": ([0, 3, 4], [[-1, 0, 0], [0, -1, 0]], False),
    "lateral": ([0, 2, 3], [[-1, 1, 0]], False),
    "lateral, with a hanging corner": ([0, 3, 4], [[0, 0.5, 0], [-1, 1, 0]], False),
    "on the other side of the vertex": ([0, 3, 4], [[-0.5, -0.2, -1], [-0.5, -0.2, 1]], False),
    "from below": ([0, 3, 4], [[0.5, 0.2, -1], [0.2, 0.5, -1]], False),
    "an edge lies on the other": ([0, 3, 4], [[0.5, 0.2, 0], [0.2, 0.5, -1]], False),
    "a thin wedge": ([0, 1, 3], [[0, 1, 1e-5]], False),
    "the next triangle of a thin wedge": ([0, 3, 4], [[0.3, 1, 1e-5], [0.1, 2, 2e-5]], False),
    "neighbour": ([0, 1, 3], [[0.5, -1, 0]], False),
}


@pytest.mark.parametrize("name", SHARING)
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e4])
def test_neighbours_that_have_more_in_common(name, scale):
    second, more, expected = SHARING[name]
    for turn in (np.eye(3), TURN):
        vertices = scale * np.concatenate([BASE, more]) @ turn + scale * np.array([3.0, -2, 1])
        for triangles in ([[0, 1, 2], second], [second[::-1], [2, 0, 1]]):
            pairs = crossing_pairs(vertices[np.array(triangles)], np.array(triangles))
            assert pairs.tolist() == ([[0, 1]] if expected else [])


def test_the_check_lists_neighbours_that_cross():
    vertices = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0.5, 0.2, -1], [0.5, 0.2, 1]]
    report = cal.TriangleMesh(vertices, [[0, 1, 2], [0, 3, 4]]).check()
    assert [(each.name, each.ids.tolist()) for each in report.problems] == [("crossings", [0, 1])]


def wedge_of_needles(angle):
    """Two fans around a vertex that meet in an edge under an angle, with triangles from 1e-8 radians on."""
    turns = np.concatenate([[0.0], 10.0 ** np.arange(-8, 0.1, 0.5)])
    flat = np.stack([np.cos(turns), np.sin(turns), 0 * turns], axis=1)
    tilted = np.stack([flat[:, 0], flat[:, 1] * np.cos(angle), flat[:, 1] * np.sin(angle)], axis=1)[1:]
    count = len(turns)
    other = [0, *range(count, 2 * count - 1)]
    triangles = [[0, 1 + a, 1 + b] for numbers in (range(count), other) for a, b in pairwise(numbers)]
    return np.concatenate([np.zeros((1, 3)), flat, tilted]), np.array(triangles)


@pytest.mark.parametrize("degrees", [0.01, 1.0])
def test_thin_wedges_are_sound(degrees):
    vertices, triangles = wedge_of_needles(np.radians(degrees))
    for points in (vertices, vertices @ TURN + [1.0, 2.0, 3.0]):
        assert len(crossing_pairs(points[triangles], triangles)) == 0


def test_rounding_makes_no_crossings():
    rng = np.random.default_rng(5)
    meshes = cal.mesh.plate((1, 1), 0.1), cal.mesh.plate((1, 1e-5), 0.1), cal.mesh.cuboid((1, 1, 1e-6), 0.2)
    for mesh in (*meshes, cal.mesh.disc(1.0, 0.15), cal.mesh.cylinder(0.5, 1.0, 0.2)):
        for points in (mesh.vertices, mesh.vertices @ TURN + [1.0, 2.0, 3.0]):
            points = points + np.abs(points).max() * rng.uniform(-2e-16, 2e-16, points.shape)
            assert len(crossing_pairs(points[mesh.triangles], mesh.triangles)) == 0
