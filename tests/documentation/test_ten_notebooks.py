"""The notebooks of the documentation: their pages are theirs, and they run."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import calderon

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "examples" / "notebooks").glob("*.ipynb"))


def test_each_notebook_has_its_page_with_pictures():
    """Without outputs in the notebook; the page, written by docs/tools/notebooks.py, has the same programs."""
    assert len(NOTEBOOKS) == 10
    for path in NOTEBOOKS:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        programs = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
        assert not any(cell.get("outputs") for cell in cells)
        page = (ROOT / "docs" / "notebooks" / f"{path.stem}.md").read_text(encoding="utf-8")
        assert re.findall(r"(?ms)^```python\n(.*?)\n```$", page) == programs, f"make notebooks: {path.stem}"
        pictures = re.findall(r"\((pictures/[\w-]+\.png)\)", page)
        assert pictures and all((ROOT / "docs" / "notebooks" / each).is_file() for each in pictures)


@pytest.mark.variant
def test_all_notebooks_run_by_their_command():
    pytest.importorskip("nbclient", reason="runs notebooks")
    pytest.importorskip("ipykernel", reason="runs notebooks")
    given = {**os.environ, "PYTHONPATH": str(Path(calderon.__file__).parents[1])}
    command = [sys.executable, str(ROOT / "docs" / "tools" / "notebooks.py"), "--check"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, env=given)
    assert ran.returncode == 0 and "10 notebooks in" in ran.stdout, ran.stdout + ran.stderr
