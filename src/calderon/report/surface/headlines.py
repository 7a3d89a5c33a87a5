"""The few numbers that a reader of a result needs first."""

from itertools import pairwise

import numpy as np

from calderon.exact import VACUUM_PERMITTIVITY
from calderon.report.formatting import Row, decibels, frequency_text, ohms
from calderon.report.results import Results, Step
from calderon.report.surface.references import mean_difference


def surface_headlines(results: Results, seconds: dict[str, float]) -> list[Row]:
    """The numbers that a reader needs first."""
    steps = results.steps
    level = results.level
    cards: list[Row] = []
    asked = results.file.case.output.far_field
    loudest = max((step for step in steps if step.strength is not None), key=_loudest, default=None)
    if loudest is not None and asked is not None and loudest.strength is not None:
        degrees = float(np.degrees(asked.values[int(np.argmax(loudest.strength))]))
        at = f"at {degrees if degrees < 360 - 1e-9 else degrees - 360:.4g}°"
        at += f" and {loudest.name}" if len(steps) > 1 else f" in the {asked.plane} plane"
        what = level.name if steps[0].impedance is not None else f"bistatic {level.name}"
        cards.append((f"largest {what}, {at}", decibels(_loudest(loudest)), level.unit))
    if len(steps) == 1 and steps[0].backward is not None:
        cards.append((f"{level.name} back toward the source", decibels(steps[0].backward), level.unit))
    for pair in steps[0].monostatic:
        largest = max(float(step.monostatic[pair].max()) for step in steps)
        name = f"largest monostatic {level.name}" + (f", {pair}" if pair else "")
        cards.append((name, decibels(largest), level.unit))
    for one in results.file.case.output.reference:
        difference = mean_difference(results, one)
        if difference is not None:
            cards.append((f"mean difference to “{one.label}”", f"{difference:.2f}", "dB"))
    if len(steps) == 1 and steps[0].impedance is not None:
        cards.append(("input impedance", ohms(steps[0].impedance), "Ω"))
    cards += _resonance(steps)
    errors = [step.exact_error for step in steps if step.exact_error is not None]
    if errors:
        cards.append(("far-field error against the exact series", f"{100 * max(errors):.2g}", "%"))
    for backend in steps[0].deviations:
        largest = max(step.deviations[backend] for step in steps)
        cards.append((f"deviation of the far field computed on {backend}", f"{100 * largest:.2g}", "%"))
    if steps[0].total_flux is not None:
        cards.append(("total charge over ε₀", f"{steps[0].total_flux:.6g}".replace("-", "\u2212"), "V m"))
        physics = results.file.case.physics
        if physics.potential:
            farads = VACUUM_PERMITTIVITY * steps[0].total_flux / physics.potential
            cards.append(("capacitance in vacuum", f"{1e12 * farads:.5g}", "pF"))
    cards.append(("unknowns", f"{results.unknowns:,}".replace(",", "\u202f"), ""))
    resolved = [step.elements_per_wavelength for step in steps if step.elements_per_wavelength is not None]
    if resolved:
        cards.append(("elements per wavelength", f"{min(resolved):.1f}", ""))
    if any(len(step.residuals) for step in steps):
        cards.append(("iterations", str(max(step.iterations for step in steps)), ""))
    cards.append(("computing and drawing", f"{sum(seconds.values()):.1f}", "s"))
    return cards


def _resonance(steps: tuple[Step, ...]) -> list[Row]:
    """Where in a sweep the reactance of an antenna first rises through zero, on a straight line between two steps."""
    known = [(step.frequency, step.impedance) for step in steps if step.frequency and step.impedance is not None]
    for (low, before), (high, after) in pairwise(known):
        if -before.imag < 0 <= -after.imag:
            part = before.imag / (before.imag - after.imag)
            resistance = before.real + part * (after.real - before.real)
            value, unit = frequency_text(low + part * (high - low)).split()
            return [("resonance of the input impedance", value, unit), ("resistance there", f"{resistance:.1f}", "Ω")]
    return []


def _loudest(step: Step) -> float:
    assert step.strength is not None
    return float(step.strength.max())
