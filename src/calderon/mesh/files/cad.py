"""Surfaces of CAD models (STEP, IGES, BREP), meshed by gmsh; each face of the model is a tag."""

from pathlib import Path
from typing import Any

import numpy as np

from calderon.mesh.coincident import compacted
from calderon.mesh.errors import MeshError, warn_of_accuracy
from calderon.mesh.faces.names import TagNames
from calderon.mesh.files.content import mesh_path
from calderon.mesh.files.step_names import step_face_names
from calderon.mesh.shapes.gmsh_session import gmsh_model
from calderon.mesh.shapes.gmsh_volumes import MeshedModel, mesh_surfaces
from calderon.mesh.sizes import PEAK_BYTES, positive, room_for_surface
from calderon.mesh.triangles import TriangleMesh

CAD_FORMATS = (".step", ".stp", ".iges", ".igs", ".brep")


def read_cad(path: str | Path, h: float) -> TriangleMesh:
    """The faces of a STEP, IGES or BREP file in metres, whatever its unit (that of BREP is mm), with edges of the
    mean length h (in m), as of shapes and `remesh`.

    Tags are the numbers of the faces, from 1, names those that a STEP file gives them; faces of one name have the
    number of the first. `mesh.colours` has the colours of faces, or of their solid, `mesh.solids` the faces of each
    solid by its name, which means all of them wherever a tag is given. MeshError for a missing, unreadable
    or unknown file, for one without faces, for h above the size of the model or too long for its walls, and if gmsh is
    not installed. AccuracyWarning where flat triangles of that size change the area or the volume by more than 5 %.
    """
    path, h = mesh_path(path), positive("h", h)
    if path.suffix.lower() not in CAD_FORMATS:
        raise MeshError(f"{path}: CAD files end in {', '.join(CAD_FORMATS)}: meshes are read by mesh.read")
    if not path.is_file():
        raise MeshError(f"{path}: no such file")
    with gmsh_model(path.stem) as gmsh:
        gmsh.option.setString("Geometry.OCCTargetUnit", "MM")  # OpenCASCADE's own: another one stays when gmsh ends
        try:
            gmsh.model.occ.importShapes(str(path))
        except Exception as error:  # gmsh raises nothing narrower
            raise MeshError(f"{path}: cannot be read: {error}") from None
        gmsh.model.occ.synchronize()
        faces = [tag for _, tag in gmsh.model.getEntities(2)]
        if not faces:
            raise MeshError(f"{path}: holds no faces: export a solid or its surface")
        # h in proportion to the model, and to memory
        corners = np.reshape(gmsh.model.getBoundingBox(-1, -1), (2, 3))
        if h > (size := 1e-3 * float(np.linalg.norm(corners[1] - corners[0]))):
            raise MeshError(
                f"{path}: h = {h:g} m is longer than the model, {size:.3g} m: h is in metres (5e-3 for 5 mm), whatever"
                " the unit of the file"
            )
        area = 1e-6 * sum(gmsh.model.occ.getMass(2, face) for face in faces)
        volume = 1e-9 * sum(gmsh.model.occ.getMass(3, solid) for _, solid in gmsh.model.getEntities(3))
        room_for_surface(area, h, PEAK_BYTES.remeshed)
        # triangles of each face
        mesh_surfaces(gmsh, 1e3 * h)
        meshed = MeshedModel(gmsh)
        triangles = [meshed.elements(3, face) for face in faces]
        shapes = [gmsh.model.getType(2, face) for face in faces]
        called = step_face_names(path, shapes) or [_label(gmsh, 2, face) for face in faces]
        own_colours = {face: _colour(gmsh, 2, face) for face in faces}
        solids, of_solids = _solids(gmsh)
    # tags: faces of one name have the number of the first
    names: dict[str, int] = {}
    called = ["" if name in solids else name for name in called]
    own = [names.setdefault(name, face) if name else face for name, face in zip(called, faces, strict=True)]
    tags = np.repeat(own, [len(each) for each in triangles])
    vertices, corners = compacted(meshed.vertices, np.concatenate(triangles))
    number = dict(zip(faces, own, strict=True))
    colours = {number[face]: colour or of_solids.get(face, "") for face, colour in own_colours.items()}
    parts = {name: tuple(sorted({number[face] for face in them})) for name, them in solids.items()}
    named = TagNames(names, {tag: colour for tag, colour in colours.items() if colour}, parts)
    mesh = TriangleMesh(1e-3 * vertices, corners, tags, named)
    _compare(path, mesh, area, volume)
    return mesh


def _label(gmsh: Any, dimension: int, entity: int) -> str:
    """The name of a face or a solid; "" for none, and for those that OpenCASCADE makes up."""
    name = str(gmsh.model.getEntityName(dimension, entity)).rpartition("/")[2].strip()
    return "" if name.upper() == "NONE" or name.startswith("Open CASCADE STEP translator") else name


def _colour(gmsh: Any, dimension: int, entity: int) -> str:
    """The colour of a face or a solid as "#rrggbb"; "" for none, which gmsh gives as fully transparent."""
    *parts, opacity = gmsh.model.getColor(dimension, entity)
    return "#{:02x}{:02x}{:02x}".format(*parts) if opacity else ""


def _solids(gmsh: Any) -> tuple[dict[str, list[int]], dict[int, str]]:
    """{name: faces} of the solids with a name, of one name together, and {face: colour} of those with a colour."""
    faces: dict[str, list[int]] = {}
    colours: dict[int, str] = {}
    for _, solid in gmsh.model.getEntities(3):
        bounding = [face for _, face in gmsh.model.getBoundary([(3, solid)], oriented=False)]
        if name := _label(gmsh, 3, solid):
            faces.setdefault(name, []).extend(bounding)
        if colour := _colour(gmsh, 3, solid):
            colours.update(dict.fromkeys(bounding, colour))
    return faces, colours


def _compare(path: Path, mesh: TriangleMesh, area: float, volume: float) -> None:
    """Compare area, and the volume of one closed surface, with those of the model in m^2 and m^3: flat triangles cut
    through round walls. AccuracyWarning where one is off by more than 5 %, MeshError where the volume is off by
    more than a factor of three: thin walls pass through each other."""
    found = {"area": mesh.area / area}
    if volume > 0 and mesh.is_closed and mesh.number_of_components == 1:
        found["volume"] = mesh.volume / volume
    if not 1 / 3 < found.get("volume", 1.0) < 3:
        raise MeshError(
            f"{path}: the mesh has {found['volume']:.2g} times the volume of the model: edges of h are too long for "
            "its thin round walls; choose a smaller h"
        )
    if off := [f"{ratio:.3g} times the {name}" for name, ratio in found.items() if abs(ratio - 1) > 0.05]:
        warn_of_accuracy(
            f"{path}: the mesh has {' and '.join(off)} of the model: edges of h are long for its round faces; choose a "
            "smaller h"
        )
