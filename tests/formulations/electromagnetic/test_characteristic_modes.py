"""Characteristic modes of a sphere have eigenvalues in closed form, and orthogonal far fields."""

import numpy as np
import pytest
import scipy.special as special

import calderon as cal
from calderon.quadrature.sphere import far_field_products


def eigenvalues(x, degree):
    """-y_n / j_n of TE modes and -(x y_n)' / (x j_n)' of TM modes, each 2 n + 1 times."""
    found = []
    for n in range(1, degree + 1):
        j, y = special.spherical_jn(n, x), special.spherical_yn(n, x)
        dj, dy = special.spherical_jn(n, x, True), special.spherical_yn(n, x, True)
        found += (2 * n + 1) * [-y / j, -(y + x * dy) / (j + x * dj)]
    return np.array(sorted(found, key=abs))


@pytest.fixture(scope="module")
def ball():
    return cal.PECScattering(cal.mesh.sphere(1.0, 0.24), 1.0)


@pytest.fixture(scope="module")
def modes(ball):
    return cal.characteristic_modes(ball, 16)


def test_eigenvalues_are_those_of_the_sphere(modes):
    np.testing.assert_allclose([each.eigenvalue for each in modes], eigenvalues(1.0, 2), rtol=2e-3)
    assert modes[0].significance == pytest.approx(1 / np.sqrt(1 + 1.5574**2), rel=1e-3)
    assert np.pi < modes[0].angle < 1.5 * np.pi and "modal significance" in str(modes[0])


def test_far_fields_are_orthogonal_and_carry_one_watt(ball, modes):
    products = far_field_products([each.far_field for each in modes[:8]], ball.mesh.vertices, 1.0)
    watts = products / (2 * 376.730313668)
    assert abs(np.triu(watts, 1)).max() < 2e-3
    np.testing.assert_allclose(watts.diagonal().real, 1.0, rtol=2e-3)


def test_modes_are_tracked_over_frequency(ball, modes):
    later = cal.characteristic_modes(ball.at(1.1), 8, like=(*modes[3:6], *modes[:3]))
    np.testing.assert_allclose([each.eigenvalue for each in later[:3]], -special.spherical_yn(1, 1.1)
                               / special.spherical_jn(1, 1.1), rtol=3e-3)  # fmt: skip
    assert all(each.eigenvalue < 0 for each in later[3:6])


def test_a_dipole_resonates_where_its_reactance_vanishes():
    mesh, gap = cal.mesh.plate([0.01, 0.48], 0.04), cal.DeltaGap(line=[[-0.005, 0, 0], [0.005, 0, 0]])
    antenna = cal.PECAntenna(mesh, 2 * np.pi * 0.96, gap)
    first = cal.characteristic_modes(antenna, 1)[0]
    assert abs(first.eigenvalue) < 0.5 and first.significance > 0.9
    assert cal.characteristic_modes(antenna.at(4.0), 1)[0].eigenvalue < -2


def test_what_has_no_modes_is_refused(ball):
    with pytest.raises(ValueError, match="without mirrors"):
        cal.characteristic_modes(cal.PECScattering(cal.mesh.hemisphere(1.0, 0.5), 1.0, mirrors={"z": "odd"}))
    with pytest.warns(cal.MeshWarning), pytest.raises(ValueError, match="below 0.01"):
        cal.characteristic_modes(ball.at(1e-4))
    with pytest.raises(ValueError, match="no modes"):
        cal.characteristic_modes(ball, 2, like=[])
