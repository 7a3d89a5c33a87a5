"""The notebooks of the documentation have pages with their programs and pictures; `.ci/run` runs them."""

import json
import re
from pathlib import Path

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
