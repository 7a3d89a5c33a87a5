"""A release is checked before it is published."""

import runpy
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
MISTAKES = runpy.run_path(str(ROOT / "release" / "check_release.py"))["mistakes"]


def test_the_present_version_may_be_released_and_another_one_not():
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    assert MISTAKES(f"v{version}") == []
    assert len(MISTAKES("v9.9.9")) == 2  # neither the version of the project nor one of the changelog


def test_extras_name_extras_that_exist():
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    named = {
        each
        for needs in extras.values()
        for need in needs
        if need.startswith("calderon[")
        for each in need.removeprefix("calderon[").rstrip("]").split(",")
    }
    wanted = "pyvista gmsh cad opencl cuda mpi data formats notebook docs test all".split()
    assert named <= set(extras) and set(wanted) <= set(extras)
