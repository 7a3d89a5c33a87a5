"""Sommerfeld integrals: reference values, images over walls, reciprocity, what is left without the direct part."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.special import hankel1

import calderon as cal
from calderon.exact.vacuum import SPEED_OF_LIGHT
from calderon.layers.limits.interface import direct_part
from calderon.layers.sommerfeld import Direct, horizontal_greens, spatial_greens

REFERENCES = Path(__file__).parents[2].parent / "shared" / "data" / "layered_green.json"
RHO = np.array([1e-5, 1e-4, 1e-3, 1e-2, 0.1, 1.0])


def free(r, k):
    return np.exp(1j * k * r) / (4 * np.pi * r)


def stack_of(case):
    """The stack of a reference value."""
    rows = zip(case["thickness_m"], case["eps"], case["mu"], strict=True)
    layers = [cal.Layer(d, complex(*eps), mu) for d, eps, mu in rows]
    ends = {}
    for name, at in (("bottom", 0), ("top", -1)):
        kind = case[name]
        if kind == "open":
            ends[name] = layers.pop(at)
        else:
            ends[name] = kind if isinstance(kind, str) else cal.planar.SurfaceImpedance(complex(*kind))
    return cal.Stack(layers, below=ends["bottom"], above=ends["top"])


def test_reference_values():
    if not REFERENCES.exists():
        pytest.skip("the reference values are not next to the project (shared/data/layered_green.json)")
    cases = json.loads(REFERENCES.read_text())["values"]
    for case in cases:
        sections, z, source = stack_of(case).at(case["frequency_hz"]), case["z_m"], case["source_z_m"]
        sides = sections.layer_of(z), sections.layer_of(source)
        found = spatial_greens(sections, case["rho_m"], z, source, *sides)
        value = getattr(found, case["component"].removeprefix("G_"))
        assert abs(value / complex(*case["value"]) - 1) < 1e-8, case
    assert len(cases) == 52


@pytest.mark.parametrize("below, sign", [("pec", -1), ("pmc", 1)])
def test_walls_make_images(below, sign):
    """Over a conductor the image of a horizontal current is opposite, that of a vertical one equal."""
    sections = cal.Stack([cal.Layer(1.5e-3)], below=below).at(12e9)
    z, source = 0.7e-3, 4e-3
    found = spatial_greens(sections, RHO, z, source)
    here, there = (free(np.hypot(RHO, distance), sections.k0) for distance in (z - source, z + source))
    for component, image in ((found.xx, sign), (found.K, sign), (found.zz, -sign)):
        assert np.abs(component - here - image * there).max() < 1e-11 * np.abs(here).max()
    assert max(np.abs(found.zx).max(), np.abs(found.xz).max()) < 1e-12 * np.abs(here).max()
    direct = Direct(1, 1, sections.k0, sections.k0)
    for component in horizontal_greens(sections, [0.0, *RHO], 1.5e-3, 1.5e-3, direct):
        expected = sign * free(np.hypot([0.0, *RHO], 3e-3), sections.k0)
        assert np.abs(component / expected - 1).max() < 1e-10


def test_reciprocity_and_continuity():
    layers = [cal.Layer(1e-3, 2.2 + 0.02j), cal.Layer(0.5e-3, 6.0)]
    sections = cal.Stack(layers, below=cal.planar.Conductor(1e5)).at(20e9)
    rho, z, source = np.array([0.5e-3, 5e-3, 0.1]), 0.8e-3, 1.3e-3
    one, two = (spatial_greens(sections, rho, *heights) for heights in ((z, source), (source, z)))
    for a, b in ((one.xx, two.xx), (one.K, two.K), (one.zz, two.zz), (one.zx, -two.xz), (one.xz, -two.zx)):
        assert np.abs(a - b).max() < 1e-10 * np.abs(a).max()
    sides = [spatial_greens(sections, rho, 1e-3, source, layer) for layer in (0, 1)]
    for name in ("xx", "K", "xz"):
        below, above = (getattr(side, name) for side in sides)
        assert np.abs(below - above).max() < 1e-10 * np.abs(above).max()


def test_the_direct_part_of_an_interface():
    """At the interface of two media c = 1 and 2 / (eps_1 + eps_2); the rest is bounded."""
    sections = cal.Stack([cal.Layer(1.575e-3, 2.2)], below="pec").at(12e9)
    means = sections.k0 * np.sqrt([3.2 / 2, 2 * 2.2 / 3.2])
    direct, z = Direct(1, 2 / 3.2, *means), 1.575e-3
    whole, rest = (horizontal_greens(sections, RHO, z, z, each) for each in (Direct(0, 0, 1, 1), direct))
    at_zero = horizontal_greens(sections, [0.0], z, z, direct)
    for n in range(2):
        assert np.abs((rest[n] + direct[n] * free(RHO, means[n])) / whole[n] - 1)[:4].max() < 1e-9
        assert abs(rest[n][0] / at_zero[n][0] - 1) < 1e-5


@pytest.mark.parametrize(
    "layers, frequency, bound",
    [((cal.Layer(1.5e-3, 2.33), cal.Layer(0.8e-3, 3.38 + 0.009j)), 9e9, 1e-9), ((cal.Layer(0.2e-3, 2.2),), 5e9, 1e-6)],
)
def test_terms_that_cancel_do_not_spoil_averages(layers, frequency, bound):
    """With and without the direct part, whose tail changes sign where that of a layer has decayed. On a thin layer what
    is left cancels with the direct part to 2e-5 of it."""
    sections = cal.Stack(layers, below="pec").at(frequency)
    z, wavelength = sections.high[0], 2 * np.pi / sections.k0
    rho, direct = wavelength * np.geomspace(0.02, 8, 60), direct_part(sections, z)
    whole, rest = horizontal_greens(sections, rho, z, z), horizontal_greens(sections, rho, z, z, direct)
    for n in range(2):
        assert np.abs((rest[n] + direct[n] * free(rho, direct[n + 2])) / whole[n] - 1).max() < bound


def test_mistakes_are_named():
    sections = cal.Stack([cal.Layer(1e-3, 2.2)], below="pec").at(12e9)
    with pytest.raises(ValueError, match="at rho = 0 the Green's functions are infinite"):
        spatial_greens(sections, [0.0, 1.0], 0.5e-3, 0.5e-3)
    with pytest.raises(ValueError, match="z = 0.001 m is an interface.* give source_layer=, 0 for the lower or 1"):
        spatial_greens(sections, [1.0], 0.5e-3, 1e-3)


def test_fields_between_walls_are_sums_of_modes_and_refused_at_a_resonance():
    """G_xx = i/(2 d) sum_n sin(n pi z/d) sin(n pi z'/d) H_0(k_n rho), k_n^2 = k^2 - (n pi/d)^2."""
    d, (z, source_z), n = 10e-3, (4e-3, 5e-3), np.arange(1, 400)
    plates = cal.Stack([cal.Layer(d, 2.0)], below="pec", above="pec")
    resonance = SPEED_OF_LIGHT / (2 * d * np.sqrt(2))
    for factor in (0.9, 0.997, 1.003, 1.3):
        k = np.pi / d * factor
        waves = np.sqrt(k**2 - (n * np.pi / d) ** 2 + 0j)
        modes = np.sin(n * np.pi * z / d) * np.sin(n * np.pi * source_z / d) * hankel1(0, waves * 0.02)
        found = spatial_greens(plates.at(factor * resonance), [0.02], z, source_z).xx[0]
        assert found == pytest.approx(0.5j / d * np.nansum(modes), rel=1e-9)
    with pytest.raises(ValueError, match=r"between the walls resonate close to 10.5993 GHz, .* give a layer a"):
        spatial_greens(plates.at(resonance), [0.02], z, source_z)
