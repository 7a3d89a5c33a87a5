"""Outgoing spherical waves: derivatives, what they contain, and the fit of measured pressures."""

import numpy as np
import pytest

import calderon as cal
from calderon.quadrature.sphere import sphere_rule
from calderon.waves.multipole import spherical_harmonics


def source(order=3, k=1.7, seed=0):
    random = np.random.default_rng(seed)
    numbers = random.standard_normal((2, (order + 1) ** 2))
    return cal.Multipole([0.1, -0.2, 0.3], numbers[0] + 1j * numbers[1], k)


def points(number=12, radius=1.5, seed=1):
    x = np.random.default_rng(seed).standard_normal((number, 3))
    return radius * x / np.linalg.norm(x, axis=1)[:, None]


def test_harmonics_are_orthonormal():
    directions, weights = sphere_rule(12)
    values = spherical_harmonics(directions, 5)
    assert np.abs(values.conj().T @ (weights[:, None] * values) - np.eye(36)).max() < 1e-13
    up = spherical_harmonics(np.array([[0, 0, 1.0]]), 2)[0]
    assert np.allclose(up[[0, 2, 6]], np.sqrt(np.array([1, 3, 5]) / (4 * np.pi))) and np.count_nonzero(up) == 3


@pytest.mark.parametrize("k", [1.7, 1.7 + 0.4j])
def test_the_gradient_is_that_of_the_field_which_solves_the_equation_of_helmholtz(k):
    wave, x, h = source(k=k), points(), 1e-3
    steps = h * np.eye(3)
    near = [8 * (wave(x + s) - wave(x - s)) - wave(x + 2 * s) + wave(x - 2 * s) for s in steps]
    differences = np.stack(near, axis=1) / (12 * h)
    assert np.abs(wave.gradient(x) - differences).max() < 1e-8 * np.abs(differences).max()
    laplacian = sum(wave.gradient(x + s)[:, i] - wave.gradient(x - s)[:, i] for i, s in enumerate(steps)) / (2 * h)
    assert np.abs(laplacian + k**2 * wave(x)).max() < 1e-4 * np.abs(wave(x)).max()


def test_a_monopole_is_a_point_source_and_far_fields_are_limits():
    k, x = 1.7, points()
    one = cal.Multipole([0.1, -0.2, 0.3], [1j * k / np.sqrt(4 * np.pi)], k)
    assert np.allclose(one(x), cal.PointSource([0.1, -0.2, 0.3], k)(x), rtol=1e-13)
    wave, d, far = source(), points(radius=1.0), 1e6
    limit = wave(far * d) * far * np.exp(-1j * k * far)
    assert np.abs(limit - wave.far_field(d)).max() < 1e-4 * np.abs(limit).max()


def test_measured_pressures_give_the_source_back():
    wave, x = source(order=2), points(40)
    again = cal.Multipole.fit(wave.position, x, wave(x), 2, wave.wavenumber)
    assert np.allclose(again.coefficients, wave.coefficients, rtol=1e-10)
    with pytest.raises(ValueError, match="8 points do not tell 9 coefficients"):
        cal.Multipole.fit(wave.position, x[:8], wave(x)[:8], 2, wave.wavenumber)
    flat = x * [1, 1, 0] + [0, 0, 0.3]
    with pytest.raises(ValueError, match="of 9 coefficients of order 2 only"):
        cal.Multipole.fit(wave.position, flat, wave(flat), 2, wave.wavenumber)
    for coefficients in ([1.0, 2.0], []):
        with pytest.raises(ValueError, match="1, 4, 9, 16"):
            cal.Multipole([0, 0, 0], coefficients)


def test_a_rigid_sphere_scatters_the_sum_of_what_its_parts_would():
    """A multipole of order 1 is a source and a pair of them: its field in a problem is theirs."""
    k, place, h = 1.0, np.array([0.0, 0.0, 2.5]), 1e-3
    mesh, x = cal.mesh.sphere(1.0, 0.5), np.array([[3.0, 0.0, 1.0], [0.0, -2.0, -2.0]])
    problem = cal.AcousticProblem(mesh, k, fluid=cal.Fluid.air())
    dipole = cal.Multipole(place, [0, 0, 1.0, 0])
    pair = cal.PointSource(place + [0, 0, h], k) - cal.PointSource(place - [0, 0, h], k)
    # d/dz of psi_00 is -k / sqrt(3) psi_10, and exp(ikr) / (4 pi r) = ik / sqrt(4 pi) psi_00; a source that moves up
    # by h has its field moved up, the derivative with the other sign
    factor = 2 * h * 1j * k**2 / np.sqrt(12 * np.pi)
    first, second = problem.solve(dipole, rtol=1e-9), problem.solve(pair, rtol=1e-9)
    assert np.allclose(factor * first.field(x), second.field(x), rtol=1e-4)
