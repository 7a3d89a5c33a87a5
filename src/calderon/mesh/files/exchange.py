"""Conversion of surfaces from and to the objects of other packages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from calderon.mesh.errors import MeshError
from calderon.mesh.files.file_mesh import FileMesh
from calderon.mesh.files.live import gmsh_content, into_gmsh, meshio_content, pyvista_content, trimesh_content
from calderon.mesh.files.surfaces import surface_of
from calderon.mesh.sizes import scale_factor


class Exchange:
    """Conversions of a triangle mesh from and to meshio, PyVista, trimesh and gmsh, in memory.

    What comes is checked and mended as by `mesh.read`: quadrilaterals are split, vertices on open edges that coincide
    are joined, triangles without area and unused vertices are dropped, each with a MeshWarning. scale: metres per unit.
    Raises MeshError for objects of other kinds and meshes that cannot be used.
    """

    vertices: NDArray[np.float64]
    triangles: NDArray[np.int64]
    tags: NDArray[np.int64]
    names: Mapping[str, int]

    @classmethod
    def from_meshio(cls, mesh: Any, scale: float = 1.0) -> Self:
        """The surface of a `meshio.Mesh`; tags are those of physical groups, cell data "tags" or cell sets."""
        return cls._from(meshio_content, mesh, "the meshio mesh", scale)

    @classmethod
    def from_pyvista(cls, mesh: Any, scale: float = 1.0) -> Self:
        """The polygons of a `pyvista.PolyData`, or the surface of another data set; tags: the cell data "tags"."""
        return cls._from(pyvista_content, mesh, "the PyVista mesh", scale)

    @classmethod
    def from_trimesh(cls, mesh: Any, scale: float = 1.0) -> Self:
        """The triangles of a `trimesh.Trimesh`; tags: the face attribute "tags"."""
        return cls._from(trimesh_content, mesh, "the trimesh", scale)

    @classmethod
    def from_gmsh(cls, scale: float = 1.0) -> Self:
        """The surface elements of gmsh's current model, which `gmsh.model.mesh.generate(2)` has made: of physical
        surfaces, with their names, if there are any, else of all surfaces."""
        return cls._from(gmsh_content, _imported("gmsh", "gmsh", "'calderon[gmsh]'"), "gmsh's model", scale)

    @classmethod
    def _from(cls, content: Callable[[Any], FileMesh], mesh: Any, name: str, scale: float) -> Self:
        factor = scale_factor(scale)
        try:
            found = content(mesh)
        except MeshError as error:
            raise MeshError(f"{name}: {error}") from None
        surface = surface_of(found, Path(name), factor)
        return cls(*surface)  # type: ignore[call-arg]

    def to_meshio(self) -> Any:
        """A `meshio.Mesh` with the cell data "tags", and names as physical groups."""
        fields = {name: np.array([tag, 2]) for name, tag in self.names.items()}
        blocks, data = [("triangle", self.triangles.copy())], {"tags": [self.tags.copy()]}
        meshio = _imported("meshio", "meshio", "'calderon[formats]'")
        return meshio.Mesh(self.vertices.copy(), blocks, {}, data, fields)

    def to_pyvista(self) -> Any:
        """A `pyvista.PolyData` with the cell data "tags"."""
        pyvista = _imported("pyvista", "PyVista", "'calderon[pyvista]'")
        faces = np.column_stack([np.full(len(self.triangles), 3), self.triangles])
        made = pyvista.PolyData(self.vertices.copy(), faces.ravel())
        made.cell_data["tags"] = self.tags.copy()
        return made

    def to_trimesh(self) -> Any:
        """A `trimesh.Trimesh` with the face attribute "tags"."""
        tags = {"tags": self.tags.copy()}
        made = _imported("trimesh", "trimesh", "'calderon[formats]'").Trimesh
        return made(self.vertices.copy(), self.triangles.copy(), face_attributes=tags, process=False)

    def to_gmsh(self) -> None:
        """Add a discrete surface for each tag to gmsh's current model, with physical groups and names."""
        into_gmsh(_imported("gmsh", "gmsh", "'calderon[gmsh]'"), self.vertices, self.triangles, self.tags, self.names)


def _imported(module: str, name: str, package: str) -> Any:
    """An optional package; MeshError, with how to install it, where it is missing."""
    try:
        return import_module(module)
    except ImportError:
        raise MeshError(f"{name} is not installed: pip install {package}") from None
