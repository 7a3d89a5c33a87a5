"""Files that meshio reads although they are incomplete, or in part: .ply and .vtu are read whole or refused."""

from __future__ import annotations

import contextlib
import re
from io import BytesIO, StringIO
from pathlib import Path

from calderon.files.formats import meshio
from calderon.mesh.errors import MeshError

KINDS = {6: "triangle strips", 11: "voxels"}
"""By VTK's numbers (vtkCellType.h): cells that have a surface, and that meshio does not know."""
PASSED = {2, 4}
"""Clouds of points and chains of lines, which are ignored like single ones."""


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


def read_vtu(path: Path) -> meshio.Mesh:
    """What meshio reads. MeshError if it leaves out cells: those of kinds that it does not know, other than points and
    lines, and all pieces of a grid but the last."""
    output = StringIO()
    try:
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            content = meshio.read(path, file_format="vtu")
    finally:
        print(output.getvalue(), end="")
    left = {int(kind) for kind in re.findall(r"cannot handle \(type (\d+)\)", " ".join(output.getvalue().split()))}
    if left - PASSED:
        kinds = ", ".join(KINDS.get(kind, f"cells of VTK's type {kind}") for kind in sorted(left - PASSED))
        raise MeshError(
            f"holds {kinds}, which are not supported: write triangles (ParaView's filter Triangulate makes them)"
        )
    promised = sum(map(int, re.findall(rb"<Piece\b[^>]*\bNumberOfCells\s*=\s*[\"'](\d+)", path.read_bytes())))
    found = sum(len(cells.data) for cells in content.cells)
    if not left and found < promised:
        raise MeshError(
            f"{found} of {promised} cells can be read: those of the last piece of several; write the grid in one piece"
        )
    return content
