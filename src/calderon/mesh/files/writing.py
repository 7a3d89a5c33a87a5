"""Meshes into files, whole or not at all.

Tags and their names travel in the way each format has: physical groups (.msh), element sets (.inp), groups (.obj), a
face property (.ply), cell data (.vtu); where a format numbers nothing, a comment line "calderon tags: {...}" keeps
the numbers.
"""

import contextlib
import json
import re
from collections.abc import Callable, Mapping
from functools import partial
from io import StringIO
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.files import whole_file
from calderon.files.formats import meshio
from calderon.mesh.coincident import coincident_points
from calderon.mesh.errors import MeshError, warn
from calderon.mesh.files.path import mesh_path
from calderon.mesh.triangulation import Triangulation
from calderon.mesh.validation import area_vectors_of
from calderon.validation import instance

COMMENT, PARTS, BOUNDARIES = "calderon tags: ", "calderon parts: ", "calderon boundaries: "
"""Begin the comments with the names of surfaces, and of the tetrahedra and faces of volumes."""
_DASHES = "-\\u002d"  # of JSON; two plain ones would end a comment of XML
COUNT = "calderon triangles: "
"""Begins the comment with the number of triangles in text formats, which otherwise do not show that lines are
missing."""
LAST_LINE = "** calderon: end"
"""Of .inp files, in which sets follow the triangles; the comment with the number of triangles promises it."""
_SPOILT = {
    ".msh": (r"\\$|\\\\", "two backslashes together or one at its end"),
    ".obj": (r"\\$|\t", "tabs, a backslash at its end"),
    ".inp": (",", "commas"),
}
"""Characters that programs, also this one, do not read as part of a name."""
STL_ROUNDING = 1e-6, 1e-2
"""Of the diameter: what single precision may move vertices by without a notice, and at all."""
VOLUME_FORMATS = (".msh", ".vtu")
_DIMENSION = {"triangle": 2, "tetra": 3}

Writer = Callable[[Triangulation, Path], None]


class Tagged(NamedTuple):
    """Elements of a kind (meshio's name), their tags, the names of these, and what begins the comment with the names
    in formats that have no place for them."""

    kind: str
    elements: NDArray[np.int64]
    tags: NDArray[np.int64]
    names: Mapping[str, int]
    comment: str


def write(mesh: Triangulation, path: str | Path, version: str | None = None) -> None:
    """Write a mesh as .msh (version "4.1", the default, or "2.2"), .vtu, .stl (binary), .obj, .ply or .inp, by the
    name's ending.

    The file appears whole: it is written to a scratch file next to it and renamed.

    Raises MeshError for an unknown ending or version, and for names and numbers that the format cannot hold. STL has no
    place for tags, and keeps seven digits: a MeshWarning reports where some are lost.
    """
    instance(mesh, Triangulation, "a mesh of triangles is written")
    path = _target(path)
    suffix = path.suffix.lower()
    writer = _writer(suffix, version)
    _refuse_what_is_lost(suffix, mesh.tags, mesh.names)
    if suffix == ".stl":
        _check_stl(mesh)
    with whole_file(path) as scratch:
        writer(mesh, scratch)


def write_volume(path: str | Path, vertices: NDArray[np.float64], cells: Tagged, faces: Tagged) -> None:
    """Write tetrahedra and their tagged faces as .msh (2.2) or .vtu, whole or not at all.

    As physical groups of gmsh begin with 1, tags are raised by one where a smaller one occurs. MeshError for another
    ending, a missing folder, and names and numbers that the format cannot hold.
    """
    path = _target(path)
    suffix = path.suffix.lower()
    if suffix not in VOLUME_FORMATS:
        raise MeshError(f"unknown mesh format {suffix!r}: choose {', '.join(VOLUME_FORMATS)}")
    blocks = []
    for block in (cells, faces):
        shift = max(0, 1 - int(block.tags.min(initial=1)))
        names = {name: tag + shift for name, tag in block.names.items()}
        blocks.append(block._replace(tags=block.tags + shift, names=names))
        _refuse_what_is_lost(suffix, blocks[-1].tags, names)
    with whole_file(path) as scratch:
        (_save_vtu if suffix == ".vtu" else _save_msh22)(scratch, vertices, blocks)


def _target(path: str | Path) -> Path:
    """The path of a new file; MeshError if its folder does not exist."""
    path = mesh_path(path)
    if not path.parent.is_dir():
        raise MeshError(f"cannot write {path}: the folder {path.parent} does not exist; create it first")
    return path


def _check_stl(mesh: Triangulation) -> None:
    """A notice of what an STL file does not keep; MeshError where triangles do not survive it."""
    if len(np.unique(mesh.tags)) > 1 or mesh.names:
        warn("STL files hold no tags: they are lost (.msh, .vtu, .ply, .obj and .inp keep them)")
    moved = _moved_by_rounding(mesh)
    if moved > STL_ROUNDING[0] * mesh.diameter:
        warn(
            f"STL files keep seven digits: vertices move by up to {moved:.2g}, {moved / mesh.diameter:.1g} of the "
            "diameter; move the mesh to the origin first (translated), or use .msh or .vtu"
        )


