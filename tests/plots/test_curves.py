"""Curves: what is drawn is what was given."""

from types import SimpleNamespace

import numpy as np
import pytest

import calderon.plots as plots

ANGLES = np.linspace(0, 2 * np.pi, 73)


def test_polar_draws_levels_down_to_a_floor_with_exact_on_top():
    levels = 20 * np.log10(np.abs(np.sinc(3 * np.sin(ANGLES))) + 1e-9)
    axes = plots.polar(ANGLES, {"dense": levels}, unit="dB re 1 m", exact=levels - 1).axes[0]
    dense, exact = axes.get_lines()
    assert np.allclose(dense.get_ydata(), np.maximum(levels, axes.get_rmin()))
    assert exact.get_label() == "exact" and exact.get_zorder() > dense.get_zorder()
    assert axes.get_rmax() >= levels.max() and axes.get_rmax() - axes.get_rmin() == pytest.approx(50)


@pytest.mark.parametrize(
    ("low", "high", "sector"), [(0, 90, 90), (0, 180, 180), (10, 170, 180), (-90, 90, 360), (0, 181, 360)]
)
def test_polar_draws_the_sector_of_its_angles(low, high, sector):
    angles = np.radians(np.linspace(low, high, 19))
    axes = plots.polar(angles, {"a": np.cos(angles)}).axes[0]
    assert (axes.get_thetamin(), axes.get_thetamax()) == (0, sector)
    other = plots.polar(angles, {"a": np.cos(angles)}, references={"b": (angles + np.pi, angles)}).axes[0]
    assert other.get_thetamax() == 360


def test_polar_takes_linear_units_from_zero():
    axes = plots.polar(ANGLES, {"rcs": 2 + np.cos(ANGLES)}, unit="m²").axes[0]
    assert axes.get_rmin() == 0 and axes.get_rmax() >= 3


def test_curves_leave_the_axes_below_a_limit_and_the_other_one_fits_what_is_left():
    levels = np.where(ANGLES < 1, -np.inf, np.linspace(-300, 6, 73))
    axes = plots.cartesian(ANGLES, {"a": levels}, limits=(-24, None)).axes[0]
    assert axes.get_ylim() == pytest.approx((-24, 7.5)) and axes.get_lines()[0].get_ydata().min() == -np.inf
    assert plots.cartesian(ANGLES, {"a": ANGLES}, limits=(-1, 9)).axes[0].get_ylim() == (-1, 9)
    with pytest.raises(ValueError, match=r"no value lies between the limits \(20, None\)"):
        plots.cartesian(ANGLES, {"a": levels}, limits=(20, None))


def test_labels_tell_curves_apart_and_a_single_one_has_no_legend():
    two = plots.cartesian(ANGLES, {"a": ANGLES, "b": -ANGLES}, "angle (rad)", "x (m)").axes[0]
    assert [text.get_text() for text in two.get_legend().get_texts()] == ["a", "b"]
    assert two.get_lines()[0].get_linestyle() != two.get_lines()[1].get_linestyle()
    assert plots.cartesian(ANGLES, {"a": ANGLES}).axes[0].get_legend() is None


def test_the_labels_of_rings_keep_off_the_curve():
    """A curve that is low only about 225 degrees leaves free rings there."""
    levels = np.where(np.abs(ANGLES - np.radians(225)) < np.radians(30), -24.0, np.linspace(-1, 1, 73))
    axes = plots.polar(ANGLES, {"a": levels}, unit="dB").axes[0]
    assert axes.get_rlabel_position() == pytest.approx(225)
    rings = [text.get_text() for text in axes.get_yticklabels()]
    assert rings == ["−20", "−10", "0"]


@pytest.mark.parametrize("along", [0.0, 2.0, -1.3])
def test_an_arrow_shows_the_incident_wave(along):
    figure = plots.polar(ANGLES, {"a": ANGLES}, incident=along)
    arrows = [text for text in figure.axes[1].texts if getattr(text, "arrow_patch", None) is not None]
    size = figure.get_size_inches()
    step = (np.array(arrows[0].xy) - arrows[0].get_position()) * size
    assert len(arrows) == 1 and np.arctan2(step[1], step[0]) == pytest.approx(along)
    assert "incident wave" in [text.get_text() for text in figure.axes[1].texts]


@pytest.mark.parametrize("given", ["list", "info", "mapping"])
def test_convergence_takes_lists_infos_and_several(given):
    history = 0.5 ** np.arange(12)
    residuals = {
        "list": list(history),
        "info": SimpleNamespace(residuals=history),
        "mapping": {"plain": history, "preconditioned": SimpleNamespace(residuals=history**2)},
    }[given]
    axes = plots.convergence(residuals, rtol=1e-3).axes[0]
    assert axes.get_yscale() == "log"
    assert np.allclose(axes.get_lines()[0].get_ydata(), history)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: plots.polar(ANGLES, {"a": ANGLES[:-1]}), r"curve 'a' has shape \(72,\)"),
        (lambda: plots.polar(ANGLES, {}), "at least one"),
        (lambda: plots.cartesian(ANGLES, {"a": 1j * ANGLES}), "'a' is complex"),
        (lambda: plots.cartesian(ANGLES, {"a": np.full(73, np.nan)}), "no value is finite"),
        (lambda: plots.cartesian(ANGLES, {"a": ANGLES}, yscale="dB"), "unknown scale 'dB'"),
        (lambda: plots.convergence([]), "a direct solver has no history"),
    ],
)
def test_what_does_not_fit_is_named(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("draw", [plots.polar, plots.cartesian])
def test_references_are_points_beside_the_curves(draw):
    x = np.linspace(0, 3, 50)
    figure = draw(x, {"a": np.sin(x)}, references={"known": ([0.5, 1.0], [0.4, 0.8])})
    points = next(line for line in figure.axes[0].lines if line.get_label() == "known")
    assert points.get_linestyle() == "None" and points.get_marker() == "o"
    np.testing.assert_allclose(points.get_xydata(), [[0.5, 0.4], [1.0, 0.8]])
    with pytest.raises(ValueError, match="reference 'known' has shapes"):
        draw(x, {"a": np.sin(x)}, references={"known": ([0.5, 1.0], [0.4])})


def test_smith_charts_have_inductive_impedances_above():
    z = np.array([1.0, 0.5 - 1j, 2.0 - 1j])  # exp(-i omega t): R - iX
    axes = plots.smith({"S11": (z - 1) / (z + 1)}, ends=("1 GHz", "2 GHz")).axes[0]
    (line,) = (each for each in axes.get_lines() if each.get_label() == "S11")
    shown = line.get_xdata() + 1j * line.get_ydata()
    assert np.allclose((1 + shown) / (1 - shown), z.conj())
    assert {"1 GHz", "2 GHz"} <= {each.get_text() for each in axes.texts}
    with pytest.raises(ValueError, match="reflection 'S11' of shape"):
        plots.smith({"S11": np.zeros((2, 2))})
