"""Panels of fields: on the surface, in a plane, and at points."""

from functools import partial
from pathlib import Path

import numpy as np

import calderon.plots as plots
from calderon.data import Axis, Quantity
from calderon.data.collections import write_collection
from calderon.data.labelled import stacked
from calderon.kinds.surface.results import Results, Step
from calderon.kinds.surface.scenes import surface_scene
from calderon.report import Sheet, panel
from calderon.report.formatting import plane_equation
from calderon.spaces import Function, VectorFunction

PART = {
    "abs": "Magnitude of the ",
    "real": "Real part of the ",
    "imag": "Imaginary part of the ",
    "phase": "Phase of the ",
    "db": "Level of the ",
}


def _part(quantity: str, wave: bool) -> str:
    """Begin of a caption; a static field is real and is shown as a whole."""
    return "The " if quantity == "real" and not wave else PART[quantity]


@panel("steps")
def surface(results: Results, sheet: Sheet) -> None:
    """The function that was solved for, one file a step; pictures of the last one, and the live view of all."""
    case, steps, last = results.file.case, results.steps, results.steps[-1]
    names = [f"surface_{number:02d}.vtu" if len(steps) > 1 else "surface.vtu" for number in range(1, len(steps) + 1)]
    for name, step in zip(names, steps, strict=True):
        sheet.file(name, step.surface.write)
    if len(steps) > 1:
        series = [(_moment(step), 0, name) for name, step in zip(names, steps, strict=True)]
        sheet.file("surface.pvd", lambda path: write_collection(path, series))
    sheet.view(lambda: surface_scene(results), *(f"surface_{each}.png" for each in case.output.surface))
    for quantity in case.output.surface:
        caption = f"{_part(quantity, case.physics.wave)}{last.surface.label} on the surface{results.at}."
        sheet.picture(f"surface_{quantity}.png", caption, partial(_draw_surface, last.surface, quantity))


def _draw_surface(shown: Function | VectorFunction, quantity: str, path: Path) -> None:
    """Draw the same picture on every machine, without a graphics driver during a run."""
    if isinstance(shown, VectorFunction):
        plots.currents(shown, path, quantity=quantity, renderer="matplotlib")
    else:
        plots.surface(shown, quantity, path, renderer="matplotlib")


def _moment(step: Step) -> float:
    return float(step.frequency or step.wavenumber or 0.0)


@panel("file.case.output.slice")
def plane(results: Results, sheet: Sheet) -> None:
    """slice.vti, slice.npz and slice.png of the last step."""
    cut, requested, words, case = (
        results.steps[-1].slice,
        results.file.case.output.slice,
        results.words,
        results.file.case,
    )
    if cut is None or requested is None:
        return
    values, name = cut.values if cut.vectors is None else cut.vectors, words.field.replace(" ", "_")
    sheet.plane("slice", cut.points, Quantity(name, values, words.unit, words.field, vector=cut.vectors is not None))
    travel = None if case.incident is None else case.incident.travel
    what = f"{_part(requested.quantity, case.physics.wave)}{words.field} in the plane {plane_equation(cut.points)}"
    sheet.picture(
        "slice.png",
        f"{what}{results.at}.",
        lambda path: plots.field_slice(
            cut.points, cut.values, results.mesh, requested.quantity, path, name=words.symbol, unit=words.unit,
            blank=_blank(results), incident=travel,
        ),
    )  # fmt: skip


def _blank(results: Results) -> str:
    """The side of the surface on which the case has no field."""
    physics = results.file.case.physics
    if physics.definition.penetrable or not results.mesh.is_closed:
        return "none"
    return "outside" if physics.side == "interior" else "inside"


@panel("file.case.output.near_field")
def near_fields(results: Results, sheet: Sheet) -> None:
    """near_field_NAME.csv, of a sweep with a column of frequencies; grids of the last step as .vti, too."""
    for name, samples in results.steps[-1].near_fields.items():
        sheet.file(f"near_field_{name}.csv", partial(_write_by_frequency, results, name))
        if samples.places.image is not None:
            sheet.file(f"near_field_{name}.vti", samples.write)


def _write_by_frequency(results: Results, name: str, path: Path) -> None:
    arrays, *others = (step.near_fields[name].arrays for step in results.steps)
    if others:
        axis = Axis("frequency", np.array([_moment(step) for step in results.steps]), "Hz")
        arrays = stacked(axis, [arrays, *others])
    arrays.write_csv(path)
