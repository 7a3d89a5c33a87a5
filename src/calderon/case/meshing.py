"""The [mesh] table of a checked case turned into a mesh."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import calderon.mesh as meshes
from calderon.case.reading import CaseFile
from calderon.mesh import TriangleMesh, metres_per

Mesh = TypeVar("Mesh")


def mesh_of(
    file: CaseFile[Any], read: Callable[..., Mesh], make: Callable[[], Mesh], metres: float = 1.0, unit: str = "m"
) -> Mesh:
    """The mesh that `read(path, scale=)` gives for the file in [mesh], or `make()` without one; CaseError for a file
    or a shape that cannot be used. metres: the unit of the mesh; unit: that of a file without another."""
    table, key, produce = file.case.mesh, "shape", make
    if table.file is not None:
        path = file.folder / table.file
        if not path.is_file():
            raise file.mistake("mesh", "file", f"no such file in {file.folder.resolve()}, the folder of the case")
        key, produce = "file", lambda: read(path, scale=metres_per(table.unit or unit) / metres)
    with file.blamed("mesh", key):
        return produce()


def surface_mesh(file: CaseFile[Any], metres: float = 1.0, unit: str = "m") -> TriangleMesh:
    """The mesh of a case, in metres, or in a unit of so many; CaseError for a file or a shape that cannot be used.
    unit: of a file without another."""
    table = file.case.mesh

    def made() -> TriangleMesh:
        if table.sample is not None:
            found = meshes.sample(table.sample, table.resolution or "coarse")
            return found if metres == 1 else found.scaled(1 / metres)
        assert table.shape is not None
        return getattr(meshes, table.shape)(**table.parameters)

    def read(path: Path, scale: float) -> TriangleMesh:
        if path.suffix.lower() not in meshes.CAD_FORMATS:
            return meshes.read(path, scale=scale)
        assert table.h is not None
        found = meshes.read_cad(path, table.h * metres)
        return found if metres == 1 else found.scaled(1 / metres)

    mesh = mesh_of(file, read, made, metres, unit)
    if table.divisions is None:
        return mesh
    with file.blamed("mesh", "divisions"):
        return mesh.divided(table.divisions)
