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


def test_open_surfaces_have_none():
    with pytest.raises(ValueError, match="the surface is open"):
        cal.resonances(cal.PECScattering(cal.mesh.plate([1.0, 1.0], 0.5), 4.0, formulation="efie"), 1e8, 2e8)
