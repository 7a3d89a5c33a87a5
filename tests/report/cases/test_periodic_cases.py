"""Case files of periodic surfaces: mistakes by line and key, numbers, and the files of a result."""

import csv
import json

import numpy as np
import pytest

from calderon.case import CaseError, parse
from calderon.report import example, headlines, plan, run, write

CASE = """\
title = "patches"
[periodic]
period = ["12.5 mm", "12 mm"]
frequency = ["10 GHz", "12 GHz"]
theta = "20 deg"
below = "vacuum"
[element]
shape = "patch"
length = "7 mm"
width = "5 mm"
h = "2.5 mm"
[[layer]]
thickness = "1.5 mm"
permittivity = 2.2
"""


@pytest.mark.parametrize(
    "old, new, text",
    [
        ('shape = "patch"', 'shape = "star"', "line 8: element.shape = \"star\": choose 'jerusalem-cross'"),
        ('h = "2.5 mm"', "", "the shape 'patch' also needs h"),
        ('h = "2.5 mm"', 'h = "2.5 mm"\ncells = 4', "cells is not supported by the shape 'patch'"),
        ('theta = "20 deg"', 'side = "left"', "periodic.side"),
        ('theta = "20 deg"', 'above = "pec"', "no wave comes from there, through a wall"),
        ('theta = "20 deg"', "theta = 20", "give the unit of an angle"),
        ('h = "2.5 mm"', 'h = "2.5 mm"\ninterface = 2', "the board has 1 [[layer]] tables"),
        ('below = "vacuum"', 'below = "pec"\n', ""),
        ("permittivity = 2.2", "permittivity = -2.2", "layer.permittivity"),
    ],
)
def test_mistakes_are_named(old, new, text):
    changed = CASE.replace(old, new)
    if not text:
        assert parse(changed).case.stack.below == "pec"
        with pytest.raises(CaseError, match="the element lies on a wall"):
            parse(changed.replace('h = "2.5 mm"', 'h = "2.5 mm"\ninterface = 0'))
        return
    with pytest.raises(CaseError) as caught:
        parse(changed, "case.toml")
    assert text in str(caught.value)


def test_mistakes_of_the_cell_are_named_by_their_keys():
    with pytest.raises(CaseError, match="line 3: periodic.period.*overlap those of the next cell"):
        run(parse(CASE.replace("12.5 mm", "6.5 mm"), "case.toml"))
    with pytest.raises(CaseError, match="periodic.theta.*90 degrees"):
        run(parse(CASE.replace("20 deg", "95 deg"), "case.toml"))


def test_a_result_has_its_files_with_units(tmp_path):
    file = parse(CASE)
    results = run(file)
    unknowns, mesh = results.cell.functions.dimension, results.cell.mesh
    assert plan(file)[0] == ("unknowns", f"{unknowns} on {mesh.number_of_triangles} triangles", "")
    assert np.abs(results.power - 1).max() < 1e-10
    direct = results.cell.reflection(12e9, np.radians(20))
    assert np.allclose(results.waves["reflection"][1], direct)
    assert any("reflection of TM at 12 GHz" in row[0] for row in headlines(results, {"solve": 1.0}))
    written = write(results, tmp_path / "out")
    names = {"reflection.csv", "transmission.csv", "orders.csv", "current.vtu", "reflection_phase.png", "current.png"}
    assert names <= set(written.files)
    with (tmp_path / "out" / "reflection.csv").open() as stream:
        rows = list(csv.DictReader(stream))
    assert float(rows[1]["frequency_Hz"]) == 12e9
    assert float(rows[1]["TM_to_TM"]) == pytest.approx(abs(direct[0, 0]))
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["reflection_TE_to_TE"][1] == pytest.approx(abs(direct[1, 1]))
    page = (tmp_path / "out" / "report.html").read_text()
    assert "Plane waves at a periodic surface" in page and "12.5 × 12 mm" in page


def test_the_example_is_the_cross_of_the_tests_of_cells():
    case = example("jerusalem-cross").case
    assert case.height == 1.575e-3 and len(case.periodic.frequency) == 17
    assert case.element.mesh(case.height).area == pytest.approx(23.8e-6)
