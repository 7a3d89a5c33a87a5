"""The live view of a solid: stresses and displacements on the deformed body."""

from typing import Any

import numpy as np

import calderon.plots as plots
from calderon.kinds.solid.results import SolidResults
from calderon.mesh import TriangleMesh
from calderon.report.formatting import number
from calderon.report.scenes import eye_of, grid, opening
from calderon.view import Arrows, Field, Scene, Surface

MOST_CROSSES = 1500
"""Triangles with arrows of their principal stresses."""
VIEWS = [tuple(np.radians(each)) for each in ((-58, 24), (32, 24), (122, 24), (212, 24), (-58, -24), (122, -24))]
"""Azimuth and elevation of the eye, the first as of view "iso"."""


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
        side = "" if results.file.case.solid.exterior or len(results.parts) > 1 else "inside"
        layers.append(grid(points / scale, [shown], hidden=True, side=side, length=results.length[1]))
        open_at = opening(points / scale) if not results.file.case.solid.exterior else None
    displaced = np.asarray(results.displacement / scale)
    body = Surface("body", mesh.vertices, mesh.triangles, tuple(fields), displacement=displaced, open=open_at)
    caption = (
        f"Stresses on the deformed body, displacements enlarged {number(results.factor)} times; the slider changes "
        "that. Drag to turn, point for values."
    )
    return Scene(
        (body, *layers), length=results.length[1], factor=results.factor, flags=True, eye=eye_of(view_of(results)),
        caption=caption, arrows=(principal_arrows(results, mesh),),
    )  # fmt: skip


def principal_arrows(results: SolidResults, mesh: TriangleMesh) -> Arrows:
    """The two principal stresses of the largest magnitude at the middle of triangles, along their axes: the third is
    that of the load on the face, mostly zero. At most `MOST_CROSSES` triangles, evenly over their list."""
    every = max(1, -(-len(mesh.triangles) // MOST_CROSSES))
    values, axes = np.linalg.eigh(results.mean_stress[::every])
    largest = np.argsort(-np.abs(values), axis=1)[:, :2]
    sizes = np.take_along_axis(values, largest, axis=1)
    along = np.take_along_axis(axes, largest[:, None, :], axis=2).transpose(0, 2, 1)
    usual = np.percentile(np.abs(sizes), 95) or 1.0  # those at edges without limit would leave no room for others
    shown = 0.05 * mesh.diameter * np.minimum(np.abs(sizes) / usual, 1.5)
    return Arrows(
        "principal stresses", np.repeat(mesh.centroids[::every], 2, axis=0),
        (along * shown[..., None]).reshape(-1, 3), ("#c1121f", "#1d4e89"), sizes=sizes.ravel(),
        normals=np.repeat(mesh.normals[::every], 2, axis=0), hidden=True,
    )  # fmt: skip


def seen(results: SolidResults) -> tuple[TriangleMesh, list[int]]:
    """The surface in the unit of pictures, with normals toward who looks at it, and the order in which it has the
    corners of triangles: the solid around a cavity is looked at from within."""
    mesh, factor = results.mesh, results.length[0]
    vertices = mesh.vertices / factor
    if not results.file.case.solid.exterior:
        scaled = TriangleMesh(vertices, mesh.triangles, mesh.tags, mesh.names)
        return scaled.turned((scaled.triangles != mesh.triangles).any(axis=1)), [0, 1, 2]
    return TriangleMesh(vertices, mesh.triangles[:, ::-1], mesh.tags, mesh.names), [2, 1, 0]


def view_of(results: SolidResults) -> Any:
    """The requested view, or the first of some from which the largest stress is seen."""
    if (view := results.file.case.output.view) is not None:
        return view
    mesh, place = seen(results)[0], results.largest.place / results.length[0]
    return next((each for each in VIEWS if plots.is_seen(mesh, place, each)), VIEWS[0])
