"""The page on a run in time: the first numbers, a sentence and tables."""

from typing import Any

import numpy as np

from calderon.backends import format_bytes
from calderon.report.formatting import Row, decibels, frequency_text, number, ohms, time_text
from calderon.report.page import blocks, equation, wide_table
from calderon.report.transient.results import Amplitudes, Facts, TransientResults

EQUATION = "ε ∂E/∂t = curl H − σE − J,  μ ∂H/∂t = −curl E,  nodal discontinuous Galerkin method on tetrahedra"


def headlines(results: TransientResults, seconds: dict[str, float]) -> list[Row]:
    """Name, value, unit."""
    rows: list[Row] = []
    found = results.amplitudes
    if found is not None:
        single = len(found.feeds) == 1
        called = {name: "" if single else f" of “{name}”" for name in found.feeds}
        if found.averaged is not None:
            mass = f"{1e3 * found.averaged.mass:g} g"
            rows.append((f"largest SAR averaged over {mass}", number(found.averaged.maximum), "W/kg"))
        rows += [(f"input impedance{called[name]}", ohms(feed.impedance), "Ω") for name, feed in found.feeds.items()]
        if found.feeds:
            rows.append(("radiation efficiency", f"{100 * found.outward / found.fed:.1f}", "%"))
        if found.pattern is not None:
            largest = int(found.pattern.levels.argmax())
            degrees = np.degrees(found.pattern.requested.values[largest])
            name = f"largest {found.pattern.level.name}, at {degrees:.4g}° in the {found.pattern.requested.plane} plane"
            rows.append((name, decibels(found.pattern.levels[largest]), found.pattern.level.unit))
        rows.append(("absorbed", number(sum(found.absorbed.values())), "W"))
        rows += [(f"power fed{called[name]}", number(feed.power), "W") for name, feed in found.feeds.items()]
        if found.feeds:
            rows.append(("radiated", number(found.outward), "W"))
            balance = f"{100 * found.balance:.2g}".replace("-", "\u2212")
            rows.append(("power balance, absorbed + radiated − fed", balance, "% of fed"))
        if found.averaged is not None:
            rows.append(("largest local SAR on the grid", number(found.averaged.local_maximum), "W/kg"))
        rows.append(("change in the last period", f"{100 * found.change:.2g}", "%"))
    if results.error is not None:
        rows.append(("error against the exact wave", f"{100 * results.error:.2g}", "%"))
    facts = results.facts
    rows.append(("unknowns", f"{facts.unknowns:,}".replace(",", "\u202f"), ""))
    rows.append(("steps", f"{facts.steps:,}".replace(",", "\u202f"), ""))
    rows.append(("step", *_two(time_text(facts.step))))
    rows.append(("memory of the fields", *_two(format_bytes(facts.memory))))
    if len(facts.elements_by_step) > 1:
        rows.append(("shorter steps of small elements save", f"{facts.saving:.1f}", "times the work"))
    advanced = seconds.get("advance the fields")
    if advanced:
        updates = facts.unknowns * facts.steps * facts.updates
        rows.append(("updates of unknowns", f"{1e-6 * updates / advanced:.0f}", "million/s"))
    rows.append(("computing and drawing", f"{sum(seconds.values()):.1f}", "s"))
    return rows


def _two(text: str) -> tuple[str, str]:
    value, unit = text.split()
    return value, unit


def subtitle(results: TransientResults) -> str:
    case = results.file.case
    run = f"{case.run.periods} periods of {frequency_text(case.physics.frequency or 0)}" if case.run.periods else (
        f"until {time_text(results.facts.end)}"
    )  # fmt: skip
    sources = [f"current through “{one.part}”" if one.kind == "current" else "plane wave" for one in case.source]
    if case.initial is not None:
        sources.append(f"standing wave {case.initial.mode}")
    return f"Mesh “{case.mesh.file or case.mesh.shape}”, {run}; {', '.join(sources)}."


