"""Records of a GDSII file (Calma, GDS II Stream Format Manual, release 6.0), each with its kind and checked contents.

A record has two bytes of length, one of its kind and one of the type of its data. Files are untrusted: readers in C
fail on damaged ones, so that they are read here.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

BYTES = 50_000_000
"""Largest size of a file."""
NONE, SHORT, LONG, REAL, TEXT = 0, 2, 3, 5, 6
"""Types of data that are read."""


class Shape(NamedTuple):
    """The name of a kind of records, the type of its data, and how many values it has, at least and at most."""

    name: str
    data: int
    least: int = 0
    most: int = 0


KINDS = {
    0x00: Shape("HEADER", SHORT, 1, 1), 0x03: Shape("UNITS", REAL, 2, 2), 0x04: Shape("ENDLIB", NONE),
    0x05: Shape("BGNSTR", SHORT, 0, 24), 0x06: Shape("STRNAME", TEXT, 1, 1000), 0x07: Shape("ENDSTR", NONE),
    0x08: Shape("BOUNDARY", NONE), 0x09: Shape("PATH", NONE), 0x0A: Shape("SREF", NONE), 0x0B: Shape("AREF", NONE),
    0x0C: Shape("TEXT", NONE), 0x0D: Shape("LAYER", SHORT, 1, 1), 0x0E: Shape("DATATYPE", SHORT, 1, 1),
    0x0F: Shape("WIDTH", LONG, 1, 1), 0x10: Shape("XY", LONG, 2, 16_000), 0x11: Shape("ENDEL", NONE),
    0x12: Shape("SNAME", TEXT, 1, 1000), 0x13: Shape("COLROW", SHORT, 2, 2), 0x15: Shape("NODE", NONE),
    0x19: Shape("STRING", TEXT, 0, 1000), 0x1A: Shape("STRANS", 1, 1, 1), 0x1B: Shape("MAG", REAL, 1, 1),
    0x1C: Shape("ANGLE", REAL, 1, 1), 0x21: Shape("PATHTYPE", SHORT, 1, 1), 0x2D: Shape("BOX", NONE),
    0x30: Shape("BGNEXTN", LONG, 1, 1), 0x31: Shape("ENDEXTN", LONG, 1, 1),
}  # fmt: skip
"""Kinds of records whose contents are read; others are passed over."""
SIZES = {NONE: 1, 1: 2, SHORT: 2, LONG: 4, REAL: 8, TEXT: 1}
Record = tuple[str, list[float] | list[int] | str, int]


def records(path: Path) -> Iterator[Record]:
    """The name, the values or the text, and the first byte of each record of a known kind, up to ENDLIB; ValueError,
    naming the file and the byte, for other files and incomplete ones."""
    if not path.is_file():
        raise ValueError(f"{path}: no such file")
    if path.stat().st_size > BYTES:
        raise ValueError(f"{path}: more than {BYTES} bytes")
    data, start, name = path.read_bytes(), 0, ""
    while name != "ENDLIB":
        head = data[start : start + 4]
        length = int.from_bytes(head[:2], "big")
        if len(head) < 4 or length < 4 or start + length > len(data) or (head[2] == 0) != (start == 0):
            raise ValueError(f"{path}: no GDSII file, or an incomplete one: its records end at byte {start}")
        if (shape := KINDS.get(head[2])) is not None:
            name = shape.name
            yield name, _values(data[start + 4 : start + length], head[3], shape, path, start), start
        start += length


def _values(body: bytes, kind: int, shape: Shape, path: Path, start: int) -> list[float] | list[int] | str:
    count, rest = divmod(len(body), SIZES[shape.data])
    if kind != shape.data or rest or not shape.least <= count <= shape.most:
        raise ValueError(f"{path}: the record {shape.name} at byte {start} has contents that it cannot have")
    if shape.data == TEXT:
        return body.rstrip(b"\0").decode("utf-8", "backslashreplace")
    if shape.data == REAL:
        return [_real(body[n : n + 8]) for n in range(0, len(body), 8)]
    return np.frombuffer(body, {LONG: ">i4", 1: ">u2"}.get(shape.data, ">i2")).tolist()


def _real(eight: bytes) -> float:
    """A number of a sign, an exponent of 16 in excess of 64, and 56 bits."""
    fraction = int.from_bytes(eight[1:], "big") / 2.0**56
    return (-1.0 if eight[0] & 0x80 else 1.0) * fraction * 16.0 ** ((eight[0] & 0x7F) - 64)
