"""Case files of elastic solids: [solid], [material], [[face]], [[support]], [[load]]."""

from collections.abc import Callable
from typing import Annotated, Any, ClassVar, Literal, NamedTuple

import numpy as np
from pydantic import BeforeValidator, Field, TypeAdapter, ValidationInfo, WithJsonSchema, model_validator

import calderon.formulations as formulations
from calderon.case.faces import Face, Tag
from calderon.case.mesh import Mesh
from calderon.case.output import NearFields, Rectangle
from calderon.case.quantities import (
    SYSTEMS,
    Acceleration,
    Angle,
    AngularVelocity,
    Density,
    Expansion,
    Force,
    HeatConductivity,
    HeatFlux,
    Length,
    Mass,
    Moment,
    Place,
    SignedStress,
    Stiffness,
    Stress,
    Temperature,
    TemperatureChange,
    quantity,
)
from calderon.case.solver import RealSolver
from calderon.case.table import CaseModel, Table, key
from calderon.case.waves import Direction
from calderon.mesh import TriangleMesh


def _length_or_free(value: Any, info: ValidationInfo) -> float | None:
    if value == "free":
        return None
    return quantity(value, "length", "any", (info.context or {}).get("units", "SI"))


LENGTH = TypeAdapter(Length).json_schema()
Component = Annotated[
    float | None,
    BeforeValidator(_length_or_free),
    WithJsonSchema({**LENGTH, "anyOf": [*LENGTH["anyOf"], {"const": "free"}]}),
]
ThreeAngles = tuple[Angle, Angle, Angle]


class Condition(NamedTuple):
    """A kind of support or load.

    make: gives the condition of `formulations` from its table. needed, optional: keys that the table needs, and that it
    accepts. constant: of the material that it needs, "" for none. quantity: the kind of its value, "" where it has a
    text of its own.
    """

    make: Callable[[Any], Any]
    needed: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    constant: str = ""
    quantity: str = ""


def _remote_stress(one: "Load") -> Any:
    assert one.stress is not None
    xx, yy, zz, yz, xz, xy = one.stress
    return formulations.RemoteStress(np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))


def _steady_temperature(one: "Load") -> Any:
    given, heat = _by_tag(one.temperatures), _by_tag(one.heat) or None
    return formulations.SteadyTemperature(given, heat, one.conductivity, one.reference or 0.0)


ORIGIN, UPWARD = (0.0, 0.0, 0.0), (0.0, 0.0, 1.0)
SUPPORTS = {
    "fixed": Condition(lambda one: formulations.Fixed()),
    "prescribed": Condition(lambda one: formulations.Prescribed(one.displacement), ("displacement",)),
    "rigid-motion": Condition(
        lambda one: formulations.RigidMotion(one.translation or ORIGIN, one.rotation or ORIGIN, one.centre or ORIGIN),
        optional=("translation", "rotation", "centre"),
    ),
    "roller": Condition(lambda one: formulations.Roller(one.direction), optional=("direction",)),
    "symmetry": Condition(lambda one: formulations.SymmetryPlane()),
    "elastic": Condition(
        lambda one: formulations.ElasticSupport(one.stiffness, one.direction), ("stiffness",), ("direction",)
    ),
}
LOADS = {
    "traction": Condition(lambda one: formulations.Traction(one.traction), ("tag", "traction"), quantity="stress"),
    "pressure": Condition(lambda one: formulations.Pressure(one.pressure), ("tag", "pressure"), quantity="stress"),
    "force": Condition(lambda one: formulations.Force(one.force, one.at), ("tag", "force"), ("at",), quantity="force"),
    "moment": Condition(lambda one: formulations.Moment(one.moment), ("tag", "moment"), quantity="moment"),
    "bearing": Condition(lambda one: formulations.BearingLoad(one.force), ("tag", "force"), quantity="force"),
    "bolt": Condition(lambda one: None, ("tag", "other", "preload")),  # of two faces: see `on_faces`
    "mass": Condition(
        lambda one: formulations.PointMass(one.mass, one.at, one.acceleration), ("tag", "mass", "at", "acceleration")
    ),
    "gravity": Condition(
        lambda one: formulations.Gravity(one.acceleration),
        ("acceleration",), constant="density", quantity="acceleration",
    ),
    "rotation": Condition(
        lambda one: formulations.Spin(one.angular_velocity, one.axis or UPWARD, one.centre or ORIGIN),
        ("angular_velocity",), ("axis", "centre"), constant="density",
    ),
    "temperature": Condition(lambda one: formulations.TemperatureChange(one.change), ("change",), constant="expansion"),
    "steady-temperature": Condition(
        _steady_temperature, ("temperatures",), ("heat", "conductivity", "reference"), constant="expansion"
    ),
    "remote-stress": Condition(_remote_stress, ("stress",)),
}  # fmt: skip


