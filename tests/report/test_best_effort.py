"""Parts of a result that cannot be written are left out with a message; the rest is kept."""

import json
from dataclasses import replace

import numpy as np
import pytest

from calderon.case import parse
from calderon.mesh.errors import AccuracyWarning, warn_of_accuracy
from calderon.report import run, write
from calderon.report.formatting import write_csv
from calderon.report.kind import sheet_of
from calderon.report.sheet import BestEffort
from surface_case import CUBE, surface_case

CASE = surface_case('surface = []\nfar_field = { plane = "xy", count = 9 }', CUBE, 1.0) + (
    'slice = { plane = "xy", size = ["2 m", "2 m"], points = 9 }\n'
)


@pytest.fixture(scope="module")
def results():
    return run(parse(CASE))


def notes(folder):
    summary = json.loads((folder / "summary.json").read_text())
    assert set(summary["files"]) == {path.name for path in folder.iterdir()}
    return summary["warnings"]


def test_a_picture_of_nothing_costs_no_numbers(results, tmp_path):
    step = results.steps[0]
    blank = replace(step.slice, values=np.full_like(step.slice.values, np.nan))
    with pytest.warns(UserWarning, match="slice.png could not be written and is left out: nothing to draw"):
        names = write(
            replace(results, steps=(replace(step, sources=(replace(step.sources[0], slice=blank),)),)), tmp_path / "out"
        ).files
    expected = {"far_field.csv", "residuals.csv", "surface.vtu", "far_field.png", "convergence.png", "report.html"}
    assert expected < set(names) and "slice.png" not in names
    assert "slice.png could not be written" in (tmp_path / "out" / "report.html").read_text()
    assert [text for text in notes(tmp_path / "out") if "slice.png could not be written" in text]


def test_what_a_panel_warns_of_is_told_on_the_page(results, tmp_path, monkeypatch):
    def warned(results):
        warn_of_accuracy("bands of too few frequencies")
        return sheet_of(results)

    monkeypatch.setattr("calderon.report.writing.sheet_of", warned)
    with pytest.warns(AccuracyWarning, match="bands of too few frequencies"):
        write(results, tmp_path / "out")
    assert "bands of too few frequencies" in notes(tmp_path / "out")
    assert "bands of too few frequencies" in (tmp_path / "out" / "report.html").read_text()


def test_a_table_or_a_page_that_fails_is_told_and_leaves_the_others(results, tmp_path, monkeypatch):
    def half(path, columns):
        write_csv(path, columns)
        if path.name == "residuals.csv":
            raise OSError("disk full")

    def no_page(*arguments):
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr("calderon.report.sheet.write_csv", half)
    monkeypatch.setattr("calderon.report.writing.page", no_page)
    with pytest.warns(UserWarning):
        names = write(results, tmp_path / "out").files
    assert {"far_field.csv", "surface.vtu", "slice.png"} < set(names)
    assert not {"residuals.csv", "report.html"} & set(names)  # half of a file is none
    assert notes(tmp_path / "out")[-2:] == [
        "residuals.csv could not be written and is left out: OSError: disk full",
        "report.html could not be written and is left out: ZeroDivisionError: by zero",
    ]


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit])
def test_an_interruption_is_no_failure(tmp_path, stop):
    attempts = BestEffort(tmp_path)
    with pytest.raises(stop), attempts.at("picture.png"):
        raise stop
    assert not attempts.failures
