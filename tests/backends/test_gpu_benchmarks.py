"""The measurements on a device run, and tell when numbers are wrong."""

import importlib
from argparse import Namespace
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from calderon.backends import survey

ROOT = Path(__file__).parents[2]
OPTIONS = Namespace(triangles=288, only="", repeat=1)


@pytest.fixture
def screen():
    return Console(record=True, width=140, quiet=False)


def load(name, monkeypatch):
    if not (ROOT / "benchmarks").exists():
        pytest.skip("needs the source tree")
    monkeypatch.syspath_prepend(ROOT)
    return importlib.import_module(f"benchmarks.{name}")


@pytest.mark.variant
def test_hmatrices(opencl, monkeypatch, screen):
    measure = load("gpu_hmatrix", monkeypatch)
    monkeypatch.setattr(measure, "CHECKED", 512)
    (row,) = measure.measure(screen, opencl, lambda what: False, OPTIONS)
    assert row["unknowns"] == 146 and row["error"] < measure.RTOL
    assert min(row["assembly_seconds"], row["product_seconds"], row["threads_seconds"]) > 0
    assert "agree with the dense matrix" in screen.export_text(clear=False)
    late = iter([False, True])
    (row,) = measure.measure(screen, opencl, lambda what: next(late), OPTIONS)
    assert row["threads_seconds"] is None
    monkeypatch.setattr(measure, "RTOL", 1e-12)
    with monkeypatch.context() as patch:
        patch.setattr(measure, "relative", lambda found, exact: 1.0)
        measure.measure(screen, opencl, lambda what: True, OPTIONS)
    assert "WRONG: opencl:0, numba" in screen.export_text()


def test_fast_multipole_products(opencl, monkeypatch, screen):
    measure = load("gpu_fmm", monkeypatch)
    rows = measure.measure(screen, opencl, lambda what: False, OPTIONS)
    assert [(row["operator"], row["unknowns"]) for row in rows] == [("laplace", 146), ("elastic", 114)]
    assert all(0 < row["error"] < 10 * measure.RTOL and row["change"] < 1e-5 for row in rows)
    assert "products agree with the processor's" in screen.export_text(clear=False)
    monkeypatch.setattr(measure, "timed", lambda *given: rows[0] | {"change": np.nan})
    measure.measure(screen, opencl, lambda what: False, OPTIONS)
    assert "WRONG: laplace, elastic" in screen.export_text()


@pytest.mark.variant
def test_products_by_plane_waves(opencl, monkeypatch, screen):
    measure = load("gpu_mlfmm", monkeypatch)
    options = Namespace(triangles=2048, only="", repeat=1)
    rows = measure.measure(screen, opencl, lambda what: False, options)
    assert [(row["operator"], row["unknowns"]) for row in rows] == [("sound", 1026), ("conductor", 768)]
    assert all(0 < row["error"] <= measure.RTOL and row["change"] < measure.RTOL for row in rows)
    monkeypatch.setattr(measure, "timed", lambda *given: rows[0] | {"change": np.nan})
    measure.measure(screen, opencl, lambda what: False, options)
    assert "WRONG: sound, conductor" in screen.export_text()


def test_time_stepping(opencl, monkeypatch, screen):
    measure = load("gpu_dg", monkeypatch)
    monkeypatch.setattr(measure, "CELLS", {1: 2})
    monkeypatch.setattr(measure, "FEW", 2)
    rows = measure.measure(screen, opencl, ["double"], 1e9, lambda what: False, OPTIONS)
    assert [row["flux"] for row in rows] == ["centred", "upwind"]
    for row in rows:
        assert row["error"] < measure.BOUNDS["double"] and row["updates"] > 0 and row["tetrahedra"] == 48
    assert [row["bytes_per_update"] for row in rows] == pytest.approx([24 + 80 / 12, 160 + 5 * (28 * 8 + 16) / 24])
    assert "WRONG" not in screen.export_text(clear=False)
    monkeypatch.setattr(measure, "difference", lambda *arguments: np.nan)
    measure.measure(screen, opencl, ["double"], 1e9, lambda what: False, OPTIONS)
    assert "WRONG nan" in screen.export_text()


def test_time_stepping_on_ranks(opencl, monkeypatch):
    for name in ("mpi4py", "pymetis"):
        pytest.importorskip(name)
    measure = load("time_domain.dg_scaling", monkeypatch)
    monkeypatch.setitem(load("gpu_dg", monkeypatch).CELLS, 2, 2)
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
