"""Panels of fields in time: in planes, at probes, on the whole mesh."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import calderon.plots as plots
from calderon.data import Quantity
from calderon.files.formats import meshio
from calderon.kinds.transient.cuts import around_parts
from calderon.kinds.transient.results import CutField, TransientResults
from calderon.kinds.transient.scenes import cuts_scene
from calderon.report import Sheet, panel
from calderon.report.formatting import Column, frequency_text, plane_equation, time_unit

DEPTH = 60.0
"""Decibels shown below the largest value of a cut."""


@panel("cuts")
def planes(results: TransientResults, sheet: Sheet) -> None:
    """Cuts, still and moving."""
    count = len(results.cuts)
    moving = ("slice.gif",) if count == 1 else tuple(f"slice_{number}.gif" for number in range(1, count + 1))
    sheet.view(lambda: cuts_scene(results), *moving)
    for number, cut in enumerate(results.cuts, start=1):
        name = "slice" if count == 1 else f"slice_{number}"
        fields = [Quantity("electric_field", cut.electric, "V/m", "electric field", vector=True)]
        if cut.sar is not None:
            fields.append(Quantity("absorption_rate", cut.sar, "W/kg", "absorption rate (SAR)"))
        sheet.plane(name, cut.points, *fields)
        _still(results, cut, sheet, f"{name}.png")
        if cut.frames is not None:
            _moving(results, cut, sheet, f"{name}.gif")


def _still(results: TransientResults, found: CutField, sheet: Sheet, file: str) -> None:
    values, quantity, name, unit, text = _shown(found)
    marks, more = _marks(results, found)

    def draw(path: Path) -> None:
        limits = _range(20 * np.log10(np.maximum(values, 1e-30))) if quantity == "db" else None
        drawn = _drawn(results, found, tissue=found.requested.quantity == "sar")
        plots.cut(
            found.points, values, quantity, path, name=name, unit=unit, outlines=drawn, marks=marks, limits=limits
        )

    sheet.picture(file, f"{text} in the plane {plane_equation(found.points)}{_moment(results)}.{more}", draw)


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


def _moving(results: TransientResults, found: CutField, sheet: Sheet, file: str) -> None:
    over = "one period" if results.amplitudes is not None else "the run"

    def draw(path: Path) -> None:
        assert found.frames is not None and found.times is not None
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

    caption = f"Magnitude of the electric field over {over}, plane {plane_equation(found.points)}."
    sheet.picture(file, caption, draw)


@panel("signals")
def signals(results: TransientResults, sheet: Sheet) -> None:
    """Fields at probes over time; drawn is the component of E that is largest at each."""
    signals = results.signals
    assert signals is not None
    columns: list[Column] = [("time_s", signals.times)]
    for n in range(len(signals.points)):
        for name, unit, field in (("E", "V", signals.electric), ("H", "A", signals.magnetic)):
            columns += [(f"{name}{letter}_{n + 1}_{unit}_m", field[:, n, axis]) for axis, letter in enumerate("xyz")]
    sheet.columns("probes.csv", columns)
    factor, unit = time_unit(float(signals.times[-1]))
    curves = {}
    for n, point in enumerate(signals.points):
        axis = int(np.abs(signals.electric[:, n]).max(axis=0).argmax())
        place = ", ".join(f"{1e3 * x + 0.0:.4g}" for x in point)
        curves[f"E{'xyz'[axis]} at ({place}) mm"] = signals.electric[:, n, axis]
    caption, axes = (
        "Electric field at the probes, its largest component there.",
        (f"time ({unit})", "electric field (V/m)"),
    )
    sheet.cartesian("probes.png", caption, signals.times / factor, curves, *axes)


@panel("snapshots")
def snapshots(results: TransientResults, sheet: Sheet) -> None:
    """The folder of fields on the whole mesh."""
    assert results.snapshots is not None
    folder = results.snapshots
    sheet.file("snapshots", lambda path: shutil.copytree(folder, path))


@panel("mesh")
def fields(results: TransientResults, sheet: Sheet) -> None:
    """fields.vtu, element by element."""
    found = results.amplitudes
    data: dict[str, list[Any]] = {"material": [results.mesh.tags]}
    if found is not None:
        data |= {"|E| (V/m)": [found.electric], "SAR (W/kg)": [np.nan_to_num(found.sar)]}
    if results.final is not None:
        data["|E| at the end (V/m)"] = [results.final]

    def write(path: Path) -> None:
        content = meshio.Mesh(results.mesh.vertices, [("tetra", results.mesh.tetrahedra)], cell_data=data)
        content.write(path, file_format="vtu")

    sheet.file("fields.vtu", write)
