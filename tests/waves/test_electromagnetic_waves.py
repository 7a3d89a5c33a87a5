"""Electromagnetic waves satisfy Maxwell's equations, add within one medium, and refuse bad input."""

import copy
import pickle

import numpy as np
import pytest

from calderon.waves import (
    ElectricDipole,
    ElectromagneticPlaneWave,
    ElectromagneticSuperposition,
    MagneticDipole,
    PlaneWave,
)

WAVES = [
    ElectromagneticPlaneWave([1, 2, -2], [2, 0, 1], 3.0),
    ElectromagneticPlaneWave([0, 0, 5], [1, 1j, 0], 2.0 + 0.3j, amplitude=2 - 1j, impedance=1.5 - 0.2j),
    PlaneWave(direction=[0, 1, 0], polarization=[0, 0, 1], wavenumber=1.0),
    ElectricDipole([0.1, -0.2, 0.3], [1, 0, 0], 2.0, impedance=376.73),
    ElectricDipole([0, 0, 0], [1j, 0.5, 0], 2 + 1j),
    MagneticDipole([0, 0, 0.1], [0, 1, 0.3], 2.0, impedance=0.5),
    ElectromagneticPlaneWave([1, 0, 0], [0, 0, 1], 2.0) + 0.5j * ElectricDipole([0, 0, 0.2], [0, 1, 0], 2.0),
]
POINTS = np.array([[1.0, 0.4, 0.2], [-0.7, 1.1, 0.5], [0.3, -0.8, -1.4]])


def curl(f, x, h=1e-3):
    """Fourth-order differences of a vector field (n, 3)."""
    D = [(8 * (f(x + h * e) - f(x - h * e)) - f(x + 2 * h * e) + f(x - 2 * h * e)) / (12 * h) for e in np.eye(3)]
    return np.stack([D[1][:, 2] - D[2][:, 1], D[2][:, 0] - D[0][:, 2], D[0][:, 1] - D[1][:, 0]], axis=1)


@pytest.mark.parametrize("wave", WAVES, ids=str)
def test_wave_satisfies_maxwells_equations(wave):
    k, eta, E, H = wave.wavenumber, wave.impedance, wave.electric(POINTS), wave.magnetic(POINTS)
    assert E.shape == H.shape == (3, 3)
    assert np.abs(curl(wave.electric, POINTS) - 1j * k * eta * H).max() < 1e-9 * np.abs(E).max()
    assert np.abs(curl(wave.magnetic, POINTS) + 1j * k / eta * E).max() < 1e-9 * np.abs(H).max()


def test_plane_wave_has_its_amplitude_and_polarization():
    wave = ElectromagneticPlaneWave([0, 0, 2], [3, 4, 0], 2.0, amplitude=5j, impedance=2.0)
    assert np.allclose(wave.electric([[7, 8, 0]]), [[3j, 4j, 0]], rtol=1e-15)
    assert np.allclose(wave.magnetic([[7, 8, 0]]), [[-2j, 1.5j, 0]], rtol=1e-15)
    circular = ElectromagneticPlaneWave([1, 0, 0], [0, 1, 1j], 2.0)
    assert np.allclose(np.linalg.norm(circular.electric(POINTS), axis=1), 1, rtol=1e-14)
    rounded = ElectromagneticPlaneWave([1, 1, 1], [0.70710678, -0.70710678 + 1e-8, 0], 1.0)
    assert abs(rounded.polarization @ rounded.direction) < 1e-16
    with pytest.raises(ValueError, match="read-only"):
        wave.polarization[0] = 1


def test_plane_wave_with_a_polarization_is_electromagnetic():
    """One name for users, in any order of keywords; without a polarization it is the scalar wave, as ever."""
    wave = PlaneWave([0, 0, 1], 3.0, 2.0, polarization=[1, 0, 0], impedance=5.0)
    assert isinstance(wave, ElectromagneticPlaneWave) and not isinstance(wave, PlaneWave)
    assert (wave.wavenumber, wave.amplitude, wave.impedance) == (3.0, 2.0, 5.0)
    assert isinstance(PlaneWave([0, 0, 1], 3.0, 1.0, [1, 0, 0]), ElectromagneticPlaneWave)
    scalar = PlaneWave([0, 0, 1], 3.0)
    for copied in (copy.deepcopy(scalar), pickle.loads(pickle.dumps(scalar))):
        assert type(copied) is PlaneWave and np.array_equal(copied(POINTS), scalar(POINTS))
    copied = pickle.loads(pickle.dumps(wave))
    assert np.array_equal(copied.electric(POINTS), wave.electric(POINTS))
    for call in (
        lambda: PlaneWave([0, 0, 1], 3.0, impedance=5.0),
        lambda: PlaneWave([0, 0, 1], 3.0, 1.0, [1, 0, 0], 5.0),
    ):
        with pytest.raises(TypeError):
            call()


