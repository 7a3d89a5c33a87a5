"""Sums of oscillating charges over points, against direct sums."""

import numpy as np
import pytest

import calderon as cal
from calderon.mlfmm.sums import direct_sums


def sphere(count):
    n = np.arange(count) + 0.5
    z, phi = 1 - 2 * n / count, np.pi * (1 + 5**0.5) * n
    s = np.sqrt(1 - z * z)
    return np.stack([s * np.cos(phi), s * np.sin(phi), z], axis=1)


def complex_numbers(count):
    random = np.random.default_rng(2)
    return random.standard_normal(count) + 1j * random.standard_normal(count)


def test_direct_sums_are_the_formula():
    points, charges, k = sphere(40), complex_numbers(40), 3.0 + 0.4j
    targets = np.concatenate([points[:2], [[0.1, 0.2, 0.3]]])
    found = cal.helmholtz_sums(points, charges, k, targets=targets, gradient=True)
    for x, value, slope in zip(targets, found.potential, found.gradient, strict=True):
        d = x - points
        r = np.linalg.norm(d, axis=1)
        r[r == 0] = np.inf
        g = np.exp(1j * k * np.where(np.isinf(r), 0, r)) / (4 * np.pi * r)
        assert abs(g @ charges - value) <= 1e-11 * np.abs(g).sum()
        expected = (charges * g * (1j * k - 1 / r) / r) @ d
        assert np.abs(expected - slope).max() <= 1e-10 * np.abs(expected).max()
    assert str(found.info).startswith("direct sums")


@pytest.mark.parametrize(
    ("k", "rtol", "gradient"),
    [(15.0, 1e-3, False), (15.0, 1e-5, True), (40.0, 1e-3, True), (40.0 + 2j, 1e-4, False), (4.0, 1e-4, False)],
)
def test_sums_hold_the_tolerance(k, rtol, gradient):
    points, charges = sphere(6000), complex_numbers(6000)
    found = cal.helmholtz_sums(points, charges, k, gradient=gradient, rtol=rtol)
    assert found.info.method == "mlfmm"
    assert found.info.levels >= (0 if abs(k) < 5 else 2)
    chosen = np.arange(0, 6000, 9)
    exact = direct_sums(points, points[chosen], charges, complex(k), gradient)
    parts = [(found.potential, exact[:, 0]), (found.gradient, exact[:, 1:])][: 1 + gradient]
    for values, wanted in parts:
        assert np.linalg.norm(values[chosen] - wanted) <= rtol * np.linalg.norm(wanted)


def test_targets_of_their_own_in_a_volume():
    random = np.random.default_rng(3)
    points, targets, charges = random.random((5000, 3)), 0.5 + random.random((3000, 3)), complex_numbers(5000)
    found = cal.helmholtz_sums(points, charges, 30.0, targets=targets, rtol=1e-3)
    exact = direct_sums(points, targets, charges, 30.0, False)[:, 0]
    assert np.linalg.norm(found.potential - exact) <= 1e-3 * np.linalg.norm(exact)


def test_refusals():
    points = sphere(10)
    for k, message in ((0, "k > 0"), (-1, "k > 0"), (1 - 1j, "grows"), (np.nan, "NaN|finite")):
        with pytest.raises(ValueError, match=message):
            cal.helmholtz_sums(points, np.ones(10), k)
    with pytest.raises(ValueError, match="shape"):
        cal.helmholtz_sums(points, np.ones(9), 1.0)
    with pytest.raises(ValueError, match="NaN"):
        cal.helmholtz_sums(points, np.full(10, np.nan), 1.0)
    with pytest.raises(TypeError, match="numbers"):
        cal.helmholtz_sums(points, np.array(["a"] * 10), 1.0)
    assert cal.helmholtz_sums(points, np.ones(10), 1.0, targets=np.empty((0, 3))).potential.shape == (0,)
