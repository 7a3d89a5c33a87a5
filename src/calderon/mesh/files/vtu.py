"""Cells of VTK's unstructured grids (.vtu), complete or not at all.

meshio leaves out cells of kinds that it does not know, and all pieces of a grid but the last.
"""

import contextlib
import re
from io import StringIO
from pathlib import Path

import meshio

from calderon.mesh.errors import MeshError

KINDS = {6: "triangle strips", 11: "voxels"}
"""By VTK's numbers (vtkCellType.h): cells that have a surface, and that meshio does not know."""
PASSED = {2, 4}
"""Clouds of points and chains of lines, which are ignored like single ones."""


def read_vtu(path: Path) -> meshio.Mesh:
    """What meshio reads. MeshError if it leaves out cells other than points and lines."""
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
