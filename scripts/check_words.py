"""Report phrases of docs/words.txt in prose: `python scripts/check_words.py [paths]`, file:line, exit status 1.

Without paths, PATHS are checked. Lines of fenced code and `code` in backticks are skipped in Markdown files.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PATHS = (
    "README.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "docs",
    "benchmarks",
    "src/calderon/mesh",
    "src/calderon/report",
    "src/calderon/case",
    "src/calderon/plots",
    "examples",
    "src/calderon/exact",
    "src/calderon/dg",
    "src/calderon/backends",
    "src/calderon/parallel",
    "src/calderon/potentials",
    "src/calderon/solvers",
    "src/calderon/formulations",
    "src/calderon/operators",
    "src/calderon/dense",
    "src/calderon/onsurface",
    "src/calderon/hmatrix",
    "src/calderon/galerkin/rows",
    "src/calderon/waves",
    "src/calderon/layers",
    "src/calderon/quadrature",
    "src/calderon/cli.py",
    "src/calderon/commands.py",
    "src/calderon/methods.py",
    "src/calderon/validation.py",
)
SUFFIXES = {".md", ".py", ".c", ".h"}
WORDS = ROOT / "docs" / "words.txt"
IGNORED = {"_build", "gallery", "cases"}  # written by sphinx


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


def main(paths: list[str]) -> int:
    """Print each finding; 1 if there is any."""
    rules, found = banned(), 0
    for start in [ROOT / each for each in paths or PATHS]:
        if not start.exists():
            raise SystemExit(f"no file or folder {start}")
        for path in [start] if start.is_file() else sorted(start.rglob("*")):
            if path.suffix not in SUFFIXES or IGNORED & set(path.parts):
                continue
            for number, line in prose(path):
                for pattern, better in rules:
                    for match in pattern.finditer(line):
                        found += 1
                        print(f"{path.relative_to(ROOT)}:{number}: {match.group()!r}: write {better}")
    return int(found > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
