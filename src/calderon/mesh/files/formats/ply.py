"""Files of the Stanford format (.ply), with tags as a property of faces."""

from __future__ import annotations

import re
from io import BytesIO
from pathlib import Path

import numpy as np

from calderon.files.formats import meshio
from calderon.mesh.errors import MeshError
from calderon.mesh.files.formats.format import Format, Written, refuse_large_tags, rows_text


def read_ply(path: Path) -> meshio.Mesh:
    """The content by meshio; corners may be called vertex_index, too. MeshError where header or faces end early:
    meshio would search the end of the header indefinitely, and accept the faces found so far."""
    head, mark, rest = path.read_bytes().partition(b"\nend_header")
    if not mark:
        raise MeshError("incomplete, its header does not end: export it again")
    head = re.sub(rb"(property list \S+ \S+ )vertex_index\b", rb"\1vertex_indices", head)
    content = meshio.read(BytesIO(head + mark + rest), file_format="ply")
    promised, found = re.search(rb"(?m)^element face (\d+)", head), sum(len(cells.data) for cells in content.cells)
    if promised and found < int(promised[1]):
        raise MeshError(f"incomplete, it holds {found} of {int(promised[1])} faces: export it again")
    return content


def write_ply(mesh: Written, path: Path) -> None:
    """Write a surface as text with all digits."""
    (block,) = mesh.blocks
    with path.open("w", encoding="utf-8") as file:
        file.write(f"ply\nformat ascii 1.0\ncomment {block.commented()}\nelement vertex {len(mesh.vertices)}\n")
        file.write("".join(f"property double {axis}\n" for axis in "xyz"))
        file.write(f"element face {len(block.elements)}\nproperty list uchar int vertex_indices\n")
        file.write("property int tags\nend_header\n" + rows_text(mesh.vertices, "%.17g"))
        file.write(rows_text(np.column_stack([block.elements, block.tags]), "3 %d %d %d %d"))


PLY = Format(
    (".ply",),
    read_ply,
    write_ply,
    is_text=lambda head: head.startswith(b"ply") and b"format ascii" in head,
    refuses=lambda mesh: refuse_large_tags(".ply", mesh),
)
