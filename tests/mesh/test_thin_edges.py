"""Where a body is thinner than the elements at its edges are high, and where it only looks so."""

import numpy as np
import pytest

import calderon as cal
from calderon.mesh.checks.thin_edges import thin_edges

LEAST = 0.0125


def wedge(degrees, h=0.15):
    """A wedge along y of that angle, its edge at x = -1/2."""
    thick = 2 * np.tan(np.radians(degrees) / 2)
    box = cal.mesh.cuboid((1.0, 1.0, thick), h)
    vertices = box.vertices * np.stack([np.ones(len(box.vertices))] * 2 + [box.vertices[:, 0] + 0.5], axis=1)
    places, joined = np.unique(vertices.round(12), axis=0, return_inverse=True)
    triangles = joined.ravel()[box.triangles]
    a, b, c = np.moveaxis(places[triangles], 1, 0)
    return cal.TriangleMesh(places, triangles[np.linalg.norm(np.cross(b - a, c - a), axis=1) > 1e-9])


@pytest.mark.parametrize("thickness", [1e-6, 1e-3, 0.04, 0.09])
def test_a_box_thinner_than_half_an_element_is_found(thickness):
    found = thin_edges(cal.mesh.cuboid((1.0, 1.0, thickness), 0.2), LEAST)
    assert len(found.triangles) == 36  # of 5 x 4 at the edges of each of two faces; two share a corner each
    np.testing.assert_allclose(found.heights, 0.2)
    np.testing.assert_allclose(found.thickness, thickness, rtol=1e-9)
    assert found.unresolved == pytest.approx(0.2, rel=1e-9)  # of the width 1


@pytest.mark.parametrize("direction", [[1.0, 2.0, 3.0], [-0.3, 0.5, 0.1]])
def test_a_turned_box_is_found_as_well(direction):
    axis = np.array(direction) / np.linalg.norm(direction)
    cross = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    turn = np.eye(3) + np.sin(0.8) * cross + (1 - np.cos(0.8)) * cross @ cross
    found = thin_edges(cal.mesh.cuboid((1.0, 1.0, 1e-4), 0.2).rotated(turn).translated([5.0, 3, 1]), LEAST)
    assert len(found.triangles) == 36


@pytest.mark.parametrize(
    "make",
    [
        lambda: cal.mesh.cube(1.0, 0.2),
        lambda: cal.mesh.cuboid((1.0, 1.0, 0.11), 0.2),
        lambda: cal.mesh.cuboid((0.01, 1.0, 0.01), 0.05),
        lambda: cal.mesh.sphere(1.0, 0.4),
        lambda: cal.mesh.cylinder(0.5, 1.0, 0.25),
        lambda: cal.mesh.almond(1.0, 0.06),
        lambda: cal.mesh.ogive(1.0, 0.08),
        lambda: cal.mesh.sample("submarine"),
        lambda: cal.mesh.cuboid((1.0, 1.0, 1e-4), 0.2, grading=3),
        lambda: cal.mesh.cuboid((1.0, 1.0, 1e-4), 0.2).refine_edges(1 / 16),
        *(lambda a=angle: wedge(a) for angle in (12, 15, 20, 30, 45, 60, 90)),
    ],
)
def test_bodies_of_ordinary_thickness_wedges_and_graded_plates_are_not(make):
    assert len(thin_edges(make(), LEAST).triangles) == 0


@pytest.mark.parametrize("gap", [1e-6, 1e-3])
def test_two_bodies_at_a_small_distance_are_not(gap):
    cube = cal.mesh.cube(1.0, 0.2)
    assert len(thin_edges(cal.mesh.merge([cube, cube.translated([1 + gap, 0, 0])]), LEAST).triangles) == 0


def test_a_knife_is_thin_at_its_edge():
    blade = wedge(3)
    found = thin_edges(blade, LEAST)
    edge = blade.centroids[found.triangles]
    sharp = np.abs(edge[:, 0] + 0.5) < 0.15
    assert sharp.sum() > 8 and found.thickness.max() < 0.5 * 0.15
