"""Counts and node numbers of gmsh files (.msh), verified before meshio reads them.

meshio trusts the counts, reads a list in part where its count is smaller, and makes a table as long as the largest node
number, which may be any number. Here the lists are as long as their counts say, and numbers that are sparse are
replaced by 1, 2, ... in the order of the nodes.
"""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from meshio._common import num_nodes_per_cell
from meshio.gmsh import gmsh_to_meshio_type
from numpy.typing import NDArray

from calderon.mesh.errors import MeshError

SPARSE = 4
"""Largest node number, as a multiple of the number of nodes, beyond SPARSE_FROM, for which a table is made."""
SPARSE_FROM = 100_000
EXACT = 2.0**53
"""Largest whole number of text that is read exactly."""
INTEGER, REAL = np.dtype(np.int32), np.dtype(np.float64)


@dataclass(frozen=True)
class Places:
    """Where numbers of nodes stand in a section: the first of them, rows and columns, steps to the next row and column,
    the unit is a byte, or a word of a text; and their values."""

    first: int
    steps: tuple[int, int]
    kind: np.dtype  # type: ignore[type-arg]
    values: NDArray[np.int64]


class Section:
    """A section of a file from which numbers are taken in turn; MeshError where it has fewer."""

    def __init__(self, data: bytes, name: str, binary: bool) -> None:
        mark = f"\n${name}".encode()
        self.name, self.binary, self.place = name, binary, 0
        self.begin = data.index(b"\n", data.index(mark) + 1) + 1
        self.end = data.index(f"$End{name}".encode(), self.begin)
        self.body = data[self.begin : self.end]
        self.values = np.zeros(0)
        if not binary:
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("error")  # earlier releases of NumPy warn
                    self.values = np.fromstring(self.body, sep=" ")
            except (ValueError, DeprecationWarning):
                self.refuse("has words that are no numbers")

    def refuse(self, what: str) -> None:
        """Raise MeshError."""
        raise MeshError(f"its section ${self.name} {what}: it is damaged; export it again")

    def take(self, kind: np.dtype, rows: int, columns: int = 1) -> NDArray[np.float64] | NDArray[np.int64]:  # type: ignore[type-arg]
        """(rows, columns) the next numbers."""
        width = columns * (kind.itemsize if self.binary else 1)
        left = (len(self.body) if self.binary else len(self.values)) - self.place
        if not 0 <= rows <= left // width:
            self.refuse("has fewer numbers than it says")
        begin, self.place = self.place, self.place + rows * width
        if self.binary:
            found = np.frombuffer(self.body[begin : self.place], kind)
        else:
            found = self.values[begin : self.place]
        return self.whole(found).reshape(rows, columns) if kind != REAL else found.reshape(rows, columns)

    def whole(self, found: NDArray) -> NDArray[np.int64]:  # type: ignore[type-arg]
        """Numbers that are whole and not too large."""
        if found.dtype.kind == "f" and not ((np.abs(found) < EXACT) & (found == np.floor(found))).all():
            self.refuse("has a count or a number that is not a whole number")
        if found.dtype.kind == "u" and (found >= 2**62).any():
            self.refuse("has a count or a number above 2^62")
        return found.astype(np.int64)

    def numbers(self, kind: np.dtype, rows: int, columns: int, skipped: int, after: int = 0) -> Places:  # type: ignore[type-arg]
        """Numbers of nodes (rows, columns) behind `skipped` others of each row, with that many reals after them."""
        size, real = (kind.itemsize, REAL.itemsize) if self.binary else (1, 1)
        width = (skipped + columns) * size + after * real
        first, length = self.place + skipped * size, len(self.body) if self.binary else len(self.values)
        if not 0 <= rows <= (length - self.place) // width:
            self.refuse("has fewer numbers than it says")
        self.place += rows * width
        found: NDArray[Any]
        if not rows:
            found = np.zeros((0, columns), np.int64)
        elif self.binary:
            found = np.ndarray((rows, columns), kind, self.body, first, (width, size))
        else:
            found = self.values[first - skipped : self.place].reshape(rows, width)[:, skipped : skipped + columns]
        return Places(first, (width, size), kind, self.whole(found))

    def finish(self) -> None:
        """MeshError where numbers are left."""
        left = self.body[self.place :].strip() if self.binary else self.values[self.place :]
        if len(left):
            self.refuse("has more numbers than it says")

    def replaced(self, places: list[Places], new: list[NDArray[np.int64]]) -> bytes:
        """The section with other numbers of nodes."""
        if self.binary:
            body = bytearray(self.body)
            for each, values in zip(places, new, strict=True):
                if values.size:
                    np.ndarray(values.shape, each.kind, body, each.first, each.steps)[:] = values
            return bytes(body)
        words = np.array(self.body.split(), object)
        for each, values in zip(places, new, strict=True):
            rows, columns = np.indices(values.shape)
            words[each.first + rows * each.steps[0] + columns * each.steps[1]] = values.astype("S").astype(object)
        return b" ".join(words) + b"\n"


def with_dense_numbers(data: bytes, version: bytes, binary: bool, size: int) -> bytes:
    """A file whose lists have the lengths that it says, with nodes that are numbered 1, 2, ... if its numbers are
    sparse. size: bytes of its counts. MeshError for other lengths, nodes that occur twice, and elements with nodes that
    it does not have."""
    if version.startswith(b"2"):
        return _of_version_2(data, binary)
    old = version == b"4.0"
    count = np.dtype(f"u{8 if old else size}")
    sections = Section(data, "Nodes", binary), Section(data, "Elements", binary)
    nodes, elements = (_blocks(each, count, old) for each in sections)
    changed = _numbered(sections, nodes, elements)
    return data if changed is None else _with_sections(data, sections, changed)


