"""Panels of rooms: the transmission loss of ducts, and modes."""

from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import calderon.plots as plots
from calderon.formulations.acoustic.room_modes import RoomMode
from calderon.kinds.acoustics.results import SoundResults
from calderon.report import Sheet, panel
from calderon.report.formatting import Column, decibels, frequency_text, number
from calderon.view import Scene, Steps

DRAWN = 4
"""Modes that have pictures; a live view has all."""


@panel("four_poles")
def transmission_loss(results: SoundResults, sheet: Sheet) -> None:
    """The transmission loss of a duct, and its four-poles as a file."""
    poles, hertz = results.four_poles, results.frequencies
    loss, ports = np.array([each.transmission_loss for each in poles]), results.file.case.output.four_pole
    places = {"largest ": int(loss.argmax()), "least ": int(loss.argmin())} if len(loss) > 1 else {"": 0}
    for name, place in places.items():
        at = f" at {frequency_text(hertz[place])}"
        sheet.headline(f"{name}transmission loss{at}", decibels(loss[place]), "dB")
    sheet.numbers["transmission_loss_dB"] = loss.tolist()
    columns: list[Column] = [("frequency_Hz", hertz), ("transmission_loss_dB", loss)]
    units = ("A", "B_Pa_s_per_m3", "C_m3_per_Pa_s", "D")
    matrices = np.array([each.matrix.ravel() for each in poles])
    for n, name in enumerate(units):
        columns += [(f"{name}_real", matrices[:, n].real), (f"{name}_imag", matrices[:, n].imag)]
    sheet.columns("four_pole.csv", columns)
    areas = "Ports"
    assert ports is not None
    for port, area in zip(ports, poles[0].areas, strict=True):
        sheet.fact(areas, f"area of {port}", area, "m²")
    if len(loss) > 1:
        factor, axis = results.frequency_axis
        solved = {}
        if len(results.solved) < len(hertz):
            solved = {"solved": (results.solved / factor, np.interp(results.solved, hertz, loss))}
        sheet.cartesian(
            "transmission_loss.png", f"Transmission loss from {ports[0]} to {ports[1]}, between pipes without end.",
            hertz / factor, {"transmission loss" if solved else "": loss}, axis, "transmission loss (dB)",
            references=solved,
        )  # fmt: skip


@panel("four_poles")
def four_pole_accuracy(results: SoundResults, sheet: Sheet) -> None:
    """The determinant of four-poles, 1 by reciprocity, and how many were solved."""
    worst = max(abs(each.determinant - 1) for each in results.four_poles)
    sheet.error("error estimate: determinant of the four-pole, 1 by reciprocity, differs by", worst)
    if len(results.solved) < len(results.frequencies):
        sheet.headline("frequencies with solutions", f"{len(results.solved)} of {len(results.frequencies)}")


@panel("file.case.output.resonances")
def resonances(results: SoundResults, sheet: Sheet) -> None:
    """Modes of a room: frequencies, a table, a file, the pressures on the walls."""
    modes, (low, high) = results.modes, results.file.case.output.resonances or (0.0, 0.0)
    sheet.headline(f"resonances from {frequency_text(low)} to {frequency_text(high)}", str(len(modes)))
    if not modes:
        return
    sheet.headline("the lowest of them", f"{modes[0].frequency.real:.5g}", "Hz")
    hertz = np.array([each.frequency for each in modes])
    equation = results.problem.equation
    decays = equation.reaction is not None or equation.losses is not None
    header = ["", "frequency (Hz)", *(["quality factor", "time to fall by 60 dB (s)"] if decays else [])]
    rows = [
        [str(n), f"{each.frequency.real:.5g}", *([number(each.quality), number(each.decay_time)] if decays else [])]
        for n, each in enumerate(modes, 1)
    ]
    sheet.table("Resonances", header, rows)
    sheet.numbers["resonances_Hz"] = [[each.real, each.imag] for each in hertz.tolist()]
    columns: list[Column] = [("frequency_real_Hz", hertz.real), ("frequency_imag_Hz", hertz.imag)]
    if decays:
        columns += [("quality_factor", [each.quality for each in modes])]
        columns += [("decay_time_s", [each.decay_time for each in modes])]
    sheet.columns("resonances.csv", columns)
    names = [f"mode_{n:02d}" for n in range(1, len(modes) + 1)]
    for name, mode in zip(names, modes, strict=True):
        sheet.file(f"{name}.vtu", mode.surface.write)
    sheet.view(lambda: _scene(modes), *(f"{name}.png" for name in names[:DRAWN]))
    for name, mode in zip(names[:DRAWN], modes, strict=False):
        caption = f"Pressure on the walls of the mode at {_hertz(mode)}, real part, the largest 1 Pa."
        sheet.picture(f"{name}.png", caption, partial(_draw, mode))


def _hertz(mode: RoomMode) -> str:
    return frequency_text(mode.frequency.real, 5)


def _draw(mode: RoomMode, path: Path) -> None:
    plots.surface(mode.surface, "real", path, renderer="matplotlib")


def _scene(modes: tuple[RoomMode, ...]) -> Scene:
    """The pressure of all modes on the walls."""
    layers: list[Any] = [each.surface.scene().layers[0] for each in modes]
    shown = replace(
        layers[0].fields[0], symbol="p", values=[each.fields[0].values[0] for each in layers], short=len(modes) > 4
    )
    slider = Steps("mode", [f"{n}: {_hertz(each)}" for n, each in enumerate(modes, 1)]) if len(modes) > 1 else None
    caption = "Pressure of the modes on the walls, the largest 1 Pa. Drag to turn, point for values."
    return Scene((replace(layers[0], fields=(shown,)),), steps=slider, caption=caption)
