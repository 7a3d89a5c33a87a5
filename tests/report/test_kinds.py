"""A new problem is an entry of a table."""

from dataclasses import replace

import numpy as np

from calderon.case import parse
from calderon.case.periodic import PERIODIC
from calderon.case.physics import PROBLEMS, TRANSIENT
from calderon.case.planar import PLANAR
from calderon.case.reflectarray import REFLECTARRAY
from calderon.case.solid import Solid
from calderon.report import run, write
from calderon.report.kinds import KINDS
from surface_case import CUBE, surface_case

CUBE_CASE = surface_case('surface = []\nfar_field = { plane = "xy", count = 9 }', CUBE, 1.0)


def test_every_problem_has_a_kind():
    assert {problem.family for problem in PROBLEMS.values()} | {
        TRANSIENT,
        Solid.family,
        PERIODIC,
        PLANAR,
        REFLECTARRAY,
    } == set(KINDS)


def test_a_problem_of_a_known_physics_is_one_entry(monkeypatch, tmp_path):
    monkeypatch.setitem(PROBLEMS, "rigid", replace(PROBLEMS["sound-hard"], title="A rigid body"))
    results = run(parse(CUBE_CASE.replace("sound-hard", "rigid")))
    np.testing.assert_allclose(results.steps[0].strength, run(parse(CUBE_CASE)).steps[0].strength, rtol=1e-9)
    write(results, tmp_path / "out")
    assert "A rigid body" in (tmp_path / "out" / "report.html").read_text()
