"""Third octaves and A-weighting against the tables of their standards, and integrals that are exact."""

import numpy as np
import pytest

import calderon as cal

NOMINAL = [20, 25, 31.5, 40, 50, 63, 80, 100, 125, 160, 200, 250, 315, 400, 500, 630, 800, 1000, 1250, 1600, 2000, 2500,
           3150, 4000, 5000, 6300, 8000, 10000, 12500, 16000, 20000]  # fmt: skip
"""IEC 61260-1:2014, table E.1."""
WEIGHTS = [-50.5, -44.7, -39.4, -34.6, -30.2, -26.2, -22.5, -19.1, -16.1, -13.4, -10.9, -8.6, -6.6, -4.8, -3.2, -1.9,
           -0.8, 0.0, 0.6, 1.0, 1.2, 1.3, 1.2, 1.0, 0.5, -0.1, -1.1, -2.5, -4.3, -6.6, -9.3]  # fmt: skip
"""IEC 61672-1:2013, table 3, rounded to tenths of a decibel, at exact centres of bands."""


def test_bands_have_the_names_and_limits_of_the_standard():
    f = np.geomspace(17.0, 23000.0, 4000)
    bands = cal.third_octaves(f, np.ones(4000), "mean")
    assert bands.nominal.tolist() == NOMINAL
    assert np.allclose(bands.values, 1)
    assert np.allclose(bands.limits[1:, 0], bands.limits[:-1, 1], rtol=1e-14)
    middle = bands.nominal.tolist().index(1000)
    assert np.allclose(bands.limits[middle], [891.25, 1122.02], atol=0.005)
    assert bands.centres[middle + 10] == pytest.approx(10 * bands.centres[middle], rel=1e-14)
    assert np.allclose(bands.centres / bands.nominal, 1, atol=0.013)


def test_the_weighting_is_that_of_the_standard():
    centres = cal.third_octaves(np.geomspace(17.0, 23000.0, 400), np.ones(400), "mean").centres
    assert np.abs(cal.a_weighting(centres) - WEIGHTS).max() < 0.05 + 1e-9
    assert cal.a_weighting([1000.0])[0] == 0
    # four poles at 0 and two of them at high frequencies: 80 and -40 dB a decade
    assert np.diff(cal.a_weighting([1e-3, 1e-2]))[0] == pytest.approx(80, abs=1e-3)
    assert np.diff(cal.a_weighting([1e7, 1e8]))[0] == pytest.approx(-40, abs=1e-3)


def test_a_density_is_integrated_exactly_between_its_frequencies():
    f = np.sort(np.random.default_rng(0).uniform(40, 130, 200))
    f[[0, -1]] = 40, 130
    bands = cal.third_octaves(f, 3 + 0.1 * f, "density")
    low, high = bands.limits.T
    assert bands.nominal.tolist() == [50, 63, 80, 100]
    assert np.allclose(bands.values, 3 * (high - low) + 0.05 * (high**2 - low**2), rtol=1e-12)
    values = np.random.default_rng(1).uniform(1, 1.1, (200, 2))
    two = cal.third_octaves(f[::-1], values[::-1], "density")
    inside = (f > low[0]) & (f < high[-1])
    x = np.concatenate([[low[0]], f[inside], [high[-1]]])
    lines = np.stack([np.interp(x, f, each) for each in values.T], axis=1)
    assert np.allclose(two.values.sum(axis=0), np.trapezoid(lines, x, axis=0), rtol=1e-12)
    means = cal.third_octaves(f, values, "mean").values * np.diff(bands.limits, axis=1)
    assert np.allclose(means, two.values, rtol=1e-12)


def test_tones_add_up_in_the_band_that_holds_them():
    f = [100.0, 105.0, 1000 * 10**-0.95, 125.0, 1000.0]  # the third at the limit of two bands: in the upper one
    bands = cal.third_octaves(f, [1.0, 2.0, 4.0, 8.0, 16.0], "tones")
    assert bands.nominal.tolist() == NOMINAL[7:18]
    assert bands.values.tolist() == [3, 12, *[0] * 8, 16]
    assert bands.total_level == pytest.approx(10 * np.log10(31e12))
    assert bands.levels[2] == -np.inf
    assert bands.a_weighted_levels[0] == pytest.approx(10 * np.log10(3e12) - 19.1, abs=0.05)
    expected = 10 * np.log10(3e12 * 10**-1.91 + 12e12 * 10**-1.61 + 16e12)
    assert bands.total_a_weighted_level == pytest.approx(expected, abs=0.02)


def test_pressures_of_a_liquid_have_levels_re_1_micropascal():
    f = np.linspace(80, 400, 60)
    bands = cal.third_octaves(f, 0.5 * np.ones(60), "mean", bands=[100, 200], unit="Pa^2", reference=1e-12)
    assert np.allclose(bands.levels, 120 - 10 * np.log10(2))
    table = bands.to_xarray()
    assert table.level.attrs["units"] == "dB re 1 µPa" and table.band.values.tolist() == [100, 200]
    assert table.band.attrs["units"] == "Hz" and bands.to_pandas().shape[0] == 2


def test_bands_that_are_not_covered_are_refused():
    f, powers = np.linspace(90, 400, 50), np.ones(50)
    assert cal.third_octaves(f, powers, "mean").nominal.tolist() == [125, 160, 200, 250, 315]
    cases = [
        (f, powers, "mean", [100], "the third octave 100 Hz reaches from 89.13 to 112.20"),
        (f, powers, "density", [400], "reaches from 354.81 to 446.68 Hz, and the frequencies from 90 to 400"),
        (f, powers, "mean", [120], "no third octave is named 120 Hz"),
        ([100, 120.0], [1, 1], "mean", None, "no third octave lies between"),
        ([100, 300.0], [1, 1], "mean", None, "no frequency lies in the third octave 125 Hz"),
        (f, 1j * powers, "mean", None, "powers are real"),
        (f, powers[1:], "mean", None, "give one for each"),
        ([100.0, 100.0, 300], [1, 1, 1], "mean", None, "distinct"),
        (f, powers, "sum", None, "kind"),
    ]
    for frequencies, values, kind, bands, match in cases:
        with pytest.raises(ValueError, match=match):
            cal.third_octaves(frequencies, values, kind, bands=bands)


def test_a_peak_between_few_frequencies_is_warned_of():
    f = np.linspace(80, 240, 17)
    with pytest.warns(cal.AccuracyWarning, match="^sound power: .* smaller steps"):
        cal.third_octaves(f, 1 / (1 + ((f - 150) / 3) ** 2), "mean", quantity="sound power")
    with pytest.warns(cal.AccuracyWarning, match="change by up to inf dB"):  # at one frequency alone, which is left out
        cal.third_octaves(f, np.where(f == 150, 1.0, 0.0), "mean")
