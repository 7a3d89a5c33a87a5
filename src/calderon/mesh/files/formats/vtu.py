"""Unstructured grids of VTK (.vtu), of surfaces and volumes, with tags as cell data: read whole or refused."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np

from calderon.files.vtu import write_grid
from calderon.mesh.errors import MeshError
from calderon.mesh.files.file_mesh import FileMesh
from calderon.mesh.files.formats.format import Format, Written
from calderon.mesh.files.formats.vtu_arrays import TYPES, VTKFile

KINDS = {
    1: "vertex", 3: "line", 5: "triangle", 7: "polygon", 9: "quad", 10: "tetra", 12: "hexahedron", 13: "wedge",
    14: "pyramid", 21: "line3", 22: "triangle6", 23: "quad8", 24: "tetra10", 25: "hexahedron20", 26: "wedge15",
    27: "pyramid13", 28: "quad9", 29: "hexahedron27", 32: "wedge18", 34: "triangle7", 35: "line4",
    68: "VTK_LAGRANGE_CURVE", 69: "VTK_LAGRANGE_TRIANGLE", 70: "VTK_LAGRANGE_QUADRILATERAL",
}  # fmt: skip
"""meshio's names of the kinds that are read."""
IGNORED, STRANGE = {0, 2, 4}, {6: "triangle strips", 8: "pixels", 11: "voxels"}
_DASHES = "-\\u002d"  # of JSON; two plain ones would end a comment of XML


def read_vtu(path: Path) -> FileMesh:
    """Points, cells and what they hold. MeshError for kinds of cells that are not known, other than points and lines,
    for several pieces, and for arrays of another length than they say."""
    file = VTKFile(path.read_bytes())
    pieces = file.root.findall("UnstructuredGrid/Piece")
    if not pieces:
        raise MeshError("it holds no unstructured grid: save the surface as one (in ParaView: AppendDatasets)")
    points, count = int(pieces[-1].get("NumberOfPoints", 0)), int(pieces[-1].get("NumberOfCells", 0))
    if len(pieces) > 1:
        promised = sum(int(each.get("NumberOfCells", 0)) for each in pieces)
        raise MeshError(
            f"{count} of {promised} cells can be read: those of the last piece of several; write the grid in one piece"
        )
    found = {name: pieces[0].find(name) for name in ("Points", "Cells")}
    if found["Points"] is None or found["Cells"] is None:
        raise MeshError("it has no points or no cells: it is incomplete; export it again")
    x = file.array(found["Points"][0], points)
    arrays = {each.get("Name", ""): each for each in found["Cells"]}
    types, ends = (file.array(arrays[name], count).astype(np.int64) for name in ("types", "offsets"))
    sizes = np.diff(ends, prepend=0)
    if (sizes < 0).any():
        raise MeshError("its cells end before they begin: it is damaged; export it again")
    nodes = file.array(arrays["connectivity"], int(ends[-1]) if count else 0).astype(np.int64)
    # by VTK's numbers (vtkCellType.h); clouds of points and chains of lines are ignored like single ones
    if refused := sorted(set(types.tolist()) - {*KINDS, *IGNORED}):
        kinds = ", ".join(STRANGE.get(kind, f"cells of VTK's type {kind}") for kind in refused)
        raise MeshError(
            f"holds {kinds}, which are not supported: write triangles (ParaView's filter Triangulate makes them)"
        )
    # runs of cells of one kind
    begins = np.flatnonzero(np.diff(types, prepend=-1) | np.diff(sizes, prepend=-1)) if count else np.zeros(0, np.int64)
    runs = [(b, e) for b, e in itertools.pairwise([*begins.tolist(), count]) if types[b] not in IGNORED]
    blocks = [(KINDS[int(types[b])], nodes[ends[b] - sizes[b] : ends[e - 1]].reshape(e - b, sizes[b])) for b, e in runs]
    at_points, in_cells = (
        {
            each.get("Name", ""): file.array(each, number)
            for each in pieces[0].iterfind(f"{name}/DataArray")
            if each.get("type") in TYPES
        }
        for name, number in (("PointData", points), ("CellData", count))
    )
    own = {name: [each[b:e] for b, e in runs] for name, each in in_cells.items()}
    return FileMesh(x, blocks, own, point_data=at_points)


def write_vtu(mesh: Written, path: Path) -> None:
    """Write a surface or a volume, the names of tags in comments."""
    named = [block.comment + json.dumps(dict(block.names)).replace("--", _DASHES) for block in mesh.blocks]
    blocks = [(block.kind, block.elements) for block in mesh.blocks]
    write_grid(path, mesh.vertices, blocks, {}, {"tags": np.concatenate([block.tags for block in mesh.blocks])}, named)


VTU = Format((".vtu",), read_vtu, write_vtu, write_volume=write_vtu)
