"""The report: one page without references to the outside, to be read on a screen or on paper."""

import base64
import struct
from collections.abc import Iterable
from html import escape
from pathlib import Path
from string import Template
from typing import Any

from calderon.report.folder import MARK
from calderon.report.frequencies import unit_for
from calderon.report.headlines import Row, headlines, number, ohms
from calderon.report.pictures import Picture
from calderon.report.results import Level, Results, Step

ROW = 2.0  # a row of pictures is full when their widths add up to this times its height
TEMPLATES = Path(__file__).parent / "templates"
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


def page(results: Results, summary: dict[str, Any], pictures: list[Picture], folder: Path) -> str:
    """The page's text, with pictures and styles inside it."""
    template = Template((TEMPLATES / "report.html").read_text(encoding="utf-8"))
    cards = headlines(results, summary["seconds"])
    names = sorted([*(path.name for path in folder.iterdir()), "report.html", MARK])
    return template.substitute(
        title=escape(results.title),
        version=escape(summary["calderon"]),
        style=(TEMPLATES / "report.css").read_text(encoding="utf-8"),
        kind=escape(KINDS[results.file.case.physics.problem]),
        subtitle=escape(_subtitle(results)),
        notices=_notices(results.warnings),
        columns=str(_columns(len(cards))),
        cards="\n".join(_card(*card) for card in cards),
        pictures=_pictures(pictures, folder),
        tables=_tables(results, summary),
        timings=_timings(summary["seconds"]),
        files="".join(f"<code>{escape(name)}</code>" for name in names),
        case=escape(results.file.text.strip()),
        date=escape(summary["date"].replace("T", " ").replace("+00:00", " UTC")),
        machine=escape(f"{summary['machine']}, {summary['threads']} thread{'s' if summary['threads'] != 1 else ''}"),
    )


def _subtitle(results: Results) -> str:
    """One sentence that says what was computed."""
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
    blocks = [("Mesh", surface), ("Equations", system)]
    if step.wavenumber is not None:
        wavelength = 2 * 3.141592653589793 / step.wavenumber
        waves: list[Row] = [("wavenumber k", number(step.wavenumber), "1/m"), ("wavelength", number(wavelength), "m")]
        if step.frequency is not None:
            factor, unit = unit_for(step.frequency)
            waves.insert(0, ("frequency", number(step.frequency / factor), unit))
        waves.append(("k × diagonal", number(step.wavenumber * mesh["diameter_m"]), ""))
        waves.append(("elements per wavelength", f"{step.elements_per_wavelength:.1f}", ""))
        last = " (last of the sweep)" if len(results.steps) > 1 else ""
        blocks.insert(1, (f"Wave{last}", waves))
    text = "\n".join(f"<div><h2>{escape(name)}</h2>{_table(rows)}</div>" for name, rows in blocks)
    equation = f'<div class="whole"><h2>Equation</h2><p class="equation">{escape(step.equation)}</p></div>'
    return text + (_steps(results.steps, results.level) if len(results.steps) > 1 else "") + equation


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


def _table(rows: list[Row]) -> str:
    cells = [
        f'<tr><th scope="row">{escape(name)}</th><td>{escape(value)}{_unit(unit)}</td></tr>'
        for name, value, unit in rows
    ]
    return f"<table>{''.join(cells)}</table>"


def _unit(unit: str) -> str:
    return f' <span class="unit">{escape(unit)}</span>' if unit else ""


def _columns(cards: int) -> int:
    """How many cards stand in a line, at most six, so that the last line is nearly full."""
    lines = -(-cards // 6)
    return -(-cards // lines)


def _card(name: str, value: str, unit: str) -> str:
    shown = f'<div class="value">{escape(value)}{_unit(unit).lstrip()}</div>'
    return f'<div class="card">{shown}<div class="name">{escape(name)}</div></div>'


def _pictures(pictures: list[Picture], folder: Path) -> str:
    """Pictures in rows of one height: each takes a width in proportion to its own."""
    rows: list[str] = []
    row, wide = "", 0.0
    for picture in pictures:
        content = (folder / picture.file).read_bytes()
        width, height = struct.unpack(">II", content[16:24])  # a PNG begins with its size
        row += _figure(picture, content, width / height)
        wide += width / height
        if wide >= ROW or picture is pictures[-1]:
            alone = " alone" if wide < ROW else ""
            rows.append(f'<div class="row{alone}">{row}</div>')
            row, wide = "", 0.0
    return "\n".join(rows)


def _figure(picture: Picture, content: bytes, ratio: float) -> str:
    data = base64.b64encode(content).decode("ascii")
    caption = escape(picture.caption)
    image = f'<img alt="{caption}" src="data:image/png;base64,{data}">'
    return f'<figure style="flex-grow:{ratio:.3f}">{image}<figcaption>{caption}</figcaption></figure>'


def _notices(texts: tuple[str, ...]) -> str:
    if not texts:
        return ""
    items = "".join(f"<li>{escape(text)}</li>" for text in texts)
    return f'<div class="notice"><strong>{"Warning" if len(texts) == 1 else "Warnings"}</strong><ul>{items}</ul></div>'


def _timings(seconds: dict[str, float]) -> str:
    longest = max(seconds.values(), default=1.0) or 1.0
    rows = []
    for name, spent in seconds.items():
        bar = f'<div class="track"><div class="bar" style="width:{100 * spent / longest:.1f}%"></div></div>'
        rows.append(f'<div>{escape(name)}</div>{bar}<div class="seconds">{spent:.2f} s</div>')
    total = f'<div class="total">total</div><div></div><div class="seconds total">{sum(seconds.values()):.2f} s</div>'
    return f'<div class="bars">{"".join(rows)}{total}</div>'
