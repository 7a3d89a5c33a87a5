"""Fields on a surface, and in a volume, as files for ParaView."""

import os

import numpy as np
from numpy.typing import NDArray

from calderon.data.paraview import Fields
from calderon.files import file_path, whole_file
from calderon.files.vtu import write_grid
from calderon.mesh import TriangleMesh


def write_fields(path: str | os.PathLike[str], mesh: TriangleMesh, at_vertices: Fields, on_triangles: Fields) -> None:
    """Write mesh, tags and fields to a .vtu file. Atomic: it appears whole or not at all. ValueError for another
    ending."""
    cell_data = {"tag": mesh.tags} | on_triangles
    _write(path, mesh.vertices, "triangle", mesh.triangles, at_vertices, cell_data)


def write_volume_fields(
    path: str | os.PathLike[str],
    nodes: NDArray[np.float64],
    cells: NDArray[np.int64],
    at_nodes: Fields,
    on_cells: Fields,
) -> None:
    """Write fields at the nodes (n, 3) and of tetrahedra to a .vtu file, as `write_fields`; cells (nt, 4), or (nt, 10)
    of quadratic tetrahedra with the edges in the order of VTK: 01, 12, 02, 03, 13, 23."""
    _write(path, nodes, "tetra" if cells.shape[1] == 4 else "tetra10", cells, at_nodes, on_cells)


def _write(
    path: str | os.PathLike[str],
    points: NDArray[np.float64],
    kind: str,
    cells: NDArray[np.int64],
    at_points: Fields,
    on_cells: Fields,
) -> None:
    if file_path(path, "a field", "u.vtu").suffix.lower() != ".vtu":
        raise ValueError(f"fields are written to .vtu files, got {str(path)!r}: give a name such as 'u.vtu'")
    with whole_file(path) as scratch:
        write_grid(scratch, points, [(kind, cells)], at_points, on_cells)
