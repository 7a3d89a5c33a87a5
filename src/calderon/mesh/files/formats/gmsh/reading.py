"""Elements of gmsh files (.msh) with their physical groups.

A reader of its own: meshio accepts files that end within their elements, fails where only some entities have a group
(Mesh.SaveAll), keeps the first of several groups, knows no reversed surfaces and no version 4.0 as text, trusts counts,
and makes a table as long as the largest node number, which may be any number.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from calderon.mesh.errors import MeshError
from calderon.mesh.files.file_mesh import FileMesh
from calderon.mesh.files.formats.gmsh.content import Block, Content
from calderon.mesh.files.formats.gmsh.element_data import element_data
from calderon.mesh.files.formats.gmsh.sections import format_of
from calderon.mesh.files.formats.gmsh.version2 import read_version_2
from calderon.mesh.files.formats.gmsh.version4 import read_version_4
from calderon.mesh.topology import row_numbers

Names = dict[str, tuple[int, int]]
"""Dimensions and numbers of physical groups by their names; a group may have several."""
_NAME = re.compile(rb'\s*(\d)\s+([+-]?\d{1,9})\s+"(.*)"\s*')


def read_gmsh(path: Path) -> FileMesh:
    """Nodes and elements. Tags are physical groups: 0 for elements without one, the smallest for those in several;
    entities where no element of a dimension, and none above, has a group. Elements of a reversed entity of a group, as
    `Physical Surface(1) = {-5}` has it, are reversed. `info` of the mesh holds messages for the user.

    Raises MeshError for a section without its end mark, for lists of other lengths than they say, for nodes that occur
    twice, and for elements with nodes that the file does not have.
    """
    data = path.read_bytes()
    data = data if b"\n" in data else data.replace(b"\r", b"\n")
    form = format_of(data)
    for name in ("Nodes", "Elements"):
        if not {name, f"Parametric{name}"} & form.sections:
            raise MeshError(f"no section ${name}: it holds no mesh; mesh the model, save all elements")
    names = _names(data)
    content = read_version_2(data, form) if form.version.startswith("2") else read_version_4(data, form)
    nodes = _places(content)
    grouped = max((block.dimension for block in content.blocks if block.groups.shape[1]), default=-1)
    blocks, notes = _in_one_group(content.blocks, names, form.version.startswith("2"))
    return FileMesh(
        content.points,
        [(block.kind, nodes(block)) for block in blocks],
        cell_data={**_tags(blocks, grouped), **element_data(data, form, blocks)},
        field_data={name: np.array(key[::-1]) for name, key in names.items()},
        info=notes,
    )


def _names(data: bytes) -> Names:
    """The names of the section $PhysicalNames, which is text."""
    begin = data.find(b"\n$PhysicalNames")
    if begin < 0:
        return {}
    lines = data[begin : data.index(b"$EndPhysicalNames", begin)].splitlines()
    found = (_NAME.fullmatch(line) for line in lines)
    return {each[3].decode("utf-8", errors="replace"): (int(each[1]), abs(int(each[2]))) for each in found if each}


def _places(content: Content) -> Callable[[Block], NDArray[np.int64]]:
    """The function that gives the nodes of a block, reversed where its group is, by their places in the list."""
    order = np.argsort(content.numbers, kind="stable")
    known = content.numbers[order]
    if len(known) and known[0] < 1:
        raise MeshError(f"its section $Nodes has a node of the number {known[0]}: it is damaged; export it again")
    if (twice := known[1:][np.diff(known) == 0]).size:
        raise MeshError(
            f"its section $Nodes has several nodes of the number {twice[0]}: it is damaged; export it again"
        )

    # numbers without gaps need no search
    gapless = len(known) > 0 and known[-1] - known[0] == len(known) - 1

    def nodes(block: Block) -> NDArray[np.int64]:
        at = np.clip(block.nodes - known[0], 0, len(known) - 1) if gapless else np.searchsorted(known, block.nodes)
        at = np.minimum(at, len(known) - 1)
        if not len(known) or (known[at] != block.nodes).any():
            missing = block.nodes[known[at] != block.nodes][0] if len(known) else block.nodes[0, 0]
            raise MeshError(
                f"its section $Elements has an element with the node {missing}, which is not in the file: it is "
                "damaged; export it again"
            )
        found = np.asarray(order[at])
        # elements of reversed groups
        turned = np.flatnonzero(block.groups[:, 0] < 0)
        corners = 3 if block.kind.startswith("triangle") else 4 if block.kind.startswith("quad") else 0
        if len(turned) and corners:
            found[turned, 1:corners] = found[turned, 1:corners][:, ::-1]  # the nodes on edges are not used
        return found

    return nodes


def _tags(blocks: list[Block], grouped: int) -> dict[str, list[NDArray[np.int64]]]:
    """Groups, or entities of elements of a dimension above the largest that has groups."""
    if grouped < 0:
        return {"gmsh:geometrical": [block.entities for block in blocks]}
    return {
        "gmsh:physical": [
            np.abs(block.groups[:, 0]) if block.dimension <= grouped else block.entities for block in blocks
        ]
    }


def _in_one_group(blocks: list[Block], names: Names, repeats: bool) -> tuple[list[Block], list[str]]:
    """Elements once, with one group (n, 1): the smallest of several, and of equal ones the later, 0 for none; and a
    message about those in several. repeats: whether elements are listed once for each group."""
    blocks = [
        block if block.groups.shape[1] else replace(block, groups=np.zeros((len(block.nodes), 1), np.int64))
        for block in blocks
    ]
    # how many elements each group has
    sizes = Counter[tuple[int, int]]()
    for block in blocks:
        found, counts = np.unique(np.abs(block.groups), return_counts=True)
        sizes.update({(block.dimension, tag): n for tag, n in zip(found.tolist(), counts.tolist(), strict=True)})
    # the smallest group of each entity
    several, met, chosen = 0, set[tuple[int, int]](), []
    for block in blocks:
        own = block.groups[0].tolist()
        if len(own) > 1:  # of an entity of version 4
            smallest = min((sizes[block.dimension, abs(tag)], -place, tag) for place, tag in enumerate(own))[2]
            block = replace(block, groups=np.full((len(block.nodes), 1), smallest))
            if block.dimension > 1:
                several += len(block.nodes)
                met.update((block.dimension, abs(tag)) for tag in own)
        chosen.append(block)
    # elements that are listed once for each of their groups
    if repeats:
        chosen, repeated, others = _once(chosen, sizes)
        several, met = several + repeated, met | others
    known = {key: name for name, key in names.items()}
    named = ", ".join(known.get(each, str(each[1])) for each in sorted(met))
    text = f"{several} elements are in several physical groups ({named}): the smallest of them is used"
    return [block for block in chosen if len(block.nodes)], [text] if several else []


def _once(blocks: list[Block], sizes: Counter[tuple[int, int]]) -> tuple[list[Block], int, set[tuple[int, int]]]:
    """Without the elements that version 2 repeats for each further group; how many elements are in several, and their
    groups."""
    several, met = 0, set[tuple[int, int]]()
    for kind in {block.kind for block in blocks if block.dimension > 1}:
        places = [i for i, block in enumerate(blocks) if block.kind == kind]
        own = [blocks[i] for i in places]
        dimension = own[0].dimension
        rows = np.concatenate([np.column_stack([np.sort(each.nodes, 1), each.entities]) for each in own])
        tags = np.abs(np.concatenate([each.groups[:, 0] for each in own]))
        size = np.array([sizes[dimension, tag] for tag in np.unique(tags).tolist()])
        same = row_numbers(rows)[1]
        order = np.lexsort([-np.arange(len(tags)), size[np.unique(tags, return_inverse=True)[1].ravel()], same])
        kept = tags == tags[order][np.flatnonzero(np.diff(same[order], prepend=-1))][same]
        if not kept.all():
            doubled = np.isin(same, same[~kept])
            several += len(np.unique(same[doubled]))
            met.update((dimension, tag) for tag in np.unique(tags[doubled]).tolist())
            ends = np.cumsum([len(each.nodes) for each in own])[:-1]
            for i, part in zip(places, np.split(kept, ends), strict=True):
                blocks[i] = blocks[i].taken(part)
    return blocks, several, met
