"""The page on a printed circuit: the first numbers, a sentence and tables."""

from typing import Any

import numpy as np

from calderon.report.formatting import Row, decibels, decibels_of_power, frequency_text, number, ohms
from calderon.report.page import blocks, equation, record
from calderon.report.periodic.page import lengths_of
from calderon.report.planar.results import PlanarResults
from calderon.report.reflection import LINE, accepted, reflection, standing_wave_ratio

EQUATION = "<f, E> = Z_s <f, J> for all RWG functions f; E of J by the Green's functions of the layers"


def headlines(results: PlanarResults, seconds: dict[str, float]) -> list[Row]:
    """Name, value, unit."""
    solution, sweep = results.solution, results.sweep
    levels = results.levels["S11" if "S11" in results.levels else "S1,1"]
    best = int(levels.argmin())
    rows: list[Row] = [
        ("resonance", frequency_text(each.frequency, 5), f"Q {each.quality:.1f}") for each in results.resonances[:3]
    ]
    text = frequency_text(float(sweep.frequencies[best]), 5)
    rows.append((f"{'least ' if len(levels) > 1 else ''}S11, at {text}", decibels(float(levels[best])), "dB"))
    if results.radiates:
        name = f"largest gain in both planes, at {frequency_text(solution.frequency, 5)}"
        rows.append((name, f"{results.largest_gain:.2f}".replace("-", "\u2212"), "dBi"))
        rows.append(("radiated, of the accepted power", _share(results, "radiated"), "%"))
    if results.second_mesh is not None:
        rows.append((results.second_mesh.meaning, f"{100 * results.second_mesh.error:.2g}", "%"))
    rows.append(("unknowns", f"{results.problem.function_space.dimension:,}".replace(",", "\u202f"), ""))
    if results.second_mesh is None and results.file.case.metal.h is not None:
        rows.append(("error estimate", "by calderon run --estimate", ""))
    rows.append(("computing and drawing", f"{sum(seconds.values()):.1f}", "s"))
    return rows


def _share(results: PlanarResults, name: str) -> str:
    power = results.solution.power
    share = 100 * getattr(power, name) / power.accepted
    return f"{0.0 if abs(share) < 0.005 else share:.2f}".replace("-", "\u2212")


def subtitle(results: PlanarResults) -> str:
    case, sweep = results.file.case, results.sweep
    low, high = (frequency_text(float(each)) for each in sweep.frequencies[[0, -1]])
    kinds = ", ".join(port.kind for port in case.port)
    band = low if low == high else f"{low} to {high}"
    metal = f"shape “{case.metal.shape}”" if case.metal.shape else f"mesh “{case.metal.file}”"
    return f"Metal: {metal}; port{'s' if len(case.port) > 1 else ''}: {kinds}; {band}."


def tables(results: PlanarResults, summary: dict[str, Any]) -> str:
    case, problem, solution = results.file.case, results.problem, results.solution
    mesh = problem.mesh
    metal: list[Row] = [("shape", case.metal.shape or str(case.metal.file), "")]
    metal += [*lengths_of(case.metal.parameters), ("height", f"{1e3 * case.height:g}", "mm")]
    several = ("vias", case.via), ("ribbons", case.ribbon), ("lumped elements", case.load)
    metal += [(name, str(len(each)), "") for name, each in several if each]
    edges = f"{1e3 * mesh.edge_lengths.min():.3g} to {1e3 * mesh.edge_lengths.max():.3g}"
    size: list[Row] = [("triangles", str(mesh.number_of_triangles), ""), ("edges", edges, "mm")]
    size.append(("solved frequencies", str(results.sweep.solves), ""))
    size.append(("S between them, to", f"{results.sweep.error:.1e}", ""))
    ports: list[Row] = []
    matched: list[Row] = []
    for n, (u, i) in enumerate(zip(solution.voltages, solution.feed_currents, strict=True)):
        name = case.port[n].name or f"port {n + 1}, {case.port[n].kind}"
        ports.append((name, f"{u.real:g}", "V"))
        if u and case.port[n].kind != "line":  # of the gap, not of the line
            ports.append(("its impedance", ohms(complex(u / i)), "ohm"))
            s = reflection(u / i)
            ports.append((f"its VSWR on {LINE:g} ohm", f"{float(standing_wave_ratio(s)):.3g}", ""))
            if len(case.port) == 1 and results.radiates:
                realised = results.largest_gain + float(decibels_of_power(accepted(s)))
                matched = [(f"realised gain on {LINE:g} ohm", f"{realised:.2f}", "dBi")]
    power: list[Row] = [("accepted", number(1e3 * solution.power.accepted), "mW")]
    power += [(name.replace("_", " "), _share(results, name), "%") for name in ("radiated", "surface_waves", "lost")]
    found = [(frequency_text(each.frequency), f"Q {each.quality:.4g}", "") for each in results.resonances]
    at = frequency_text(solution.frequency)
    named = [("Metal", metal), ("Mesh and sweep", size), (f"Ports at {at}", ports), (f"Power at {at}", power)]
    if found:
        named.append(("Resonances", found))
    if case.planar.above == "vacuum":
        widths = [
            (f"beam width, {plane} plane", f"{np.degrees(solution.beam_width(phi)):.1f}", "°")
            for plane, phi in (("xz", 0.0), ("yz", np.pi / 2))
        ]
        named.append((f"Pattern at {at}", [("largest gain", f"{results.largest_gain:.2f}", "dBi"), *matched, *widths]))
    return blocks(named) + equation(EQUATION) + record("Board", str(case.stack))
