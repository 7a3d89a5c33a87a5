"""Files of FastCap: lists of surfaces (.lst) of panels (.qui), read as regions and electrodes.

A list has lines `C file eps x y z [+]` of conductors, `D file outer inner x y z rx ry rz [-]` of walls between
dielectrics, r a point on the outer side (with `-` on the inner one), `B` of metal that is a wall, `G` with the name of
a group; panels are `T name ...` with three corners and `Q name ...` with four. K. Nabors, S. Kim, J. White, FastCap
User's Guide (1992). Files are untrusted: their size, count, place and numbers are checked.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.formulations.statics.files.cells import OUTER, cells_of
from calderon.formulations.statics.files.text_lines import Lines, given_path, lines_of, numbers_of, within, wrong
from calderon.formulations.statics.region import Region
from calderon.mesh import TriangleMesh, joined

PANELS, SURFACES = 1_000_000, 10_000
"""Largest numbers of panels of all files together, and of lines of a list."""
COMMENTS = "*%#"
Vectors = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Panels:
    """Triangles (n, 3, 3) in m of one conductor, or, label empty, of a wall between dielectrics; constants: the
    permittivities toward the reference and away from it, of conductors twice that around them; reference: a point on
    the first side, None of conductors."""

    label: str
    triangles: Vectors
    constants: tuple[float, float]
    reference: Vectors | None


def read_panels(path: str | Path) -> list[Panels]:
    """All surfaces of a .lst file, or of a .qui file alone in vacuum; ValueError, naming file and line, for what is no
    such file."""
    place = given_path(path, "a FastCap file")
    if place.suffix.lower() == ".qui":
        return _of_conductors(_file(place), "1", [1.0], np.zeros(3))
    found: list[Panels] = []
    group, number = "1", 1
    for line, entries in lines_of(place, SURFACES, COMMENTS):
        with_sign = [each for each in entries if each in ("+", "-")]
        given = [each for each in entries if each not in ("+", "-")]
        kind = given[0].upper()
        if kind == "G" and len(given) == 2:
            group = given[1]
            continue
        count = {"C": 4, "D": 8, "B": 8}.get(kind)
        if count is None or len(given) != 2 + count:
            raise wrong(place, line, "C file eps x y z, D or B file outer inner x y z rx ry rz, or G name")
        numbers = numbers_of(given[2:], place, line)
        constants = numbers[: 1 if kind == "C" else 2]
        if min(constants) <= 0:
            raise wrong(place, line, "positive permittivities")
        panels, shift = _file(within(place, given[1], line)), np.array(numbers[len(constants) : len(constants) + 3])
        if kind == "D":
            triangles = np.concatenate([each for each in panels.values()]) + shift
            pair = constants if "-" not in with_sign else constants[::-1]
            found.append(Panels("", triangles, (pair[0], pair[1]), np.array(numbers[-3:])))
        else:
            reference = None if kind == "C" else np.array(numbers[-3:])
            pair = constants if "-" not in with_sign else constants[::-1]
            found += _of_conductors(panels, group, pair, shift, reference)
            if "+" not in with_sign:  # the next conductors are others
                number += 1
                group = str(number)
        if sum(len(each.triangles) for each in found) > PANELS:
            raise ValueError(f"{place}: more than {PANELS} panels")
    if not found:
        raise ValueError(f"{place}: no surfaces")
    return found


def _of_conductors(
    panels: dict[str, Vectors], group: str, constants: list[float], shift: Vectors,
    reference: Vectors | None = None,
) -> list[Panels]:  # fmt: skip
    pair = np.broadcast_to(np.asarray(constants, float), 2)
    return [
        Panels(f"{name}%{group}", each + shift, (float(pair[0]), float(pair[1])), reference)
        for name, each in panels.items()
    ]


def _file(path: Path) -> dict[str, Vectors]:
    """Triangles (n, 3, 3) of a .qui file by the name of their conductor."""
    found: dict[str, list[Any]] = {}
    renamed: dict[str, str] = {}
    for line, entries in _panels(path):
        kind = entries[0].upper()
        if kind == "N" and len(entries) == 3:
            renamed[entries[1]] = entries[2]
            continue
        count = {"T": 3, "Q": 4}.get(kind)
        if count is None or len(entries) not in (2 + 3 * count, 3 + 3 * count):
            raise wrong(path, line, "T name and 9 numbers, Q name and 12 numbers, or N old new")
        corners = np.array(numbers_of(entries[2 : 2 + 3 * count], path, line)).reshape(-1, 3)
        parts = [[0, 1, 2]] if count == 3 else [[0, 1, 2], [0, 2, 3]]
        found.setdefault(entries[1], []).extend(corners[part].tolist() for part in parts)
    if not found:
        raise ValueError(f"{path}: no panels")
    return {renamed.get(name, name): np.array(each) for name, each in found.items()}


def _panels(path: Path) -> Lines:
    """Lines of a .qui file without its title, which is the first one unless that is a panel."""
    rows = lines_of(path, PANELS, COMMENTS)
    return [each for each in rows if each[0] > 1 or each[1][0].upper() in ("T", "Q")]


def read_fastcap(path: str | Path) -> tuple[TriangleMesh, dict[str, Region], dict[str, list[str]], Region]:
    """The mesh, regions, electrodes and what is outside, of a FastCap file.

    Regions are the parts of space between all surfaces. Their permittivity is that of the walls between dielectrics at
    them, without any that of the conductors in them; a part that conductors alone enclose is metal. ValueError where
    two surfaces state different permittivities of one part, as where panels do not meet at vertices.
    """
    surfaces = sorted(read_panels(path), key=lambda each: not each.label)  # metal stays where panels lie twice
    soups = [
        TriangleMesh(each.triangles.reshape(-1, 3), np.arange(3 * len(each.triangles)).reshape(-1, 3))
        for each in surfaces
    ]
    mesh = joined({str(number): each for number, each in enumerate(soups)})
    cells, walls = cells_of(mesh)
    owner = mesh.tags
    known: dict[int, tuple[float, str]] = {}
    for metal in (False, True):
        for number, each in enumerate(surfaces):
            own = np.flatnonzero(owner == number)
            if len(own) and metal == (each.reference is None):
                _learn(known, each, mesh, own, cells, walls, {**known} if metal else {})
    constants = {cell: value for cell, (value, _) in known.items()}
    # a tag for each conductor or wall between the same two parts
    tags, names = np.zeros(len(owner), int), dict[str, int]()
    electrodes: dict[str, list[str]] = {}
    bounds: dict[int, list[str]] = {}
    short = {each.label: each.label.split("%")[0] for each in surfaces}
    plain = [*short.values()]
    rows = np.stack([np.array([sorted(short).index(surfaces[n].label) for n in owner]), *np.sort(cells, axis=1).T])
    for row in np.unique(rows, axis=1).T:
        label = sorted(short)[row[0]]
        called = short[label] if plain.count(short[label]) == 1 else label
        name = f"{called or 'wall'} {len(names) + 1}"
        names[name] = len(names)
        tags[(rows.T == row).all(axis=1)] = names[name]
        if label:
            electrodes.setdefault(called, []).append(name)
        for cell in set(row[1:].tolist()) if row[1] != row[2] else ():
            bounds.setdefault(cell, []).append(name)
    regions = {
        f"part {cell + 1}": Region(tuple(found), permittivity=constants[cell])
        for cell, found in sorted(bounds.items())
        if cell != OUTER and cell in constants
    }
    outside = Region(permittivity=constants.get(OUTER, 1.0))
    return TriangleMesh(mesh.vertices, mesh.triangles, tags, names), regions, electrodes, outside


def _learn(
    known: dict[int, tuple[float, str]],
    surface: Panels,
    mesh: TriangleMesh,
    own: NDArray[np.int64],
    cells: NDArray[np.int64],
    walls: NDArray[np.bool_],
    settled: dict[int, tuple[float, str]],
) -> None:
    """Add the permittivities that a surface states of parts of space, but of those that are settled."""
    name = surface.label or "a wall between dielectrics"
    if surface.reference is None:
        # what a conductor encloses is metal, or stated by what lies in there
        stated = dict.fromkeys(np.unique(cells[own][~walls[own]]).tolist(), surface.constants[0])
    else:
        ahead = np.einsum("ni,ni->n", surface.reference - mesh.centroids[own], mesh.normals[own]) > 0
        stated = {}
        for side in (0, 1):
            toward = ahead if side == 0 else ~ahead
            for cell, first in zip(cells[own, side].tolist(), toward.tolist(), strict=True):
                value = surface.constants[0 if first else 1]
                if stated.setdefault(cell, value) != value:
                    raise ValueError(
                        f"{name} has permittivities of {stated[cell]:g} and {value:g} in one part of space: its panels "
                        "do not meet others at all vertices, or its reference point is beyond it"
                    )
    for cell, value in stated.items():
        if cell in settled:
            continue
        before = known.setdefault(cell, (value, name))
        if before[0] != value:
            raise ValueError(
                f"{before[1]} and {name} state permittivities of {before[0]:g} and {value:g} of one part of space: "
                "panels have to meet at vertices there"
            )
