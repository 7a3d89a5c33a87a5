"""Points inside of a surface: against solid angles, on grids that meet vertices and edges, on nested bodies."""

import numpy as np
import pytest

import calderon.mesh as meshes
from calderon.mesh.containment import winding_numbers

SHAPES = {
    "cube": lambda: meshes.cube(1.0, 0.25),
    "torus": lambda: meshes.torus(1.0, 0.3, 0.2),
    "submarine": lambda: meshes.sample("submarine").scaled(1 / 62),
    "two": lambda: meshes.merge([meshes.cube(1.0, 0.5), meshes.sphere(0.4, 0.2).translated([0.9, 0, 0])]),
}


def solid_angles(mesh, points):
    """(n,) solid angle of the surface over 4 pi, with the corners a, b, c of a triangle seen from the point
    tan(w/2) = a.(b x c) / (|a||b||c| + (a.b)|c| + (a.c)|b| + (b.c)|a|):
    A. van Oosterom and J. Strackee, IEEE Trans. Biomed. Eng. 30 (1983) 125.
    """
    a, b, c = (mesh.vertices[mesh.triangles[:, i]] - points[:, None] for i in range(3))
    la, lb, lc = (np.linalg.norm(v, axis=2) for v in (a, b, c))
    ab, ac, bc = ((v * w).sum(axis=2) for v, w in ((a, b), (a, c), (b, c)))
    volume = (a * np.cross(b, c)).sum(axis=2)
    return np.arctan2(volume, la * lb * lc + ab * lc + ac * lb + bc * la).sum(axis=1) / (2 * np.pi)


@pytest.mark.parametrize("shape", SHAPES)
def test_winding_numbers_are_solid_angles(shape):
    mesh = SHAPES[shape]()
    low, high = mesh.bounds
    points = np.random.default_rng(3).uniform(low - 0.1, high + 0.1, (800, 3))
    turns = winding_numbers(mesh.vertices, mesh.triangles, points)
    assert 5 < np.count_nonzero(turns) < 795
    assert np.allclose(solid_angles(mesh, points), turns, atol=1e-9)
    assert np.array_equal(mesh.contains(points), turns > 0)


def test_points_below_vertices_and_edges_count_once():
    """The faces of the cube lie along the axes: grid points lie below its vertices, edges and diagonals."""
    cube = meshes.cube(1.0, 0.25)
    axis = np.arange(-0.75, 0.76, 0.125) + 0.0
    points = np.stack(np.meshgrid(axis, axis, axis + 0.01, indexing="ij"), axis=-1).reshape(-1, 3)
    inside = np.abs(points).max(axis=1) < 0.5
    clear = np.abs(np.abs(points).max(axis=1) - 0.5) > 1e-9  # not on the surface itself
    assert np.array_equal(cube.contains(points)[clear], inside[clear])
    assert clear.sum() > 1500


def test_many_points_are_dealt_with_piece_by_piece():
    sphere = meshes.sphere(1.0, 0.3, volume=False)
    points = np.random.default_rng(0).uniform(-1.2, 1.2, (3000, 3))
    whole = sphere.contains(points)
    assert np.array_equal(winding_numbers(sphere.vertices, sphere.triangles, points, pairs=70) > 0, whole)
    radius = np.linalg.norm(points, axis=1)
    assert whole[radius < 0.95].all() and not whole[radius > 1].any()


def test_one_point_none_and_what_is_refused():
    cube = meshes.cube(1.0, 0.5)
    assert cube.contains([0.0, 0.1, 0.2]).tolist() == [True]
    assert cube.contains(np.zeros((0, 3))).shape == (0,)
    with pytest.raises(meshes.MeshError, match=r"shape \(n, 3\), got \(2,\)"):
        cube.contains([0.0, 1.0])
    with pytest.raises(meshes.MeshError, match="1 of 2 points are NaN"):
        cube.contains([[0.0, 0.0, np.nan], [0.0, 0.0, 0.0]])
    with pytest.raises(meshes.MeshError, match="closed surface.*8 of 16 edges"):
        meshes.plate((1.0, 1.0), 0.5).contains([[0.0, 0.0, 1.0]])


def test_a_wall_inside_bounds_no_volume():
    cube = meshes.cube(1.0, 0.5)
    wall = meshes.plate((1.0, 1.0), 0.5)  # in the plane z = 0, its boundary on edges of the cube
    joined = meshes.merge([cube, wall]).merged_vertices()
    assert joined.is_closed and not joined.is_manifold
    assert len(joined.unbalanced_edges) == 8
    assert set(joined.unbalanced_edges) == set(np.flatnonzero(joined.edge_triangle_counts == 3))
    with pytest.raises(meshes.MeshError, match=r"8 of \d+ edges of this mesh are open or end a wall inside"):
        joined.contains([[0.0, 0.0, 0.1]])
    assert len(cube.unbalanced_edges) == 0 and len(wall.unbalanced_edges) == 8
    two = meshes.merge([cube, cube.translated([1.0, 1.0, 0.0])]).merged_vertices()  # along an edge of four triangles
    assert not two.is_manifold and len(two.unbalanced_edges) == 0
    assert two.contains([[0.9, 0.9, 0.0], [0.1, 0.2, 0.3], [0.9, 0.1, 0.0]]).tolist() == [True, True, False]


def test_complex_points_are_refused():
    with pytest.raises(meshes.MeshError, match="points must be real numbers, got an array of complex128"):
        meshes.cube(1.0, 0.5).contains([[0, 0, 1j]])
