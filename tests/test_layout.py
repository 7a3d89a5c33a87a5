"""Folders, files and functions that a reader can survey."""

import ast
import re
from pathlib import Path

import calderon

PACKAGE = Path(calderon.__file__).parent
FILES, LINES = 20, 500
LONG, LONGEST, FEW = 60, 120, 10
"""Lines of a function, but for a few compiled kernels, and of those."""


def test_no_folder_is_crowded():
    """At most 20 files, of code or data, in the package, the tests and the benchmarks; `__init__.py` is not counted."""
    count: dict[str, int] = {}
    here = Path(__file__).parent
    for path in (each for folder in (PACKAGE, here, here.parent / "benchmarks") for each in folder.rglob("*")):
        if path.is_file() and path.suffix not in {".pyc", ".nbi", ".nbc"} and path.stem != "__init__":
            folder = str(path.parent)
            count[folder] = count.get(folder, 0) + 1
    assert sum(count.values()) > 300
    assert not {folder for folder, number in count.items() if number > FILES}


def test_backends_alone_know_that_the_processor_is_no_device():
    """Other folders ask `Execution` for its devices, or choose between two implementations of the same verbs."""
    tests = re.compile(r"\bdevice is (not )?None")
    found = {
        path.relative_to(PACKAGE).parts[0]
        for path in PACKAGE.rglob("*.py")
        if tests.search(path.read_text(encoding="utf-8"))
    }
    assert found == {"backends"}


def test_no_file_is_long():
    lines = {str(path): path.read_text(encoding="utf-8").count("\n") for path in PACKAGE.rglob("*.py")}
    assert not {name: number for name, number in lines.items() if number > LINES}


def long_statements(tree):
    """Statements of more than LONG lines, however deep."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.stmt) and node.end_lineno - node.lineno >= LONG:
            yield node
            yield from long_statements(node)


def test_few_functions_are_long():
    """With their docstrings; factories of compiled kernels hold several functions, and all are counted."""
    long = {
        f"{path.name}:{node.name}": node.end_lineno - node.lineno + 1
        for path in PACKAGE.rglob("*.py")
        for node in long_statements(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    assert max(long.values()) <= LONGEST, long
    assert len(long) <= FEW, long
