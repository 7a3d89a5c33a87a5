"""Tetrahedral meshes from files."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from calderon.mesh.coincident import compacted
from calderon.mesh.errors import MeshError, warn
from calderon.mesh.files.content import (
    commented_names,
    elements,
    file_content,
    held,
    mesh_path,
    named_tags,
    refuse_mixed_volumes,
)
from calderon.mesh.files.file_mesh import FileMesh
from calderon.mesh.files.formats.format import BOUNDARIES, PARTS
from calderon.mesh.sizes import scale_factor
from calderon.mesh.tetrahedra import TetrahedralMesh


def read_tetrahedra(path: str | Path, scale: float = 1.0) -> TetrahedralMesh:
    """Read the tetrahedra of a .msh (2.2 or 4.1) or .vtu file, times scale (1e-3: mm to m).

    Parts are the physical volumes or the cell data "tags", boundaries the triangles with a physical surface or a tag,
    with their names. Triangles without one are left out, so that open faces get the name "wall". Each of these gives a
    MeshWarning: curved tetrahedra flattened, tagged faces between two tetrahedra (sheets with two sides).

    Raises MeshError for a missing, empty, unreadable or unknown file, one without tetrahedra or with other volumes, and
    as TetrahedralMesh.
    """
    path, scale = mesh_path(path), scale_factor(scale)
    content = file_content(path, volumes=True)
    refuse_mixed_volumes(content, path)
    cells, tags = _cells(content, path, "tetra", 4)
    if not len(cells):
        raise MeshError(f"{path}: no tetrahedra (the file holds {held(content)}): mesh the volume, save all elements")
    faces, marks = _cells(content, path, "triangle", 3)
    faces, marks = faces[marks > 0], marks[marks > 0]
    points, cells, faces = _used(content.points, cells, faces)
    names = {**named_tags(content, 3), **commented_names(path, PARTS)}
    boundaries = {**named_tags(content, 2), **commented_names(path, BOUNDARIES)}
    for tag in np.unique(marks).tolist():
        if tag not in boundaries.values():
            boundaries[f"tag {tag}"] = tag
    try:
        mesh = TetrahedralMesh(points * scale, cells, tags, names, faces, marks, boundaries)
    except MeshError as error:
        raise MeshError(f"{path}: {error}") from None
    _warn_of_sheets(mesh, path)
    return mesh


def holds_tetrahedra(path: str | Path) -> bool:
    """Whether it is a file of tetrahedra that `read_tetrahedra` accepts; False for one that cannot be read."""
    path = mesh_path(path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # those who read the mesh repeat them
        try:
            content = file_content(path, volumes=True)
        except MeshError:
            return False
    return any(block.type.startswith("tetra") and len(block.data) for block in content.cells)


def _cells(content: FileMesh, path: Path, kind: str, corners: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Corners (n, 4 or 3) and tags (n,) of all tetrahedra or triangles."""
    blocks = elements(content, path, {kind: corners})
    tags = [np.zeros(len(block.corners), np.int64) if block.tags is None else block.tags for block in blocks]
    none = np.zeros((0, corners), np.int64)
    return np.concatenate([none, *(block.corners for block in blocks)]), np.concatenate([none[:, 0], *tags])


def _used(
    points: NDArray[np.float64], cells: NDArray[np.int64], faces: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.int64]]:
    """Without vertices that no tetrahedron has; faces with one are refused by the mesh, so they are kept whole."""
    everything = np.concatenate([cells.ravel(), faces.ravel()])
    if everything.min() < 0 or everything.max() >= len(points):
        return points, cells, faces  # the mesh reports what is wrong
    kept, together = compacted(points, everything[:, None])
    flat = together.ravel()
    return kept, flat[: cells.size].reshape(-1, 4), flat[cells.size :].reshape(-1, 3)


def _warn_of_sheets(mesh: TetrahedralMesh, path: Path) -> None:
    sides = -1 - mesh.neighbours[mesh.neighbours < 0]
    twice = np.bincount(sides, minlength=len(mesh.faces)) == 2
    if twice.any():
        names = [name for name, tag in mesh.face_names.items() if (mesh.face_tags[twice] == tag).any()]
        warn(
            f"{path}: {twice.sum()} tagged faces ({', '.join(names)}) lie between two tetrahedra: treated as sheets "
            "with two sides; leave them untagged if waves are to pass"
        )
