"""Scattering of ports and radiation over a band, as reports of boards and of antennas show them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

import calderon.plots as plots
from calderon.formulations import PortSweep
from calderon.formulations.ports.power_waves import reference_text
from calderon.report.formatting import Column, Row, decibels, decibels_of_power, frequency_text, frequency_unit
from calderon.report.reflection import accepted_part, bandwidth, headline_bandwidth
from calderon.report.sheet import Sheet, panel

LEAST = 1e-3
"""Part of the power at a port that all ports together accept, below which gains are those of rounding."""
STEP = 3
"""Degrees between directions in which the largest gain is looked for."""
LOSSLESS = 99.0
"""Efficiency in per cent above which there is no curve of it."""


@dataclass(frozen=True)
class Radiation:
    """At a frequency in Hz: radiated over accepted power, and the largest gain in dBi."""

    frequency: float
    efficiency: float
    gain: float

    @classmethod
    def of(cls, solution: Any) -> "Radiation | None":
        """The numbers of a solution; None where ports accept less than `LEAST` of the power at one of them."""
        if accepted_share(solution) < LEAST:
            return None
        share = float(solution.radiated_power()) / float(solution.input_power)
        return cls(float(solution.frequency), share, largest_gain(solution))


def accepted_share(solution: Any) -> float:
    """Power that all ports accept over the largest at one of them."""
    through = np.real(solution.voltages * np.conj(solution.feed_currents)) / 2
    return float(through.sum() / np.abs(through).max())


def largest_gain(solution: Any) -> float:
    """In dBi, of all directions by steps of `STEP` degrees."""
    angles = (np.radians(np.arange(0, end, STEP)) for end in (181, 360))
    theta, phi = np.meshgrid(*angles, indexing="ij")
    return float(decibels_of_power(solution.gain(theta, phi)).max())


def over_band(
    radiations: Sequence[Radiation], frequencies: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Efficiencies and largest gains in dBi at frequencies (n,), by cubic polynomials without overshoot between those
    that were solved."""
    found = sorted(radiations, key=lambda each: each.frequency)
    hertz = np.array([each.frequency for each in found])
    values = np.array([[each.efficiency, each.gain] for each in found])
    kept = np.clip(frequencies, hertz[0], hertz[-1])
    efficiency, gain = scipy.interpolate.PchipInterpolator(hertz, values)(kept).T
    return efficiency, gain


class PortResults:
    """Names and levels of S over a band, of a result with `sweep`, and the power that its ports accept."""

    sweep: PortSweep
    solution: Any
    modes: int = 0
    """The number of modes of waveguides, which are the first ports."""

    @property
    def reference(self) -> float:
        """The resistance in ohm of the lines to which S refers."""
        raise NotImplementedError

    @property
    def generators(self) -> str:
        """The generators that feed the ports, of realised gains."""
        return "" if self.modes else f" with generators of {self.reference:g} Ω"

    @property
    def accepted_over_band(self) -> NDArray[np.float64] | None:
        """Accepted over available power at each frequency, for the voltages or waves of the solution."""
        into = getattr(self.solution, "waves", ())  # of wires alone there are none
        waves = np.append(into, self.solution.voltages[len(into) :])
        return accepted_part(self.sweep.s, waves, self.reference, self.modes)

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


def gain_all_around(at: str) -> str:
    """The caption of a view of gains, which are those at the frequency of that text."""
    return f"Gain in all directions at {at}: colour and radius. Drag to turn, point for values."


@panel("sweep")
def resonances(results: Any, sheet: Sheet) -> None:
    """Frequencies and qualities of the resonances."""
    found = results.resonances
    for each in found[:3]:
        sheet.headline(f"resonance, of Q {each.quality:.1f}", *frequency_text(each.frequency, 5).split())
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


@panel("radiations")
def gain_over_frequency(results: Any, sheet: Sheet) -> None:
    """The largest gain, the realised one and the efficiency over the band."""
    solved = [each.efficiency for each in results.radiations]
    low, high = 100 * min(solved), 100 * max(solved)
    text = f"{low:.4g}" if high - low < 0.05 else f"{low:.4g} to {high:.4g}"
    sheet.block("Radiation over the band", [("radiated, of the accepted power", text, "%")])
    if len(solved) < 2:
        return
    hertz = results.sweep.frequencies
    efficiency, gain = over_band(results.radiations, hertz)
    gains, caption = {"gain": gain}, f"Largest gain of all directions, solved at {len(solved)} frequencies"
    if results.accepted_over_band is not None:
        gains["realised gain"] = gain + decibels_of_power(results.accepted_over_band)
        caption += f"; realised: less what returns{results.generators}"
    columns: list[Column] = [("frequency_Hz", hertz), ("efficiency", efficiency)]
    columns += [(f"{name.replace(' ', '_')}_dBi", values) for name, values in gains.items()]
    sheet.columns("gain_over_frequency.csv", columns)
    factor, unit = frequency_unit(float(hertz.min()))
    axis = f"frequency ({unit})"
    sheet.cartesian("gain_over_frequency.png", f"{caption}.", hertz / factor, gains, axis, "gain (dBi)")
    if low < LOSSLESS:
        caption, curve = "Radiated power in parts of the accepted one.", {"efficiency": 100 * efficiency}
        sheet.cartesian("efficiency.png", caption, hertz / factor, curve, axis, "efficiency (%)")


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
