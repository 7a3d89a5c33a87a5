"""Files of gmsh (.msh): written as text of the versions 2.2 and 4.1, with tags as physical groups."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

from calderon.mesh.errors import MeshError
from calderon.mesh.files.formats.format import (
    Format,
    Tagged,
    Written,
    refuse_large_tags,
    refuse_names,
    rows_text,
)
from calderon.mesh.files.formats.gmsh.reading import read_gmsh


def write_version_2(mesh: Written, path: Path) -> None:
    """Write a surface or a volume in version 2.2."""
    kinds = {"triangle": (2, 2), "tetra": (3, 4)}  # dimension, and gmsh's number
    names = [f'{kinds[b.kind][0]} {tag} "{name}"\n' for b in mesh.blocks for name, tag in b.names.items()]
    first = 1
    with path.open("w", encoding="utf-8") as file:
        file.write("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n" + _comment_section(mesh.blocks))
        if names:
            file.write(f"$PhysicalNames\n{len(names)}\n{''.join(names)}$EndPhysicalNames\n")
        numbered = np.column_stack([np.arange(1, len(mesh.vertices) + 1), mesh.vertices])
        file.write(f"$Nodes\n{len(numbered)}\n" + rows_text(numbered, "%d %.17g %.17g %.17g") + "$EndNodes\n")
        file.write(f"$Elements\n{sum(len(block.elements) for block in mesh.blocks)}\n")
        for block in mesh.blocks:
            numbers, kind = first + np.arange(len(block.elements)), np.full(len(block.elements), kinds[block.kind][1])
            columns = [numbers, kind, np.full_like(kind, 2), block.tags, block.tags, block.elements + 1]
            file.write(rows_text(np.column_stack(columns), "%d"))
            first += len(block.elements)
        file.write("$EndElements\n")


def write_version_4(mesh: Written, path: Path) -> None:
    """Write a surface in version 4.1, one entity for each tag (gmsh reference manual, section 'MSH file format')."""
    (block,) = mesh.blocks
    tags, number = np.unique(block.tags, return_inverse=True)
    points, count, triangles = mesh.vertices[np.unique(block.elements)], len(mesh.vertices), len(block.elements)
    box = " ".join(f"{value:.17g}" for value in [*points.min(axis=0), *points.max(axis=0)])
    with path.open("w", encoding="utf-8") as file:
        file.write("$MeshFormat\n4.1 0 8\n$EndMeshFormat\n" + _comment_section(mesh.blocks))
        if block.names:
            lines = "".join(f'2 {tag} "{name}"\n' for name, tag in block.names.items())
            file.write(f"$PhysicalNames\n{len(block.names)}\n{lines}$EndPhysicalNames\n")
        file.write(f"$Entities\n0 0 {len(tags)} 0\n")
        file.write("".join(f"{i + 1} {box} 1 {tag} 0\n" for i, tag in enumerate(tags)))
        file.write(f"$EndEntities\n$Nodes\n1 {count} 1 {count}\n2 1 0 {count}\n")
        file.write(rows_text(np.arange(1, count + 1), "%d") + rows_text(mesh.vertices, "%.17g"))
        file.write(f"$EndNodes\n$Elements\n{len(tags)} {triangles} 1 {triangles}\n")
        ids = np.arange(1, triangles + 1)
        for i in range(len(tags)):
            own = np.flatnonzero(number == i)
            file.write(f"2 {i + 1} 2 {len(own)}\n")
            file.write(rows_text(np.column_stack([ids[own], block.elements[own] + 1]), "%d"))
        file.write("$EndElements\n")


def _comment_section(blocks: list[Tagged]) -> str:
    """A section of comments with the names, where some belong to no element: physical groups without elements are
    not read."""
    lines = [
        f"{each.comment}{json.dumps(dict(each.names))}\n"
        for each in blocks
        if not set(each.names.values()) <= set(each.tags.tolist())
    ]
    return f"$Comments\n{''.join(lines)}$EndComments\n" if lines else ""


def _refuse_what_is_lost(mesh: Written) -> None:
    """MeshError for negative tags, tags beyond 32 bits, and names that gmsh would cut."""
    refuse_large_tags(".msh", mesh)
    least = min(int(block.tags.min(initial=0)) for block in mesh.blocks)
    if least < 0:
        raise MeshError(f"a negative tag in .msh files means a reversed surface, got {least}: use .vtu or other tags")
    refuse_names(".msh", mesh, r"\\$|\\\\", "two backslashes together or one at its end")


MSH = Format(
    (".msh",),
    read_gmsh,
    write_version_4,
    versions={"4.1": write_version_4, "2.2": write_version_2},
    write_volume=write_version_2,
    refuses=_refuse_what_is_lost,
)
