"""Scattering by spheres against the exact series.

A polyhedron inscribed in the unit sphere is a smaller body, which at h = 0.3 alone changes fields by up to 6 %. To
first order a small displacement of the surface enters a smooth functional by its mean (Hadamard), so the meshes
here are scaled to the volume of the ball. What is left, 0.4 % at most, is the error of the method.
"""

import warnings

import numpy as np
import pytest

import calderon.exact as exact
import calderon.mesh as meshes
from calderon.formulations import FluidTransmission, ImpedanceScattering, SoundHardScattering, SoundSoftScattering
from calderon.mesh import AccuracyWarning
from calderon.waves import PlaneWave, PointSource

K = 2.0
ADMITTANCE = 0.7 - 0.3j
DIRECTION = np.array([1.0, 2.0, -2.0]) / 3
SOURCE = np.array([0.3, -1.5, 1.0])
PROBLEMS = {
    "hard": SoundHardScattering,
    "soft": SoundSoftScattering,
    "impedance": lambda mesh, k, **options: ImpedanceScattering(mesh, k, ADMITTANCE, **options),
    "fluid": lambda mesh, k, **options: FluidTransmission(mesh, k, 1.4 * k, 2.3, **options),
}
SERIES = {
    "hard": exact.rigid_sphere,
    "soft": exact.soft_sphere,
    "impedance": lambda k, a, **incidence: exact.impedance_sphere(k, a, ADMITTANCE, **incidence),
    "fluid": lambda k, a, **incidence: exact.fluid_sphere(k, a, 1.4 * k, 2.3, **incidence),
}
POINTS = np.array([[0.0, 0.0, -3.0], [2.0, 1.0, 0.5], [-0.5, 1.4, 0.2]])


def ball(h):
    """A sphere of flat triangles with the volume of the unit ball."""
    mesh = meshes.sphere(1.0, h)
    return mesh.scaled(float((4 * np.pi / 3 / mesh.volume) ** (1 / 3)))


@pytest.fixture(scope="module")
def sphere():
    return ball(0.3)


def directions(number=20, seed=1):
    d = np.random.default_rng(seed).standard_normal((number, 3))
    return d / np.linalg.norm(d, axis=1)[:, None]


def difference(values, reference):
    return np.linalg.norm(values - reference) / np.linalg.norm(reference)


def surface_error(solution, series):
    reference = series.surface_normal_derivative if series.kind == "soft" else series.surface_pressure
    return solution.surface.l2_error(reference) / solution.surface.l2_norm()


@pytest.mark.parametrize("kind", PROBLEMS)
def test_plane_wave_meets_the_series(kind, sphere):
    series = SERIES[kind](K, 1.0, direction=DIRECTION)
    solution = PROBLEMS[kind](sphere, K).solve(PlaneWave(3 * DIRECTION, K, amplitude=2j))
    assert difference(solution.far_field(directions()), 2j * series.far_field(directions())) < 0.01
    assert difference(solution.scattered(POINTS), 2j * series.scattered(POINTS)) < 0.01
    assert difference(solution.field(POINTS), 2j * series.total(POINTS)) < 0.005
    levels = np.abs(series.far_field(directions())) > 0.1 * np.abs(series.far_field(directions())).max()
    strengths = solution.target_strength(directions()) - series.target_strength(directions())
    assert np.abs(strengths[levels]).max() < 0.3
    assert solution.scattering_cross_section() == pytest.approx(series.scattering_cross_section(), rel=0.01)
    absorbed = series.extinction_cross_section() - series.scattering_cross_section()
    assert solution.absorption_cross_section() == pytest.approx(absorbed, rel=0.01, abs=0.002)
    assert solution.radiated_power(1000.0, 1500.0) == pytest.approx(
        4 * solution.scattering_cross_section() / (2 * 1000 * 1500)
    )
    assert solution.surface.unit == ("Pa/m" if kind == "soft" else "Pa")


