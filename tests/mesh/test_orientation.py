"""Orientation theorems: flips are undone, closed components face outward, one-sided surfaces are refused."""

import warnings

import numpy as np
import pytest

from calderon.mesh import MeshError, MeshWarning, TriangleMesh, cube, plate, sphere


def flipped(mesh, mask):
    triangles = mesh.triangles.copy()
    triangles[mask] = triangles[mask][:, [1, 0, 2]]
    return mesh.vertices, triangles


def joined(*parts):
    offsets = np.cumsum([0] + [len(vertices) for vertices, _ in parts])
    return (
        np.concatenate([vertices for vertices, _ in parts]),
        np.concatenate([triangles + offset for (_, triangles), offset in zip(parts, offsets, strict=False)]),
    )


@pytest.mark.parametrize("make", [lambda: sphere(1.0, 0.3), lambda: cube(1.0, 0.25)])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_half_the_triangles_flipped_gives_the_original_normals(make, seed):
    mesh = make()
    mask = np.random.default_rng(seed).random(mesh.number_of_triangles) < 0.5
    with pytest.warns(MeshWarning, match=f"{mask.sum()} of {len(mask)} triangles flipped"):
        repaired = TriangleMesh(*flipped(mesh, mask))
    np.testing.assert_allclose(repaired.normals, mesh.normals, atol=1e-14)
    assert repaired.volume == pytest.approx(mesh.volume, rel=1e-13)
    assert repaired.flipped == mask.sum()


def test_triangle_edges_and_areas_follow_the_flips():
    mesh = sphere(1.0, 0.4)
    mask = np.arange(mesh.number_of_triangles) % 3 == 0
    with pytest.warns(MeshWarning):
        repaired = TriangleMesh(*flipped(mesh, mask))
    for local in range(3):
        opposite = np.sort(repaired.triangles[:, [(local + 1) % 3, (local + 2) % 3]], axis=1)
        np.testing.assert_array_equal(repaired.edges[repaired.triangle_edges[:, local]], opposite)
    corners = repaired.vertices[repaired.triangles]
    vectors = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]) / 2
    np.testing.assert_allclose(repaired.area_vectors, vectors, atol=1e-15)


def test_inward_closed_surface_is_turned_outward():
    mesh = sphere(1.0, 0.4)
    with pytest.warns(MeshWarning, match="(\\d+) of \\1 triangles"):
        repaired = TriangleMesh(mesh.vertices, mesh.triangles[:, ::-1])
    assert repaired.volume == pytest.approx(mesh.volume)
    assert np.einsum("ij,ij->i", repaired.normals, repaired.centroids).min() > 0.8


def test_each_component_is_oriented_by_itself():
    mesh = sphere(1.0, 0.4)
    far = mesh.translated([1e3, 0, 0])
    vertices, triangles = joined((mesh.vertices, mesh.triangles), (far.vertices, far.triangles[:, ::-1]))
    with pytest.warns(MeshWarning, match=f"{mesh.number_of_triangles} of {2 * mesh.number_of_triangles} "):
        both = TriangleMesh(vertices, triangles)
    assert both.number_of_components == 2
    assert both.volume == pytest.approx(2 * mesh.volume, rel=1e-9)


def test_open_surface_follows_the_majority():
    mesh = plate((1.0, 2.0), 0.2)
    mask = np.random.default_rng(4).random(mesh.number_of_triangles) < 0.3
    with pytest.warns(MeshWarning):
        repaired = TriangleMesh(*flipped(mesh, mask))
    np.testing.assert_allclose(repaired.normals, mesh.normals, atol=1e-14)


def test_consistent_open_surface_is_left_alone_either_way_round():
    mesh = plate((1.0, 1.0), 0.25)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        upside_down = TriangleMesh(mesh.vertices, mesh.triangles[:, ::-1])
    assert (upside_down.normals[:, 2] == -1).all()


def moebius(n=24):
    angle = 2 * np.pi * np.arange(n) / n
    rows = []
    for side in (-0.3, 0.3):
        r = 1 + side * np.cos(angle / 2)
        rows.append(np.stack([r * np.cos(angle), r * np.sin(angle), side * np.sin(angle / 2)], axis=1))
    vertices = np.concatenate(rows)
    i, j = np.arange(n), (np.arange(n) + 1) % n
    a, b, c, d = i, j, i + n, j + n
    b[-1], d[-1] = n, 0
    return vertices, np.concatenate([np.stack([a, b, d], axis=1), np.stack([a, d, c], axis=1)])


def test_moebius_strip_is_refused():
    vertices, triangles = moebius()
    with pytest.raises(MeshError, match="one-sided surface: 48 triangles"):
        TriangleMesh(vertices, triangles)


def test_cubes_that_share_an_edge_both_face_outward():
    mesh = cube(1.0, 0.5)
    moved = mesh.vertices + [1.0, 1.0, 0.0]
    vertices, triangles = joined((mesh.vertices, mesh.triangles), (moved, mesh.triangles[:, ::-1]))
    merged, inverse = np.unique(np.round(vertices, 9), axis=0, return_inverse=True)
    with pytest.warns(MeshWarning, match="48 of 96"):
        both = TriangleMesh(merged, inverse.ravel()[triangles])
    assert not both.is_manifold and both.is_closed
    assert both.volume == pytest.approx(2.0)


def test_four_half_plates_that_meet_at_a_line_are_aligned():
    """Two crossing plates, one half turned over: afterwards the line is run along as often one way as the other."""
    first = plate((1.0, 1.0), 0.25)
    second = first.vertices[:, [2, 1, 0]]
    half = first.centroids[:, 0] > 0
    vertices, triangles = joined((first.vertices, flipped(first, half)[1]), (second, first.triangles))
    merged, inverse = np.unique(vertices, axis=0, return_inverse=True)
    with pytest.warns(MeshWarning):
        cross = TriangleMesh(merged, inverse.ravel()[triangles])
    crossing = np.flatnonzero(cross.edge_triangle_counts == 4)
    assert len(crossing) == 4
    start = cross.triangles[:, [1, 2, 0]]
    upward = np.where(start == cross.edges[cross.triangle_edges][..., 0], 1, -1)
    total = np.bincount(cross.triangle_edges.ravel(), weights=upward.ravel())
    assert (total[crossing] == 0).all()
    assert (total[cross.edge_triangle_counts == 2] == 0).all()


@pytest.mark.parametrize("share", [0.0, 0.4, 0.7, 1.0])
def test_closed_surfaces_with_a_wall_inside_face_outward(share):
    box, wall = cube(1.0, 0.5), plate((1.0, 1.0), 0.5)
    vertices, triangles = joined((box.vertices, box.triangles), (wall.vertices[:, [2, 0, 1]], wall.triangles))
    merged, inverse = np.unique(np.round(vertices, 9) + 0.0, axis=0, return_inverse=True)
    triangles = inverse.ravel()[triangles]
    turned = np.random.default_rng(3).random(len(triangles)) < share
    with warnings.catch_warnings():
        warnings.simplefilter("error" if share == 0 else "ignore")
        mesh = TriangleMesh(*flipped(TriangleMesh(merged, triangles), turned))
    outside = np.abs(mesh.centroids).max(axis=1) > 0.49
    assert mesh.is_closed and len(mesh.unbalanced_edges) == 8 and outside.sum() == 48
    assert (np.einsum("ij,ij->i", mesh.normals, mesh.centroids)[outside] > 0).all()
