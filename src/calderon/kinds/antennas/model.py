"""Case files of antennas and composite bodies: [antennas], [[surface]], [[region]], [[wire]], [[port]], [[load]],
[[circuit]]."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

from pydantic import Field, model_validator

from calderon.case.circuit_parts import Band, Elements, LinePart
from calderon.case.mesh import NamedSurface
from calderon.case.quantities import Conductivity, Frequency, Place, Resistance, Size
from calderon.case.solver import MethodName
from calderon.case.table import CaseModel, Table, key
from calderon.formulations import Circuit, DeltaGap, FiniteGap, Lumped, WireGap
from calderon.formulations.composite.surfaces import Interface, Metal, Sheet, WaveguidePort
from calderon.formulations.options import DEFAULTS
from calderon.formulations.wires.wire import MOST_SEGMENTS, Wire
from calderon.layers import Conductor
from calderon.mesh import Material, material

AIR = "air"


class Antennas(Table):
    """[antennas]: a band in which S is computed, and the frequency of the pattern and the currents (that of the least
    |S11| unless given). A deck of NEC-2 in the folder of the case has wires, ports, loads, ground and frequencies;
    those that are given here come instead of its own."""

    band: Band | None = None
    frequency: Frequency | None = key("of pattern, power and currents; that of the least |S11| unless given")
    reference: float = key("resistance of the lines in ohm to which S refers", 50.0, gt=0)
    ground: str | None = key('below wires without surfaces: "pec" for metal in z = 0, a [[region]] or a material')
    deck: str | None = key("a .nec file in the folder of the case, instead of [[wire]], [[port]] and [[load]]")


class RegionTable(Table):
    """[[region]]: a medium by its name; "air" is vacuum unless it is given. material: a name that `cal.material` knows,
    instead of constants."""

    name: str = key("by which surfaces mean it", ..., min_length=1)
    material: str | None = key('of the table of materials, such as "FR4"')
    permittivity: float | None = key("relative; 1 unless given", gt=0)
    permeability: float | None = key("relative; 1 unless given", gt=0)
    loss_tangent: float | None = key("0 unless given", ge=0)
    conductivity: Conductivity | None = key("0 unless given")

    CONSTANTS: ClassVar = ("permittivity", "permeability", "loss_tangent", "conductivity")

    @model_validator(mode="after")
    def _has_one_source(self) -> Self:
        given = [name for name in self.CONSTANTS if getattr(self, name) is not None]
        if self.material is not None and given:
            raise ValueError(f"material and {given[0]}: give the name of a material, or constants")
        self.medium  # noqa: B018
        return self

    @property
    def medium(self) -> Material:
        if self.material is not None:
            return material(self.material)
        return Material(**{name: each for name in self.CONSTANTS if (each := getattr(self, name)) is not None})


class MetalKeys(Table):
    """Constants of metal with loss."""

    FURTHER: ClassVar[tuple[str, ...]] = ("permeability", "roughness")
    conductivity: Conductivity | None = key("of metal; a perfect conductor unless given", gt=0)
    permeability: float | None = key("relative, of metal with a conductivity; 1 unless given", gt=0)
    roughness: Size | None = key("of metal with a conductivity, root mean square; 0 unless given")

    @model_validator(mode="after")
    def _is_metal(self) -> Self:
        self.loss  # noqa: B018
        return self

    @property
    def loss(self) -> Conductor | None:
        """The metal, None for a perfect conductor; ValueError for constants without a conductivity."""
        if self.conductivity is None:
            if given := [name for name in self.FURTHER if getattr(self, name) is not None]:
                raise ValueError(f"{given[0]}: needs the conductivity of the metal")
            return None
        permeability = 1.0 if self.permeability is None else self.permeability
        return Conductor(self.conductivity, getattr(self, "thickness", None), permeability, self.roughness or 0.0)


WAVEGUIDE = "into", "waves", "polarization", "amplitude"
"""Keys of a surface that only waveguide ports have."""


class BodySurface(NamedSurface, MetalKeys):
    """[[surface]]: a mesh with its name, and what it is: a thin sheet of metal within a region, the surface of metal
    that is solid or between two regions, an interface of two regions, or the plane of a waveguide port. Surfaces that
    touch have the same vertices there. outside: the region on the side of the normals, of a sheet the one around it, of
    a waveguide port the one in the guide."""

    ALWAYS: ClassVar[tuple[str, ...]] = (
        "translation",
        "name",
        "kind",
        "outside",
        "inside",
        "resistance",
        "conductivity",
        "thickness",
        "permeability",
        "roughness",
        *WAVEGUIDE,
    )
    FURTHER: ClassVar[tuple[str, ...]] = ("thickness", *MetalKeys.FURTHER)
    kind: Literal["sheet", "metal", "interface", "waveguide"] = key("what it is", "sheet")
    outside: str = key("the region on the side of the normals, or around a sheet", AIR)
    inside: str | None = key("the region on the other side; of metal none unless given")
    resistance: Resistance | None = key("of a square of a sheet; 0 unless given")
    thickness: Size | None = key("of metal with a conductivity; many skin depths unless given")
    into: tuple[float, float, float] | None = key(
        "from a waveguide port into the guide, where one region is on both sides of it"
    )
    waves: int | None = key("modes of a waveguide port that are ports; 1 unless given", ge=1)
    polarization: tuple[float, float, float] | None = key("of the field of the first mode of a waveguide port")
    amplitude: float | None = key("of its first wave, |a|^2 / 2 in W; 1 at the first waveguide port unless given")

    @model_validator(mode="after")
    def _fits_its_kind(self) -> Self:
        if self.kind != "sheet" and self.resistance is not None:
            raise ValueError(f"resistance: that of a square of a sheet; a surface of the kind {self.kind!r} has none")
        if self.kind == "sheet" and self.resistance is not None and self.conductivity is not None:
            raise ValueError("resistance and conductivity: give one of them")
        if self.kind == "interface" and self.conductivity is not None:
            raise ValueError("conductivity: that of metal, give those of regions in [[region]]")
        if self.kind != "waveguide" and (given := [name for name in WAVEGUIDE if getattr(self, name) is not None]):
            raise ValueError(f"{given[0]}: that of a waveguide port; a surface of the kind {self.kind!r} has none")
        if self.kind == "waveguide" and self.conductivity is not None:
            raise ValueError("conductivity: that of metal, and the plane of a waveguide port is open")
        if self.kind in ("sheet", "interface") and (self.kind == "interface") != (self.inside is not None):
            raise ValueError("inside: an interface needs the region on its other side, a sheet has one region only")
        self.sides  # noqa: B018
        return self

    @property
    def sides(self) -> Interface | Metal | Sheet | WaveguidePort:
        loss = self.loss
        if self.kind == "waveguide":
            return WaveguidePort(self.outside, self.inside, self.into, self.waves or 1, self.polarization)
        if self.kind == "interface":
            return Interface(self.outside, self.inside or "")
        if self.kind == "metal":
            return Metal(self.outside, self.inside, loss)
        return Sheet(self.outside, self.resistance or 0.0 if loss is None else loss)


class WireTable(MetalKeys):
    """[[wire]]: a thin wire through points; wires are joined where they have a common point, and to metal where one
    ends on a vertex of it."""

    points: Annotated[tuple[Place, ...], Field(min_length=2, max_length=10_000)] = key("ends and bends", ...)
    radius: Size = key("of the metal", ...)
    segments: int = key("in all; twenty a wavelength give about 1 %", ..., ge=1, le=MOST_SEGMENTS)

    @property
    def wire(self) -> Wire:
        return Wire(self.points, self.radius, self.segments, self.loss)


PLACES: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "wire": (("at",), ("toward", "outer_radius")),
    "gap": ((), ("from_to", "between")),
    "finite": (("cells", "between"), ()),
}
"""Keys that a gap needs, and accepts, by its kind."""


class Gap(Table):
    """A gap of a wire at a point, a slot in metal along a line or between two surfaces, or a gap of finite width: cells
    of an interface between two surfaces of metal, where these lie between unlike media."""

    KEYS: ClassVar[tuple[str, ...]] = ()
    kind: Literal["wire", "gap", "finite"] = key("it decides which other keys are accepted", ...)
    name: str = key("in tables", "")
    at: Place | None = key("a point on a wire")
    toward: tuple[float, float, float] | None = key("direction of positive current; that of the wire unless given")
    outer_radius: Size | None = key("of a coaxial line that ends at the wire, its inner conductor")
    from_to: tuple[Place, Place] | None = key("ends of a slot in metal")
    between: tuple[str, str] | None = key("two surfaces whose common edges are a slot, or at both ends of a gap")
    cells: str | None = key("the surface of a gap of finite width, an interface")

    @model_validator(mode="after")
    def _complete(self) -> Self:
        needed, optional = PLACES[self.kind]
        self.require_keys(f"a port or load of the kind {self.kind!r}", needed, (*optional, "kind", "name", *self.KEYS))
        if self.kind == "gap" and (self.from_to is None) == (self.between is None):
            raise ValueError("a gap needs either from_to = [[x, y, z], [x, y, z]] or between = [surface, surface]")
        return self

    @property
    def gap(self) -> DeltaGap | WireGap | FiniteGap:
        if self.kind == "finite":
            return FiniteGap(self.cells, self.between, self.name)  # type: ignore[arg-type]
        if self.kind == "wire":
            return WireGap(self.at, self.toward, self.outer_radius)  # type: ignore[arg-type]
        return DeltaGap(line=self.from_to, between=self.between, name=self.name)


class PortTable(Gap):
    """[[port]]: a generator in a gap of a wire, or in a slot of metal."""

    KEYS: ClassVar = ("voltage",)
    voltage: float | None = key("in V; 1 at the first port and 0 at others unless given")


class LoadTable(Gap, Elements):
    """[[load]]: a resistor, a coil and a capacitor, in series unless parallel, in a gap of a wire or a slot of metal,
    where it is in series with a port."""

    KEYS: ClassVar = Elements.ELEMENTS

    @property
    def load(self) -> Lumped:
        return self.element(self.gap)


class CircuitTable(LinePart):
    """[[circuit]]: a transmission line without loss, or a network of a Touchstone file, between the gaps of its
    [[circuit.end]] tables, one for each port of it. A gap may be that of a port."""

    kind: Literal["line", "network"] = key("it decides which other keys are accepted", ...)
    file: str | None = key("a Touchstone file in the folder of the case, its frequencies cover those of the case")
    end: tuple[Gap, ...] = key("gaps at its ports", ..., min_length=1, max_length=1000)

    @model_validator(mode="after")
    def _fits_its_kind(self) -> Self:
        line = ("impedance", "length"), ("velocity", "crossed")
        needed, optional = line if self.kind == "line" else (("file",), ())
        self.require_keys(f"a circuit of the kind {self.kind!r}", needed, (*optional, "kind", "end"))
        if self.kind == "line" and len(self.end) != 2:
            raise ValueError(f"a line has two ends, got {len(self.end)} [[circuit.end]]")
        return self

    def between(self, path_of: Callable[[str], Path]) -> Circuit:
        """The circuit; path_of: where a file of the case is."""
        network = self.line if self.file is None else path_of(self.file)
        return Circuit(network, tuple(each.gap for each in self.end))


class AntennaSolver(Table):
    """[solver]: how the equations at a frequency are solved, and how many are. Wires alone have a dense matrix."""

    method: MethodName = key("how operators of surfaces are stored", DEFAULTS["method"])
    rtol: float = key("relative residual at which GMRES stops", DEFAULTS["rtol"], gt=0, lt=1)
    interpolate: float = key("error of S between solved frequencies", 1e-3, gt=0, lt=1)


class AntennaCase(CaseModel):
    """A whole case file of an antenna, or of several."""

    antennas: Antennas
    surface: tuple[BodySurface, ...] = ()
    region: tuple[RegionTable, ...] = ()
    wire: tuple[WireTable, ...] = ()
    port: tuple[PortTable, ...] = ()
    load: tuple[LoadTable, ...] = ()
    circuit: tuple[CircuitTable, ...] = ()
    solver: AntennaSolver = AntennaSolver()

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        antennas = self.antennas
        for table in ("surface", "region"):
            names = [each.name for each in getattr(self, table)]
            if twice := [name for name in names if names.count(name) > 1]:
                raise ValueError(f"{table}.name: {twice[0]!r} is given twice")
        self.ground  # noqa: B018
        if antennas.deck is not None:
            if given := [
                name for name in ("surface", "region", "wire", "port", "load", "circuit") if getattr(self, name)
            ]:
                raise ValueError(f"antennas.deck: the deck has all wires, ports and loads, leave [[{given[0]}]] out")
            return self
        if not self.surface and not self.wire:
            raise ValueError("an antenna needs a [[surface]], a [[wire]] or antennas.deck")
        if not self.port and not self.guides:
            raise ValueError("an antenna needs a [[port]], or a [[surface]] of the kind 'waveguide'")
        if self.surface and antennas.ground is not None:
            raise ValueError("antennas.ground: below surfaces there is none yet, give a large plate as a [[surface]]")
        if antennas.band is None and antennas.frequency is None:
            raise ValueError('antennas.band: give frequency = "2.4 GHz", or band = { start = "2 GHz", stop = "3 GHz" }')
        if not any(self.excitation):
            raise ValueError("the voltages and amplitudes of all ports are 0: give one port a voltage")
        return self

    @property
    def regions(self) -> dict[str, Material]:
        """The media by name, with air where a surface names it."""
        found = {each.name: each.medium for each in self.region}
        named = {name for each in self.surface for name in each.sides.sides}
        return {AIR: Material(), **found} if AIR in named else found

    @property
    def ground(self) -> str | Material | None:
        """The ground below wires: "pec", a medium, or None. ValueError for a name of none."""
        name = self.antennas.ground
        if name is None or name == "pec":
            return name
        regions = {each.name: each.medium for each in self.region}
        return regions[name] if name in regions else material(name)

    @property
    def guides(self) -> list[BodySurface]:
        """The waveguide ports."""
        return [each for each in self.surface if each.kind == "waveguide"]

    @property
    def modes(self) -> int:
        """The number of modes of waveguides that are ports, which come before others."""
        return sum(each.waves or 1 for each in self.guides)

    @property
    def excitation(self) -> list[float]:
        """Waves of the modes of waveguides, |a|^2 / 2 in W, then voltages in V, one for each port."""
        given = [[each.amplitude, *[0.0] * ((each.waves or 1) - 1)] for each in self.guides]
        wanted = [*sum(given, []), *(each.voltage for each in self.port)]
        usual = [1.0] + [0.0] * (len(wanted) - 1)
        return [u if each is None else each for u, each in zip(usual, wanted, strict=True)]
