"""Case files of fields in time: [mesh], [physics], [materials], [[source]], [initial], [solver], [run], [output]."""

from dataclasses import replace
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from pydantic import BeforeValidator, Field, model_validator

from calderon.case.mesh import AnyMesh, Keys, Unit
from calderon.case.output import Angles, Rectangle
from calderon.case.quantities import (
    Conductivity,
    Current,
    Density,
    FieldStrength,
    Frequency,
    Mass,
    Place,
    Power,
    Size,
    Time,
)
from calderon.case.solver import Backend, Precision
from calderon.case.table import CaseModel, Table, key
from calderon.case.waves import Wave
from calderon.mesh import Material, material
from calderon.waves import CurrentSource, RampedSine, TransientPlaneWave

SOLIDS: dict[str, Keys] = {
    "box": (("low", "high", "cells"), ()),
    "layered_ball": (("radii", "names", "air_radius", "h"), ()),
    "phantom": ((), ("h", "semi_axes", "thicknesses", "box", "distance", "width", "air_radius")),
}


def _cells(value: Any) -> int | tuple[int, ...]:
    """One number for all directions, or three of them; the shape refuses those below 1."""
    given = value if isinstance(value, list) else [value] * 3
    if len(given) != 3 or any(isinstance(each, bool) or not isinstance(each, int) for each in given):
        raise ValueError("a whole number of cells along each side, or a list of three, is needed")
    return tuple(value) if isinstance(value, list) else value


Cells = Annotated[int | tuple[int, int, int], BeforeValidator(_cells)]
Three = tuple[Size, Size, Size]


class VolumeMesh(AnyMesh):
    """[mesh]: a file of tetrahedra (.msh, .vtu), or a shape with its parameters.

    h: edge lengths, of a layered ball one or one for each layer and the air, of the phantom a table by part.
    """

    SELECTORS: ClassVar = ("file", "shape")
    SHAPES: ClassVar = SOLIDS
    file: str | None = key("tetrahedra in a .msh or .vtu file in the folder of the case")
    unit: Unit | None = key("of the lengths in the file; m unless given")
    shape: Literal["box", "layered_ball", "phantom"] | None = key(
        "a body that is meshed; it decides which lengths are accepted"
    )
    low: Place | None = key("lower corner of the box")
    high: Place | None = key("upper corner of the box")
    cells: Cells | None = key("cubes along each side, one number or three")
    radii: tuple[Size, ...] | None = key("of the layers, from inside", min_length=1)
    names: tuple[str, ...] | None = key("of the layers, from inside")
    air_radius: Size | None = key("where the air ends")
    h: dict[str, Size] | tuple[Size, ...] | Size | None = key(
        "edge lengths: one, one for each layer and the air, or a table by part of the phantom"
    )
    semi_axes: Three | None = key("of the phantom's head")
    thicknesses: Three | None = key("of the phantom's skin, skull and fluid")
    box: Three | None = key("sides of the phone")
    distance: Size | None = key("from the head to the phone")
    width: Size | None = key("of the gap that is fed")

    @model_validator(mode="after")
    def _lengths_fit(self) -> Self:
        if isinstance(self.h, dict) != (self.shape == "phantom") and self.h is not None:
            raise ValueError("h is a table by part for the shape 'phantom', one length or a list for 'layered_ball'")
        return self


# the keys that each kind of source accepts
SOURCES: dict[str, tuple[str, ...]] = {
    "plane-wave": ("direction", "azimuth", "elevation", "polarization", "electric_field"),
    "current": ("part", "direction", "current", "name"),
}


class Source(Wave):
    """[[source]]: a plane wave that enters through the absorbing faces, or a current that flows through a part of the
    mesh along a direction. Both oscillate with the frequency of [physics].

    current: peak value, 1 A if not given. name: of the feed in results, by default the part's.
    """

    SELECTORS: ClassVar = ("kind",)
    kind: Literal["plane-wave", "current"] = key("a wave through the absorbing faces, or a current through a part", ...)
    part: str | None = key("name of the part through which the current flows")
    current: Current | None = key("peak value; 1 A unless given")
    name: str | None = key("of the feed in results; the part's unless given", min_length=1)

    @model_validator(mode="after")
    def _of_one_kind(self) -> "Source":
        self.require_keys(f"kind = {self.kind!r}", (), SOURCES[self.kind])
        if self.kind == "plane-wave":
            if self.polarization is None:
                raise ValueError('a plane wave needs polarization = "V", "H" or [x, y, z]')
            self.require_plane_wave()
        elif self.part is None or self.direction is None or not any(self.direction):
            raise ValueError('a current needs part = "name" and direction = [x, y, z], not all zero')
        return self

    def at(self, frequency: float) -> TransientPlaneWave | CurrentSource:
        """The source at a frequency in Hz."""
        if self.kind == "plane-wave":
            direction, vector, amplitude = self.polarized
            return TransientPlaneWave(direction, vector, frequency, amplitude)
        assert self.part is not None
        signal = RampedSine(frequency, 1.0 if self.current is None else self.current)
        return CurrentSource(self.part, np.array(self.direction), signal, self.name or self.part)


