"""Strip dipoles against the theory of thin antennas, power and reciprocity of ports, and how feeds are found."""

import numpy as np
import pytest
from scipy.optimize import brentq

import calderon as cal

LENGTH, WIDTH = 1.0, 1.0 / 250
MIDDLE = cal.DeltaGap(line=[[-WIDTH / 2, 0, 0], [WIDTH / 2, 0, 0]])


def strip(along, across=1, length=LENGTH, at=0.0):
    """A strip along y of so many cells, about (at, 0, 0)."""
    x, y = np.linspace(-WIDTH / 2, WIDTH / 2, across + 1) + at, np.linspace(-length / 2, length / 2, along + 1)
    vertices = np.stack([*(part.ravel() for part in np.meshgrid(x, y)), np.zeros(len(x) * len(y))], axis=1)
    a = (np.arange(along)[:, None] * (across + 1) + np.arange(across)).ravel()
    b = a + across + 1
    return cal.TriangleMesh(vertices, np.concatenate([np.stack([a, a + 1, b + 1], 1), np.stack([a, b + 1, b], 1)]))


def dipole(mesh, wavelengths, feed=MIDDLE):
    return cal.PECAntenna(mesh, 2 * np.pi * wavelengths / LENGTH, feed)


def resonance(mesh):
    """Length in wavelengths at which the reactance vanishes, and the resistance in ohm there."""
    reactance = lambda x: -dipole(mesh, x).solve().input_impedance.imag  # noqa: E731
    length = brentq(reactance, 0.46, 0.49, xtol=1e-4)
    return length, dipole(mesh, length).solve().input_impedance.real


@pytest.fixture(scope="module")
def half_wave():
    return dipole(strip(60), 0.479).solve()


def test_resonant_length_and_resistance_of_a_strip_dipole():
    """0.47 to 0.485 wavelengths and 66 to 76 ohm, hardly changed by finer meshes along and across the strip."""
    figures = np.array([resonance(strip(*cells)) for cells in ((20, 1), (40, 1), (40, 2))])
    assert np.all((0.47 < figures[:, 0]) & (figures[:, 0] < 0.485)), figures
    assert np.all((66 < figures[:, 1]) & (figures[:, 1] < 76)), figures
    assert np.ptp(figures[:, 0]) < 2e-3 and np.ptp(figures[:, 1]) < 0.5, figures


def test_power_is_conserved(half_wave):
    """What the feed delivers leaves through a large sphere: the Galerkin equation conserves power."""
    assert abs(half_wave.radiated_power() / half_wave.input_power - 1) < 1e-8
    current = abs(half_wave.feed_currents[0])
    assert half_wave.input_power == pytest.approx(current**2 * half_wave.input_impedance.real / 2)


def test_gain_of_half_wave_and_short_dipoles(half_wave):
    broadside = half_wave.gain(np.pi / 2, 0.0)
    assert broadside == pytest.approx(1.64, rel=1e-2)
    assert half_wave.gain(np.pi / 2, 0.0, decibels=True) == pytest.approx(2.15, abs=0.05)
    short = dipole(strip(20), 0.02).solve()
    assert short.directivity(np.pi / 2, 0.0) == pytest.approx(1.5, rel=1e-3)
    # along y: the far field is along phi-hat at phi = 0 and vanishes on the axis
    assert short.gain(np.pi / 2, 0.0, "V") < 1e-8 * short.gain(np.pi / 2, 0.0, "H")
    assert short.gain(np.pi / 2, np.pi / 2) < 1e-4
