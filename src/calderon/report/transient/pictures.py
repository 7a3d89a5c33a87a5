"""The pictures of a run in time, each with its caption in the report."""

import numpy as np
from numpy.typing import NDArray

import calderon.plots as plots
from calderon.report.folder import BestEffort
from calderon.report.formatting import frequency_text, plane_equation, time_unit
from calderon.report.transient.cuts import around_parts
from calderon.report.transient.results import CutField, Signals, TransientResults
from calderon.report.transient.scenes import cuts_scene

DEPTH = 60.0
"""Decibels shown below the largest value of a cut."""


def draw(results: TransientResults, files: BestEffort) -> None:
    """Cuts, still and moving, and the signals of probes, as far as they can be drawn."""
    if results.cuts:
        count = len(results.cuts)
        moving = ("slice.gif",) if count == 1 else tuple(f"slice_{number}.gif" for number in range(1, count + 1))
        files.view(lambda: cuts_scene(results), *moving)
    for number, found in enumerate(results.cuts, start=1):
        suffix = f"_{number}" if len(results.cuts) > 1 else ""
        _still(results, found, files, f"slice{suffix}.png")
        if found.frames is not None:
            _moving(results, found, files, f"slice{suffix}.gif")
    pattern = None if results.amplitudes is None else results.amplitudes.pattern
    if pattern is not None:
        plane, level = pattern.requested.plane, pattern.level
        what = f"{level.name.capitalize()} in the {plane} plane, angles from +{plane[0]} toward +{plane[1]}."
        with files.at("far_field_polar.png", what) as path:
            curve = {"calderon": pattern.levels}
            files.chart(path, plots.polar(pattern.requested.values, curve, level.unit, path, quantity=level.name))
    if results.signals is not None:
        _signals(results.signals, files)


def _still(results: TransientResults, found: CutField, files: BestEffort, file: str) -> None:
    values, quantity, name, unit, text = _shown(found)
    marks, more = _marks(results, found)
    with files.at(file, f"{text} in the plane {plane_equation(found.points)}{_moment(results)}.{more}") as path:
        limits = _range(20 * np.log10(np.maximum(values, 1e-30))) if quantity == "db" else None
        drawn = _drawn(results, found, tissue=found.requested.quantity == "sar")
        plots.cut(
            found.points, values, quantity, path, name=name, unit=unit, outlines=drawn, marks=marks, limits=limits
        )


def _shown(found: CutField) -> tuple[NDArray[np.float64], str, str, str, str]:
    """Values, how they are coloured, symbol, unit, and text for a caption."""
    if found.requested.quantity == "sar":
        assert found.sar is not None
        # the level of a power is half that of a field: 10 log10 SAR = 20 log10 of the root
        return np.sqrt(found.sar), "db", "SAR", "W/kg", "Local specific absorption rate"
    size = np.linalg.norm(np.abs(found.electric), axis=2)
    what = "Amplitude" if np.iscomplexobj(found.electric) else "Magnitude"
    symbol = "|E|" if found.requested.quantity == "db" else "E"
    return size, found.requested.quantity, symbol, "V/m", f"{what} of the electric field"


def _marks(results: TransientResults, found: CutField) -> tuple[dict[str, tuple[float, float]], str]:
    """The place of the largest average, seen on the cut, and text with its distance from the plane."""
    amplitudes = results.amplitudes
    if found.requested.quantity != "sar" or amplitudes is None or amplitudes.averaged is None:
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


def _moving(results: TransientResults, found: CutField, files: BestEffort, file: str) -> None:
    assert found.frames is not None and found.times is not None
    over = "one period" if results.amplitudes is not None else "the run"
    caption = f"Magnitude of the electric field over {over}, plane {plane_equation(found.points)}."
    with files.at(file, caption) as path:
        size = np.linalg.norm(found.frames, axis=3)
        quantity, limits = ("abs", None) if found.requested.quantity == "abs" else ("db", None)
        if quantity == "db":
            limits = _range(20 * np.log10(np.maximum(size, 1e-30)))
        factor, unit = time_unit(float(found.times[-1]))
        captions = tuple(f"t = {time / factor:.3f} {unit}" for time in found.times)
        plots.animate(
            found.points, size, path, quantity, name="|E|" if quantity == "db" else "E", unit="V/m",
            outlines=_drawn(results, found), captions=captions, limits=limits,
        )  # fmt: skip


def _signals(signals: Signals, files: BestEffort) -> None:
    """The component of E that is largest at each probe, over time."""
    with files.at("probes.png", "Electric field at the probes, its largest component there.") as path:
        factor, unit = time_unit(float(signals.times[-1]))
        curves = {}
        for n, point in enumerate(signals.points):
            axis = int(np.abs(signals.electric[:, n]).max(axis=0).argmax())
            place = ", ".join(f"{1e3 * x + 0.0:.4g}" for x in point)
            curves[f"E{'xyz'[axis]} at ({place}) mm"] = signals.electric[:, n, axis]
        times = signals.times / factor
        files.chart(path, plots.cartesian(times, curves, f"time ({unit})", "electric field (V/m)", path))
