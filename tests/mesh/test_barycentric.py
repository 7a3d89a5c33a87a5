"""Barycentric refinement and fans of triangles around vertices."""

import numpy as np
import pytest

import calderon as cal
from calderon.mesh.fans import fans


@pytest.mark.parametrize("mesh", [cal.mesh.sphere(1.0, 0.5), cal.mesh.plate([1.0, 0.7], 0.3)], ids=["sphere", "plate"])
def test_children_have_a_sixth_of_the_area_and_the_normal_of_their_parent(mesh):
    refinement = mesh.barycentric_refinement
    fine = refinement.mesh
    assert fine.flipped == 0
    assert np.allclose(fine.areas, mesh.areas[refinement.parents] / 6, rtol=1e-12)
    assert np.allclose(fine.normals, mesh.normals[refinement.parents], atol=1e-12)
    assert (refinement.parents[refinement.children] == np.arange(mesh.number_of_triangles)[:, None, None]).all()
    assert len(fine.boundary_edges) == 2 * len(mesh.boundary_edges)
    assert mesh.barycentric_refinement is refinement
    first, second = (fine.triangles[refinement.children[:, :, child]] for child in (0, 1))
    assert (first[..., 0] == mesh.triangles).all() and (second[..., 0] == mesh.triangles).all()
    middle = mesh.number_of_vertices + mesh.triangle_edges
    assert (first[..., 1] == middle[:, [2, 0, 1]]).all() and (second[..., 2] == middle[:, [1, 2, 0]]).all()


def test_tags_and_names_are_inherited():
    mesh = cal.mesh.merge([cal.mesh.sphere(1.0, 0.6), cal.mesh.sphere(1.0, 0.6).translated([3, 0, 0])])
    refinement = mesh.barycentric_refinement
    assert (refinement.mesh.tags == mesh.tags[refinement.parents]).all()


@pytest.mark.parametrize("mesh", [cal.mesh.sphere(1.0, 0.4), cal.mesh.disc(1.0, 0.3)], ids=["sphere", "disc"])
def test_neighbours_in_a_fan_share_an_edge_at_its_vertex(mesh):
    around = fans(mesh)
    boundary = set(mesh.boundary_vertices.tolist())
    assert len(around.closed) == len(mesh.used_vertices)
    for fan, closed in enumerate(around.closed):
        corners = around.corners[around.start[fan] : around.start[fan + 1]]
        assert (around.fan[corners] == fan).all() and (around.place[corners] == np.arange(len(corners))).all()
        (vertex,) = np.unique(mesh.triangles.ravel()[corners])
        assert closed == (int(vertex) not in boundary)
        triangle, local = np.divmod(corners, 3)
        into = mesh.triangles[triangle, (local + 2) % 3]  # the edge to this vertex ends a triangle ...
        out = mesh.triangles[triangle, (local + 1) % 3]  # ... and the same one begins the next
        assert (into[:-1] == out[1:]).all()
        assert (into[-1] == out[0]) == closed


def test_a_vertex_where_two_sheets_touch_has_two_fans():
    vertices = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [-1, 0, 0], [0, -1, 0]]
    mesh = cal.TriangleMesh(vertices, [[0, 1, 2], [0, 3, 4]])
    around = fans(mesh)
    assert len(around.closed) == 6 and not around.closed.any()
    assert around.fan[0] != around.fan[3]
