"""Counts of the structure of the package, one line each: `python scripts/count_structure.py`."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "calderon"
METHODS = {"dense", "matrix-free", "hmatrix", "fmm", "mlfmm", "fft", "floquet"}
NAMED = {"AUTO", "FAST"}
"""Constants that hold the name of a method."""
METHOD_FOLDERS = {"dense", "hmatrix", "fmm", "mlfmm", "fft", "floquet", "products"}
TABLE = {"operators/methods.py", "methods.py"}
LONG = 60


def sources() -> Iterator[tuple[str, str, ast.Module]]:
    """(path below the package, text, syntax tree) of each Python file."""
    for path in sorted(SOURCE.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        yield path.relative_to(SOURCE).as_posix(), text, ast.parse(text)


def method_comparisons(name: str, tree: ast.Module) -> int:
    """Comparisons with the name of a method, outside of the table of methods and of the methods' own folders."""
    if name in TABLE or name.partition("/")[0] in METHOD_FOLDERS:
        return 0
    compared = (
        side for node in ast.walk(tree) if isinstance(node, ast.Compare) for side in (node.left, *node.comparators)
    )
    parts = [each for side in compared for each in ast.walk(side)]
    texts = sum(
        isinstance(each, ast.Constant) and isinstance(each.value, str) and each.value in METHODS for each in parts
    )
    return texts + sum(isinstance(each, ast.Name) and each.id in NAMED for each in parts)


def numeric_constants(tree: ast.Module) -> list[str]:
    """Names in capitals that a module binds to an expression with a number."""
    found: list[str] = []
    for node in tree.body:
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        value = getattr(node, "value", None)
        numbers = value is not None and any(
            isinstance(each, ast.Constant) and type(each.value) in (int, float, complex) for each in ast.walk(value)
        )
        names = [each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)]
        found += [each for each in names if numbers and re.fullmatch(r"_?[A-Z][A-Z0-9_]*", each)]
    return found


def long_functions(tree: ast.Module) -> int:
    """Functions of more than LONG lines, with their docstrings."""
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))
    return sum((node.end_lineno or 0) - node.lineno >= LONG for node in functions)


def folder_sizes() -> Counter[str]:
    """Files in each folder, `__init__` not counted."""
    files = (each for each in SOURCE.rglob("*") if each.is_file() and each.suffix in {".py", ".pyi", ".c", ".h", ".js"})
    return Counter(str(each.parent.relative_to(SOURCE)) for each in files if each.stem != "__init__")


def main() -> None:
    """Print all counts."""
    files = list(sources())
    lines = {name: text.count("\n") for name, text, _ in files}
    comments = sum(len(re.findall(r"(?m)^\s*#", text)) for _, text, _ in files)
    constants = Counter(each for _, _, tree in files for each in set(numeric_constants(tree)))
    core = {"fmm": 0, "mlfmm": 0, "products": 0}
    for path in SOURCE.rglob("*"):
        folder = path.relative_to(SOURCE).parts[0]
        if folder in core and path.suffix in {".py", ".c", ".h"}:
            core[folder] += path.read_text(encoding="utf-8").count("\n")
    folders = folder_sizes()
    widest, most = folders.most_common(1)[0]
    longest = max(lines, key=lambda name: lines[name])
    counts = {
        "files, lines of Python in src": f"{len(files)}, {sum(lines.values())}",
        "lines of fmm + mlfmm + products, C included": f"{sum(core.values())} ({core})",
        "comparisons with names of methods": sum(method_comparisons(name, tree) for name, _, tree in files),
        "numeric constants of modules": sum(len(numeric_constants(tree)) for _, _, tree in files),
        "names of constants in more than 3 files": sorted(each for each, number in constants.items() if number > 3),
        "type: ignore": sum(text.count("type: ignore") for _, text, _ in files),
        "comment lines per 1,000": f"{1000 * comments / sum(lines.values()):.1f}",
        "folders above 16 files": sorted(name for name, number in folders.items() if number > 16),
        "largest folder": f"{widest}, {most} files",
        "files above 450 lines": sorted(name for name, number in lines.items() if number > 450),
        "longest file": f"{longest}, {lines[longest]} lines",
        "functions above 60 lines": sum(long_functions(tree) for _, _, tree in files),
        "__dict__[...] = from outside": sum(len(re.findall(r"__dict__\[[^]]+\] = ", text)) for _, text, _ in files),
    }
    for name, count in counts.items():
        print(f"{name}: {count}")


if __name__ == "__main__":
    main()