class Solid(Table):
    """[solid]: units of numbers without one and of the results, "SI" (m, N, Pa, kg/m^3) or "mm-N-MPa" (t/mm^3); space
    of displacements; exterior: the solid around the surface, without end."""

    units: Literal["SI", "mm-N-MPa"] = key(
        "of numbers without one and of results: m, N, Pa, kg/m^3, or mm, N, MPa, t/mm^3", "SI"
    )
    space: Literal["P1", "P2"] = key("of displacements: linear or quadratic", "P1")
    exterior: bool = key("the solid around the surface, without end", False)


class Constants(Table):
    """[material]: isotropic and linearly formulations."""

    name: str = key("in the report", "")
    youngs_modulus: Stress = key("E, stress over strain in tension", ...)
    poissons_ratio: float = key("nu, contraction over extension", ..., gt=-1, lt=0.5)
    density: Density | None = key("needed by gravity and rotation")
    expansion: Expansion | None = key("of length with temperature; needed by temperatures")
    yield_strength: Stress | None = key("for the factor of safety")

    @property
    def material(self) -> formulations.ElasticMaterial:
        return formulations.ElasticMaterial(**self.model_dump(exclude={"name"}))


class Region(Table):
    """[[region]]: one of several bonded bodies: tags of the faces that bound it, also common ones, and material."""

    name: str = key("in the report", ..., min_length=1)
    tags: tuple[Tag, ...] = key("all faces that bound the region, common ones included", ..., min_length=1)
    material: Constants


class Support(Table):
    """[[support]]: what holds a face. displacement: numbers or "free"; a roller without direction holds its normal."""

    SELECTORS: ClassVar = ("kind", "tag")
    tag: Tag = key("name or number of the face", ...)
    kind: Literal["fixed", "prescribed", "rigid-motion", "roller", "symmetry", "elastic"] = key(
        "it decides which other keys are accepted", ...
    )
    displacement: tuple[Component, Component, Component] | None = key('of "prescribed": three lengths, or "free"')
    translation: Place | None = key('of "rigid-motion"; none unless given')
    rotation: ThreeAngles | None = key('of "rigid-motion": small angles about x, y and z; none unless given')
    centre: Place | None = key("about which it rotates; the origin unless given")
    direction: Direction | None = key(
        "that a roller holds, the normal unless given; along which springs act, all directions unless given"
    )
    stiffness: Stiffness | None = key('of "elastic": traction over displacement')

    @model_validator(mode="after")
    def _of_one_kind(self) -> "Support":
        self.require_keys(f"kind = {self.kind!r}", SUPPORTS[self.kind].needed, SUPPORTS[self.kind].optional)
        if self.direction is not None and not any(self.direction):
            raise ValueError("direction = [0, 0, 0] is not a direction")
        if self.displacement is not None and all(each is None for each in self.displacement):
            raise ValueError("all three components of the displacement are free: omit the support")
        return self

    @property
    def moves(self) -> bool:
        """Whether it prescribes a displacement that is not zero."""
        return any(value for key in (self.displacement, self.translation, self.rotation) for value in key or ())

    @property
    def condition(self) -> Any:
        """The support of `formulations`."""
        return SUPPORTS[self.kind].make(self)


