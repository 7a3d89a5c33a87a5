"""The problem of the tutorial on finite and boundary elements of bempp-cl: a cube of index 1/2, k = 6."""

import warnings

import numpy as np
import pytest

import calderon as cal

pytest.importorskip("skfem")
DIRECTIONS = np.array([[1, 1, 1], [-1, -1, -1], [1, 0, 0], [0, 0, -1], [0, 1, 1], [1, -1, 0]])
PEER = {
    8: [-0.90389 + 0.91817j, 0.00067 - 0.07032j, -0.32665 - 0.18287j, 0.06221 + 0.153j, -0.67684 + 0.1484j,
        0.118 - 0.18294j],
    12: [-0.8542 + 0.89393j, 0.00369 - 0.07063j, -0.32058 - 0.19334j, 0.06033 + 0.15475j, -0.67535 + 0.13892j,
         0.12391 - 0.18347j],
}  # fmt: skip
"""Far fields of bempp-cl 0.4.2 with scikit-fem 12, by cells a side: its tutorial's equation, u in P1, du/dn in DP0."""


@pytest.mark.variant
def test_the_far_field_is_that_of_bempp():
    """Its errors are of second order in the size of the cells: both meshes together tell the value without them."""
    coarse, fine = (np.array(PEER[number]) for number in (8, 12))
    expected = fine + (fine - coarse) / ((12 / 8) ** 2 - 1)
    cube = cal.mesh.box([0, 0, 0], [1, 1, 1], 5)
    with warnings.catch_warnings(action="ignore", category=cal.AccuracyWarning):  # 5.5 quadratic elements a wavelength
        problem = cal.InhomogeneousScattering(cube, 6.0, a=1.0, n=0.25)
    solution = problem.solve(cal.PlaneWave([1, 1, 1]), method="dense")
    found = solution.far_field(DIRECTIONS / np.linalg.norm(DIRECTIONS, axis=1)[:, None])
    assert np.abs(found - expected).max() < 0.01 * np.abs(expected).max()
    assert np.abs(fine - expected).max() > 0.02 * np.abs(expected).max()  # what it needs meshes for
