"""Curves of pictures as data for the report."""

import json

import numpy as np
import pytest

import calderon.plots as plots
from calderon.report.charts import chart


def test_curves_points_and_levels_are_those_of_the_picture():
    x = np.linspace(0, 10, 11)
    figure = plots.cartesian(x, {"a": x**2, "b": -x}, "time (s)", "u (V)", references={"measured": (x[:2], x[:2])})
    data = json.loads(chart(figure))
    assert [one["label"] for one in data["series"]] == ["a", "b", "measured"]
    assert data["series"][0]["y"] == pytest.approx(x**2) and data["yLabel"] == "u (V)"
    assert data["series"][1]["dash"] and not data["series"][2]["line"] and data["series"][2]["marker"] == "o"
    (level,) = json.loads(chart(plots.convergence([1.0, 0.1, 1e-5], rtol=1e-4)))["lines"]
    assert level == {"at": 1e-4, "label": "tolerance 0.0001"}


def test_upright_marks_of_a_picture_are_marks_of_the_chart():
    figure = plots.cartesian([1.0, 2.0, 3.0], {"a": [0.0, 1.0, 0.0]}, "f (GHz)", "S (dB)", marks={"resonance": 2.25})
    data = json.loads(chart(figure))
    assert data["marks"] == [{"at": 2.25, "label": "resonance"}] and data["lines"] == [] and len(data["series"]) == 1


def test_constant_curves_have_an_axis_of_some_height():
    data = json.loads(chart(plots.cartesian([1.0, 2.0], {"a": [1.0, 1.0 + 1e-12]})))
    low, high = data["yLim"]
    assert high - low > 0.1


def test_rings_of_polar_charts_have_numbers():
    angles = np.linspace(0, np.pi, 19)
    data = json.loads(chart(plots.polar(angles, {"a": -20 * angles}, "dBi", quantity="gain"), incident=0.5))
    assert data["sector"] == 180 and len(data["rings"]) >= 4 and data["yLabel"] == "gain (dBi)"
    assert data["incident"] == 0.5
