"""Case files of printed circuits and antennas: [planar], [metal], [[via]], [[ribbon]], [[port]], [[load]], and the
[[layer]] tables of a board."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import BeforeValidator, Field, model_validator

from calderon.case.board import SHAPES, Boarded, BoardSolver, Shape, Wall, given
from calderon.case.circuit_parts import Band, Elements
from calderon.case.mesh import Unit
from calderon.case.quantities import Conductivity, Frequency, Length, Size
from calderon.case.table import OneOf, Table, chosen, key
from calderon.formulations import DeltaGap, EdgePort, LinePort, Lumped, ProbePort
from calderon.formulations.options import DEFAULTS
from calderon.layers import Conductor, Stack
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


class LumpedLoad(Elements):
    """[[load]]: a resistor, a coil and a capacitor, in series unless parallel, across a gap along a line or between two
    tags, or at an edge on the ground: at the foot of a ribbon along a line, or of a via about a place."""

    SELECTORS: ClassVar = ("kind", "name", *Elements.ELEMENTS)
    kind: Literal["gap", "edge"] = key("it decides which other keys are accepted", ...)
    name: str = key("of the element", "")
    from_to: tuple[Point, Point] | None = key("two points x, y of a gap, or of a ribbon")
    between: tuple[str | int, str | int] | None = key("two tags whose common edges are a gap")
    place: Point | None = key("x and y of a via")
    radius: Size | None = key("around the axis of a via")

    @model_validator(mode="after")
    def _complete(self) -> "LumpedLoad":
        self.require_keys(f"a load in a{'n edge' if self.kind == 'edge' else ' gap'}", *SLOTS[self.kind])
        require_slot(self)
        return self

    def at(self, height: float) -> Lumped:
        """For metal at a height in m."""
        return self.element(slot_of(self, height))


FED = ("length", "width", "line_width", "line_length", "h")
CIRCUITS = {
    "patch": SHAPES["patch"],
    "strip": SHAPES["strip"],
    "line-fed-patch": Shape(planar.line_fed_patch, FED, ("inset", "notch", "offset")),
}
PORTS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "probe": (("place", "radius"), ()),
    "line": (("end", "toward", "width", "length"), ()),
    **SLOTS,
}


class Planar(Table):
    """[planar]: a band in which S is computed, the frequency of the pattern and the current (that of the least |S11|
    unless given), the resistance of the lines in ohm, and what is below and above the layers."""

    band: Band | None = None
    frequency: Frequency | None = key("of pattern, power and current; that of the least |S11| unless given")
    reference: float = key("resistance of the lines in ohm to which S refers", 50.0, gt=0)
    below: Wall = key("what is below the layers", "pec")
    above: Wall = key("what is above the layers", "vacuum")
    estimate: bool = key("estimate the error by a second sweep, of a shape with longer edges", False)

    @model_validator(mode="after")
    def _somewhere(self) -> "Planar":
        if self.band is None and self.frequency is None:
            raise ValueError('give frequency = "2.4 GHz", or band = { start = "2 GHz", stop = "3 GHz", points = 101 }')
        return self


class Metal(Table):
    """[metal]: a shape of `cal.planar` by name with its lengths, or a mesh file.

    interface: on top of how many layers its lowest flat part lies, default all of them. conductivity: of the metal,
    a perfect conductor unless given.
    """

    SELECTORS: ClassVar = ("shape", "file", "interface", "conductivity")
    shape: Annotated[str, BeforeValidator(lambda name: chosen(name, CIRCUITS)), OneOf(lambda: CIRCUITS)] | None = key(
        "of `cal.planar`; it decides which lengths are accepted"
    )
    file: str | None = key("a mesh in the folder of the case, instead of a shape")
    unit: Unit | None = key("of the lengths in the file")
    length: Size | None = key("along x")
    width: Size | None = key("along y")
    line_width: Size | None = key("of the feeding line")
    line_length: Size | None = key("of the feeding line")
    inset: Size | None = key("how far the line reaches into the patch")
    notch: Size | None = key("width of the gaps along the line")
    offset: Length | None = key("of the line from the middle of the patch")
    h: Size | None = key("edge length of the triangles")
    cells: int | None = key("across the width", ge=1)
    interface: int | None = key("number of layers below the lowest flat metal; all unless given", ge=0)
    conductivity: Conductivity | None = key("of the metal; a perfect conductor unless given", gt=0)

    @model_validator(mode="after")
    def _complete(self) -> "Metal":
        if (self.shape is None) == (self.file is None):
            raise ValueError("give exactly one of shape and file")
        if self.shape is None:
            self.require_keys("a file", (), ("unit",))
        else:
            self.require_keys(f"the shape {self.shape!r}", CIRCUITS[self.shape].needed, CIRCUITS[self.shape].optional)
        return self

    @property
    def parameters(self) -> dict[str, float | int]:
        """Arguments of the shape's function that are given."""
        return {} if self.shape is None else given(self, CIRCUITS[self.shape])

    def mesh(self) -> TriangleMesh:
        """The mesh of a shape, at z = 0. MeshError for lengths that do not fit together."""
        assert self.shape is not None
        return CIRCUITS[self.shape].build(**self.parameters)

    @property
    def sheet(self) -> complex | Conductor:
        return 0.0 if self.conductivity is None else Conductor(self.conductivity)


