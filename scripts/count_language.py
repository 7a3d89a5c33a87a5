"""Count how the package reads: `python scripts/count_language.py [folders of src/calderon]`.

By folder: docstrings (with the strings after constants) and the share that begins elliptically, compiled kernels and
the share whose arguments are all named, long kernels and those with a comment line a step, comment lines per 1,000.
"""

import ast
import re
import sys
from pathlib import Path

from check_words import ELLIPTIC, ROOT, docstrings, kernels, unnamed_arguments

PACKAGE = ROOT / "src" / "calderon"
CORE = ("dg", "fmm", "galerkin", "hmatrix", "mlfmm", "products")
COMMENT = re.compile(r"\s*#(?! (type|fmt|noqa|mypy):)")
LONG, STEP = 25, 15
"""Lines above which a kernel is long, without its docstring; lines of a step, which has a comment line."""


def lines_of(node: ast.FunctionDef, lines: list[str]) -> list[str]:
    """The lines of a function without its docstring."""
    documented = ast.get_docstring(node) is not None
    return lines[node.body[0].end_lineno if documented else node.lineno - 1 : node.end_lineno]


def counts(paths: list[Path]) -> dict[str, int]:
    """The numbers of these files, as in the table."""
    names = ("lines", "comments", "docstrings", "elliptic", "kernels", "named", "long", "commented")
    found = dict.fromkeys(names, 0)
    for path in paths:
        text = path.read_text(encoding="utf-8")
        lines, tree = text.splitlines(), ast.parse(text)
        found["lines"] += len(lines)
        found["comments"] += sum(bool(COMMENT.match(line)) for line in lines)
        documents = [text for _, text in docstrings(tree)]
        found["docstrings"] += len(documents)
        found["elliptic"] += sum(bool(ELLIPTIC.match(text)) for text in documents)
        found["named"] += sum(not missing for _, missing in unnamed_arguments(tree))
        for node, _ in kernels(tree):
            found["kernels"] += 1
            own = lines_of(node, lines)
            if len(own) > LONG:
                found["long"] += 1
                found["commented"] += sum(bool(COMMENT.match(line)) for line in own) * STEP >= len(own)
    return found


def row(name: str, found: dict[str, int]) -> str:
    share = 100 * found["named"] / found["kernels"] if found["kernels"] else 0
    elliptic = 100 * found["elliptic"] / found["docstrings"] if found["docstrings"] else 0
    return (
        f"{name:16} {found['docstrings']:6} {found['elliptic']:5} {elliptic:5.1f} % {found['kernels']:6} "
        f"{found['named']:5} {share:5.1f} % {found['long']:5} {found['commented']:5} "
        f"{1000 * found['comments'] / max(found['lines'], 1):7.1f}"
    )


def main(names: list[str]) -> None:
    """Print one line for each folder, for the core and for all."""
    header = ("folder", "texts", "elliptic", "", "kernels", "named", "", "long", "commented", "comments per 1,000")
    print("  ".join(each for each in header if each))
    entries = sorted(each for each in PACKAGE.iterdir() if each.is_dir() and (not names or each.name in names))
    for entry in entries:
        if paths := sorted(entry.rglob("*.py")):
            print(row(entry.name, counts(paths)))
    core = [path for path in PACKAGE.rglob("*.py") if path.relative_to(PACKAGE).parts[0] in CORE]
    print(row("core", counts(core)))
    print(row("all", counts(list(PACKAGE.rglob("*.py")))))


if __name__ == "__main__":
    main(sys.argv[1:])
