"""Triangles of .stl files, as many as the file size implies, or up to the end mark of a text."""

from pathlib import Path

import meshio

from calderon.mesh.errors import MeshError

HEADER, TRIANGLE = 84, 50
"""Bytes of a binary file: before the first triangle, and of each."""
TAIL = 65536
"""Bytes at the end of a text in which its end mark is searched: a name follows it."""


def read_stl(path: Path) -> meshio.Mesh:
    """What meshio reads. MeshError for a binary file whose size does not fit its number of triangles, in
    which meshio would look for text, and for a text without "endsolid" after its last triangle."""
    size = path.stat().st_size
    with path.open("rb") as file:
        head = file.read(512)
        file.seek(max(0, size - TAIL))
        tail = file.read().lower()
    promised = int.from_bytes(head[80:HEADER], "little")
    if len(head) < HEADER or size != HEADER + TRIANGLE * promised:
        if b"\0" in head and len(head) >= HEADER:
            raise MeshError(
                f"{size} bytes, but its {promised} triangles take {HEADER + TRIANGLE * promised}: "
                "it is incomplete or damaged; export it again"
            )
        if tail.rfind(b"endsolid") <= tail.rfind(b"endfacet"):
            raise MeshError("no 'endsolid' at the end of the text: incomplete, or not an STL file; export it again")
    return meshio.read(path, file_format="stl")
