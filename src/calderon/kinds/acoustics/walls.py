"""The [[surface]] tables of a case of sound: what each part of a surface does, and the conditions that this makes."""

import csv
from cmath import exp
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

from pydantic import Field, model_validator

from calderon.case.faces import Tag
from calderon.case.quantities import (
    Angle,
    AngularVelocity,
    FlowResistivity,
    Place,
    Size,
    SoundAmplitude,
    Viscosity,
    WallImpedance,
    WallVelocity,
)
from calderon.case.reading import CaseFile
from calderon.case.sound import Ratio
from calderon.case.table import AT_MOST, Table, key
from calderon.formulations import Impedance, SoundPressure, Velocity, ViscothermalWall
from calderon.formulations.acoustic.fluid import BOUNDARY_LAYER
from calderon.mesh import TriangleMesh

ORIGIN = (0.0, 0.0, 0.0)


class Porous(Table):
    """surface.porous: a porous layer on a rigid back, by Miki's formulas."""

    flow_resistivity: FlowResistivity = key("of the layer", ...)
    thickness: Size = key("of the layer", ...)


class Perforated(Table):
    """surface.perforated: a panel with round holes, of a wall in front of a cavity, by Maa's formulas."""

    hole: Size = key("diameter of a hole", ...)
    thickness: Size = key("of the panel", ...)
    porosity: float = key("area of the holes over that of the panel", ..., gt=0, lt=1)
    cavity: Size | None = key("depth behind the panel; a sheet has none")
    viscosity: Viscosity = key("of the fluid; that of air at 20 degrees unless given", 1.81e-5)


class Wall(Table):
    """[[surface]]: what a part of the surface does; parts without a table are rigid.

    velocity: along the normal into the fluid, or a vector, peak values; with rotation about a centre the part moves as
    a whole. phase: of both, the factor exp(i phase) with the time factor exp(-i omega t). velocity_file: of a
    structural code, as for `Velocity.from_file`: a table with the columns x, y, z, and v or vx, vy, vz with endings _re
    and _im, units in brackets, and frequency where there are several, or a .vtu file with data "velocity". An impedance
    is the pressure over the velocity into the wall, [real, imaginary] or real; of the ways to give one, one may be
    chosen, and it may go with a velocity. impedance_file: a .csv file with the columns frequency, real and imaginary,
    in Hz and Pa s/m. viscothermal: in narrow ducts, next to air, water, or a medium with its viscosity. A pressure
    stands alone, 0 is the surface of water. With acoustics.side = "both" the part is one of a thin sheet, and its
    impedance the difference of the pressures on both sides over the velocity through it.
    """

    SELECTORS: ClassVar = ("tag",)
    tag: Tag | Annotated[tuple[Tag, ...], Field(min_length=1)] | None = key(
        "name or number of the part, or a list of them; the whole surface unless given"
    )
    velocity: WallVelocity | tuple[WallVelocity, WallVelocity, WallVelocity] | None = key(
        "along the normal into the fluid, or a vector"
    )
    rotation: tuple[AngularVelocity, AngularVelocity, AngularVelocity] | None = key("about x, y and z")
    centre: Place | None = key("of the rotation; the origin unless given")
    phase: Angle | None = key("of velocity and rotation; 0 unless given")
    velocity_file: str | None = key("a .csv or .vtu file in the folder of the case, velocities at points")
    time_factor: Literal["exp(-i omega t)", "exp(+i omega t)"] | None = key(
        'of velocity_file; "exp(-i omega t)" unless given'
    )
    impedance: WallImpedance | None = key("pressure over the velocity into the wall")
    relative_impedance: Ratio | None = key("the impedance over that of the fluid, rho c")
    absorption: Annotated[float, Field(ge=0, le=1)] | None = key("part of the energy of a wave along the normal")
    porous: Porous | None = None
    perforated: Perforated | None = None
    impedance_file: str | None = key("a .csv file in the folder of the case, an impedance by frequency")
    viscothermal: bool | None = key("whether the wall has boundary layers of viscosity and heat, as in narrow ducts")
    pressure: SoundAmplitude | None = key("sound pressure; 0 is the surface of water")

    @model_validator(mode="after")
    def _of_one_kind(self) -> "Wall":
        given = self.given
        if not given:
            raise ValueError(f"a surface needs one of {', '.join(CONDITIONS)}; parts without a table are rigid")
        kinds = [CONDITIONS[name].kind for name in given]
        if twice := next((kind for kind in kinds if kinds.count(kind) > 1), None):
            raise ValueError(f"{' and '.join(n for n in given if CONDITIONS[n].kind == twice)}: give one {twice}")
        if "pressure" in kinds and len(kinds) > 1:
            raise ValueError(f"{' and '.join(given)}: a pressure stands alone")
        accepted = {each for name in given for each in CONDITIONS[name].optional}
        self.require_keys(f"a surface with {' and '.join(given)}", (), (*given, *sorted(accepted)))
        return self

    @property
    def given(self) -> list[str]:
        """The ways in which conditions are given."""
        return [name for name in CONDITIONS if getattr(self, name) is not None and getattr(self, name) is not False]

    @property
    def moves(self) -> bool:
        """Whether it has a velocity."""
        return self.velocity is not None or self.velocity_file is not None

    @property
    def sounds(self) -> bool:
        """Whether it moves, or has a pressure that is not 0."""
        return self.moves or bool(self.pressure)

    def require_side(self, side: str) -> None:
        """ValueError for conditions that walls of a body, or sheets, do not have."""
        alone = [name for name in self.given if not CONDITIONS[name].of_sheets]
        if side == "both" and alone:
            accepted = ", ".join(name for name, each in CONDITIONS.items() if each.of_sheets)
            raise ValueError(f"surface.{alone[0]}: a sheet (side = 'both') has a transfer impedance, one of {accepted}")
        if self.perforated is not None and (self.perforated.cavity is None) == (side != "both"):
            raise ValueError(
                "surface.perforated: a panel in a wall also needs cavity, the depth behind it"
                if side != "both"
                else "surface.perforated: a sheet has its fluid on both sides, leave cavity out"
            )


