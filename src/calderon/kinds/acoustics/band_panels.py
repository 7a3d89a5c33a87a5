"""Panels of a case of sound over frequency: levels at points, what a sheet takes off, powers, third octaves."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

import calderon.plots as plots
from calderon.formulations.acoustic.results.third_octaves import PICOWATT, ThirdOctaves
from calderon.formulations.acoustic.results.third_octaves import third_octaves as in_bands
from calderon.kinds.acoustics.results import SoundResults, power_levels
from calderon.report import Sheet, panel
from calderon.report.formatting import Column, decibels, frequency_text, number, vector_text

SHOWN = 8
"""Points that have curves or rows."""


def _names(results: SoundResults) -> list[str]:
    return [f"{n}: {vector_text(each)} m" for n, each in enumerate(results.file.case.output.points, 1)]


def _solved(results: SoundResults, values: NDArray[np.float64]) -> dict[str, Any]:
    """Points of a picture at the solved frequencies, values (n,) in its unit; none where all are solved."""
    if results.band_error is None:
        return {}
    hertz = np.array([step.frequency for step in results.steps])
    return {"solved": (hertz / results.frequency_axis[0], values + results.weights(hertz))}


@panel("file.case.output.points")
def levels(results: SoundResults, sheet: Sheet) -> None:
    """Levels at points: the largest, a table, a file, and spectra with the solved frequencies."""
    every = results.levels(results.pressures) + results.weights(results.frequencies)[:, None]
    names, unit = _names(results), results.weighted_unit(results.level_unit)
    for n, name in enumerate(names[:2]):
        loudest = int(every[:, n].argmax())
        text = f"level at point {name}"
        if results.is_sweep:
            text = f"largest {text}, at {frequency_text(results.frequencies[loudest])}"
        sheet.headline(text, decibels(every[loudest, n]), unit)
    key = "levels_dBA" if results.is_weighted else "levels_dB"
    sheet.numbers[key] = every.tolist()
    columns: list[Column] = [("frequency_Hz", results.frequencies)]
    for n in range(len(names)):
        value = results.pressures[:, n]
        columns += [
            (f"level_{n + 1}_{key.removeprefix('levels_')}", every[:, n]), (f"pressure_{n + 1}_real_Pa", value.real),
            (f"pressure_{n + 1}_imag_Pa", value.imag),
        ]  # fmt: skip
    sheet.columns("levels.csv", columns)
    if not results.is_sweep:
        rows = [[name, decibels(every[0, n]), number(abs(results.pressures[0, n]))] for n, name in enumerate(names)]
        sheet.table("Points", ["", f"level ({unit})", "peak pressure (Pa)"], rows)
        return
    factor, axis = results.frequency_axis
    first = results.levels(np.array([step.pressures[0] for step in results.steps]))
    curves = {name: every[:, n] for n, name in enumerate(names[:SHOWN])}
    caption = f"Sound pressure level at {'the point' if len(names) == 1 else 'points'} over frequency."
    sheet.cartesian(
        "levels.png", caption, results.frequencies / factor, curves, axis, f"sound pressure level ({unit})",
        references=_solved(results, first),
    )  # fmt: skip


@panel("without_sheet", "file.case.output.points")
def insertion_loss(results: SoundResults, sheet: Sheet) -> None:
    """The level of the sources alone at points over that with the sheet."""
    assert results.without_sheet is not None
    free, names = results.levels(results.without_sheet), _names(results)
    loss = free - results.levels(results.pressures)
    for n, name in enumerate(names[:2]):
        least = int(loss[:, n].argmin())
        at = f", least, at {frequency_text(results.frequencies[least])}" if results.is_sweep else ""
        sheet.headline(f"insertion loss at point {name}{at}", decibels(loss[least, n]), "dB")
    columns: list[Column] = [("frequency_Hz", results.frequencies)]
    for n in range(len(names)):
        columns += [(f"insertion_loss_{n + 1}_dB", loss[:, n]), (f"level_without_sheet_{n + 1}_dB", free[:, n])]
    sheet.columns("insertion_loss.csv", columns)
    if not results.is_sweep:
        rows = [[name, decibels(loss[0, n]), decibels(free[0, n])] for n, name in enumerate(names)]
        header = ["", "insertion loss (dB)", f"level without the sheet ({results.level_unit})"]
        sheet.table("What the sheet takes off", header, rows)
        return
    factor, axis = results.frequency_axis
    curves = {name: loss[:, n] for n, name in enumerate(names[:SHOWN])}
    caption = "Insertion loss: the level of the sources alone over that with the sheet."
    sheet.cartesian(
        "insertion_loss.png", caption, results.frequencies / factor, curves, axis, "insertion loss (dB)"
    )  # fmt: skip


@panel("is_sweep")
def power_over_frequency(results: SoundResults, sheet: Sheet) -> None:
    """The sound power level over frequency."""
    if not len(results.powers):
        return
    factor, axis = results.frequency_axis
    unit = results.weighted_unit("dB re 1 pW")
    given = power_levels([step.power or 0.0 for step in results.steps])
    sheet.cartesian(
        "power.png", "Sound power level over frequency.", results.frequencies / factor,
        {"" if results.band_error is None else "sound power level": results.power_levels}, axis,
        f"sound power level ({unit})", references=_solved(results, given),
    )  # fmt: skip
    columns = [("frequency_Hz", results.frequencies), ("sound_power_W", results.powers)]
    name = "sound_power_level_dBA" if results.is_weighted else "sound_power_level_dB"
    sheet.columns("power.csv", [*columns, (name, results.power_levels)])


@panel("file.case.output.third_octaves")
def third_octaves(results: SoundResults, sheet: Sheet) -> None:
    """Levels of the power and at points in third octaves: sums, files, pictures."""
    kind, weighted = results.file.case.output.third_octaves, results.is_weighted
    assert kind is not None
    meaning = {"mean": "means of tones", "density": "integrals of densities", "tones": "sums of tones"}[kind]
    if len(results.powers):
        bands = in_bands(results.frequencies, results.powers, kind)
        _sums(sheet, bands, "sound power")
        sheet.file("power_third_octaves.csv", bands.arrays().write_csv)
        sheet.picture(
            "power_third_octaves.png", f"Sound power level in third octaves, {meaning}.",
            lambda path: plots.third_octaves(bands, path, weighted=weighted),
        )  # fmt: skip
    if (squares := np.abs(results.pressures) ** 2 / 2).size:
        reference = results.reference_pressure**2
        names, chosen = _names(results), squares[:, :SHOWN]
        spectra = {
            name: in_bands(results.frequencies, chosen[:, n], kind, unit="Pa^2", reference=reference)
            for n, name in enumerate(names[: chosen.shape[1]])
        }
        if not len(results.powers):
            _sums(sheet, spectra[names[0]], f"level at point {names[0]}")
        for n, each in enumerate(spectra.values(), 1):
            sheet.file(f"level_{n}_third_octaves.csv", each.arrays().write_csv)
        few = dict(list(spectra.items())[:3])
        sheet.picture(
            "levels_third_octaves.png", f"Sound pressure level at points in third octaves, {meaning}.",
            lambda path: plots.third_octaves(few, path, quantity="sound pressure level", weighted=weighted),
        )  # fmt: skip


def _sums(sheet: Sheet, bands: ThirdOctaves, what: str) -> None:
    """The sum of all bands, and the A-weighted one of gases."""
    low, high = bands.nominal[[0, -1]]
    text = f"{what}, third octaves {low:g} to {high:g} Hz together"
    sheet.headline(text, decibels(float(bands.total_level)), bands.level_unit)
    if bands.reference != PICOWATT or bands.unit == "W":
        unit = bands.level_unit.replace("dB", "dB(A)", 1)
        sheet.headline(f"{text}, A-weighted", decibels(float(bands.total_a_weighted_level)), unit)
