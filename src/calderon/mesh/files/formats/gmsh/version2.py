"""Files of gmsh of version 2: a list of nodes, and one of elements with their groups and entities.

Source: gmsh reference manual, "Legacy formats".
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from calderon.mesh.files.formats.gmsh.content import Block, Content, kind_of
from calderon.mesh.files.formats.gmsh.sections import Format, Section

PARAMETRIC = "ParametricNodes"
"""The section of nodes with their entities and parameters, which gmsh writes for Mesh.SaveParametric."""


def read_version_2(data: bytes, form: Format) -> Content:
    """Nodes and elements with their groups. MeshError where a section has other counts than it says."""
    if b"\n$%s" % PARAMETRIC.encode() in data:
        numbers, points = _parametric_nodes(Section(data, PARAMETRIC, form))
    else:
        section = Section(data, "Nodes", form)
        found, points = section.records(section.count_in_first_line(), 1, 3)
        section.finish()
        numbers = found.ravel()
    section = Section(data, "Elements", form)
    blocks = _binary_elements(section) if form.binary else _elements(section)
    return Content(numbers, points, [replace(each, groups=each.groups[:, : int(each.groups.any())]) for each in blocks])


def _parametric_nodes(section: Section) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Nodes that are followed by the dimension and number of their entity, and their parameters there."""
    count = section.count_in_first_line()
    numbers, points = [], []
    for _ in range(count):
        own, place = section.records(1, 1, 3)
        dimension = int(section.integers(1, 2)[0, 0])
        if not 0 <= dimension <= 3:
            section.refuse(f"has a node on an entity of dimension {dimension}")
        if dimension:
            section.reals(1, dimension)
        numbers.append(own[0])
        points.append(place[0])
    section.finish()
    return np.array(numbers, np.int64).reshape(-1), np.array(points).reshape(-1, 3)


def _block(kind: int, rows: NDArray[np.int64], tags: int, section: Section) -> Block:
    """Elements from rows of number, tags and nodes: the first tag is the group, the second the entity."""
    name, dimension, corners = kind_of(kind, section)
    if not (0 <= tags == rows.shape[1] - corners - 1):
        section.refuse(f"has an element of kind {kind} with {rows.shape[1] - tags - 1} nodes, not {corners}")
    none = np.zeros(len(rows), np.int64)
    groups, entities = rows[:, 1] if tags else none, rows[:, 2] if tags > 1 else none
    return Block(name, dimension, rows[:, 0], rows[:, tags + 1 :], entities, groups[:, None])


def _elements(section: Section) -> list[Block]:
    """Elements of a text file, one in each line."""
    lines = [line for line in section.body.splitlines() if line.strip()]
    count = section.count_in_first_line()
    if count != len(lines) - 1:
        section.refuse(f"has {len(lines) - 1} elements, not the {count} that it says")
    blocks: list[tuple[tuple[int, int, int], list[list[int]]]] = []
    for line in lines[1:]:
        row = [int(word) for word in line.split()]
        if len(row) < 3:
            section.refuse("has an element without nodes")
        key = row[1], row[2], len(row)
        if not blocks or blocks[-1][0] != key:
            blocks.append((key, []))
        blocks[-1][1].append([row[0], *row[3:]])
    return [_block(kind, np.array(rows, np.int64), tags, section) for (kind, tags, _), rows in blocks]


def _binary_elements(section: Section) -> list[Block]:
    """Elements of a binary file: rows of one kind behind a head of three numbers."""
    total, found, blocks = section.count_in_first_line(), 0, []
    while found < total:
        kind, count, tags = section.integers(1, 3)[0].tolist()
        corners = kind_of(kind, section)[2]
        if count < 1 or not 0 <= tags <= len(section.body):
            section.refuse(f"has {count} elements of kind {kind} with {tags} tags")
        blocks.append(_block(kind, section.integers(count, 1 + tags + corners), tags, section))
        found += count
    if found != total:
        section.refuse(f"has {found} elements, not the {total} that it says")
    section.finish()
    return _joined(blocks)


def _joined(blocks: list[Block]) -> list[Block]:
    """Consecutive blocks of one kind as one: gmsh may write a head for each element."""
    groups: list[list[Block]] = []
    for block in blocks:
        if not groups or groups[-1][0].kind != block.kind:
            groups.append([])
        groups[-1].append(block)
    return [
        replace(
            own[0],
            numbers=np.concatenate([each.numbers for each in own]),
            nodes=np.concatenate([each.nodes for each in own]),
            entities=np.concatenate([each.entities for each in own]),
            groups=np.concatenate([each.groups for each in own]),
        )
        for own in groups
    ]
