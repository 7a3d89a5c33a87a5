"""The examples that ship with the package: case files, in a folder for each kind of physics, run by name."""

from pathlib import Path
from typing import Any

from calderon.case import CaseFile, choices, read

FOLDER = Path(__file__).parent / "cases"


def _paths() -> dict[str, Path]:
    """The case files by name, in alphabetical order."""
    return {path.stem: path for path in sorted(FOLDER.glob("*/*.toml"), key=lambda path: path.stem)}


def examples() -> dict[str, CaseFile[Any]]:
    """All examples by name, in alphabetical order."""
    return {name: read(path) for name, path in _paths().items()}


def example(name: str) -> CaseFile[Any]:
    """The example of that name, the only file that is read; ValueError lists the existing names."""
    paths = _paths()
    if name not in paths:
        raise ValueError(f"no example {name!r}: {choices(name, paths)}")
    return read(paths[name])
