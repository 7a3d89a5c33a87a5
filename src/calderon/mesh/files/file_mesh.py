"""The content of a file of a mesh, with the names that meshio gives to kinds of elements."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

FAMILIES: dict[str, tuple[int, dict[int, int]]] = {
    "vertex": (0, {1: 15}),
    "line": (1, {2: 1, 3: 8, 4: 26, 5: 27, 6: 28, 7: 62, 8: 63, 9: 64, 10: 65, 11: 66}),
    "triangle": (2, {3: 2, 6: 9, 10: 21, 15: 23, 21: 25, 28: 42, 36: 43, 45: 44, 55: 45, 66: 46}),
    "quad": (2, {4: 3, 8: 16, 9: 10, 16: 36, 25: 37, 36: 38, 49: 47, 64: 48, 81: 49, 100: 50, 121: 51}),
    "tetra": (3, {4: 4, 10: 11, 20: 29, 35: 30, 56: 31, 84: 71, 120: 72, 165: 73, 220: 74, 286: 75}),
    "hexahedron": (
        3, {8: 5, 20: 17, 27: 12, 64: 92, 125: 93, 216: 94, 343: 95, 512: 96, 729: 97, 1000: 98},
    ),
    "wedge": (3, {6: 6, 15: 18, 18: 13, 40: 90, 75: 91, 126: 106, 196: 107, 288: 108, 405: 109, 550: 110}),
    "pyramid": (3, {5: 7, 13: 19, 14: 14}),
}  # fmt: skip
"""Dimension of elements, and gmsh's number of each by its number of nodes (gmsh reference manual, "MSH file format").
The first of a family has its name, the others also their number of nodes: "triangle", "triangle6"."""
OTHER_DIMENSIONS = {"polygon": 2, "polyhedron": 3, "VTK_LAGRANGE_CURVE": 1, "VTK_LAGRANGE_TRIANGLE": 2,
                    "VTK_LAGRANGE_QUADRILATERAL": 2}  # fmt: skip


class Kind(NamedTuple):
    """A kind of elements: its name, the dimension of the elements and their number of nodes."""

    name: str
    dimension: int
    nodes: int


GMSH_KINDS: dict[int, Kind] = {
    number: Kind(family if nodes == next(iter(sizes)) else f"{family}{nodes}", dimension, nodes)
    for family, (dimension, sizes) in FAMILIES.items()
    for nodes, number in sizes.items()
}
"""Kinds by gmsh's numbers."""


class Cells(NamedTuple):
    """Elements of one kind: its name, and their nodes (n, nodes)."""

    type: str
    data: NDArray[Any]

    @property
    def dim(self) -> int:
        """The dimension of the elements, 3 of unknown ones."""
        given = {**{family: dimension for family, (dimension, _) in FAMILIES.items()}, **OTHER_DIMENSIONS}
        return next((dimension for name, dimension in given.items() if self.type.startswith(name)), 3)


class FileMesh:
    """Points (n, 2 or 3) and blocks of elements, with the attributes of a `meshio.Mesh`, which a reader may return as
    well.

    cells: (kind, nodes) of each block. point_data: by name, values (points,) or (points, 3). cell_data: by name, values
    of each block; "tags" are tags. field_data: by name the tag and the dimension of a group. cell_sets: by name, the
    numbers of elements in each block. info: sentences for the user. ValueError for data of another number of blocks or
    elements.
    """

    def __init__(
        self,
        points: Any,
        cells: Iterable[Any],
        cell_data: Mapping[str, Sequence[Any]] | None = None,
        field_data: Mapping[str, Any] | None = None,
        cell_sets: Mapping[str, Sequence[Any]] | None = None,
        info: Sequence[str] | None = None,
        point_data: Mapping[str, Any] | None = None,
    ) -> None:
        self.points = np.asarray(points)
        blocks = [(each.type, each.data) if hasattr(each, "data") else each for each in cells]
        self.cells = [Cells(kind, np.asarray(nodes)) for kind, nodes in blocks]
        self.cell_data = {name: [np.asarray(one) for one in each] for name, each in (cell_data or {}).items()}
        self.field_data, self.cell_sets, self.info = dict(field_data or {}), dict(cell_sets or {}), info
        self.point_data = {name: np.asarray(each) for name, each in (point_data or {}).items()}
        sizes = [len(each.data) for each in self.cells]
        for name, values in self.cell_data.items():
            if [len(each) for each in values] != sizes:
                raise ValueError(f"cell data {name!r} of {[len(each) for each in values]} elements, for {sizes}")
