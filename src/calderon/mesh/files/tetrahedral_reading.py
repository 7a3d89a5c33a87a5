"""Tetrahedral meshes from files."""

import warnings
from collections import Counter
from pathlib import Path

import meshio
import numpy as np
from numpy.typing import NDArray

from calderon.mesh.coincident import compacted
from calderon.mesh.errors import MeshError, MeshWarning
from calderon.mesh.files.reading import (
    TAG_KEYS,
    commented_names,
    file_content,
    held,
    named_tags,
    refuse_mixed_volumes,
    tell_of_curved,
    tell_of_reading,
    whole_tags,
)
from calderon.mesh.files.tetrahedral_writing import BOUNDARIES, FORMATS, PARTS
from calderon.mesh.files.whole_file import mesh_path
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
    content = file_content(path, FORMATS)
    tell_of_reading(content, path)
    refuse_mixed_volumes(content, path)
    cells, tags = _cells(content, path, "tetra", 4)
    if not len(cells):
        raise MeshError(f"{path}: no tetrahedra (the file holds {held(content)}): mesh the volume, save all elements")
    faces, marks = _cells(content, path, "triangle", 3)
    faces, marks = faces[marks > 0], marks[marks > 0]
    points = np.zeros((len(content.points), 3))
    points[:, : content.points.shape[1]] = content.points
    points, cells, faces = _used(points, cells, faces)
    names = {**named_tags(content, 3), **commented_names(path, PARTS)}
    boundaries = {**named_tags(content, 2), **commented_names(path, BOUNDARIES)}
    for tag in np.unique(marks).tolist():
        if tag not in boundaries.values():
            boundaries[f"tag {tag}"] = tag
    try:
        mesh = TetrahedralMesh(points * scale, cells, tags, names, faces, marks, boundaries)
    except MeshError as error:
        raise MeshError(f"{path}: {error}") from None
    _tell_sheets(mesh, path)
    return mesh


def holds_tetrahedra(path: str | Path) -> bool:
    """Whether it is a file of tetrahedra that `read_tetrahedra` accepts; False for one that cannot be read."""
    path = Path(path)
    if path.suffix.lower() not in FORMATS:
        return False
    try:
        content = file_content(path, FORMATS)
    except MeshError:
        return False
    return any(block.type.startswith("tetra") and len(block.data) for block in content.cells)


def write_tetrahedra(mesh: TetrahedralMesh, path: str | Path) -> None:
    """The old name of `TetrahedralMesh.write`."""
    warnings.warn("write_tetrahedra(mesh, path) is now mesh.write(path)", DeprecationWarning, stacklevel=2)
    mesh.write(path)


def _cells(content: meshio.Mesh, path: Path, kind: str, corners: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Corners (n, 4 or 3) and tags (n,) of all tetrahedra or triangles."""
    key = next((key for key in TAG_KEYS if key in content.cell_data), None)
    cells, tags = [np.zeros((0, corners), np.int64)], [np.zeros(0, np.int64)]
    curved: Counter[str] = Counter()
    for number, block in enumerate(content.cells):
        if not block.type.startswith(kind) or not len(block.data):
            continue
        if block.data.shape[1] > corners:
            curved[block.type] += len(block.data)
        cells.append(np.asarray(block.data)[:, :corners].astype(np.int64))
        own = np.zeros(len(block.data)) if key is None else content.cell_data[key][number]
        tags.append(whole_tags(own, key or "tags", path))
    tell_of_curved(path, curved)
    return np.concatenate(cells), np.concatenate(tags)


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


def _tell_sheets(mesh: TetrahedralMesh, path: Path) -> None:
    sides = -1 - mesh.neighbours[mesh.neighbours < 0]
    twice = np.bincount(sides, minlength=len(mesh.faces)) == 2
    if twice.any():
        names = [name for name, tag in mesh.face_names.items() if (mesh.face_tags[twice] == tag).any()]
        _notice(
            f"{path}: {twice.sum()} tagged faces ({', '.join(names)}) lie between two tetrahedra: treated as sheets "
            "with two sides; leave them untagged if waves are to pass"
        )


def _notice(text: str) -> None:
    warnings.warn(text, MeshWarning, stacklevel=3)
