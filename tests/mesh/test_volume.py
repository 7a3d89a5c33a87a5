"""Meshes that enclose the volume of the body."""

import numpy as np
import pytest

from calderon.mesh import almond, ellipsoid, ogive, sphere, torus
from calderon.mesh.volume import with_volume_kept


def almond_volume(d=0.2523744):
    """The integral of its elliptic sections."""
    t = (np.arange(200_000) + 0.5) / 200_000 - 0.416667
    back = 0.193333 * 0.064444 * (1 - (t / 0.416667) ** 2)
    front = 4.83345 * 1.61115 * (np.sqrt(1 - np.clip(t / 2.08335, 0, None) ** 2) - 0.96) ** 2
    return np.pi * d**3 * np.where(t < 0, back, front).mean()


def ogive_volume(length=0.254):
    t = (np.arange(200_000) + 0.5) / 200_000 - 0.5
    return np.pi * length**3 * ((np.sqrt(1.3**2 - t**2) - 1.2) ** 2).mean()


@pytest.mark.parametrize(("shape", "exact", "h"), [(almond, almond_volume(), 0.006), (ogive, ogive_volume(), 0.01)])
def test_radar_targets_keep_their_volume_and_their_tips(shape, exact, h):
    """Here meshes with all vertices on the surface lose 0.9 % (even ones 1.05 %) and 3.6 %."""
    on, kept = shape(h=h, volume=False), shape(h=h)
    np.testing.assert_array_equal(on.triangles, kept.triangles)
    assert abs(kept.volume / exact - 1) < 0.002 < 0.2 * abs(on.volume / exact - 1) + 0.001
    moved = np.linalg.norm(kept.vertices - on.vertices, axis=1)
    assert 0 < moved.max() < 0.25 * h
    tips = np.flatnonzero(moved == 0)
    np.testing.assert_allclose(on.vertices[tips, 1:], 0, atol=1e-9)
    assert len(tips) == (1 if shape is almond else 2)


ROUND = {
    "sphere": (lambda volume: sphere(1.0, 0.2, volume), 4 * np.pi / 3),
    "ellipsoid": (lambda volume: ellipsoid((2.0, 1.0, 0.5), 0.2, volume), 4 * np.pi / 3),
    "torus": (lambda volume: torus(3.0, 1.0, 0.35, volume), 6 * np.pi**2),  # saddles on the inner side
}


@pytest.mark.parametrize("name", ROUND)
def test_round_shapes_keep_their_volume_if_asked(name):
    make, exact = ROUND[name]
    on, kept = make(False), make(True)
    assert abs(kept.volume / exact - 1) < 0.05 * abs(on.volume / exact - 1)
    assert 0 < np.linalg.norm(kept.vertices - on.vertices, axis=1).min()


def test_fixed_vertices_stay():
    mesh = sphere(1.0, 0.3)
    fixed = mesh.vertices[:, 2] > 0.5

    def project(x):
        return x / np.linalg.norm(x, axis=1)[:, None]

    moved = with_volume_kept(mesh.vertices, mesh.triangles, project, fixed)
    np.testing.assert_array_equal((moved != mesh.vertices).any(axis=1), ~fixed)
