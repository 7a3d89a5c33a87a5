"""Numbers as texts for people."""

import numpy as np
from numpy.typing import NDArray

Row = tuple[str, str, str]
"""Name, value, unit."""


def decibels(level: float) -> str:
    """A tenth of a decibel, with a minus sign that is one."""
    return f"{level:.1f}".replace("-", "\u2212")


def ohms(impedance: complex) -> str:
    """R + jX as engineers write it: Z = R - iX for exp(-i omega t)."""
    sign = "+" if impedance.imag <= 0 else "\u2212"
    return f"{impedance.real:.1f} {sign} j{abs(impedance.imag):.1f}"


def number(value: float) -> str:
    """Four digits, six for large values."""
    return f"{value:.4g}" if abs(value) < 1e5 else f"{value:.6g}"


def extent(vertices: NDArray[np.float64]) -> str:
    """From where to where vertices (n, 3) in metres reach, as a clause."""
    low, high = vertices.min(axis=0), vertices.max(axis=0)
    spans = (f"{axis} from {a:.4g} to {b:.4g} m" for axis, a, b in zip("xyz", low, high, strict=True))
    return f"which has {', '.join(spans)}"
