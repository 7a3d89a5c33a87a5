"""Plane waves on metal between layers: the image in a conductor, reciprocity, balance of power, mistakes."""

import numpy as np
import pytest

import calderon as cal
from calderon.exact.angular import line_of_sight

LAYERS = [cal.Layer(1.5e-3, 2.2), cal.Layer(1e-3, 4.0)]
FREQUENCY = 4.4e9
THERE, BACK = (0.6, 0.3, "V"), (1.1, 2.0, "H")
VECTOR = {"V": 1, "H": 2}
pytestmark = pytest.mark.filterwarnings("ignore:edges of up to")


def stacked_patches():
    """A patch on each of two interfaces."""
    one, two = cal.planar.patch(30e-3, 20e-3, h=7e-3, z=1.5e-3), cal.planar.patch(20e-3, 24e-3, h=7e-3, z=2.5e-3)
    points = np.concatenate([one.vertices, two.vertices + [3e-3, 0, 0]])
    return cal.TriangleMesh(points, np.concatenate([one.triangles, two.triangles + len(one.vertices)]))


@pytest.fixture(scope="module")
def patches():
    probe = cal.ProbePort((-4e-3, 1e-3), radius=0.5e-3)
    return cal.PlanarProblem(cal.Stack(LAYERS, below="pec"), stacked_patches(), ports=[probe])


def test_metal_over_a_conductor_scatters_as_with_its_image():
    """Mirrored currents are opposite, in the wave less the mirrored wave."""
    height, k = 0.03, 2 * np.pi * 2e9 / 299792458.0
    plate = cal.mesh.plate((0.1, 0.07), 0.03)
    points = plate.vertices * [1, 1, 0] + [0.01, 0, height]
    alone = cal.PlanarProblem(cal.Stack([cal.Layer(height)], below="pec"), cal.TriangleMesh(points, plate.triangles))
    both = cal.TriangleMesh(
        np.concatenate([points, points * [1, 1, -1]]), np.concatenate([plate.triangles, plate.triangles + len(points)])
    )
    (r,), *vectors = line_of_sight([0.5], [0.4])
    theta, phi, mirror = np.array([0.2, 0.8, 1.3]), np.array([0.1, 2.0, 4.0]), np.array([1, 1, -1])
    problem = cal.PECScattering(both, k, formulation="efie")
    for polarization, e in zip("VH", vectors, strict=True):
        wave = cal.PlaneWave(-r, k, polarization=e[0])
        image = cal.PlaneWave(-r * mirror, k, polarization=e[0] * mirror)
        expected = problem.solve(wave - image).far_field(theta, phi)
        found = alone.scatter(2e9, 0.5, 0.4, polarization).far_field(theta, phi)
        assert np.abs(found - expected).max() < 1e-5 * np.abs(expected).max()


@pytest.fixture(scope="module")
def echoes(patches):
    return [patches.scatter(FREQUENCY, *each) for each in (THERE, BACK)]


def test_waves_back_and_forth(patches, echoes):
    """Source and receiver may be exchanged; a radar sees the bistatic RCS of its own direction."""
    received = [
        (echo.far_field(*to[:2]) * line_of_sight(*to[:2])[VECTOR[to[2]]]).sum()
        for echo, to in zip(echoes, (BACK, THERE), strict=True)
    ]
    assert received[0] == pytest.approx(received[1], rel=1e-9)
    level = patches.monostatic_rcs(FREQUENCY, [0.6, 0.7], 0.3, "HV")
    assert level[0] == pytest.approx(echoes[0].rcs(*THERE[:2], "H"), rel=1e-9)


def test_an_antenna_receives_what_it_sends(patches, echoes):
    """Its short-circuit current for a wave from r is 4 pi F(r) . e / (i omega mu0) for 1 V at the port."""
    sent, omega_mu = patches.solve(FREQUENCY), 2 * np.pi * FREQUENCY * 4e-7 * np.pi
    far = (sent.far_field(*THERE[:2]) * line_of_sight(*THERE[:2])[1]).sum()
    assert echoes[0].feed_currents[0] == pytest.approx(4 * np.pi * far / (1j * omega_mu), rel=1e-6)
    assert abs(sent.power.lost) < 1e-3 * sent.power.accepted


def test_power_that_patches_take(echoes):
    """Without losses all of it is radiated or travels along the layers; with a probe, and open below, too."""
    open_below = cal.PlanarProblem(cal.Stack(LAYERS), stacked_patches())
    for echo in (echoes[0], open_below.scatter(FREQUENCY, 2.5, 0.3, "H")):
        power = echo.power
        assert power.radiated + power.surface_waves == pytest.approx(power.taken, rel=1e-3)
        assert power.surface_waves > 0.02 * power.taken


def test_mistakes_are_named(patches):
    with pytest.raises(ValueError, match="no plane wave comes from below, where the stack ends with a wall"):
        patches.scatter(FREQUENCY, 2.5, 0.0)
    with pytest.raises(ValueError, match="a wave along the layers does not reach the metal"):
        patches.scatter(FREQUENCY, np.pi / 2, 0.0)
    with pytest.raises(ValueError, match="unknown polarization 'TM': choose 'V' or 'H'"):
        patches.scatter(FREQUENCY, 0.0, 0.0, "TM")
    with pytest.raises(ValueError, match="choose 'VV' or 'VH' or 'HV' or 'HH'"):
        patches.monostatic_rcs(FREQUENCY, 0.0, 0.0, "V")
