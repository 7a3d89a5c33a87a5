"""The measurements on a device run, and tell when numbers are wrong."""

import importlib
import os
import sys
from argparse import Namespace
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from calderon.backends import survey

ROOT = Path(__file__).parents[2]
OPTIONS = Namespace(triangles=288, only="", repeat=1, points=1000)


@pytest.fixture
def screen():
    return Console(record=True, width=140, quiet=False)


def load(name, monkeypatch):
    if not (ROOT / "benchmarks").exists():
        pytest.skip("needs the source tree")
    monkeypatch.syspath_prepend(ROOT)
    return importlib.import_module(f"benchmarks.{name}")


@pytest.fixture
def record(monkeypatch, tmp_path):
    results = load("common.results", monkeypatch)
    monkeypatch.setattr(results, "FOLDER", tmp_path)
    return results.Record.new("gpu", {}, True)


ERRORS = {
    "hmatrix": 1e-4,
    "plane waves combined field": 1e-3,
    "dense": 1e-12,
}


@pytest.mark.parametrize("name", ERRORS)
def test_totals_have_phases_that_add_up(name, opencl, monkeypatch):
    rows, totals = load("gpu.rows", monkeypatch), load("gpu.totals", monkeypatch)
    (row,) = (each for each in rows.ROWS if each.name == name)
    found = totals.total(row, 486, opencl, 1)
    assert found["error"] < ERRORS[name] and 100 < found["unknowns"] < 3000
    assert sum(found["phases"].values()) == pytest.approx(found["seconds"], rel=0.2, abs=0.02)
    assert 0 < found["host_seconds"] <= sum(found["host_phases"].values())
    assert found["product_seconds"] > 0


def test_points_a_second(opencl, monkeypatch):
    rows, totals = load("gpu.rows", monkeypatch), load("gpu.totals", monkeypatch)
    (row,) = (each for each in rows.ROWS if each.name == "point sums")
    found = totals.total(row, 5000, opencl, 1)
    assert found["unknowns"] == 5000 and 0 < found["error"] < 1e-4
    assert found["points_per_second"] == 5000 / found["product_seconds"]


def test_rows_are_written_one_by_one_and_left_out_when_time_is_up(opencl, monkeypatch, screen, record):
    """A row that fails or is late does not take others with it, and a second run goes on with what is missing."""
    run, results = load("gpu.run", monkeypatch), load("common.results", monkeypatch)
    done, kept = [], []

    def section(name, seconds=1.0, error=None):
        def work():
            done.append(name)
            kept.append(set(results.Record.newest("gpu").content["rows"]))
            if error:
                raise error
            return {"seconds": 0.1}

        return run.Section(name, seconds, work)

    given = [section("first"), section("second", error=MemoryError("too small")), section("third", 1000.0)]
    monkeypatch.setattr(run, "sections", lambda *_: iter(given))
    monkeypatch.setattr(opencl, "is_gpu", True)
    options = Namespace(record=record, backend="opencl", seconds=60.0, only="")
    record.write(**run.measure(screen, None, options))
    assert done == ["first", "second"] and kept == [set(), {"first"}]
    assert record.content["left_out"] == ["third"] and "too small" in record.content["rows"]["second"]["failed"]
    assert "FAILED second" in screen.export_text(clear=False) and "left out" in screen.export_text(clear=False)
    # a second run, with more time
    given[1] = section("second")
    options = Namespace(record=results.Record.newest("gpu"), backend="opencl", seconds=2000.0, only="")
    options.record.write(**run.measure(screen, None, options))
    assert done == ["first", "second", "second", "third"]
    assert set(results.Record.newest("gpu").content["rows"]) == {"first", "second", "third"}


def test_rows_come_in_the_order_of_worth(opencl, monkeypatch, screen, record):
    run = load("gpu.run", monkeypatch)
    monkeypatch.setattr(opencl, "is_gpu", True)
    options = Namespace(only="", unknowns=None, triangles=None, repeat=1, points=100)
    names = [each.name for each in run.sections(screen, None, opencl, options, record)]
    kinds = ["bracket", "fast", "hmatrix", "plane", "lens", "dense", "point", "four-million", "weak", "solutions",
             "potential", "time", "published", "kernels"]  # fmt: skip
    assert list(dict.fromkeys(name.split()[0] for name in names)) == kinds and len(set(names)) == len(names)
    options.only = "weak upwind"
    few = [each.name for each in run.sections(screen, None, opencl, options, record)]
    assert few == [f"weak upwind P{order} single" for order in (1, 2, 3, 4)]


def test_time_stepping(opencl, monkeypatch, screen, record):
    measure, limits = load("gpu.time_stepping", monkeypatch), load("gpu.limits", monkeypatch)
    monkeypatch.setattr(measure, "CELLS", {1: 2})
    options = Namespace(triangles=48, only="", repeat=1)
    known = limits.Limits(opencl, None, record)
    vars(known)["copy"] = 1e9
    sections = {each.name: each for each in measure.boxes(screen, opencl, ["double"], known, options)}
    row = sections["time stepping upwind P1 double"].run()
    assert row["error"] < measure.BOUNDS["double"] and row["updates"] > 0 and row["tetrahedra"] == 48
    expected = 144 + 5 * (28 * 8 + 16) / 24
    assert row["bytes_per_update"] == pytest.approx(expected)
    assert row["fraction_of_bandwidth"] == pytest.approx(row["updates"] * expected / 1e9)
    assert "WRONG" not in screen.export_text(clear=False)
    monkeypatch.setattr(measure, "difference", lambda *arguments: np.nan)
    sections["time stepping upwind P1 double"].run()
    assert "WRONG" in screen.export_text()


