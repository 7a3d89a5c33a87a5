"""Polygons and labels of a cell of a GDSII file, with those of all cells in it.

Files are untrusted: how many polygons references stand for is counted before they are expanded.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.formulations.statics.files.gds_records import records
from calderon.formulations.statics.files.text_lines import given_path
from calderon.mesh import MeshError

POLYGONS, CORNERS, DEPTH = 10_000, 200_000, 64
"""Largest numbers of polygons and labels and of corners of a cell with its references, and depth of these."""
SHOWN = 20
"""Cells that a message names."""
ENDS = {0: "flush", 1: "round", 2: "extended"}
"""Ends of paths by their number in the file; 4 has lengths."""
Points = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Drawing:
    """A cell with all cells in it. unit: of lengths, in m; grid: the step of coordinates in that unit. polygons:
    corners (n, 2) by (layer, datatype). labels: (layer, text, place (2,))."""

    unit: float
    grid: float
    polygons: Mapping[tuple[int, int], list[Points]]
    labels: list[tuple[int, str, Points]]


@dataclass
class Cell:
    """The contents of one cell: polygons and labels, and references (name, places (n, 2), 2 x 2 matrix)."""

    name: str
    polygons: list[tuple[tuple[int, int], Points]] = field(default_factory=list)
    labels: list[tuple[int, str, Points]] = field(default_factory=list)
    references: list[tuple[str, Points, Points]] = field(default_factory=list)


def driver() -> Any:
    """gdstk; MeshError if it is not installed."""
    try:
        import gdstk
    except ImportError:
        raise MeshError("layouts are cut by gdstk, which is not installed: pip install 'calderon[gds]'") from None
    return gdstk


def read_gds(path: str | Path, cell: str | None = None) -> Drawing:
    """The polygons, also those of paths and boxes, and labels of a cell with all cells in it, by default of the only
    one that is in no other; lengths in its user unit. ValueError, naming the file, for what is no such file, cells that
    are missing, empty or within themselves, and too many polygons."""
    place = given_path(path, "a layout")
    cells, step, unit = _cells(place)
    inner = {name for each in cells.values() for name, _, _ in each.references}
    tops = [name for name in cells if name not in inner]
    if cell is None and len(tops) != 1:
        found = ", ".join(map(repr, tops[:SHOWN])) or "none"
        raise ValueError(f"{place}: {len(tops)} cells are in no other, {found}: choose one by cell=")
    chosen = tops[0] if cell is None else cell
    if chosen not in cells:
        raise ValueError(f"{place}: no cell {chosen!r}: choose {', '.join(map(repr, list(cells)[:SHOWN]))}")
    drawn, corners = _count(place, cells, chosen, {}, 0)
    if not drawn:
        raise ValueError(f"{place}: the cell {chosen!r} is empty: choose another one by cell=")
    if drawn > POLYGONS or corners > CORNERS:
        raise ValueError(
            f"{place}: the cell {chosen!r} has {drawn} polygons and labels with {corners} corners, at most {POLYGONS} "
            f"with {CORNERS} can be meshed: choose a smaller cell by cell="
        )
    polygons: dict[tuple[int, int], list[Points]] = {}
    labels: list[tuple[int, str, Points]] = []
    _expand(cells, chosen, np.eye(2), np.zeros(2), polygons, labels)
    if not polygons:
        raise ValueError(f"{place}: the cell {chosen!r} draws no polygons: choose another one by cell=")
    return Drawing(unit, step, polygons, labels)


def _cells(place: Path) -> tuple[dict[str, Cell], float, float]:
    """All cells by name, the step of coordinates in user units, and the user unit in m."""
    found: dict[str, Cell] = {}
    step = unit = 0.0
    cell, element = None, dict[str, Any]()
    for name, values, start in records(place):
        if name == "UNITS":
            step, metres = float(values[0]), float(values[1])
            if not (1e-9 <= step <= 1 and 1e-15 <= metres <= 1):
                raise ValueError(f"{place}: a step of {metres:g} m and {step:g} units is none of a layout")
            unit = metres / step
        elif name == "STRNAME":
            cell = found.setdefault(str(values), Cell(str(values)))
        elif name == "ENDSTR":
            cell = None
        elif name in ("BOUNDARY", "PATH", "SREF", "AREF", "TEXT", "BOX", "NODE"):
            element = {"kind": name}
        elif name == "ENDEL":
            if cell is None or not step or "kind" not in element:
                raise ValueError(f"{place}: an element ends at byte {start} that is in no cell, or has no unit")
            try:
                _add(cell, element, step)
            except (KeyError, ValueError, IndexError) as error:
                raise ValueError(
                    f"{place}: the element {element['kind']} that ends at byte {start} is incomplete or wrong: {error}"
                ) from None
            element = {}
        else:
            element[name] = values
    return found, step, unit


def _add(cell: Cell, element: dict[str, Any], step: float) -> None:
    """Put an element into a cell; KeyError or ValueError for what it lacks."""
    kind = element["kind"]
    if kind == "NODE":
        return
    points = step * np.array(element["XY"], float).reshape(-1, 2)
    if kind in ("SREF", "AREF"):
        columns, rows = element["COLROW"] if kind == "AREF" else (1, 1)
        if columns < 1 or rows < 1 or len(points) != (3 if kind == "AREF" else 1):
            raise ValueError(f"{columns} x {rows} copies at {len(points)} places")
        size, turn = element.get("MAG", [1.0])[0], np.radians(element.get("ANGLE", [0.0])[0])
        if not 1e-6 <= size <= 1e6 or abs(turn) > 1e3:
            raise ValueError(f"a size of {size:g}, turned by {turn:g}")
        matrix = size * np.array([[np.cos(turn), -np.sin(turn)], [np.sin(turn), np.cos(turn)]]).round(15)
        if element.get("STRANS", [0])[0] & 0x8000:
            matrix[:, 1] *= -1
        across = (points[1:] - points[0]) / np.array([[columns], [rows]]) if kind == "AREF" else np.zeros((2, 2))
        # a copy for each of too many places would fill the memory before they are counted
        count = min(columns, CORNERS)
        i, j = np.indices((count, min(rows, CORNERS // count + 1))).reshape(2, -1)
        places = points[0] + i[:, None] * across[0] + j[:, None] * across[1]
        cell.references.append((element["SNAME"], places, matrix))
    elif kind == "TEXT":
        cell.labels.append((element["LAYER"][0], element["STRING"], points[0]))
    else:
        where = element["LAYER"][0] & 0xFFFF, element.get("DATATYPE", [0])[0] & 0xFFFF
        outlines = [points[:-1]] if kind != "PATH" else _of_path(points, element, step)
        for each in outlines:
            if len(each) < 3:
                raise ValueError(f"{len(each)} corners")
            cell.polygons.append((where, each))


def _of_path(points: Points, element: dict[str, Any], step: float) -> list[Points]:
    """The outlines of a path."""
    width, ends = step * abs(element["WIDTH"][0]), element.get("PATHTYPE", [0])[0]
    moved = np.any(np.diff(points, axis=0) != 0, axis=1)
    points = points[np.concatenate([[True], moved])]
    if width == 0 or len(points) < 2 or ends not in (*ENDS, 4):
        raise ValueError(f"a width of {width:g} along {len(points)} points, with ends of the kind {ends}")
    lengths = tuple(step * element.get(name, [0])[0] for name in ("BGNEXTN", "ENDEXTN"))
    path = driver().FlexPath(points.tolist(), width, ends=ENDS.get(ends, lengths), tolerance=0.02 * width)
    return [np.asarray(each.points) for each in path.to_polygons()]


def _count(
    place: Path, cells: Mapping[str, Cell], name: str, known: dict[str, tuple[int, int]], depth: int
) -> tuple[int, int]:
    """Numbers of polygons and labels, of empty cells as if they had one, and of corners, of a cell with all in it."""
    if depth > DEPTH:
        raise ValueError(f"{place}: cells lie in each other more than {DEPTH} deep, or in themselves, at {name!r}")
    if name not in cells:
        raise ValueError(f"{place}: a cell {name!r} is referred to, which the file does not have")
    if name not in known:
        own = cells[name]
        drawn, corners = len(own.polygons) + len(own.labels), sum(len(each) for _, each in own.polygons)
        for inner, places, _ in own.references:
            one, its = _count(place, cells, inner, known, depth + 1)
            drawn, corners = drawn + len(places) * max(one, 1), corners + len(places) * its
        known[name] = drawn, corners
    return known[name]


def _expand(
    cells: Mapping[str, Cell], name: str, matrix: Points, shift: Points,
    polygons: dict[tuple[int, int], list[Points]], labels: list[tuple[int, str, Points]],
) -> None:  # fmt: skip
    """Add the polygons and labels of a cell, mapped by x -> matrix x + shift."""
    own = cells[name]
    for where, points in own.polygons:
        polygons.setdefault(where, []).append(points @ matrix.T + shift)
    labels += [(layer, text, matrix @ place + shift) for layer, text, place in own.labels]
    for inner, places, turned in own.references:
        for place in places:
            _expand(cells, inner, matrix @ turned, matrix @ place + shift, polygons, labels)
