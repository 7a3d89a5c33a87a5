"""The notebook among the examples runs, and shows the surface and the solution as views that turn."""

import json
import sys
from pathlib import Path

import pytest

pytest.importorskip("ipykernel", reason="runs a notebook")
nbclient = pytest.importorskip("nbclient", reason="runs a notebook")
nbformat = pytest.importorskip("nbformat", reason="runs a notebook")
NOTEBOOK = Path(__file__).parents[2] / "examples" / "sphere.ipynb"


@pytest.mark.variant
def test_the_notebook_runs_and_shows_views(tmp_path, monkeypatch):
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path))
    kernel = tmp_path / "kernels" / "python3"  # this Python, whatever kernels are installed
    kernel.mkdir(parents=True)
    start = [sys.executable, "-m", "ipykernel_launcher", "-f", "{connection_file}"]
    (kernel / "kernel.json").write_text(json.dumps({"argv": start, "display_name": "Python 3"}), "utf-8")
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert not any(cell.outputs for cell in cells) and sum(cell.source.count("\n") + 1 for cell in cells) < 25
    nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [cell.outputs[-1].data for cell in cells]
    assert all("<iframe" in data["text/html"] and len(data["text/html"]) > 10_000 for data in shown[:2])
    assert shown[2]["text/plain"].startswith("'") and "exact" in shown[2]["text/plain"]
