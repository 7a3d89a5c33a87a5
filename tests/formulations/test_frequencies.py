"""Frequencies instead of wavenumbers, and waves that take k from their problem."""

import numpy as np
import pytest

import calderon as cal

BALL = cal.mesh.sphere(radius=0.5, h=0.35)
C0 = 299_792_458.0


def test_a_frequency_with_a_speed_of_sound_is_a_wavenumber():
    problem = cal.SoundHardScattering(BALL, frequency=300.0, speed_of_sound=1500.0)
    assert problem.wavenumber == 2 * np.pi * 300 / 1500
    assert problem.at(1.0).frequency == pytest.approx(1500 / (2 * np.pi))
    given = cal.SoundSoftScattering(BALL, 1.0, speed_of_sound=1500.0)
    assert given.frequency == pytest.approx(1500 / (2 * np.pi)) and cal.SoundSoftScattering(BALL, 1.0).frequency is None
    fluid = cal.FluidTransmission(BALL, frequency=300.0, speed_of_sound=1500.0, interior_speed_of_sound=750.0,
                                  density_ratio=1.1)  # fmt: skip
    assert fluid.interior_wavenumber == 2 * fluid.wavenumber
    assert fluid.at(0.4).interior_wavenumber == pytest.approx(0.8)


def test_in_vacuum_the_speed_is_that_of_light():
    problem = cal.PECScattering(BALL, frequency=1e8)
    assert problem.wavenumber == 2 * np.pi * 1e8 / C0 and problem.at(2.0).frequency == pytest.approx(2 * C0 / 2 / np.pi)
    assert cal.DielectricScattering(BALL, frequency=1e8, permittivity=2.0).wavenumber == problem.wavenumber
    strip = cal.mesh.plate(lengths=[0.06, 0.48], h=0.06)
    antenna = cal.PECAntenna(strip, frequency=3e8, feed=cal.DeltaGap(line=[[-0.03, 0, 0], [0.03, 0, 0]]))
    assert antenna.at(1.0).frequency == pytest.approx(C0 / 2 / np.pi)


@pytest.mark.parametrize(
    "given, error, text",
    [
        ({}, TypeError, "needs wavenumber=k in 1/m, or frequency= in Hz with speed_of_sound="),
        ({"frequency": 300.0}, TypeError, "needs speed_of_sound="),
        ({"frequency": -1.0, "speed_of_sound": 1500.0}, ValueError, "frequency must be a positive number"),
        ({"wavenumber": 3.0, "frequency": 300.0, "speed_of_sound": 1500.0}, ValueError, "give one of the two"),
        ({"wavenumber": 3.0, "speed_of_sound": 0.0}, ValueError, "speed_of_sound must be a positive number"),
    ],
)
def test_refusals(given, error, text):
    with pytest.raises(error, match=text):
        cal.SoundHardScattering(BALL, **given)


def test_waves_take_their_wavenumber_from_the_problem():
    problem = cal.SoundHardScattering(BALL, 1.3)
    wave = cal.PlaneWave(direction=[1, 0, 0], amplitude=2.0) + cal.PointSource([0, 3.0, 0])
    solution = problem.solve(wave)
    known = cal.PlaneWave([1, 0, 0], 1.3, 2.0) + cal.PointSource([0, 3.0, 0], 1.3)
    assert np.array_equal(solution.surface.coefficients, problem.solve(known).surface.coefficients)
    assert solution.incident.wavenumber == 1.3 and wave.wavenumber is None
    assert "k of the problem" in str(cal.PlaneWave([1, 0, 0]))
    for call in (lambda: wave([[0, 0, 0]]), lambda: cal.ElectricDipole([0, 0, 0], [0, 0, 1]).electric([[1.0, 0, 0]])):
        with pytest.raises(ValueError, match="takes that of the problem"):
            call()
    with pytest.raises(ValueError, match="waves add only at one wavenumber"):
        wave + cal.PlaneWave([1, 0, 0], 1.3)
    dipole = cal.MagneticDipole([0, 0, 2.0], [1, 0, 0], impedance=3.0)
    assert dipole.at(1.5).electric([[1.0, 0, 0]]) == pytest.approx(
        cal.MagneticDipole([0, 0, 2.0], [1, 0, 0], 1.5, 3.0).electric([[1.0, 0, 0]])
    )
