"""Combined equations hold at the interior resonances at which the plain ones fail, and the sign of eta counts."""

import numpy as np
import pytest

import calderon.exact as exact
import calderon.mesh as meshes
from calderon.formulations import SoundHardScattering, SoundSoftScattering
from calderon.solvers import lu
from calderon.waves import PlaneWave

pytestmark = pytest.mark.slow

AXIS = [0.0, 0.0, 1.0]


@pytest.fixture(scope="module")
def sphere():
    """Scaled to the area of the unit sphere, so that its resonances lie near those of the ball."""
    mesh = meshes.sphere(1.0, 0.28)
    return mesh.scaled(float(np.sqrt(4 * np.pi / mesh.area)))


def far_error(problem, series):
    angles = np.linspace(0, np.pi, 31)
    directions = np.stack([np.sin(angles), 0 * angles, np.cos(angles)], axis=1)
    solution = problem.solve(PlaneWave(AXIS, problem.wavenumber), solver="lu")
    reference = series.far_field(directions)
    return np.linalg.norm(solution.far_field(directions) - reference) / np.linalg.norm(reference)


def worst_condition(make, wavenumbers):
    """Largest condition number over a band about a resonance, which the mesh shifts a little."""
    worst = 0.0
    for k in wavenumbers:
        problem = make(k)
        problem.solve(PlaneWave(AXIS, k), solver="lu")
        worst = max(worst, problem.system.factors.condition)
    return worst


def test_burton_miller_holds_where_the_plain_equation_fails(sphere):
    band = np.pi + np.linspace(-0.02, 0.12, 8)  # k = pi: first Dirichlet resonance of the ball
    plain = worst_condition(lambda k: SoundHardScattering(sphere, k, coupling=0), band)
    combined = worst_condition(lambda k: SoundHardScattering(sphere, k), band[::4])
    assert plain > 8 * combined
    worst = max(band, key=lambda k: worst_condition(lambda q: SoundHardScattering(sphere, q, coupling=0), [k]))
    series = exact.rigid_sphere(worst, 1.0)
    assert far_error(SoundHardScattering(sphere, worst), series) < 0.05
    assert far_error(SoundHardScattering(sphere, worst, coupling=0), series) > 0.15


def test_combined_field_holds_where_the_plain_equation_fails(sphere):
    band = 2.0816 + np.linspace(-0.01, 0.08, 7)  # first Neumann resonance: zero of the derivative of j_1
    plain = worst_condition(lambda k: SoundSoftScattering(sphere, k, coupling=0), band)
    combined = worst_condition(lambda k: SoundSoftScattering(sphere, k), band[::4])
    assert plain > 8 * combined
    assert far_error(SoundSoftScattering(sphere, band[3]), exact.soft_sphere(band[3], 1.0)) < 0.05


def test_coupling_is_i_over_the_real_part(sphere):
    assert SoundHardScattering(sphere, 2.0).eta == 0.5j
    assert SoundHardScattering(sphere, 2.0 + 1.0j).eta == 0.5j
    assert SoundHardScattering(sphere, 2.0).at(4.0).eta == 0.25j
    assert SoundHardScattering(sphere, 2.0, coupling=0.1j).at(4.0).eta == 0.1j
    assert lu(np.eye(2)).condition == 1


@pytest.mark.slow
def test_plus_needs_fewer_iterations_than_minus():
    k = 20.0  # k a = 20, 8 elements per wavelength
    mesh = meshes.sphere(1.0, 2 * np.pi / k / 8)
    wave = PlaneWave(AXIS, k)
    plus = SoundHardScattering(mesh, k).solve(wave, precision="single", rtol=1e-4).info.iterations
    minus = SoundHardScattering(mesh, k, coupling=-1j / k)
    assert minus.solve(wave, precision="single", rtol=1e-4).info.iterations > 1.5 * plus
