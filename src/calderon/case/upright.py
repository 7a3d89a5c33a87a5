"""Vertical metal of case files of circuits: [[via]] and [[ribbon]]."""

from typing import Annotated

from pydantic import Field, model_validator

from calderon.case.quantities import Length, Size
from calderon.case.table import Table, key
from calderon.layers import Stack
from calderon.mesh import TriangleMesh, planar

Point = tuple[Length, Length]
Number = Annotated[int, Field(ge=0)]


class Upright(Table):
    """What vias and ribbons share."""

    interfaces: tuple[Number, Number] | None = key(
        "numbers of layers below its foot and its head; from the ground to the metal unless given"
    )
    h: Size | None = key("greatest height of its cells")

    @model_validator(mode="after")
    def _rises(self) -> "Upright":
        if self.interfaces is not None and not self.interfaces[0] < self.interfaces[1]:
            raise ValueError("interfaces are the numbers of layers below the foot and the head, which lies higher")
        return self

    def heights(self, stack: Stack, metal: int) -> list[float]:
        """All z in m of interfaces that it crosses; metal: the number of layers below the flat metal."""
        low, high = (0, metal) if self.interfaces is None else self.interfaces
        count = len(stack.interfaces) - 1
        if high > count:
            raise ValueError(f"interfaces = [{low}, {high}]: the board has {count} [[layer]] tables")
        if low == high:
            raise ValueError("the metal lies below all layers: give interfaces = [foot, head]")
        return [float(z) for z in stack.interfaces[low : high + 1]]


class Via(Upright):
    """[[via]]: a tube through layers, cut into the metal at each height that has some there: a via, or the inner
    conductor of a coaxial line, which a port of the kind "edge" feeds at the ground."""

    place: Point = key("x and y of its axis", ...)
    radius: Size = key("of the tube", ...)

    def added(self, mesh: TriangleMesh, heights: list[float]) -> TriangleMesh:
        """The metal with it. MeshError where metal does not surround it."""
        return planar.via(mesh, self.place, self.radius, heights, self.h)


class Ribbon(Upright):
    """[[ribbon]]: a vertical strip that the metal joins along a line of edges, as at the end of a shorted patch."""

    from_to: tuple[Point, Point] = key("two points x, y on edges of the metal", ...)

    def added(self, mesh: TriangleMesh, heights: list[float]) -> TriangleMesh:
        """The metal with it. MeshError where the metal has no edges on the line."""
        tallest = max(b - a for a, b in zip(heights[:-1], heights[1:], strict=True))
        return planar.ribbon(self.from_to, heights, self.h or tallest, mesh)
