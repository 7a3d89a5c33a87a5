"""Programs and messages on pages of the documentation are those of the package."""

import re
from pathlib import Path

import pytest

import calderon

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
OTHERS = ("# bempp-cl", "# NGSolve")
"""First lines of programs for other packages."""


@pytest.mark.parametrize("name", ["from_bempp", "from_feko", "from_ngsolve"])
def test_the_programs_of_a_page_run(name):
    text = (DOCS / "arrive" / f"{name}.md").read_text(encoding="utf-8")
    programs = re.findall(r"(?ms)^```python\n(.*?)^```", text)
    own = [each for each in programs if not each.startswith(OTHERS)]
    assert own and any("assert " in each for each in own)
    exec("\n".join(own), {})


@pytest.mark.parametrize("page", ["index.md"])
def test_a_program_prints_what_its_comment_says(page, capsys):
    program = re.findall(r"(?ms)^```python\n(.*?)^```", (DOCS / page).read_text(encoding="utf-8"))[0]
    exec(program, {})
    said = re.findall(r"# (\d\.\d+), exact", program)
    assert len(said) == 1 and capsys.readouterr().out.startswith(said[0])


def test_the_messages_that_troubleshooting_explains_are_given():
    page = (DOCS / "arrive" / "troubleshooting.md").read_text(encoding="utf-8")
    fragments = re.findall(r"(?m)^\| `([^`]+)` \|", page)
    assert len(fragments) > 10
    sources = [path.read_text(encoding="utf-8") for path in Path(calderon.__file__).parent.rglob("*.py")]
    assert not [each for each in fragments if not any(each in source for source in sources)]


def test_every_example_has_a_thumbnail():
    shown = {path.stem for path in (DOCS / "pictures" / "gallery").glob("*.png")}
    assert shown == {path.stem for path in (ROOT / "examples").glob("[!_]*.py")}


def pages():
    """Pages written by hand: decisions have an index of their own, others are generated."""
    return [path for folder in (".", "start", "guides", "arrive", "api") for path in (DOCS / folder).glob("*.md")]


def test_every_page_is_reached_from_the_first_one():
    text = "".join(path.read_text(encoding="utf-8") for path in DOCS.glob("*.md"))
    listed = set(re.findall(r"(?m)^([\w/]+)$", "\n".join(re.findall(r"(?s)```\{toctree\}(.*?)```", text))))
    written = {path.relative_to(DOCS).with_suffix("").as_posix() for path in pages() if path.parent.name != "api"}
    assert written - listed == {"index"}


def test_folders_of_pages_are_surveyable():
    """At most 20 files written by hand; the decisions are one numbered record."""
    folders = {path.parent for path in pages()} | {DOCS / "tools"}
    assert {folder.name for folder in folders if sum(each.is_file() for each in folder.iterdir()) > 20} == set()


def test_programs_on_pages_are_at_most_88_columns_wide():
    for path in pages():
        for program in re.findall(r"(?ms)^```python\n(.*?)^```", path.read_text(encoding="utf-8")):
            assert max(map(len, program.splitlines())) <= 88, path
