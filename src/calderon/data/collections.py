"""Files of several moments or frequencies as one for ParaView (.pvd)."""

import os
from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import quoteattr

from calderon.files import file_path, whole_file


def write_collection(path: str | os.PathLike[str], files: Sequence[tuple[float, int, str]]) -> None:
    """Write (time or frequency, number of the part, name of the file next to it). Atomic. ValueError for another
    ending."""
    if file_path(path, "a collection", "fields.pvd").suffix.lower() != ".pvd":
        raise ValueError(f"collections of files are .pvd files, got {str(path)!r}")
    sets = "".join(
        f'<DataSet timestep="{float(time):.12g}" part="{part}" file={quoteattr(name)}/>\n' for time, part, name in files
    )
    text = f'<?xml version="1.0"?>\n<VTKFile type="Collection" version="0.1">\n<Collection>\n{sets}'
    with whole_file(path) as scratch:
        Path(scratch).write_text(text + "</Collection>\n</VTKFile>\n", encoding="utf-8")
