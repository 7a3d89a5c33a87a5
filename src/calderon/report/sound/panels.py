"""Panels of sound over frequency, which several kinds of cases have: levels at points, powers, the surface, a plane."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import calderon.plots as plots
from calderon.data import Axis, Quantity
from calderon.data.labelled import stacked
from calderon.formulations.scenes import pattern_layer
from calderon.report.formatting import (
    Column,
    decibels,
    frequency_text,
    number,
    plane_equation,
    power_parts,
    vector_text,
)
from calderon.report.scenes import facing, grid, opening, thinned_steps
from calderon.report.sheet import Sheet, panel
from calderon.report.sound.results import SoundBand, SoundStep, power_levels
from calderon.view import Field, Scene, Steps

DEPTH = 60.0
"""Decibels below the largest that a picture of levels shows at most."""
PARTS = {"abs": "Magnitude", "real": "Real part", "imag": "Imaginary part", "phase": "Phase", "db": "Level"}
"""Parts of a pressure in captions."""
SHOWN = 8
"""Points that have curves or rows."""


def point_names(results: SoundBand[Any]) -> list[str]:
    return [f"{n}: {vector_text(each)} m" for n, each in enumerate(results.file.case.output.points, 1)]


def solved_points(results: SoundBand[Any], values: NDArray[np.float64]) -> dict[str, Any]:
    """Points of a picture at the solved frequencies, values (n,) in its unit; none where all are solved."""
    if results.band_error is None:
        return {}
    hertz = np.array([step.frequency for step in results.steps])
    return {"solved": (hertz / results.frequency_axis[0], values + results.weights(hertz))}


@panel("file.case.output.points")
def levels(results: SoundBand[Any], sheet: Sheet) -> None:
    """Levels at points: the largest, a table, a file, and spectra with the solved frequencies."""
    every = results.levels(results.pressures) + results.weights(results.frequencies)[:, None]
    names, unit = point_names(results), results.weighted_unit(results.level_unit)
    for n, name in enumerate(names[:2]):
        loudest = int(every[:, n].argmax())
        text = f"level at point {name}"
        if results.is_sweep:
            text = f"largest {text}, at {frequency_text(results.frequencies[loudest])}"
        sheet.headline(text, decibels(every[loudest, n]), unit)
    key = "levels_dBA" if results.is_weighted else "levels_dB"
    sheet.numbers[key] = every.tolist()
    columns: list[Column] = [("frequency_Hz", results.frequencies)]
    for n in range(len(names)):
        value = results.pressures[:, n]
        columns += [
            (f"level_{n + 1}_{key.removeprefix('levels_')}", every[:, n]), (f"pressure_{n + 1}_real_Pa", value.real),
            (f"pressure_{n + 1}_imag_Pa", value.imag),
        ]  # fmt: skip
    sheet.columns("levels.csv", columns)
    if not results.is_sweep:
        rows = [[name, decibels(every[0, n]), number(abs(results.pressures[0, n]))] for n, name in enumerate(names)]
        sheet.table("Points", ["", f"level ({unit})", "peak pressure (Pa)"], rows)
        return
    factor, axis = results.frequency_axis
    first = results.levels(np.array([step.pressures[0] for step in results.steps]))
    curves = {name: every[:, n] for n, name in enumerate(names[:SHOWN])}
    caption = f"Sound pressure level at {'the point' if len(names) == 1 else 'points'} over frequency."
    sheet.cartesian(
        "levels.png", caption, results.frequencies / factor, curves, axis, f"sound pressure level ({unit})",
        references=solved_points(results, first),
    )  # fmt: skip


def loudest_power(results: SoundBand[Any], sheet: Sheet) -> Any:
    """Headlines of the largest sound power and its level; the step that has it, None without."""
    loudest = max((s for s in results.steps if s.power is not None), key=lambda s: s.power or 0.0, default=None)
    if loudest is not None and loudest.power is not None:
        name = f"{'largest ' if results.is_sweep else ''}sound power"
        sheet.headline(f"{name}{results.at(loudest)}", *power_parts(loudest.power))
        sheet.headline(f"level of the {name}", decibels(float(power_levels(loudest.power))), "dB re 1 pW")
    return loudest


def power_error(results: SoundBand[Any], sheet: Sheet, what: str) -> None:
    """The headline of the largest relative difference of two powers; what: names of both."""
    errors = [step.power_error for step in results.steps if step.power_error is not None]
    if errors:
        sheet.error(f"error estimate: {what} differ by", max(errors))


@panel("is_sweep")
def power_over_frequency(results: SoundBand[Any], sheet: Sheet) -> None:
    """The sound power level over frequency."""
    if not len(results.powers):
        return
    factor, axis = results.frequency_axis
    unit = results.weighted_unit("dB re 1 pW")
    given = power_levels([step.power or 0.0 for step in results.steps])
    sheet.cartesian(
        "power.png", "Sound power level over frequency.", results.frequencies / factor,
        {"" if results.band_error is None else "sound power level": results.power_levels}, axis,
        f"sound power level ({unit})", references=solved_points(results, given),
    )  # fmt: skip
    columns = [("frequency_Hz", results.frequencies), ("sound_power_W", results.powers)]
    name = "sound_power_level_dBA" if results.is_weighted else "sound_power_level_dB"
    sheet.columns("power.csv", [*columns, (name, results.power_levels)])


@panel("steps")
def surface(results: SoundBand[Any], sheet: Sheet) -> None:
    """The pressure on the surface: one file a solved frequency, pictures of the last one, and live views."""
    last = results.last
    several = len(results.steps) > 1 and results.band_error is None
    for n, step in enumerate(results.steps if several else [last], 1):
        sheet.file(f"surface_{n:02d}.vtu" if several else "surface.vtu", step.surface.write)
    quantities = results.file.case.output.surface
    sheet.view(lambda: surface_scene(results), *(f"surface_{each}.png" for each in quantities))
    for each in quantities:
        what = "the jump of the pressure across the sheet" if results.is_sheet else "the pressure on the surface"
        caption = f"{PARTS[each]} of {what}{results.at(last)}."
        sheet.picture(f"surface_{each}.png", caption, partial(_draw_surface, last, each))
    patterns = [step for step in results.steps if step.pattern is not None]
    if patterns:
        sheet.view(lambda: _pattern_scene(patterns))


def _draw_surface(step: SoundStep, quantity: str, path: Path) -> None:
    plots.surface(step.surface, quantity, path, renderer="matplotlib")


def _pattern_scene(steps: list[SoundStep]) -> Scene:
    """The directivity in all directions."""
    finest = max((step.pattern.shape for step in steps if step.pattern is not None), key=lambda shape: shape[0])
    kept = [step for step in steps if step.pattern is not None and step.pattern.shape == finest]
    layer = pattern_layer(
        finest, [each.pattern.ravel() for each in kept if each.pattern is not None], "directivity", "dB"
    )
    slider = _frequencies(kept)
    caption = "Directivity in all directions: colour and radius, from 40 dB below the largest on."
    return Scene((layer,), length="", steps=slider, caption=caption)


def _frequencies(steps: list[SoundStep], own: bool = False) -> Steps | None:
    """The slider over frequencies, first at that of the largest sound power; own: as of `Steps`."""
    if len(steps) < 2:
        return None
    powers = [-1.0 if step.power is None else step.power for step in steps]
    first = int(np.argmax(powers)) if max(powers) > 0 else -1
    return Steps("frequency", [step.name for step in steps], first, own=own)


def surface_scene(results: SoundBand[Any]) -> Scene:
    """The pressure on the surface at all solved frequencies, and in the plane where it is known."""
    layer: Any = results.last.surface.scene().layers[0]
    size = np.asarray(layer.fields[0].values[0]).size
    kept = [results.steps[n] for n in thinned_steps(len(results.steps), 2 * size)]
    scenes: list[Any] = [step.surface.scene().layers[0] for step in kept]
    shown = replace(
        layer.fields[0], symbol="p", values=[each.fields[0].values[0] for each in scenes], short=len(kept) > 4
    )
    layers, eye, several = [replace(layer, fields=(shown,))], None, False
    if (cut := results.last.plane) is not None:
        given = [None if step.plane is None else results.levels(pressure_of(step.plane)).ravel() for step in kept]
        several = sum(each is not None for each in given) > 1
        drawn = Field("sound pressure level", "level", results.level_unit, given, level=True, short=several)
        if results.blank != "inside" or results.outline is not results.mesh:
            layers = [replace(layers[0], open=opening(cut.points))]
        hidden = bool(results.file.case.output.surface) and not results.is_room  # of a room one looks inside
        layers.append(grid(cut.points, [drawn], hidden=hidden, filled=True))
        eye = facing(opening(cut.points)[0])
    slider = _frequencies(kept, own=True)
    where = "Jump of the pressure across the sheet" if results.is_sheet else "Pressure on the surface"
    if eye is not None:
        where += f", and level in the plane{'' if several else results.at(results.last)}"
    caption = f"{where}{' over frequency' if slider else results.at(results.last)}. Drag to turn, point for values."
    return Scene(tuple(layers), steps=slider, eye=eye, caption=caption)


def pressure_of(plane: Any) -> Any:
    return plane.arrays["pressure"]


@panel("file.case.output.slice")
def plane(results: SoundBand[Any], sheet: Sheet) -> None:
    """slice.vti, slice.npz and slice.png at the highest frequency."""
    cut, requested = results.last.plane, results.file.case.output.slice
    if cut is None or requested is None:
        return
    pressure = pressure_of(cut)
    sheet.plane("slice", cut.points, Quantity("pressure", pressure, "Pa", "pressure"))
    is_level = requested.quantity == "level"
    values = results.levels(pressure) if is_level else pressure
    name, unit = ("sound pressure level", results.level_unit) if is_level else ("p", "Pa")
    # next to a point source the level has no bound
    unbounded = any(one.kind != "plane-wave" for one in results.file.case.source)
    top = float(np.nanpercentile(values.real, 99.5 if unbounded else 100.0)) if is_level else 0.0
    limits = (max(float(np.nanmin(values.real)), top - DEPTH), top) if is_level else None
    words = {"level": "Sound pressure level", "abs": "Magnitude of the pressure", "phase": "Phase of the pressure"}
    what = words.get(
        requested.quantity, f"{'Real' if requested.quantity == 'real' else 'Imaginary'} part of the pressure"
    )
    sheet.picture(
        "slice.png",
        f"{what} in the plane {plane_equation(cut.points)}{results.at(results.last)}.",
        lambda path: plots.field_slice(
            cut.points,
            values,
            results.outline,
            requested.quantity,
            path,
            name=name,
            unit=unit,
            blank=results.blank,
            limits=limits,
        ),
    )


@panel("file.case.output.near_field")
def near_fields(results: SoundBand[Any], sheet: Sheet) -> None:
    """near_field_NAME.csv, of a sweep with a column of frequencies; grids of the last step as .vti, too."""
    for name, samples in results.last.near.items():
        sheet.file(f"near_field_{name}.csv", partial(_write_by_frequency, results, name))
        if samples.places.image is not None:
            sheet.file(f"near_field_{name}.vti", samples.write)


def _write_by_frequency(results: SoundBand[Any], name: str, path: Any) -> None:
    arrays, *others = (step.near[name].arrays for step in results.steps)
    if others:
        axis = Axis("frequency", np.array([step.frequency for step in results.steps]), "Hz")
        arrays = stacked(axis, [arrays, *others])
    arrays.write_csv(path)
