"""Microstrip lines: waves, effective permittivity, the line-fed patch of Sheen et al. (1990), mistakes."""

import numpy as np
import pytest
from scipy.special import ellipk

import calderon as cal

BOARD = cal.Stack([cal.Layer(0.794e-3, eps_r=2.2)], below="pec")
OFFSET = -12.45e-3 / 2 + 2.09e-3 + 1.23e-3
PORT = cal.planar.LinePort((-30e-3, OFFSET), (1, 0), 2.46e-3, 18e-3)


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
        cal.planar.LinePort((0, 0), (1, 0), 2.46e-3, 5e-3)
    with pytest.raises(cal.MeshError, match=r"at \(-30, 0\) mm found 0 lines of edges"):
        cal.PlanarProblem(BOARD, patch.mesh, ports=[cal.planar.LinePort((-30e-3, 0), (1, 0), 2.46e-3, 18e-3)])
    with pytest.raises(ValueError, match="a line needs a conductor below or above"):
        cal.planar.line_parameters(cal.Stack([cal.Layer(0.794e-3)]), 2.46e-3, 1e9)


@pytest.mark.parametrize(
    "eps, height, width, expected, effective",
    [(2.2, 0.794e-3, 2.46e-3, 49.83, 1.8818), (9.8, 0.635e-3, 0.6e-3, 50.66, 6.5484), (1.0, 1e-3, 1e-3, 126.42, 1.0)],
)
def test_microstrip_lines(eps, height, width, expected, effective):
    """The formulae of Hammerstad and Jensen (1980), to 0.2 %."""
    wave = cal.planar.line_parameters(cal.Stack([cal.Layer(height, eps)], below="pec"), width, 1e8)
    assert wave.impedance == pytest.approx(expected, rel=3e-3)
    assert wave.permittivity == pytest.approx(effective, rel=3e-3)


def test_a_line_between_conductors_and_one_with_losses():
    """Z_c = 30 pi / sqrt(eps) K(k) / K(k'), 1 / k = cosh(pi w / 2b); losses make beta complex."""
    triplate = cal.Stack([cal.Layer(1e-3, 2.2), cal.Layer(1e-3, 2.2)], below="pec", above="pec")
    wave = cal.planar.line_parameters(triplate, 1e-3, 1e9, z=1e-3)
    k = 1 / np.cosh(np.pi / 4)
    assert wave.impedance == pytest.approx(30 * np.pi / 2.2**0.5 * ellipk(k**2) / ellipk(1 - k**2), rel=2e-3)
    assert wave.permittivity == pytest.approx(2.2, rel=1e-6)
    lossy = cal.Stack([cal.Layer(0.794e-3, 2.2, tan_delta=0.01)], below="pec")
    assert 0.8 < cal.planar.line_parameters(lossy, 2.46e-3, 1e9).permittivity.imag / (0.01 * 1.88) < 1.0


def test_line_ports_next_to_probes(patch):
    """S of a line and a probe is symmetric, as both are relative to power, and no power is made; a mesh with one or two
    cells across has a line of its own."""
    both = cal.PlanarProblem(BOARD, patch.mesh, ports=[PORT, cal.ProbePort((3e-3, 2e-3), radius=0.3e-3)])
    s = both.scattering_matrix(7.6e9)
    assert s[0, 1] == pytest.approx(s[1, 0], rel=0.02) and abs(s[0, 1]) > 0.05
    assert np.linalg.norm(s, 2) < 1
