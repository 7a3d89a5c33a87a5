"""The few numbers that a reader of a result looks for first."""

import numpy as np

from calderon.report.results import Results, Step

Row = tuple[str, str, str]  # name, value, unit
VACUUM_PERMITTIVITY = 8.8541878188e-12  # F/m, CODATA 2022


def headlines(results: Results, seconds: dict[str, float]) -> list[Row]:
    """The numbers that a reader looks for first."""
    steps = results.steps
    cards: list[Row] = []
    asked = results.file.case.output.far_field
    loudest = max((step for step in steps if step.strength is not None), key=_loudest, default=None)
    if loudest is not None and asked is not None and loudest.strength is not None:
        degrees = float(np.degrees(asked.values[int(np.argmax(loudest.strength))]))
        at = f"at {degrees if degrees < 360 - 1e-9 else degrees - 360:.4g}°"
        at += f" and {loudest.name}" if len(steps) > 1 else f" in the {asked.plane} plane"
        cards.append((f"largest bistatic target strength, {at}", decibels(_loudest(loudest)), "dB re 1 m"))
    if len(steps) == 1 and steps[0].backward is not None:
        cards.append(("target strength back toward the source", decibels(steps[0].backward), "dB re 1 m"))
    levels = [float(step.monostatic.max()) for step in steps if step.monostatic is not None]
    if levels:
        cards.append(("largest monostatic target strength", decibels(max(levels)), "dB re 1 m"))
    errors = [step.exact_error for step in steps if step.exact_error is not None]
    if errors:
        cards.append(("far-field error against the exact series", f"{100 * max(errors):.2g}", "%"))
    if steps[0].total_flux is not None:
        cards.append(("total charge over ε₀", f"{steps[0].total_flux:.6g}".replace("-", "\u2212"), "V m"))
        physics = results.file.case.physics
        if physics.potential and physics.side != "interior":
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


def _loudest(step: Step) -> float:
    assert step.strength is not None
    return float(step.strength.max())


def decibels(level: float) -> str:
    """A tenth of a decibel, with a minus sign that is one."""
    return f"{level:.1f}".replace("-", "\u2212")


def number(value: float) -> str:
    """Four digits, six for large values."""
    return f"{value:.4g}" if abs(value) < 1e5 else f"{value:.6g}"
