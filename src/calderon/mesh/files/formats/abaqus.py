"""Elements of Abaqus and CalculiX input files (.inp), with their element sets.

meshio keeps the last of several *NODE blocks, loses or mixes up sets that *ELEMENT lines name, and stops at sets that
stand between elements.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from calderon.mesh.errors import MeshError
from calderon.mesh.files.file_mesh import FileMesh
from calderon.mesh.files.formats.format import COUNT, Format, Written, refuse_names, rows_text
from calderon.mesh.files.formats.included import included

TYPES = {
    ("triangle", 3): "S3 S3R S3RS S3T S3RT DS3 STRI3 CPS3 CPS3T CPE3 CPE3T DC2D3 AC2D3 M3D3 R3D3 SFM3D3",
    ("triangle6", 6): "STRI65 S6 DS6 CPS6 CPS6M CPE6 CPE6M DC2D6 AC2D6 M3D6 SFM3D6",
    ("quad", 4): "S4 S4R S4RS S4RSW S4R5 S4T S4RT DS4 CPS4 CPS4R CPS4T CPE4 CPE4R CPE4T DC2D4 AC2D4 M3D4 M3D4R R3D4 "
    "SFM3D4 SFM3D4R",
    ("quad8", 8): "S8 S8R S8R5 S8RT DS8 CPS8 CPS8R CPE8 CPE8R DC2D8 AC2D8 M3D8 M3D8R SFM3D8",
    ("quad9", 9): "S9R5 M3D9",
    ("tetra", 4): "C3D4 C3D4H C3D4T DC3D4 AC3D4",
    ("tetra10", 10): "C3D10 C3D10H C3D10I C3D10M C3D10MH C3D10T C3D10MT DC3D10 AC3D10",
}
"""meshio's name and the number of nodes of the element types that are read; others are ignored with a warning."""
_KINDS = {name: kind for kind, names in TYPES.items() for name in names.split()}
SOLIDS = ("C3D", "DC3D", "AC3D", "SC6", "SC8", "CSS8")
"""Begin the names of elements with a volume."""
LINES = ("T2D", "T3D", "B2", "B3", "PIPE", "MASS", "ROTARYI", "SPRING", "DASHPOT", "CONN", "GAP")
"""Begin the names of bars and points, which are ignored silently, as in other formats."""
LAST_LINE = "** calderon: end"
"""Ends files of this package, in which sets follow the triangles; the comment with their number promises it."""
MAKERS = {"ELGEN", "ELCOPY", "NGEN", "NFILL", "NCOPY", "NMAP", "MIRROR"}
"""Keywords that generate elements and nodes from others."""

Section = tuple[str, dict[str, str], list[list[str]]]


def read_abaqus(path: Path) -> FileMesh:
    """Surfaces and tetrahedra of one part, element sets as cell sets in the order in which they are met.

    `info` of the mesh holds messages for the user. Raises MeshError for elements with too few nodes or missing
    nodes, for numbers given twice (several parts), for instances that are moved, for lines that make nodes and
    elements or rotate coordinates, for data in another file, and for tetrahedra mixed with other volume elements.
    """
    points: list[list[float]] = []
    places: dict[int, int] = {}
    blocks: list[tuple[str, NDArray[np.int64]]] = []
    sets: dict[str, list[NDArray[np.int64]]] = {}
    passed: Counter[str] = Counter()
    # keyword by keyword: nodes, elements, sets
    for keyword, options, rows in _sections(path):
        _refuse_unread(keyword, options, rows)
        if keyword == "NODE":
            for row in rows:
                if places.setdefault(int(row[0]), len(points)) != len(points):
                    raise MeshError(f"node {row[0]} is given twice: write one part, or all parts as one flat mesh")
                points.append([float(value or 0) for value in (*row[1:4], "", "")[:3]])
        elif keyword == "ELEMENT":
            kind = _KINDS.get(options.get("TYPE", "").upper())
            if kind is None:
                passed[options.get("TYPE", "none").upper()] += len(rows)
                continue
            blocks.append((kind[0], _numbers(rows, kind[1] + 1)))
            if options.get("ELSET"):
                sets.setdefault(options["ELSET"], []).append(blocks[-1][1][:, 0])
        elif keyword == "ELSET":
            sets.setdefault(options.get("ELSET", ""), []).extend(_set(rows, "GENERATE" in options, sets))
        elif keyword == "INSTANCE" and rows:
            raise MeshError("an instance of a part is moved: write the assembly as one flat mesh")
    if not blocks and passed:
        raise MeshError(f"no triangles, only elements of the types {', '.join(sorted(passed))}: mesh the surface")
    # solids that are not read would leave their surface out
    flat = any(kind.startswith(("triangle", "quad")) for kind, _ in blocks)
    solids = [name for name in sorted(passed) if name.startswith(SOLIDS)]
    if solids and not flat:
        raise MeshError(
            f"elements of the types {', '.join(solids)} are not supported, only tetrahedra: mesh the volume with "
            "tetrahedra only, or its surface with triangles"
        )
    # elements by number
    labels = np.concatenate([each[:, 0] for _, each in blocks]) if blocks else np.zeros(0, np.int64)
    if len(np.unique(labels)) < len(labels):
        raise MeshError("element numbers are given twice: write one part, or all parts as one flat mesh")
    cells = [(kind, _placed(each, places)) for kind, each in blocks]
    # sets as places in each block
    chosen = {name: np.concatenate(parts) for name, parts in sets.items() if parts}
    found = {name: [np.flatnonzero(np.isin(each[:, 0], ids)) for _, each in blocks] for name, ids in chosen.items()}
    # what was not read
    others = [f"{name} ({passed[name]} lines)" for name in sorted(passed) if not name.startswith(LINES)]
    notes = [f"elements ignored, of types that are not supported: {', '.join(others)}"] if others else []
    return FileMesh(np.array(points).reshape(-1, 3), cells, cell_sets=found if blocks else {}, info=notes)


