"""Case files of reflectarrays: mistakes, numbers, and the files of a result."""

import csv
import json

import pytest

from calderon.case import CaseError, parse
from calderon.report import example, headlines, plan, run, sheet_of, write

pytestmark = pytest.mark.filterwarnings("ignore::calderon.AccuracyWarning")
CASE = """\
title = "patches"
[reflectarray]
period = "12.5 mm"
count = [3, 3]
frequency = "12 GHz"
focus = "40 mm"
smallest = "4 mm"
largest = "10 mm"
sizes = 3
[element]
shape = "patch"
length = "7 mm"
width = "7 mm"
h = "3.5 mm"
[[layer]]
thickness = "3.175 mm"
permittivity = 2.2
"""


def test_mistakes_are_named():
    for old, new, text in (
        ("4 mm", "14 mm", "reflectarray.smallest must be below reflectarray.largest"),
        ("count = [3, 3]", "count = 3", "reflectarray.count"),
        ("sizes = 3", "interface = 2", "interface"),
    ):
        with pytest.raises(CaseError) as caught:
            parse(CASE.replace(old, new, 1), "case.toml")
        assert text in str(caught.value)


@pytest.fixture(scope="module")
def results():
    return run(parse(CASE, "case.toml"))


def test_numbers_of_a_result(results):
    summary = sheet_of(results).numbers
    assert results.focus > 1.5 and summary["elements"] == 9 and "LU converged" in summary["solver"]
    assert dict((name, value) for name, value, _ in plan(results.file))["method"].startswith("dense")
    assert headlines(results, {})[0] == ("field at the focus over that of the wave", f"{results.focus:.2f}", "")


@pytest.mark.variant
def test_files_of_a_result(results, tmp_path):
    write(results, tmp_path / "out")
    summary = json.loads((tmp_path / "out" / "summary.json").read_text())
    assert summary["focus_over_incident"] == pytest.approx(results.focus)
    with (tmp_path / "out" / "elements.csv").open() as lines:
        rows = list(csv.DictReader(lines))
    assert len(rows) == 9 and 4e-3 <= float(rows[4]["size_m"]) <= 10e-3
    names = {each.name for each in (tmp_path / "out").iterdir()}
    assert {"phase_map.png", "phases.png", "focus.png", "current.png", "focus.csv", "current.vtu"} <= names
    text = (tmp_path / "out" / "report.html").read_text()
    assert all(name in text for name, _, _ in headlines(results, {}))


def test_the_example_reads():
    assert example("reflectarray").case.reflectarray.count == (9, 9)
