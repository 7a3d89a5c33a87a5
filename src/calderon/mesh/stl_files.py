"""Triangles of .stl files, as many as their size says."""

from pathlib import Path

import meshio

from calderon.mesh.errors import MeshError

HEADER, TRIANGLE = 84, 50
"""Bytes of a binary file: before the first triangle, and of each."""


def read_stl(path: Path) -> meshio.Mesh:
    """What meshio reads. MeshError for a binary file of another size than that of the triangles that it promises:
    meshio would look for text in it."""
    with path.open("rb") as file:
        head = file.read(512)
    if b"\0" in head and len(head) >= HEADER:
        promised, size = int.from_bytes(head[80:HEADER], "little"), path.stat().st_size
        if size != HEADER + TRIANGLE * promised:
            raise MeshError(
                f"{size} bytes, where the {promised} triangles that it promises take {HEADER + TRIANGLE * promised}: "
                "it is cut short or damaged; export it again"
            )
    return meshio.read(path, file_format="stl")
