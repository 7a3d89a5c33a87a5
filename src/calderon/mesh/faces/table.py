"""The table of the faces of a surface."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, overload

import numpy as np
from numpy.typing import NDArray

from calderon.mesh.faces.names import TagNames
from calderon.mesh.faces.patches import Cylinder, fitted_cylinder, is_plane, patches
from calderon.mesh.tolerances import TOLERANCES
from calderon.mesh.triangulation import Triangulation
from calderon.view import Described

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class SurfaceFace(Described):
    """A connected patch of one tag.

    number: its place in the table. tag, name ("" for none), colour ("#rrggbb", "" for none): as the file gives them.
    triangles (m,): their numbers. area; centre (3,), the centroid; normal (3,), the mean of the outward normals, whose
    length is 1 on a plane and 0 on a whole bore. kind: "plane", "cylinder" or "other". axis (3,), radius: of a
    cylinder, whose axis runs through `point`, else None. is_bore: whether the normals point to the axis.
    """

    number: int
    tag: int
    name: str
    colour: str
    triangles: NDArray[np.int64]
    area: float
    centre: Array
    normal: Array
    kind: Literal["plane", "cylinder", "other"]
    point: Array | None = None
    axis: Array | None = None
    radius: float | None = None
    is_bore: bool = False

    @property
    def shape(self) -> str:
        """The plane or the cylinder in a few words."""
        if self.kind == "plane":
            return f"plane, normal {_vector(self.normal)}"
        if self.axis is None:
            return "other"
        return f"{'bore' if self.is_bore else 'cylinder'}, radius {self.radius:.6g}, axis {_vector(self.axis)}"

    @property
    def brief(self) -> str:
        called = f"{self.name!r}, " if self.name else ""
        return f"{called}tag {self.tag}, {len(self.triangles)} triangles, area {self.area:.6g}, {self.shape}"


class SurfaceFaces(Described, Sequence[SurfaceFace]):
    """The faces of a surface, as a sequence and, printed, as a table. labels (nt,): the face of each triangle."""

    def __init__(self, mesh: Triangulation, angle: float | None = None) -> None:
        if angle is None and len(np.unique(mesh.tags)) == 1:
            angle = TOLERANCES.sharp
        self._mesh = mesh
        self.labels = patches(mesh, angle)
        order = np.argsort(self.labels, kind="stable")
        self._groups = np.split(order, np.cumsum(np.bincount(self.labels))[:-1])

    @cached_property
    def _rows(self) -> tuple[SurfaceFace, ...]:
        names = TagNames(self._mesh.names)
        called = {tag: name for name, tag in names.items()}
        return tuple(_row(self._mesh, number, group, called, names) for number, group in enumerate(self._groups))

    def __len__(self) -> int:
        return len(self._groups)

    @overload
    def __getitem__(self, index: int) -> SurfaceFace: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[SurfaceFace, ...]: ...
    def __getitem__(self, index: int | slice) -> SurfaceFace | tuple[SurfaceFace, ...]:
        return self._rows[index]

    def __iter__(self) -> Iterator[SurfaceFace]:
        return iter(self._rows)

    @property
    def brief(self) -> str:
        kinds = [one.kind for one in self]
        return ", ".join(f"{kinds.count(kind)} {kind}" for kind in ("plane", "cylinder", "other") if kind in kinds)

    def __str__(self) -> str:
        size = self._mesh.diameter
        head = ("face", "tag", "name", "triangles", "area", "centre", "shape")
        rows = [
            (str(one.number), str(one.tag), one.name or "-", str(len(one.triangles)), f"{one.area:.5g}",
             _vector(np.where(np.abs(one.centre) < TOLERANCES.near * size, 0.0, one.centre)), one.shape) for one in self
        ]  # fmt: skip
        widths = [max(len(row[k]) for row in (head, *rows)) for k in range(len(head))]
        lines = (
            "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)) for row in (head, *rows)
        )
        return "\n".join(line.rstrip() for line in lines)


def _vector(values: Array) -> str:
    values = np.where(np.abs(values) < 1e-6 * np.abs(values).max(initial=0.0), 0.0, values) + 0.0
    return f"({', '.join(f'{x:.4g}' for x in values.tolist())})"


def _row(
    mesh: Triangulation, number: int, group: NDArray[np.int64], called: dict[int, str], names: TagNames
) -> SurfaceFace:
    """One row of the table, of the triangles `group`."""
    areas, normals, tag = mesh.areas[group], mesh.normals[group], int(mesh.tags[group[0]])
    centre, mean = areas @ mesh.centroids[group] / areas.sum(), areas @ normals / areas.sum()
    vertices = mesh.vertices[np.unique(mesh.triangles[group])]
    kind: Literal["plane", "cylinder", "other"] = "other"
    cylinder: Cylinder | None = None
    is_bore = False
    length = float(np.linalg.norm(mean))
    if length > 0.9 and is_plane(vertices, mean / length, mesh.diameter):
        kind, mean = "plane", mean / length
    elif (cylinder := fitted_cylinder(vertices, mesh.centroids[group], normals, areas, mesh.diameter)) is not None:
        kind = "cylinder"
        is_bore = float(areas @ np.einsum("ni,ni->n", normals, mesh.centroids[group] - cylinder.point)) < 0
    point, axis, radius = cylinder or (None, None, None)
    text = called.get(tag, ""), names.colours.get(tag, "")
    return SurfaceFace(number, tag, *text, group, float(areas.sum()), centre, mean, kind, point, axis, radius, is_bore)
