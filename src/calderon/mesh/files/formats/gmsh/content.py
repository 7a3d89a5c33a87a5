"""The content of a file of gmsh, in any version."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from calderon.mesh.files.file_mesh import GMSH_KINDS, Kind
from calderon.mesh.files.formats.gmsh.sections import Section


@dataclass(frozen=True, eq=False)
class Block:
    """Elements of meshio's kind: their numbers (n,), those of their nodes (n, nodes) and of their entities (n,), and
    their physical groups (n, groups), of which a negative one has the element reversed."""

    kind: str
    dimension: int
    numbers: NDArray[np.int64]
    nodes: NDArray[np.int64]
    entities: NDArray[np.int64]
    groups: NDArray[np.int64]

    def taken(self, keep: NDArray[np.bool_]) -> "Block":
        """Some of the elements."""
        arrays = {name: getattr(self, name)[keep] for name in ("numbers", "nodes", "entities", "groups")}
        return replace(self, **arrays)


@dataclass(frozen=True, eq=False)
class Content:
    """Numbers (n,) and places (n, 3) of the nodes, and the elements."""

    numbers: NDArray[np.int64]
    points: NDArray[np.float64]
    blocks: list[Block]


def kind_of(number: int, section: Section) -> Kind:
    """A type of elements: its name, its dimension and its number of nodes."""
    if number not in GMSH_KINDS:
        section.refuse(f"has elements of the unknown kind {number}")
    return GMSH_KINDS[number]
