"""The page on a problem on surfaces: the first numbers, a sentence and tables."""

import re
from itertools import pairwise
from typing import Any

import numpy as np

from calderon.exact import VACUUM_PERMITTIVITY
from calderon.report.formatting import (
    Level,
    Row,
    decibels,
    decibels_of_power,
    frequency_text,
    frequency_unit,
    number,
    ohms,
    vector_text,
)
from calderon.report.page import blocks, equation, wide_table
from calderon.report.reflection import LINE, reflection, standing_wave_ratio
from calderon.report.surface.references import DEPTH, mean_difference
from calderon.report.surface.results import Results, Step


def headlines(results: Results, seconds: dict[str, float]) -> list[Row]:
    """The numbers that a reader needs first."""
    steps = results.steps
    level = results.level
    cards: list[Row] = []
    requested = results.file.case.output.far_field
    strongest = max((step for step in steps if step.strength is not None), key=_largest, default=None)
    if strongest is not None and requested is not None and strongest.strength is not None:
        degrees = float(np.degrees(requested.values[int(np.argmax(strongest.strength))]))
        at = f"at {degrees if degrees < 360 - 1e-9 else degrees - 360:.4g}°"
        at += f" and {strongest.name}" if len(steps) > 1 else f" in the {requested.plane} plane"
        what = level.name if steps[0].impedance is not None else f"bistatic {level.name}"
        cards.append((f"largest {what}, {at}", decibels(_largest(strongest)), level.unit))
    if len(steps) == 1 and steps[0].backward is not None:
        cards.append((f"{level.name} back toward the source", decibels(steps[0].backward), level.unit))
    for pair in steps[0].monostatic:
        largest = max(float(step.monostatic[pair].max()) for step in steps)
        name = f"largest monostatic {level.name}" + (f", {pair}" if pair else "")
        cards.append((name, decibels(largest), level.unit))
    for one in results.file.case.output.reference:
        difference = mean_difference(results, one)
        if difference is not None:
            name = f"mean difference to “{one.label}” down to {DEPTH:.0f} dB below its maximum"
            cards.append((name, f"{difference:.2f}", "dB"))
    if len(steps) == 1 and steps[0].impedance is not None:
        cards.append(("input impedance", ohms(steps[0].impedance), "Ω"))
    cards += _resonance(steps)
    errors = [step.exact_error for step in steps if step.exact_error is not None]
    if errors:
        cards.append(("far-field error against the exact series", f"{100 * max(errors):.2g}", "%"))
    for backend in steps[0].deviations:
        largest = max(step.deviations[backend] for step in steps)
        cards.append((f"deviation of the far field computed on {backend}", f"{100 * largest:.2g}", "%"))
    if steps[0].total_flux is not None:
        cards.append(("total charge over ε₀", f"{steps[0].total_flux:.6g}".replace("-", "\u2212"), "V m"))
        physics = results.file.case.physics
        if physics.potential:
            farads = VACUUM_PERMITTIVITY * steps[0].total_flux / physics.potential
            cards.append(("capacitance in vacuum", f"{1e12 * farads:.5g}", "pF"))
    left = [step.left_inside for step in steps if step.left_inside is not None]
    if left:
        what = "incident wave" if steps[0].wavenumber is not None else "potential"
        cards.append((f"error estimate: field left inside the body, of the {what}", f"{100 * max(left):.2g}", "%"))
    second = steps[-1].second_mesh
    if second is not None:
        at = f" at {steps[-1].name}" if len(steps) > 1 else ""
        cards.append((second.meaning + at, f"{100 * second.error:.2g}", "%"))
    cards += _matched(steps)
    cards.append(("unknowns", f"{results.unknowns:,}".replace(",", "\u202f"), ""))
    resolved = [step.elements_per_wavelength for step in steps if step.elements_per_wavelength is not None]
    if resolved:
        cards.append(("elements per wavelength", f"{min(resolved):.1f}", ""))
    if any(len(step.info.residuals) for step in steps):
        cards.append(("iterations", str(max(step.info.iterations for step in steps)), ""))
    if not (left or errors or second is not None):
        cards.append(("error estimate", "by calderon run --estimate", ""))
    cards.append(("computing and drawing", f"{sum(seconds.values()):.1f}", "s"))
    return cards


def _matched(steps: tuple[Step, ...]) -> list[Row]:
    """The least reflection of an antenna on a line of 50 ohm."""
    known = [(float(abs(reflection(step.impedance))), step.name) for step in steps if step.impedance is not None]
    if not known:
        return []
    least, name = min(known)
    level = decibels(float(decibels_of_power(np.array(least**2))))
    return [(f"{'least ' if len(known) > 1 else ''}S11 on {LINE:g} ohm, at {name}", level, "dB")]


def _resonance(steps: tuple[Step, ...]) -> list[Row]:
    """Where in a sweep the reactance of an antenna first rises through zero, on a straight line between two steps."""
    known = [(step.frequency, step.impedance) for step in steps if step.frequency and step.impedance is not None]
    for (low, before), (high, after) in pairwise(known):
        if -before.imag < 0 <= -after.imag:
            part = before.imag / (before.imag - after.imag)
            resistance = before.real + part * (after.real - before.real)
            value, unit = frequency_text(low + part * (high - low)).split()
            return [("resonance of the input impedance", value, unit), ("resistance there", f"{resistance:.1f}", "Ω")]
    return []


