"""Combined equations hold at the interior resonances at which the plain ones fail, and the sign of eta counts."""

import numpy as np
import pytest

import calderon.exact as exact
import calderon.mesh as meshes
from calderon.formulations import SoundHardScattering, SoundSoftScattering
from calderon.solvers import lu
from calderon.waves import PlaneWave

AXIS = [0.0, 0.0, 1.0]
RESONANCES = {"hard": np.pi, "soft": 2.0815759778}
"""Resonances of the inside of the unit ball: k = pi with u = 0 on the surface, the zero of j_1' with du/dn = 0."""


@pytest.fixture(scope="module")
def sphere():
    """With the volume of the unit ball, so that its lowest resonances are those of the ball (Hadamard's formula: to
    first order they move by the mean displacement of the surface)."""
    mesh = meshes.sphere(1.0, 0.28)
    return mesh.scaled(float((4 * np.pi / 3 / mesh.volume) ** (1 / 3)))


def far_error(problem, series):
    angles = np.linspace(0, np.pi, 31)
    directions = np.stack([np.sin(angles), 0 * angles, np.cos(angles)], axis=1)
    solution = problem.solve(PlaneWave(AXIS, problem.wavenumber), solver="lu")
    reference = series.far_field(directions)
    return np.linalg.norm(solution.far_field(directions) - reference) / np.linalg.norm(reference)


@pytest.mark.parametrize("kind", RESONANCES)
def test_combined_equations_hold_where_the_plain_ones_fail(kind, sphere):
    k = RESONANCES[kind]
    make = SoundHardScattering if kind == "hard" else SoundSoftScattering
    series = (exact.rigid_sphere if kind == "hard" else exact.soft_sphere)(k, 1.0)
    combined, plain = make(sphere, k), make(sphere, k, coupling=0)
    assert far_error(combined, series) < 0.02
    far_error(plain, series)
    # 1 / condition grows with the distance to the discrete resonance, which lies within 1 % of the ball's
    assert plain.system.factors.condition > 50 * combined.system.factors.condition


def test_burton_miller_converges_at_a_resonance_and_the_plain_equation_does_not():
    """k = pi: the far field of eta = i/k tends to the series with order two at least, that of eta = 0 stays wrong."""
    series = exact.rigid_sphere(np.pi, 1.0)
    combined, plain, sizes = [], [], []
    for h in (0.32, 0.2):
        mesh = meshes.sphere(1.0, h)
        mesh = mesh.scaled(float((4 * np.pi / 3 / mesh.volume) ** (1 / 3)))
        sizes.append(mesh.mean_edge_length)
        combined.append(far_error(SoundHardScattering(mesh, np.pi), series))
        plain.append(far_error(SoundHardScattering(mesh, np.pi, coupling=0), series))
    assert np.log(combined[0] / combined[1]) / np.log(sizes[0] / sizes[1]) > 1.7
    assert combined[1] < 0.02 and min(plain) > 0.1


def test_coupling_is_i_over_the_real_part(sphere):
    assert SoundHardScattering(sphere, 2.0).eta == 0.5j
    assert SoundHardScattering(sphere, 2.0 + 1.0j).eta == 0.5j
    assert SoundSoftScattering(sphere, 2.0 + 1.0j).eta == 2.0
    assert SoundHardScattering(sphere, 2.0).at(3.0).eta == pytest.approx(1j / 3)
    assert SoundHardScattering(sphere, 2.0, coupling=0.1j).at(3.0).eta == 0.1j
    assert lu(np.eye(2)).condition == 1


@pytest.mark.filterwarnings("ignore:wavenumber times diameter")
@pytest.mark.parametrize("k", [1e-9, 1e-5, 1e-2])
def test_soft_bodies_much_smaller_than_the_wavelength(sphere, k):
    """At k = 0 the operator I/2 + K' has no inverse; what is added to it must not vanish with k."""
    solution = SoundSoftScattering(sphere, k).solve(PlaneWave(AXIS, k))
    reference = exact.soft_sphere(k, 1.0).far_field([AXIS])
    assert abs(solution.far_field([AXIS]) / reference - 1)[0] < 2e-3
    assert solution.info.iterations < 8
    extent = (sphere.bounds[1] - sphere.bounds[0]).max()
    assert SoundSoftScattering(sphere, k).eta == pytest.approx(1 / extent)
    assert SoundSoftScattering(sphere, 3.0).eta == 3.0


def test_plus_needs_fewer_iterations_than_minus():
    """k a = 14 with 8 elements per wavelength, on an ellipsoid of half-length a, which has a quarter of the unknowns of
    the sphere (where it is 14 against 54).

    On waves much longer than 2 pi / k along the surface D is -ik/2: with eta = i/k it adds 1/2 to I/2, with -i/k it
    takes it away.
    """
    k = 14.0
    mesh = meshes.ellipsoid((1.0, 0.3, 0.3), 2 * np.pi / k / 8)
    wave = PlaneWave([1.0, 0.0, 0.0], k)
    steps = {}
    for sign in (1, -1):
        problem = SoundHardScattering(mesh, k, coupling=sign * 1j / k)
        assert problem.elements_per_wavelength == pytest.approx(8, rel=0.1)
        steps[sign] = problem.solve(wave, precision="single", rtol=1e-4).info.iterations
    assert 3 * steps[1] < steps[-1], steps
