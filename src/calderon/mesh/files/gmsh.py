"""Elements of gmsh files (.msh) with their physical groups.

meshio accepts files that end within their elements, fails where only some entities have a physical group
(Mesh.SaveAll), and keeps the first of several groups.
"""

import tempfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import meshio
import numpy as np
from numpy.typing import NDArray

from calderon.mesh.errors import MeshError
from calderon.mesh.files.gmsh_numbers import with_dense_numbers
from calderon.mesh.topology import row_numbers

SECTIONS = ["MeshFormat", "PhysicalNames", "Entities", "Nodes", "Elements", "Periodic", "NodeData", "ElementData"]
NO_GROUP = 0

Groups = dict[tuple[int, int], list[int]]
"""{(dimension, number): physical groups} of the entities."""


def read_gmsh(path: Path) -> meshio.Mesh:
    """What meshio reads; elements without a physical group get the tag 0 where others have one, those in several the
    smallest group. `info` of the mesh holds messages for the user.

    Raises MeshError for a section without its end mark, and as `with_dense_numbers`.
    """
    data = path.read_bytes()
    start = max(0, data.find(b"$MeshFormat"))
    version, kind, width = (*data[start : start + 99].split(None, 4)[1:4], b"", b"", b"")[:3]
    binary = kind == b"1"
    for name in SECTIONS:
        mark = "" if binary else "\n"  # behind binary numbers there may be no new line
        begin = data.find(f"${name}".encode()) if name == "MeshFormat" else data.find(f"\n${name}".encode())
        if begin >= 0 and data.find(f"{mark}$End{name}".encode(), begin) < 0:
            raise MeshError(f"its section ${name} has no end mark $End{name}: it is incomplete; export it again")
    whole = all(f"\n${name}".encode() in data for name in ("Nodes", "Elements"))
    given, data = data, with_dense_numbers(data, version, binary, int(width)) if whole else data

    def read() -> meshio.Mesh:
        return meshio.read(path, file_format="gmsh") if data is given else _read_bytes(data)

    if version.startswith(b"2"):
        return _each_once(read())
    begin = data.find(b"\n$Entities")
    if version == b"4.0" or begin < 0:
        return read()
    begin, end = data.index(b"\n", begin + 1) + 1, data.index(b"$EndEntities", begin)
    groups, repaired = _entities(data[begin:end], binary, np.dtype(f"u{int(width)}"))
    try:
        content = read()
    except ValueError:
        if all(groups.values()):
            raise
        content = _read_bytes(data[:begin] + repaired + data[end:])
    return _smallest_groups(content, groups)


Taker = Callable[[np.dtype, int], tuple[NDArray, bytes]]


def _taker(body: bytes, binary: bool) -> Taker:
    """A function that reads the next numbers of a section: as an array, and as raw bytes."""
    place, words = 0, [] if binary else body.split()

    def take(kind: np.dtype, count: int) -> tuple[NDArray, bytes]:
        nonlocal place
        begin, place = place, place + (kind.itemsize * count if binary else count)
        if not begin <= place <= len(body if binary else words):
            raise MeshError("its section $Entities has fewer numbers than it says: it is damaged; export it again")
        if binary:
            return np.frombuffer(body, kind, count, begin), body[begin:place]
        return np.array(words[begin:place], dtype=kind), b" ".join(words[begin:place]) + b"\n"

    return take


def _entities(body: bytes, binary: bool, size: np.dtype) -> tuple[Groups, bytes]:
    """The groups of the entities, and the section with the group 0 for those that have none.

    size: the type of counts (gmsh reference manual, MSH file format 4.1).
    """
    integer, real = np.dtype(np.int32), np.dtype(np.float64)
    no_group = np.ones(1, size).tobytes() + np.full(1, NO_GROUP, integer).tobytes() if binary else b"1 %d\n" % NO_GROUP
    take = _taker(body, binary)
    counts, text = take(size, 4)
    groups: Groups = {}
    parts = [text]
    for dimension, count in enumerate(counts.tolist()):
        for _ in range(count):
            tag, head = take(integer, 1)
            box = take(real, 6 if dimension else 3)[1]
            number, amount = take(size, 1)
            own, listed = take(integer, int(number[0]))
            parts += [head, box, amount + listed if len(own) else no_group]
            if dimension:
                around, text = take(size, 1)
                parts += [text, take(integer, int(around[0]))[1]]
            groups[dimension, int(tag[0])] = own.tolist()
    return groups, b"".join(parts) + b"\n"


