"""Mesh formats of other programs that meshio, gmsh or PyVista read; what is read is checked like everything else."""

from collections.abc import Callable
from pathlib import Path

import meshio

from calderon.mesh.errors import MeshError
from calderon.mesh.files.live import gmsh_content, pyvista_content
from calderon.mesh.files.nastran.reading import read_nastran
from calderon.mesh.shapes.gmsh_volumes import gmsh_model

HEAD = 512
"""Bytes of a .vtk file in which the kind of its data stands."""


def _by_meshio(kind: str) -> Callable[[Path], meshio.Mesh]:
    return lambda path: meshio.read(path, file_format=kind)


def _vtk(path: Path) -> meshio.Mesh:
    """Polygons (DATASET POLYDATA), which meshio does not know, by PyVista."""
    with path.open("rb") as file:
        polygons = b"POLYDATA" in file.read(HEAD).upper()
    return _by_pyvista(path) if polygons else meshio.read(path, file_format="vtk")


def _by_pyvista(path: Path) -> meshio.Mesh:
    try:
        import pyvista
    except ImportError:
        raise MeshError("files of polygons are read by PyVista: pip install 'calderon[plot]', or save .vtu") from None
    return pyvista_content(pyvista.read(path))


def _by_gmsh(path: Path) -> meshio.Mesh:
    with gmsh_model(path.stem) as gmsh:
        gmsh.merge(str(path.resolve()))
        return gmsh_content(gmsh)


def _med(path: Path) -> meshio.Mesh:
    """Groups without names, as gmsh writes them, which meshio does not know, by gmsh."""
    try:
        return meshio.read(path, file_format="med")
    except KeyError:
        return _by_gmsh(path)


OTHERS: dict[str, Callable[[Path], meshio.Mesh]] = {
    ".vtk": _vtk,
    ".vtp": _by_pyvista,
    ".off": _by_meshio("off"),
    ".med": _med,
    ".xdmf": _by_meshio("xdmf"),
    ".bdf": read_nastran,
    ".nas": read_nastran,
    ".fem": read_nastran,
    ".dat": read_nastran,
    ".unv": _by_gmsh,
}
"""Readers by ending."""
