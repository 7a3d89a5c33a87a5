"""Parts of circuits in case files: [[via]] and [[ribbon]], slots, and lumped elements in them, [[load]]."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, model_validator

from calderon.case.quantities import Capacitance, Inductance, Length, Resistance, Size
from calderon.case.table import Table, key
from calderon.formulations import DeltaGap, EdgePort, Lumped
from calderon.layers import Stack
from calderon.mesh import TriangleMesh, planar

Point = tuple[Length, Length]
Number = Annotated[int, Field(ge=0)]
SLOTS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "gap": ((), ("from_to", "between")),
    "edge": ((), ("from_to", "place", "radius")),
}
"""Keys that a slot needs, and accepts, by its kind."""


class Upright(Table):
    """Vertical metal between interfaces: vias and ribbons."""

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


def require_slot(table: Any) -> None:
    """ValueError where the keys of a slot do not say where it is."""
    if table.kind == "gap" and (table.from_to is None) == (table.between is None):
        raise ValueError("a gap needs either from_to = [[x, y], [x, y]] or between = [tag, tag]")
    given = [each is not None for each in (table.from_to, table.place, table.radius)]
    if table.kind == "edge" and given not in ([True, False, False], [False, True, True]):
        raise ValueError("an edge needs from_to = [[x, y], [x, y]] of a ribbon, or place and radius of a via")


def slot_of(table: Any, height: float) -> DeltaGap | EdgePort:
    """For metal at a height in m."""
    if table.kind == "edge":
        around = (*table.place, table.radius) if table.place and table.radius else None
        return EdgePort(table.from_to, around, table.name)
    if table.from_to is None:
        return DeltaGap(between=table.between, name=table.name)
    return DeltaGap(line=[(*point, height) for point in table.from_to], name=table.name)


class LumpedLoad(Table):
    """[[load]]: a resistor, a coil and a capacitor, in series unless parallel, across a gap along a line or between two
    tags, or at an edge on the ground: at the foot of a ribbon along a line, or of a via about a place."""

    SELECTORS: ClassVar = ("kind", "name", "resistance", "inductance", "capacitance", "parallel")
    kind: Literal["gap", "edge"] = key("it decides which other keys are accepted", ...)
    name: str = key("of the element", "")
    resistance: Resistance | None = key("of the resistor; at least one of the three is given")
    inductance: Inductance | None = key("of the coil")
    capacitance: Capacitance | None = key("of the capacitor")
    parallel: bool = key("whether they are in parallel", False)
    from_to: tuple[Point, Point] | None = key("two points x, y of a gap, or of a ribbon")
    between: tuple[str | int, str | int] | None = key("two tags whose common edges are a gap")
    place: Point | None = key("x and y of a via")
    radius: Size | None = key("around the axis of a via")

    @model_validator(mode="after")
    def _complete(self) -> "LumpedLoad":
        self.require_keys(f"a load in a{'n edge' if self.kind == 'edge' else ' gap'}", *SLOTS[self.kind])
        require_slot(self)
        if self.resistance is None and self.inductance is None and self.capacitance is None:
            raise ValueError('a load needs a resistance = "50 ohm", an inductance = "1 nH" or a capacitance = "1 pF"')
        return self

    def at(self, height: float) -> Lumped:
        """For metal at a height in m."""
        return Lumped(slot_of(self, height), self.resistance, self.inductance, self.capacitance, self.parallel)
