"""Stresses of elastic bodies in water, and the mobility at a driven point: exact limits, balances, files."""

from functools import cache

import numpy as np
import pytest

import calderon as cal
from calderon.files.formats import meshio
from calderon.formulations.elastic.material import largest_von_mises, von_mises

pytest.importorskip("skfem")
STEEL = cal.ElasticMaterial.from_wave_speeds(7700.0, longitudinal=5950.0, shear=3240.0)
WATER = cal.Fluid(1000.0, 1500.0)


@cache
def ball():
    return cal.mesh.ball(1.0, 0.6)


@cache
def pressed():
    """A ball in a wave much longer than it is."""
    return cal.ElasticScattering(ball(), 0.02, material=STEEL, fluid=WATER).solve(cal.PlaneWave([0, 0, 1]))


def test_a_long_wave_presses_a_ball_from_all_sides():
    """sigma = -p I but for (ka)^2: 4e-4 at the centre."""
    places = [[0, 0, 0], [0.3, 0.2, 0.4]]
    assert np.abs(pressed().stress(places) + np.eye(3)).max() < 2e-2
    assert np.abs(pressed().stress([0, 0, 0]) + np.eye(3)).max() < 1e-3
    assert pressed().von_mises([0, 0, 0]) < 1e-3
    assert np.isnan(pressed().von_mises([0, 0, 2.0]))
    assert np.abs(pressed().element_stress + np.eye(3)).max() < 3e-2


def test_the_stress_on_the_wall_is_the_pressure_there():
    """In the mean, by (sigma n + p n) over all triangles: first order on a coarse mesh."""
    found = cal.ElasticScattering(ball(), 0.5, material=STEEL, fluid=WATER).solve(cal.PlaneWave([0, 0, 1]))
    mesh = found.mesh
    traction = np.einsum("nij,nj->ni", found.stress(mesh.centroids - 1e-6 * mesh.normals), mesh.normals)
    outside = -found.field(mesh.centroids + 1e-3 * mesh.normals)[:, None] * mesh.normals
    assert np.linalg.norm(traction - outside) < 0.1 * np.linalg.norm(outside)


def test_the_largest_stress_of_a_period():
    stress = np.random.default_rng(0).standard_normal((2, 5, 3, 3)) * 1e6
    stress = stress + np.swapaxes(stress, 2, 3)
    assert largest_von_mises(stress[0]) == pytest.approx(von_mises(stress[0]), rel=1e-12)
    amplitude = stress[0] + 1j * stress[1]
    phases = np.exp(-2j * np.pi * np.linspace(0, 1, 2001))[:, None, None, None]
    sampled = von_mises(np.real(amplitude * phases)).max(axis=0)
    assert largest_von_mises(amplitude) == pytest.approx(sampled, rel=1e-5)


@pytest.mark.parametrize("mirrors", [None, {"x": "even"}])
def test_the_mobility_of_a_free_ball_is_that_of_its_mass(mirrors):
    """1 / (-i omega (m + half of the displaced mass)), and its real part gives the power of the force, also where the
    point lies in a mirror."""
    volume, force = ball(), [0, 0, 2.5]
    if mirrors:
        box = cal.mesh.box([0, -1, -1], [1, 1, 1], 2)
        x = box.vertices
        x = x * np.abs(x).max(axis=1, keepdims=True) / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 1e-9)
        volume = cal.TetrahedralMesh(x, box.tetrahedra)
    driven = cal.ElasticScattering(
        volume, 0.05, material=STEEL, fluid=WATER, mirrors=mirrors, point_forces=[([0, 0, 0], force)]
    ).solve()
    mass = volume.volumes.sum() * (2 if mirrors else 1) * (STEEL.density + WATER.density / 2)
    assert driven.input_mobility * -1j * driven.omega * mass == pytest.approx([1.0], rel=4e-2 if mirrors else 5e-3)
    assert driven.input_mobility.real * 2.5**2 / 2 == pytest.approx(driven.input_power, rel=1e-9)


def test_files(tmp_path):
    pressed().save(tmp_path / "ball.h5")
    loaded = cal.load(tmp_path / "ball.h5")
    assert np.array_equal(loaded.element_stress, pressed().element_stress)
    pressed().write(tmp_path / "ball.vtu")
    written = meshio.read(tmp_path / "ball.vtu").cell_data["von Mises stress [Pa]"][0]
    assert written == pytest.approx(largest_von_mises(pressed().element_stress))