def _writer(suffix: str, version: str | None) -> Writer:
    vtu, msh22 = (partial(_by_blocks, save) for save in (_save_vtu, _save_msh22))
    writers: dict[str, Writer] = {".vtu": vtu, ".stl": _stl, ".obj": _obj, ".ply": _ply, ".inp": _inp}
    if suffix == ".msh":
        versions: dict[str | None, Writer] = {None: _msh41, "4.1": _msh41, "2.2": msh22}
        if not isinstance(version, str | None) or version not in versions:
            raise MeshError(f"unknown .msh version {version!r}: choose '2.2' or '4.1'")
        return versions[version]
    if suffix not in writers:
        raise MeshError(f"unknown mesh format {suffix!r}: choose {', '.join(['.msh', *writers])}")
    if version is not None:
        raise MeshError(f"version {version!r} is for .msh files only: omit it for {suffix}")
    return writers[suffix]


def _refuse_what_is_lost(suffix: str, tags: NDArray[np.int64], names: Mapping[str, int]) -> None:
    """MeshError for tags that the format cannot hold, and for names that it would cut or break."""
    limit = np.iinfo(np.int32).max
    if suffix in (".msh", ".ply") and (largest := np.abs(tags).max(initial=0)) > limit:
        raise MeshError(f"{suffix} files hold tags up to {limit}, got {largest}: use .vtu or other tags")
    if suffix == ".msh" and (least := tags.min(initial=0)) < 0:
        raise MeshError(f"a negative tag in .msh files means a reversed surface, got {least}: use .vtu or other tags")
    for name in names if suffix in _SPOILT else ():
        spoilt, what = _SPOILT[suffix]
        if not name or name != name.strip() or '"' in name or len(name.splitlines()) > 1 or re.search(spoilt, name):
            raise MeshError(
                f"{suffix} files cannot hold the name {name!r} of a tag: use one without quotes, line breaks, {what} "
                "and blanks at its ends, or .vtu"
            )


def _moved_by_rounding(mesh: Triangulation) -> float:
    """How far single precision moves vertices. MeshError where triangles do not survive it."""
    used = mesh.used_vertices
    with np.errstate(over="ignore"):
        rounded = mesh.vertices.astype(np.float32).astype(np.float64)
    moved = float(np.abs(rounded - mesh.vertices)[used].max())
    distinct = [len(np.unique(coincident_points(points[used]))) for points in (mesh.vertices, rounded)]
    try:
        if moved > STL_ROUNDING[1] * mesh.diameter or distinct[1] < distinct[0]:
            raise MeshError("vertices coincide, or are elsewhere")
        area_vectors_of(rounded, mesh.triangles)
    except MeshError:
        low, high = (f"({', '.join(f'{x:g}' for x in corner)})" for corner in mesh.bounds)
        raise MeshError(
            f"STL files keep seven digits up to 3e38, too few for this mesh from {low} to {high}: move it to the "
            "origin (translated), use another unit (scaled), or write .msh or .vtu"
        ) from None
    return moved


def tag_names(mesh: Triangulation) -> dict[int, str]:
    """A name for each tag that occurs: its own, or one such as "tag 5" that no other tag has."""
    names = {tag: name for name, tag in mesh.names.items()}
    for tag in np.unique(mesh.tags).tolist():
        name = f"tag {tag}"
        while tag not in names and name in mesh.names:
            name += " (unnamed)"
        names.setdefault(tag, name)
    return {tag: names[tag] for tag in np.unique(mesh.tags).tolist()}


def _comment(mesh: Triangulation, made: Mapping[int, str]) -> str:
    """The comment line of the names; made: of tags without one."""
    return COMMENT + json.dumps({**mesh.names, **{name: tag for tag, name in made.items()}})


def _rows(array: NDArray, form: str) -> str:
    text = StringIO()
    np.savetxt(text, array, fmt=form)
    return text.getvalue()


def _meshio(path: Path, file_format: str, vertices: NDArray, cells: list, data: dict, **keywords: object) -> None:
    with contextlib.redirect_stdout(StringIO()), contextlib.redirect_stderr(StringIO()):
        meshio.write(path, meshio.Mesh(vertices, cells, **data), file_format=file_format, **keywords)


def _by_blocks(save: Callable[[Path, NDArray, list[Tagged]], None], mesh: Triangulation, path: Path) -> None:
    """Write a surface in a format of which volumes are written, too."""
    save(path, mesh.vertices, [Tagged("triangle", mesh.triangles, mesh.tags, mesh.names, COMMENT)])


def _save_vtu(path: Path, vertices: NDArray, blocks: list[Tagged]) -> None:
    data = {"cell_data": {"tags": [block.tags for block in blocks]}}
    _meshio(path, "vtu", vertices, [(block.kind, block.elements) for block in blocks], data)
    head, mark, rest = path.read_bytes().partition(b"<VTKFile")
    named = [block.comment + json.dumps(dict(block.names)).replace("--", _DASHES) for block in blocks]
    path.write_bytes(head + "".join(f"<!-- {comment} -->\n" for comment in named).encode() + mark + rest)