def _refuse_unread(keyword: str, options: dict[str, str], rows: list[list[str]]) -> None:
    """MeshError for sections that would change the mesh and are not supported."""
    if keyword in MAKERS:
        raise MeshError(f"*{keyword} generates nodes or elements, which is not supported: write them all")
    turned = keyword == "NODE" and options.get("SYSTEM", "R").upper() != "R"
    if turned or keyword == "SYSTEM" and rows:
        raise MeshError(f"*{keyword} uses another coordinate system: write all nodes in global rectangular ones")
    if keyword in ("NODE", "ELEMENT", "ELSET") and "INPUT" in options:
        raise MeshError(f"*{keyword} refers to another file, {options['INPUT']!r}: copy its lines into this one")


def _sections(path: Path) -> Iterator[Section]:
    """(keyword, options, rows of data) one after the other; included files are inserted where they are named."""
    keyword = ""
    options: dict[str, str] = {}
    rows: list[list[str]] = []
    for line in _lines((path,)):
        if line.startswith("*"):
            yield keyword, options, rows
            fields = [field.strip() for field in line[1:].split(",")]
            keyword, rows = fields[0].upper(), []
            pairs = (field.partition("=") for field in fields[1:])
            options = {name.strip().upper(): value.strip() for name, _, value in pairs}
        else:
            rows.append([word.strip() for word in line.rstrip(",").split(",")])
    yield keyword, options, rows


def _lines(stack: tuple[Path, ...]) -> Iterator[str]:
    """Lines of the last of the files that include one another, without comments and blank ones."""
    with stack[-1].open(encoding="utf-8", errors="replace") as file:
        for line in file:
            text = line.strip()
            if text.upper().startswith("*INCLUDE"):
                yield from _lines(included(text.split("=")[-1].strip().strip("'\""), stack))
            elif text and not text.startswith("**"):
                yield text


def _numbers(rows: list[list[str]], width: int) -> NDArray[np.int64]:
    """Rows (n, width) of integers, which may go on over several lines."""
    flat = np.array([int(word) for row in rows for word in row], np.int64)
    if len(flat) % width:
        raise MeshError(f"{len(flat)} numbers for elements of {width} each; the file is incomplete or damaged")
    return flat.reshape(-1, width)


def _set(rows: list[list[str]], generate: bool, sets: dict[str, list[NDArray[np.int64]]]) -> list[NDArray[np.int64]]:
    """The elements of a set, given by their numbers, by first, last and step, or by the names of other sets."""
    if generate:
        steps = [[int(word) for word in row] for row in rows]
        return [np.arange(row[0], row[1] + 1, *row[2:3]) for row in steps]
    entries = [entry for row in rows for entry in row]
    named = [part for entry in entries if entry in sets and not entry.isdigit() for part in sets[entry]]
    return [np.array([int(entry) for entry in entries if entry.isdigit()], np.int64), *named]


def _placed(elements: NDArray[np.int64], places: dict[int, int]) -> NDArray[np.int64]:
    """The nodes (n, nodes) of elements (n, 1 + nodes) by their places in the array of points."""
    missing = [node for node in np.unique(elements[:, 1:]).tolist() if node not in places]
    if missing:
        raise MeshError(f"elements refer to {len(missing)} missing nodes, such as {missing[0]}")
    return np.array([[places[node] for node in row] for row in elements[:, 1:].tolist()], np.int64)


def write_abaqus(mesh: Written, path: Path) -> None:
    """Write a surface with an element set for each tag."""
    (block,) = mesh.blocks
    names = block.used_names
    sets = {name: np.flatnonzero(block.tags == tag) for tag, name in names.items()}
    _write_elements(path, mesh.vertices, block.elements, sets)
    first, rest = path.read_text(encoding="utf-8").split("\n", 1)
    count = f"** {COUNT}{len(block.elements)}, and the last line is {LAST_LINE}"
    path.write_text(f"{first}\n{count}\n** {block.commented(names)}\n{rest.rstrip()}\n{LAST_LINE}\n", encoding="utf-8")


def _write_elements(
    path: Path, vertices: NDArray[np.float64], triangles: NDArray[np.int64], sets: dict[str, NDArray[np.int64]]
) -> None:
    """Nodes, triangles and element sets, of numbers from 1."""
    with path.open("w", encoding="utf-8") as file:
        file.write("*HEADING\nmesh of calderon\n*NODE\n")
        file.write(rows_text(np.column_stack([np.arange(1, len(vertices) + 1), vertices]), "%d, %.16e, %.16e, %.16e"))
        file.write("*ELEMENT, TYPE=R3D3\n")
        file.write(rows_text(np.column_stack([np.arange(len(triangles)), triangles]) + 1, "%d,%d,%d,%d"))
        for name, own in sets.items():
            rows = [",".join(map(str, own[i : i + 8] + 1)) for i in range(0, len(own), 8)]
            file.write(f"*ELSET, ELSET={name}\n" + ",\n".join(rows) + "\n")


INP = Format(
    (".inp",),
    read_abaqus,
    write_abaqus,
    is_text=lambda head: True,
    last_line=LAST_LINE,
    refuses=lambda mesh: refuse_names(".inp", mesh, ",", "commas"),
)
