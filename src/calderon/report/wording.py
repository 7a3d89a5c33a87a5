"""Numbers as texts for people."""

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
