"""The submarine: closed, outward, well shaped, as long as it says."""

import numpy as np
import pytest

from calderon.mesh import MeshError, sample


@pytest.mark.parametrize(("resolution", "edge"), [("coarse", 1.0), ("fine", 0.5)])
def test_submarine_is_a_sound_hull(resolution, edge):
    hull = sample("submarine", resolution=resolution)
    assert hull.is_closed and hull.is_manifold and hull.number_of_components == 1
    assert hull.flipped == 0
    np.testing.assert_allclose(hull.bounds[:, 0], [-31, 31], atol=1e-5)
    assert abs(hull.mean_edge_length / edge - 1) < 0.1
    assert hull.edge_lengths.max() < 2 * edge
    assert np.degrees(hull.angles).min() > 18
    # a sphere with handles would not do: Euler characteristic 2
    assert hull.number_of_vertices - hull.number_of_edges + hull.number_of_triangles == 2
    assert set(hull.names) == {"hull", "sail", "sail planes", "rudders"}
    assert set(np.unique(hull.tags)) == set(hull.names.values())
    # port and starboard are equal up to the mesh
    assert abs((hull.centroids * hull.areas[:, None]).sum(axis=0)[1]) < 1e-2 * hull.area


def test_coarse_and_fine_agree_on_volume_and_area():
    coarse, fine = sample("submarine"), sample("submarine", resolution="fine")
    assert coarse.volume == pytest.approx(fine.volume, rel=0.02)
    assert coarse.area == pytest.approx(fine.area, rel=0.01)


def test_unknown_samples_are_refused_with_the_choice():
    with pytest.raises(MeshError, match="'submarine'"):
        sample("teapot")
    with pytest.raises(MeshError, match="'coarse', 'fine'"):
        sample("submarine", resolution="ultra")
