"""Panels of a case of sound over frequency: levels at points, what a sheet takes off, powers, third octaves."""

import numpy as np

import calderon.plots as plots
from calderon.formulations.acoustic.results.third_octaves import PICOWATT, ThirdOctaves
from calderon.formulations.acoustic.results.third_octaves import third_octaves as in_bands
from calderon.kinds.acoustics.results import SoundResults
from calderon.report import Sheet, panel
from calderon.report.formatting import Column, decibels, frequency_text
from calderon.report.sound.panels import SHOWN, point_names


@panel("without_sheet", "file.case.output.points")
def insertion_loss(results: SoundResults, sheet: Sheet) -> None:
    """The level of the sources alone at points over that with the sheet."""
    assert results.without_sheet is not None
    free, names = results.levels(results.without_sheet), point_names(results)
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


@panel("file.case.output.third_octaves")
def third_octaves(results: SoundResults, sheet: Sheet) -> None:
    """Levels of the power and at points in third octaves: sums, files, pictures."""
    kind, weighted = results.file.case.output.third_octaves, results.is_weighted
    assert kind is not None
    meaning = {"mean": "means of tones", "density": "integrals of densities", "tones": "sums of tones"}[kind]
    if len(results.powers):
        bands = in_bands(results.frequencies, results.powers, kind, quantity="sound power")
        _sums(sheet, bands, "sound power")
        sheet.file("power_third_octaves.csv", bands.arrays().write_csv)
        sheet.picture(
            "power_third_octaves.png", f"Sound power level in third octaves, {meaning}.",
            lambda path: plots.third_octaves(bands, path, weighted=weighted),
        )  # fmt: skip
    if (squares := np.abs(results.pressures) ** 2 / 2).size:
        reference = results.reference_pressure**2
        names, chosen = point_names(results), squares[:, :SHOWN]
        spectra = {
            name: in_bands(
                results.frequencies,
                chosen[:, n],
                kind,
                unit="Pa^2",
                reference=reference,
                quantity=f"level at point {name}",
            )
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
