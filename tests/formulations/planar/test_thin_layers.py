"""Metal next to layers much thinner than its triangles: capacitors, coats that vanish, plates that become one."""

import warnings

import numpy as np
import pytest

import calderon as cal
from calderon.exact.vacuum import SPEED_OF_LIGHT, VACUUM_IMPEDANCE

EPS0 = 1 / (SPEED_OF_LIGHT * VACUUM_IMPEDANCE)
LENGTH, WIDTH, H = 20e-3, 16e-3, 4e-3
PROBE = cal.ProbePort((-4e-3, 1e-3), radius=0.5e-3)
BOARD = cal.Layer(1.6e-3, 4.4, tan_delta=0.02)
pytestmark = pytest.mark.filterwarnings("ignore:edges of up to")


def impedance(layers, frequency, z, ports=PROBE):
    mesh = cal.planar.patch(LENGTH, WIDTH, H, z=z)
    problem = cal.PlanarProblem(cal.Stack(layers, below="pec"), mesh, ports)
    return complex(np.ravel(problem.solve(frequency, method="dense").input_impedances)[0])


def test_the_capacitance_of_a_patch_becomes_that_of_parallel_plates():
    """C d / (eps A) falls to 1 with d, by the fringing field: d (1 + log(2 pi w / d)) / w and less."""
    found = []
    for ratio in (0.1, 1e-4):
        d, f = ratio * H, 1e6
        z = impedance([cal.Layer(d, 2.2)], f, d)
        found.append(d / (2.2 * EPS0 * LENGTH * WIDTH * 2 * np.pi * f * z.imag) - 1)
        assert 0.0 < found[-1] < 2 * d * (1 + np.log(2 * np.pi * LENGTH / d)) / (2.2 * WIDTH)
    assert np.all(np.diff(found) < 0) and found[-1] < 5e-4


@pytest.mark.variant
def test_a_coat_that_vanishes():
    """The change falls in proportion to the thickness."""
    bare = impedance([BOARD], 5e9, BOARD.thickness)
    changes = []
    for thickness in (1e-5, 1e-6, 1e-7):
        coated = impedance([BOARD, cal.Layer(thickness, 4.0)], 5e9, BOARD.thickness)
        changes.append(abs(coated - bare) / abs(bare))
    slopes = np.array(changes) / [1e-5, 1e-6, 1e-7]
    assert np.all(np.diff(changes) < 0) and changes[-1] < 1e-3
    assert np.all(slopes[1:] > slopes[:-1]) and slopes[2] < 1.05 * slopes[1]


@pytest.mark.variant
def test_two_plates_that_become_one():
    """The echo of two equal patches on both faces of a prepreg is that of one as it vanishes, by matrices and grids."""
    one = cal.planar.patch(LENGTH, WIDTH, H, z=BOARD.thickness)
    alone = cal.PlanarProblem(cal.Stack([BOARD], below="pec"), one).scatter(5e9, 0.3, 0.2, method="dense")
    expected = float(np.ravel(alone.rcs(0.3, 0.2))[0])
    stack = cal.Stack([BOARD, cal.Layer(1e-6, 4.4, tan_delta=0.02)], below="pec")
    both = cal.mesh.merge([one, one.translated([0, 0, 1e-6])])
    found = [
        float(np.ravel(cal.PlanarProblem(stack, both).scatter(5e9, 0.3, 0.2, method=method).rcs(0.3, 0.2))[0])
        for method in ("dense", "fft")
    ]
    assert abs(found[0] / expected - 1) < 1.2e-3
    assert abs(found[1] / found[0] - 1) < 1e-3


def test_a_plane_closer_to_a_probe_than_its_radius_is_warned_of():
    """The field of a probe is that of a line within its radius: a patch 0.1 mm above that which it feeds sees it."""
    stack = cal.Stack([BOARD, cal.Layer(1e-4, 2.2), cal.Layer(9e-4, 2.2)], below="pec")
    one = cal.planar.patch(LENGTH, WIDTH, H, z=BOARD.thickness)
    with pytest.warns(cal.AccuracyWarning, match="conductor 0.1 mm above the end of the probe .* planar.via"):
        cal.PlanarProblem(stack, cal.mesh.merge([one, one.translated([0, 0, 1e-4])]), PROBE)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cal.PlanarProblem(stack, cal.mesh.merge([one, one.translated([0, 0, 1e-3])]), PROBE)
