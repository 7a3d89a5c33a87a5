"""Pictures of sound: what is drawn is what was given, with units."""

from types import SimpleNamespace

import matplotlib.colors
import numpy as np
import pytest

import calderon as cal

plots = cal.plots


def cosine(theta, phi):
    return 3 * np.cos(theta) ** 2


def test_directivities_are_relative_to_the_loudest_direction_or_to_1():
    axes = plots.directivity({"a": cosine, "b": lambda theta, phi: 1 + 0 * theta}, planes=["zx"]).axes[0]
    first, second = axes.get_lines()
    assert first.get_ydata().max() == 0 and np.allclose(second.get_ydata(), 0)
    at = np.argmin(np.abs(first.get_xdata() - np.radians(60)))
    assert first.get_ydata()[at] == pytest.approx(20 * np.log10(0.5), abs=1e-6)
    assert (axes.get_rmin(), axes.get_rmax()) == (-40, 0)
    figure = plots.directivity(cosine, planes=["zx"], normalised=False)
    assert figure.axes[0].get_lines()[0].get_ydata().max() == pytest.approx(10 * np.log10(3))
    assert "directivity (dB)" in [text.get_text() for text in figure.texts]


@pytest.mark.parametrize(("plane", "half_space", "low", "high", "sector"), [
    ("xz", "+z", 0, 180, 180), ("zx", "+z", -90, 90, 360), ("xz", "-z", -180, 0, 360), ("xy", "+z", 0, 360, 360),
])  # fmt: skip
def test_directivities_end_at_the_plane_of_a_half_space(plane, half_space, low, high, sector):
    solution = SimpleNamespace(directivity=lambda theta, phi: 1 + 0 * theta, half_space=half_space)
    axes = plots.directivity(solution, planes=[plane], points=361).axes[0]
    drawn = np.degrees(axes.get_lines()[0].get_xdata())
    assert drawn.min() == pytest.approx(low) and drawn.max() == pytest.approx(high, abs=1.1)
    assert axes.get_thetamax() == sector


def test_a_balloon_of_a_half_space_is_half_a_body():
    def parts(half_space):
        figure = plots.balloon(cosine, half_space=half_space, renderer="matplotlib")
        return figure.get_figwidth(), figure.axes[1].get_ylabel()

    whole, half = parts(""), parts("+z")
    assert whole[1] == half[1] == "directivity (dB re 1)"
    assert whole[0] < half[0]  # two lobes on one another, and one alone
    with pytest.raises(ValueError, match="half_space"):
        plots.balloon(cosine, half_space="up")


def test_a_map_of_levels_has_whole_steps_and_lines_of_equal_level():
    points = plots.slice_points([1.0, 0, 2], [2.0, 0, 0], [0, 0, 4.0], (41, 31))
    levels = 20 * points[..., 0] + 40.0
    levels[0, 0] = -np.inf
    figure = plots.sound_levels(points, levels)
    image = figure.axes[0].get_images()[0]
    assert image.get_clim() == (40, 80)
    assert figure.axes[1].get_ylabel().replace("\n", " ") == "sound pressure level (dB re 20 µPa)"
    lines = figure.axes[0].collections[0]
    drawn = {round(float(level)): path for level, path in zip(lines.levels, lines.get_paths(), strict=True)}
    assert np.allclose(drawn[60].vertices[:, 0], 1.0, atol=1e-9)  # 60 dB at x = 1, in the coordinates of the axes
    assert np.ptp(drawn[60].vertices[:, 1]) == pytest.approx(4.0)
    ball = cal.mesh.sphere(0.5, 0.25)
    around = plots.slice_points([0, 0, 0], [4.0, 0, 0], [0, 0, 4.0], (21, 21))
    inside = plots.sound_levels(around, np.where(np.linalg.norm(around, axis=-1) < 0.45, 500.0, 50.0), ball)
    assert inside.axes[0].get_images()[0].get_clim()[1] == 50  # what lies inside does not count
    for wrong, match in (
        (levels + 0j, "levels are real"),
        (levels[:2], "one value a point"),
        (levels * np.nan, "nothing"),
    ):
        with pytest.raises(ValueError, match=match):
            plots.sound_levels(points, wrong)


def test_a_spectrum_has_octaves_and_marks_what_was_solved():
    f, solved = np.geomspace(50, 5000, 200), np.array([50.0, 400.0, 5000.0])
    curves, marks = {"ear": f / 100, "foot": f / 50}, {"ear": solved / 100}
    figure = plots.spectrum(f, curves, "level (dB)", solved=(solved, marks))
    axes = figure.axes[0]
    assert [text.get_text() for text in axes.get_xticklabels()] == ["63", "125", "250", "500", "1000", "2000", "4000"]
    assert axes.get_xlabel() == "frequency (Hz)" and axes.get_ylabel() == "level (dB)"
    dots = axes.get_lines()[-1]
    assert np.allclose(dots.get_xdata(), solved) and dots.get_linestyle() == "None"
    assert dots.get_color() == axes.get_lines()[0].get_color()
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["ear", "foot", "solved"]
    alone = plots.spectrum(f, {"ear": f}, solved=(solved, {"ear": solved})).axes[0]
    assert [text.get_text() for text in alone.get_legend().get_texts()] == ["solved"]
    assert plots.spectrum(f, {"ear": f}).axes[0].get_legend() is None
    with pytest.raises(ValueError, match="give those of curves"):
        plots.spectrum(f, {"ear": f}, solved=(solved, {"nose": solved}))


def test_bars_of_third_octaves_reach_their_levels_and_those_of_sums():
    f = np.linspace(80, 500, 300)
    one, two = (cal.third_octaves(f, 1e-6 * factor * f, "mean") for factor in (1.0, 0.1))
    axes = plots.third_octaves({"one": one, "two": two}).axes[0]
    tops = np.array([bar.get_y() + bar.get_height() for bar in axes.patches]).reshape(2, -1)
    for drawn, bands in zip(tops, (one, two), strict=True):
        assert np.allclose(drawn[:-2], bands.levels)
        assert np.allclose(drawn[-2:], [bands.total_level, bands.total_a_weighted_level])
    names = [text.get_text() for text in axes.get_xticklabels()]
    assert names == ["100", "125", "160", "200", "250", "315", "400", "sum", "A"]
    assert axes.get_ylabel() == "sound power level (dB re 1 pW)"
    colors = {matplotlib.colors.to_hex(bar.get_facecolor()) for bar in axes.patches}
    assert len(colors) == 4  # two spectra, sums lighter
    weighted = plots.third_octaves(one, weighted=True).axes[0]
    assert [bar.get_y() + bar.get_height() for bar in weighted.patches][:-1] == pytest.approx(one.a_weighted_levels)
    assert "A-weighted" in weighted.get_ylabel()
    with pytest.raises(ValueError, match="the same bands"):
        plots.third_octaves({"one": one, "few": cal.third_octaves(f, f, "mean", bands=[100])})
