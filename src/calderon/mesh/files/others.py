"""Mesh formats of other programs that meshio, gmsh or PyVista read; what is read is checked like everything else."""

import shutil
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory

import meshio
import numpy as np

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
    """gmsh reads a copy: its libraries may keep a file open that they refuse, and then take it for the mended one."""
    with TemporaryDirectory() as folder, gmsh_model(path.stem) as gmsh:
        gmsh.merge(shutil.copyfile(path, str(Path(folder) / f"copy{path.suffix.lower()}")))
        if not len(gmsh.model.mesh.getNodes()[0]):
            raise MeshError("it holds no nodes: mesh the surface, in gmsh for example, and save all elements")
        return gmsh_content(gmsh)


def _med(path: Path) -> meshio.Mesh:
    """Families are tags, their groups names. By gmsh if meshio does not know the file: groups without names, and
    elements of some kinds without families. It is read from memory, since meshio keeps a file open that it refuses."""
    try:
        content = meshio.med.read(BytesIO(path.read_bytes()))
    except (KeyError, ValueError):
        return _by_gmsh(path)
    families = [np.abs(own) for own in content.cell_data.get("cell_tags", [])]
    used = {int(tag) for cells, own in zip(content.cells, families, strict=False) if cells.dim == 2 for tag in own}
    if families:
        content.cell_data = {"cell_tags": families}
    names = {", ".join(groups): abs(int(family)) for family, groups in content.cell_tags.items()}
    content.field_data = {name: np.array([tag, 2]) for name, tag in names.items() if name and tag in used}
    return content


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
