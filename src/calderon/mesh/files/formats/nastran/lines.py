"""Lines of a Nastran deck: those of its bulk data section, with included files in their places."""

import codecs
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, NoReturn

from calderon.backends import require_memory
from calderon.mesh.errors import MeshError
from calderon.mesh.files.formats.included import included

BEGIN, END, CONTROL, INCLUDE = (
    re.compile(pattern, re.IGNORECASE)
    for pattern in (r"\s*BEGIN\b[\s,]*(.*)", r"\s*ENDDATA\b", r"\s*CEND\s*$", r"\s*INCLUDE\b\s*(.*)")
)


class Line(NamedTuple):
    """A line as text, its number, and the name of the file if it is an included one."""

    text: str
    number: int
    file: str

    def __str__(self) -> str:
        return f"line {self.number}" + (f" of {self.file}" if self.file else "")

    def refuse(self, what: str) -> NoReturn:
        """Raise MeshError with the place."""
        raise MeshError(f"{self}: {what}")


def without_comment(text: str) -> str:
    """The text before a comment, which begins with $ anywhere, or with # or // in the first column (OptiStruct)."""
    return "" if text.startswith(("#", "//")) else text.partition("$")[0].rstrip()


def bulk_lines(path: Path) -> Iterator[Line]:
    """The lines behind BEGIN BULK, or all of a file without executive and case control; ENDDATA is the last.

    MeshError for executive control without BEGIN BULK, for superelements, and for files that cannot be included.
    """
    begins, control = False, False
    for line in _lines(path):
        text = without_comment(line.text)
        begins = begins or BEGIN.match(text) is not None
        control = control or CONTROL.match(text) is not None
    if control and not begins:
        raise MeshError("CEND without BEGIN BULK: it is incomplete, or its bulk data are in another file")
    started = not begins
    for line in _lines(path):
        text = without_comment(line.text)
        if (begin := BEGIN.match(text)) is not None:
            if started or begin[1].strip().upper() not in ("", "BULK"):
                line.refuse(f"{text.strip()!r} begins another model, such as a superelement: write one model")
            started = True
        elif started:
            yield line
            if END.match(text):
                return


def _lines(path: Path) -> Iterator[Line]:
    """All lines, those of included files instead of the lines that name them."""
    files, size = 0, path.stat().st_size
    first: tuple[Path, ...] = (path,)
    open_files = [(first, _texts(path), "")]
    while open_files:
        # the innermost open file, up to its end or to the next file that it includes
        stack, texts, name = open_files[-1]
        for number, text in texts:
            line = Line(text, number, name)
            if (found := INCLUDE.match(text)) is None:
                yield line
                continue
            files += 1
            if files > 1000:
                line.refuse("more than 1000 files are included: write one")
            try:
                stack = included(_quoted(found[1], texts, line), stack)
            except MeshError as error:
                line.refuse(str(error))
            size += stack[-1].stat().st_size
            # peak memory for each byte of text, measured on grids and triangles in small fields
            require_memory(16 * size, f"a deck of {size / 1e6:.3g} MB", "write the surface alone")
            open_files.append((stack, _texts(stack[-1]), stack[-1].name))
            break
        else:
            open_files.pop()


def _texts(path: Path) -> Iterator[tuple[int, str]]:
    """(number, text) of the lines of a file in UTF-8, in UTF-16 with a mark of it, or in Latin-1."""
    data = path.read_bytes()
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        text = data.decode("utf-16", errors="replace")
    else:
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = data.decode("latin-1")
    return enumerate(re.split(r"\r\n|\r|\n", text), start=1)


def _quoted(text: str, texts: Iterator[tuple[int, str]], line: Line) -> str:
    """The name of an included file; in quotes it may go on in the next lines, up to 20."""
    quote = text[:1] or " "
    if quote not in ("'", '"'):
        return without_comment(text).split(",")[0].strip()
    name = text[1:]
    for _ in range(20):
        if quote in name:
            return name.partition(quote)[0]
        name = name.strip() + next(texts, (0, ""))[1].strip()
    line.refuse("the name of an included file does not end")
