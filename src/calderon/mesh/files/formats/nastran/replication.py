"""Replication of Nastran's cards: lines that repeat the preceding card, with steps in some of its fields.

Source: MSC Nastran Quick Reference Guide, "Bulk Data Entries", replication.
"""

import re
from collections.abc import Callable, Sequence
from itertools import zip_longest
from typing import NoReturn

from calderon.mesh.files.formats.nastran.numbers import integer, real

AGAIN = re.compile(r"=\s*(?:\((\d{1,9})\)|(\d{1,9}))?")
"""The first field of a line that repeats: =, or =(n) and =n for n times more."""
_STEP = re.compile(r"\*\s*(?:\((.+)\)|(.+))")


def times(first: str, refuse: Callable[[str], NoReturn]) -> int:
    """How often the steps before are taken again; 0 for a line with own steps."""
    match = AGAIN.fullmatch(first)
    count, most = int(match[1] or match[2] or 0) if match else -1, 1_000_000
    if not 0 <= count <= most:
        refuse(f"{first!r} is no replication: = or =(n) is, up to {most} times")
    return count


def successor(before: Sequence[str], steps: Sequence[str], refuse: Callable[[str], NoReturn]) -> list[str]:
    """The fields of the next card: "=" keeps one, "==" all from there on, "*x" and "*(x)" add x, others are new."""
    made: list[str] = []
    for old, new in zip_longest(before, steps, fillvalue=""):
        if new == "==":
            return [*made, *before[len(made) :]]
        step = _STEP.fullmatch(new)
        if step is None:
            made.append(old if new == "=" else new)
        else:
            made.append(_sum(old, (step[1] or step[2]).strip(), refuse))
    return made


def _sum(old: str, step: str, refuse: Callable[[str], NoReturn]) -> str:
    """The sum of two numbers as text, of two whole numbers a whole one; a blank field is zero."""
    whole = integer(old), integer(step)
    if whole[0] is not None and whole[1] is not None:
        return str(whole[0] + whole[1])
    numbers = real(old or "0.0"), real(step)
    if numbers[0] is None or numbers[1] is None:
        refuse(f"replication adds {step!r} to {old!r}, which are no numbers")
    return repr(numbers[0] + numbers[1])
