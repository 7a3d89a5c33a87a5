"""Frequencies in words: Hz below a megahertz, then MHz and GHz."""

UNITS = ((1e9, "GHz"), (1e6, "MHz"), (1.0, "Hz"))


def unit_for(hertz: float) -> tuple[float, str]:
    """Hertz per unit, and the unit in which a frequency reads well."""
    return next((unit for unit in UNITS if hertz >= unit[0] * (1 - 1e-12)), UNITS[-1])


def spelled(hertz: float) -> str:
    """Six digits and the unit: "200 Hz", "3.5 GHz"."""
    factor, unit = unit_for(hertz)
    return f"{hertz / factor:.6g} {unit}"
