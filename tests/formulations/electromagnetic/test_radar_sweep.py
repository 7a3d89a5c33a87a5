"""Echoes over frequency and angle against Mie series, and profiles over range of scatterers at known places."""

import numpy as np
import pytest

import calderon as cal
from calderon.exact import SPEED_OF_LIGHT
from calderon.formulations.electromagnetic.radar_sweep import RadarSweep


def test_echoes_of_a_sphere_are_those_of_its_series_and_of_single_frequencies():
    sphere = cal.PECScattering(cal.mesh.sphere(0.5, 0.2), 1.0, impedance=cal.exact.VACUUM_IMPEDANCE)
    hertz, phi = np.array([100e6, 150e6]), np.array([0.0, 1.0])
    sweep = sphere.monostatic_sweep(hertz, np.pi / 3, phi, ("VV", "HV"))
    assert sweep.amplitudes.shape == (2, 2, 2)
    for number, f in enumerate(hertz):
        k = 2 * np.pi * f / SPEED_OF_LIGHT
        series = cal.exact.mie_pec_sphere(k, 0.5).rcs(np.pi, 0.0)
        assert np.allclose(sweep.rcs[number, :, 0], series, rtol=0.02)
        assert sweep.rcs[number, :, 1].max() < 1e-3 * series
        one = sphere.at(k).scattering_amplitude(np.pi / 3, phi, "VV")
        assert np.allclose(sweep.amplitudes[number, :, 0], one, rtol=1e-10)
    data = sweep.arrays()
    assert [axis.name for axis in data.axes] == ["frequency", "direction", "polarization"]
    assert np.array_equal(data["rcs"], sweep.rcs) and "HV" in sweep.brief


def echoes(places, size, hertz):
    """Echoes of points that lie behind the origin: size exp(2 i k s)."""
    k = 2 * np.pi * hertz / SPEED_OF_LIGHT
    total = sum(a * np.exp(2j * k * s) for s, a in zip(places, size, strict=True))
    return RadarSweep(hertz, np.zeros(1), np.zeros(1), ("VV",), total[:, None, None])


@pytest.mark.parametrize("window", ["none", "hann", "hamming"])
def test_a_profile_has_scatterers_at_their_places(window):
    hertz = np.linspace(2e9, 4e9, 81)
    profile = echoes([-0.8, 1.1], [0.3, 0.1j], hertz).range_profile(window, points=1620)
    s, found = profile.axes[0].values, profile["profile"][:, 0, 0]
    assert np.ptp(s) == pytest.approx(SPEED_OF_LIGHT / (2 * 25e6), rel=1e-3)
    assert s[np.abs(found).argmax()] == pytest.approx(-0.8, abs=np.diff(s).max())
    for place, size in ((-0.8, 0.3), (1.1, 0.1j)):
        assert found[np.abs(s - place).argmin()] == pytest.approx(size, rel=0.25)
    resolution = SPEED_OF_LIGHT / (2 * 2e9)
    far = np.min(np.abs(s[:, None] - [-0.8, 1.1]), axis=1) > 6 * resolution
    assert np.abs(found[far]).max() < {"none": 0.03, "hann": 0.001, "hamming": 0.003}[window]


def test_maps_have_levels_over_direction_and_frequency_or_range(tmp_path):
    hertz, phi = np.linspace(1e9, 2e9, 11), np.radians([0.0, 20.0, 10.0])
    one = echoes([0.4], [0.5], hertz).amplitudes
    sweep = RadarSweep(hertz, np.full(3, np.pi / 2), phi, ("VV", "HH"), np.tile(one, (1, 3, 2)) * [1, 2])
    drawn = cal.plots.radar_map(sweep, tmp_path / "map.png", polarization="HH").axes[0]
    assert drawn.get_xlabel() == "phi (degrees)" and (tmp_path / "map.png").stat().st_size > 1000
    assert np.allclose(drawn.collections[0].get_array(), 10 * np.log10(4 * np.pi), atol=1e-9)
    over_range = cal.plots.radar_map(sweep, profile=True, window="none").axes[0].collections[0].get_array()
    s = sweep.range_profile("none").axes[0].values
    assert s[np.reshape(over_range, (len(s), 3))[:, 0].argmax()] == pytest.approx(0.4, abs=np.diff(s).max())
    with pytest.raises(ValueError, match="two directions or more"):
        cal.plots.radar_map(echoes([0.0], [1.0], hertz))


def test_uneven_frequencies_have_no_profile():
    for hertz in (np.array([1e9]), np.array([1e9, 2e9, 2.5e9])):
        with pytest.raises(ValueError, match="in equal steps"):
            echoes([0.0], [1.0], hertz).range_profile()
    with pytest.raises(ValueError, match="window"):
        echoes([0.0], [1.0], np.array([1e9, 2e9])).range_profile("flat")


def test_a_profile_shows_the_front_of_a_sphere():
    """The Mie series shows the specular point, one radius in front of the origin, which echoes with half the radius."""
    hertz = np.linspace(1e9, 3e9, 41)
    series = [cal.exact.mie_pec_sphere(2 * np.pi * f / SPEED_OF_LIGHT, 0.5, polarization=[1, 0, 0]) for f in hertz]
    back = np.array([each.far_field([[0, 0, -1.0]])[0, 0] for each in series])
    profile = RadarSweep(hertz, np.zeros(1), np.zeros(1), ("VV",), back[:, None, None]).range_profile(points=1600)
    s, found = profile.axes[0].values, np.abs(profile["profile"][:, 0, 0])
    assert s[found.argmax()] == pytest.approx(-0.5, abs=0.01) and found.max() == pytest.approx(0.25, rel=0.05)
