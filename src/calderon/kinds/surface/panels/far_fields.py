"""Panels of far fields, their levels by direction and over frequency, and of the impedance of a fed antenna."""

import shutil
from functools import partial

import numpy as np
from numpy.typing import NDArray

import calderon.plots as plots
from calderon.formulations.ports.port_sweep import write_touchstone
from calderon.kinds.surface.model import FarField
from calderon.kinds.surface.panels.fields import pattern_scene
from calderon.kinds.surface.references import COMPARED, mean_difference
from calderon.kinds.surface.results import Results, Step
from calderon.report import Sheet, panel
from calderon.report.formatting import Column, Level, decibels, decibels_of_power, frequency_text, ohms
from calderon.report.reflection import (
    LINE,
    accepted,
    bandwidth,
    headline_bandwidth,
    reflection,
    standing_wave_ratio,
)
from calderon.report.scenes import evenly

Curves = dict[str, NDArray[np.float64]]


@panel("steps")
def bistatic(results: Results, sheet: Sheet) -> None:
    """Levels by the direction of observation; of an antenna its gain."""
    output, steps, level = results.file.case.output, results.steps, results.level
    fed = steps[0].impedance is not None
    if any(step.pattern is not None for step in steps):
        sheet.view(lambda: pattern_scene(results))
    if (requested := output.far_field) is None:
        return
    known = [step for step in steps if step.strength is not None]
    strongest = max(known, key=_largest)
    if results.resonance is not None:
        strongest = known[results.shown_first([step.name for step in known])]
    assert strongest.strength is not None
    degrees = float(np.degrees(requested.values[int(np.argmax(strongest.strength))]))
    at = f"at {degrees if degrees < 360 - 1e-9 else degrees - 360:.4g}°"
    at += f" and {strongest.name}" if len(steps) > 1 else f" in the {requested.plane} plane"
    what = level.name if fed else f"bistatic {level.name}"
    sheet.headline(f"largest {what}, {at}", decibels(_largest(strongest)), level.unit)
    if len(steps) == 1 and steps[0].backward is not None:
        sheet.headline(f"{level.name} back toward the source", decibels(steps[0].backward), level.unit)
    sheet.columns("far_field.csv", lambda: results.columns(lambda step: _far_field(level, step, requested)))
    curves = {step.name: step.strength for step in spread(steps) if step.strength is not None}
    curves = {"calderon": next(iter(curves.values()))} if len(steps) == 1 else curves
    exact = steps[0].exact_strength if len(steps) == 1 else None
    plane, away = requested.plane, requested.distance
    where = f"the {plane} plane" if away is None else f"the {plane} plane, {away:.6g} m from the origin"
    what = level.name.capitalize() if fed else f"Bistatic {level.name}"
    turning = f"{what} in {where}, angles from +{plane[0]} toward +{plane[1]}."
    _pair(results, sheet, "far_field", level.name, curves, turning, exact)


def _largest(step: Step) -> float:
    assert step.strength is not None
    return float(step.strength.max())


def _far_field(level: Level, step: Step, requested: FarField) -> list[Column]:
    """Level and complex far field over the angle."""
    assert step.strength is not None
    columns: list[Column] = [("angle_deg", np.degrees(requested.values)), (level.column(), step.strength)]
    for (name, unit), values in step.far_field.items():
        columns += [(f"{name}_real_{unit}", values.real), (f"{name}_imag_{unit}", values.imag)]
    if step.exact_strength is not None:
        columns.append((f"exact_{level.column()}", step.exact_strength))
    return columns


@panel("file.case.output.monostatic")
def monostatic(results: Results, sheet: Sheet) -> None:
    """Levels by the direction toward the device, by polarisation."""
    steps, level, requested = results.steps, results.level, results.file.case.output.monostatic
    assert requested is not None
    for pair in steps[0].monostatic:
        largest = max(float(step.monostatic[pair].max()) for step in steps)
        sheet.headline(
            f"largest monostatic {level.name}" + (f", {pair}" if pair else ""), decibels(largest), level.unit
        )

    def columns(step: Step) -> list[Column]:
        levels = [(level.column(pair), values) for pair, values in step.monostatic.items()]
        return [("angle_deg", np.degrees(requested.values)), *levels]

    sheet.columns("monostatic.csv", lambda: results.columns(columns))
    curves = {
        ", ".join(filter(None, ["" if len(steps) == 1 else step.name, pair])): levels
        for step in spread(steps)
        for pair, levels in step.monostatic.items()
    }
    caption = f"Monostatic {level.name}, by the direction toward the {results.words.device}."
    _pair(results, sheet, "monostatic", f"monostatic {level.name}", curves, caption)


@panel("references")
def references(results: Results, sheet: Sheet) -> None:
    """Mean differences to curves of files, and these files."""
    for one in results.file.case.output.reference:
        if (difference := mean_difference(results, one)) is not None:
            name = f"mean difference to “{one.label}” down to {COMPARED:.0f} dB below its maximum"
            sheet.headline(name, f"{difference:.2f}", "dB")
    for source in {results.file.path_of(one.file) for one in results.file.case.output.reference}:
        sheet.file(source.name, partial(shutil.copyfile, source))