@pytest.mark.parametrize("dipole", [ElectricDipole, MagneticDipole])
def test_dipole_radiates_its_power_into_its_far_field(dipole):
    wave = dipole([0.1, 0.2, 0.3], [1, 2j, 0], 2.0, 3.0)
    d = np.concatenate([np.eye(3), -np.eye(3)])  # six directions integrate |F|^2, a quadratic polynomial, exactly
    power = np.sum(np.abs(wave.far_field(d)) ** 2) * 4 * np.pi / 6 / (2 * 3.0)
    assert wave.radiated_power() == pytest.approx(power, rel=1e-12)
    assert dipole.kind in str(wave)


def test_waves_add_and_scale():
    a, b = ElectromagneticPlaneWave([1, 0, 0], [0, 1, 0], 2.0), ElectricDipole([0, 0, 0], [0, 0, 1], 2.0)
    total = np.float64(2) * a + b * 1j - a
    assert isinstance(total, ElectromagneticSuperposition) and len(total.terms) == 3
    assert (total.wavenumber, total.impedance) == (2.0, 1.0)
    assert np.allclose(total.electric(POINTS), a.electric(POINTS) + 1j * b.electric(POINTS), rtol=1e-14)
    assert np.allclose((-total).magnetic(POINTS), -a.magnetic(POINTS) - 1j * b.magnetic(POINTS), rtol=1e-14)
    with pytest.raises(ValueError, match="one wavenumber"):
        a + ElectricDipole([0, 0, 0], [0, 0, 1], 3.0)
    with pytest.raises(ValueError, match="one impedance"):
        a + ElectricDipole([0, 0, 0], [0, 0, 1], 2.0, 376.7)
    with pytest.raises(ValueError, match="factor"):
        np.inf * a
    for other in (1, PlaneWave([1, 0, 0], 2.0)):  # sound and light do not add
        with pytest.raises(TypeError):
            a + other
        with pytest.raises(TypeError):
            a - other


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: ElectromagneticPlaneWave([0, 0, 1], [0, 0.1, 1], 1.0), "orthogonal to the direction"),
        (lambda: ElectromagneticPlaneWave([0, 0, 1], [0, 0, 0], 1.0), "not be zero"),
        (lambda: ElectromagneticPlaneWave([0, 0, 1], [1, np.nan, 0], 1.0), "finite"),
        (lambda: ElectromagneticPlaneWave([0, 0, 1], [1, 0], 1.0), "three"),
        (lambda: ElectromagneticPlaneWave([0, 0, 0], [1, 0, 0], 1.0), "direction of a plane wave"),
        (lambda: ElectromagneticPlaneWave([0, 0, 1], [1, 0, 0], 0), "not be zero"),
        (lambda: ElectromagneticPlaneWave([0, 0, 1], [1, 0, 0], 1 - 1j), "conjugate"),
        (lambda: ElectromagneticPlaneWave([0, 0, 1], [1, 0, 0], 1, impedance=0), "impedance"),
        (lambda: ElectricDipole([0, 0], [1, 0, 0], 1.0), "position of a dipole"),
        (lambda: ElectricDipole([0, 0, 0], [0, 0, 0], 1.0), "moment of a dipole"),
        (lambda: ElectricDipole([0, 0, 0], [1, 0, 0], 0), "wavenumber of a dipole"),
        (lambda: MagneticDipole([0, 0, 0], [1, 0, 0], 1.0).magnetic([[0, 0, 0]]), "on the dipole"),
    ],
)
def test_bad_input_is_refused(call, text):
    with pytest.raises(ValueError, match=text):
        call()
