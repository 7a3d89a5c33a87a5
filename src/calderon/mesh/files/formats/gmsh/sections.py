"""Sections of gmsh's files: each is whole, and numbers are taken from it in turn, as many as it says.

Source: gmsh reference manual, "Gmsh file formats".
"""

import re
import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calderon.mesh.errors import MeshError

NAMES = (
    "MeshFormat PhysicalNames Entities PartitionedEntities Nodes ParametricNodes Elements Periodic NodeData ElementData"
).split()
_MARK = re.compile(rb"\$(End)?(%s)" % "|".join(NAMES).encode())


@dataclass(frozen=True)
class Format:
    """The version of a file, whether it is binary, its sections, and the types of its numbers."""

    version: str
    binary: bool
    sections: frozenset[str]
    integer: np.dtype[np.signedinteger]
    count: np.dtype[np.unsignedinteger]
    real: np.dtype[np.floating]


def format_of(data: bytes) -> Format:
    """The format that a file states; MeshError where it states none that is known, and for sections without an end."""
    start = data.find(b"$MeshFormat")
    words = data[start : start + 200].split(None, 4)[1:4] if start >= 0 else []
    if len(words) < 3 or words[1] not in (b"0", b"1") or words[2] not in (b"4", b"8"):
        raise MeshError(
            "cannot be read: no section $MeshFormat that says how its numbers are written; no file of gmsh, or older"
        )
    version, binary = words[0].decode("latin-1"), words[1] == b"1"
    if version.partition(".")[0] != "2" and version not in ("4", "4.0", "4.1"):
        raise MeshError(f"version {version!r} of gmsh's format is not supported: save version 4.1 or 2.2")
    # sections with their ends
    begins, ends = {"MeshFormat": start}, dict[str, int]()
    for mark in _MARK.finditer(data):  # all in one pass: files are long
        name, place = mark[2].decode(), mark.start()
        new_line = data[place - 1 : place] == b"\n"
        if mark[1] and (binary or new_line):  # behind binary numbers there may be no new line
            ends[name] = place
        elif not mark[1] and new_line:
            begins.setdefault(name, place)
    for name in NAMES:
        if name in begins and ends.get(name, -1) < begins[name]:
            raise MeshError(f"its section ${name} has no end mark $End{name}: it is incomplete; export it again")
    # byte order: a binary file has the number 1 behind its first line
    order = "<"
    if binary:
        one = data[data.index(b"\n", data.index(words[0], start)) + 1 :][:4]
        order = ">" if one == b"\0\0\0\1" else "<"
    size = 8 if version in ("4", "4.0") else int(words[2])
    return Format(
        version, binary, frozenset(begins), np.dtype(f"{order}i4"), np.dtype(f"{order}u{size}"), np.dtype(f"{order}f8")
    )


class Section:
    """A section of a file from which numbers are taken in turn; MeshError where it has fewer."""

    def __init__(self, data: bytes, name: str, form: Format) -> None:
        self.name, self.form, self.place = name, form, 0
        begin = data.index(b"\n", data.index(b"\n$%s" % name.encode()) + 1) + 1
        self.body = data[begin : data.index(b"$End%s" % name.encode(), begin)]
        self.values = np.zeros(0)
        if not form.binary:
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("error")  # earlier releases of NumPy warn
                    self.values = np.fromstring(self.body, sep=" ")
            except (ValueError, DeprecationWarning):
                self.refuse("has words that are no numbers")

    def refuse(self, what: str) -> None:
        """Raise MeshError."""
        raise MeshError(f"its section ${self.name} {what}: it is damaged; export it again")

    def integers(self, rows: int, columns: int = 1) -> NDArray[np.int64]:
        """(rows, columns) the next whole numbers of four bytes."""
        return self._whole(self._take(self.form.integer, rows, columns))

    def counts(self, rows: int, columns: int = 1) -> NDArray[np.int64]:
        """(rows, columns) the next counts, or numbers that are as long."""
        return self._whole(self._take(self.form.count, rows, columns))

    def reals(self, rows: int, columns: int = 1) -> NDArray[np.float64]:
        """(rows, columns) the next numbers."""
        return self._take(self.form.real, rows, columns).astype(np.float64)

    def records(self, rows: int, numbers: int, reals: int) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
        """Rows of so many whole numbers of four bytes and so many reals after them."""
        if not self.form.binary:
            found = self._take(self.form.real, rows, numbers + reals)
            return self._whole(found[:, :numbers]), found[:, numbers:]
        kind = np.dtype([("numbers", self.form.integer, (numbers,)), ("reals", self.form.real, (reals,))])
        table = self._take(kind, rows, 1)[:, 0]
        return self._whole(table["numbers"]), table["reals"].astype(np.float64)

    def count_in_first_line(self) -> int:
        """The number that stands alone in the first line, as text also in binary files of version 2."""
        if not self.form.binary:
            return int(self.integers(1)[0, 0])
        line, _, self.body = self.body.partition(b"\n")
        if not line.strip().isdigit():
            self.refuse("does not begin with a count")
        return int(line)

    def finish(self) -> None:
        """MeshError where numbers are left."""
        left = self.body[self.place :].strip() if self.form.binary else self.values[self.place :]
        if len(left):
            self.refuse("has more numbers than it says")

    def _take(self, kind: np.dtype, rows: int, columns: int) -> NDArray:
        width = columns * (kind.itemsize if self.form.binary else 1)
        left = (len(self.body) if self.form.binary else len(self.values)) - self.place
        if not 0 <= rows <= (left // width if width else 0):
            self.refuse("has fewer numbers than it says")
        begin, self.place = self.place, self.place + rows * width
        if self.form.binary:
            return np.frombuffer(self.body, kind, rows * columns, begin).reshape(rows, columns)
        return self.values[begin : self.place].reshape(rows, columns)

    def _whole(self, found: NDArray) -> NDArray[np.int64]:
        """Numbers that are whole and not too large: up to 2^53 those of text are read exactly."""
        if found.dtype.kind == "f" and not ((np.abs(found) < 2.0**53) & (found == np.floor(found))).all():
            self.refuse("has a count or a number that is not a whole number")
        if found.dtype.kind == "u" and (found >= 2**62).any():
            self.refuse("has a count or a number above 2^62")
        return found.astype(np.int64)