def _blocks(section: Section, count: np.dtype, old: bool) -> list[Places]:  # type: ignore[type-arg]
    """The numbers of nodes in the blocks of a section of version 4."""
    blocks, total = section.take(count, 1, 2 if old else 4)[0, :2].tolist()
    found, kind = [], INTEGER if old else count
    for _ in range(blocks):
        head, amount = section.take(INTEGER, 1, 3)[0], int(section.take(count, 1)[0, 0])
        if section.name == "Elements":
            name = gmsh_to_meshio_type.get(int(head[2]), "")
            if name not in num_nodes_per_cell:
                section.refuse(f"has elements of the unknown kind {head[2]}")
            found.append(section.numbers(kind, amount, num_nodes_per_cell[name], 1))
        elif old:
            found.append(section.numbers(kind, amount, 1, 0, after=3))
        else:
            found.append(section.numbers(kind, amount, 1, 0))
            section.take(REAL, amount, 3)
    section.finish()
    if sum(len(each.values) for each in found) != total:
        section.refuse(f"does not have the {total} entries that it says")
    return found


def _numbered(
    sections: tuple[Section, Section], nodes: list[Places], elements: list[Places]
) -> tuple[bytes, bytes] | None:
    """The bodies of both sections with dense numbers; None where they are dense."""
    tags = np.concatenate([np.zeros(0, np.int64), *(each.values.ravel() for each in nodes)])
    if not len(tags):
        return None
    order = np.argsort(tags, kind="stable")
    known = tags[order]
    if known[0] < 1:
        sections[0].refuse(f"has a node of the number {known[0]}")
    if (twice := known[1:][np.diff(known) == 0]).size:
        sections[0].refuse(f"has several nodes of the number {twice[0]}")
    if known[-1] <= max(SPARSE * len(tags), SPARSE_FROM):
        return None
    new = []
    for each in elements:
        at = np.minimum(np.searchsorted(known, each.values), len(known) - 1)
        if (missing := each.values[known[at] != each.values]).size:
            sections[1].refuse(f"has an element with the node {missing[0]}, which is not in the file")
        new.append(order[at] + 1)
    ends = np.cumsum([0] + [each.values.size for each in nodes])
    own = [np.arange(a, b).reshape(-1, 1) + 1 for a, b in zip(ends[:-1], ends[1:], strict=True)]
    return sections[0].replaced(nodes, own), sections[1].replaced(elements, new)


def _with_sections(data: bytes, sections: tuple[Section, ...], bodies: tuple[bytes, ...]) -> bytes:
    parts, last = [], 0
    for section, body in sorted(zip(sections, bodies, strict=True), key=lambda each: each[0].begin):
        parts += [data[last : section.begin], body]
        last = section.end
    return b"".join([*parts, data[last:]])


def _of_version_2(data: bytes, binary: bool) -> bytes:
    """A file of version 2; binary ones have nodes 1, 2, ... or are refused by meshio."""
    nodes, elements = Section(data, "Nodes", binary), Section(data, "Elements", binary)
    if binary:
        for section in (nodes, elements):
            _require_binary_length(section)
        return data
    count = int(nodes.take(REAL, 1)[0, 0])
    places = [nodes.numbers(INTEGER, count, 1, 0, after=3)]
    nodes.finish()
    lines = [line for line in elements.body.splitlines() if line.strip()]
    if int(elements.take(INTEGER, 1)[0, 0]) != len(lines) - 1:
        elements.refuse(f"has {len(lines) - 1} elements, not the {lines[0].decode(errors='replace')} that it says")
    if _numbered((nodes, elements), places, []) is None:
        return data
    return _with_sections(data, (nodes, elements), _renumbered_lines(nodes, elements, places[0], lines))


def _require_binary_length(section: Section) -> None:
    """MeshError unless a binary section of version 2 has as many entries as it says."""
    line, body = section.body.split(b"\n", 1)
    total = int(line)
    section.body, found = body, 0
    if section.name == "Nodes":
        section.numbers(INTEGER, total, 1, 0, after=3)
    while section.name == "Elements" and found < total:
        kind, count, tags = section.take(INTEGER, 1, 3)[0].tolist()
        corners = num_nodes_per_cell.get(gmsh_to_meshio_type.get(kind, ""), 0)
        if not (corners and count > 0 and 0 <= tags < len(body)):
            section.refuse(f"has {count} elements of kind {kind} with {tags} tags")
        section.take(INTEGER, count, 1 + tags + corners)
        found += count
    if section.name == "Elements" and found != total:
        section.refuse(f"has {found} elements, not the {total} that it says")
    section.finish()


def _renumbered_lines(nodes: Section, elements: Section, places: Places, lines: list[bytes]) -> tuple[bytes, bytes]:
    """The sections of version 2 with nodes 1, 2, ..., element by element: the last words of a line are its nodes."""
    dense = {number: b"%d" % place for place, number in enumerate(places.values.ravel().tolist(), start=1)}
    written = [lines[0]]
    for line in lines[1:]:
        words = line.split()
        corners = num_nodes_per_cell.get(gmsh_to_meshio_type.get(int(words[1]), ""), 0)
        if not 0 < corners <= len(words) - 3:
            elements.refuse(f"has an element of kind {int(words[1])} without nodes")
        for place in range(len(words) - corners, len(words)):
            number = int(words[place])
            if number not in dense:
                elements.refuse(f"has an element with the node {number}, which is not in the file")
            words[place] = dense[number]
        written.append(b" ".join(words))
    own = np.arange(1, len(places.values) + 1).reshape(-1, 1)
    body = nodes.replaced([places], [own]).split(b" ", 1)
    return b"\n".join(body), b"\n".join(written) + b"\n"
