"""Conforming meshes of the walls between solids, by the fragments of gmsh's OpenCASCADE kernel."""

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from calderon.mesh.coincident import compacted
from calderon.mesh.errors import MeshError, MeshWarning
from calderon.mesh.faces.names import PAIR
from calderon.mesh.shapes.gmsh_session import gmsh_model
from calderon.mesh.shapes.gmsh_volumes import MeshedModel, mean_edge, only_own_sizes
from calderon.mesh.sizes import PEAK_BYTES, positive, room_for_surface
from calderon.mesh.solid_models.solid import Solid
from calderon.mesh.tolerances import TOLERANCES
from calderon.mesh.triangles import TriangleMesh
from calderon.validation import describe

OUTSIDE = "outside"
"""The name of what is around all solids, in tags."""
SIZE = 100.0
"""Diameter of the model in gmsh, whose tolerances are lengths."""
SOLIDS = 10_000
"""Largest number of solids."""


def solids(shapes: Mapping[str, Solid | Sequence[Solid]] | str | Path, h: float) -> TriangleMesh:
    """All walls of solids that touch, are apart, or lie in each other, with edges of about h in m, shorter where bodies
    are thinner: one mesh with common vertices where walls meet, as `StaticProblem` needs it.

    shapes: {name: Solid}, or a list of solids under one name; where solids overlap the later name counts, so that what
    lies in a body comes after it. Or the path of a CAD file, whose solids have the names that it gives them, or
    "solid 1" and so on. Tags are named "a|b" for the wall between the solids a and b, in their order, and "a|outside"
    for what is around them. "a" alone stands for all walls of a: in `mesh.restricted("a")`, which is its closed
    surface, and wherever else tags are given.
    Vertices lie on round walls, whose triangles enclose less than the body.

    MeshError for solids without a part of their own, unreadable files, h above the size of all, and if gmsh is not
    installed.

        air, ball = cal.mesh.Solid.cuboid([-1, -1, -1], [1, 1, 1]), cal.mesh.Solid.ball(0.5)
        mesh = cal.mesh.solids({"air": air, "ball": ball}, h=0.2)  # tags "air|outside" and "air|ball"
        regions = {"air": cal.Region("air"), "ball": cal.Region("ball", permittivity=4.0)}
    """
    h = positive("h", h)
    given = _given(shapes)
    with gmsh_model("solids") as gmsh:
        gmsh.option.setString("Geometry.OCCTargetUnit", "MM")  # OpenCASCADE's own: another one stays when gmsh ends
        every = [each for own in given.values() for each in own]
        read = {id(each): _imported(gmsh, each) for each in every if each.kind == "file"}
        scale = SIZE / _size(gmsh, every, h)
        named = _named(gmsh, read[id(every[0])]) if isinstance(shapes, str | Path) else {}
        for volumes in read.values():
            gmsh.model.occ.dilate([(3, each) for each in volumes], 0, 0, 0, *(3 * [1e-3 * scale]))
        made = named or {
            name: [n for each in own for n in (read.get(id(each)) or [_built(gmsh, each, scale)])]
            for name, own in given.items()
        }
        owner = _fragments(gmsh, made)
        gmsh.model.occ.synchronize()
        return _meshed(gmsh, list(made), owner, h, scale)


def _given(shapes: object) -> dict[str, list[Solid]]:
    """Solids by name; MeshError for anything else."""
    if isinstance(shapes, str | Path):
        return {"": [Solid.read(shapes)]}
    if not isinstance(shapes, Mapping) or not shapes or len(shapes) > SOLIDS:
        raise MeshError(f"solids are given by name, {{'a': cal.mesh.Solid.ball(1.0)}}, got {describe(shapes)}")
    found = {}
    for name, each in shapes.items():
        own = list(each) if isinstance(each, list | tuple) else [each]
        fits = isinstance(name, str) and PAIR not in name and name not in ("", OUTSIDE, "all")
        if not fits or not own or not all(isinstance(one, Solid) for one in own):
            raise MeshError(
                f"a solid is a cal.mesh.Solid, and its name a text without {PAIR!r}, not {OUTSIDE!r} or 'all'; got "
                f"{name!r}: {describe(each)}"
            )
        found[name] = own
    return found


def _imported(gmsh: Any, solid: Solid) -> list[int]:
    """Numbers of the volumes of a CAD file."""
    path = Path(solid.path or "")
    if not path.is_file():
        raise MeshError(f"{path}: no such file")
    try:
        shapes = gmsh.model.occ.importShapes(str(path))
    except Exception as error:  # gmsh raises nothing narrower
        raise MeshError(f"{path}: cannot be read: {error}") from None
    volumes = [number for dimension, number in shapes if dimension == 3]
    if not volumes:
        raise MeshError(f"{path}: holds no solids: export bodies, not their faces")
    if len(volumes) > SOLIDS:
        raise MeshError(f"{path}: holds {len(volumes)} solids: at most {SOLIDS} can be meshed")
    return volumes


