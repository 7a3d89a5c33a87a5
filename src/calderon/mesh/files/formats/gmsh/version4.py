"""Files of gmsh of versions 4.0 and 4.1: blocks of nodes and elements by entities, which have the physical groups.

Source: gmsh reference manual, "MSH file format" and "Legacy formats".
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from calderon.mesh.files.formats.gmsh.content import Block, Content, kind_of
from calderon.mesh.files.formats.gmsh.sections import Format, Section


class Entity(NamedTuple):
    """The physical groups of an entity, and the dimension and number of the one that it is a part of."""

    groups: list[int]
    parent: tuple[int, int]


Entities = dict[tuple[int, int], Entity]
"""By dimension and number."""


def read_version_4(data: bytes, form: Format) -> Content:
    """Nodes and elements with their groups. MeshError where a section has other counts than it says."""
    entities: Entities = {}
    for name in ("Entities", "PartitionedEntities"):
        if name in form.sections:
            entities.update(_entities(Section(data, name, form)))
    numbers, points = _nodes(Section(data, "Nodes", form))
    return Content(numbers, points, _elements(Section(data, "Elements", form), entities))


def _is_old(form: Format) -> bool:
    return form.version != "4.1"


def _entities(section: Section) -> Entities:
    parted = section.name == "PartitionedEntities"
    if parted:
        section.counts(1)
        section.integers(int(section.counts(1)[0, 0]), 2)
    found: Entities = {}
    for dimension, count in enumerate(section.counts(1, 4)[0].tolist()):
        for _ in range(count):
            number = int(section.integers(1)[0, 0])
            parent = dimension, number
            if parted:
                parent = tuple(section.integers(1, 2)[0].tolist())
                section.integers(int(section.counts(1)[0, 0]))
            section.reals(1, 6 if dimension or _is_old(section.form) else 3)
            groups = section.integers(int(section.counts(1)[0, 0])).ravel().tolist()
            if dimension:
                section.integers(int(section.counts(1)[0, 0]))
            found[dimension, number] = Entity(groups, parent)
    return found


def _nodes(section: Section) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Numbers and places; parameters of the nodes on their entities are passed over."""
    old = _is_old(section.form)
    blocks, total = section.counts(1, 2 if old else 4)[0, :2].tolist()
    numbers, points = [np.zeros(0, np.int64)], [np.zeros((0, 3))]
    for _ in range(blocks):
        one, other, parametric = section.integers(1, 3)[0].tolist()
        amount = int(section.counts(1)[0, 0])
        width = 3 + (min(max(other if old else one, 0), 3) if parametric else 0)
        if old:
            found = section.records(amount, 1, width)
        else:
            found = section.counts(amount), section.reals(amount, width)
        numbers.append(found[0].ravel())
        points.append(found[1][:, :3])
    section.finish()
    return _counted(section, np.concatenate(numbers), total), np.concatenate(points)


def _elements(section: Section, entities: Entities) -> list[Block]:
    old = _is_old(section.form)
    blocks, total = section.counts(1, 2 if old else 4)[0, :2].tolist()
    found = []
    for _ in range(blocks):
        one, other, number = section.integers(1, 3)[0].tolist()
        amount = int(section.counts(1)[0, 0])
        entity, dimension = (one, other) if old else (other, one)
        kind, own, corners = kind_of(number, section)
        rows = section.integers(amount, 1 + corners) if old else section.counts(amount, 1 + corners)
        groups, parent = entities.get((dimension, entity), Entity([], (dimension, entity)))
        repeated = np.tile(np.array(groups, np.int64), (amount, 1))
        block = Block(kind, own, rows[:, 0], rows[:, 1:], np.full(amount, parent[1]), repeated)
        if parent[0] != dimension:  # between parts of a volume, or of a surface
            block = block.taken(np.zeros(amount, bool))
        found.append((block, amount))
    section.finish()
    _counted(section, np.zeros(sum(amount for _, amount in found)), total)
    return [block for block, _ in found if len(block.nodes)]


def _counted(section: Section, entries: NDArray, total: int) -> NDArray:
    if len(entries) != total:
        section.refuse(f"does not have the {total} entries that it says")
    return entries
