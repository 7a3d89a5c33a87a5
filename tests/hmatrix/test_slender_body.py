"""Echoes of a slender rigid body: compressed against dense, single against double precision."""

import numpy as np
import pytest

import calderon as cal

WAVENUMBER = 6.0
ANGLES = np.linspace(0, 2 * np.pi, 181)
DIRECTIONS = np.stack([np.cos(ANGLES), np.sin(ANGLES), 0 * ANGLES], axis=1)


@pytest.fixture(scope="module")
def problem():
    """Eight lengths to a breadth, seven elements per wavelength."""
    return cal.SoundHardScattering(cal.mesh.ellipsoid((2.4, 0.3, 0.3), 0.15), WAVENUMBER)


@pytest.fixture(scope="module")
def wave():
    return cal.PlaneWave([np.cos(np.radians(10)), np.sin(np.radians(10)), 0], WAVENUMBER)


def burton_miller(problem):
    space, green = problem.function_space, problem.green
    hypersingular = cal.hypersingular(green, space, form="direct")
    return 0.5 * cal.identity(space) - cal.double_layer(green, space) + problem.eta * hypersingular


def test_target_strength_of_the_compressed_equation_is_that_of_the_dense_one(problem, wave):
    exact = problem.solve(wave, rtol=1e-6).target_strength(DIRECTIONS)
    solution = problem.solve(wave, method="hmatrix", rtol=1e-4)
    loud = exact > exact.max() - 30
    assert loud.sum() > 100
    assert np.abs(solution.target_strength(DIRECTIONS) - exact)[loud].max() < 0.1
    assert solution.info.iterations <= 20


@pytest.mark.variant
def test_single_precision_has_the_echo_and_the_ranks_of_double(problem, wave):
    """Far fields within 0.05 % in the Euclidean norm over directions, mean ranks within a tenth."""
    found, operator = {}, burton_miller(problem)
    compressed = {each: operator.assemble("hmatrix", rtol=1e-5, precision=each) for each in ("double", "single")}
    load = problem.function_space.load_vector(wave) + problem.eta * problem.function_space.load_vector(
        lambda x, n: np.sum(wave.gradient(x) * n, axis=1)
    )
    for precision in ("double", "single"):
        total, _ = cal.gmres(compressed[precision], load, rtol=1e-6, preconditioner=problem._osrc("double"))
        density = cal.Function(problem.function_space, total)
        found[precision] = cal.double_layer_potential(problem.green, density).far_field(DIRECTIONS)
    deviation = np.linalg.norm(found["single"] - found["double"]) / np.linalg.norm(found["double"])
    assert 1e-8 < deviation < 5e-4
    double, single = (compressed[precision].parts for precision in ("double", "single"))
    for one, other in zip(single, double, strict=True):
        assert one.statistics.total.mean_rank <= 1.1 * other.statistics.total.mean_rank
        assert one.statistics.total.largest_rank <= 1.1 * other.statistics.total.largest_rank
        assert one.nbytes < 0.55 * other.nbytes
