"""Unstructured grids of VTK (.vtu), of surfaces and volumes, with tags as cell data: read whole or refused."""

from __future__ import annotations

import contextlib
import json
import re
from io import StringIO
from pathlib import Path

from calderon.files.formats import meshio
from calderon.mesh.errors import MeshError
from calderon.mesh.files.formats.format import Format, Written, write_by_meshio

_DASHES = "-\\u002d"  # of JSON; two plain ones would end a comment of XML


def read_vtu(path: Path) -> meshio.Mesh:
    """The content by meshio. MeshError if meshio leaves out cells: kinds that it does not know, other than points and
    lines, and all pieces of a grid but the last."""
    output = StringIO()
    try:
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            content = meshio.read(path, file_format="vtu")
    finally:
        print(output.getvalue(), end="")
    left = {int(kind) for kind in re.findall(r"cannot handle \(type (\d+)\)", " ".join(output.getvalue().split()))}
    # by VTK's numbers (vtkCellType.h); clouds of points and chains of lines are ignored like single ones
    if refused := sorted(left - {2, 4}):
        known = {6: "triangle strips", 11: "voxels"}
        kinds = ", ".join(known.get(kind, f"cells of VTK's type {kind}") for kind in refused)
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


def write_vtu(mesh: Written, path: Path) -> None:
    """Write a surface or a volume, the names of tags in comments."""
    write_by_meshio(path, "vtu", mesh, {"cell_data": {"tags": [block.tags for block in mesh.blocks]}})
    head, mark, rest = path.read_bytes().partition(b"<VTKFile")
    named = [block.comment + json.dumps(dict(block.names)).replace("--", _DASHES) for block in mesh.blocks]
    path.write_bytes(head + "".join(f"<!-- {comment} -->\n" for comment in named).encode() + mark + rest)


VTU = Format((".vtu",), read_vtu, write_vtu, write_volume=write_vtu)
