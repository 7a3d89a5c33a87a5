"""The live view of a solid: stresses and displacements on the deformed body."""

from typing import Any

import numpy as np

from calderon.mesh import TriangleMesh
from calderon.report.formatting import number
from calderon.report.scenes import grid, opening
from calderon.report.solid.results import SolidResults
from calderon.view import Field, Scene, Surface


def solid_scene(results: SolidResults, mesh: TriangleMesh, order: list[int]) -> Scene:
    """mesh: in the unit of pictures, with corners of triangles in this order."""
    units, scale = results.units, results.length[0]
    stress, pascal = units.multiple("stress", results.largest.value)
    moved, metre = units.multiple("length", results.furthest[0])
    principal = results.principal[:, order].reshape(-1, 3) / stress
    fields = [
        Field("von Mises stress", "σ", pascal, [results.von_mises[:, order].ravel() / stress], "corners", "real"),
        Field("displacement", "u", metre, [results.displacement / moved]),
        Field("largest principal stress", "σ₁", pascal, [principal[:, 0]], "corners", "real"),
        Field("least principal stress", "σ₃", pascal, [principal[:, 2]], "corners", "real"),
    ]
    if results.temperature is not None:
        fields.append(Field("change of temperature", "ΔT", "K", [results.temperature], "vertices", "real"))
    layers: list[Any] = []
    open_at = None
    if results.cut is not None:
        requested = results.file.case.output.slice
        assert requested is not None
        points, values = results.cut
        of_stress = requested.quantity == "von-mises"
        name, symbol, unit = ("von Mises stress", "σ", pascal) if of_stress else ("displacement", "|u|", metre)
        shown = Field(name, symbol, unit, [values.ravel() / (stress if of_stress else moved)], quantity="real")
        layers.append(grid(points / scale, [shown], hidden=True))
        open_at = opening(points / scale) if not results.file.case.solid.exterior else None
    displaced = np.asarray(results.displacement / scale)
    body = Surface("body", mesh.vertices, mesh.triangles, tuple(fields), displacement=displaced, open=open_at)
    caption = (
        f"Stresses on the deformed body, displacements enlarged {number(results.factor)} times; the slider changes "
        "that. Drag to turn, point for values."
    )
    return Scene((body, *layers), length=results.length[1], factor=results.factor, caption=caption)
