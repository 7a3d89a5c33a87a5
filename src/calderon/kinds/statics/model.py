"""Case files of static fields: [mesh] or [[surface]], [statics], [[region]], [[electrode]], [[source]], [output]."""

from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from calderon.case.faces import Face, Tag
from calderon.case.mesh import Keys, Mesh, NamedSurface
from calderon.case.output import NearFields, Rectangle
from calderon.case.quantities import (
    Charge,
    Conductivity,
    Current,
    CurrentMoment,
    DipoleMoment,
    MagneticFieldStrength,
    MagneticMoment,
    Place,
    Potential,
    Size,
    StaticField,
)
from calderon.case.solver import RealSolver
from calderon.case.table import AT_MOST, CaseModel, Table, key
from calderon.case.waves import Direction, require_nonzero
from calderon.formulations import Region
from calderon.formulations.statics.region import KINDS
from calderon.formulations.statics.skeleton import OUTSIDE
from calderon.waves import CurrentPath, PointCharge, StaticDipole, UniformField

Tags = Tag | Annotated[tuple[Tag, ...], Field(min_length=1)]


class Material(Table):
    """statics.outside: what is around all regions; vacuum where no constant is given."""

    permittivity: float | None = key("relative", gt=0)
    conductivity: Conductivity | None = key("of a conductor of current")
    permeability: float | None = key("relative", gt=0)
    debye_length: Size | None = key("of a permittivity with ions, such as of salt water")

    @property
    def constants(self) -> dict[str, Any]:
        """The keys that are given, as arguments of `Region`."""
        return {name: each for name in (*KINDS, "debye_length") if (each := getattr(self, name)) is not None}

    @model_validator(mode="after")
    def _is_one(self) -> Self:
        Region("all", **self.constants)  # ValueError for two materials
        return self


class RegionTable(Material):
    """[[region]]: a region by the tags of all surfaces that bound it, and its material: one of permittivity,
    conductivity and permeability, the same for all regions of a case, or vacuum."""

    name: str = key("of the region", ..., min_length=1)
    tags: Tags = key('names or numbers of all surfaces that bound it; "all" for those of the whole mesh', ...)


class Electrode(Table):
    """[[electrode]]: metal at one potential: solid metal behind walls, metal between two regions, or sheets. One of
    voltage, charge and current is given, 0 of the last two for floating metal; no electrode needs any where only
    capacitances, conductances or a lead field are computed."""

    name: str = key("of the electrode", ..., min_length=1)
    tags: Tags = key('names or numbers of its surfaces; "all" for those of the whole mesh', ...)
    voltage: Potential | None = key("its potential")
    charge: Charge | None = key("its charge, between dielectrics")
    current: Current | None = key("that it feeds in, of conductors of current")

    @model_validator(mode="after")
    def _has_one_value(self) -> Self:
        given = [name for name in ("voltage", "charge", "current") if getattr(self, name) is not None]
        if len(given) > 1:
            raise ValueError(f"{' and '.join(given)}: an electrode has one of them, the other follows")
        return self

    @property
    def is_given(self) -> bool:
        return any(each is not None for each in (self.voltage, self.charge, self.current))


SOURCES: dict[str, dict[str, Keys]] = {
    "permittivity": {
        "point-charge": (("position", "charge"), ()),
        "dipole": (("position", "moment"), ()),
        "uniform-field": (("electric_field",), ()),
    },
    "conductivity": {
        "point-charge": (("position", "current"), ()),
        "dipole": (("position", "current_moment"), ()),
        "uniform-field": (("electric_field",), ()),
    },
    "permeability": {
        "dipole": (("position", "magnetic_moment"), ()),
        "loop": (("position", "radius", "current"), ("axis",)),
        "uniform-field": (("magnetic_field",), ()),
    },
}
"""Keys of a source by the kind of the materials and its own."""