def tables(results: TransientResults, summary: dict[str, Any]) -> str:
    mesh, solver, facts = results.mesh, results.file.case.solver, results.facts
    volume: list[Row] = [
        ("tetrahedra", str(mesh.number_of_tetrahedra), ""),
        ("vertices", str(mesh.number_of_vertices), ""),
        ("longest edges", f"{1e3 * mesh.longest_edges.min():.3g} to {1e3 * mesh.longest_edges.max():.3g}", "mm"),
        ("least quality (1: regular)", f"{mesh.quality.min():.2f}", ""),
        ("slivers (quality below 0.1)", str(results.shape.slivers), ""),
    ]
    if results.shape.slivers:
        volume.append(("step without slivers", f"{results.shape.gain:.2f}", "times larger"))
    advance: list[Row] = [
        ("polynomial degree", str(solver.order), ""),
        ("flux", f"{solver.flux}, {'leap-frog' if solver.flux == 'centred' else 'Runge-Kutta'}", ""),
        ("arithmetic", f"{solver.precision}, {solver.backend}", ""),
        ("step", time_text(facts.step), f"{100 * facts.step / facts.step_limit:.0f} % of the limit"),
        ("steps", str(facts.steps), ""),
        *_shorter(facts),
        ("end", time_text(facts.end), ""),
        ("memory of the fields", format_bytes(facts.memory), ""),
        ("ranks, threads of each", f"{facts.ranks}, {facts.threads}", ""),
    ]
    named = [("Mesh", volume), ("Steps", advance)]
    if results.amplitudes is not None:
        named.insert(0, ("Power", _power(results.amplitudes)))
        if results.amplitudes.averaged is not None:
            named.insert(1, ("Absorption", _absorption(results.amplitudes)))
    return blocks(named) + _parts(results) + equation(EQUATION)


def _shorter(facts: Facts) -> list[Row]:
    """The steps of small elements."""
    if len(facts.elements_by_step) == 1:
        return []
    rows: list[Row] = [
        (f"tetrahedra with 1/{2**k} of the step" if k else "tetrahedra with the whole step", str(count), "")
        for k, count in enumerate(facts.elements_by_step)
    ]
    return [*rows, ("work of one step for all", f"{facts.saving:.1f}", "times as much")]


def _power(found: Amplitudes) -> list[Row]:
    rows: list[Row] = []
    for name, feed in found.feeds.items():
        rows.append((f"fed through “{name}”", number(feed.power), "W"))
        rows.append((f"current through “{name}”, peak", number(abs(feed.current)), "A"))
        rows.append((f"voltage at “{name}”, peak", number(abs(feed.voltage)), "V"))
    rows += [(f"absorbed in “{name}”", number(power), "W") for name, power in found.absorbed.items() if power]
    rows.append(("through the outer boundary", number(found.outward), "W"))
    if found.scale != 1:
        rows.append(("all fields scaled by", number(found.scale), ""))
    return rows


def _absorption(found: Amplitudes) -> list[Row]:
    average = found.averaged
    assert average is not None
    mass = f"{1e3 * average.mass:g} g"
    place = ", ".join(f"{1e3 * x + 0.0:.1f}" for x in average.place)
    return [
        (f"largest average over {mass}", number(average.maximum), "W/kg"),
        ("at", place, "mm"),
        ("side of its cube", f"{1e3 * average.cube_side:.1f}", "mm"),
        ("largest local rate on the grid", number(average.local_maximum), "W/kg"),
        ("all tissue", number(average.whole_body), "W/kg"),
        ("tissue in voxels", number(average.weight), "kg"),
        ("absorbed in voxels", number(average.power), "W"),
        ("voxel", f"{1e3 * average.voxel:g}", "mm"),
    ]


def _parts(results: TransientResults) -> str:
    """The mesh part by part."""
    columns = ["", "tetrahedra", "longest edges (mm)", "least quality", "slivers", "least delay (ps)"]
    rows = [
        [
            part.name,
            str(part.tetrahedra),
            f"{1e3 * part.edges[0]:.3g} to {1e3 * part.edges[1]:.3g}",
            f"{part.quality:.2f}",
            str(part.slivers),
            f"{1e12 * part.delay:.3g}",
        ]
        for part in results.shape.parts
    ]
    return wide_table("Parts of the mesh", columns, rows)