class Initial(Table):
    """[initial]: a standing wave (l, m, n) of the cube that the mesh is, with the largest component of E given."""

    mode: tuple[int, int, int] = key("numbers (l, m, n) of the standing wave of a cube", ...)
    electric_field: FieldStrength = key("largest component", 1.0)


class Cut(Rectangle):
    """[[output.slice]] of a transient case: by default around everything that is not air.

    quantity: |E|, its level in dB, or the local specific absorption rate. frames: of an animation of E, over one period
    or over the whole run; 0 for none.
    """

    points: int = key("along its longer side", 240, ge=8, le=2000)
    quantity: Literal["abs", "db", "sar"] = key("|E|, its level, or the absorption rate", "abs")
    frames: int = key("of an animation of E over the last period or the run; 0 for none", 0, ge=0, le=200)


class AveragedSAR(Table):
    """output.sar: the specific absorption rate averaged over cubes of tissue. voxel: side of the grid's cells."""

    mass: Mass = key("of the cubes", 0.010)
    voxel: Size = key("side of the cells of the grid", 0.002)


class Snapshots(Table):
    """output.snapshots: E and H on the whole mesh at `count` times, evenly over the run, or over the last period."""

    count: int = key("number of times, evenly over the last period or the run", ..., ge=1, le=1000)


class TransientOutput(Table):
    """[output] of a transient case: what is recorded, drawn and written.

    probes: points at which both fields are recorded. slice: cuts through the fields. sar: averages over cubes of
    tissue. fed_power: all fields but snapshots are scaled so that currents feed this mean power. exact: the error
    against the standing wave of [initial]. far_field: of the last period, in a plane: the gain of a fed antenna, the
    cross-section of a scatterer of a plane wave.
    """

    probes: tuple[Place, ...] = key("points at which E and H are recorded", ())
    slice: tuple[Cut, ...] = ()
    sar: AveragedSAR | None = None
    fed_power: Power | None = key("mean power that the currents feed, to which all fields but snapshots are scaled")
    snapshots: Snapshots | None = None
    far_field: Angles | None = None
    exact: bool = key("compare with the standing wave of [initial]", False)

    @model_validator(mode="after")
    def _distinct(self) -> "TransientOutput":
        if len(set(self.probes)) < len(self.probes):
            raise ValueError("probes: the same point is given twice")
        return self


class TransientPhysics(Table):
    """[physics] of a transient case: the problem, and the frequency of sources and amplitudes."""

    problem: Literal["transient"] = key("fields in time on tetrahedra", ...)
    frequency: Frequency | None = key("of sources and of complex amplitudes")


class Medium(Table):
    """[materials.NAME]: constants of the part of the mesh with that name; permittivity and permeability relative.
    material: a name that `cal.material` knows, with its constants at the frequency in [physics], instead of them."""

    material: str | None = key('of the table of materials, such as "muscle", at the frequency in [physics]')
    permittivity: float | None = key("relative; 1 unless given", gt=0)
    permeability: float | None = key("relative; 1 unless given", gt=0)
    conductivity: Conductivity | None = key("of the part; 0 unless given")
    density: Density | None = key("of tissue, for absorption rates")

    CONSTANTS: ClassVar = ("permittivity", "permeability", "conductivity")

    @model_validator(mode="after")
    def _has_one_source(self) -> "Medium":
        given = [name for name in self.CONSTANTS if getattr(self, name) is not None]
        if self.material is not None and given:
            raise ValueError(f"material and {given[0]}: give the name of a material, or constants")
        self.at(1e9)
        return self

    def at(self, frequency: float | None) -> Material:
        """Its constants at the frequency in [physics], which only a named material needs."""
        if self.material is None:
            given = {name: each for name in self.CONSTANTS if (each := getattr(self, name)) is not None}
            return Material(density=self.density, **given)
        if frequency is None:
            raise ValueError(f"material = {self.material!r} has constants at a frequency: give it in [physics]")
        return replace(material(self.material).at(frequency), density=self.density)


