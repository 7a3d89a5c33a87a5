"""Programs and messages on pages of the documentation are those of the package."""

import ast
import contextlib
import io
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import calderon
from catalogue import cases

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
sys.path.insert(0, str(DOCS / "tools"))
import figures  # noqa: E402

sys.path.pop(0)
LONG = {"phone"}
"""Cases that take minutes of the processor: `make pictures` writes their tables."""
OTHERS = ("# bempp-cl", "# NGSolve")
"""First lines of programs for other packages."""


NUMBER = re.compile(r"-?\d+(?:\.\d*)?(?:e-?\d+)?")
"""Also the parts of complex numbers, without the signs of imaginary ones."""


PRINTED = ["index.md", "guides/periodic.md", "guides/circuits.md"]
"""Pages with a number in a comment after a call of print; those for users of other programs are tested whole."""


def programs_of(path):
    return re.findall(r"(?ms)^```python\n(.*?)^```", path.read_text(encoding="utf-8"))


def said_after(statement, program):
    """The numbers of a comment that begins with one, as `# 0.6597, exact ...`, after a call of print."""
    if not (isinstance(statement, ast.Expr) and ast.unparse(statement).startswith("print(")):
        return []
    line = program.splitlines()[statement.end_lineno - 1][statement.end_col_offset :]
    comment = re.match(rf"\s*# ({NUMBER.pattern}(?: [-+] [\d.]+i)?)(?![\w.])", line)
    return NUMBER.findall(comment[1].replace(" - ", " ").replace(" + ", " ")) if comment else []


def run_as_said(program, names):
    """Run a program as far as its last comment with a number, and compare what is printed; how many were compared."""
    statements, compared = ast.parse(program).body, 0
    said = [said_after(each, program) for each in statements]
    for n, (statement, numbers) in enumerate(zip(statements, said, strict=True)):
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(compile(ast.Module([statement], []), "page", "exec"), names)
        if numbers:
            found = NUMBER.findall(re.sub(r"(?<=[\d.])[-+](?=\d)", " ", printed.getvalue()))
            for one, number in zip(found, numbers, strict=False):
                half = 0.501 * 10.0 ** -len(number.partition(".")[2])
                assert float(one) == pytest.approx(float(number), abs=half), ast.unparse(statement)
            assert len(found) >= len(numbers)
            compared += 1
        if compared and not any(said[n + 1 :]):
            break
    return compared


@pytest.mark.parametrize("name", ["from_bempp", "from_feko", "from_ngsolve"])
def test_the_programs_of_a_page_run(name):
    own = [each for each in programs_of(DOCS / "arrive" / f"{name}.md") if not each.startswith(OTHERS)]
    assert own and any("assert " in each for each in own)
    run_as_said("\n".join(own), {})


def with_numbers():
    """Pages with programs that say in comments what they print."""
    found = [(path, program) for path in pages() if path.parent.name != "arrive" for program in programs_of(path)]
    return {
        path.relative_to(DOCS).as_posix(): program
        for path, program in found
        if any(said_after(each, program) for each in ast.parse(program).body)
    }


def test_all_pages_that_say_what_programs_print_are_tested():
    assert set(with_numbers()) == set(PRINTED)


@pytest.mark.parametrize("page", cases(PRINTED, ["index.md"]))
def test_a_program_prints_what_its_comment_says(page):
    assert run_as_said(with_numbers()[page], {"np": np, "cal": calderon})


@pytest.mark.parametrize("name", cases(sorted(figures.blocks().keys() - LONG), ["submarine"]))
def test_a_table_has_the_figures_of_its_command(name):
    """To the last digit but one of what is rounded."""
    _, shown = figures.blocks()[name]
    stated, found = (
        [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| ") and line != "| | |"]
        for text in (shown, figures.computed(name))
    )
    assert stated and [what for what, _ in stated] == [what for what, _ in found]
    for (what, old), (_, new) in zip(stated, found, strict=True):
        one, two = (
            NUMBER.findall(re.sub(r"(?<=\d),(?=\d{3})", "", each.replace("\u2212", "-")))[0] for each in (old, new)
        )
        last = 10.0 ** -len(one.partition(".")[2]) if "." in one else 0.0
        assert float(two) == pytest.approx(float(one), abs=1.01 * last), (
            f"{what}: {old} on the page, {new} now: python docs/tools/figures.py {name}"
        )


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
