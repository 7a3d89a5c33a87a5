"""Transmission-line Green's functions: equations of lines, sources, walls, reciprocity, equal layers, k_rho = 0."""

import itertools

import numpy as np
import pytest

import calderon as cal
from calderon.layers import spectral_greens
from calderon.layers.lines import SMALL, line_functions

LAYERS = [cal.Layer(1e-3, 2.2 + 0.01j), cal.Layer(0.5e-3, 9.8, mu_r=1.5), cal.Layer(2e-3, 3.0)]
STACK = cal.Stack(LAYERS, below=cal.planar.SurfaceImpedance(3 - 4j), above=cal.Layer(eps_r=1.3)).at(12e9)
WAVENUMBERS = np.array([30 - 1j, 200 - 30j, 900.0, 5000.0])
HEIGHTS = (0.4e-3, 1.2e-3, 2.0e-3, 3e-3, 4e-3)


def lines(k, z, source_z, sections=STACK, layer=None):
    """V_i, I_i, V_v, I_v (4,) of the TM and TE lines."""
    at = sections.layer_of(z) if layer is None else layer
    values = line_functions(k, sections.data, z, at, source_z, sections.layer_of(source_z))
    return np.array(values[:4]), np.array(values[4:])


def impedances(k, layer):
    kz = np.sqrt(STACK.k0**2 * STACK.eps[layer] * STACK.mu[layer] - k * k + 0j)
    kz = -kz if kz.imag < 0 else kz
    return kz, (kz / (STACK.k0 * STACK.eps[layer]), STACK.k0 * STACK.mu[layer] / kz)


@pytest.mark.parametrize("k", WAVENUMBERS)
def test_lines_satisfy_their_equations(k):
    """dV/dz = i k_z Z I, dI/dz = i k_z V / Z over a distance t: V turns into V cos k_z t + i Z I sin k_z t."""
    for source, (z, t) in itertools.product(
        HEIGHTS, [(0.1e-3, 0.2e-3), (1.25e-3, 0.1e-3), (1.6e-3, 0.2e-3), (5e-3, 1e-3)]
    ):
        kz, both = impedances(k, STACK.layer_of(z))
        c, s = np.cos(kz * t), np.sin(kz * t)
        for impedance, here, there in zip(both, lines(k, z, source), lines(k, z + t, source), strict=True):
            for v, i in ((0, 1), (2, 3)):
                size = abs(c) * (abs(here[v]) + abs(impedance * here[i]))
                assert abs(there[v] - c * here[v] - 1j * impedance * s * here[i]) < 1e-12 * size
                assert abs(there[i] - c * here[i] - 1j / impedance * s * here[v]) < 1e-12 * size / abs(impedance)


@pytest.mark.parametrize("k", WAVENUMBERS)
def test_sources_are_jumps_of_one_and_interfaces_are_none(k):
    """At the source I_i and V_v jump by 1. At interfaces, which the field reaches from both layers, nothing does."""
    for source in HEIGHTS:
        distance = 1e-9 * np.array([1, -1])
        above, below = (np.array(lines(k, source + d, source)) for d in distance)
        decay = 3e-9 * abs(impedances(k, STACK.layer_of(source))[0])
        assert np.allclose((above - below)[:, 1:3], 1, atol=4 * decay)
        for number, z in enumerate(STACK.high[:-1]):
            one, two = (np.array(lines(k, z, source, layer=number + side)) for side in (0, 1))
            assert np.abs(one / two - 1).max() < 1e-12


@pytest.mark.parametrize("k", WAVENUMBERS)
def test_reciprocity(k):
    """V_i and I_v are symmetric in both heights, and V_v(z, z') = -I_i(z', z)."""
    for z, source in itertools.combinations(HEIGHTS, 2):
        for one, two in zip(lines(k, z, source), lines(k, source, z), strict=True):
            assert np.abs(one / (two[[0, 2, 1, 3]] * [1, -1, -1, 1]) - 1).max() < 1e-12