class StaticSource(Table):
    """[[source]]: a point charge or a dipole within a region, or a uniform field far away. All act together. Between
    conductors of current a point charge is a current that enters at a point, and a dipole one of currents, as of nerve
    cells; between magnetic materials a dipole is a small magnet, and a loop a circular coil around its position, whose
    current turns right-handed about its axis."""

    SELECTORS: ClassVar = ("kind",)
    kind: Literal["point-charge", "dipole", "uniform-field", "loop"] = key(
        "it decides which other keys are needed", ...
    )
    position: Place | None = key("of a point charge, a dipole or the centre of a loop")
    charge: Charge | None = key("between dielectrics")
    current: Current | None = key("that enters a conductor there, or turns in a loop, times its windings")
    radius: Size | None = key("of a loop")
    axis: Direction | None = key("of a loop; z unless given")
    moment: tuple[DipoleMoment, DipoleMoment, DipoleMoment] | None = key("between dielectrics")
    current_moment: tuple[CurrentMoment, CurrentMoment, CurrentMoment] | None = key("in a conductor of current")
    magnetic_moment: tuple[MagneticMoment, MagneticMoment, MagneticMoment] | None = key("between magnetic materials")
    electric_field: tuple[StaticField, StaticField, StaticField] | None = key("far from all bodies")
    magnetic_field: tuple[MagneticFieldStrength, MagneticFieldStrength, MagneticFieldStrength] | None = key(
        "H far from all bodies"
    )

    @model_validator(mode="after")
    def _has_an_axis(self) -> Self:
        require_nonzero(self, "axis")
        return self

    def require_kind(self, materials: str) -> None:
        """ValueError for a source that materials of this kind do not have."""
        if self.kind not in SOURCES[materials]:
            raise ValueError(f"source.kind: with {materials} choose {', '.join(map(repr, SOURCES[materials]))}")
        self.require_keys(f"kind = {self.kind!r} with {materials}", *SOURCES[materials][self.kind])

    @property
    def source(self) -> Any:
        """The source."""
        place: Any = self.position
        if self.kind == "loop":
            return CurrentPath.loop(self.radius or 0.0, self.current or 0.0, place, self.axis or (0.0, 0.0, 1.0))
        if self.kind == "uniform-field":
            return UniformField(np.array(self.electric_field or self.magnetic_field))
        if self.kind == "dipole":
            return StaticDipole(place, np.array(self.moment or self.current_moment or self.magnetic_moment))
        return PointCharge(place, float((self.current if self.charge is None else self.charge) or 0.0))


class Statics(Table):
    """[statics]: what is around all regions, and the space of the potential."""

    closed: bool = key("whether nothing is outside of the regions, so that no flux leaves them", False)
    outside: Material | None = None
    space: Literal["P1", "P2"] = key("of potentials: linear or quadratic", "P1")

    @model_validator(mode="after")
    def _has_one_outside(self) -> Self:
        if self.closed and self.outside is not None:
            raise ValueError("closed and outside: closed says that nothing is there, leave one out")
        return self


class StaticSlice(Rectangle):
    """output.slice: the potential or the field strength in a plane, by default around the bodies; lines: between so
    many equal steps of the potential; field_lines: along the part of the field in the plane."""

    quantity: Literal["potential", "strength"] = key("what is drawn", "potential")
    lines: int = key("number of lines of equal potential", 16, ge=0, le=200)
    field_lines: bool = key("whether lines along the field are drawn", False)


class LeadField(Table):
    """output.lead_field: potentials at points of walls, electrodes without size, of unit dipoles at places."""

    electrodes: tuple[Place, ...] = key(
        "each counts as the nearest point of a wall", ..., min_length=1, max_length=1000
    )
    places: tuple[Place, ...] = key("of dipoles", ..., min_length=1, max_length=100_000)


class StaticOutput(NearFields):
    """[output]: what is computed and drawn. capacitance: the matrix of capacitances, of conductors of current of
    conductances. forces: on walls between materials and on metal, and on point charges. estimate: the error by a
    solution on a second mesh."""

    capacitance: bool = key("the matrix of capacitances, or of conductances, of all electrodes", False)
    forces: bool = key("forces and torques by tag", False)
    slice: StaticSlice | None = None
    lead_field: LeadField | None = None
    estimate: bool = key("estimate the error by a solution on a second mesh", False)


