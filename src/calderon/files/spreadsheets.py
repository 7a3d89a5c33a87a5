"""Texts in tables that spreadsheets open."""

import re

_STARTS = re.compile("[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
"""Characters, ASCII and of full width, at the begin of what a spreadsheet takes for a formula, or joins to one
(OWASP, "CSV Injection")."""
PREFIX = "'"
"""Makes a cell a text in spreadsheets."""


def cell_text(text: str) -> str:
    """A text as a cell of a .csv file: with PREFIX before one that a spreadsheet would run as a formula, such as the
    tag "=2+3", also behind blanks. Numbers stay as they are."""
    if not _STARTS.match(text.lstrip(" ")):
        return text
    try:
        float(text)
    except ValueError:
        return PREFIX + text
    return text if text.isprintable() else PREFIX + text
