"""Conductors much smaller than the wavelength, and solutions that did not converge: right, or refused with a reason."""

import numpy as np
import pytest

import calderon as cal

RADIUS = 0.15
THETA = np.array([0.3, 1.1, 2.0])


def wavenumber(frequency):
    return 2 * np.pi * frequency / cal.exact.SPEED_OF_LIGHT


@pytest.fixture(scope="module")
def sphere():
    return cal.mesh.sphere(RADIUS, 0.06)


def conductor(sphere, frequency, formulation="efie"):
    return cal.PECScattering(sphere, wavenumber(frequency), formulation=formulation)


def wave(frequency):
    return cal.PlaneWave([0, 0, 1], wavenumber(frequency), polarization=[1, 0, 0])


def decibels(one, two):
    return np.abs(10 * np.log10(one / two)).max()


@pytest.mark.parametrize(
    "frequency, formulation",
    [(1e8, "efie"), (1e7, "efie"), *(pytest.param(each, "cfie", marks=pytest.mark.variant) for each in (1e6, 1e5))],
)
def test_single_precision_is_right_within_a_hundredth_of_a_decibel(sphere, frequency, formulation):
    """The electric equation; variants have the combined one, at frequencies where the electric one is refused."""
    problem = conductor(sphere, frequency, formulation)
    single, info = problem.monostatic_rcs(THETA, 0.0, precision="single", rtol=1e-6, info=True)
    assert info.converged and info.residual < 1e-6
    assert decibels(single, problem.monostatic_rcs(THETA, 0.0, precision="double")) < 0.01


@pytest.mark.parametrize("frequency", [1e6, 1e5])
def test_the_electric_equation_in_single_precision_is_refused_where_rounding_loses_its_currents(sphere, frequency):
    problem = conductor(sphere, frequency)
    for precision in ("single", "mixed"):
        with pytest.raises(ValueError, match=f"precision='{precision}' at k times edge .* take precision='double' or"):
            problem.monostatic_rcs(THETA, 0.0, precision=precision)
    exact = cal.exact.mie_pec_sphere(problem.wavenumber, RADIUS).rcs(np.pi, 0.0)
    assert decibels(problem.monostatic_rcs(0.0, 0.0), exact) < 0.01
    strip = cal.PECAntenna(
        cal.mesh.plate([0.1, 0.01], 0.01), problem.wavenumber, cal.DeltaGap(line=[[0, -0.005, 0], [0, 0.005, 0]])
    )
    with pytest.raises(ValueError, match="the electric field equation in precision='single'"):
        strip.solve(1.0, precision="single")


@pytest.mark.filterwarnings("ignore:the matrix is singular to rounding")
def test_a_direct_solution_that_did_not_converge_is_an_error_unless_its_record_is_requested(sphere, monkeypatch):
    monkeypatch.setattr("calderon.formulations.checks.LOST_DIGITS", 0.0)
    problem = conductor(sphere, 1e5)
    for ask in (problem.monostatic_rcs, problem.scattering_amplitude):
        with pytest.raises(cal.ConvergenceError, match=r"LU has a relative residual of .*, not 1.0e-06") as caught:
            ask(THETA, 0.0, precision="single", rtol=1e-6)
        assert caught.value.solution.shape == (problem.unknowns, len(THETA))
        with pytest.warns(cal.AccuracyWarning, match="solutions did not converge: the largest relative residual"):
            _, info = ask(THETA, 0.0, precision="single", rtol=1e-6, info=True)
        assert not info.converged and info.residual == pytest.approx(caught.value.residuals[0])
    with pytest.raises(cal.ConvergenceError, match="assemble in double precision"):
        problem.solve(wave(1e5), solver="lu", precision="single", rtol=1e-6)


def test_iterations_of_a_sweep_that_did_not_converge_are_accepted_with_their_record(sphere):
    options = {"solver": "gmres", "maxiter": 2, "rtol": 1e-4}
    problem = cal.SoundHardScattering(sphere, 10.0)
    with pytest.raises(cal.ConvergenceError):
        problem.monostatic_target_strength(THETA, 0.0, **options)
    with pytest.warns(cal.AccuracyWarning, match="3 of 3 solutions did not converge"):
        levels, info = problem.monostatic_target_strength(THETA, 0.0, info=True, **options)
    assert levels.shape == (3,) and not info.converged and info.residual > 1e-3
    close, info = problem.monostatic_target_strength(THETA, 0.0, info=True)
    assert info.converged and np.allclose(close, problem.monostatic_target_strength(THETA, 0.0))


def test_no_direction_has_no_record(sphere):
    level, info = conductor(sphere, 1e8).monostatic_rcs(np.zeros(0), 0.0, info=True)
    assert level.shape == (0,) and info is None


def test_double_precision_keeps_its_direct_solutions(sphere):
    """They are not refined, so their numbers are those of the factors."""
    problem = conductor(sphere, 1e8)
    solution = problem.solve(wave(1e8), solver="lu")
    expected = problem.system.factors.solve(problem._right_hand_side(wave(1e8)))
    assert np.array_equal(solution.surface.coefficients, expected)


@pytest.mark.parametrize("frequency, formulation", [(1e6, "cfie"), (1e5, "cfie"), (1e5, "efie")])
def test_extinction_of_a_small_conductor_is_its_scattering(sphere, frequency, formulation):
    solution = conductor(sphere, frequency, formulation).solve(wave(frequency))
    exact = cal.exact.mie_pec_sphere(wavenumber(frequency), RADIUS).scattering_cross_section()
    assert solution.extinction_cross_section() == pytest.approx(exact, rel=2e-2)


def test_extinction_of_a_small_body_with_loss_is_warned_of(sphere):
    small = [cal.DielectricScattering(sphere, wavenumber(1e6), value).solve(wave(1e6)) for value in (3.0, 3.0 + 1e-6j)]
    scattered = small[0].scattering_cross_section()
    assert small[0].extinction_cross_section() == scattered
    with pytest.warns(cal.AccuracyWarning, match="has its error: add scattering_cross_section"):
        small[1].extinction_cross_section()


def test_the_magnetic_equation_is_refused_for_small_bodies(sphere):
    with pytest.raises(
        ValueError, match=r"formulation='mfie' at k times diameter = 0.0005\d: .* take formulation='cfie'"
    ):
        conductor(sphere, 5e4, "mfie")
