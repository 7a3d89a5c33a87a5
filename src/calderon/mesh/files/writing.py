"""Meshes into files, whole or not at all, in the formats of `formats/catalogue.py`."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from calderon.files import whole_file
from calderon.mesh.errors import MeshError
from calderon.mesh.files.content import mesh_path
from calderon.mesh.files.formats.catalogue import format_of, suffixes
from calderon.mesh.files.formats.format import COMMENT, Format, Tagged, Writer, Written
from calderon.mesh.triangulation import Triangulation
from calderon.validation import instance


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
    form = format_of(suffix)
    if form is None or form.write is None:
        raise MeshError(f"unknown mesh format {suffix!r}: choose {', '.join(suffixes(write=True))}")
    writer = _version(form, suffix, version) if form.versions or version is not None else form.write
    block = Tagged("triangle", mesh.triangles, mesh.tags, mesh.names, COMMENT)
    _write_whole(path, form, writer, Written(mesh.vertices, [block]))


def write_volume(path: str | Path, vertices: NDArray[np.float64], cells: Tagged, faces: Tagged) -> None:
    """Write tetrahedra and their tagged faces as .msh (2.2) or .vtu, whole or not at all.

    As physical groups of gmsh begin with 1, tags are raised by one where a smaller one occurs. MeshError for another
    ending, a missing folder, and names and numbers that the format cannot hold.
    """
    path = _target(path)
    form = format_of(path.suffix.lower())
    if form is None or form.write_volume is None:
        known = ", ".join(suffixes(write=True, volumes=True))
        raise MeshError(f"unknown mesh format {path.suffix.lower()!r}: choose {known}")
    blocks = []
    for block in (cells, faces):
        shift = max(0, 1 - int(block.tags.min(initial=1)))
        names = {name: tag + shift for name, tag in block.names.items()}
        blocks.append(block._replace(tags=block.tags + shift, names=names))
    _write_whole(path, form, form.write_volume, Written(vertices, blocks))


def _target(path: str | Path) -> Path:
    """The path of a new file; MeshError if its folder does not exist."""
    path = mesh_path(path)
    if not path.parent.is_dir():
        raise MeshError(f"cannot write {path}: the folder {path.parent} does not exist; create it first")
    return path


def _version(form: Format, suffix: str, version: str | None) -> Writer:
    """The writer of a version of a format, the first one unless given; MeshError for an unknown one."""
    if not form.versions:
        raise MeshError(f"version {version!r} is for .msh files only: omit it for {suffix}")
    if version is None:
        return next(iter(form.versions.values()))
    if not isinstance(version, str) or version not in form.versions:
        known = " or ".join(map(repr, sorted(form.versions)))
        raise MeshError(f"unknown {suffix} version {version!r}: choose {known}")
    return form.versions[version]


def _write_whole(path: Path, form: Format, writer: Writer, mesh: Written) -> None:
    form.refuses(mesh)
    with whole_file(path) as scratch:
        writer(mesh, scratch)
