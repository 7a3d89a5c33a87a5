"""Edge lengths that follow curvature."""

from functools import partial

import numpy as np
import pytest

from calderon.mesh import almond, sphere
from calderon.mesh.shapes.grading import curvature_sizes, smallest_radii
from calderon.mesh.shapes.round import closest_on_ellipsoid, geodesic_sphere

AXES = np.array([2.0, 1.0, 0.5])  # smallest radii of curvature where they leave: 0.125, 0.25 and 2
ONTO = partial(closest_on_ellipsoid, axes=AXES)


def poles():
    """Where the axes of the ellipsoid leave it, with normals and the smaller radius of curvature there."""
    a, b, c = AXES
    return np.diag(AXES), np.eye(3), np.array([c**2 / a, c**2 / b, b**2 / c])


def test_smallest_radii_of_an_ellipsoid():
    points, normals, exact = poles()
    steps = 0.02 * exact[:, None]
    for i in range(3):
        radius = smallest_radii(points[i : i + 1], normals[i : i + 1], ONTO, steps[i])
        assert radius[0] == pytest.approx(exact[i], rel=1e-3)


def test_a_sphere_is_even():
    mesh = sphere(1.0, 0.1, volume=False)
    onto = partial(closest_on_ellipsoid, axes=np.ones(3))
    sizes = curvature_sizes(mesh.vertices, mesh.triangles, onto, 0.2)(mesh.vertices)
    assert np.ptp(sizes) < 0.03


def test_sizes_follow_the_root_of_the_radius_and_grow_slowly_away_from_sharp_places():
    points, triangles = geodesic_sphere(36)
    h = 0.15
    wanted = curvature_sizes(points * AXES, triangles, ONTO, h)
    end, boundary, flat = wanted(poles()[0])
    assert end < boundary < flat == pytest.approx(1.1)
    assert boundary / end == pytest.approx(np.sqrt(0.25 / 0.125), rel=0.1)
    sizes = wanted(points * AXES)
    rise = np.abs(sizes[triangles] - sizes[triangles[:, [1, 2, 0]]])
    lengths = np.linalg.norm((points[triangles] - points[triangles[:, [1, 2, 0]]]) * AXES, axis=2)
    assert (rise <= 0.3 * lengths / h + 0.05).all()


def test_the_almond_is_finer_on_its_rim():
    mesh = almond(h=0.006, volume=False)
    centres = mesh.vertices[mesh.edges].mean(axis=1)
    lengths = mesh.edge_lengths
    near = (np.abs(centres[:, 0]) < 0.02) & (np.abs(centres[:, 2]) < 0.004)  # the boundary at the widest section
    flat = (np.abs(centres[:, 0]) < 0.02) & (np.abs(centres[:, 1]) < 0.02)
    assert lengths[near].mean() < 0.8 * lengths[flat].mean()