def _named(gmsh: Any, volumes: list[int]) -> dict[str, list[int]]:
    """Volumes by the names of their file."""
    gmsh.model.occ.synchronize()
    found: dict[str, list[int]] = {}
    for number in volumes:
        name = gmsh.model.getEntityName(3, number).rpartition("/")[2].replace(PAIR, " ").strip()
        named = name if name not in ("", OUTSIDE, "all") else f"solid {number}"
        found.setdefault(named, []).append(number)
    return found


def _size(gmsh: Any, given: Sequence[Solid], h: float) -> float:
    """The diameter in m of all solids; MeshError for h above it."""
    corners = [each.bounds for each in given if each.kind != "file"]
    gmsh.model.occ.synchronize()
    if gmsh.model.getEntities(3):
        corners.append(1e-3 * np.reshape(gmsh.model.getBoundingBox(-1, -1), (2, 3)))
    size = float(np.linalg.norm(np.max(corners, axis=(0, 1)) - np.min(corners, axis=(0, 1))))
    if h > size:
        raise MeshError(
            f"h = {h:g} m is longer than all solids together, {size:.3g} m: h is in metres, whatever the unit of files"
        )
    return size


def _built(gmsh: Any, solid: Solid, scale: float) -> int:
    """The number of the volume of a solid by its numbers."""
    occ, points = gmsh.model.occ, scale * np.asarray(solid.points)
    size = scale * (solid.size or 0.0)
    if solid.kind == "cuboid":
        low = points.min(axis=0)
        return int(occ.addBox(*low, *(points.max(axis=0) - low)))
    if solid.kind == "ball":
        return int(occ.addSphere(*points[0], size))
    if solid.kind == "cylinder":
        return int(occ.addCylinder(*points[0], *(points[1] - points[0]), size))
    corners = [occ.addPoint(*each) for each in points]
    sides = [occ.addLine(a, b) for a, b in zip(corners, corners[1:] + corners[:1], strict=True)]
    floor = occ.addPlaneSurface([occ.addCurveLoop(sides)])
    return next(int(number) for dimension, number in occ.extrude([(2, floor)], 0, 0, size) if dimension == 3)


def _fragments(gmsh: Any, made: Mapping[str, list[int]]) -> dict[int, int]:
    """The number of the solid, the last one, of each volume that is left of all; MeshError for solids without any."""
    owners = [number for number, volumes in enumerate(made.values()) for _ in volumes]
    every = [(3, each) for volumes in made.values() for each in volumes]
    gmsh.option.setNumber("Geometry.ToleranceBoolean", TOLERANCES.joined * SIZE)
    pieces = [[each] for each in every]
    if len(every) > 1:
        pieces = gmsh.model.occ.fragment(every[:1], every[1:])[1]
    owner: dict[int, int] = {}
    for number, own in zip(owners, pieces, strict=True):
        for dimension, piece in own:
            if dimension == 3:
                owner[piece] = max(number, owner.get(piece, -1))
    if hidden := set(range(len(made))) - set(owner.values()):
        name = list(made)[min(hidden)]
        raise MeshError(
            f"nothing is left of the solid {name!r}: later solids cover it; name those that lie in others after them"
        )
    return owner


def _meshed(gmsh: Any, names: list[str], owner: Mapping[int, int], h: float, scale: float) -> TriangleMesh:
    """The mesh of all faces between two solids, or between one and the outside."""
    around = len(names)
    pairs: dict[int, tuple[int, int]] = {}
    for _, face in gmsh.model.getEntities(2):
        solids_of = [owner[int(each)] for each in gmsh.model.getAdjacencies(2, face)[0]]
        if len(solids_of) == 2 and solids_of[0] == solids_of[1]:
            continue
        low, high = sorted([*solids_of, around][:2])
        pairs[face] = (low, high)
    area = sum(gmsh.model.occ.getMass(2, face) for face in pairs) / scale**2
    room_for_surface(area, h, PEAK_BYTES.remeshed)
    only_own_sizes(gmsh)
    mean_edge(gmsh, scale * h)
    meshed = MeshedModel(gmsh)
    triangles = [meshed.elements(3, face) for face in pairs]
    ordered = sorted(set(pairs.values()))
    tags = np.repeat([ordered.index(each) for each in pairs.values()], [len(each) for each in triangles])
    every = [*names, OUTSIDE]
    called = {f"{every[low]}{PAIR}{every[high]}": number for number, (low, high) in enumerate(ordered)}
    vertices, corners = compacted(meshed.vertices / scale, np.concatenate(triangles))
    with warnings.catch_warnings():  # walls of several solids have no common side
        warnings.simplefilter("ignore", MeshWarning)
        return TriangleMesh(vertices, corners, tags, called)
