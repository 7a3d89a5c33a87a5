"""Meshes with their images in mirrors, and hemispheres."""

import numpy as np
import pytest

import calderon as cal
from calderon.mesh import MeshError, MeshWarning, hemisphere


def part_of_cube(planes, h=1.0):
    """The part of a cube of size 2 about the origin on the positive sides of planes."""
    cube = cal.mesh.cube(2.0, h)
    axes = ["xyz".index(plane) for plane in planes]
    return cal.TriangleMesh(cube.vertices, cube.triangles[(cube.centroids[:, axes] > 0).all(axis=1)])


@pytest.mark.parametrize("planes", ["z", "zx", "xyz"])
def test_images_make_the_whole_and_have_reflected_normals(planes):
    images = part_of_cube(planes).mirror_images(planes)
    whole, count = images.whole, images.part.number_of_triangles
    assert whole.is_closed and whole.flipped == 0 and whole.number_of_triangles == 2 ** len(planes) * count
    assert whole.volume == pytest.approx(8.0, rel=1e-14) and images.planes == tuple(sorted(planes))
    for k, signs in enumerate(images.signs):
        order = [0, 2, 1] if images.odd[k] else [0, 1, 2]
        triangles = whole.triangles[k * count : (k + 1) * count]
        assert np.array_equal(triangles, images.vertices[k][images.part.triangles][:, order])
        assert np.array_equal(whole.vertices[triangles[:, order]], whole.vertices[images.part.triangles] * signs)
        np.testing.assert_allclose(whole.normals[k * count : (k + 1) * count], images.part.normals * signs, atol=1e-15)


def test_tags_and_names_are_those_of_the_part_and_the_mesh_is_made_once():
    part = part_of_cube("z")
    part = cal.TriangleMesh(part.vertices, part.triangles, np.arange(part.number_of_triangles), {"first": 0})
    whole = part.mirrored("z")
    assert np.array_equal(whole.tags, np.tile(part.tags, 2)) and whole.names == part.names
    assert part.mirrored("z") is whole


def test_triangles_that_orientation_turns_are_turned_in_the_part_too():
    """A part with inward normals: its images close it, and the normals of both then lead outward."""
    part = part_of_cube("z")
    inward = cal.TriangleMesh(part.vertices, part.triangles[:, [0, 2, 1]])
    with pytest.warns(MeshWarning, match="flipped"):
        images = inward.mirror_images("z")
    count = inward.number_of_triangles
    assert np.array_equal(images.whole.triangles[:count], images.part.triangles) and images.whole.volume > 0
    assert np.array_equal(images.whole.triangles[count:], images.vertices[1][images.part.triangles][:, [0, 2, 1]])


def test_vertices_near_a_mirror_are_moved_into_it():
    part = hemisphere(1.0, 0.5)
    tilted = cal.TriangleMesh(part.vertices + 1e-7 * np.cos(7 * part.vertices[:, :1]) * [0, 0, 1.0], part.triangles)
    with pytest.warns(MeshWarning, match="moved into it"):
        whole = tilted.mirrored("z")
    assert whole.is_closed and whole.number_of_vertices == part.mirrored("z").number_of_vertices


def test_bodies_apart_from_a_mirror_and_vertices_without_triangles():
    ball = cal.mesh.sphere(1.0, 0.9).translated([0, 0, 3.0])
    spare = cal.TriangleMesh(np.concatenate([ball.vertices, [[0, 0, -9.0]]]), ball.triangles)
    images = spare.mirror_images("z")
    assert images.whole.is_closed and images.whole.number_of_components == 2
    assert images.vertices[1][-1] == images.vertices[0][-1] == ball.number_of_vertices


def test_what_has_no_images_is_refused():
    part = hemisphere(1.0, 0.5)
    with pytest.raises(MeshError, match="both sides of the mirror x = 0"):
        part.mirrored("x")
    cube = cal.mesh.cube(2.0, 1.0).translated([0, 0, 1.0])
    with pytest.raises(MeshError, match="8 triangles lie in the mirror z = 0"):
        cube.mirrored("z")
    for planes in ((), "w", ["xz"], [3], 3, None):
        with pytest.raises(MeshError, match="planes through the origin"):
            part.mirrored(planes)
    with pytest.raises(MeshError, match="given once"):
        part.mirrored("zz")


@pytest.mark.parametrize("h", [0.05, 0.12, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7])
def test_hemispheres_have_good_triangles_and_make_spheres(h):
    """The conditions that spheres meet; with its images the volume of the ball."""
    half = hemisphere(2.0, 2 * h)
    assert abs(half.mean_edge_length / (2 * h) - 1) < 0.1 and half.edge_lengths.max() <= 1.5 * 2 * h
    assert np.degrees(half.angles).min() > 40 and half.flipped == 0
    assert np.all(half.vertices[half.boundary_vertices, 2] == 0) and half.vertices[:, 2].min() == 0
    whole = half.mirrored("z")
    assert whole.is_closed and whole.number_of_components == 1
    assert whole.volume == pytest.approx(4 * np.pi / 3 * 8, rel=1e-10)
    inscribed = hemisphere(2.0, 2 * h, volume=False)
    np.testing.assert_allclose(np.linalg.norm(inscribed.vertices, axis=1), 2.0, rtol=1e-14)


def test_long_edges_of_a_hemisphere_are_refused():
    with pytest.raises(MeshError, match="hemisphere"):
        hemisphere(1.0, 0.8)