@pytest.mark.parametrize(
    "end, sign", [("pec", -1), ("pmc", 1), (cal.planar.SurfaceImpedance(0), -1), (cal.planar.SurfaceImpedance(1e18), 1)]
)
def test_walls_make_images(end, sign):
    """V_i = Z/2 (exp(i k_z |z - z'|) +- exp(i k_z (z + z'))) over walls, and below them."""
    over, under = cal.Stack([cal.Layer(1e-3)], below=end).at(5e9), cal.Stack([cal.Layer(1e-3)], above=end).at(5e9)
    for k in WAVENUMBERS:
        kz = np.sqrt(over.k0**2 - k * k + 0j)
        expected = np.exp(1j * kz * 1.2e-3) + sign * np.exp(1j * kz * 2.2e-3)
        for impedance, line in zip((kz / over.k0, over.k0 / kz), (0, 1), strict=True):
            assert lines(k, 1.7e-3, 0.5e-3, over)[line][0] == pytest.approx(impedance / 2 * expected, rel=1e-12)
            assert lines(k, -0.7e-3, 0.5e-3, under)[line][0] == pytest.approx(impedance / 2 * expected, rel=1e-12)


def test_plates_without_an_open_end():
    """V_i = -i Z sin k_z z' sin k_z (d - z) / sin k_z d of TM waves between plates, cosines toward a magnetic wall."""
    d, z, source = 2e-3, 1.3e-3, 0.4e-3
    electric, mixed = (cal.Stack([cal.Layer(d)], below="pec", above=end).at(5e9) for end in ("pec", "pmc"))
    for k in WAVENUMBERS:
        kz = np.sqrt(electric.k0**2 - k * k + 0j)
        expected = -1j * kz / electric.k0 * np.sin(kz * source)
        found = [lines(k, z, source, sections)[0][0] for sections in (electric, mixed)]
        assert found[0] == pytest.approx(expected * np.sin(kz * (d - z)) / np.sin(kz * d), rel=1e-12)
        assert found[1] == pytest.approx(expected * np.cos(kz * (d - z)) / np.cos(kz * d), rel=1e-12)


def test_equal_layers_are_one():
    k = np.linspace(1, 4000, 17) - 10j
    parts = [cal.Layer(d, 2.2) for d in (0.3e-3, 0.5e-3, 0.2e-3)]
    one = cal.Stack([cal.Layer(1e-3, 2.2)], below="pec").at(10e9)
    three = cal.Stack([*parts, cal.Layer(2e-3)], below="pec").at(10e9)
    for z, source in itertools.product((0.3e-3, 0.6e-3, 1e-3, 2e-3), repeat=2):
        for a, b in zip(spectral_greens(one, k, z, source), spectral_greens(three, k, z, source), strict=True):
            assert np.abs(a - b).max() <= 1e-12 * np.abs(a).max()


def test_components_are_continuous_at_zero():
    """G_xx, K and G_zz are even in k_rho, G_zx and G_xz odd: at zero they follow from Richardson's extrapolation."""
    for z, source in ((1.5e-3, 1.5e-3), (0.4e-3, 2.7e-3), (2.7e-3, 2.2e-3)):
        zero, one, two = (np.array(spectral_greens(STACK, k, z, source)) for k in (0.0, 10.0, 20.0))
        even = [0, 1, 4]
        assert np.allclose(((4 * one - two) / 3)[even], zero[even], rtol=2e-5)
        assert np.all(zero[[2, 3]] == 0)
        edge = np.sqrt(SMALL) * np.abs(STACK.wavenumbers).min()
        for component in spectral_greens(STACK, edge * np.array([1 - 1e-7, 1 + 1e-7]), z, source):
            assert component[0] == pytest.approx(component[1], rel=1e-6)


def test_components_at_the_wavenumber_of_a_layer():
    """They are continuous, but impedances of lines are zero and infinite there."""
    for k in STACK.wavenumbers[1:].real:
        there, near = (np.array(spectral_greens(STACK, each, 1.2e-3, 0.4e-3)) for each in (k, k * (1 - 1e-9)))
        assert np.abs(there / near - 1).max() < 1e-3


def test_nothing_overflows_far_from_the_source():
    thick = cal.Stack([cal.Layer(1.0, 4), cal.Layer(1.0, 2)], below="pec").at(10e9)
    values = spectral_greens(thick, [1e3, 1e5, 1e7], 1.9, 0.1)
    assert all(np.all(np.isfinite(each)) for each in values)


def test_a_layer_without_the_height_is_named():
    with pytest.raises(ValueError, match="z = 0.0012 m is not in layer 2, but in layer 1, counted from below"):
        spectral_greens(STACK, 1.0, 1.2e-3, 0.0, layer=2)
