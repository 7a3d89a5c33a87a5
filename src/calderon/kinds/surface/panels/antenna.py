"""The panel of a fed antenna: its input impedance, and what a line of 50 ohm sees of it."""

from collections.abc import Sequence
from itertools import pairwise

import numpy as np

import calderon.plots as plots
from calderon.formulations.ports.port_sweep import write_touchstone
from calderon.kinds.surface.results import Results, Step
from calderon.report import Sheet, panel
from calderon.report.formatting import decibels, decibels_of_power, frequency_text, ohms
from calderon.report.reflection import LINE, reflection, standing_wave_ratio


@panel("impedances")
def impedance(results: Results, sheet: Sheet) -> None:
    steps, impedances = results.steps, results.impedances
    s = reflection(impedances)
    levels = decibels_of_power(np.abs(s) ** 2)
    if len(steps) == 1:
        sheet.headline("input impedance", ohms(complex(impedances[0])), "Ω")
    _resonance(steps, sheet)
    least = int(np.abs(s).argmin())
    name = f"{'least ' if len(steps) > 1 else ''}S11 on {LINE:g} ohm, at {steps[least].name}"
    sheet.headline(name, decibels(float(levels[least])), "dB")
    resistance, reactance = impedances.real, -impedances.imag
    waves, matched = results.moments, (("S11_dB", levels), ("VSWR", standing_wave_ratio(s)))
    sheet.columns("impedance.csv", [waves, ("resistance_ohm", resistance), ("reactance_ohm", reactance), *matched])
    if steps[0].frequency is None:
        return
    sheet.file("antenna.s1p", lambda path: write_touchstone(path, waves[1], s[:, None, None], LINE))
    if len(steps) == 1:
        return
    frequencies, axis = results.frequency_axis
    parts = {"resistance": resistance, "reactance": reactance}
    caption, line = "Input impedance over frequency.", f"a line of {LINE:g} ohm"
    sheet.cartesian("impedance.png", caption, frequencies, parts, axis, "input impedance (ohm)")
    caption = f"Magnitude of S11, the reflection on {line}."
    sheet.cartesian("reflection.png", caption, frequencies, {"": levels}, axis, "magnitude of S11 (dB)")
    caption = f"Reflection on {line}, with the resistance and reactance in parts of that, inductive ones above."
    ends = steps[0].name, steps[-1].name
    sheet.picture("smith.png", caption, lambda path: plots.smith({"S11": s}, path, ends=ends))


def _resonance(steps: Sequence[Step], sheet: Sheet) -> None:
    """Where in a sweep the reactance first rises through zero, on a straight line between two steps."""
    known = [(step.frequency, step.impedance) for step in steps if step.frequency and step.impedance is not None]
    for (low, before), (high, after) in pairwise(known):
        if -before.imag < 0 <= -after.imag:
            part = before.imag / (before.imag - after.imag)
            value, unit = frequency_text(low + part * (high - low)).split()
            sheet.headline("resonance of the input impedance", value, unit)
            resistance = before.real + part * (after.real - before.real)
            sheet.headline("resistance there", f"{resistance:.1f}", "Ω")
            return
