"""Microstrip lines: waves, effective permittivity, the line-fed patch of Sheen et al. (1990), mistakes."""

import numpy as np
import pytest

import calderon as cal

BOARD = cal.Stack([cal.Layer(0.794e-3, eps_r=2.2)], below="pec")
OFFSET = -12.45e-3 / 2 + 2.09e-3 + 1.23e-3
PORT = cal.LinePort((-30e-3, OFFSET), (1, 0), 2.46e-3, 18e-3)


@pytest.fixture(scope="module")
def patch():
    mesh = cal.planar.line_fed_patch(16e-3, 12.45e-3, 2.46e-3, 22e-3, h=2.5e-3, offset=OFFSET, z=BOARD.top)
    return cal.PlanarProblem(BOARD, mesh, ports=[PORT])


def test_the_first_resonance_of_a_line_fed_patch(patch):
    """S11 is least at 7.58 GHz by finite differences, -22 dB."""
    level = [abs(patch.scattering_matrix(f)[0, 0]) for f in (0.985 * 7.58e9, 7.58e9, 1.015 * 7.58e9)]
    assert level[1] < 0.2 < min(level[0], level[2])


def test_waves_on_a_line(patch):
    """The effective permittivity of a strip of 3.1 heights on eps 2.2 is 1.87 (Hammerstad and Jensen 1980), and grows
    with frequency; what comes back is the fraction S of what travels toward the patch."""
    (wave,) = patch.line_waves(7.6e9)
    effective = (wave.beta / patch.stack.at(7.6e9).k0) ** 2
    assert 1.87 < effective < 1.95
    assert np.allclose(patch.scattering_matrix(7.6e9), wave.back / wave.toward)


def test_mistakes_are_named(patch):
    with pytest.raises(ValueError, match="a line of 2.46 mm needs a length of 9.84 mm"):
        cal.LinePort((0, 0), (1, 0), 2.46e-3, 5e-3)
    with pytest.raises(cal.MeshError, match=r"at \(-30, 0\) mm found 0 lines of edges"):
        cal.PlanarProblem(BOARD, patch.mesh, ports=[cal.LinePort((-30e-3, 0), (1, 0), 2.46e-3, 18e-3)])
    with pytest.raises(ValueError, match="1 of 2 ports are lines"):
        cal.PlanarProblem(BOARD, patch.mesh, ports=[PORT, cal.ProbePort((0, 0), radius=0.2e-3)])
