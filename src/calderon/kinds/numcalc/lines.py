"""Lines of NumCalc's files: texts of words between blanks, comments begin with #."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from calderon.backends import require_memory

LONGEST_SHOWN = 60
LONGEST_NUMBER = 18
"""Digits that 64 bits hold."""
BYTES_A_BYTE = 20
"""Memory of a text as words, over its length."""


class ProjectError(ValueError):
    """A file of a project that cannot be read, with its place."""


@dataclass(frozen=True)
class Line:
    """A line of a file: its path, its number from 1, and its words."""

    path: Path
    number: int
    words: tuple[str, ...]

    def refuse(self, text: str) -> NoReturn:
        """Raise a ProjectError about this line."""
        shown = " ".join(self.words)
        shown = shown if len(shown) <= LONGEST_SHOWN else shown[:LONGEST_SHOWN] + " ..."
        raise ProjectError(f"{self.path}, line {self.number} ({shown!r}): {text}")

    def real(self, place: int, name: str) -> float:
        """The finite number at a place among the words."""
        text = self.words[place] if place < len(self.words) else ""
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            self.refuse(f"{name} is a finite number, got {text[:LONGEST_SHOWN]!r} at place {place + 1}")
        return value

    def whole(self, place: int, name: str, least: int = 0) -> int:
        """The whole number at a place among the words, at least so large."""
        text = self.words[place] if place < len(self.words) else ""
        try:
            value = int(text) if len(text) <= LONGEST_NUMBER else None
        except ValueError:
            value = None
        if value is None or value < least:
            shown = text[:LONGEST_SHOWN]
            self.refuse(f"{name} is a whole number from {least}, got {shown!r} at place {place + 1}")
        return value


class Lines:
    """The lines of a text file that are neither empty nor comments, in turn. ProjectError for what is no text."""

    def __init__(self, path: Path) -> None:
        self.path, self._last = path, Line(path, 0, ())
        try:
            if not path.is_file():
                raise ProjectError(f"{path}: no such file")
            require_memory(BYTES_A_BYTE * path.stat().st_size, f"{path.name} as words", "use a smaller mesh")
            text = path.read_text(encoding="utf-8-sig")
        except UnicodeDecodeError:
            raise ProjectError(f"{path}: no text file in UTF-8") from None
        except OSError as error:
            raise ProjectError(f"{path}: cannot be read: {error.strerror or error}") from None
        self._lines = self._counted(text)

    def _counted(self, text: str) -> Iterator[Line]:
        for number, line in enumerate(text.splitlines(), 1):
            parts = tuple(line.split())
            if parts and "#" not in parts[0]:
                yield Line(self.path, number, parts)

    def next(self, expected: str) -> Line:
        """The next line; ProjectError where the file ends. expected: what it holds."""
        found = next(self._lines, None)
        if found is None:
            raise ProjectError(f"{self.path}: ends after line {self._last.number}, where {expected} is expected")
        self._last = found
        return found