def _pair(
    results: Results,
    sheet: Sheet,
    curve: str,
    quantity: str,
    curves: Curves,
    caption: str,
    exact: NDArray[np.float64] | None = None,
) -> None:
    """The polar and the Cartesian picture of "far_field" or "monostatic" levels, with their references."""
    requested = getattr(results.file.case.output, curve)
    if results.references.get(curve) and len(results.steps) == 1:
        curves = {f"calderon, {label}" if label != "calderon" else label: values for label, values in curves.items()}
    references, unit = results.references.get(curve, {}), results.level.unit
    along = _travel_angle(results, requested.plane) if curve == "far_field" else None
    turned = {label: (np.radians(x), y) for label, (x, y) in references.items()}
    sheet.curves(
        f"{curve}_polar.png",
        caption,
        lambda path: plots.polar(
            requested.values, curves, unit, path, exact=exact, quantity=quantity, incident=along, references=turned
        ),
        along,
    )
    over = "angle of observation" if curve == "far_field" else "aspect angle"
    compared = f" For comparison: {'; '.join(references)}." if references else ""
    angle = f"{'observation' if curve == 'far_field' else 'aspect'} angle in the {requested.plane} plane (degrees)"
    sheet.cartesian(
        f"{curve}.png", f"The same over the {over}.{compared}", np.degrees(requested.values), curves, angle,
        f"{quantity} ({unit})", exact=exact, references=references, limits=_levels(curves),
    )  # fmt: skip


@panel("is_sweep")
def levels_over_frequency(results: Results, sheet: Sheet) -> None:
    """The largest levels of a sweep over frequency."""
    steps, level = results.steps, results.level
    frequencies, axis = results.frequency_axis
    largest = np.array([np.max(step.strength) for step in steps if step.strength is not None])
    impedances = np.array([step.impedance for step in steps if step.impedance is not None])
    backward = [step.backward for step in steps if step.backward is not None]
    if not len(largest):
        return
    curves = {"largest": largest} | ({"back toward the source": np.array(backward)} if backward else {})
    if len(impedances):
        curves["largest realised"] = largest + decibels_of_power(accepted(reflection(impedances)))
    what = level.name.capitalize() if len(impedances) else f"Bistatic {level.name}"
    caption = f"{what} over frequency: {' and '.join(curves)}."
    sheet.cartesian(
        "sweep.png", caption, frequencies, curves, axis, f"{level.name} ({level.unit})", marks=results.marks
    )


def _travel_angle(results: Results, plane: str) -> float | None:
    """The angle in a plane along which a plane wave travels; None where it leaves the plane by more than a degree."""
    incident = results.file.case.incident
    along = None if incident is None else incident.travel
    if along is None:
        return None
    first, second = along["xyz".index(plane[0])], along["xyz".index(plane[1])]
    return float(np.arctan2(second, first)) if np.hypot(first, second) > np.cos(np.radians(1)) else None


def spread(steps: tuple[Step, ...]) -> list[Step]:
    """At most five steps, evenly over the sweep, including the first and last."""
    return [steps[n] for n in evenly(len(steps), 5)]


def _levels(curves: dict[str, np.ndarray]) -> tuple[float, float]:
    """A range of decibels that shows the lobes: deep nulls are cut at 60 dB below the largest value."""
    values = np.concatenate([np.asarray(curve) for curve in curves.values()])
    high = float(np.max(values))
    low = max(float(np.min(values)), high - 60)
    return low - 2, high + 2


@panel("impedances")
def impedance(results: Results, sheet: Sheet) -> None:
    steps, impedances = results.steps, results.impedances
    s = reflection(impedances)
    levels = decibels_of_power(np.abs(s) ** 2)
    if len(steps) == 1:
        sheet.headline("input impedance", ohms(complex(impedances[0])), "Ω")
    if results.resonance is not None:
        value, unit = frequency_text(results.resonance[0]).split()
        sheet.headline("resonance of the input impedance", value, unit)
        sheet.headline("resistance there", f"{results.resonance[1]:.1f}", "Ω")
    least = int(np.abs(s).argmin())
    name = f"{'least ' if len(steps) > 1 else ''}S11 on {LINE:g} Ω, at {steps[least].name}"
    sheet.headline(name, decibels(float(levels[least])), "dB")
    if steps[0].frequency is not None:
        headline_bandwidth(sheet, bandwidth(results.moments[1], levels))
    resistance, reactance = impedances.real, -impedances.imag
    waves, matched = results.moments, (("S11_dB", levels), ("VSWR", standing_wave_ratio(s)))
    sheet.columns("impedance.csv", [waves, ("resistance_ohm", resistance), ("reactance_ohm", reactance), *matched])
    if steps[0].frequency is None:
        return
    sheet.file("antenna.s1p", lambda path: write_touchstone(path, waves[1], s[:, None, None], LINE))
    if len(steps) == 1:
        return
    frequencies, axis = results.frequency_axis
    parts = {"resistance": resistance, "reactance": reactance}
    caption, line = "Input impedance over frequency.", f"a line of {LINE:g} Ω"
    sheet.cartesian("impedance.png", caption, frequencies, parts, axis, "input impedance (Ω)", marks=results.marks)
    caption = f"Magnitude of S11, the reflection on {line}."
    sheet.cartesian(
        "reflection.png", caption, frequencies, {"": levels}, axis, "magnitude of S11 (dB)", marks=results.marks
    )
    caption = f"Reflection on {line}, with the resistance and reactance in parts of that, inductive ones above."
    ends = steps[0].name, steps[-1].name
    sheet.picture("smith.png", caption, lambda path: plots.smith({"S11": s}, path, ends=ends))
