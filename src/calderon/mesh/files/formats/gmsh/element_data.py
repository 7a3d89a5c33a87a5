"""Numbers of elements in gmsh's files that other programs write as tags (section $ElementData)."""

import re

import numpy as np
from numpy.typing import NDArray

from calderon.mesh.errors import MeshError
from calderon.mesh.files.formats.gmsh.content import Block
from calderon.mesh.files.formats.gmsh.sections import Format

MARK = b"\n$ElementData"
NAMES = {"tags", "tag", "cell_tags"}


def element_data(data: bytes, form: Format, blocks: list[Block]) -> dict[str, list[NDArray[np.float64]]]:
    """The values of all elements, by blocks, of the sections of these NAMES that have one for each.

    A section is a list of texts, of reals and of whole numbers, each behind its count, and rows of an element and its
    values. MeshError where one of these is damaged.
    """
    found: dict[str, list[NDArray[np.float64]]] = {}
    if "ElementData" not in form.sections:
        return found
    for match in re.finditer(re.escape(MARK) + rb"\r?\n", data):
        body = data[match.end() : data.index(b"$EndElementData", match.end())]
        try:
            name, numbers, values = _section(body, form)
        except (ValueError, IndexError):
            raise MeshError("its section $ElementData is damaged; export it again") from None
        if name not in NAMES or not len(numbers):
            continue
        order = np.argsort(numbers)
        places = [np.minimum(np.searchsorted(numbers[order], block.numbers), len(order) - 1) for block in blocks]
        if all((numbers[order][place] == b.numbers).all() for place, b in zip(places, blocks, strict=True)):
            found[name] = [values[order][place] for place in places]
    return found


def _section(body: bytes, form: Format) -> tuple[str, NDArray[np.int64], NDArray[np.float64]]:
    """The name, the numbers of elements and their values, none unless there is one for each."""
    lists: list[list[bytes]] = []
    for _ in range(3):
        head, _, body = body.partition(b"\n")
        lines = body.split(b"\n", int(head))
        lists.append(lines[:-1])
        body = lines[-1]
    name = lists[0][0].strip().strip(b'"').decode("utf-8", errors="replace")
    columns, rows = (int(each) for each in lists[2][1:3])
    if columns != 1 or name not in NAMES:
        return name, np.zeros(0, np.int64), np.zeros(0)
    if form.binary:
        table = np.frombuffer(body, np.dtype([("number", form.integer), ("value", form.real)]), rows)
        return name, table["number"].astype(np.int64), table["value"].astype(np.float64)
    flat = np.array(body.split()[: 2 * rows], np.float64).reshape(rows, 2)
    return name, flat[:, 0].astype(np.int64), flat[:, 1]
