"""Scaled spherical functions against SciPy where it reaches, and against their own identities beyond."""

import numpy as np
import pytest
from scipy.special import spherical_jn, spherical_yn

from calderon.exact.bessel import spherical_bessel, spherical_hankel


@pytest.mark.parametrize("z", [0.01, 1.0, np.pi, 12.5, 100.0])
def test_values_and_slopes_are_those_of_scipy(z):
    n = np.arange(int(z) + 12)
    j, h = spherical_bessel(n[-1], z), spherical_hankel(n[-1], z)
    for k, derivative in (("values", False), ("slopes", True)):
        first = spherical_jn(n, z, derivative)
        third = first + 1j * spherical_yn(n, z, derivative)
        assert np.abs(getattr(h, k)[:, 0] * h.scale[:, 0] / third - 1).max() < 3e-13
        assert np.abs(getattr(j, k)[:, 0] / j.scale[:, 0] - first).max() < 1e-14 * np.abs(first).max() * max(z, 10)


@pytest.mark.parametrize("z", [1e-8, 0.3, 7.0, 100.0, 1000.0, 3 + 2j, 50 + 80j, 20j, 600 + 900j, 5000j])
def test_wronskian(z):
    """j h' - j' h = i / z^2 for every order, far into the range where j and h leave the numbers of the machine."""
    last = int(2 * abs(z)) + 300
    j, h = spherical_bessel(last, z), spherical_hankel(last, z)
    wronskian = j.values * h.slopes - j.slopes * h.values
    terms = np.abs(j.values * h.slopes) + np.abs(j.slopes * h.values)
    assert np.abs(wronskian - 1j / z**2).max() < 1e-12 * terms.max()
    assert np.all(np.isfinite(j.values)) and np.all(np.isfinite(h.values))


@pytest.mark.parametrize("z", [3 + 2j, 50 + 80j, 20j, 300 + 400j])
def test_lossy_values_are_those_of_scipy(z):
    n = np.arange(int(abs(z)) + 12)
    j, expected = spherical_bessel(n[-1], z), spherical_jn(n, z)
    assert np.abs(j.values[:, 0] / j.scale[:, 0] / expected - 1).max() < 2e-12


def test_functions_stay_of_the_size_of_one_over_z():
    for z in (1000.0, 800 + 600j, 1000j):
        for function in (spherical_bessel, spherical_hankel):
            values = np.abs(function(3000, z).values * z)
            assert values.max() < 20 and np.median(values) > 0.02


def test_arguments_beyond_the_recurrence_are_refused():
    with pytest.raises(ValueError, match="200000"):
        spherical_bessel(3, 3e5j)


def test_large_orders_follow_the_power_series():
    """j_n = z^n / (2n+1)!! (1 - z^2 / (2 (2n+3)) + ...)."""
    n, z = 200, 0.5
    logarithm = n * np.log(z) - np.sum(np.log(2 * np.arange(n + 1) + 1.0)) + np.log1p(-(z**2) / (2 * (2 * n + 3)))
    j = spherical_bessel(n, z)
    assert np.log(j.values[n, 0]) - np.sum(np.log(j.steps[:, 0])) == pytest.approx(logarithm, rel=1e-9)


def test_origin_and_many_arguments_at_once():
    z = np.array([0.0, 1e-3, 5.0, 80.0])
    together = spherical_bessel(30, z)
    for i in range(4):
        alone = spherical_bessel(30, z[i])
        assert np.allclose(together.values[:, i], alone.values[:, 0], rtol=1e-12, atol=1e-15)
    assert together.values[0, 0] == pytest.approx(1.0, rel=1e-15)
