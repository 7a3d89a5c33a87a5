"""Names of the faces of STEP files (ISO 10303-21), which OpenCASCADE does not hand on."""

import re
from collections.abc import Sequence
from pathlib import Path

from calderon.mesh.errors import warn

TEXT = r"'((?:[^']|'')*)'"
ENTITY = re.compile(r"#(\d+)\s*=\s*([A-Z_0-9]+)\s*\(")
FACE = re.compile(rf"#(\d+)\s*=\s*(?:ADVANCED_FACE|FACE_SURFACE)\s*\(\s*{TEXT}\s*,\s*\([^)]*\)\s*,\s*#(\d+)")
SHELL = re.compile(rf"=\s*(?:CLOSED|OPEN)_SHELL\s*\(\s*{TEXT}\s*,\s*\(([^)]*)\)")
KINDS = {
    "PLANE": "Plane", "CYLINDRICAL_SURFACE": "Cylinder", "CONICAL_SURFACE": "Cone", "SPHERICAL_SURFACE": "Sphere",
    "TOROIDAL_SURFACE": "Torus", "B_SPLINE_SURFACE_WITH_KNOTS": "BSpline surface",
}  # fmt: skip
"""Surfaces of STEP, and what gmsh calls them."""
LARGEST = 1 << 28
"""Bytes of a file that is searched for names."""


def step_face_names(path: Path, kinds: Sequence[str]) -> list[str]:
    """The names of the faces of a STEP file in the order of gmsh, in which each has a kind such as "Plane"; empty
    where the file names none.

    gmsh numbers faces as the shells of the file list them. The names are taken only where the number of the faces and
    the kind of each agree; else a MeshWarning says that they are left out.
    """
    if path.suffix.lower() not in (".step", ".stp") or path.stat().st_size > LARGEST:
        return []
    content = path.read_text(encoding="latin-1")
    faces = {int(number): (decoded(name), int(surface)) for number, name, surface in FACE.findall(content)}
    if not any(name for name, _ in faces.values()):
        return []
    wanted = {surface for _, surface in faces.values()}
    surfaces = {int(number): kind for number, kind in ENTITY.findall(content) if int(number) in wanted}
    listed = [int(number) for _, numbers in SHELL.findall(content) for number in re.findall(r"#(\d+)", numbers)]
    ordered = [faces[number] for number in listed if number in faces]
    agree = len(ordered) == len(kinds) and all(
        KINDS.get(surfaces.get(surface, ""), kind) == kind for (_, surface), kind in zip(ordered, kinds, strict=True)
    )
    if not agree:
        warn(
            f"{path}: the file names faces, but lists {len(ordered)} where the model has {len(kinds)}, or in another "
            "order, as in assemblies of repeated parts: the names are left out; select faces by place instead"
        )
        return []
    return [name for name, _ in ordered]


def decoded(text: str) -> str:
    r"""A text of a STEP file: '' is an apostrophe, \X2\...\X0\ holds characters of 16 bits; "" for NONE."""
    text = re.sub(
        r"\\X2\\((?:[0-9A-F]{4})+)\\X0\\", lambda found: bytes.fromhex(found[1]).decode("utf-16-be", "replace"), text
    )
    text = re.sub(r"\\X\\([0-9A-F]{2})", lambda found: chr(int(found[1], 16)), text).replace("''", "'").strip()
    return "" if text.upper() == "NONE" else text
