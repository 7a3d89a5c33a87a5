"""Faces of .ply files, as many as the header promises."""

import re
from io import BytesIO
from pathlib import Path

import meshio

from calderon.mesh.errors import MeshError


def read_ply(path: Path) -> meshio.Mesh:
    """What meshio reads; corners may be called vertex_index, too. MeshError where header or faces end early: meshio
    would search the end of the header indefinitely, and accept the faces found so far."""
    head, mark, rest = path.read_bytes().partition(b"\nend_header")
    if not mark:
        raise MeshError("incomplete, its header does not end: export it again")
    head = re.sub(rb"(property list \S+ \S+ )vertex_index\b", rb"\1vertex_indices", head)
    content = meshio.read(BytesIO(head + mark + rest), file_format="ply")
    promised, found = re.search(rb"(?m)^element face (\d+)", head), sum(len(cells.data) for cells in content.cells)
    if promised and found < int(promised[1]):
        raise MeshError(f"incomplete, it holds {found} of {int(promised[1])} faces: export it again")
    return content
