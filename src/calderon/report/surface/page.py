"""The content of the page for a problem on surfaces."""

from collections.abc import Iterable
from html import escape
from typing import Any

from calderon.report.formatting import Row, frequency_unit, number, ohms
from calderon.report.page import Content, blocks
from calderon.report.results import Level, Results, Step
from calderon.report.surface.headlines import surface_headlines

KINDS = {
    "sound-hard": "Acoustic scattering, sound-hard surface",
    "sound-soft": "Acoustic scattering, sound-soft surface",
    "impedance": "Acoustic scattering, impedance surface",
    "transmission": "Acoustic scattering, fluid in fluid",
    "conductor": "Electromagnetic scattering, perfect conductor",
    "dielectric": "Electromagnetic scattering, dielectric body",
    "antenna": "Antenna of perfect conductors, fed by a voltage",
    "laplace-dirichlet": "Laplace problem, potential given",
    "laplace-neumann": "Laplace problem, flux given",
}


def surface_content(results: Results, summary: dict[str, Any]) -> Content:
    """Kind, sentence, first numbers and tables."""
    return Content(
        KINDS[results.file.case.physics.problem],
        _subtitle(results),
        surface_headlines(results, summary["seconds"]),
        _tables(results, summary),
    )


def _subtitle(results: Results) -> str:
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
            text += f"; plane wave travelling along {_vector(case.incident.unit_direction)}"
        if case.incident.vector is not None:
            text += f", electric field along {_vector(case.incident.vector)}"
    physics = case.physics
    if not physics.wave:
        data = f"potential {physics.potential:g} V" if physics.potential is not None else f"flux {physics.flux:g} V/m"
        text += f", {data} on the surface, {physics.side or 'exterior'} problem"
    return text + "."


def _vector(x: Iterable[float]) -> str:
    return f"({', '.join(f'{component + 0.0:.4g}' for component in x)})"


def _tables(results: Results, summary: dict[str, Any]) -> str:
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
    system: list[Row] = [
        ("unknowns", str(results.unknowns), ""),
        ("matrix", f"{solver.method}, {solver.precision}, {solver.backend}", ""),
        ("solver", step.solver, ""),
    ]
    if len(step.residuals):
        system += [
            ("tolerance", f"{solver.rtol:g}", ""),
            ("iterations", str(step.iterations), ""),
        ]
    system += [
        ("relative residual", f"{step.residual:.2e}", ""),
        ("assembly", f"{step.assembly_seconds:.2f}", "s"),
        ("solution", f"{step.solution_seconds:.2f}", "s"),
    ]
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
    equation = f'<div class="whole"><h2>Equation</h2><p class="equation">{escape(step.equation)}</p></div>'
    return blocks(named) + (_steps(results.steps, results.level) if len(results.steps) > 1 else "") + equation


def _steps(steps: tuple[Step, ...], level: Level) -> str:
    """The sweep as a table."""
    columns = [
        "",
        "elements per wavelength",
        "iterations",
        f"largest {level.name} ({level.unit})",
        "error against exact (%)" if steps[0].impedance is None else "input impedance (Ω)",
    ]
    rows = []
    for step in steps:
        cells = [
            step.name,
            "" if step.elements_per_wavelength is None else f"{step.elements_per_wavelength:.1f}",
            str(step.iterations),
            "" if step.strength is None else f"{step.strength.max():.2f}",
            _last_cell(step),
        ]
        rows.append("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>")
    head = "".join(f"<th>{escape(name)}</th>" for name in columns)
    return f'<div class="scroll"><h2>Sweep</h2><table class="steps"><tr>{head}</tr>{"".join(rows)}</table></div>'


def _last_cell(step: Step) -> str:
    if step.impedance is not None:
        return ohms(step.impedance)
    return "" if step.exact_error is None else f"{100 * step.exact_error:.3f}"