def _save_msh22(path: Path, vertices: NDArray, blocks: list[Tagged]) -> None:
    tags = [block.tags.astype(np.int32) for block in blocks]
    data = {
        "cell_data": {"gmsh:physical": tags, "gmsh:geometrical": tags},
        "field_data": {n: np.array([tag, _DIMENSION[b.kind]]) for b in blocks for n, tag in b.names.items()},
    }
    _meshio(path, "gmsh22", vertices, [(block.kind, block.elements) for block in blocks], data, binary=False)
    if comments := _comment_section(blocks):
        head, mark, rest = path.read_text(encoding="utf-8").partition("$EndMeshFormat\n")
        path.write_text(head + mark + comments + rest, encoding="utf-8")


def _comment_section(blocks: list[Tagged]) -> str:
    """A section of comments with the names, where some belong to no element: physical groups without elements are
    not read."""
    lines = [
        f"{each.comment}{json.dumps(dict(each.names))}\n"
        for each in blocks
        if not set(each.names.values()) <= set(each.tags.tolist())
    ]
    return f"$Comments\n{''.join(lines)}$EndComments\n" if lines else ""


def _stl(mesh: Triangulation, path: Path) -> None:
    _meshio(path, "stl", mesh.vertices, [("triangle", mesh.triangles)], {}, binary=True)


def _inp(mesh: Triangulation, path: Path) -> None:
    names = tag_names(mesh)
    sets = {name: [np.flatnonzero(mesh.tags == tag)] for tag, name in names.items()}
    _meshio(path, "abaqus", mesh.vertices, [("triangle", mesh.triangles)], {"cell_sets": sets})
    first, rest = path.read_text(encoding="utf-8").split("\n", 1)
    count = f"** {COUNT}{len(mesh.triangles)}, and the last line is {LAST_LINE}"
    path.write_text(f"{first}\n{count}\n** {_comment(mesh, names)}\n{rest.rstrip()}\n{LAST_LINE}\n", encoding="utf-8")


def _msh41(mesh: Triangulation, path: Path) -> None:
    """ASCII version 4.1, one surface entity for each tag (gmsh reference manual, section 'MSH file format')."""
    tags, number = np.unique(mesh.tags, return_inverse=True)
    count = len(mesh.vertices)
    low, high = mesh.bounds
    box = " ".join(f"{value:.17g}" for value in [*low, *high])
    with path.open("w", encoding="utf-8") as file:
        surface = Tagged("triangle", mesh.triangles, mesh.tags, mesh.names, COMMENT)
        file.write("$MeshFormat\n4.1 0 8\n$EndMeshFormat\n" + _comment_section([surface]))
        if mesh.names:
            lines = "".join(f'2 {tag} "{name}"\n' for name, tag in mesh.names.items())
            file.write(f"$PhysicalNames\n{len(mesh.names)}\n{lines}$EndPhysicalNames\n")
        file.write(f"$Entities\n0 0 {len(tags)} 0\n")
        file.write("".join(f"{i + 1} {box} 1 {tag} 0\n" for i, tag in enumerate(tags)))
        file.write(f"$EndEntities\n$Nodes\n1 {count} 1 {count}\n2 1 0 {count}\n")
        file.write(_rows(np.arange(1, count + 1), "%d") + _rows(mesh.vertices, "%.17g"))
        file.write(f"$EndNodes\n$Elements\n{len(tags)} {len(mesh.triangles)} 1 {len(mesh.triangles)}\n")
        ids = np.arange(1, len(mesh.triangles) + 1)
        for i in range(len(tags)):
            own = np.flatnonzero(number == i)
            file.write(f"2 {i + 1} 2 {len(own)}\n")
            file.write(_rows(np.column_stack([ids[own], mesh.triangles[own] + 1]), "%d"))
        file.write("$EndElements\n")


def _obj(mesh: Triangulation, path: Path) -> None:
    names = tag_names(mesh)
    with path.open("w", encoding="utf-8") as file:
        file.write(f"# {COUNT}{len(mesh.triangles)}\n# {_comment(mesh, names)}\n")
        file.write(_rows(mesh.vertices, "v %.17g %.17g %.17g"))
        change = np.flatnonzero(np.diff(mesh.tags)) + 1
        for own in np.split(np.arange(len(mesh.tags)), change):
            file.write(f"g {names[int(mesh.tags[own[0]])]}\n" + _rows(mesh.triangles[own] + 1, "f %d %d %d"))


def _ply(mesh: Triangulation, path: Path) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.write(f"ply\nformat ascii 1.0\ncomment {_comment(mesh, {})}\nelement vertex {len(mesh.vertices)}\n")
        file.write("".join(f"property double {axis}\n" for axis in "xyz"))
        file.write(f"element face {len(mesh.triangles)}\nproperty list uchar int vertex_indices\n")
        file.write("property int tags\nend_header\n" + _rows(mesh.vertices, "%.17g"))
        file.write(_rows(np.column_stack([mesh.triangles, mesh.tags]), "3 %d %d %d %d"))
