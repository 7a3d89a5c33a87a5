"""Each script in examples/ runs, meets the number that it asserts and leaves its pictures."""

import runpy
from pathlib import Path

import pytest

SCRIPTS = sorted((Path(__file__).parents[2] / "examples").glob("[!_]*.py"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_an_example_meets_its_number(script, tmp_path):
    runpy.run_path(str(script))["main"](tmp_path)
    assert all(picture.stat().st_size > 10_000 for picture in tmp_path.glob("*.png"))
    assert list(tmp_path.glob("*.png"))