@pytest.mark.parametrize("kind", PROBLEMS)
def test_point_source_meets_the_series(kind, sphere):
    series = SERIES[kind](K, 1.0, source=SOURCE)
    solution = PROBLEMS[kind](sphere, K).solve(PointSource(SOURCE, K))
    assert difference(solution.scattered(POINTS), series.scattered(POINTS)) < 0.01
    assert difference(solution.field(POINTS), series.total(POINTS)) < 0.005


@pytest.mark.parametrize("kind", PROBLEMS)
def test_surface_values_converge_with_order_two(kind):
    errors, sizes = [], []
    series = SERIES[kind](1.5, 1.0, direction=DIRECTION)
    for h in (0.5, 0.25):
        mesh = meshes.sphere(1.0, h)
        solution = PROBLEMS[kind](mesh, 1.5).solve(PlaneWave(DIRECTION, 1.5), rtol=1e-8)
        errors.append(surface_error(solution, series))
        sizes.append(mesh.mean_edge_length)
    rate = np.log(errors[0] / errors[1]) / np.log(sizes[0] / sizes[1])
    assert rate == pytest.approx(2, abs=0.3), f"errors {errors}, rate {rate:.2f}"


QUADRATIC = {"hard": 2, "soft": 1}  # order of what is solved for on the surface


@pytest.mark.parametrize("kind", QUADRATIC)
def test_quadratic_functions_have_the_order_of_the_flat_triangles(kind):
    """Far field and pressure in P2 are those of the inscribed polyhedron, which differ by h^2 from those of the sphere.

    The slope on a sound-soft polyhedron goes as r^-c at the distance r from an edge, where c is the turn of the normal
    over pi, of order h. P2 resolves this within a triangle, so the slope differs from that of the sphere by h.
    """
    surfaces, fields, sizes = [], [], []
    series = SERIES[kind](1.5, 1.0, direction=DIRECTION)
    for h in (0.6, 0.3):
        mesh = meshes.sphere(1.0, h, volume=False)
        solution = PROBLEMS[kind](mesh, 1.5, space="P2").solve(PlaneWave(DIRECTION, 1.5), rtol=1e-8)
        surfaces.append(surface_error(solution, series))
        fields.append(difference(solution.far_field(directions()), series.far_field(directions())))
        sizes.append(mesh.mean_edge_length)
    finer = np.log(sizes[0] / sizes[1])
    assert np.log(fields[0] / fields[1]) / finer == pytest.approx(2, abs=0.3), fields
    assert np.log(surfaces[0] / surfaces[1]) / finer == pytest.approx(QUADRATIC[kind], abs=0.3), surfaces


def test_far_field_at_ten_elements_per_wavelength():
    """The rigid sphere at k a = 6, on vertices of the sphere itself as a user would mesh it: below 1 %."""
    k = 6.0
    problem = SoundHardScattering(meshes.sphere(1.0, 2 * np.pi / k / 10, volume=False), k)
    assert problem.elements_per_wavelength == pytest.approx(10, rel=0.1)
    solution = problem.solve(PlaneWave(DIRECTION, k), precision="single", rtol=1e-4)
    angles = np.linspace(0, np.pi, 181)
    around = np.outer(np.cos(angles), DIRECTION) + np.outer(np.sin(angles), [2.0, 1.0, 2.0] / np.float64(3))
    series = exact.rigid_sphere(k, 1.0, direction=DIRECTION)
    assert difference(solution.far_field(around), series.far_field(around)) < 0.01


@pytest.mark.variant
def test_loss_in_the_medium(sphere):
    k = 2.0 + 0.3j
    for kind in ("hard", "soft"):
        series = SERIES[kind](k, 1.0, direction=DIRECTION)
        problem = PROBLEMS[kind](sphere, k)
        solution = problem.solve(PlaneWave(DIRECTION, k))
        assert difference(solution.scattered(POINTS), series.scattered(POINTS)) < 0.01
        assert problem.eta == pytest.approx(0.5j if kind == "hard" else 2.0)
        with pytest.raises(ValueError, match="without loss"):
            problem.monostatic_target_strength([[0, 0, 1]])