def test_loads_of_one_card(opencl, monkeypatch, screen, record):
    """The boxes of the published loads, at any size."""
    measure, limits = load("gpu.time_stepping", monkeypatch), load("gpu.limits", monkeypatch)
    assert [6 * cells**3 for cells in measure.LOADS.values()] == [3_072_000, 3_072_000, 1_296_000, 750_000]
    known = limits.Limits(opencl, None, record)
    vars(known)["copy"] = 1e9
    sections = list(measure.loads(screen, opencl, known, Namespace(triangles=160)))
    row = sections[1].run()
    assert len(sections) == 8 and row["tetrahedra"] == 162 and row["error"] < measure.BOUNDS["single"]
    assert "GB/s" in screen.export_text()
    card = Namespace(is_gpu=True)
    assert measure.cells_of(80, card, Namespace(triangles=None)) == 80


def test_figures_that_were_published(opencl, monkeypatch, screen):
    published = load("gpu.published", monkeypatch)
    monkeypatch.setattr(published, "FEW", (128, 258))
    monkeypatch.setattr(published, "HULL", 0.5)
    sections = {each.name: each for each in published.rows(screen, opencl, ["double"], OPTIONS)}
    assert len(sections) == 3
    assert sections["published target strength double"].run()["per_cent"] < 1e-3
    phases = sections["published phases 258"].run()
    assert phases["product_seconds"] > 0 and all(each >= 0 for each in phases["kernel_seconds"].values())
    speed = sections["published speed-up 128 double"].run()
    assert [len(each) for each in speed["seconds"].values()] == [5, 5, 5] and speed["speed_up"]["numba"] == 1


def test_kernels_tell_when_numbers_are_wrong(opencl, monkeypatch, screen, record):
    kernels, limits = load("gpu.kernels", monkeypatch), load("gpu.limits", monkeypatch)
    monkeypatch.setattr(kernels, "CHECKED", (32,))
    floor = Namespace(double=1e10, single=2e10)
    sections = list(kernels.assemblies(screen, opencl, ["double"], limits.Limits(opencl, floor, record), OPTIONS))
    assert len(sections) == 9
    row = sections[0].run()
    assert row["error"] < 1e-12 and row["fraction_of_flops"] > 0 and "WRONG" not in screen.export_text(clear=False)
    monkeypatch.setitem(kernels.BOUNDS, "double", 0.0)
    sections[0].run()
    assert "WRONG" in screen.export_text()


def test_host_seconds_of_a_row(opencl, monkeypatch, screen, record):
    """Evaluations are those of all pairs where none is distant, then fewer."""
    host = load("gpu.host", monkeypatch)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(sys.path))
    given = Namespace(only="dense", unknowns=512, repeat=1, backend="opencl", record=record, full=False)
    host.measure(screen, None, given)
    assert [row["unknowns"] for row in record.content["rows"]] == [128, 288, 512]
    pairs = [row["kernels"]["regular"]["evaluations"] / 36 for row in record.content["rows"]]
    assert pairs[:2] == [128**2, 288**2] and 0.9 * 512**2 < pairs[2] < 512**2
    (law,) = record.content["laws"]
    assert law["expected_seconds"] == law["host_seconds"] + law["kernel_seconds"] > 0
    assert "a model and no measurement" in " ".join(screen.export_text().split())
    given.full = True
    host.measure(screen, None, given)
    (row,) = record.content["rows"]
    assert row["unknowns"] == 512 and 0 < row["host_seconds"] < row["wall_seconds"] and not record.content["laws"]


def test_time_stepping_on_ranks(opencl, monkeypatch):
    for name in ("mpi4py", "pymetis"):
        pytest.importorskip(name)
    measure = load("time_domain.dg_scaling", monkeypatch)
    monkeypatch.setitem(load("gpu.time_stepping", monkeypatch).CELLS, 2, 2)
    assert measure.device_rows() == [] or opencl.is_gpu
    monkeypatch.setattr(survey("opencl").devices[0], "is_gpu", True)  # earlier tests may have looked for devices again
    assert [row.name for row in measure.device_rows() if row.order == 2] == [
        f"{kind} box P2 opencl {ranks}x1" for kind in ("strong", "weak") for ranks in (1, 2)
    ]
    try:
        found = measure.run(measure.device_rows()[1], 1)
    except RuntimeError as error:
        if "mpiexec is not available" not in str(error):
            raise
        pytest.skip("mpiexec is not available")
    assert [each["unknowns"] for each in found] == [48 * 60] * 2 and min(each["seconds"] for each in found) > 0
