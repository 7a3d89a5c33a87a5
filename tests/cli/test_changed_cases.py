"""Cases that were changed after a run of them was killed, and cases with names that are no text."""

import os

import pytest
from typer.testing import CliRunner

from calderon.cli import app
from calderon.formulations.monostatic import RecordedProducts
from surface_case import surface_case

SWEEP = surface_case('monostatic = { plane = "xy", start = "0 deg", stop = "60 deg", count = 4 }')
SWEEP = SWEEP.replace("[output]", '[solver]\nmethod = "hmatrix"\nmatrix_file = "matrix.h5"\n[output]')


def calderon_command(*arguments):
    return CliRunner().invoke(app, [str(each) for each in arguments])


def test_a_killed_sweep_of_an_earlier_state_leaves_nothing(tmp_path, monkeypatch):
    case, out = tmp_path / "case.toml", tmp_path / "out"
    multiply = RecordedProducts.__matmul__

    def stop(self, vectors):
        if self.count == 3:
            raise KeyboardInterrupt
        return multiply(self, vectors)

    for count in (4, 5):
        case.write_text(SWEEP.replace("count = 4", f"count = {count}"))
        with monkeypatch.context() as patched:
            patched.setattr(RecordedProducts, "__matmul__", stop)
            assert calderon_command("run", case, "--out", out).exit_code == 130
        names = sorted(path.name for path in tmp_path.iterdir())
        pieces = [name for name in names if ".part-" in name]
        assert len(pieces) == 3 and len(names) == 5, names
    (tmp_path / f".{pieces[0].partition('.part')[0]}.h5.lock").write_text("{}")  # as kill -9 leaves it
    (tmp_path / "matrix-sweep-of-another-case.h5").write_text("kept")
    case.write_text(SWEEP.replace("count = 4", "count = 3"))
    assert calderon_command("run", case, "--out", out).exit_code == 0
    kept = ["case.toml", "matrix-sweep-of-another-case.h5", "matrix.h5", "out"]
    assert sorted(path.name for path in tmp_path.iterdir()) == kept


@pytest.mark.skipif(os.name != "posix", reason="names are bytes on POSIX only")
def test_a_name_that_is_no_text_has_its_whole_result(tmp_path):
    case = os.fsencode(tmp_path) + b"/f\xe4ll.toml"
    text = '[mesh]\nshape = "cube"\nsize = 1\nh = 0.5\n[physics]\nproblem = "laplace-dirichlet"\npotential = 1\n'
    with open(case, "w") as file:
        file.write(text)
    run = calderon_command("run", os.fsdecode(case), "--out", tmp_path / "out")
    assert run.exit_code == 0, run.output
    assert "f\\xe4ll" in (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
