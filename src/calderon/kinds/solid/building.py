"""A checked case of a solid turned into its mesh, and an `ElasticSolid` on it, both in the units of the case."""

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.case.mesh import surface_mesh
from calderon.case.quantities import SYSTEMS
from calderon.case.reading import CaseFile
from calderon.formulations import BondedSolids, ElasticSolid
from calderon.formulations.elastic.conditions.face_conditions import Support
from calderon.formulations.elastic.conditions.surface_conditions import faces_of
from calderon.kinds.solid.model import Face, SolidCase
from calderon.mesh import MeshError, MeshWarning, TriangleMesh
from calderon.mesh.errors import warn

WITHIN = 1e-6
"""How far vertices may lie out of the box of a face, over the diameter."""
TILT = np.cos(np.radians(10))
PLAUSIBLE = {"youngs_modulus": (1e5, 2e12, "stress", "Pa"), "density": (1.0, 3e4, "density", "kg/m^3")}
"""Between which constants in SI units lie; others are nearly always a mistake of units."""
PLAUSIBLE_SIZE = 1e-6, 300.0
"""Bounds of the diameter in m; others are nearly always a mistake of units."""


def solid_mesh(file: CaseFile[SolidCase]) -> TriangleMesh:
    """The mesh of a case of a solid, in its unit of length, with the names of its [[face]] tables; CaseError for what
    cannot be used."""
    length = SYSTEMS[file.case.solid.units].get("length", 1.0)
    mesh = surface_mesh(file, length, "mm" if length == 1e-3 else "m")
    tags, names = mesh.tags.copy(), dict(mesh.names)
    for number, face in enumerate(file.case.face):
        with file.blamed("face", "name", number=number):
            chosen = _triangles(mesh, face)
            if face.name in names:
                raise MeshError(f"the mesh has this name already: its names are {', '.join(map(repr, names))}")
        names[face.name] = max([int(tags.max()), *names.values()]) + 1
        tags[chosen] = names[face.name]
    _warn_of_units(file, mesh.diameter * length)
    if not file.case.face:
        return mesh
    return TriangleMesh(mesh.vertices, mesh.triangles, tags, names, note=mesh.note)


def _triangles(mesh: TriangleMesh, face: Face) -> NDArray[np.bool_]:
    """(m,) which triangles belong to a face; MeshError for none."""
    corners, slack = mesh.vertices[mesh.triangles], WITHIN * mesh.diameter
    chosen = np.ones(len(corners), bool)
    if face.low is not None:
        chosen &= (corners >= np.array(face.low) - slack).all(axis=(1, 2))
    if face.high is not None:
        chosen &= (corners <= np.array(face.high) + slack).all(axis=(1, 2))
    if face.normal is not None:
        chosen &= mesh.normals @ (np.array(face.normal) / np.linalg.norm(face.normal)) > TILT
    if not chosen.any():
        low, high = mesh.bounds
        spans = (f"{axis} from {a:.6g} to {b:.6g}" for axis, a, b in zip("xyz", low, high, strict=True))
        raise MeshError(f"no triangle lies there with such a normal: the mesh has {', '.join(spans)}")
    return chosen


def _warn_of_units(file: CaseFile[SolidCase], diameter: float) -> None:
    """A warning where constants or the size are beyond all that is built."""
    system, advice = SYSTEMS[file.case.solid.units], 'units = "SI" is m, N, Pa and kg/m^3, "mm-N-MPa" has t/mm^3'
    for name, (low, high, kind, unit) in PLAUSIBLE.items():
        for material in file.case.materials.values():
            value = getattr(material, name)
            if value is not None and not low <= (in_si := value * system.get(kind, 1.0)) <= high:
                warn(f"material.{name} is {in_si:.4g} {unit}: {advice}")
    if not PLAUSIBLE_SIZE[0] <= diameter <= PLAUSIBLE_SIZE[1]:
        warn(f"the solid has a diameter of {diameter:.4g} m: {advice}; give the unit of a file in [mesh]")


def elastic_solids(file: CaseFile[SolidCase], mesh: TriangleMesh, load_case: str = "") -> dict[str, ElasticSolid]:
    """The problem of a case on its mesh, by the names of its regions; "" is that of the whole body. load_case: which
    loads, by the name of theirs. CaseError for tags
    that the mesh does not have, a surface that bounds no body, and conditions that contradict each other."""
    case, solid = file.case, file.case.solid
    options: dict[str, Any] = {"space": solid.space, "exterior": solid.exterior, "units": solid.units}
    body = [one.condition for one in case.loads_of(load_case) if one.tag is None]
    for key in ("support", "load"):
        for number, one in enumerate(getattr(case, key)):
            with file.blamed(key, "tag", one.tag, number):
                if one.tag is not None:
                    mesh.tag_numbers(one.tag)
    for number, one in enumerate(case.load):
        for key in ("temperatures", "heat"):
            with file.blamed("load", key, number=number):
                for tag in getattr(one.condition, key, None) or ():
                    mesh.tag_numbers(tag)
    found = {}
    for number, (name, material) in enumerate(case.materials.items()):
        part = mesh
        if name:
            with file.blamed("region", "tags", number=number):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore", MeshWarning)  # common faces are turned for one of the two
                    part = mesh.restricted(case.region[number].tags)
        source = next(name for name in case.mesh.SELECTORS if getattr(case.mesh, name) is not None)
        with file.blamed("mesh", source):
            bare = ElasticSolid(part, material.material, body=body, **options)
        supports, loads = (_by_tag(file, bare.mesh, key, load_case) for key in ("support", "load"))
        found[name] = replace(bare, supports=supports, loads=loads)
        with file.blamed("support", "tag", [*supports], None):
            found[name].conditions  # noqa: B018  of supports that disagree, and loads along supports
    return found


def elastic_solid(file: CaseFile[SolidCase], mesh: TriangleMesh, load_case: str = "") -> ElasticSolid | BondedSolids:
    """The problem of a case on its mesh, with the errors of `elastic_solids` and those of regions that share no faces,
    or have conditions there."""
    solids = elastic_solids(file, mesh, load_case)
    if len(solids) == 1:
        return solids[""]
    with file.blamed("region", "name", [*solids]):
        bonded = BondedSolids(solids)
        bonded.joined  # noqa: B018  that disagree at common nodes
    return bonded


def _by_tag(file: CaseFile[SolidCase], mesh: TriangleMesh, table: str, load_case: str) -> dict[Any, list[Any]]:
    """The conditions on the faces of a mesh by name, or number where it has none. CaseError for faces that a condition
    does not suit."""
    found: dict[Any, list[Any]] = {}
    names = {number: name for name, number in mesh.names.items()}
    present = np.unique(mesh.tags)
    for number, one in enumerate(getattr(file.case, table)):
        tag: Any = mesh.names.get(one.tag) if isinstance(one.tag, str) else one.tag
        if tag not in present or getattr(one, "case", None) not in (None, load_case):
            continue
        with file.blamed(table, "tag", number=number):
            name = names.get(tag, tag)
            face, condition = faces_of(mesh, {name: ()})[name][1], one.condition
            if isinstance(condition, Support):
                condition.directions(face)
            else:
                condition.traction(face)
        found.setdefault(name, []).append(condition)
    return found
