"""Modes of cavities in a conductor against those of a cube in closed form."""

import numpy as np
import pytest

import calderon as cal

pytestmark = pytest.mark.filterwarnings("ignore:.*elements per wavelength")
METRE = 299792458.0 / (2 * np.pi)
"""Hz of a wavenumber of 1 / m in vacuum."""


@pytest.mark.variant
def test_a_cube_has_its_modes_with_their_multiplicities():
    """k = pi sqrt(2) three times and pi sqrt(3) twice."""
    problem = cal.PECScattering(cal.mesh.cube(1.0, 0.25), 4.0, formulation="efie")
    modes = cal.resonances(problem, 4.0 * METRE, 6.0 * METRE)
    k = np.array([each.wavenumber for each in modes])
    exact = np.pi * np.sqrt([2, 2, 2, 3, 3])
    assert k.shape == exact.shape, k
    assert np.abs(k / exact - 1).max() < 0.02, k
    centre = problem.mesh.bounds.mean(axis=0)
    outside = np.linalg.norm(modes[0].electric([centre + [1.5, 0.2, 0.1]]))
    assert outside < 0.02 * np.linalg.norm(modes[0].electric([centre + [0.05, 0.1, 0.02]]))


@pytest.mark.variant
def test_even_and_odd_modes_of_half_a_cavity_are_those_of_the_cavity():
    """Half of a cube on one side of z = 0: currents that are odd, as at an electric wall, and even ones."""
    cube = cal.mesh.cube(1.0, 0.5)
    part = cal.TriangleMesh(cube.vertices, cube.triangles[cube.centroids[:, 2] > 0])
    found = list[complex]()
    for parity, sign in (("odd", -1.0), ("even", 1.0)):
        half = cal.PECScattering(part, 4.0, formulation="efie", mirrors={"z": parity})
        modes = cal.resonances(half, 4.0 * METRE, 5.2 * METRE)
        assert modes
        for mode in modes:  # E is as odd as J is: its image is R E
            one, image = mode.electric([[0.1, 0.2, 0.3], [0.1, 0.2, -0.3]])
            assert np.abs(image - sign * one * [1, 1, -1]).max() < 1e-9 * np.abs(one).max()
        found += [mode.wavenumber for mode in modes]
    whole = cal.PECScattering(part.mirrored("z"), 4.0, formulation="efie")
    together = [mode.wavenumber for mode in cal.resonances(whole, 4.0 * METRE, 5.2 * METRE)]
    assert len(found) == len(together) == 3
    assert np.abs(np.sort(np.real(found)) - np.sort(np.real(together))).max() < 1e-6


def test_open_surfaces_have_none():
    with pytest.raises(ValueError, match="the surface is open"):
        cal.resonances(cal.PECScattering(cal.mesh.plate([1.0, 1.0], 0.5), 4.0, formulation="efie"), 1e8, 2e8)
