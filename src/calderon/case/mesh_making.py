"""The mesh that a case asks for: a file is read, or a shape is made."""

from collections.abc import Callable
from typing import Any, TypeVar

from calderon.case.reading import CaseFile

Mesh = TypeVar("Mesh")


def mesh_of(file: CaseFile[Any], read: Callable[..., Mesh], make: Callable[[], Mesh]) -> Mesh:
    """What `read(path, scale=)` gives for the file in [mesh], or what `make()` gives without one; CaseError for a file
    or a shape that cannot be used."""
    table, key, produce = file.case.mesh, "shape", make
    if table.file is not None:
        path = file.folder / table.file
        if not path.is_file():
            raise file.mistake("mesh", "file", f"no such file in {file.folder.resolve()}, the folder of the case")
        key, produce = "file", lambda: read(path, scale=table.scale)
    with file.blamed("mesh", key):
        return produce()
