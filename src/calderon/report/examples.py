"""The examples that ship with the package: case files, in a folder for each kind of physics, run by name."""

from pathlib import Path

from calderon.case import AnyCaseFile, choices, parse

FOLDER = Path(__file__).parent / "cases"


def examples() -> dict[str, AnyCaseFile]:
    """All examples by name, in alphabetical order."""
    files = sorted(FOLDER.glob("*/*.toml"), key=lambda path: path.stem)
    return {path.stem: parse(path.read_text(encoding="utf-8"), path.name, path.parent) for path in files}


def example(name: str) -> AnyCaseFile:
    """The example of that name; ValueError lists the existing names."""
    known = examples()
    if name not in known:
        raise ValueError(f"no example {name!r}: {choices(name, known)}")
    return known[name]
