"""Fields in a box of points as a file for ParaView (.vti)."""

import base64
import os
from collections.abc import Sequence
from pathlib import Path
from xml.sax.saxutils import quoteattr

import numpy as np
from numpy.typing import NDArray

from calderon.data.labelled import Quantity
from calderon.data.named_fields import named_fields
from calderon.data.places import Image
from calderon.files import whole_file


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
