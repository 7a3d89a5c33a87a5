"""Programs of new users, of under 25 lines, each with its own assertions."""

import runpy
from pathlib import Path

import pytest

PROGRAMS = sorted((Path(__file__).parent / "programs").glob("*.py"))
NEEDS = {
    "bent_plate_by_gmsh": ["gmsh"],
    "bodies_of_pyvista_and_trimesh": ["pyvista", "trimesh"],
    "two_port": ["skrf", "pandas"],
    "rcs_over_frequency": ["xarray", "pandas"],
}


@pytest.mark.filterwarnings("ignore::calderon.AccuracyWarning")
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda path: path.stem)
def test_a_program_of_a_new_user_runs(program, tmp_path, monkeypatch):
    for name in NEEDS.get(program.stem, ()):
        pytest.importorskip(name, reason="an extra, or another package that the program is about")
    assert len(program.read_text().splitlines()) < 25
    monkeypatch.chdir(tmp_path)
    runpy.run_path(str(program), run_name="__main__")


def test_there_are_programs():
    assert len(PROGRAMS) == 8
