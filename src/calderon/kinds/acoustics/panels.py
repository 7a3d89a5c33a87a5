"""Panels of a case of sound: powers, directivity, the surface, a plane, responses in time."""

from typing import Any

import numpy as np

import calderon.plots as plots
from calderon.kinds.acoustics.band_panels import insertion_loss, third_octaves
from calderon.kinds.acoustics.results import SoundResults, Step
from calderon.kinds.acoustics.room_panels import four_pole_accuracy, resonances, transmission_loss
from calderon.report import Sheet, panel
from calderon.report.formatting import (
    Column,
    decibels,
    frequency_text,
    mesh_numbers,
    number,
    power_parts,
)
from calderon.report.panels import second_mesh, unknowns
from calderon.report.scenes import evenly
from calderon.report.sound.panels import (
    levels,
    loudest_power,
    near_fields,
    plane,
    power_error,
    power_over_frequency,
    surface,
)

CURVES = 5
"""Solved frequencies that have curves in one picture, evenly over the band."""

MOST_ROWS = 40
"""Rows of a table by frequency; files have all."""


def _shown(results: SoundResults) -> list[Step]:
    return [results.steps[n] for n in evenly(len(results.steps), CURVES)]


@panel("steps")
def powers(results: SoundResults, sheet: Sheet) -> None:
    """The sound power that walls give, its error, and what walls absorb."""
    loudest = loudest_power(results, sheet)
    if loudest is not None and loudest.efficiency is not None:
        sheet.headline("radiation efficiency", number(loudest.efficiency))
    power_error(results, sheet, f"powers {'given and absorbed' if results.is_room else 'by surface and by far field'}")
    if any(step.absorbed for step in results.steps):
        most = max(results.steps, key=lambda step: step.absorbed)
        taker = "the sheet takes" if results.is_sheet else "walls absorb"
        sheet.headline(f"power that {taker}{results.at(most)}", *power_parts(most.absorbed))


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
        sheet.table(f"Parts of the surface{results.at(last)}", header, rows)


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
