"""Mesh formats of other programs that meshio, gmsh or PyVista read; what is read is checked like everything else."""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Callable
from io import BytesIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from calderon.files.formats import meshio
from calderon.mesh.errors import MeshError
from calderon.mesh.files.formats.format import Format
from calderon.mesh.files.live import gmsh_content, pyvista_content
from calderon.mesh.shapes.gmsh_session import gmsh_model


def _by_meshio(kind: str) -> Callable[[Path], Any]:
    return lambda path: meshio.read(path, file_format=kind)


def _vtk(path: Path) -> Any:
    """Polygons (DATASET POLYDATA), which meshio does not know, by PyVista."""
    with path.open("rb") as file:
        polygons = b"POLYDATA" in file.read(512).upper()  # where the kind of its data stands
    return _by_pyvista(path) if polygons else meshio.read(path, file_format="vtk")


def _by_pyvista(path: Path) -> Any:
    try:
        import pyvista
    except ImportError:
        raise MeshError("files of polygons need PyVista: pip install 'calderon[pyvista]', or save .vtu") from None
    return pyvista_content(pyvista.read(path))


def _by_gmsh(path: Path) -> Any:
    """gmsh reads a copy: its libraries may keep a file open that they refuse, and then take it for the mended one."""
    with TemporaryDirectory() as folder, gmsh_model(path.stem) as gmsh:
        gmsh.merge(shutil.copyfile(path, str(Path(folder) / f"copy{path.suffix.lower()}")))
        if not len(gmsh.model.mesh.getNodes()[0]):
            raise MeshError("it holds no nodes: mesh the surface, in gmsh for example, and save all elements")
        return gmsh_content(gmsh)


def _med(path: Path) -> Any:
    """Families are tags, named by their groups, by the smallest of several. By gmsh if meshio does not know the file:
    groups without names, and elements of some kinds without families. It is read from memory, since meshio keeps a file
    open that it refuses."""
    try:
        content = meshio.med.read(BytesIO(path.read_bytes()))
    except (KeyError, ValueError):
        return _by_gmsh(path)
    families = content.cell_data.pop("cell_tags", [])
    flat = [own for cells, own in zip(content.cells, families, strict=False) if cells.dim == 2]
    counts = Counter(np.concatenate([np.zeros(0, np.int64), *flat]).tolist())
    groups = {int(family): own for family, own in content.cell_tags.items() if counts[int(family)] and own}
    sizes = Counter[str]()
    for family, own in groups.items():
        sizes.update(dict.fromkeys(own, counts[family]))
    chosen = {family: min(own, key=lambda name: sizes[name]) for family, own in groups.items()}
    tags = {name: min(abs(family) for family in chosen if chosen[family] == name) for name in chosen.values()}
    renamed = {family: tags[name] for family, name in chosen.items()}
    if families:
        own_tags = [np.array([renamed.get(each, abs(each)) for each in own.tolist()], np.int64) for own in families]
        content.cell_data["cell_tags"] = own_tags
    content.field_data = {name: np.array([tag, 2]) for name, tag in tags.items()}
    if several := sum(counts[family] for family, own in groups.items() if len(own) > 1):
        content.info = [f"{several} elements are in several groups ({', '.join(sizes)}): the smallest of them is used"]
    return content


VTK = Format((".vtk",), _vtk)
VTP = Format((".vtp",), _by_pyvista)
OFF = Format((".off",), _by_meshio("off"))
MED = Format((".med",), _med)
XDMF = Format((".xdmf",), _by_meshio("xdmf"))
UNV = Format((".unv",), _by_gmsh)
