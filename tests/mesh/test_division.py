"""Triangles cut into four: the same surface, four times the triangles, half the edges."""

import numpy as np
import pytest

from calderon.case import CaseError, parse, surface_mesh
from calderon.mesh import MeshError, TriangleMesh, cube, sample, sphere
from surface_case import surface_case


def test_parts_lie_in_the_plane_of_their_triangle_and_keep_tag_and_shape():
    whole = sample("submarine")
    fine = whole.divided(2)
    added = 3 * whole.number_of_edges + 3 * whole.number_of_triangles
    assert fine.is_closed and fine.number_of_vertices == whole.number_of_vertices + added
    np.testing.assert_allclose(fine.areas.reshape(-1, 16), np.repeat(whole.areas[:, None], 16, axis=1) / 16)
    np.testing.assert_allclose(
        fine.normals.reshape(-1, 16, 3), np.repeat(whole.normals[:, None], 16, axis=1), atol=1e-12
    )
    np.testing.assert_array_equal(fine.tags.reshape(-1, 16), np.repeat(whole.tags[:, None], 16, axis=1))
    np.testing.assert_allclose(
        fine.vertices[fine.triangles].reshape(-1, 48, 3).mean(axis=1),
        whole.vertices[whole.triangles].mean(axis=1),
        atol=1e-12,
    )
    assert fine.names == whole.names
    assert fine.mean_edge_length == pytest.approx(whole.mean_edge_length / 4, rel=0.02)


def test_an_open_surface_stays_open_with_the_same_boundary():
    square = TriangleMesh([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], [[0, 1, 2], [0, 2, 3]])
    fine = square.divided()
    assert fine.number_of_triangles == 8 and fine.areas.sum() == pytest.approx(1.0)
    boundary = fine.edge_triangle_counts == 1
    assert fine.edge_lengths[boundary].sum() == pytest.approx(4.0)
    assert square.divided(0).number_of_triangles == 2


@pytest.mark.parametrize("times", [-1, 7, 1.5, True, "2", None])
def test_numbers_of_divisions_that_make_no_sense_are_refused(times):
    with pytest.raises(MeshError, match="0 to 6"):
        sphere(1.0, 0.8).divided(times)


def test_cases_divide_samples_and_files_only(tmp_path):
    cube(1.0, 0.5).write(tmp_path / "cube.msh")
    case = surface_case("surface = []", 'file = "cube.msh"\ndivisions = 1')
    mesh = surface_mesh(parse(case, folder=tmp_path))
    assert mesh.number_of_triangles == 4 * cube(1.0, 0.5).number_of_triangles
    with pytest.raises(CaseError, match="divisions is not supported by shape = 'cube'"):
        parse(surface_case("surface = []", 'shape = "cube"\nsize = 1\nh = 0.5\ndivisions = 1'))
