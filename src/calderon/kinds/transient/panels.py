"""Panels of fields in time: in planes, at probes, on the whole mesh, at one frequency; the mesh and the steps."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import calderon.plots as plots
from calderon.backends import format_bytes
from calderon.data import Quantity
from calderon.files.vtu import write_grid
from calderon.kinds.transient.cuts import around_parts, cuts_scene
from calderon.kinds.transient.results import CutField, TransientResults
from calderon.report import Sheet, panel
from calderon.report.formatting import (
    Column,
    decibels,
    frequency_text,
    number,
    ohms,
    plane_equation,
    time_text,
    time_unit,
)
from calderon.report.panels import grouped, unknowns


@panel("cuts")
def planes(results: TransientResults, sheet: Sheet) -> None:
    """Cuts, still and moving."""
    count = len(results.cuts)
    moving = ("slice.gif",) if count == 1 else tuple(f"slice_{number}.gif" for number in range(1, count + 1))
    sheet.view(lambda: cuts_scene(results), *moving)
    for place, cut in enumerate(results.cuts, start=1):
        name = "slice" if count == 1 else f"slice_{place}"
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
    """Decibels from the hundredth part that is lowest to the largest, at most 60 below it."""
    top = float(np.nanmax(levels))
    return max(top - 60.0, float(np.nanpercentile(levels, 1))), top


def _moment(results: TransientResults) -> str:
    if results.amplitudes is not None:
        fed = results.file.case.output.fed_power
        return f" at {frequency_text(results.amplitudes.frequency)}" + ("" if fed is None else f", {fed:g} W fed")
    return f" at {time_text(results.facts.end)}"


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
    data: dict[str, Any] = {"material": results.mesh.tags}
    if found is not None:
        data |= {"|E| (V/m)": found.electric, "SAR (W/kg)": np.nan_to_num(found.sar)}
    if results.final is not None:
        data["|E| at the end (V/m)"] = results.final

    def write(path: Path) -> None:
        write_grid(path, results.mesh.vertices, [("tetra", results.mesh.tetrahedra)], {}, data)

    sheet.file("fields.vtu", write)


@panel("amplitudes.averaged")
def absorption(results: TransientResults, sheet: Sheet) -> None:
    """The average of the absorption rate, as a table and as an array over voxels."""
    assert results.amplitudes is not None and results.amplitudes.averaged is not None
    average, block, key = results.amplitudes.averaged, "Absorption", "averaged_sar."
    mass = f"{1e3 * average.mass:g} g"
    sheet.headline(f"largest SAR averaged over {mass}", number(average.maximum), "W/kg")
    sheet.number(f"{key}mass_kg", average.mass)
    sheet.fact(block, f"largest average over {mass}", average.maximum, "W/kg", key=f"{key}maximum_W_kg")
    place, text = average.place.tolist(), ", ".join(f"{1e3 * x + 0.0:.1f}" for x in average.place)
    sheet.fact(block, "at", place, "mm", key=f"{key}place_m", text=text)
    side = f"{1e3 * average.cube_side:.1f}"
    sheet.fact(block, "side of its cube", average.cube_side, "mm", key=f"{key}cube_side_m", text=side)
    local = average.local_maximum
    sheet.fact(block, "largest local SAR on the grid", local, "W/kg", key=f"{key}local_maximum_W_kg", first=True)
    sheet.fact(block, "all tissue", average.whole_body, "W/kg", key=f"{key}whole_body_W_kg")
    sheet.fact(block, "tissue in voxels", average.weight, "kg", key=f"{key}weight_kg")
    sheet.fact(block, "absorbed in voxels", average.power, "W", key=f"{key}absorbed_in_voxels_W")
    sheet.fact(block, "voxel", average.voxel, "mm", key=f"{key}voxel_m", text=f"{1e3 * average.voxel:g}")
    arrays: dict[str, Any] = {
        "averaged_W_kg": average.averaged,
        "local_W_kg": average.local,
        "first_midpoint_m": average.corner,
        "voxel_m": average.voxel,
        "origin": average.cubes.origin,
    }
    sheet.file("averaged_sar.npz", lambda path: np.savez_compressed(path, **arrays))


@panel("amplitudes.feeds")
def feeds(results: TransientResults, sheet: Sheet) -> None:
    """The power that each feed takes, and how much of it is radiated."""
    assert results.amplitudes is not None
    found, entries = results.amplitudes, {}
    for name, feed in found.feeds.items():
        called = "" if len(found.feeds) == 1 else f" of “{name}”"
        sheet.headline(f"input impedance{called}", ohms(feed.impedance), "Ω")
        sheet.headline(f"power fed{called}", number(feed.power), "W")
        sheet.fact("Power", f"fed through “{name}”", feed.power, "W")
        sheet.fact("Power", f"current through “{name}”, peak", abs(feed.current), "A")
        sheet.fact("Power", f"voltage at “{name}”, peak", abs(feed.voltage), "V")
        entries[name] = {
            "input_resistance_ohm": feed.impedance.real,
            "input_reactance_ohm": -feed.impedance.imag,
            "current_A": abs(feed.current),
            "voltage_V": abs(feed.voltage),
            "fed_W": feed.power,
        }
    sheet.number("feeds", entries)
    sheet.headline("radiation efficiency", f"{100 * found.outward / found.fed:.1f}", "%")
    sheet.headline("radiated", number(found.outward), "W")
    balance = f"{100 * found.balance:.2g}".replace("-", "\u2212")
    sheet.headline("power balance, absorbed + radiated − fed", balance, "% of fed")
    sheet.errors["power balance, absorbed + radiated - fed, of fed"] = abs(found.balance)
    sheet.number("power_balance_over_fed", found.balance)


@panel("amplitudes")
def powers(results: TransientResults, sheet: Sheet) -> None:
    """Absorbed and radiated power, and whether the last period repeats the one before."""
    assert results.amplitudes is not None
    found = results.amplitudes
    sheet.numbers.setdefault("feeds", {})
    sheet.number("frequency_Hz", found.frequency)
    sheet.headline("absorbed", number(sum(found.absorbed.values())), "W")
    sheet.number("absorbed_W", found.absorbed)
    for name, power in found.absorbed.items():
        if power:
            sheet.fact("Power", f"absorbed in “{name}”", power, "W")
    sheet.fact("Power", "through the outer boundary", found.outward, "W", key="outward_W")
    sheet.number("fields_scaled_by", found.scale)
    if found.scale != 1:
        sheet.fact("Power", "all fields scaled by", found.scale)
    sheet.headline("change in the last period", f"{100 * found.change:.2g}", "%")
    sheet.number("change_in_last_period", found.change)


@panel("amplitudes.pattern")
def far_field(results: TransientResults, sheet: Sheet) -> None:
    """The far field in a plane."""
    assert results.amplitudes is not None and results.amplitudes.pattern is not None
    pattern = results.amplitudes.pattern
    requested, level, largest = pattern.requested, pattern.level, int(pattern.levels.argmax())
    plane = requested.plane
    name = f"largest {level.name}, at {np.degrees(requested.values[largest]):.4g}° in the {plane} plane"
    sheet.headline(name, decibels(pattern.levels[largest]), level.unit)
    columns: list[Column] = [("angle_deg", np.degrees(requested.values)), (level.column(), pattern.levels)]
    for axis, letter in enumerate("xyz"):
        columns.append((f"F{letter}_real_V", pattern.far_field[:, axis].real))
        columns.append((f"F{letter}_imag_V", pattern.far_field[:, axis].imag))
    sheet.columns("far_field.csv", columns)
    sheet.curves(
        "far_field_polar.png",
        f"{level.name.capitalize()} in the {plane} plane, angles from +{plane[0]} toward +{plane[1]}.",
        lambda path: plots.polar(requested.values, {"calderon": pattern.levels}, level.unit, path, quantity=level.name),
    )


@panel("facts")
def run(results: TransientResults, sheet: Sheet) -> None:
    """The steps, and the unknowns that are advanced."""
    solver, facts, block = results.file.case.solver, results.facts, "Steps"
    method = "leap-frog" if solver.flux == "centred" else "Runge-Kutta"
    sheet.headline("steps", grouped(facts.steps))
    sheet.headline("step", *time_text(facts.step).split())
    sheet.headline("memory of the fields", *format_bytes(facts.memory).split())
    sheet.fact(block, "polynomial degree", solver.order)
    sheet.fact(block, "flux", f"{solver.flux}, {method}")
    sheet.fact(block, "arithmetic", f"{solver.precision}, {solver.backend}")
    limit = f"{100 * facts.step / facts.step_limit:.0f} % of the limit"
    sheet.fact(block, "step", facts.step, limit, key="step_s", text=time_text(facts.step))
    sheet.number("step_limit_s", facts.step_limit)
    sheet.fact(block, "steps", facts.steps, key="steps")
    sheet.number("tetrahedra_by_halvings_of_the_step", list(facts.elements_by_step))
    sheet.number("work_of_one_step_for_all_over_work", facts.saving)
    if len(facts.elements_by_step) > 1:
        sheet.headline("shorter steps of small elements save", f"{facts.saving:.1f}", "times the work")
        for k, count in enumerate(facts.elements_by_step):
            sheet.fact(block, f"tetrahedra with {f'1/{2**k} of the' if k else 'the whole'} step", count)
        sheet.fact(block, "work of one step for all", f"{facts.saving:.1f}", "times as much")
    sheet.fact(block, "end", facts.end, key="end_s", text=time_text(facts.end))
    sheet.fact(block, "memory of the fields", facts.memory, key="memory_bytes", text=format_bytes(facts.memory))
    sheet.number("ranks", facts.ranks)
    sheet.fact(block, "ranks, threads of each", f"{facts.ranks}, {facts.threads}")
    if advanced := results.seconds.get("advance the fields"):
        updates = facts.unknowns * facts.steps * facts.updates
        sheet.headline("updates of unknowns", f"{1e-6 * updates / advanced:.0f}", "million/s")


@panel("mesh")
def mesh(results: TransientResults, sheet: Sheet) -> None:
    """The mesh, whole and part by part."""
    mesh, shape, block = results.mesh, results.shape, "Mesh"
    edges, least = mesh.longest_edges, float(mesh.quality.min())
    sheet.fact(block, "tetrahedra", mesh.number_of_tetrahedra, key="mesh.tetrahedra")
    sheet.fact(block, "vertices", mesh.number_of_vertices, key="mesh.vertices")
    sheet.number("mesh.volume_m3", float(mesh.volumes.sum()))
    sheet.fact(block, "longest edges", f"{1e3 * edges.min():.3g} to {1e3 * edges.max():.3g}", "mm")
    sheet.fact(block, "least quality (1: regular)", least, key="mesh.least_quality", text=f"{least:.2f}")
    sheet.fact(block, "slivers (quality below 0.1)", shape.slivers, key="mesh.slivers")
    sheet.number("mesh.step_without_slivers_over_step", shape.gain)
    if shape.slivers:
        sheet.fact(block, "step without slivers", f"{shape.gain:.2f}", "times larger")
    sheet.numbers["mesh"]["parts"] = {
        part.name: {
            "tetrahedra": part.tetrahedra,
            "shortest_and_longest_edge_m": list(part.edges),
            "least_quality": part.quality,
            "least_delay_s": part.delay,
        }
        for part in shape.parts
    }
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
        for part in shape.parts
    ]
    sheet.table("Parts of the mesh", columns, rows)


@panel("error")
def error(results: TransientResults, sheet: Sheet) -> None:
    assert results.error is not None
    sheet.error("error against the exact wave", results.error)
    sheet.numbers["relative_l2_error"] = results.error


PANELS = (absorption, feeds, far_field, powers, error, unknowns, run, mesh, snapshots, signals, planes, fields)
"""In the order in which they appear."""
