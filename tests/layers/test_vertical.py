"""Fields of vertical currents: equal layers are one, a whole space of images, mistakes."""

import numpy as np
import pytest

import calderon as cal
from calderon.layers.vertical import horizontal_field, require_ground, self_reaction

HEIGHT, RADIUS = 3e-3, 0.5e-3


def sections(*layers, below="pec"):
    return cal.Stack(layers, below=below).at(3e9)


def test_equal_layers_are_one():
    one = sections(cal.Layer(HEIGHT, 2.33))
    two = sections(cal.Layer(1e-3, 2.33), cal.Layer(2e-3, 2.33))
    z, rho = one.high[0], np.array([1e-3, 4e-3, 2e-2])
    assert self_reaction(two, two.high[1], RADIUS) == pytest.approx(self_reaction(one, z, RADIUS), rel=1e-6)
    fields = horizontal_field(one, z, rho, z), horizontal_field(two, two.high[1], rho, two.high[1])
    assert np.allclose(*fields, rtol=1e-4)


def test_air_over_a_conductor():
    """int int of exp(i k R) / (4 pi R) over both heights and their images, by a fine rule; no G_xz."""
    air = sections(cal.Layer(HEIGHT))
    t, w = np.polynomial.legendre.leggauss(200)
    z, w = HEIGHT * (1 + t) / 2, HEIGHT * w / 2
    r = [np.hypot(RADIUS, z[:, None] - sign * z) for sign in (1, -1)]
    expected = w @ sum(np.exp(1j * air.k0 * each) / (4 * np.pi * each) for each in r) @ w
    assert self_reaction(air, HEIGHT, RADIUS) == pytest.approx(complex(expected), rel=1e-6)
    assert np.abs(horizontal_field(air, HEIGHT, np.array([1e-3, 1e-2]), HEIGHT)).max() < 1e-12


def test_mistakes_are_named():
    with pytest.raises(ValueError, match="a probe needs a conductor below the stack"):
        require_ground(sections(cal.Layer(HEIGHT), below=cal.Layer()), HEIGHT, "a probe")
    with pytest.raises(ValueError, match=r"metal on an interface above it, got z = 1 mm"):
        require_ground(sections(cal.Layer(HEIGHT)), 1e-3, "a probe")
    with pytest.raises(ValueError, match="through several layers needs mu_r = 1"):
        require_ground(sections(cal.Layer(1e-3, mu_r=2), cal.Layer(1e-3)), 2e-3, "a probe")
