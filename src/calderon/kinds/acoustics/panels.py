"""Panels of a case of sound: powers, directivity, the surface, a plane, responses in time."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import calderon.plots as plots
from calderon.data import Axis, Quantity
from calderon.data.labelled import stacked
from calderon.formulations.scenes import pattern_layer
from calderon.kinds.acoustics.band_panels import insertion_loss, levels, power_over_frequency, third_octaves
from calderon.kinds.acoustics.results import SoundResults, Step
from calderon.kinds.acoustics.room_panels import four_pole_accuracy, resonances, transmission_loss
from calderon.report import Sheet, panel
from calderon.report.formatting import (
    Column,
    decibels,
    frequency_text,
    mesh_numbers,
    number,
    plane_equation,
    power_parts,
)
from calderon.report.panels import second_mesh, unknowns
from calderon.report.scenes import evenly, facing, grid, opening, thinned_steps
from calderon.view import Field, Scene, Steps

CURVES = 5
"""Solved frequencies that have curves in one picture, evenly over the band."""

MOST_ROWS = 40
"""Rows of a table by frequency; files have all."""

DEPTH = 60.0
"""Decibels below the largest that a picture of levels shows at most."""
PARTS = {"abs": "Magnitude", "real": "Real part", "imag": "Imaginary part", "phase": "Phase", "db": "Level"}


def _shown(results: SoundResults) -> list[Step]:
    return [results.steps[n] for n in evenly(len(results.steps), CURVES)]


def _at(results: SoundResults, step: Step) -> str:
    return f" at {step.name}" if results.is_sweep else ""


@panel("steps")
def powers(results: SoundResults, sheet: Sheet) -> None:
    """The sound power that walls give, its error, and what walls absorb."""
    loudest = max((s for s in results.steps if s.power is not None), key=lambda s: s.power or 0.0, default=None)
    if loudest is not None and loudest.power is not None:
        name = f"{'largest ' if results.is_sweep else ''}sound power{_at(results, loudest)}"
        sheet.headline(name, *power_parts(loudest.power))
        level = 10 * np.log10(max(loudest.power, 1e-30) / 1e-12)
        sheet.headline("its level", decibels(level), "dB re 1 pW")
        if loudest.efficiency is not None:
            sheet.headline("radiation efficiency", number(loudest.efficiency))
    errors = [step.power_error for step in results.steps if step.power_error is not None]
    if errors:
        inside = results.file.case.acoustics.side == "interior"
        given = "given and absorbed" if inside else "by surface and by far field"
        name = f"error estimate: powers {given} differ by"
        sheet.headline(name, f"{100 * max(errors):.2g}", "%")
    if any(step.absorbed for step in results.steps):
        most = max(results.steps, key=lambda step: step.absorbed)
        taker = "the sheet takes" if results.is_sheet else "walls absorb"
        sheet.headline(f"power that {taker}{_at(results, most)}", *power_parts(most.absorbed))


@panel("file.case.output.directivity")
def directivity(results: SoundResults, sheet: Sheet) -> None:
    """Directivity by direction: the index, curves, files."""
    requested, steps = results.file.case.output.directivity, _shown(results)
    assert requested is not None
    curves = {step.name: step.directivity for step in steps if step.directivity is not None}
    widest = max(steps, key=lambda step: -np.inf if step.directivity is None else step.directivity.max())
    assert widest.directivity is not None
    degrees = float(np.degrees(requested.values[int(widest.directivity.argmax())]))
    at = f" at {widest.name}" if results.is_sweep else ""
    sheet.headline(f"directivity index at {degrees:.4g}°{at}", decibels(float(widest.directivity.max())), "dB")
    _beamwidths(results, sheet, widest, at)
    tables = []
    for step in results.steps:
        assert step.far is not None and step.directivity is not None
        size = [repr(step.frequency)] * len(step.far)
        at_one_metre = results.levels(step.far)
        tables.append(
            (size, np.degrees(requested.values), step.directivity, at_one_metre, step.far.real, step.far.imag)
        )
    names = (
        "frequency_Hz",
        "angle_deg",
        "directivity_dB",
        "level_at_1m_dB",
        "far_field_real_Pa_m",
        "far_field_imag_Pa_m",
    )
    columns: list[Any] = [
        np.concatenate(each) if n else sum(each, []) for n, each in enumerate(zip(*tables, strict=True))
    ]
    sheet.columns("directivity.csv", list(zip(names, columns, strict=True)))
    plane = requested.plane
    caption = f"Directivity in the {plane} plane, angles from +{plane[0]} toward +{plane[1]}."
    shown = {"calderon": next(iter(curves.values()))} if len(curves) == 1 else curves
    sheet.curves(
        "directivity_polar.png", caption,
        lambda path: plots.polar(requested.values, shown, "dB", path, quantity="directivity"),
    )  # fmt: skip
    sheet.cartesian(
        "directivity.png", "The same over the angle.", np.degrees(requested.values), shown,
        f"angle in the {plane} plane (degrees)", "directivity (dB)",
    )  # fmt: skip


def _beamwidths(results: SoundResults, sheet: Sheet, widest: Step, at: str) -> None:
    """The beamwidth of the step with the largest directivity index, and by frequency."""
    requested = results.file.case.output.directivity
    assert requested is not None
    if widest.beam is not None:
        sheet.headline(f"beamwidth{at}, down to \u2212{requested.drop:g} dB", _degrees(widest.beam[1]), "°")
    rows = [
        [step.name, decibels(float(step.directivity.max())), *map(_degrees, step.beam)]
        for step in results.steps
        if step.beam is not None and step.directivity is not None
    ]
    header = ["", "directivity index (dB)", "loudest direction (°)", f"beamwidth to \u2212{requested.drop:g} dB (°)"]
    if len(rows) > 1:
        sheet.table(f"Beams in the {requested.plane} plane", header, rows[:MOST_ROWS])


def _degrees(angle: float) -> str:
    return f"{np.degrees(angle):.3g}".replace("-", "\u2212")


@panel("steps")
def surface(results: SoundResults, sheet: Sheet) -> None:
    """The pressure on the surface: one file a solved frequency, pictures of the last one, and live views."""
    last = results.last
    several = len(results.steps) > 1 and results.band_error is None
    for n, step in enumerate(results.steps if several else [last], 1):
        sheet.file(f"surface_{n:02d}.vtu" if several else "surface.vtu", step.surface.write)
    quantities = results.file.case.output.surface
    sheet.view(lambda: surface_scene(results), *(f"surface_{each}.png" for each in quantities))
    for each in quantities:
        what = "the jump of the pressure across the sheet" if results.is_sheet else "the pressure on the surface"
        caption = f"{PARTS[each]} of {what}{_at(results, last)}."
        sheet.picture(f"surface_{each}.png", caption, partial(_draw_surface, last, each))
    patterns = [step for step in results.steps if step.pattern is not None]
    if patterns:
        sheet.view(lambda: _pattern_scene(patterns))


def _draw_surface(step: Step, quantity: str, path: Path) -> None:
    plots.surface(step.surface, quantity, path, renderer="matplotlib")


def _pattern_scene(steps: list[Step]) -> Scene:
    """The directivity in all directions."""
    finest = max((step.pattern.shape for step in steps if step.pattern is not None), key=lambda shape: shape[0])
    kept = [step for step in steps if step.pattern is not None and step.pattern.shape == finest]
    layer = pattern_layer(
        finest, [each.pattern.ravel() for each in kept if each.pattern is not None], "directivity", "dB"
    )
    slider = Steps("frequency", [step.name for step in kept]) if len(kept) > 1 else None
    caption = "Directivity in all directions: colour and radius, from 40 dB below the largest on."
    return Scene((layer,), length="", steps=slider, caption=caption)


def surface_scene(results: SoundResults) -> Scene:
    """The pressure on the surface at all solved frequencies, and in the plane where it is known."""
    layer: Any = results.last.surface.scene().layers[0]
    size = np.asarray(layer.fields[0].values[0]).size
    kept = [results.steps[n] for n in thinned_steps(len(results.steps), 2 * size)]
    scenes: list[Any] = [step.surface.scene().layers[0] for step in kept]
    shown = replace(
        layer.fields[0], symbol="p", values=[each.fields[0].values[0] for each in scenes], short=len(kept) > 4
    )
    layers, eye = [replace(layer, fields=(shown,))], None
    if (cut := results.last.plane) is not None:
        given = [None if step.plane is None else results.levels(_pressure(step.plane)).ravel() for step in kept]
        several = sum(each is not None for each in given) > 1
        drawn = Field("sound pressure level", "level", results.level_unit, given, level=True, short=several)
        if results.file.case.acoustics.side == "interior":
            layers = [replace(layers[0], open=opening(cut.points))]
        layers.append(grid(cut.points, [drawn], filled=True))
        eye = facing(opening(cut.points)[0])
    slider = Steps("frequency", [step.name for step in kept]) if len(kept) > 1 else None
    where = "Jump of the pressure across the sheet" if results.is_sheet else "Pressure on the surface"
    where += ", and level in the plane" if eye is not None else ""
    caption = f"{where}{' over frequency' if slider else _at(results, results.last)}. Drag to turn, point for values."
    return Scene(tuple(layers), steps=slider, eye=eye, caption=caption)


def _pressure(plane: Any) -> Any:
    return plane.arrays["pressure"]


@panel("file.case.output.slice")
def plane(results: SoundResults, sheet: Sheet) -> None:
    """slice.vti, slice.npz and slice.png at the highest frequency."""
    cut, requested = results.last.plane, results.file.case.output.slice
    if cut is None or requested is None:
        return
    pressure = _pressure(cut)
    sheet.plane("slice", cut.points, Quantity("pressure", pressure, "Pa", "pressure"))
    is_level = requested.quantity == "level"
    values = results.levels(pressure) if is_level else pressure
    name, unit = ("sound pressure level", results.level_unit) if is_level else ("p", "Pa")
    # next to a point source the level has no bound
    top = float(np.nanpercentile(values.real, 99.5 if results.file.case.source else 100.0)) if is_level else 0.0
    limits = (max(float(np.nanmin(values.real)), top - DEPTH), top) if is_level else None
    inside = results.file.case.acoustics.side == "interior"
    blank = "outside" if inside else "inside"
    words = {"level": "Sound pressure level", "abs": "Magnitude of the pressure", "phase": "Phase of the pressure"}
    what = words.get(
        requested.quantity, f"{'Real' if requested.quantity == 'real' else 'Imaginary'} part of the pressure"
    )
    sheet.picture(
        "slice.png",
        f"{what} in the plane {plane_equation(cut.points)}{_at(results, results.last)}.",
        lambda path: plots.field_slice(
            cut.points, values, results.mesh, requested.quantity, path, name=name, unit=unit, blank=blank, limits=limits
        ),
    )


@panel("response")
def impulse(results: SoundResults, sheet: Sheet) -> None:
    """Responses at the points in time, and their sound file."""
    response = results.response
    assert response is not None
    samples, times = response.samples, response.times
    columns: list[Column] = [("time_s", times)]
    columns += [(f"response_{n + 1}_Pa", samples[:, n]) for n in range(samples.shape[1])]
    sheet.columns("impulse.csv", columns)
    if response.rate == round(response.rate):
        sheet.file("impulse.wav", response.write_wav)
    curves = {f"point {n + 1}": samples[:, n] for n in range(min(4, samples.shape[1]))}
    sheet.cartesian(
        "impulse.png", "Response in time to a unit sample of the velocity or source.", 1e3 * times, curves,
        "time (ms)", "pressure (Pa)",
    )  # fmt: skip


@panel("file.case.output.near_field")
def near_fields(results: SoundResults, sheet: Sheet) -> None:
    """near_field_NAME.csv, of a sweep with a column of frequencies; grids of the last step as .vti, too."""
    for name, samples in results.last.near.items():
        sheet.file(f"near_field_{name}.csv", partial(_write_by_frequency, results, name))
        if samples.places.image is not None:
            sheet.file(f"near_field_{name}.vti", samples.write)


def _write_by_frequency(results: SoundResults, name: str, path: Any) -> None:
    arrays, *others = (step.near[name].arrays for step in results.steps)
    if others:
        axis = Axis("frequency", np.array([step.frequency for step in results.steps]), "Hz")
        arrays = stacked(axis, [arrays, *others])
    arrays.write_csv(path)


@panel("steps")
def solution(results: SoundResults, sheet: Sheet) -> None:
    """The solved frequencies and parts of the surface."""
    steps, last = results.steps, results.last
    sheet.numbers["steps"] = [_entries(step) for step in steps]
    sheet.headline("elements per wavelength", f"{min(step.elements_per_wavelength for step in steps):.1f}")
    if results.band_error is not None:
        sheet.headline("solved frequencies", f"{len(steps)} of {len(results.frequencies)}")
        sheet.number("error_between_solved_frequencies", results.band_error)
    rows = [
        [
            part.name,
            "" if part.impedance is None else _complex_text(part.impedance / last.fluid_impedance),
            "" if part.absorbed is None else number(part.absorbed),
        ]
        for part in last.parts
    ]
    if any(each[1] or each[2] for each in rows):
        header = ["", "radiation impedance over ρc", "absorbed power (W)"]
        sheet.table(f"Parts of the surface{_at(results, last)}", header, rows)


@panel("mesh")
def fluid_and_mesh(results: SoundResults, sheet: Sheet) -> None:
    """The fluid at the highest frequency, and the mesh."""
    fluid = results.problem.fluid
    sheet.number("mesh", mesh_numbers(results.mesh))
    block = "Fluid"
    sheet.fact(block, "density", fluid.density, "kg/m³", key="fluid.density_kg_per_m3")
    sheet.fact(block, "speed of sound", fluid.speed_of_sound, "m/s", key="fluid.speed_of_sound_m_per_s")
    if fluid.loss:
        sheet.fact(block, "loss", fluid.loss, key="fluid.loss")
    block = "Mesh"
    sheet.fact(block, "triangles", results.mesh.number_of_triangles)
    sheet.fact(block, "area", float(results.mesh.area), "m²")
    sheet.fact(block, "mean edge length", float(results.mesh.mean_edge_length), "m")
    name = f"wavelength at {frequency_text(float(results.frequencies.max()))}"
    sheet.fact(block, name, 2 * np.pi / abs(results.problem.wavenumber), "m")


def _complex_text(value: complex) -> str:
    """Three digits of both parts, i as in exp(-i omega t)."""
    return f"{value.real:.3g} {'+' if value.imag >= 0 else chr(0x2212)} {abs(value.imag):.3g}i"


def _entries(step: Step) -> dict[str, Any]:
    """The entries of summary.json on a solved frequency; keys carry the units."""
    entries: dict[str, Any] = {
        "frequency_Hz": step.frequency,
        "sound_power_W": step.power,
        "absorbed_power_W": step.absorbed or None,
        "difference_of_powers": step.power_error,
        "radiation_efficiency": step.efficiency,
        "elements_per_wavelength": step.elements_per_wavelength,
        "unknowns": step.info.unknowns,
        "iterations": step.info.iterations,
        "relative_residual": float(step.info.residual),
        "assembly_s": round(step.info.assembly_seconds, 4),
        "solution_s": round(step.info.factorisation_seconds + step.info.solve_seconds, 4),
    }
    for part in step.parts:
        if part.impedance is not None:
            entries[f"radiation_impedance_of_{part.name}_Pa_s_per_m"] = [part.impedance.real, part.impedance.imag]
        if part.absorbed is not None:
            entries[f"absorbed_power_of_{part.name}_W"] = part.absorbed
    return {name: value for name, value in entries.items() if value is not None}


PANELS = (
    insertion_loss, transmission_loss, levels, powers, directivity, third_octaves, resonances, power_over_frequency,
    four_pole_accuracy, second_mesh, surface, plane, impulse, near_fields, unknowns, solution, fluid_and_mesh,
)  # fmt: skip
"""In the order in which they appear."""
