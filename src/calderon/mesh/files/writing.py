"""Surface meshes into files, whole or not at all.

Tags and their names travel in the way each format has: physical groups (.msh), element sets (.inp), groups (.obj), a
face property (.ply), cell data (.vtu); where a format numbers nothing, a comment line "calderon tags: {...}" keeps
the numbers.
"""

import contextlib
import json
import re
import warnings
from collections.abc import Callable
from io import StringIO
from pathlib import Path

import meshio
import numpy as np

from calderon.mesh.coincident import coincident_points
from calderon.mesh.errors import MeshError, MeshWarning
from calderon.mesh.files.whole_file import mesh_path, whole_file
from calderon.mesh.triangulation import Triangulation
from calderon.mesh.validation import area_vectors_of

COMMENT = "calderon tags: "
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


def write(mesh: Triangulation, path: str | Path, version: str | None = None) -> None:
    """Write a mesh as .msh (version "4.1", the default, or "2.2"), .vtu, .stl (binary), .obj, .ply or .inp, by the
    name's ending.

    The file appears whole: it is written to a scratch file next to it and renamed.

    Raises MeshError for an unknown ending or version, and for names and numbers that the format cannot hold. STL has no
    place for tags, and keeps seven digits: a MeshWarning reports where some are lost.
    """
    path = mesh_path(path)
    writer = _writer(path.suffix.lower(), version)
    _refuse_what_is_lost(mesh, path.suffix.lower())
    if path.suffix.lower() == ".stl" and (len(np.unique(mesh.tags)) > 1 or mesh.names):
        warnings.warn(
            "STL files hold no tags: they are lost (.msh, .vtu, .ply, .obj and .inp keep them)",
            MeshWarning,
            stacklevel=3,
        )
    moved = _moved_by_rounding(mesh) if path.suffix.lower() == ".stl" else 0.0
    if moved > STL_ROUNDING[0] * mesh.diameter:
        warnings.warn(
            f"STL files keep seven digits: vertices move by up to {moved:.2g}, {moved / mesh.diameter:.1g} of the "
            "diameter; move the mesh to the origin first (translated), or use .msh or .vtu",
            MeshWarning,
            stacklevel=3,
        )
    if not path.parent.is_dir():
        raise MeshError(f"cannot write {path}: the folder {path.parent} does not exist; create it first")
    with whole_file(path) as scratch:
        writer(mesh, str(scratch))


def _writer(suffix: str, version: str | None) -> Callable[[Triangulation, str], None]:
    writers = {".vtu": _vtu, ".stl": _stl, ".obj": _obj, ".ply": _ply, ".inp": _inp}
    if suffix == ".msh":
        versions = {None: _msh41, "4.1": _msh41, "2.2": _msh22}
        if version not in versions:
            raise MeshError(f"unknown .msh version {version!r}: choose '2.2' or '4.1'")
        return versions[version]
    if suffix not in writers:
        raise MeshError(f"unknown mesh format {suffix!r}: choose {', '.join(['.msh', *writers])}")
    if version is not None:
        raise MeshError(f"version {version!r} is for .msh files only: omit it for {suffix}")
    return writers[suffix]


def _refuse_what_is_lost(mesh: Triangulation, suffix: str) -> None:
    """MeshError for tags that the format cannot hold, and for names that it would cut or break."""
    limit = np.iinfo(np.int32).max
    if suffix in (".msh", ".ply") and np.abs(mesh.tags).max() > limit:
        raise MeshError(
            f"{suffix} files hold tags up to {limit}, got {np.abs(mesh.tags).max()}: use .vtu or other tags"
        )
    for name in mesh.names if suffix in _SPOILT else ():
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


def _comment(mesh: Triangulation, made: dict[int, str] | None = None) -> str:
    """The comment line of the names; made: of tags without one."""
    return COMMENT + json.dumps({**mesh.names, **{name: tag for tag, name in (made or {}).items()}})


def _rows(array: np.ndarray, form: str) -> str:
    text = StringIO()
    np.savetxt(text, array, fmt=form)
    return text.getvalue()


def _meshio(mesh: Triangulation, path: str, file_format: str, data: dict, **keywords: object) -> None:
    content = meshio.Mesh(mesh.vertices, [("triangle", mesh.triangles)], **data)
    with contextlib.redirect_stdout(StringIO()):
        meshio.write(path, content, file_format=file_format, **keywords)


def _vtu(mesh: Triangulation, path: str) -> None:
    _meshio(mesh, path, "vtu", {"cell_data": {"tags": [mesh.tags]}})
    text = Path(path).read_bytes()
    start = text.index(b"<VTKFile")
    comment = f"<!-- {_comment(mesh).replace('--', _DASHES)} -->\n".encode()
    Path(path).write_bytes(text[:start] + comment + text[start:])


def _stl(mesh: Triangulation, path: str) -> None:
    _meshio(mesh, path, "stl", {}, binary=True)


def _inp(mesh: Triangulation, path: str) -> None:
    names = tag_names(mesh)
    sets = {name: [np.flatnonzero(mesh.tags == tag)] for tag, name in names.items()}
    _meshio(mesh, path, "abaqus", {"cell_sets": sets})
    first, rest = Path(path).read_text().split("\n", 1)
    count = f"** {COUNT}{len(mesh.triangles)}, and the last line is {LAST_LINE}"
    Path(path).write_text(f"{first}\n{count}\n** {_comment(mesh, names)}\n{rest.rstrip()}\n{LAST_LINE}\n")


def _msh22(mesh: Triangulation, path: str) -> None:
    tags = mesh.tags.astype(np.int32)
    data = {"gmsh:physical": [tags], "gmsh:geometrical": [tags]}
    fields = {name: np.array([tag, 2]) for name, tag in mesh.names.items()}
    _meshio(mesh, path, "gmsh22", {"cell_data": data, "field_data": fields}, binary=False)


def _msh41(mesh: Triangulation, path: str) -> None:
    """ASCII version 4.1, one surface entity for each tag (gmsh reference manual, section 'MSH file format')."""
    tags, number = np.unique(mesh.tags, return_inverse=True)
    count = len(mesh.vertices)
    low, high = mesh.bounds
    box = " ".join(f"{value:.17g}" for value in [*low, *high])
    with open(path, "w") as file:
        file.write("$MeshFormat\n4.1 0 8\n$EndMeshFormat\n")
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


def _obj(mesh: Triangulation, path: str) -> None:
    names = tag_names(mesh)
    with open(path, "w") as file:
        file.write(f"# {COUNT}{len(mesh.triangles)}\n# {_comment(mesh, names)}\n")
        file.write(_rows(mesh.vertices, "v %.17g %.17g %.17g"))
        change = np.flatnonzero(np.diff(mesh.tags)) + 1
        for own in np.split(np.arange(len(mesh.tags)), change):
            file.write(f"g {names[int(mesh.tags[own[0]])]}\n" + _rows(mesh.triangles[own] + 1, "f %d %d %d"))


def _ply(mesh: Triangulation, path: str) -> None:
    with open(path, "w") as file:
        file.write(f"ply\nformat ascii 1.0\ncomment {_comment(mesh)}\nelement vertex {len(mesh.vertices)}\n")
        file.write("".join(f"property double {axis}\n" for axis in "xyz"))
        file.write(f"element face {len(mesh.triangles)}\nproperty list uchar int vertex_indices\n")
        file.write("property int tags\nend_header\n" + _rows(mesh.vertices, "%.17g"))
        file.write(_rows(np.column_stack([mesh.triangles, mesh.tags]), "3 %d %d %d %d"))
