"""A checked case of a solid turned into its mesh, and an `ElasticSolid` on it, both in the units of the case."""

from dataclasses import replace
from typing import Any

import numpy as np

from calderon.case.faces import with_faces
from calderon.case.mesh import surface_mesh
from calderon.case.quantities import SYSTEMS
from calderon.case.reading import CaseFile
from calderon.formulations import BondedSolids, ElasticSolid
from calderon.formulations.elastic.conditions.face_conditions import Support
from calderon.formulations.elastic.conditions.surface_conditions import faces_of
from calderon.kinds.solid.model import Load, SolidCase
from calderon.mesh import TriangleMesh
from calderon.mesh.errors import warn

PLAUSIBLE = {"youngs_modulus": (1e5, 2e12, "stress", "Pa"), "density": (1.0, 3e4, "density", "kg/m^3")}
"""Between which constants in SI units lie; others are nearly always a mistake of units."""
PLAUSIBLE_SIZE = 1e-6, 300.0
"""Bounds of the diameter in m; others are nearly always a mistake of units."""


def solid_mesh(file: CaseFile[SolidCase]) -> TriangleMesh:
    """The mesh of a case of a solid, in its unit of length, with the names of its [[face]] tables; CaseError for what
    cannot be used."""
    length = SYSTEMS[file.case.solid.units].get("length", 1.0)
    mesh = with_faces(file, surface_mesh(file, length, "mm" if length == 1e-3 else "m"))
    _warn_of_units(file, mesh.diameter * length)
    return mesh


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
            if getattr(one, "other", None) is not None:
                with file.blamed(key, "other", one.other, number):
                    mesh.tag_numbers(one.other)
                    one.on_faces(mesh)
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
                part = mesh.restricted(case.region[number].tags)
        source = next(name for name in case.mesh.SELECTORS if getattr(case.mesh, name) is not None)
        with file.blamed("mesh", source):
            bare = ElasticSolid(part, material.material, body=body, **options)
        supports, loads = (_by_tag(file, bare.mesh, key, load_case, mesh) for key in ("support", "load"))
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


def _by_tag(
    file: CaseFile[SolidCase], mesh: TriangleMesh, table: str, load_case: str, whole: TriangleMesh
) -> dict[Any, list[Any]]:
    """The conditions on the faces of a mesh by name, or number where it has none. whole: the mesh of all parts.
    CaseError for faces that a condition does not suit."""
    found: dict[Any, list[Any]] = {}
    names = {number: name for name, number in mesh.names.items()}
    present = np.unique(mesh.tags)
    for number, one in enumerate(getattr(file.case, table)):
        if one.tag is None or getattr(one, "case", None) not in (None, load_case):
            continue
        faces = one.on_faces(whole) if isinstance(one, Load) else {one.tag: one.condition}
        for given, condition in faces.items():
            tag: Any = mesh.names.get(given) if isinstance(given, str) else given
            if tag not in present:
                continue
            with file.blamed(table, "tag", number=number):
                name = names.get(tag, tag)
                face = faces_of(mesh, {name: ()})[name][1]
                if isinstance(condition, Support):
                    condition.directions(face)
                else:
                    condition.traction(face)
            found.setdefault(name, []).append(condition)
    return found
