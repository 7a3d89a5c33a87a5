"""Meshes in memory of other packages, meshio, PyVista, trimesh and gmsh, as the contents of files are."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.mesh.errors import MeshError
from calderon.mesh.files.file_mesh import GMSH_KINDS, FileMesh

SURFACE_KINDS = {"triangle", "quad", "triangle6", "quad9", "quad8", "triangle10"}
"""Surface elements of gmsh by meshio's names."""


def meshio_content(mesh: Any) -> FileMesh:
    """A copy of a `meshio.Mesh` with three coordinates for each point; MeshError for other objects."""
    if not all(hasattr(mesh, name) for name in ("points", "cells", "cell_data", "field_data", "cell_sets")):
        raise MeshError(f"a meshio.Mesh has points and cells, got {type(mesh).__name__}")
    given = np.asarray(mesh.points, dtype=np.float64)
    points = np.zeros((len(given), 3))
    points[:, : given.shape[1]] = given
    data = dict(mesh.cell_data)
    return FileMesh(points, mesh.cells, data, dict(mesh.field_data), dict(mesh.cell_sets))


def pyvista_content(mesh: Any) -> FileMesh:
    """The polygons of a `pyvista.PolyData`, or the surface of another data set of PyVista; tags are the cell data
    "tags", or of another name that files use."""
    if not hasattr(mesh, "n_points") or not hasattr(mesh, "extract_surface"):
        raise MeshError(f"a data set of PyVista has n_points and a surface, got {type(mesh).__name__}")
    poly = mesh if hasattr(mesh, "regular_faces") else mesh.extract_surface()
    if getattr(poly, "n_strips", 0):
        poly = poly.triangulate()
    faces, blocks, numbers = np.asarray(poly.faces), [], []
    starts = _starts(faces)
    sizes = faces[starts]
    for size in np.unique(sizes).tolist():
        own = np.flatnonzero(sizes == size)
        kind = {3: "triangle", 4: "quad"}.get(size, "polygon")
        blocks.append((kind, faces[starts[own][:, None] + 1 + np.arange(size)]))
        numbers.append(own)
    offset = poly.n_cells - len(starts)  # cells that are vertices or lines come first
    data = {name: np.asarray(poly.cell_data[name]) for name in poly.cell_data}
    kept = {name: values for name, values in data.items() if values.dtype.kind in "iuf" and values.ndim == 1}
    cell_data = {name: [values[offset + own] for own in numbers] for name, values in kept.items()}
    return FileMesh(np.asarray(poly.points, dtype=np.float64), blocks, cell_data=cell_data)