class Port(Table):
    """[[port]]: a coaxial probe, the end of a microstrip line, a gap along a line or between two tags, or an edge on
    the ground: the foot of a ribbon along a line, or of a via about a place.

    voltage: in V, for the pattern and the current; 1 V at the first port and 0 V at others unless given.
    """

    SELECTORS: ClassVar = ("kind", "name", "voltage")
    kind: Literal["probe", "line", "gap", "edge"] = key("it decides which other keys are accepted", ...)
    name: str = key("in tables", "")
    voltage: float | None = key("in V; 1 at the first port and 0 at others unless given")
    place: Point | None = key("x and y of a probe, or of a via")
    radius: Size | None = key("of a probe, or around the axis of a via")
    end: Point | None = key("x and y of the middle of a line's end")
    toward: tuple[float, float] | None = key("direction from the end into the line")
    width: Size | None = key("of a line")
    length: Size | None = key("of a line to its reference plane")
    from_to: tuple[Point, Point] | None = key("two points x, y of a gap, or of a ribbon")
    between: tuple[str | int, str | int] | None = key("two tags whose common edges are a gap")

    @model_validator(mode="after")
    def _complete(self) -> "Port":
        self.require_keys(f"a {self.kind}", *PORTS[self.kind])
        require_slot(self)
        return self

    def at(self, height: float) -> ProbePort | LinePort | DeltaGap | EdgePort:
        """For metal at a height in m. ValueError for lengths that do not fit together."""
        if self.kind == "probe":
            return ProbePort(self.place, self.radius, self.name)  # type: ignore[arg-type]
        if self.kind == "line":
            return LinePort(self.end, self.toward, self.width, self.length, self.name)  # type: ignore[arg-type]
        return slot_of(self, height)


class PlanarSolver(BoardSolver):
    """[solver]: how the equations at a frequency are solved, and how many are."""

    method: Literal["auto", "dense", "hmatrix", "fft"] = key("how the matrix is stored", DEFAULTS["method"])
    interpolate: float = key("error of S between solved frequencies", 1e-3, gt=0, lt=1)


class PlanarCase(Boarded):
    """A whole case file of a printed circuit or antenna."""

    METAL = "metal"
    planar: Planar
    metal: Metal
    via: tuple[Via, ...] = ()
    ribbon: tuple[Ribbon, ...] = ()
    port: tuple[Port, ...] = Field(min_length=1)
    load: tuple[LumpedLoad, ...] = ()
    solver: PlanarSolver = PlanarSolver()

    @property
    def frequencies(self) -> list[float]:
        """Frequencies in Hz: the ends of the band, and that of the pattern."""
        band, frequency = self.planar.band, self.planar.frequency
        ends = [] if band is None else [band.start, band.stop]
        return ends + ([] if frequency is None else [frequency])

    def estimated(self) -> "PlanarCase":
        return self.model_copy(update={"planar": self.planar.model_copy(update={"estimate": True})})

    @property
    def ends(self) -> tuple[str, str]:
        return self.planar.below, self.planar.above

    @model_validator(mode="after")
    def _fits_together(self) -> "PlanarCase":
        self.interface  # noqa: B018
        if not any(self.voltages):
            raise ValueError("the voltages of all ports are 0: give one port a voltage")
        return self

    @property
    def height(self) -> float:
        """z of the lowest flat metal in m."""
        return float(self.stack.interfaces[self.interface])

    @property
    def radiates(self) -> bool:
        """Whether there is an open half-space."""
        return "vacuum" in (self.planar.below, self.planar.above)

    @property
    def voltages(self) -> list[float]:
        """In V, one for each port."""
        usual = [1.0] + [0.0] * (len(self.port) - 1)
        return [u if port.voltage is None else port.voltage for u, port in zip(usual, self.port, strict=True)]
