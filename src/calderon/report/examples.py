"""The examples that ship with the package: case files, run by name."""

from pathlib import Path

from calderon.case import AnyCaseFile, choices, parse

FOLDER = Path(__file__).parent / "cases"


def examples() -> dict[str, AnyCaseFile]:
    """All examples by name, in alphabetical order."""
    return {path.stem: _load(path) for path in sorted(FOLDER.glob("*.toml"))}


def example(name: str) -> AnyCaseFile:
    """The example of that name; ValueError lists the existing names."""
    path = FOLDER / f"{name}.toml"
    if not path.is_file() or path.parent != FOLDER:
        names = [file.stem for file in sorted(FOLDER.glob("*.toml"))]
        raise ValueError(f"no example {name!r}: {choices(name, names)}")
    return _load(path)


def _load(path: Path) -> AnyCaseFile:
    return parse(path.read_text(encoding="utf-8"), path.name, path.parent)
