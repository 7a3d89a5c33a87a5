"""Numbers, frequencies and times as text."""

import numpy as np
from numpy.typing import NDArray

Row = tuple[str, str, str]
"""Name, value, unit."""


def decibels(level: float) -> str:
    """A tenth of a decibel, with a typographic minus sign."""
    return f"{level:.1f}".replace("-", "\u2212")


def ohms(impedance: complex) -> str:
    """R + jX as engineers write it: Z = R - iX for exp(-i omega t)."""
    sign = "+" if impedance.imag <= 0 else "\u2212"
    return f"{impedance.real:.1f} {sign} j{abs(impedance.imag):.1f}"


def number(value: float) -> str:
    """Four digits, six for large values."""
    return f"{value:.4g}" if abs(value) < 1e5 else f"{value:.6g}"


def extent(vertices: NDArray[np.float64]) -> str:
    """The extent of vertices (n, 3) in metres, as a clause."""
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    spans = (f"{axis} from {a:.4g} to {b:.4g} m" for axis, a, b in zip("xyz", low, high, strict=True))
    return f"which has {', '.join(spans)}"


FREQUENCY_UNITS = ((1e9, "GHz"), (1e6, "MHz"), (1.0, "Hz"))


def frequency_unit(hertz: float) -> tuple[float, str]:
    """Hertz per unit, and the unit in which a frequency has few digits."""
    return next((unit for unit in FREQUENCY_UNITS if hertz >= unit[0] * (1 - 1e-12)), FREQUENCY_UNITS[-1])


def frequency_text(hertz: float) -> str:
    """Six digits and the unit: "200 Hz", "3.5 GHz"."""
    factor, unit = frequency_unit(hertz)
    return f"{hertz / factor:.6g} {unit}"


TIME_UNITS = ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs"), (1e-9, "ns"))


def time_unit(seconds: float) -> tuple[float, str]:
    """Seconds per unit, and the unit in which a time has few digits."""
    return next((unit for unit in TIME_UNITS if seconds >= unit[0] * (1 - 1e-12)), (1e-12, "ps"))


def time_text(seconds: float) -> str:
    """Four digits and the unit: "11.12 ns"."""
    factor, unit = time_unit(seconds)
    return f"{seconds / factor:.4g} {unit}"
