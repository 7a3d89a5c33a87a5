"""Tetrahedral meshes into files, whole or not at all."""

import contextlib
import json
from collections.abc import Mapping
from io import StringIO
from pathlib import Path
from typing import Protocol

import meshio
import numpy as np
from numpy.typing import NDArray

from calderon.mesh.errors import MeshError
from calderon.mesh.files.whole_file import whole_file

FORMATS = {".msh": "gmsh", ".vtu": "vtu"}
PARTS, BOUNDARIES = "calderon parts: ", "calderon boundaries: "
"""Begin comments with names in .vtu files, which have no place for them."""


class Volume(Protocol):
    """The arrays of a TetrahedralMesh that files hold."""

    @property
    def vertices(self) -> NDArray[np.float64]: ...

    @property
    def tetrahedra(self) -> NDArray[np.int64]: ...

    @property
    def tags(self) -> NDArray[np.int64]: ...

    @property
    def names(self) -> Mapping[str, int]: ...

    @property
    def faces(self) -> NDArray[np.int64]: ...

    @property
    def face_tags(self) -> NDArray[np.int64]: ...

    @property
    def face_names(self) -> Mapping[str, int]: ...


def write_volume(mesh: Volume, path: str | Path) -> None:
    """Write a mesh with its parts, boundaries and their names as .msh (2.2) or .vtu, whole or not at all.

    As physical groups of gmsh begin with 1, tags are raised by one where a smaller one occurs. MeshError for another
    ending or a missing folder.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in FORMATS:
        raise MeshError(f"unknown mesh format {suffix!r}: choose {', '.join(FORMATS)}")
    if not path.parent.is_dir():
        raise MeshError(f"cannot write {path}: the folder {path.parent} does not exist; create it first")
    shift, raised = (max(0, 1 - int(tags.min(initial=1))) for tags in (mesh.tags, mesh.face_tags))
    parts = {name: tag + shift for name, tag in mesh.names.items()}
    boundaries = {name: tag + raised for name, tag in mesh.face_names.items()}
    tags = [(mesh.tags + shift).astype(np.int32), (mesh.face_tags + raised).astype(np.int32)]
    content = meshio.Mesh(mesh.vertices, [("tetra", mesh.tetrahedra), ("triangle", mesh.faces)])
    if suffix == ".vtu":
        content.cell_data = {"tags": tags}
    else:
        content.cell_data = {"gmsh:physical": tags, "gmsh:geometrical": tags}
        content.field_data = {
            name: np.array([tag, dimension])
            for dimension, names in ((3, parts), (2, boundaries))
            for name, tag in names.items()
        }
    with whole_file(path) as scratch:
        with contextlib.redirect_stdout(StringIO()), contextlib.redirect_stderr(StringIO()):
            options = {"binary": False} if suffix == ".msh" else {}
            content.write(scratch, file_format="vtu" if suffix == ".vtu" else "gmsh22", **options)
        if suffix == ".vtu":
            _add_comments(scratch, {PARTS: parts, BOUNDARIES: boundaries})


def _add_comments(path: Path, names: dict[str, dict[str, int]]) -> None:
    text = path.read_bytes()
    start = text.index(b"<VTKFile")
    lines = "".join(f"<!-- {key}{json.dumps(own).replace('--', '- -')} -->\n" for key, own in names.items())
    path.write_bytes(text[:start] + lines.encode() + text[start:])
