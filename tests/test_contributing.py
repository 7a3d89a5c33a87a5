"""CONTRIBUTING.md: its picture has the folders of the package, and tests follow its recipes."""

import re
from pathlib import Path

import pytest

import calderon

ROOT = Path(__file__).parent.parent
PACKAGE = Path(calderon.__file__).parent
PAGE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
PICTURE = re.search(r"```text\n(.*?)```", PAGE, re.DOTALL)[1]
NAMED = set(re.findall(r"(?<![\w/.])([a-z]\w*)/", PICTURE))
FOLDERS = {path for path in PACKAGE.rglob("*") if path.is_dir() and "__pycache__" not in path.parts}


def test_pages_name_no_places_of_the_machine_that_wrote_them():
    """Outputs of programs on pages hold no paths of installed packages, as warnings have."""
    pages = [*(ROOT / "docs").rglob("*.md"), *(ROOT / "examples" / "notebooks").glob("*.ipynb")]
    found = [path.name for path in pages if re.search(r"/(site|dist)-packages/", path.read_text(encoding="utf-8"))]
    assert len(pages) > 50 and not found


def test_every_folder_of_the_picture_exists():
    assert NAMED - {path.name for path in FOLDERS} == set()
    for file in re.findall(r"(?<![\w/.*])(\w+\.py)", PICTURE):
        assert list(PACKAGE.rglob(file)), file


def test_every_folder_of_the_package_is_in_the_picture():
    """Folders of files alone (data, static files) may be left out."""
    code = {path for path in FOLDERS if (path / "__init__.py").exists()}
    assert {path.name for path in code} <= NAMED
    assert {path.name for path in code if path.parent == PACKAGE} <= NAMED


@pytest.mark.parametrize("heading", re.findall(r"(?m)^## (Adding .*)$", PAGE))
def test_recipes_name_files_that_exist(heading):
    """Each recipe names a test, or a model, and all its files are there."""
    text = PAGE.split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]
    files = re.findall(r"`((?:tests|src|examples)/[\w/.]+\.py)`", text)
    named = re.findall(r"`((?:\w+/)+\w+\.(?:py|h))`", text)
    missing = [each for each in named if not any((base / each).exists() for base in (ROOT, PACKAGE))]
    assert not [each for each in files if not (ROOT / each).exists() and "yours" not in each]
    assert not [each for each in missing if "yours" not in each], heading


@pytest.mark.parametrize(
    "heading",
    ["Adding a Green's function", "Adding a form", "Adding a space", "Adding a method", "Adding a formulation"],
)
def test_recipes_are_followed_by_a_test(heading):
    text = PAGE.split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]
    assert re.search(r"`tests/[\w/]+/\w+\.py`", text), heading


def test_the_index_of_decisions_has_every_page():
    """By folder; pages that others replace or extend in part are named there, and say so themselves."""
    folder = ROOT / "docs" / "decisions"
    index = (folder / "index.md").read_text(encoding="utf-8")
    by_folder, changed = index.split("## Replaced or extended in part")
    pages = {path.name: path.read_text(encoding="utf-8") for path in folder.glob("[0-9]*.md")}
    assert set(re.findall(r"\((\d+-[\w-]+\.md)\)", by_folder)) == set(pages)
    marked = {name for name, text in pages.items() if re.search(r"(?m)^\*(Replaced in part|Extended by)", text)}
    assert marked == set(re.findall(r"(?m)^\| \[\d+\]\((\d+-[\w-]+\.md)\)", changed))
