"""Files of several moments or frequencies as one for ParaView (.pvd)."""

import os
from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import quoteattr

from calderon.files import file_path, whole_file


def collection_path(path: str | os.PathLike[str]) -> Path:
    """The path of a collection; ValueError for another ending, and for a name that is no text, in which it could not
    list files."""
    found = file_path(path, "a collection", "fields.pvd")
    if found.suffix.lower() != ".pvd":
        raise ValueError(f"collections of files are .pvd files, got {str(path)!r}")
    if found.name.encode("utf-8", "replace").decode() != found.name:
        raise ValueError(f"a collection lists files named like itself, and {found.name!r} is no text in UTF-8")
    return found


def write_collection(path: str | os.PathLike[str], files: Sequence[tuple[float, int, str]]) -> None:
    """Write (time or frequency, number of the part, name of the file next to it). Atomic. Errors as for
    `collection_path`."""
    path = collection_path(path)
    sets = "".join(
        f'<DataSet timestep="{float(time):.12g}" part="{part}" file={quoteattr(name)}/>\n' for time, part, name in files
    )
    text = f'<?xml version="1.0"?>\n<VTKFile type="Collection" version="0.1">\n<Collection>\n{sets}'
    with whole_file(path) as scratch:
        Path(scratch).write_text(text + "</Collection>\n</VTKFile>\n", encoding="utf-8")
