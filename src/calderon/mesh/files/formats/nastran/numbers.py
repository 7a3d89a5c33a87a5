"""Numbers in the fields of Nastran's cards."""

import math
import re

INTEGER = re.compile(r"[+-]?\d{1,18}", re.ASCII)
REAL = re.compile(r"([+-]?(?:\d+\.?\d*|\.\d+))(?:[EeDd]([+-]?\d{1,4})|([+-]\d{1,4}))?", re.ASCII)


def integer(text: str) -> int | None:
    """A whole number, or None for another text."""
    return int(text) if INTEGER.fullmatch(text) else None


def real(text: str) -> float | None:
    """A finite number such as 1.5, 15.-1 or 1.5D0, whose exponent needs no letter, or None for another text. A whole
    number, which OptiStruct allows, is one, too."""
    match = REAL.fullmatch(text)
    if match is None:
        return None
    exponent = match[2] or match[3]
    value = float(f"{match[1]}e{exponent}" if exponent else match[1])
    return value if math.isfinite(value) else None
