"""The pictures of a run in time, each with its caption in the report."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import calderon.plots as plots
from calderon.report.best_effort import BestEffort
from calderon.report.formatting import frequency_text, time_unit
from calderon.report.pictures import Picture, plane_equation
from calderon.report.transient.cuts import around_parts
from calderon.report.transient.results import CutField, Pattern, TransientResults

DEPTH = 60.0
"""Decibels shown below the largest value of a cut."""


def draw_transient(results: TransientResults, attempts: BestEffort) -> list[Picture]:
    """Cuts, still and moving, and the signals of probes, as far as they can be drawn."""
    pictures = []
    for number, found in enumerate(results.cuts, start=1):
        suffix = f"_{number}" if len(results.cuts) > 1 else ""
        with attempts.at(f"slice{suffix}.png") as path:
            pictures.append(_still(results, found, path))
        if found.frames is not None:
            with attempts.at(f"slice{suffix}.gif") as path:
                pictures.append(_moving(results, found, path))
    if results.amplitudes is not None and results.amplitudes.pattern is not None:
        with attempts.at("far_field_polar.png") as path:
            pictures.append(_pattern(results.amplitudes.pattern, path))
    if results.signals is not None:
        with attempts.at("probes.png") as path:
            pictures.append(_signals(results, path))
    return pictures


def _still(results: TransientResults, found: CutField, path: Path) -> Picture:
    values, quantity, name, unit, text = _shown(found)
    limits = None
    if quantity == "db":
        limits = _range(20 * np.log10(np.maximum(values, 1e-30)))
    marks, more = _marks(results, found)
    drawn = _drawn(results, found, tissue=found.asked.quantity == "sar")
    plots.cut(
        found.points, values, quantity, path, name=name, unit=unit, outlines=drawn, marks=marks,
        limits=limits,
    )  # fmt: skip
    return Picture(path.name, f"{text} in the plane {plane_equation(found.points)}{_moment(results)}.{more}")


def _shown(found: CutField) -> tuple[NDArray[np.float64], str, str, str, str]:
    """Values, how they are coloured, symbol, unit, and text for a caption."""
    if found.asked.quantity == "sar":
        assert found.sar is not None
        # the level of a power is half that of a field: 10 log10 SAR = 20 log10 of the root
        return np.sqrt(found.sar), "db", "SAR", "W/kg", "Local specific absorption rate"
    size = np.linalg.norm(np.abs(found.electric), axis=2)
    what = "Amplitude" if np.iscomplexobj(found.electric) else "Magnitude"
    symbol = "|E|" if found.asked.quantity == "db" else "E"
    return size, found.asked.quantity, symbol, "V/m", f"{what} of the electric field"


def _marks(results: TransientResults, found: CutField) -> tuple[dict[str, tuple[float, float]], str]:
    """The place of the largest average, seen on the cut, and text with its distance from the plane."""
    amplitudes = results.amplitudes
    if found.asked.quantity != "sar" or amplitudes is None or amplitudes.averaged is None:
        return {}, ""
    average = amplitudes.averaged
    first, second = (found.points[0, -1] - found.points[0, 0]), (found.points[-1, 0] - found.points[0, 0])
    axes = np.array([each / np.linalg.norm(each) for each in (first, second)])
    offset = average.place - found.points[0, 0]
    s, t = axes @ offset
    away = 1e3 * float(np.linalg.norm(offset - s * axes[0] - t * axes[1]))
    mass = f"{1e3 * average.mass:g} g"
    label = f"{mass} maximum\n{average.maximum:.3g} W/kg"
    return {label: (float(s), float(t))}, f" Cross: largest average over {mass}, {away:.0f} mm off the plane."


def _drawn(results: TransientResults, found: CutField, tissue: bool = False) -> dict[str, NDArray[np.float64]]:
    """Outlines of parts and metal, and the line within which there are values: the tissue's, or the outer boundary."""
    drawn = {name: lines for name, lines in found.outlines.items() if name not in ("outer", "wall", "feed")}
    if tissue:
        weighed = [name for name, medium in results.file.case.materials.items() if medium.density is not None]
        drawn["within"] = around_parts(results.mesh, weighed, found.points)
    elif "outer" in found.outlines:
        drawn["within"] = found.outlines["outer"]
    return drawn


def _range(levels: NDArray[np.float64]) -> tuple[float, float]:
    """Decibels from the hundredth part that is lowest to the largest, at most DEPTH below it."""
    top = float(np.nanmax(levels))
    return max(top - DEPTH, float(np.nanpercentile(levels, 1))), top


def _moment(results: TransientResults) -> str:
    if results.amplitudes is not None:
        fed = results.file.case.output.fed_power
        return f" at {frequency_text(results.amplitudes.frequency)}" + ("" if fed is None else f", {fed:g} W fed")
    factor, unit = time_unit(results.facts.end)
    return f" at {results.facts.end / factor:.4g} {unit}"


def _moving(results: TransientResults, found: CutField, path: Path) -> Picture:
    assert found.frames is not None and found.times is not None
    size = np.linalg.norm(found.frames, axis=3)
    quantity, limits = ("abs", None) if found.asked.quantity == "abs" else ("db", None)
    if quantity == "db":
        limits = _range(20 * np.log10(np.maximum(size, 1e-30)))
    factor, unit = time_unit(float(found.times[-1]))
    captions = tuple(f"t = {time / factor:.3f} {unit}" for time in found.times)
    plots.animate(
        found.points, size, path, quantity, name="|E|" if quantity == "db" else "E", unit="V/m",
        outlines=_drawn(results, found), captions=captions, limits=limits,
    )  # fmt: skip
    over = "one period" if results.amplitudes is not None else "the run"
    return Picture(path.name, f"Magnitude of the electric field over {over}, plane {plane_equation(found.points)}.")


def _pattern(found: Pattern, path: Path) -> Picture:
    plane, level = found.asked.plane, found.level
    curve = {"calderon": found.levels}
    plots.polar(found.asked.values, curve, level.unit, path, quantity=level.name)
    turning = f"angles from +{plane[0]} toward +{plane[1]}"
    return Picture(path.name, f"{level.name.capitalize()} in the {plane} plane, {turning}.")


def _signals(results: TransientResults, path: Path) -> Picture:
    """The component of E that is largest at each probe, over time."""
    signals = results.signals
    assert signals is not None
    factor, unit = time_unit(float(signals.times[-1]))
    curves = {}
    for n, point in enumerate(signals.points):
        axis = int(np.abs(signals.electric[:, n]).max(axis=0).argmax())
        place = ", ".join(f"{1e3 * x + 0.0:.4g}" for x in point)
        curves[f"E{'xyz'[axis]} at ({place}) mm"] = signals.electric[:, n, axis]
    plots.cartesian(signals.times / factor, curves, f"time ({unit})", "electric field (V/m)", path)
    return Picture(path.name, "Electric field at the probes, its largest component there.")