def _starts(faces: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where the polygons begin in a list of sizes and corners."""
    if len(faces) and (faces[:: faces[0] + 1] == faces[0]).all() and len(faces) % (faces[0] + 1) == 0:
        return np.arange(0, len(faces), faces[0] + 1)
    starts, place = [], 0
    while place < len(faces):
        starts.append(place)
        place += int(faces[place]) + 1
    return np.array(starts, np.int64)


def trimesh_content(mesh: Any) -> FileMesh:
    """The triangles of a `trimesh.Trimesh`; tags are the face attribute "tags"."""
    if not all(hasattr(mesh, name) for name in ("vertices", "faces", "face_attributes")):
        raise MeshError(f"a trimesh.Trimesh has vertices and faces, got {type(mesh).__name__}: merge a Scene first")
    tags = dict(mesh.face_attributes).get("tags")
    data = {} if tags is None else {"tags": [np.asarray(tags)]}
    return FileMesh(np.array(mesh.vertices, np.float64), [("triangle", np.array(mesh.faces, np.int64))], data)


def gmsh_content(gmsh: Any) -> FileMesh:
    """The surface elements of gmsh's current model: of physical surfaces if there are any, else of all, and lines and
    solids if there are none. Tags are numbers of physical groups, the first of several, or of surfaces; the elements of
    surfaces that are reversed in their group are reversed."""
    if not gmsh.isInitialized():
        raise MeshError("gmsh is not initialised: build the model, gmsh.model.mesh.generate(2), then from_gmsh()")
    # vertices by gmsh's numbers
    number, points, _ = gmsh.model.mesh.getNodes()
    if not len(number):
        raise MeshError("gmsh's current model has no mesh: call gmsh.model.mesh.generate(2) first")
    place = np.zeros(int(number.max()) + 1, np.int64)
    place[number.astype(np.int64)] = np.arange(len(number))
    groups = [tag for _, tag in gmsh.model.getPhysicalGroups(2)]
    # the first physical group of each surface
    owners: dict[int, int] = {}
    for group in groups:
        for entity in gmsh.model.getEntitiesForPhysicalGroup(2, group).tolist():
            owners.setdefault(entity, group)
    blocks, tags = [], []
    # triangles and quadrilaterals, surface by surface
    for _, entity in gmsh.model.getEntities(2):
        if groups and entity not in owners:
            continue
        for kind, _, nodes in zip(*gmsh.model.mesh.getElements(2, entity), strict=True):
            name = GMSH_KINDS[kind].name if kind in GMSH_KINDS else "other"
            if name not in SURFACE_KINDS:
                raise MeshError(f"surface {entity} has elements of gmsh's type {kind}: mesh it with triangles")
            corners = gmsh.model.mesh.getElementProperties(kind)[3]
            own = place[nodes.astype(np.int64)].reshape(-1, corners)
            if -owners.get(entity, 0) in gmsh.model.getPhysicalGroupsForEntity(2, entity):
                first = gmsh.model.mesh.getElementProperties(kind)[5]  # the corners; nodes on edges are not used
                own[:, 1:first] = own[:, 1:first][:, ::-1]
            blocks.append((name, own))
            tags.append(np.full(len(blocks[-1][1]), owners.get(entity, entity)))
    # without surfaces: lines and solids, for a message that names them
    for dimension in (1, 3) if not blocks else ():
        for kind, _, nodes in zip(*gmsh.model.mesh.getElements(dimension), strict=True):
            corners = gmsh.model.mesh.getElementProperties(kind)[3]
            name = GMSH_KINDS[kind].name if kind in GMSH_KINDS else "other"
            blocks.append((name, place[nodes.astype(np.int64)].reshape(-1, corners)))
            tags.append(np.zeros(len(blocks[-1][1]), np.int64))
    named = {gmsh.model.getPhysicalName(2, group): group for group in groups}
    names = {name: np.array([group, 2]) for name, group in named.items() if name}
    return FileMesh(points.reshape(-1, 3).copy(), blocks, {"tags": tags} if tags else {}, names)


def into_gmsh(
    gmsh: Any,
    vertices: NDArray[np.float64],
    triangles: NDArray[np.int64],
    tags: NDArray[np.int64],
    names: Mapping[str, int],
) -> None:
    """Add a discrete surface for each tag to gmsh's current model, with a physical group of that tag and its name."""
    if not gmsh.isInitialized():
        raise MeshError("gmsh is not initialised: call gmsh.initialize() first")
    first = int(gmsh.model.mesh.getMaxNodeTag()) + 1
    named = {tag: name for name, tag in names.items()}
    placed = np.zeros(len(vertices), dtype=bool)
    for tag in np.unique(tags).tolist():
        own = triangles[tags == tag]
        entity = gmsh.model.addDiscreteEntity(2)
        new = np.setdiff1d(own, np.flatnonzero(placed))
        placed[new] = True
        gmsh.model.mesh.addNodes(2, entity, first + new, vertices[new].ravel())
        gmsh.model.mesh.addElementsByType(entity, 2, [], (first + own).ravel())
        if tag > 0:
            gmsh.model.addPhysicalGroup(2, [entity], tag, named.get(tag, ""))
