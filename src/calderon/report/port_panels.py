"""Scattering of ports over a band, as reports of boards and of antennas show it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

import calderon.plots as plots
from calderon.formulations import PortSweep
from calderon.formulations.ports.power_waves import reference_text
from calderon.report.formatting import Column, Row, decibels, decibels_of_power, frequency_text, frequency_unit
from calderon.report.reflection import bandwidth, headline_bandwidth
from calderon.report.sheet import Sheet, panel


class PortResults:
    """Names and levels of S over a band, of a result with `sweep`."""

    sweep: PortSweep

    @property
    def names(self) -> dict[str, tuple[int, int]]:
        """Places of S11, S21, ... by their names: modes of waveguides, then other ports."""
        every = range(self.sweep.s.shape[1])
        comma = "," if len(every) > 9 else ""
        return {f"S{i + 1}{comma}{j + 1}": (i, j) for j in every for i in every}

    @property
    def levels(self) -> dict[str, NDArray[np.float64]]:
        """20 log10 |S| over frequency, by name."""
        return {name: decibels_of_power(np.abs(self.sweep.s[:, *place]) ** 2) for name, place in self.names.items()}


@panel("sweep")
def resonances(results: Any, sheet: Sheet) -> None:
    """Frequencies and qualities of the resonances."""
    found = results.resonances
    for each in found[:3]:
        sheet.headline("resonance", frequency_text(each.frequency, 5), f"Q {each.quality:.1f}")
    sheet.numbers["resonances"] = [{"frequency_Hz": each.frequency, "quality": each.quality} for each in found]
    sheet.block("Resonances", [(frequency_text(each.frequency), f"Q {each.quality:.4g}", "") for each in found])


@panel("sweep")
def scattering(results: Any, sheet: Sheet) -> None:
    """S over frequency: the least reflection, tables, a Touchstone file, curves and a Smith chart."""
    sweep, levels = results.sweep, next(iter(results.levels.values()))
    frequencies, best = sweep.frequencies, int(levels.argmin())
    name = f"{'least ' if len(levels) > 1 else ''}S11, at {frequency_text(float(frequencies[best]), 5)}"
    sheet.headline(name, decibels(float(levels[best])), "dB")
    if getattr(results, "radiates", True):
        headline_bandwidth(sheet, bandwidth(frequencies, levels))
    sheet.numbers |= {
        "solved_frequencies_Hz": np.sort(sweep.solved).tolist(),
        "least_S11_dB": float(levels.min()),
        "least_S11_frequency_Hz": float(frequencies[np.abs(sweep.s[:, 0, 0]).argmin()]),
    }
    sheet.columns("scattering.csv", lambda: _columns(results))
    sheet.file(f"scattering.s{sweep.s.shape[1]}p", sweep.write_touchstone)
    if len(frequencies) == 1:
        return
    rows: list[Row] = [("solved frequencies", str(sweep.solves), ""), ("S between them, to", f"{sweep.error:.1e}", "")]
    sheet.block("Sweep", rows)
    lines = _lines(results)
    factor, unit = frequency_unit(float(frequencies.min()))
    label = f"magnitude of {'S11' if len(results.levels) == 1 else 'S'} (dB)"
    caption, axis = f"Magnitude of S for lines of {lines}.", f"frequency ({unit})"
    own = {name: sweep.s[:, *place] for name, place in results.names.items() if place[0] == place[1]}
    marks = {
        f"resonance {n}" if n > 1 else "resonance": one.frequency / factor
        for n, one in enumerate(results.resonances, 1)
    }
    sheet.cartesian("scattering.png", caption, frequencies / factor, results.levels, axis, label, marks=marks)
    if not sweep.of_lines:
        caption = "Impedance of the ports, the others open." if len(own) > 1 else "Input impedance over frequency."
        z = _impedances(sweep)
        sheet.cartesian("impedance.png", caption, frequencies / factor, z, axis, "impedance (Ω)", marks=marks)
    ends = frequency_text(float(frequencies[0])), frequency_text(float(frequencies[-1]))
    caption = f"Reflection, with the resistance and reactance in parts of {lines}, inductive ones above."
    sheet.picture("smith.png", caption, lambda path: plots.smith(own, path, ends=ends))


def _lines(results: Any) -> str:
    """The impedances of lines at the ports to which S refers."""
    sweep, kinds = results.sweep, {port.kind for port in results.file.case.port}
    if not sweep.of_lines:
        return reference_text(sweep.reference)
    if "line" in kinds:
        return "their own impedance"
    return "the impedances of modes" + (f", and of {reference_text(sweep.reference)} at gaps" if kinds else "")


def _impedances(sweep: PortSweep) -> dict[str, NDArray[np.float64]]:
    """Resistance and reactance in ohm over frequency, of each of several ports by its number."""
    count = sweep.z.shape[1]
    found = {}
    for n in range(count):
        port = f" {n + 1}" if count > 1 else ""
        found[f"resistance{port}"], found[f"reactance{port}"] = sweep.z[:, n, n].real, -sweep.z[:, n, n].imag
    return found


def _columns(results: Any) -> list[Column]:
    """S over frequency, of one probe or gap with its impedance, in the time factor exp(+j omega t) of Touchstone."""
    sweep = results.sweep
    columns: list[Column] = [("frequency_Hz", sweep.frequencies)]
    for name, place in results.names.items():
        columns.append((f"{name}_dB", results.levels[name]))
        columns.append((f"{name}_phase_deg", np.degrees(np.angle(sweep.s[:, *place].conj()))))
    if not sweep.of_lines and [port.kind for port in results.file.case.port] in (["probe"], ["gap"], ["wire"]):
        z = sweep.z[:, 0, 0].conj()
        columns += [("R_ohm", z.real), ("X_ohm", z.imag)]
    return columns
