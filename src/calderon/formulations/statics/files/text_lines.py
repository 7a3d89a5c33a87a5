"""Lines of text files of other programs, which are untrusted: size, count, place and numbers are checked."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from calderon.validation import describe

BYTES = 100_000_000
"""Largest size of a file."""
SHOWN = 60
"""Characters of a line that a message repeats."""
Lines = list[tuple[int, list[str]]]


def given_path(path: object, what: str) -> Path:
    """A path; TypeError for anything else."""
    if not isinstance(path, str | Path):
        raise TypeError(f"{what} is given by its path, got {describe(path)}")
    return Path(path)


def lines_of(path: Path, most: int, comments: str = "#") -> Lines:
    """Numbers, from 1, and entries of lines that are not empty, without those that begin with one of the characters
    `comments`; ValueError for a file that is missing, too long or no text."""
    if not path.is_file():
        raise ValueError(f"{path}: no such file")
    if path.stat().st_size > BYTES:
        raise ValueError(f"{path}: more than {BYTES} bytes")
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except UnicodeDecodeError:
        raise ValueError(f"{path}: no text file") from None
    rows = [(n, each.split()) for n, each in enumerate(lines, 1) if each.strip() and each.lstrip()[0] not in comments]
    if len(rows) > most:
        raise ValueError(f"{path}: {len(rows)} lines are too many")
    return rows


def numbers_of(entries: Sequence[str], path: Path, line: int, largest: float = 1e12) -> list[float]:
    """Finite numbers up to a largest one."""
    try:
        numbers = [float(each) for each in entries]
    except ValueError:
        raise wrong(path, line, "numbers", entries) from None
    if not np.isfinite(numbers).all() or max(map(abs, numbers), default=0.0) > largest:
        raise wrong(path, line, f"finite numbers up to {largest:g}", entries)
    return numbers


def whole_of(entry: str, path: Path, line: int, least: int, most: int) -> int:
    """A whole number within limits."""
    number = int(entry) if entry.isascii() and entry.isdigit() and len(entry) < 12 else -1
    if not least <= number <= most:
        raise wrong(path, line, f"a whole number from {least} to {most}", [entry])
    return number


def within(place: Path, name: str, line: int) -> Path:
    """The path of a file that another one names, in the folder of that one."""
    path = place.parent / name
    if not path.resolve().is_relative_to(place.parent.resolve()):
        raise wrong(place, line, "files in its own folder", [name])
    return path


def wrong(path: Path, line: int, wanted: str, found: Sequence[str] = ()) -> ValueError:
    """The error of a line, with what it holds."""
    text = " ".join(found)
    shown = f", got {text[:SHOWN]!r}" if found else ""
    return ValueError(f"{path}, line {line}: expected are {wanted}{shown}")
