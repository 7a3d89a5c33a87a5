"""Folders, files and functions that a reader can survey."""

import ast
import re
from pathlib import Path

import calderon

PACKAGE = Path(calderon.__file__).parent
FILES, OTHERS, LINES = 16, 20, 450
LONG, LONGEST, FEW = 60, 120, 8
"""Lines of a function, but for a few compiled kernels, and of those."""


def test_no_folder_is_crowded():
    """At most FILES files, of code or data, in folders of the package, OTHERS in those of tests and benchmarks;
    `__init__.py` is not counted."""
    count: dict[str, int] = {}
    here = Path(__file__).parent
    for path in (each for folder in (PACKAGE, here, here.parent / "benchmarks") for each in folder.rglob("*")):
        if path.is_file() and path.suffix not in {".pyc", ".nbi", ".nbc"} and path.stem != "__init__":
            folder = str(path.parent)
            count[folder] = count.get(folder, 0) + 1
    assert sum(count.values()) > 300
    most = {folder: FILES if folder.startswith(str(PACKAGE)) else OTHERS for folder in count}
    assert not {folder for folder, number in count.items() if number > most[folder]}


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


MARKS = {"kernel", "jitable", "jitable_part", "intrinsic", "vector_intrinsic", "overload", "register_jitable"}
"""Decorators and factories of compiled code."""


def called(node):
    """The last name of a decorator, or of the function that a call calls."""
    node = node.func if isinstance(node, ast.Call) else node
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def untyped(node, compiled, named):
    """Functions in a tree that have arguments and no type at all, and are neither compiled nor in compiled ones; named:
    the names that are given to factories of compiled code."""
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from untyped(child, compiled, named)
            continue
        each = child.args
        given = [*each.posonlyargs, *each.args, *each.kwonlyargs, *filter(None, [each.vararg, each.kwarg])]
        given = [one for one in given if one.arg not in ("self", "cls")]
        bare = not child.returns and not any(one.annotation for one in given)
        own = compiled or child.name in named or any(called(one) in MARKS for one in child.decorator_list)
        if bare and not own:
            yield child
        yield from untyped(child, own, named)


def test_functions_without_types_are_compiled():
    """mypy accepts functions with no type at all, as kernels have; it refuses those that lack some. Factories
    of dg return kernels, and files of elementary functions hold what `overload` chooses from."""
    found, kernels = [], {"backends", "dg", "elementary.py"}
    for path in (each for each in PACKAGE.rglob("*.py") if not kernels & {*each.relative_to(PACKAGE).parts}):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        calls = [each for each in ast.walk(tree) if isinstance(each, ast.Call)]
        named = {one.id for each in calls for one in each.args if isinstance(one, ast.Name) and called(each) in MARKS}
        found += [f"{path.name}:{each.lineno} {each.name}" for each in untyped(tree, False, named)]
    assert not found, found
