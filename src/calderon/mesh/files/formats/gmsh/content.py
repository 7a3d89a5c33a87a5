"""The content of a file of gmsh, in any version."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from calderon.files.formats import meshio
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


def kind_of(number: int, section: Section) -> tuple[str, int, int]:
    """meshio's name of a type of elements, its dimension and its number of nodes."""
    name = meshio.gmsh.gmsh_to_meshio_type.get(number, "")
    if name not in meshio._common.num_nodes_per_cell:
        section.refuse(f"has elements of the unknown kind {number}")
    return name, meshio._mesh.topological_dimension[name], meshio._common.num_nodes_per_cell[name]
