"""Round contacts in flat metal."""

import numpy as np
import pytest

import calderon as cal
from calderon.mesh.planar.contacts import contact_in, with_contact


@pytest.mark.parametrize("h", [0.1, 0.3, 1.0])
@pytest.mark.parametrize("place", [(0.1, 0.2), (-0.31, 0.17)])
def test_a_contact_keeps_area_and_border(h, place):
    plate = cal.planar.patch(3.0, 2.0, h, z=0.5)
    mesh = with_contact(plate, place, 0.05, 0.5)
    assert mesh.areas.sum() == pytest.approx(6.0, rel=1e-12)
    assert np.all(mesh.normals[:, 2] > 1 - 1e-12)
    boundaries = [np.sort(each.edge_lengths[each.edge_triangle_counts == 1]) for each in (plate, mesh)]
    assert np.allclose(*boundaries)
    mesh.check()
    triangles, opposite = contact_in(mesh, place, 0.05, 0.5)
    ends = [np.delete(mesh.triangles[t], o) for t, o in zip(triangles, opposite, strict=True)]
    radii = np.linalg.norm(mesh.vertices[np.array(ends)][..., :2] - place, axis=2)
    assert np.allclose(radii, 0.05 * 2 * np.pi / 6) and len(np.unique(ends)) == 6
    assert len(np.unique(mesh.triangle_edges[triangles, opposite])) == 6


def test_a_second_contact_leaves_the_first():
    mesh = cal.planar.patch(3.0, 2.0, 0.3)
    for place in ((0.0, 0.0), (0.4, 0.3)):
        mesh = with_contact(mesh, place, 0.05, 0.0)
    for place in ((0.0, 0.0), (0.4, 0.3)):
        assert len(contact_in(mesh, place, 0.05, 0.0).triangles) == 6


def test_a_contact_next_to_the_edge_is_refused():
    with pytest.raises(cal.MeshError, match="is not surrounded by metal"):
        with_contact(cal.planar.patch(3.0, 2.0, 0.3), (0.98, 0.0), 0.05, 0.0)