class Load(Table):
    """[[load]]: on a face (traction, pressure, and resultant force or moment), or of the whole volume. stress: far
    away from the surface of an exterior solid, [xx, yy, zz, yz, xz, xy]. temperatures, heat (positive where it enters):
    by tag; other faces are insulated. reference: the temperature of the state without stress. case: the name of the
    load case of which it is; a load without one is of all of them."""

    SELECTORS: ClassVar = ("kind", "case")
    case: Annotated[str, Field(min_length=1)] | None = key("name of the load case; a load without one belongs to all")
    kind: Literal[
        "traction",
        "pressure",
        "force",
        "moment",
        "bearing",
        "bolt",
        "mass",
        "gravity",
        "rotation",
        "temperature",
        "steady-temperature",
        "remote-stress",
    ] = key("it decides which other keys are accepted", ...)
    tag: Tag | None = key("name or number of the face")
    traction: tuple[SignedStress, SignedStress, SignedStress] | None = key("force over area, a vector")
    pressure: SignedStress | None = key("against the outward normal")
    force: tuple[Force, Force, Force] | None = key("resultant, a vector; of a bearing, across its axis")
    at: Place | None = key("where a force or a mass acts, also away from the face; a force in its middle unless given")
    other: Tag | None = key("face toward which a bolt pulls that of the tag, which bears the opposite force")
    preload: Force | None = key("of a bolt, above zero", gt=0)
    mass: Mass | None = key("rigid, whose weight the face bears from that point")
    moment: tuple[Moment, Moment, Moment] | None = key("resultant about the middle of the face, a vector")
    acceleration: tuple[Acceleration, Acceleration, Acceleration] | None = key("of gravity, a vector")
    angular_velocity: AngularVelocity | None = key('of "rotation"')
    axis: Direction | None = key('of "rotation"; z unless given')
    centre: Place | None = key("on the axis; the origin unless given")
    change: TemperatureChange | None = key("of the temperature of the whole solid")
    temperatures: dict[str, Temperature] | None = key("of faces, by tag", min_length=1)
    heat: dict[str, HeatFlux] | None = key("flux that enters through faces, by tag; others are insulated", min_length=1)
    conductivity: HeatConductivity | None = key("of heat; needed with heat")
    reference: Temperature | None = key("temperature without stress; 0 unless given")
    stress: tuple[SignedStress, SignedStress, SignedStress, SignedStress, SignedStress, SignedStress] | None = key(
        "far away: xx, yy, zz, yz, xz, xy"
    )

    @model_validator(mode="after")
    def _of_one_kind(self) -> "Load":
        self.require_keys(f"kind = {self.kind!r}", LOADS[self.kind].needed, LOADS[self.kind].optional)
        if self.axis is not None and not any(self.axis):
            raise ValueError("axis = [0, 0, 0] is not a direction")
        if self.heat is not None and self.conductivity is None:
            raise ValueError("heat that enters a solid needs its conductivity")
        return self

    @property
    def condition(self) -> Any:
        """The load of `formulations`."""
        return LOADS[self.kind].make(self)

    def on_faces(self, mesh: TriangleMesh) -> dict[int | str, Any]:
        """The loads of `formulations` by tag, those of both faces of a bolt, on the mesh of all parts."""
        assert self.tag is not None
        if self.kind != "bolt":
            return {self.tag: self.condition}
        assert self.other is not None and self.preload is not None
        return dict(formulations.BoltPreload.between(mesh, self.tag, self.other, self.preload))

    @property
    def on_face(self) -> bool:
        """Whether it acts on a face, not in the volume."""
        return "tag" in LOADS[self.kind].needed


def _by_tag(given: dict[str, float] | None) -> dict[int | str, float]:
    """Keys of a table that are numbers become numbers of tags."""
    return {int(tag) if tag.lstrip("-").isdigit() else tag: value for tag, value in (given or {}).items()}


class StressLine(Table):
    """[[output.line]]: stresses at points on a straight line through the solid, both ends within it."""

    start: Place = key("first point, inside", ...)
    stop: Place = key("last point, inside", ...)
    count: int = key("number of points", 41, ge=2, le=10_000)
    name: str = key("in tables", "")

    @model_validator(mode="after")
    def _has_a_length(self) -> "StressLine":
        if self.start == self.stop:
            raise ValueError("start and stop of a line are the same point")
        return self

    @property
    def points(self) -> np.ndarray:
        """(count, 3)."""
        return np.linspace(self.start, self.stop, self.count)