class StaticCase(CaseModel):
    """A whole case file of a static field in several materials."""

    statics: Statics
    mesh: Mesh | None = None
    surface: tuple[NamedSurface, ...] = ()
    face: tuple[Face, ...] = ()
    region: tuple[RegionTable, ...] = ()
    electrode: tuple[Electrode, ...] = ()
    source: tuple[StaticSource, ...] = key("within regions, or far away", (), max_length=AT_MOST.waves)
    solver: RealSolver = RealSolver()
    output: StaticOutput = StaticOutput()

    @property
    def family(self) -> str:
        return "static"

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if (self.mesh is None) == (not self.surface):
            raise ValueError("give either [mesh], or one or several [[surface]]")
        for table in ("surface", "region", "electrode"):
            names = [each.name for each in getattr(self, table)]
            if twice := [name for name in names if names.count(name) > 1]:
                raise ValueError(f"{table}.name: {twice[0]!r} is given twice")
        if any(each.name == OUTSIDE for each in self.region):
            raise ValueError("region.name: what is outside of all regions is given by [statics.outside]")
        if not self.region and self.statics.closed:
            raise ValueError("statics.closed: nothing is anywhere without a [[region]]")
        for each in self.source:
            each.require_kind(self.materials)
        self._require_electrodes()
        return self

    def _require_electrodes(self) -> None:
        """ValueError for values of electrodes that do not go with the rest of the case."""
        output, materials = self.output, self.materials
        unfit = {"permittivity": "current", "conductivity": "charge"}.get(materials)
        for each in self.electrode:
            if unfit is not None and getattr(each, unfit) is not None:
                raise ValueError(f"electrode.{unfit}: regions have {materials}, give electrodes a voltage or a "
                                 f"{'charge' if unfit == 'current' else 'current'}")  # fmt: skip
        if self.electrode and materials == "permeability":
            raise ValueError("electrode.name: magnetic materials have no electrodes; give a [[source]]")
        if output.capacitance and not self.electrode:
            raise ValueError("output.capacitance: it is that of electrodes, give an [[electrode]]")
        if output.forces and materials == "conductivity":
            raise ValueError("output.forces: they are those on charges, dielectrics and magnetic materials")
        if not self.is_driven:
            fields = [name for name in ("forces", "slice", "near_field") if getattr(output, name)]
            if fields:
                raise ValueError(
                    f"output.{fields[0]}: nothing excites a field, give an electrode.voltage or a [[source]]"
                )
            if not (output.capacitance or output.lead_field):
                raise ValueError("nothing is computed: give an electrode.voltage, a [[source]], or output.capacitance")
        elif missing := [each.name for each in self.electrode if not each.is_given]:
            raise ValueError(
                f"electrode.voltage: {missing[0]!r} has no value: give its voltage, charge or current, 0 of the last "
                "two for floating metal"
            )

    @property
    def materials(self) -> str:
        """The kind of the materials: "permittivity", "conductivity" or "permeability"."""
        tables = [*self.region, *([] if self.statics.outside is None else [self.statics.outside])]
        found = dict.fromkeys(name for each in tables for name in KINDS if getattr(each, name) is not None)
        if len(found) > 1:
            raise ValueError(f"region.{[*found][1]}: regions have one kind of material, got {' and '.join(found)}")
        return next(iter(found), "permittivity")

    @property
    def is_driven(self) -> bool:
        """Whether electrodes or sources give a field."""
        return bool(self.source) or any(each.is_given for each in self.electrode)

    @property
    def excitation(self) -> dict[str, Any]:
        """The arguments of `StaticProblem.solve`."""
        voltages = {each.name: each.voltage for each in self.electrode if each.voltage is not None}
        charges = {
            each.name: each.current if each.charge is None else each.charge
            for each in self.electrode if each.voltage is None
        }  # fmt: skip
        return {"voltages": voltages, "charges": charges, "sources": [each.source for each in self.source]}

    def estimated(self) -> "StaticCase":
        return self.model_copy(update={"output": self.output.model_copy(update={"estimate": True})})