def _velocity(one: Wall, file: CaseFile[Any], mesh: TriangleMesh) -> Velocity:
    turn = exp(1j * (one.phase or 0.0))
    if one.rotation is None and not isinstance(one.velocity, tuple):
        return Velocity((one.velocity or 0.0) * turn)
    moving = one.velocity or ORIGIN
    if not isinstance(moving, tuple):
        raise ValueError("a velocity with a rotation is a vector [x, y, z]")
    translation, rotation = ([each * turn for each in part] for part in (moving, one.rotation or ORIGIN))
    return Velocity.rigid(translation, rotation, one.centre or ORIGIN)


def _velocity_file(one: Wall, file: CaseFile[Any], mesh: TriangleMesh) -> Velocity:
    assert one.velocity_file is not None
    path = file.path_of(one.velocity_file)
    return Velocity.from_file(path, mesh, one.tag, time_factor=one.time_factor or "exp(-i omega t)")


def _table(one: Wall, file: CaseFile[Any], mesh: TriangleMesh) -> Impedance:
    assert one.impedance_file is not None
    hertz, real, imaginary = zip(*_rows(file.path_of(one.impedance_file)), strict=True)
    return Impedance.table(hertz, [complex(*each) for each in zip(real, imaginary, strict=True)])


def _rows(path: Path) -> list[list[float]]:
    """Frequency, real and imaginary part of each line of a .csv file; ValueError for other files."""
    if not path.is_file():
        raise ValueError(f"no such file in {path.parent.resolve()}, the folder of the case")
    if path.stat().st_size > AT_MOST.table:
        raise ValueError(f"the file has more than {AT_MOST.table} bytes")
    try:
        lines = [each for each in path.read_text("utf-8-sig").splitlines() if each.strip() and each[0] != "#"]
        rows = list(csv.DictReader(lines, skipinitialspace=True))
        found = [[float(row[name]) for name in ("frequency", "real", "imaginary")] for row in rows]
    except (UnicodeDecodeError, csv.Error, KeyError, ValueError, TypeError):
        found = []
    if not found:
        raise ValueError("its first line names the columns frequency, real and imaginary, and numbers follow")
    return found


Make = Callable[[Wall, CaseFile[Any], TriangleMesh], Any]


def _boundary_layers(one: Wall, file: CaseFile[Any], mesh: TriangleMesh) -> ViscothermalWall:
    """ValueError for a fluid whose viscosity is not known."""
    name, fluid = file.case.acoustics.fluid, file.case.fluid_at(max(file.case.frequencies))
    if missing := [each for each in BOUNDARY_LAYER if getattr(fluid, each) is None]:
        raise ValueError(
            f"boundary layers need {', '.join(missing)} of the fluid: give them in [media.{name}]; air at 20 degrees "
            "has 1.5e-5 m^2/s, 1.4 and 0.71"
        )
    return ViscothermalWall()


class Condition(NamedTuple):
    """A way to give a condition. kind: of which a surface has one; make: gives the condition of a [[surface]] of a
    case on its mesh; optional: keys that go with it; of_sheets: whether sheets have it."""

    kind: str
    make: Make
    optional: tuple[str, ...] = ()
    of_sheets: bool = False


def _of(key_: str, make: Callable[[Any], Any]) -> Make:
    """make(value) of the value of a key."""
    return lambda one, file, mesh: make(getattr(one, key_))


MOTION = ("velocity", "rotation", "centre", "phase")
CONDITIONS = {
    "velocity": Condition("velocity", _velocity, MOTION),
    "velocity_file": Condition("velocity", _velocity_file, ("time_factor",)),
    "impedance": Condition("impedance", _of("impedance", Impedance), of_sheets=True),
    "relative_impedance": Condition("impedance", _of("relative_impedance", Impedance.relative), of_sheets=True),
    "absorption": Condition("impedance", _of("absorption", Impedance.from_absorption)),
    "porous": Condition("impedance", _of("porous", lambda layer: Impedance.porous(**layer.model_dump()))),
    "perforated": Condition(
        "impedance", _of("perforated", lambda panel: Impedance.perforated(**panel.model_dump())), of_sheets=True
    ),
    "impedance_file": Condition("impedance", _table, of_sheets=True),
    "viscothermal": Condition("impedance", _boundary_layers),
    "pressure": Condition("pressure", _of("pressure", SoundPressure)),
}
"""Ways to give a condition, by the key."""


def conditions_of(file: CaseFile[Any], mesh: TriangleMesh) -> Any:
    """The conditions of a case on its mesh, by tag; CaseError for parts that it does not have, or that have two
    tables."""
    found: dict[Any, list[Any]] = {}
    owners: dict[int, int] = {}
    for number, one in enumerate(file.case.surface):
        tags = one.tag if one.tag is not None else tuple(sorted(set(mesh.tags.tolist())))
        with file.blamed("surface", "tag", one.tag or "the whole surface", number):
            for tag in mesh.tag_numbers(tags).tolist():
                if tag in owners:
                    text = f"tag {tag} has a condition in [[surface]] number {owners[tag] + 1}: give those of one part"
                    raise ValueError(f"{text} in one table")
                owners[tag] = number
        for name in one.given:
            with file.blamed("surface", name, number=number):
                found.setdefault(tags, []).append(CONDITIONS[name].make(one, file, mesh))
    return found
