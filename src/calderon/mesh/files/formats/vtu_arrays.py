"""Arrays of XML files of VTK: as text, in base 64, appended to the file, compressed by zlib or not."""

from __future__ import annotations

import base64
import itertools
import re
import xml.etree.ElementTree as ET
import zlib
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from calderon.mesh.errors import MeshError

TYPES = {f"{kind}{bits}": f"{letter}{bits // 8}" for kind, letter in (("Int", "i"), ("UInt", "u"))
         for bits in (8, 16, 32, 64)} | {"Float32": "f4", "Float64": "f8"}  # fmt: skip
_RAW = re.compile(rb"<AppendedData\b[^>]*\bencoding\s*=\s*[\"']raw[\"'][^>]*>\s*_")


class VTKFile:
    """The elements of a file, `root`, and its arrays (VTK File Formats, section "XML")."""

    def __init__(self, data: bytes) -> None:
        appended, raw = b"", _RAW.search(data)
        if raw:  # bytes that are no XML
            end = data.rfind(b"</AppendedData>")
            appended, data = data[raw.end() : max(end, raw.end())], data[: raw.end()] + data[end:] * (end > 0)
        if b"<!ENTITY" in data:
            raise MeshError("it declares entities, which no program of VTK writes: export it again")
        self.root, self._raw = ET.fromstring(data), raw is not None
        if not raw and (element := self.root.find("AppendedData")) is not None:
            appended = "".join((element.text or "").split())[1:].encode("ascii")  # after the mark "_"
        self._appended = appended
        self._order: Literal["<", ">"] = ">" if self.root.get("byte_order") == "BigEndian" else "<"
        self._head = np.dtype(TYPES[self.root.get("header_type", "UInt32")]).newbyteorder(self._order)
        self._compressor = self.root.get("compressor", "")
        if self._compressor not in ("", "vtkZLibDataCompressor"):
            raise MeshError(f"it is compressed by {self._compressor}: write it with ZLib, or without compression")
        arrays = [each for each in self.root.iter("DataArray") if each.get("format") == "appended"]
        places = sorted({int(each.get("offset", 0)) for each in arrays})
        self._ends = dict(itertools.pairwise([*places, len(appended)]))

    def array(self, element: ET.Element, count: int) -> NDArray[Any]:
        """The numbers of a DataArray, (count,) or (count, components); MeshError for another number of them."""
        dtype, columns = np.dtype(TYPES[element.get("type", "")]), int(element.get("NumberOfComponents", 1))
        if element.get("format", "ascii") == "ascii":
            words = (element.text or "").split()
            kind: Any = float if dtype.kind == "f" else int
            values = np.array(list(map(kind, words)), dtype)
        else:
            data = self._bytes(element)
            values = np.frombuffer(data, dtype.newbyteorder(self._order)).astype(dtype)
        if columns < 1 or len(values) != count * columns:
            name = element.get("Name", "of points")
            raise MeshError(f"the array {name!r} has {len(values)} numbers, not {count * columns}: it is incomplete")
        return values.reshape(count, columns) if columns > 1 else values

    def _bytes(self, element: ET.Element) -> bytes:
        """The bytes of an array after its header, of one number for their count or of those of blocks."""
        if element.get("format") == "appended":
            begin = int(element.get("offset", 0))
            data = self._appended[begin : self._ends[begin]]
            data = data if self._raw else _decoded(data)
        else:
            data = _decoded("".join((element.text or "").split()).encode("ascii"))
        size = self._head.itemsize
        first = np.frombuffer(data[:size], self._head)
        if not len(first):
            return b""
        number = int(first[0])
        if not self._compressor:
            return data[size : size + number]
        if number > len(data) // size:
            raise MeshError("its arrays are shorter than they say: it is incomplete; export it again")
        _, block, last, *sizes = map(int, np.frombuffer(data[: (3 + number) * size], self._head))
        place, found = (3 + number) * size, []
        for n, packed in enumerate(sizes):
            length = last if n == number - 1 and last else block
            found.append(zlib.decompressobj().decompress(data[place : place + packed], max(length, 1)))
            if len(found[-1]) != length:
                raise MeshError("its arrays are shorter than they say: it is damaged; export it again")
            place += packed
        return b"".join(found)


def _decoded(text: bytes) -> bytes:
    """Bytes of base 64, in which the header may have been coded on its own."""
    return b"".join(base64.b64decode(part, validate=True) for part in re.findall(rb"[^=]+={0,2}", text))
