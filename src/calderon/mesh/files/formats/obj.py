"""Faces of Wavefront files (.obj), with their groups.

meshio reads neither files with normals or colours of vertices, as Blender and MeshLab write them, nor vertices counted
from the end, nor lines that go on.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from calderon.mesh.errors import MeshError
from calderon.mesh.files.file_mesh import FileMesh
from calderon.mesh.files.formats.format import COUNT, Format, Written, refuse_names, rows_text


def read_obj(path: Path) -> FileMesh:
    """Triangles and quadrilaterals, with groups ("g" lines, or else objects, "o" lines) as cell sets in their order.

    Raises MeshError with the line of a vertex without three coordinates, of a face without three corners or with more
    than four, and of a corner that is not a vertex.
    """
    points: list[list[float]] = []
    faces: dict[int, list[list[int]]] = {3: [], 4: []}
    group, object_, groups, objects = "", "", [], []
    members: dict[int, list[tuple[str, str]]] = {3: [], 4: []}
    # line by line: vertices, faces, and the group and the object that they belong to
    for number, line in _lines(path):
        kind, _, rest = line.partition(" ")
        if kind == "v":
            if len(rest.split()) < 3:
                raise MeshError(f"line {number}: a vertex has three coordinates, got {line!r}; is the file incomplete?")
            points.append([float(word) for word in rest.split()[:3]])
        elif kind == "f":
            corners = [_corner(word, len(points), number) for word in rest.split()]
            if len(corners) < 3:
                raise MeshError(
                    f"line {number}: a face has three corners or four, got {line!r}; is the file incomplete?"
                )
            if len(corners) > 4:
                raise MeshError(f"line {number}: a polygon with more than four corners; triangulate the surface first")
            faces[len(corners)].append(corners)
            members[len(corners)].append((group, object_))
        elif kind == "g":
            group = rest.strip() or "default"
            groups.append(group)
        elif kind == "o":
            object_ = rest.strip() or "default"
            objects.append(object_)
    _require_vertices(faces, len(points))
    used = [(kind, size) for size, kind in ((3, "triangle"), (4, "quad")) if faces[size]]
    # cell sets: groups, or else objects
    part = 0 if groups else 1
    sets = {
        name: [np.flatnonzero([each[part] == name for each in members[size]]) for _, size in used]
        for name in dict.fromkeys(groups or objects)
    }
    cells = [(kind, np.array(faces[size], np.int64)) for kind, size in used]
    return FileMesh(np.array(points).reshape(-1, 3), cells, cell_sets=sets if used else {})


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """(number, text) of the lines that are not empty, without comments; those that end with a backslash go on."""
    begun = ""
    with path.open(encoding="utf-8", errors="replace") as file:
        for number, line in enumerate(file, start=1):
            text = begun + line.split("#")[0].strip() if not line.lstrip().startswith("g ") else begun + line.strip()
            begun = text[:-1] + " " if text.endswith("\\") else ""
            if text and not begun:
                yield number, text.replace("\t", " ")


def _corner(word: str, count: int, number: int) -> int:
    """The vertex of one corner of a face: "7", "7/1/3", or "-1" for the last vertex so far."""
    vertex = int(word.split("/")[0])
    if vertex == 0:
        raise MeshError(f"line {number}: vertices are numbered from 1, got 0")
    if vertex < -count:
        raise MeshError(f"line {number}: vertex {vertex} counts back from the last one, but only {count} precede it")
    return vertex - 1 if vertex > 0 else count + vertex


def _require_vertices(faces: dict[int, list[list[int]]], count: int) -> None:
    """MeshError for faces that refer to vertices missing from the file; vertices may follow the faces."""
    wrong = [max(corners) + 1 for each in faces.values() for corners in each if max(corners) >= count]
    if wrong:
        raise MeshError(
            f"{len(wrong)} faces refer to missing vertices, such as {wrong[0]}; the file has {count}, numbered from "
            "1; is the file incomplete?"
        )


def write_obj(mesh: Written, path: Path) -> None:
    """Write a surface with a group for each run of equal tags."""
    (block,) = mesh.blocks
    names = block.used_names
    with path.open("w", encoding="utf-8") as file:
        file.write(f"# {COUNT}{len(block.elements)}\n# {block.commented(names)}\n")
        file.write(rows_text(mesh.vertices, "v %.17g %.17g %.17g"))
        change = np.flatnonzero(np.diff(block.tags)) + 1
        for own in np.split(np.arange(len(block.tags)), change):
            file.write(f"g {names[int(block.tags[own[0]])]}\n" + rows_text(block.elements[own] + 1, "f %d %d %d"))


OBJ = Format(
    (".obj",),
    read_obj,
    write_obj,
    is_text=lambda head: True,
    refuses=lambda mesh: refuse_names(".obj", mesh, r"\\$|\t", "tabs, a backslash at its end"),
)
