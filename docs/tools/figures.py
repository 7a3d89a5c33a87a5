"""Figures of cases on pages of the documentation, written by the command that gives them.

`python docs/tools/figures.py almond` runs the case, as `calderon example almond` does, and writes the numbers that it
prints between the lines

    <!-- calderon example almond -->
    <!-- end -->

of the page; without a name it does so for all pages. A test compares both.
"""

import re
import sys
from pathlib import Path

from calderon.report import example, headlines, run

DOCS = Path(__file__).parents[1]
BLOCK = re.compile(r"(?s)(<!-- calderon example (\S+) -->\n).*?(<!-- end -->)")
SECONDS = "computing and drawing"
"""The row that differs from run to run."""


def blocks() -> dict[str, tuple[Path, str]]:
    """The page and the table of each case."""
    pages = [
        (path, path.read_text(encoding="utf-8"))
        for path in sorted((DOCS / "start").glob("*.md"))
    ]
    return {
        match[2]: (path, match[0])
        for path, text in pages
        for match in BLOCK.finditer(text)
    }


def computed(name: str) -> str:
    """The table of a case as Markdown: what is printed after a run, but for its time."""
    rows = [
        f"| {what} | {value.replace(chr(0x202F), ',')} {unit}".rstrip() + " |"
        for what, value, unit in headlines(run(example(name)), {})
        if what != SECONDS
    ]
    return "\n".join(["", "| | |", "|---|---|", *rows, "", ""])


def write(name: str) -> None:
    """Run a case, and write its table on the page."""
    path, _ = blocks()[name]
    table = computed(name)
    text = path.read_text(encoding="utf-8")
    text = BLOCK.sub(
        lambda found: found[1] + table + found[3] if found[2] == name else found[0],
        text,
    )
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    for each in sys.argv[1:] or blocks():
        write(each)
