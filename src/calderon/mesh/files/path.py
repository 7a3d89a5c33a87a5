"""Paths of mesh files."""

from pathlib import Path

from calderon.mesh.errors import MeshError


def mesh_path(path: str | Path) -> Path:
    """The path of a mesh file; MeshError if it is not a path."""
    try:
        return Path(path)
    except TypeError:
        raise MeshError(f"a mesh is stored in a file, got {path!r}: give a path such as 'hull.msh'") from None
