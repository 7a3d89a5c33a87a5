"""The live view of a run in time: the parts, opened at the planes on which the fields are shown."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calderon.dg.operator.medium import FREE_SPACE
from calderon.kinds.transient.results import CutField, TransientResults
from calderon.mesh import TetrahedralMesh
from calderon.report.formatting import frequency_text, time_unit
from calderon.report.scenes import facing, grid, opening
from calderon.view import PART_COLOURS, Field, Scene, Steps, Surface

UNSEEN = ("outer", "wall", "feed")
"""Boundaries around everything, and the gap of an antenna."""


def cuts_scene(results: TransientResults) -> Scene:
    """Fields on all planes, complex amplitudes or, of a run without them, magnitudes at the times of the frames."""
    moving = results.amplitudes is None and results.cuts[0].frames is not None
    planes = [
        grid(found.points, _fields(found, moving), hidden=number > 0) for number, found in enumerate(results.cuts)
    ]
    parts = _parts(results.mesh, opening(results.cuts[0].points))
    steps, times = None, results.cuts[0].times
    if moving and times is not None:
        factor, unit = time_unit(float(times[-1]))
        steps = Steps("time", [f"{time / factor:.3f} {unit}" for time in times], 0)
    at = "" if results.amplitudes is None else f" at {frequency_text(results.amplitudes.frequency)}"
    caption = f"Fields in the planes{at}. The bodies are open there; drag to turn, point at a plane for values."
    names = [each.name for each in planes]
    if len(set(names)) < len(names):
        planes = [replace(each, name=f"{each.name} ({number})") for number, each in enumerate(planes, start=1)]
    eye = facing(opening(results.cuts[0].points)[0])
    return Scene((*planes, *parts), steps=steps, eye=eye, caption=caption)


def _fields(found: CutField, moving: bool) -> list[Field]:
    """The electric field of a plane, and the absorption rate where it is requested."""
    wanted = found.requested.quantity
    if moving and found.frames is not None:
        size = np.linalg.norm(found.frames, axis=3).reshape(len(found.frames), -1)
        first = "db" if wanted == "db" else "real"
        return [Field("electric field", "|E|", "V/m", list(size), quantity=first, depth=60.0)]
    electric = found.electric.reshape(-1, 3)
    fields = [Field("electric field", "E", "V/m", [electric], quantity="abs" if wanted == "abs" else "db", depth=60.0)]
    if found.sar is not None:
        rate = found.sar.ravel()
        shown = Field("absorption rate (SAR)", "SAR", "W/kg", [rate], quantity="db", power=True, depth=40.0)
        fields.insert(0, shown)
    return fields


def _parts(mesh: TetrahedralMesh, plane: tuple[NDArray[np.float64], float]) -> list[Surface]:
    """The skins of parts and the boundaries within; of a mesh of air alone, what encloses it."""
    named: dict[str, NDArray[np.int64]] = {}
    for name, tag in mesh.names.items():
        if name not in (*FREE_SPACE, *UNSEEN):
            named[name] = mesh.skin(mesh.tags == tag)
    for name, tag in mesh.face_names.items():
        if name not in UNSEEN:
            named[name] = mesh.faces[mesh.face_tags == tag]
    named = {name: faces for name, faces in named.items() if len(faces)} or {"boundary": mesh.faces}
    colours: Any = [PART_COLOURS[k % len(PART_COLOURS)] for k in range(len(named))]
    return [
        Surface.of_faces(name, mesh.vertices, faces, colour, open=plane)
        for (name, faces), colour in zip(named.items(), colours, strict=True)
    ]
