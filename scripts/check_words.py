"""Report prose that readers stumble over: `python scripts/check_words.py [paths]`, file:line, exit status 1.

Without paths, PATHS are checked. Three rules:
- phrases of docs/words.txt; lines of fenced code and `code` in backticks are skipped in Markdown files;
- elliptic beginnings of docstrings, and of the strings after constants ("Of ...", "What ...", "The same ...");
- compiled kernels with arguments that neither their docstring nor that of their factory names or leaves to another one
  ("as in `X`", X a function or class of the file, or one that it imports from the package).

The last two hold everywhere but in OPEN; kernels of tests are left alone.
"""

import ast
import functools
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PATHS = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "docs", "benchmarks", "src", "examples", "tests", "scripts")
OPEN: tuple[str, ...] = ()
"""Folders and files in which the rules of docstrings and kernels do not hold yet."""
SUFFIXES = {".md", ".py", ".c", ".h"}
WORDS = ROOT / "docs" / "words.txt"
IGNORED = {"_build", "gallery", "cases", "__pycache__"}  # written by sphinx, or by Python
ELLIPTIC = re.compile(r"(Of|What|The same|As|Those)\b")
COMPILED = {"kernel", "jitable", "jitable_part", "njit", "team_kernel"}
"""Decorators of compiled functions (`backends/numba.py`, `backends/vectors.py`, `backends/team.py`)."""
REFERENCE = re.compile(r"\bas\s+in\s+((?:`\w+`(?:,?\s+and\s+|,\s+)?)+)", re.IGNORECASE)

Documented = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


def banned() -> list[tuple[re.Pattern[str], str]]:
    """Pattern and better phrase of each line `phrase -> better`; # begins a comment."""
    rules = []
    for number, line in enumerate(WORDS.read_text(encoding="utf-8").splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        phrase, arrow, better = (part.strip() for part in line.partition("->"))
        if not (phrase and arrow and better):
            raise SystemExit(f"{WORDS.name}:{number}: expected 'phrase -> better', got {line!r}")
        rules.append((re.compile(rf"(?<![\w-]){phrase}(?![\w-])", re.IGNORECASE), better))
    return rules


def prose(path: Path) -> Iterator[tuple[int, str]]:
    """Lines with their numbers, without the code of a Markdown file."""
    fenced = False
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if path.suffix == ".md":
            fenced ^= line.lstrip().startswith("```")
            line = "" if fenced else re.sub(r"`[^`]*`", "", line)
        yield number, line


def _text(statement: ast.stmt) -> str | None:
    """The string that is this whole statement."""
    value = statement.value if isinstance(statement, ast.Expr) else None
    return value.value if isinstance(value, ast.Constant) and isinstance(value.value, str) else None


def docstrings(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Line and text of each docstring, and of each string after an assignment."""
    for node in ast.walk(tree):
        body = node.body if isinstance(node, Documented) else []
        for before, statement in zip([None, *body], body, strict=False):
            text = _text(statement)
            if text is not None and (before is None or isinstance(before, ast.Assign | ast.AnnAssign)):
                yield statement.lineno, text.strip()


def is_compiled(node: ast.AST) -> bool:
    """Whether a node is a function with a decorator of COMPILED."""
    for decorator in node.decorator_list if isinstance(node, ast.FunctionDef) else []:
        called = decorator.func if isinstance(decorator, ast.Call) else decorator
        if (called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")) in COMPILED:
            return True
    return False


def kernels(tree: ast.AST, around: str = "") -> Iterator[tuple[ast.FunctionDef, str]]:
    """Compiled functions, wherever they are defined, each with the docstrings of itself and of factories around it."""
    for node in ast.iter_child_nodes(tree):
        text = around
        if isinstance(node, ast.FunctionDef):
            text = f"{around}\n{ast.get_docstring(node) or ''}"
            if is_compiled(node):
                yield node, text
        yield from kernels(node, text)


def _described(text: str, file: dict[str, str], seen: frozenset[str] = frozenset()) -> str:
    """A docstring with those of the file that it refers to by "as in `X`"."""
    parts = [text]
    for match in REFERENCE.finditer(text):
        for name in re.findall(r"\w+", re.sub(r"\band\b", "", match[1])):
            if name not in seen and name in file:
                parts.append(_described(file[name], file, seen | {name}))
    return "\n".join(parts)


def _described_names(tree: ast.Module, imported: bool = True) -> dict[str, str]:
    """The docstring of each function and class of a file by name, with those of the functions inside, and of those that
    it imports from the package."""
    file: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            inside = [each for each in ast.walk(node) if isinstance(each, ast.FunctionDef | ast.ClassDef)]
            file[node.name] = "\n".join([file.get(node.name, ""), *(ast.get_docstring(each) or "" for each in inside)])
        elif isinstance(node, ast.ImportFrom) and imported and (module := node.module or "").startswith("calderon."):
            path = ROOT / "src" / Path(*module.split(".")).with_suffix(".py")
            known = _names_of(path) if path.exists() else {}
            file |= {each.name: known[each.name] for each in node.names if each.name in known}
    return file


@functools.cache
def _names_of(path: Path) -> dict[str, str]:
    """The docstrings of a file by name, without what it imports."""
    return _described_names(ast.parse(path.read_text(encoding="utf-8")), imported=False)


def unnamed_arguments(tree: ast.Module) -> Iterator[tuple[ast.FunctionDef, list[str]]]:
    """Each kernel with the arguments that neither its docstring, nor that of its factory or one these refer to,
    names."""
    file = _described_names(tree)
    for node, text in kernels(tree):
        described = _described(text, file)
        arguments = [each.arg for each in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
        yield node, [name for name in arguments if not re.search(rf"(?<!\w){re.escape(name)}(?!\w)", described)]


def files(paths: list[str]) -> Iterator[Path]:
    """Files with prose below these paths of the project."""
    for start in [ROOT / each for each in paths]:
        if not start.exists():
            raise SystemExit(f"no file or folder {start}")
        for path in [start] if start.is_file() else sorted(start.rglob("*")):
            if path.suffix in SUFFIXES and not IGNORED & set(path.relative_to(ROOT).parts):
                yield path


def findings(path: Path, rules: list[tuple[re.Pattern[str], str]], strict: bool) -> Iterator[tuple[int, str]]:
    """Line and complaint, all rules; those of docstrings and kernels only if `strict`."""
    for number, line in prose(path):
        for pattern, better in rules:
            for match in pattern.finditer(line):
                yield number, f"{match.group()!r}: write {better}"
    if not strict or path.suffix != ".py":
        return
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for number, text in docstrings(tree):
        if begins := ELLIPTIC.match(text):
            yield number, f"{begins[0]!r} begins a docstring: write a sentence with its subject first"
    in_tests = path.is_relative_to(ROOT / "tests")
    for node, missing in unnamed_arguments(tree):
        if missing and not in_tests:
            yield node.lineno, f"kernel {node.name}: name {', '.join(missing)} in its docstring, or say 'as in `X`'"


def is_strict(path: Path) -> bool:
    """Whether the rules of docstrings and kernels hold in this file."""
    return not any(path.is_relative_to(ROOT / each) for each in OPEN)


def main(paths: list[str]) -> int:
    """Print each finding; 1 if there is any. With --all the rules of docstrings and kernels hold everywhere."""
    everywhere = "--all" in paths
    rules, found = banned(), 0
    for path in files([each for each in paths if each != "--all"] or list(PATHS)):
        for number, complaint in findings(path, rules, everywhere or is_strict(path)):
            found += 1
            print(f"{path.relative_to(ROOT)}:{number}: {complaint}")
    return int(found > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