class TransientSolver(Table):
    """[solver] of a transient case: polynomial degree, flux ("centred" uses leap-frog, "upwind" Runge-Kutta), the step
    as a fraction of the stability limit, precision and backend. local_time_stepping: small elements take several steps
    while the others take one (centred flux, on processors)."""

    order: int = key("polynomial degree of the fields in an element", 2, ge=1, le=6)
    flux: Literal["centred", "upwind"] = key(
        '"centred" conserves energy and takes leap-frog steps, "upwind" damps and takes Runge-Kutta steps', "centred"
    )
    courant: float = key("the step as a fraction of the largest stable one", 0.9, gt=0, le=1)
    precision: Precision = key("of fields", "double")
    backend: Backend = key("where kernels run, as for surfaces", "numba")
    local_time_stepping: bool = key(
        "small elements take several steps while others take one (centred flux, on processors)", False
    )

    @model_validator(mode="after")
    def _steps_fit(self) -> "TransientSolver":
        if self.local_time_stepping and (self.flux, self.backend) != ("centred", "numba"):
            raise ValueError("local_time_stepping requires flux = 'centred' and backend = 'numba'")
        return self


class Run(Table):
    """[run]: for how long; periods of the frequency in [physics], the last of which gives complex amplitudes, or until
    a time. checkpoint: seconds between two states of the run that are kept, from which an interrupted one continues."""

    periods: int | None = key("of the frequency in [physics]; the last one gives complex amplitudes", ge=2)
    until: Time | None = key("end of the run, instead of periods")
    checkpoint: float = key(
        "seconds of computing between two states that are kept for a continuation; 0 keeps every step", 60.0, ge=0
    )

    @model_validator(mode="after")
    def _one_end(self) -> "Run":
        if (self.periods is None) == (self.until is None):
            raise ValueError('give either periods or until = "10 ns"')
        return self


class TransientCase(CaseModel):
    """A whole case file of a transient problem."""

    mesh: VolumeMesh
    physics: TransientPhysics
    materials: dict[str, Medium] = Field(default_factory=dict)
    boundaries: dict[str, Literal["pec", "pmc", "absorbing"]] = key(
        "what faces of the mesh are, by their names; perfect conductors unless given", {}
    )
    source: tuple[Source, ...] = ()
    initial: Initial | None = None
    solver: TransientSolver = TransientSolver()
    run: Run
    output: TransientOutput = TransientOutput()

    @property
    def media(self) -> dict[str, Material]:
        """The constants of the parts of the mesh, by their names."""
        return {name: medium.at(self.physics.frequency) for name, medium in self.materials.items()}

    @model_validator(mode="after")
    def _fits_together(self) -> "TransientCase":
        self.media  # noqa: B018
        if not self.source and self.initial is None:
            raise ValueError("no excitation of the fields: give a [[source]] or [initial]")
        if self.physics.frequency is None and (self.source or self.run.periods is not None):
            raise ValueError("sources, and run.periods, need a frequency in [physics]")
        if self.initial is not None and self.mesh.shape != "box":
            raise ValueError("[initial] is the standing wave of a cube: it requires mesh.shape = 'box'")
        feeds = [one.name or one.part for one in self.source if one.kind == "current"]
        if len(set(feeds)) < len(feeds):
            raise ValueError("two currents flow through one part of the mesh: give each [[source]] a name of its own")
        self._output_fits()
        return self

    def _output_fits(self) -> None:
        output = self.output
        absorbing = any(medium.density for medium in self.materials.values())
        wanting = [f"slice of {cut.quantity!r}" for cut in output.slice if cut.quantity == "sar"]
        wanting += ["sar"] if output.sar is not None else []
        if wanting and (self.run.periods is None or not absorbing):
            raise ValueError(f"output: {', '.join(wanting)} needs run.periods and the density of a material")
        if output.fed_power is not None and not (self.run.periods and any(one.part for one in self.source)):
            raise ValueError('output.fed_power requires run.periods and a [[source]] of kind = "current"')
        if output.far_field is not None and self.run.periods is None:
            raise ValueError("output.far_field is that of one frequency: it needs run.periods")
        if output.exact and (self.initial is None or self.source or self.materials):
            raise ValueError("output.exact compares with the standing wave of [initial], in vacuum, without sources")
