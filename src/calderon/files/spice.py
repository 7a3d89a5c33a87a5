"""Files of SPICE subcircuits."""

import os
import re
from pathlib import Path

from calderon.files.whole_file import file_path
from calderon.validation import text

NAME = re.compile(r"[A-Za-z0-9_]+")
"""Names that all SPICE simulators read as one word."""


def spice_file(path: str | os.PathLike[str], name: str, example: str) -> Path:
    """The path of the file of a subcircuit of that name. ValueError for an ending other than .sp or .cir, and for a
    name of other characters than letters, digits and underscores."""
    place = file_path(path, "a SPICE subcircuit", example)
    if place.suffix.lower() not in (".sp", ".cir"):
        raise ValueError(f"a SPICE subcircuit ends with .sp or .cir, got {str(path)!r}")
    if not NAME.fullmatch(text(name, "the name of a SPICE subcircuit")):
        raise ValueError(
            f"the name of a SPICE subcircuit has letters, digits and underscores, got {name!r}: "
            f"try {re.sub(r'[^A-Za-z0-9_]+', '_', name) or 'calderon'!r}"
        )
    return place
