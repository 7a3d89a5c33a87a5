"""Kinds of cases: each is one object with the steps from its file to its report."""

from dataclasses import replace

import numpy as np
import pytest

from calderon.case import parse
from calderon.case.registry import OWN, kinds
from calderon.kinds.surface import PHYSICS
from calderon.kinds.surface.physics import FAMILIES, PROBLEMS, Problem
from calderon.report import Kind, examples, run, write
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


def test_a_problem_of_a_known_family_is_one_entry(monkeypatch, tmp_path):
    monkeypatch.setitem(PROBLEMS, "rigid", replace(PROBLEMS["sound-hard"], title="A rigid body"))
    results = run(parse(CUBE_CASE.replace("sound-hard", "rigid")))
    np.testing.assert_allclose(results.steps[0].strength, run(parse(CUBE_CASE)).steps[0].strength, rtol=1e-9)
    write(results, tmp_path / "out")
    assert "A rigid body" in (tmp_path / "out" / "report.html").read_text()
