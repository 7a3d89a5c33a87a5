"""Files for ParaView: fields in a box of points (.vti), collections of files (.pvd), and the real arrays by name that
files hold of complex values and vectors."""

import base64
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np
from numpy.typing import NDArray

from calderon.data.labelled import Quantity
from calderon.data.places import Image
from calderon.files import file_path, whole_file


def write_image(path: str | os.PathLike[str], image: Image, quantities: Sequence[Quantity]) -> None:
    """Write real arrays, or real part, imaginary part, magnitude and phase; NaN stays NaN. Atomic."""
    extent = " ".join(f"0 {count - 1}" for count in image.counts)
    box = f'WholeExtent="{extent}" Origin="{_row(image.origin)}" Spacing="{_row(image.spacing)}" '
    box += f'Direction="{_row(image.directions.T.ravel())}"'
    number = int(np.prod(image.counts))
    arrays = []
    for each in quantities:
        values = each.values.reshape(number, -1) if each.vector else each.values.reshape(number)
        for name, part in named_fields(each.label or each.name, each.unit, values).items():
            arrays.append(_array(name, part))
    text = (
        '<?xml version="1.0"?>\n<VTKFile type="ImageData" version="1.0" byte_order="LittleEndian" '
        f'header_type="UInt64">\n<ImageData {box}>\n<Piece Extent="{extent}">\n<PointData>\n'
    )
    text += "".join(arrays) + "</PointData>\n</Piece>\n</ImageData>\n</VTKFile>\n"
    with whole_file(path) as scratch:
        Path(scratch).write_text(text, encoding="utf-8")


def _row(values: NDArray[np.float64]) -> str:
    return " ".join(f"{float(value):.17g}" for value in values)


def _array(name: str, values: NDArray[np.float64]) -> str:
    """One array: its length in bytes, then its numbers, in base 64."""
    data = np.ascontiguousarray(values, "<f8").tobytes()
    coded = base64.b64encode(np.uint64(len(data)).astype("<u8").tobytes() + data).decode("ascii")
    components = f' NumberOfComponents="{values.shape[1]}"' if values.ndim == 2 else ""
    return f'<DataArray type="Float64" Name={quoteattr(name)}{components} format="binary">{coded}</DataArray>\n'


Fields = dict[str, NDArray[Any]]


def named_fields(label: str, unit: str, values: NDArray[Any]) -> Fields:
    """Real arrays by name for values (n,) or vectors (n, 3): themselves, or real part, imaginary part, magnitude and,
    of complex numbers, phase in rad. The magnitude of a vector is the square root of the sum of |components|^2.
    """
    name = f"{label} [{unit}]" if unit else label
    vectors = values.ndim == 2
    size = np.linalg.norm(values, axis=1) if vectors else np.abs(values)
    magnitude = {f"{name} magnitude": size.astype(float)}
    if not np.iscomplexobj(values):
        return {name: values.astype(float)} | (magnitude if vectors else {})
    fields = {f"{name} real": values.real.astype(float), f"{name} imaginary": values.imag.astype(float)} | magnitude
    return fields if vectors else fields | {f"{label} phase [rad]": np.angle(values).astype(float)}


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