class StressCut(Rectangle):
    """output.slice: a plane through the solid; by default through the middle of the body."""

    points: int = key("along its longer side", 100, ge=8, le=1000)
    quantity: Literal["von-mises", "displacement"] = key("what is drawn", "von-mises")


class SolidOutput(NearFields):
    """[output]: deformation: the factor by which displacements are enlarged in pictures, chosen if not given. view:
    where the camera is, by name or [azimuth, elevation]; by default where the largest stress is seen. points: at which
    displacement and stress are computed. near_field: of displacement and von Mises stress, with numbers of files in the
    units of the case, too; no value outside of the material."""

    deformation: float | None = key("factor of displacements in pictures; chosen unless given", gt=0)
    view: Literal["iso", "side", "top", "front", "back"] | tuple[Angle, Angle] | None = key(
        "of the camera, a name or [azimuth, elevation]; toward the largest stress unless given"
    )
    points: tuple[Place, ...] = key("at which displacement and stress are computed", ())
    line: tuple[StressLine, ...] = ()
    slice: StressCut | None = None


class SolidCase(CaseModel):
    """A whole case file of an elastic solid."""

    mesh: Mesh
    solid: Solid
    material: Constants | None = None
    region: tuple[Region, ...] = ()
    face: tuple[Face, ...] = ()
    support: tuple[Support, ...] = ()
    load: tuple[Load, ...] = ()
    solver: RealSolver = RealSolver()
    output: SolidOutput = SolidOutput()

    @classmethod
    def context(cls, data: dict[str, Any]) -> dict[str, Any] | None:
        units = data["solid"].get("units") if isinstance(data["solid"], dict) else None
        return {"units": units} if units in (*SYSTEMS,) else None

    @property
    def load_cases(self) -> tuple[str, ...]:
        """The names of all load cases in their order; one without a name where no load has one."""
        return tuple(dict.fromkeys(one.case for one in self.load if one.case is not None)) or ("",)

    def loads_of(self, load_case: str) -> tuple[Load, ...]:
        """The loads of a load case."""
        return tuple(one for one in self.load if one.case in (None, load_case))

    @property
    def materials(self) -> dict[str, Constants]:
        """By the name of the region; that of the whole body is empty."""
        return {"": self.material} if self.material is not None else {one.name: one.material for one in self.region}

    @model_validator(mode="after")
    def _fits_together(self) -> "SolidCase":
        if not self.load and not any(one.moves for one in self.support):
            raise ValueError("nothing loads the solid: give a [[load]], or a [[support]] that moves it")
        if (self.material is None) != bool(self.region):
            raise ValueError("give the material of the whole body, [material], or at least two [[region]] tables")
        if len(self.region) == 1:
            raise ValueError("one [[region]] is the whole body: give [material], or the other regions")
        for one in self.load:
            constant = LOADS[one.kind].constant
            for name, material in self.materials.items():
                if constant and getattr(material, constant) is None:
                    of = f"region {name!r}, material" if name else "material"
                    raise ValueError(f"the load {one.kind!r} needs {of}.{constant}")
            if not one.on_face and self.solid.exterior != (one.kind == "remote-stress"):
                side = "the solid around a surface" if self.solid.exterior else "a bounded solid"
                other = "remote-stress" if self.solid.exterior else "gravity, rotation and temperatures"
                raise ValueError(
                    f"the load {one.kind!r} is not supported by {side}, which accepts {other}: see solid.exterior"
                )
        if self.region and any(one.kind == "steady-temperature" for one in self.load):
            raise ValueError("a steady temperature is that of one body: it is not supported with [[region]] tables")
        for table in ("face", "region"):
            names = [one.name for one in getattr(self, table)]
            if len(set(names)) < len(names):
                raise ValueError(f"two [[{table}]] tables have the same name")
        return self
