"""The pictures of a printed circuit, each with its caption in the report."""

from dataclasses import replace
from typing import Any

import calderon.plots as plots
from calderon.formulations import PlanarSolution
from calderon.formulations.scenes import level_values, pattern_layer
from calderon.report.folder import BestEffort
from calderon.report.formatting import frequency_text, frequency_unit
from calderon.report.planar.results import PlanarResults
from calderon.view import Scene, Steps

ROWS = 61
"""Of directions of the gain: every three degrees."""


def current_scene(results: PlanarResults, at: str) -> Scene:
    """The current in decibels: edges and contacts carry most of it."""
    shown = results.solution.scene()
    body, *others = (_body(each) for each in results.sources.values())
    values = [body.fields[0].values[0], *(each.fields[0].values[0] for each in others)]
    fields = (replace(body.fields[0], symbol="J", quantity="db", values=values, short=len(values) > 4),)
    caption = f"Surface current for the voltages of the ports, at {at}."
    return replace(shown, layers=(replace(body, fields=fields),), caption=caption, steps=_steps(results))


def _body(solution: PlanarSolution) -> Any:
    return solution.scene().layers[0]


def _steps(results: PlanarResults) -> Steps | None:
    """The slider over ports; what they feed differs much in strength."""
    return Steps("source", [*results.sources], 0, own=True) if results.by_port else None


def gain_scene(results: PlanarResults) -> Scene:
    """The gain in all directions, of the case and of each of several ports alone."""
    shape = (ROWS, 2 * (ROWS - 1))
    values = [level_values(each.gain, shape) for each in results.sources.values()]
    return Scene((pattern_layer(shape, values, "gain", "dBi"),), length="", title="gain", steps=_steps(results))


def draw(results: PlanarResults, files: BestEffort) -> None:
    """|S| over frequency, a Smith chart of the reflections, the gain in two planes, and the current."""
    sweep, at = results.sweep, frequency_text(results.solution.frequency)
    lines = "their own impedance" if results.file.case.port[0].kind == "line" else f"{sweep.reference:g} ohm"
    if len(sweep.frequencies) > 1:
        factor, unit = frequency_unit(float(sweep.frequencies.min()))
        with files.at("scattering.png", f"Magnitude of S for lines of {lines}.") as path:
            axis = f"frequency ({unit})"
            shown = "S11" if len(results.levels) == 1 else "S"
            text = f"magnitude of {shown} (dB)"
            files.chart(path, plots.cartesian(sweep.frequencies / factor, results.levels, axis, text, path))
        own = {name: sweep.s[:, *place] for name, place in results.names.items() if place[0] == place[1]}
        ends = frequency_text(float(sweep.frequencies[0])), frequency_text(float(sweep.frequencies[-1]))
        caption = f"Reflection, with the resistance and reactance in parts of {lines}, inductive ones above."
        with files.at("smith.png", caption) as path:
            plots.smith(own, path, ends=ends)
    if results.radiates:
        with files.at("gain.png", f"Gain in the planes of the x and the y axis, which is at 0°, at {at}.") as path:
            files.chart(path, plots.polar(*results.cuts, "dBi", path, quantity="gain", span=30.0))
    files.view(lambda: current_scene(results, at), "current.png")
    if results.radiates:
        files.view(lambda: gain_scene(results))
    with files.at("current.png", f"Surface current for the voltages of the ports, at {at}.") as path:
        plots.currents(results.solution.surface, path, view="top")
