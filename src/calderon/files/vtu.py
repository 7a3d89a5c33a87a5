"""Unstructured grids of VTK (.vtu) with values at points and in cells, as ParaView reads them."""

import base64
import os
import sys
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

import numpy as np
from numpy.typing import NDArray

CELL_TYPES = {"triangle": 5, "tetra": 10, "tetra10": 24}
"""VTK's numbers of kinds of cells (vtkCellType.h)."""
BLOCK = 32768
"""Bytes that are compressed together."""

Arrays = Mapping[str, NDArray[Any]]


def write_grid(
    path: str | os.PathLike[str],
    points: NDArray[np.float64],
    blocks: Sequence[tuple[str, NDArray[np.int64]]],
    at_points: Arrays,
    in_cells: Arrays,
    comments: Sequence[str] = (),
) -> None:
    """Write points (n, 3), blocks of cells, each of a kind of `CELL_TYPES` with its nodes (cells, nodes), real values
    (n,) or (n, 3) at the points, and in the cells of all blocks together. comments: lines at the begin, without "--".

    Arrays have the bytes of this machine, compressed by zlib in blocks, in base 64 (VTK File Formats, section "XML").
    """
    nodes = [np.asarray(cells, np.int64) for _, cells in blocks]
    number = sum(len(each) for each in nodes)
    ends = np.cumsum(np.concatenate([np.zeros(0, np.int64), *(np.full(len(n), n.shape[1]) for n in nodes)]))
    types = np.concatenate(
        [np.zeros(0, np.uint8), *(np.full(len(n), CELL_TYPES[kind], np.uint8) for kind, n in blocks)]
    )
    cells = {"connectivity": np.concatenate([np.zeros(0, np.int64), *(n.ravel() for n in nodes)]), "offsets": ends}
    order = "LittleEndian" if sys.byteorder == "little" else "BigEndian"
    parts = [
        '<?xml version="1.0"?>\n',
        *(f"<!-- {each} -->\n" for each in comments),
        f'<VTKFile type="UnstructuredGrid" version="0.1" byte_order="{order}" compressor="vtkZLibDataCompressor">\n',
        f'<UnstructuredGrid>\n<Piece NumberOfPoints="{len(points)}" NumberOfCells="{number}">\n',
    ]
    for name, arrays in (("Points", {"Points": points}), ("Cells", {**cells, "types": types}),
                         ("PointData", at_points), ("CellData", in_cells)):  # fmt: skip
        parts += [f"<{name}>\n", *(_array(*each) for each in arrays.items()), f"</{name}>\n"]
    parts.append("</Piece>\n</UnstructuredGrid>\n</VTKFile>\n")
    Path(path).write_text("".join(parts), encoding="utf-8")


def _array(name: str, values: NDArray[Any]) -> str:
    """One array: the number of blocks, their bytes, those of the last one, those of each compressed, and the blocks."""
    values = np.ascontiguousarray(values, np.uint8 if values.dtype == bool else None)
    kind = {"f": "Float", "i": "Int", "u": "UInt"}[values.dtype.kind] + str(8 * values.dtype.itemsize)
    data = values.astype(values.dtype.newbyteorder("=")).tobytes()
    blocks = [data[first : first + BLOCK] for first in range(0, len(data), BLOCK)]
    packed = [zlib.compress(each) for each in blocks]
    head = [len(blocks), BLOCK, len(blocks[-1]) if blocks else 0, *map(len, packed)]
    coded = base64.b64encode(np.array(head, np.uint32).tobytes()) + base64.b64encode(b"".join(packed))
    components = f' NumberOfComponents="{values.shape[1]}"' if values.ndim == 2 else ""
    text = coded.decode("ascii")
    return f'<DataArray type="{kind}" Name={quoteattr(name)}{components} format="binary">{text}</DataArray>\n'