def _largest(step: Step) -> float:
    assert step.strength is not None
    return float(step.strength.max())


def subtitle(results: Results) -> str:
    """One sentence on what was computed."""
    case = results.file.case
    source = case.mesh.file or case.mesh.sample or case.mesh.shape
    text = f"Mesh “{source}”"
    steps = results.steps
    if steps[0].frequency is not None:
        span = steps[0].name if len(steps) == 1 else f"{len(steps)} frequencies, {steps[0].name} to {steps[-1].name}"
        text += f" at {span}"
        if case.physics.speed_of_sound:
            text += f", speed of sound {case.physics.speed_of_sound:g} m/s"
    elif steps[0].wavenumber is not None:
        text += f" at wavenumber {steps[0].wavenumber:.6g} 1/m"
    if case.incident is not None:
        if case.incident.position is not None:
            text += f"; point source at ({', '.join(f'{x:g}' for x in case.incident.position)}) m"
        else:
            text += f"; plane wave travelling along {vector_text(case.incident.unit_direction)}"
        if case.incident.vector is not None:
            text += f", electric field along {vector_text(case.incident.vector)}"
    if case.wave:
        text += f"; {len(case.wave)} further wave{'s' if len(case.wave) > 1 else ''} in the view"
    physics = case.physics
    if not physics.wave:
        data = f"potential {physics.potential:g} V" if physics.potential is not None else f"flux {physics.flux:g} V/m"
        text += f", {data} on the surface, {physics.side or 'exterior'} problem"
    return text + "."


def tables(results: Results, summary: dict[str, Any]) -> str:
    mesh, solver = summary["mesh"], results.file.case.solver
    surface: list[Row] = [
        ("triangles", f"{mesh['triangles']}", ""),
        ("vertices", f"{mesh['vertices']}", ""),
        ("surface", "closed" if mesh["closed"] else "open", ""),
        ("area", number(mesh["area_m2"]), "m²"),
        *([("volume", number(mesh["volume_m3"]), "m³")] if mesh["volume_m3"] is not None else []),
        ("bounding-box diagonal", number(mesh["diameter_m"]), "m"),
        ("mean edge length", number(mesh["mean_edge_m"]), "m"),
    ]
    step = results.steps[-1]
    info = step.info
    system: list[Row] = [
        ("unknowns", str(results.unknowns), ""),
        ("matrix", f"{_kind(results)}, {solver.precision}, {solver.backend}", ""),
        ("solver", info.method, ""),
    ]
    if len(info.residuals):
        system += [("tolerance", f"{solver.rtol:g}", ""), ("iterations", str(info.iterations), "")]
    system += [
        ("relative residual", f"{info.residual:.2e}", ""),
        ("assembly", f"{info.assembly_seconds:.2f}", "s"),
        ("solution", f"{info.factorisation_seconds + info.solve_seconds:.2f}", "s"),
    ]
    waves_table = ""
    if step.plane_waves is not None:
        system += step.plane_waves.rows
        waves_table = step.plane_waves.table
    named = [("Mesh", surface), ("Equations", system)]
    if step.wavenumber is not None:
        wavelength = 2 * 3.141592653589793 / step.wavenumber
        waves: list[Row] = [("wavenumber k", number(step.wavenumber), "1/m"), ("wavelength", number(wavelength), "m")]
        if step.frequency is not None:
            factor, unit = frequency_unit(step.frequency)
            waves.insert(0, ("frequency", number(step.frequency / factor), unit))
        waves.append(("k × diagonal", number(step.wavenumber * mesh["diameter_m"]), ""))
        waves.append(("elements per wavelength", f"{step.elements_per_wavelength:.1f}", ""))
        last = " (last of the sweep)" if len(results.steps) > 1 else ""
        named.insert(1, (f"Wave{last}", waves))
    sweep = _sweep(results.steps, results.level) if len(results.steps) > 1 else ""
    return blocks(named) + sweep + waves_table + equation(info.equation)


def _kind(results: Results) -> str:
    """The method that the case names, or that "auto" took."""
    method = results.file.case.solver.method
    return method if method != "auto" else re.split(r"(?: matrix| operator)? \d", results.steps[-1].info.matrix)[0]


def _sweep(steps: tuple[Step, ...], level: Level) -> str:
    """The sweep as a table."""
    columns = [
        "",
        "elements per wavelength",
        "iterations",
        f"largest {level.name} ({level.unit})",
        *(["error against exact (%)"] if steps[0].impedance is None else ["input impedance (Ω)", "S11 (dB)", "VSWR"]),
    ]
    rows = [
        [
            step.name,
            "" if step.elements_per_wavelength is None else f"{step.elements_per_wavelength:.1f}",
            str(step.info.iterations),
            "" if step.strength is None else f"{step.strength.max():.2f}",
            *_last_cells(step),
        ]
        for step in steps
    ]
    return wide_table("Sweep", columns, rows)


def _last_cells(step: Step) -> list[str]:
    if step.impedance is not None:
        s = reflection(step.impedance)
        ratio = float(standing_wave_ratio(s))
        return [ohms(step.impedance), decibels(float(decibels_of_power(np.abs(s) ** 2))), f"{ratio:.3g}"]
    return ["" if step.exact_error is None else f"{100 * step.exact_error:.3f}"]
