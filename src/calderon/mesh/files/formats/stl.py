"""Triangles of STL files, binary and text; several solids of a text are tags with their names.

meshio takes no capitals, no comments, no normals such as -1.#IND, and no names. Source: 3D Systems, "StereoLithography
Interface Specification" (1989).
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from calderon.mesh.coincident import coincident_points
from calderon.mesh.errors import MeshError, warn
from calderon.mesh.files.file_mesh import FileMesh
from calderon.mesh.files.formats.format import Format, Written
from calderon.mesh.topology import row_numbers
from calderon.mesh.validation import area_vectors_of

HEADER = np.dtype([("text", "S80"), ("triangles", "<u4")])
FACET = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("attribute", "<u2")])
"""Layout of a binary file: before the first triangle, and of each."""
_COMMENT = re.compile(rb"(?m)^[ \t]*(?:#|;|//|!|\$|%).*$")
_SOLID = re.compile(rb"(?im)^[ \t]*(end[ \t]*)?solid\b[ \t]*(.*)$")
_VERTEX = rb"vertex\s+(\S+)\s+(\S+)\s+(\S+)\s+"
_TEXT_FACET = re.compile(
    rb"facet(?:\s+normal)?(?:\s+(?!outer\b)\S+){0,3}\s+outer\s+loop\s+"
    + _VERTEX
    + _VERTEX
    + _VERTEX
    + rb"end\s*loop\s+end\s*facet\b\s*",
    re.IGNORECASE,
)


def read_stl(path: Path) -> FileMesh:
    """The triangles, equal corners joined. A file is binary if its size fits its number of triangles, even if it begins
    with "solid".

    MeshError for another size, for a text without "endsolid" after its last triangle, and with the line for what is no
    facet of three vertices.
    """
    data = path.read_bytes()
    promised = int.from_bytes(data[80:84], "little")
    whole = HEADER.itemsize + FACET.itemsize * promised
    if len(data) == whole:
        return _mesh([np.frombuffer(data, FACET, offset=HEADER.itemsize)["corners"].astype(np.float64)], [""])
    if len(data) >= HEADER.itemsize and b"\0" in data[:512]:
        raise MeshError(
            f"{len(data)} bytes, but its {promised} triangles take {whole}: "
            "it is incomplete or damaged; export it again"
        )
    text = data.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    text = _COMMENT.sub(b"", text)
    last = re.search(rb"(?i).*end\s*(facet|solid)", text, re.DOTALL)
    if last is None or last[1].lower() == b"facet":
        raise MeshError("no 'endsolid' at the end of the text: incomplete, or not an STL file; export it again")
    solids, names = [], []
    for name, begin, end in _solids(text):
        solids.append(_facets(text, begin, end))
        names.append(name)
    return _mesh(solids, names)


def _solids(text: bytes) -> list[tuple[str, int, int]]:
    """The names of solids, and where their facets begin and end."""
    found: list[tuple[str, int, int]] = []
    name, begin, after = "", -1, 0
    for mark in _SOLID.finditer(text):
        if (mark[1] is None) == (begin >= 0):
            what = "an endsolid that no solid precedes" if mark[1] else "a solid begins before the last one ends"
            _refuse(text, mark.start(), what)
        if mark[1] is None:
            _require_blank(text, after, mark.start())
            name, begin = mark[2].decode("utf-8", errors="replace").strip(), mark.end()
        else:
            found.append((name, begin, mark.start()))
            begin, after = -1, mark.end()
    if begin >= 0:
        _refuse(text, begin, "a solid has no endsolid on a line of its own")
    _require_blank(text, after, len(text))
    return found


def _facets(text: bytes, begin: int, end: int) -> NDArray[np.float64]:
    """Corners (n, 3, 3) of the facets of a solid."""
    words: list[bytes] = []
    while begin < end and text[begin : begin + 1].isspace():
        begin += 1
    starts = []
    while begin < end:
        facet = _TEXT_FACET.match(text, begin, end)
        if facet is None:
            _refuse(text, begin, "no facet of three vertices (facet normal, outer loop, 3 vertex, endloop, endfacet)")
        words += facet.groups()
        starts.append(begin)
        begin = facet.end()
    try:
        return np.array(words, dtype="S").astype(np.float64).reshape(-1, 3, 3)
    except ValueError:
        wrong = next(i for i, word in enumerate(words) if not _is_number(word))
        shown = words[wrong][:40].decode("utf-8", errors="replace")
        _refuse(text, starts[wrong // 9], f"a facet has a coordinate {shown!r}, which is no number")


def _is_number(word: bytes) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def _require_blank(text: bytes, begin: int, end: int) -> None:
    if rest := text[begin:end].strip():
        _refuse(text, text.index(rest, begin), "text outside of solid ... endsolid")


def _refuse(text: bytes, place: int, what: str) -> NoReturn:
    raise MeshError(f"line {text.count(bytes([10]), 0, place) + 1}: {what}")


def _mesh(solids: list[NDArray[np.float64]], names: list[str]) -> FileMesh:
    corners = np.concatenate([np.zeros((0, 3, 3)), *solids])
    points, number = row_numbers(corners.reshape(-1, 3))
    data, fields = {}, {}
    if len(solids) > 1:
        data = {"tags": [np.repeat(np.arange(len(solids)) + 1, [len(each) for each in solids])]}
        for tag, name in enumerate(names, start=1):
            if name:
                fields[name if name not in fields else f"{name} ({tag})"] = np.array([tag, 2])
    return FileMesh(points, [("triangle", number.reshape(-1, 3))], data, fields)


def _refuse_what_is_lost(mesh: Written) -> None:
    """A notice of what an STL file does not keep; MeshError where triangles do not survive single precision."""
    (block,) = mesh.blocks
    if len(np.unique(block.tags)) > 1 or block.names:
        warn("STL files hold no tags: they are lost (.msh, .vtu, .ply, .obj and .inp keep them)")
    # how far vertices move in single precision
    used = np.unique(block.elements)
    low, high = mesh.vertices[used].min(axis=0), mesh.vertices[used].max(axis=0)
    diameter = float(np.linalg.norm(high - low))
    with np.errstate(over="ignore"):
        rounded = mesh.vertices.astype(np.float32).astype(np.float64)
    moved = float(np.abs(rounded - mesh.vertices)[used].max())
    distinct = [len(np.unique(coincident_points(points[used]))) for points in (mesh.vertices, rounded)]
    # triangles must keep their corners and their area
    try:
        if moved > 0.01 * diameter or distinct[1] < distinct[0]:
            raise MeshError("written vertices are merged, or moved too far")
        area_vectors_of(rounded, block.elements)
    except MeshError:
        corners = (f"({', '.join(f'{x:g}' for x in corner)})" for corner in (low, high))
        raise MeshError(
            f"STL files keep seven digits up to 3e38, too few for this mesh from {' to '.join(corners)}: move it to "
            "the origin (translated), use another unit (scaled), or write .msh or .vtu"
        ) from None
    if moved > 1e-6 * diameter:
        warn(
            f"STL files keep seven digits: vertices move by up to {moved:.2g}, {moved / diameter:.1g} of the "
            "diameter; move the mesh to the origin first (translated), or use .msh or .vtu"
        )


def write_stl(mesh: Written, path: Path) -> None:
    """Write triangles with their normals as binary: 80 bytes, their number, and 50 bytes of each."""
    corners = mesh.vertices[mesh.blocks[0].elements]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normals /= np.maximum(np.linalg.norm(normals, axis=1), np.finfo(float).tiny)[:, None]
    facets = np.zeros(len(corners), FACET)
    facets["normal"], facets["corners"] = normals, corners
    path.write_bytes(b"binary STL of calderon".ljust(80) + np.array(len(corners), "<u4").tobytes() + facets.tobytes())


STL = Format(
    (".stl",),
    read_stl,
    write_stl,
    is_soup=True,
    refuses=_refuse_what_is_lost,
)
