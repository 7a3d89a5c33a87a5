"""Files of the Stanford format (.ply), with tags as a property of faces."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from calderon.mesh.errors import MeshError
from calderon.mesh.files.file_mesh import FileMesh
from calderon.mesh.files.formats.format import Format, Written, refuse_large_tags, rows_text

ORDERS = {"ascii": "", "binary_little_endian": "<", "binary_big_endian": ">"}
NUMBERS = {
    "char": "i1", "uchar": "u1", "short": "i2", "ushort": "u2", "int": "i4", "uint": "u4", "float": "f4",
    "double": "f8", "int8": "i1", "uint8": "u1", "int16": "i2", "uint16": "u2", "int32": "i4", "uint32": "u4",
    "float32": "f4", "float64": "f8",
}  # fmt: skip
Rows = dict[str, NDArray[Any]]
"""Properties by name of elements whose lists are of equal lengths: (n,), of lists (n, length)."""


@dataclass(frozen=True)
class _Element:
    """An element of the header: its name, how many there are, and the types of its properties by their names, of lists
    those of the length and of the items."""

    name: str
    count: int
    properties: dict[str, tuple[str, ...]] = field(default_factory=dict)


def read_ply(path: Path) -> FileMesh:
    """Vertices and faces, with the other properties of faces as cell data; text or binary. MeshError where header or
    faces end early, and for strips of triangles."""
    head, mark, rest = path.read_bytes().partition(b"\nend_header")
    if not mark or not head.startswith(b"ply"):
        raise MeshError("incomplete, its header does not end: export it again" if not mark else "it is no PLY file")
    lines = [line.split() for line in head.decode("utf-8", errors="replace").splitlines()]
    form = next((line[1] for line in lines if line[:1] == ["format"] and len(line) > 1), "")
    if form not in ORDERS:
        raise MeshError(f"its format {form!r} is unknown: known are {', '.join(ORDERS)}")
    body = rest.partition(b"\n")[2]
    source = _Text(body.split(b"\n")) if form == "ascii" else _Binary(body, ORDERS[form])
    points, blocks = np.zeros((0, 3)), []
    for element in _elements(lines):
        found = source.rows(element)
        if element.name == "tristrips" and element.count:
            raise MeshError("holds triangle strips, which are not supported: write triangles")
        if element.name == "vertex":
            points = np.column_stack([_single(found, axis) for axis in "xyz"]).astype(float)
        if element.name == "face":
            blocks = found
    named = [[name for name in ("vertex_indices", "vertex_index") if name in each] for each in blocks]
    if not all(named):
        raise MeshError("its faces have no list of vertices (vertex_indices): export it again")
    corners = [each[names[0]] for each, names in zip(blocks, named, strict=True)]
    kinds = [({3: "triangle", 4: "quad"}.get(each.shape[1], "polygon"), each) for each in corners]
    names = [name for name in (blocks[0] if blocks else ()) if all(b[name].ndim == 1 for b in blocks)]
    return FileMesh(points, kinds, {name: [b[name] for b in blocks] for name in names})


def _elements(lines: list[list[str]]) -> list[_Element]:
    found: list[_Element] = []
    for words in lines:
        if words[:1] == ["element"]:
            found.append(_Element(words[1], int(words[2])))
        if words[:1] == ["property"]:
            kinds = words[2:4] if words[1] == "list" else words[1:2]
            found[-1].properties[words[-1]] = tuple(NUMBERS[each] for each in kinds)
    if any(each.count < 0 for each in found):
        raise MeshError("its header counts less than nothing: it is damaged; export it again")
    return found


def _single(blocks: list[Rows], name: str) -> NDArray[Any]:
    return np.concatenate([np.zeros(0), *(each[name] for each in blocks)])


def _refuse(element: _Element, found: int) -> NoReturn:
    name = {"vertex": "vertices", "face": "faces"}.get(element.name, element.name)
    raise MeshError(f"incomplete, it holds {found} of {element.count} {name}: export it again")


class _Text:
    """Lines, one for each vertex or face."""

    def __init__(self, lines: list[bytes]) -> None:
        self._lines = [line for line in lines if line.strip()]

    def rows(self, element: _Element) -> list[Rows]:
        """The next lines, by the lengths of their lists."""
        own, self._lines = self._lines[: element.count], self._lines[element.count :]
        if len(own) < element.count:
            _refuse(element, len(own))
        groups: dict[tuple[int, ...], list[list[float]]] = {}
        for line in own:
            words, at, lengths = line.split(), 0, []
            for kinds in element.properties.values():
                length = int(words[at]) if len(kinds) > 1 else 1
                lengths.append(length)
                at += length + len(kinds) - 1
            if at != len(words):
                raise MeshError(f"a line of {element.name} has {len(words)} numbers, not {at}: it is damaged")
            groups.setdefault(tuple(lengths), []).append(list(map(float, words)))
        return [self._columns(element, lengths, np.array(values)) for lengths, values in groups.items()]

    @staticmethod
    def _columns(element: _Element, lengths: tuple[int, ...], values: NDArray[np.float64]) -> Rows:
        found, at = {}, 0
        for (name, kinds), length in zip(element.properties.items(), lengths, strict=True):
            at += len(kinds) - 1
            own = values[:, at : at + length].astype(kinds[-1])
            found[name], at = own if len(kinds) > 1 else own[:, 0], at + length
        return found


class _Binary:
    """Bytes in an order, "<" or ">"."""

    def __init__(self, data: bytes, order: str) -> None:
        self._data, self._order, self._place = data, order, 0

    def rows(self, element: _Element) -> list[Rows]:
        """The next bytes, by the lengths of lists; rows of equal lengths that follow each other are read at once."""
        found: list[Rows] = []
        left = element.count
        while left:
            lengths, dtype = self._layout(element, element.count - left)
            whole = min(left, (len(self._data) - self._place) // dtype.itemsize)
            values = np.frombuffer(self._data, dtype, whole, self._place)
            same = np.ones(whole, bool)
            for name, length in lengths.items():
                same &= values[f"{name} length"] == length
            number = whole if same.all() else int(np.argmin(same))
            if not number:
                _refuse(element, element.count - left)
            found.append({name: values[name][:number].astype(kinds[-1]) for name, kinds in element.properties.items()})
            self._place += number * dtype.itemsize
            left -= number
        return _joined(found)

    def _layout(self, element: _Element, done: int) -> tuple[dict[str, int], np.dtype[Any]]:
        """The lengths of lists of the next row, and the type of such rows."""
        place, lengths, fields = self._place, {}, []
        for name, kinds in element.properties.items():
            count, shape = np.dtype(self._order + kinds[0]), ()
            if len(kinds) > 1:
                if place + count.itemsize > len(self._data):
                    _refuse(element, done)
                lengths[name] = int(np.frombuffer(self._data, count, 1, place)[0])
                if not 0 <= lengths[name] <= len(self._data):
                    raise MeshError(f"a list of {element.name} has {lengths[name]} items: it is damaged")
                fields.append((f"{name} length", count, ()))
                place, shape = place + count.itemsize, (lengths[name],)  # type: ignore[assignment]
            fields.append((name, np.dtype(self._order + kinds[-1]), shape))
            place += fields[-1][1].itemsize * int(np.prod(shape))
        if place > len(self._data) or place == self._place:
            _refuse(element, done)
        return lengths, np.dtype(fields)


def _joined(rows: list[Rows]) -> list[Rows]:
    """Rows with lists of equal lengths in one block."""
    groups: dict[tuple[Any, ...], list[Rows]] = {}
    for each in rows:
        groups.setdefault(tuple(values.shape[1:] for values in each.values()), []).append(each)
    return [{name: np.concatenate([each[name] for each in own]) for name in own[0]} for own in groups.values()]


def write_ply(mesh: Written, path: Path) -> None:
    """Write a surface as text with all digits."""
    (block,) = mesh.blocks
    with path.open("w", encoding="utf-8") as file:
        file.write(f"ply\nformat ascii 1.0\ncomment {block.commented()}\nelement vertex {len(mesh.vertices)}\n")
        file.write("".join(f"property double {axis}\n" for axis in "xyz"))
        file.write(f"element face {len(block.elements)}\nproperty list uchar int vertex_indices\n")
        file.write("property int tags\nend_header\n" + rows_text(mesh.vertices, "%.17g"))
        file.write(rows_text(np.column_stack([block.elements, block.tags]), "3 %d %d %d %d"))


PLY = Format(
    (".ply",),
    read_ply,
    write_ply,
    is_text=lambda head: head.startswith(b"ply") and b"format ascii" in head,
    refuses=lambda mesh: refuse_large_tags(".ply", mesh),
)
