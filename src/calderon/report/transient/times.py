"""Times in words: s, ms, us, ns or ps."""

UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))


def unit_for_time(seconds: float) -> tuple[float, str]:
    """Seconds per unit, and the unit in which a time reads well."""
    return next((unit for unit in UNITS if seconds >= unit[0] * (1 - 1e-12)), (1e-12, "ps"))


def spelled_time(seconds: float) -> str:
    """Four digits and the unit: "11.12 ns"."""
    factor, unit = unit_for_time(seconds)
    return f"{seconds / factor:.4g} {unit}"