def test_field_inside_is_zero_or_that_of_the_fluid(sphere):
    inside = np.array([[0.0, 0.0, 0.0], [0.3, -0.4, 0.2]])
    wave = PlaneWave(DIRECTION, K)
    for kind in ("hard", "soft", "impedance"):
        assert np.abs(PROBLEMS[kind](sphere, K).solve(wave).field(inside)).max() < 2e-3
    series = SERIES["fluid"](K, 1.0, direction=DIRECTION)
    both = np.concatenate([inside, POINTS])
    assert difference(PROBLEMS["fluid"](sphere, K).solve(wave).field(both), series.total(both)) < 0.01


def test_gradient_is_that_of_the_field(sphere):
    solution = PROBLEMS["impedance"](sphere, K).solve(PlaneWave(DIRECTION, K))
    step = 1e-4
    slopes = [(solution.field(POINTS + step * e) - solution.field(POINTS - step * e)) / (2 * step) for e in np.eye(3)]
    assert np.allclose(solution.gradient(POINTS), np.stack(slopes, axis=1), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kind", PROBLEMS)
def test_monostatic_strength_is_the_echo_of_each_direction(kind, sphere):
    problem = PROBLEMS[kind](sphere, K)
    toward_sonar = directions(5)
    one_by_one = [
        solution.target_strength(d)[0]
        for d, solution in zip(
            toward_sonar, problem.solve_all([PlaneWave(-d, K) for d in toward_sonar], rtol=1e-9), strict=True
        )
    ]
    assert np.allclose(problem.monostatic_target_strength(toward_sonar), one_by_one, atol=2e-3)
    assert np.allclose(problem.monostatic_target_strength(2 * toward_sonar, solver="gmres"), one_by_one, atol=2e-3)
    assert problem.system.factors is not None


def test_a_fluid_like_the_one_around_does_not_scatter(sphere):
    solution = FluidTransmission(sphere, K, K, 1.0).solve(PlaneWave(DIRECTION, K))
    assert np.abs(solution.far_field(directions())).max() < 5e-3
    assert solution.info.iterations <= 3


def test_an_admittance_of_zero_is_sound_hard(sphere):
    wave = PlaneWave(DIRECTION, K)
    hard = SoundHardScattering(sphere, K).solve(wave)
    same = ImpedanceScattering(sphere, K, admittance=0.0).solve(wave)
    assert np.allclose(same.surface.coefficients, hard.surface.coefficients, atol=1e-5)
    by_impedance = ImpedanceScattering(sphere, K, impedance=1 / ADMITTANCE)
    assert by_impedance.b == pytest.approx(ADMITTANCE)


@pytest.mark.filterwarnings("ignore:wavenumber times diameter")
def test_echoes_of_fluid_bodies_much_smaller_than_the_wavelength_are_right_or_told():
    mesh, axis = meshes.sphere(1.0, 0.5), [0.0, 0.0, 1.0]
    for k, solver in ((1e-3, "gmres"), (1e-5, "lu")):
        with warnings.catch_warnings():
            warnings.simplefilter("error", AccuracyWarning)
            solution = FluidTransmission(mesh, k, 1.7 * k, 0.4).solve(PlaneWave(axis, k), solver=solver)
        series = exact.fluid_sphere(k, 1.0, 1.7 * k, 0.4, direction=axis)
        assert abs(solution.far_field([axis]) / series.far_field([axis]) - 1)[0] < 2e-3
    with pytest.warns(AccuracyWarning, match="echo of a body of k a = 1.*e-07 .* smaller rtol, or solver='lu'"):
        FluidTransmission(mesh, 1e-7, 1.7e-7, 0.4).solve(PlaneWave(axis, 1e-7))
