"""The few numbers that a reader of a result looks for first."""

from calderon.report.results import Results

Row = tuple[str, str, str]  # name, value, unit


def headlines(results: Results, seconds: dict[str, float]) -> list[Row]:
    """The numbers that a reader looks for first."""
    steps = results.steps
    cards: list[Row] = []
    levels = [float(step.strength.max()) for step in steps if step.strength is not None]
    if levels:
        cards.append(("largest bistatic target strength", f"{max(levels):.1f}", "dB re 1 m"))
    levels = [float(step.monostatic.max()) for step in steps if step.monostatic is not None]
    if levels:
        cards.append(("largest monostatic target strength", f"{max(levels):.1f}", "dB re 1 m"))
    errors = [step.exact_error for step in steps if step.exact_error is not None]
    if errors:
        cards.append(("far-field error against the exact series", number(100 * max(errors)), "%"))
    if steps[0].total_flux is not None:
        cards.append(("total charge over ε₀", f"{steps[0].total_flux:.6g}", "V m"))
    cards.append(("unknowns", f"{results.unknowns:,}".replace(",", "\u202f"), ""))
    resolved = [step.elements_per_wavelength for step in steps if step.elements_per_wavelength is not None]
    if resolved:
        cards.append(("elements per wavelength", f"{min(resolved):.1f}", ""))
    if any(len(step.residuals) for step in steps):
        cards.append(("iterations", str(max(step.iterations for step in steps)), ""))
    cards.append(("computing and drawing", f"{sum(seconds.values()):.1f}", "s"))
    return cards


def number(value: float) -> str:
    """Four digits, six for large values."""
    return f"{value:.4g}" if abs(value) < 1e5 else f"{value:.6g}"
