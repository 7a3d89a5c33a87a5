"""Panels of a run at one frequency: powers, feeds, absorption, and the far field."""

from typing import Any

import numpy as np

import calderon.plots as plots
from calderon.kinds.transient.results import TransientResults
from calderon.report import Sheet, panel
from calderon.report.formatting import Column, decibels, number, ohms


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
