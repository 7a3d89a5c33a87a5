"""Panels and live views of fields: on the surface, in a plane, and at points."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import calderon.plots as plots
from calderon.data import Axis, Quantity
from calderon.data.labelled import stacked
from calderon.data.paraview import write_collection
from calderon.formulations.ports.port_arrows import slot_arrow
from calderon.formulations.scenes import pattern_layer
from calderon.kinds.surface.results import Results, Slice, Source, Step
from calderon.report import Sheet, panel
from calderon.report.formatting import plane_equation
from calderon.report.scenes import facing, grid, incident_arrows, opening, thinned_steps
from calderon.spaces import Function, VectorFunction
from calderon.view import Arrows, Field, Scene, Steps, Surface

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
    case, words = results.file.case, results.words
    cut, requested = results.steps[-1].slice, case.output.slice
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


def surface_scene(results: Results) -> Scene:
    """The surface at all frequencies and for all incident waves, and the plane where it is known."""
    steps, case, words = results.steps, results.file.case, results.words
    pairs = [(step, source) for step in steps for source in step.sources]
    layer: Any = steps[-1].surface.scene().layers[0]
    shown: Field = layer.fields[0]
    last = np.asarray(shown.values[0])
    kept = [pairs[n] for n in thinned_steps(len(pairs), last.size * 2)]
    shapes: list[Any] = [source.surface.scene().layers[0] for _, source in kept]
    values = [each.fields[0].values[0] for each in shapes]
    wanted = case.output.surface[0] if case.output.surface else shown.quantity
    cut, only_plane = steps[-1].slice, not case.output.surface
    if only_plane and cut is not None and case.output.slice is not None and cut.vectors is None:
        wanted = case.output.slice.quantity
    symbol = words.symbol if shown.name == words.field else shown.symbol
    first = wanted if np.iscomplexobj(last) else "real"
    shown = replace(shown, symbol=symbol, values=values, quantity=first, short=len(kept) > 4)
    layer = replace(layer, fields=(shown,))
    layers: list[Any] = [layer]
    eye = None
    if cut is not None and case.output.slice is not None:
        given = [_in_plane(source.slice) for _, source in kept]
        several = sum(each is not None for each in given) > 1
        solid = not (case.physics.side == "interior" or case.physics.definition.penetrable)
        drawn = Field(words.field, words.symbol, words.unit, given, short=several)
        if not solid:
            layers = _opened(results, layer, opening(cut.points))
        closed = len(layers) == 1 and results.mesh.is_closed and _blank(results) == "inside"
        side = "outside" if closed else ""
        layers.append(grid(cut.points, [drawn], not only_plane, solid or len(layers) > 1, side))
        eye = facing(opening(cut.points)[0]) if only_plane else None
    return Scene(
        tuple(layers), steps=_steps(results, kept), eye=eye, flags=not case.physics.wave, arrows=_sources(results),
        caption=_caption(results, shown.name, cut is not None),
    )  # fmt: skip


def _polarisation(case: Any) -> Any:
    """The electric field of the incident wave; None for sound."""
    return case.incident.polarized[1] if case.incident.polarization is not None else None


def _opened(results: Results, layer: Surface, plane: tuple[Any, float]) -> list[Any]:
    """The surface, opened at the plane, and whole rigid bodies, within which there is no field."""
    mesh, tags = results.mesh, results.file.case.physics.rigid
    if not tags or layer.fields[0].on != "vertices" or not mesh.restricted(tags).is_closed:
        return [replace(layer, open=plane)]
    rigid = np.isin(mesh.tags, mesh.tag_numbers(tags))
    parts = [
        replace(layer, name=name, triangles=layer.triangles[own], numbers=np.flatnonzero(own))
        for name, own in (("fluid", ~rigid), ("rigid", rigid))
    ]
    return [replace(parts[0], open=plane), parts[1]]


def _in_plane(cut: Slice | None) -> Any:
    if cut is None:
        return None
    return cut.values.ravel() if cut.vectors is None else cut.vectors.reshape(-1, 3)


def _steps(results: Results, kept: list[tuple[Step, Source]]) -> Steps | None:
    """The slider: over frequencies, the last one first; over incident waves, that of [incident] first; or over both."""
    if len(kept) == 1:
        return None
    if len(results.steps[-1].sources) == 1:
        names = [step.name for step, _ in kept]
        return Steps("frequency", names, results.shown_first(names))
    if len(results.steps) == 1:
        return Steps("source", [source.name for _, source in kept], 0, own=True)
    first = next((n for n, (step, _) in enumerate(kept) if step is results.steps[-1]), -1)
    return Steps("frequency, source", [f"{step.name}, {source.name}" for step, source in kept], first, own=True)


def _caption(results: Results, name: str, plane: bool) -> str:
    where = f"{name[:1].upper()}{name[1:]} on the surface"
    if plane:
        where += f", and {results.words.field} in the plane"
    steps = results.steps
    at = "" if not steps[-1].name else f" at {steps[-1].name}" if len(steps) == 1 else " over frequency"
    if len(steps[-1].sources) > 1:
        at += " for each incident wave"
    return f"{where}{at}. Drag to turn, point at the surface for values."


def _sources(results: Results) -> tuple[Arrows, ...]:
    """Arrows of the incident wave, if there is one alone, or of the feed of an antenna."""
    case = results.file.case
    if case.physics.feed is not None:
        gap = case.physics.feed.gap
        return (slot_arrow(gap, results.mesh, gap.name or "feed"),)
    travel = None if case.incident is None else case.incident.travel
    if travel is None or len(results.steps[-1].sources) > 1:
        return ()
    return (incident_arrows(results.mesh, travel, _polarisation(case)),)


def pattern_scene(results: Results) -> Scene:
    """The level in all directions at all frequencies."""
    steps, level = results.steps, results.level
    shape = next(step.pattern.shape for step in steps if step.pattern is not None)
    kept = thinned_steps(len(steps), shape[0] * shape[1])
    names = [steps[n].name for n in kept]
    frequencies = Steps("frequency", names, results.shown_first(names)) if len(kept) > 1 else None
    values = [each.ravel() if (each := steps[n].pattern) is not None else None for n in kept]
    name = level.name if steps[0].impedance is not None else f"bistatic {level.name}"
    layer = pattern_layer(shape, values, name, level.unit)
    caption = f"{name[:1].upper()}{name[1:]} in all directions: colour and radius, from 40 dB below the largest on."
    return Scene((layer,), length="", steps=frequencies, caption=caption)