def _read_bytes(data: bytes) -> meshio.Mesh:
    """What meshio reads from such a file; it needs a file with a name."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "repaired.msh"
        path.write_bytes(data)
        return meshio.read(path, file_format="gmsh")


def _smallest_groups(content: meshio.Mesh, groups: Groups) -> meshio.Mesh:
    """Tags of the elements of entities in several groups: the smallest, and of equal ones the later."""
    if "gmsh:physical" not in content.cell_data:
        return content
    numbers = content.cell_data["gmsh:geometrical"]
    entities = [(cells.dim, int(own[0]) if len(own) else -1) for cells, own in zip(content.cells, numbers, strict=True)]
    sizes: Counter[tuple[int, int]] = Counter()
    for cells, (dimension, number) in zip(content.cells, entities, strict=True):
        for group in groups.get((dimension, number), []):
            sizes[dimension, group] += len(cells.data)
    several, met = 0, set[tuple[int, int]]()
    for i, (dimension, number) in enumerate(entities):
        own = groups.get((dimension, number), [])
        if len(own) > 1:
            smallest = min(reversed(own), key=lambda group: sizes[dimension, group])
            content.cell_data["gmsh:physical"][i] = np.full(len(content.cells[i].data), smallest)
            if dimension > 1:
                several += len(content.cells[i].data)
                met.update((dimension, group) for group in own)
    return _with_message(content, several, met)


def _each_once(content: meshio.Mesh) -> meshio.Mesh:
    """Without the elements that version 2 repeats for each further physical group; the smallest group is used, and of
    equal ones the later."""
    if not {"gmsh:physical", "gmsh:geometrical"} <= set(content.cell_data):
        return content
    physical, geometrical = (content.cell_data[f"gmsh:{name}"] for name in ("physical", "geometrical"))
    keep = [np.ones(len(cells.data), bool) for cells in content.cells]
    several, met = 0, set[tuple[int, int]]()
    for kind in {cells.type for cells in content.cells if cells.dim > 1}:
        blocks = [i for i, cells in enumerate(content.cells) if cells.type == kind]
        rows = np.concatenate([np.column_stack([np.sort(content.cells[i].data, 1), geometrical[i]]) for i in blocks])
        tags = np.concatenate([physical[i] for i in blocks])
        same, first = row_numbers(rows)[1], np.unique(tags, return_inverse=True)[1].ravel()
        order = np.lexsort([-np.arange(len(tags)), np.bincount(first)[first], same])  # the last key is the first
        chosen = tags[order][np.flatnonzero(np.diff(same[order], prepend=-1))]
        kept = tags == chosen[same]
        if not kept.all():
            doubled = np.isin(same, same[~kept])
            several += len(np.unique(same[doubled]))
            met.update((content.cells[blocks[0]].dim, tag) for tag in np.unique(tags[doubled]).tolist())
            for i, part in zip(blocks, np.split(kept, np.cumsum([len(keep[i]) for i in blocks])[:-1]), strict=True):
                keep[i] = part
    if not several:
        return content
    cells = [(each.type, each.data[part]) for each, part in zip(content.cells, keep, strict=True)]
    data = {
        key: [np.asarray(own)[part] for own, part in zip(each, keep, strict=True)]
        for key, each in content.cell_data.items()
    }
    once = meshio.Mesh(content.points, cells, cell_data=data, field_data=content.field_data)
    return _with_message(once, several, met)


def _with_message(content: meshio.Mesh, several: int, met: set[tuple[int, int]]) -> meshio.Mesh:
    """The mesh with a message about elements in several groups, if there are any."""
    if several:
        given = {(int(value[1]), int(value[0])): name for name, value in content.field_data.items()}
        names = ", ".join(given.get(each, str(each[1])) for each in sorted(met))
        content.info = [f"{several} elements are in several physical groups ({names}): the smallest of them is used"]
    return content
