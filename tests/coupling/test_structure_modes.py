"""Modes of structures in vacuo, and resonances in a fluid against closed forms."""

import numpy as np
import pytest

import calderon as cal
from calderon.exact.bessel import spherical_hankel

pytest.importorskip("skfem")
STEEL = cal.ElasticMaterial.from_wave_speeds(7700.0, longitudinal=5950.0, shear=3240.0)


def wet_wavenumber(k, stiffness, mass, fluid):
    """The complex k at which a rigid ball of radius 1 on a spring swings in a fluid by itself, by Newton: K - omega^2 m
    + 4/3 pi omega^2 rho h_1 / (k h_1') = 0."""

    def left(k):
        wave = spherical_hankel(1, np.array([complex(k)]))
        ratio = wave.values[1, 0] / wave.slopes[1, 0]
        return stiffness - (fluid.speed_of_sound * k) ** 2 * (mass - 4 / 3 * np.pi * fluid.density * ratio / k)

    for _ in range(30):
        k = k - left(k) * 1e-6 / (left(k + 1e-6) - left(k))
    return k


def test_a_ball_on_a_spring_swings_in_a_fluid():
    """A fluid a sixth as heavy as the ball lowers its frequency and takes its energy away."""
    mesh, fluid, mass = cal.mesh.sphere(1.0, h=0.9), cal.Fluid(40.0, 1500.0), 1000.0
    space, f = cal.DP1(mesh), 1500.0 / (2 * np.pi)  # Hz at ka = 1
    shape = np.zeros((1, cal.P1(mesh).dimension, 3))
    shape[:, :, 2] = mass**-0.5
    swing = cal.Structure.from_modes([1.5 * f], shape, space)
    problem = cal.ElasticScattering(swing, 1.4, fluid=fluid)
    with pytest.warns(cal.AccuracyWarning):
        (found,) = cal.resonances(problem, 1.2 * f, 1.6 * f, height=0.2)
    expected = wet_wavenumber(1.4, (1.5 * 1500.0) ** 2 * mass, mass, fluid)
    assert found.wavenumber == pytest.approx(expected, abs=5e-3)
    assert expected.imag < -0.01
    assert found.wavenumber.imag == pytest.approx(expected.imag, rel=0.1)
    assert found.frequency == pytest.approx(found.wavenumber * f)
    assert np.abs(found.field([0, 0, 1.5])) > 100 * np.abs(found.field([1.5, 0, 0]))


def test_modes_in_vacuo(tmp_path):
    """The lowest ones of a ball are rigid, then five of torsion, at k_T a = 2.5011 (Lamb), and five that bulge, at 2.64
    for this material."""
    problem = cal.ElasticScattering(cal.mesh.ball(1.0, 0.6), 1.0, material=STEEL, fluid=cal.Fluid.water())
    modes = problem.modes(16)
    k = np.array([mode.frequency.real for mode in modes]) * 2 * np.pi / 3240.0
    assert k[:6].max() < 1e-3 and k[6:11] == pytest.approx(2.5011, rel=0.03) and k[11:] == pytest.approx(2.65, rel=0.03)
    x = modes[0].displacements[0].nodes
    radial = [np.abs(sum(u.coefficients * x[:, c] for c, u in enumerate(mode.displacements))).max() for mode in modes]
    assert max(radial[6:11]) < 0.1 and min(radial[11:]) > 0.3
    assert modes[11].field([0, 0, 2.0]) == 0
    modes[11].write(tmp_path / "mode.vtu")
    assert (tmp_path / "mode.vtu").exists()
