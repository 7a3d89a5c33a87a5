"""Kinds of cases: each is one object with the steps from its file to its report."""

from dataclasses import replace

import numpy as np
import pytest

from calderon.case import parse
from calderon.case.registry import OWN, kinds
from calderon.kinds.surface import PHYSICS
from calderon.kinds.surface.physics import FAMILIES, PROBLEMS, Problem
from calderon.report import Kind, Panel, examples, panel, run, write
from calderon.report.sheet import collected
from surface_case import CUBE, surface_case

CUBE_CASE = surface_case('surface = []\nfar_field = { plane = "xy", count = 9 }', CUBE, 1.0)


def test_every_kind_has_a_name_a_model_and_panels():
    found = list(kinds())
    assert tuple(kind.name for kind in found) == OWN
    assert all(isinstance(kind, Kind) and kind.panels and len(kind.model.model_fields) > 3 for kind in found)


def test_every_kind_has_an_example():
    assert {file.kind.name for file in examples().values()} == set(OWN)


def test_every_problem_on_surfaces_is_of_a_family_that_is_evaluated():
    assert {problem.family for problem in PROBLEMS.values()} == set(FAMILIES) == set(PHYSICS)
    with pytest.raises(ValueError, match="unknown family of problems 'optical'"):
        Problem("light", "optical", lambda *arguments: None)


def test_a_panel_is_left_out_where_a_result_lacks_what_it_needs_and_named_where_it_fails():
    class Found:
        mesh, points, empty = {"area": 1.0}, np.zeros((2, 3)), ()

        @property
        def wrong(self):
            return self.missing

    panels = [panel(need)(lambda results, sheet: sheet.number(str(len(sheet.numbers)), 1)) for need in
              ("mesh", "points.shape", "empty", "none", "mesh.none", "none.mesh")]  # fmt: skip
    assert len(collected(Found(), panels).numbers) == 2
    failing = collected(Found(), [Panel("the wrong one", ("wrong",), print), *panels])
    assert len(failing.failures) == 1 and len(failing.numbers) == 2
    assert failing.failures[0].startswith("the panel 'the wrong one' is left out: AttributeError")


def test_a_problem_of_a_known_family_is_one_entry(monkeypatch, tmp_path):
    monkeypatch.setitem(PROBLEMS, "rigid", replace(PROBLEMS["sound-hard"], title="A rigid body"))
    results = run(parse(CUBE_CASE.replace("sound-hard", "rigid")))
    np.testing.assert_allclose(results.steps[0].strength, run(parse(CUBE_CASE)).steps[0].strength, rtol=1e-9)
    write(results, tmp_path / "out")
    assert "A rigid body" in (tmp_path / "out" / "report.html").read_text()
