"""The [physics] table: the problem, the frequency or wavenumber, and the media; PROBLEMS is the table of problems."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BeforeValidator, PrivateAttr, TypeAdapter, WithJsonSchema, model_validator

import calderon.formulations as formulations
from calderon.case.media import NAMED, Dispersive, Use, is_name
from calderon.case.quantities import (
    COMPLEX,
    Density,
    Frequencies,
    Potential,
    Speed,
    Voltage,
    Wavenumber,
    complex_number,
    quantity,
)
from calderon.case.registry import GROUP, OWN
from calderon.case.table import OneOf, Table, choices, key
from calderon.exact import SPEED_OF_LIGHT
from calderon.mesh import TriangleMesh
from calderon.processes.extensions import extension, extension_names
from calderon.validation import one_of


def _by_tag(value: Any, one: Callable[[Any], Any] = complex_number) -> Any:
    """One number for the whole surface, or a table from tags, by number or name, to numbers; one: checks each."""
    if not isinstance(value, dict):
        return one(value)
    if not value:
        raise ValueError("the table by tag is empty: write { tag = number }, or one number for the whole surface")
    return {int(tag) if tag.lstrip("-").isdigit() else tag: one(each) for tag, each in value.items()}


def _media(value: Any, one: Callable[[Any], Any] = complex_number) -> Any:
    """One number or name of a medium, or a table of these by tag; one: checks each number."""
    return _by_tag(value, lambda each: each if is_name(each) else one(each))


def _passive(value: Any) -> complex | dict[int | str, complex]:
    """One number with a real part that is not negative, or a table of these by tag."""
    given = _by_tag(value)
    for one in given.values() if isinstance(given, dict) else (given,):
        if one.real < 0:
            raise ValueError(f"the real part {one.real:g} is negative: the surface would create energy, give 0 or more")
    return given


def _quantities(kind: str, value: Any) -> Any:
    """One number with a unit or name of a medium, or a table of these by tag."""
    return _media(value, lambda one: quantity(one, kind))


def mapped(function: Callable[[Any], Any], given: Any) -> Any:
    """The function of one number, or of each in a table by tag."""
    return {tag: function(one) for tag, one in given.items()} if isinstance(given, dict) else function(given)


def _schema(one: dict[str, Any]) -> WithJsonSchema:
    """The JSON schema of one such number, or of a table of them."""
    return WithJsonSchema({**one, "anyOf": [*one["anyOf"], {"type": "object", "additionalProperties": one}]})


def _or_named(kind: Any) -> dict[str, Any]:
    """The JSON schema of a quantity or the name of a medium."""
    one = TypeAdapter(kind).json_schema()
    return {**one, "anyOf": [*one["anyOf"], NAMED]}


Constants = Annotated[complex | dict[int | str, complex], BeforeValidator(_by_tag), _schema(COMPLEX)]
Permittivities = Annotated[
    complex | str | dict[int | str, complex | str],
    BeforeValidator(_media),
    _schema({"anyOf": [*COMPLEX["anyOf"], NAMED]}),
]
Admittance = Annotated[complex | dict[int | str, complex], BeforeValidator(_passive), _schema(COMPLEX)]
Fluids = dict[int | str, float | str]
Speeds = Annotated[float | str | Fluids, BeforeValidator(partial(_quantities, "speed")), _schema(_or_named(Speed))]
Densities = Annotated[
    float | str | Fluids, BeforeValidator(partial(_quantities, "density")), _schema(_or_named(Density))
]


Point = tuple[float, float, float]
FLUIDS = ("speed_of_sound", "density", "interior_speed_of_sound", "interior_density")
BY_TAG = ("admittance", "permittivity", "interior_speed_of_sound", "interior_density")
"""Keys that may be tables by tag."""
FAMILIES = ("acoustic", "electromagnetic", "antenna", "static")
"""Families of problems whose solutions are evaluated alike."""
MEDIA = {
    "permittivity": "permittivity",
    "interior_speed_of_sound": "speed_of_sound",
    "interior_density": "density",
}
"""Keys that may name media, and the columns of these that they take."""


def _problem_name(name: Any) -> str:
    """The name of a problem; ValueError lists the choices."""
    if isinstance(name, str) and (name in PROBLEMS or extension(GROUP, name, Problem) is not None):
        return name
    raise ValueError(choices(name, [*PROBLEMS, *OWN[1:2], *extension_names(GROUP)]))


class Feed(Table):
    """A voltage across edges of an antenna: on a straight line between two points, or between two tags."""

    line: tuple[Point, Point] | None = key(
        "ends of a straight line of edges across which the voltage is, coordinates in m"
    )
    between: tuple[str | int, str | int] | None = key(
        "names or numbers of the two tags whose common edges carry the voltage"
    )
    voltage: Voltage = key("across the gap, peak value", 1.0)

    @model_validator(mode="after")
    def _one_place(self) -> "Feed":
        if (self.line is None) == (self.between is None):
            raise ValueError("a feed needs either line = [[x, y, z], [x, y, z]] or between = [tag, tag]")
        return self

    @property
    def gap(self) -> formulations.DeltaGap:
        """The edges across which the voltage is."""
        return formulations.DeltaGap(line=self.line, between=self.between)


class Physics(Table):
    """[physics]: the problem, the frequency or wavenumber, and the medium.

    Sound travels at speed_of_sound, electromagnetic waves at the speed of light in vacuum. admittance: rho c / Z of an
    impedance surface, without unit; a number or [real, imaginary], or a table of these by tag. permittivity,
    permeability: relative, of a dielectric body, with a positive imaginary part for loss; of several bodies, side by
    side or one within another, a table by the tags of their surfaces, of what is directly inside. Bodies of fluid
    have such tables of interior_speed_of_sound and interior_density; sound-hard bodies next to them or inside, and
    rigid parts of their walls, are listed in rigid. formulation: the integral equation of a conductor or a dielectric
    body. testing: of a conductor's magnetic equation.
    """

    SELECTORS: ClassVar = ("problem",)
    problem: Annotated[str, BeforeValidator(_problem_name), OneOf(lambda: PROBLEMS)] = key(
        "what is solved; it decides which other keys are accepted", ...
    )
    frequency: Frequencies | None = key("one, a list, or { start, stop, count } with both ends")
    wavenumber: Wavenumber | None = key("2 pi over the wavelength, instead of a frequency")
    speed_of_sound: Speed | None = key("of the fluid around the body")
    density: Density | None = key("of the fluid around the body")
    interior_speed_of_sound: Speeds | None = key("of the fluid inside, the name of a medium, or a table by tag")
    interior_density: Densities | None = key("of the fluid inside, the name of a medium, or a table by tag")
    rigid: tuple[str | int, ...] | None = key("tags of sound-hard bodies, and of rigid parts of walls", min_length=1)
    admittance: Admittance | None = key(
        "rho c / Z of the surface, without unit: a number, [real, imaginary], or a table of these by tag"
    )
    permittivity: Permittivities | None = key(
        "relative: a number, [real, imaginary] with a positive imaginary part for loss, the name of a medium of "
        "[media], or a table of these by tag of the bodies"
    )
    permeability: Constants | None = key("relative, as permittivity; 1 unless given")
    formulation: str | None = key(
        "the integral equation: cfie, efie, mfie, calderon of conductors; pmchwt, muller of dielectric bodies"
    )
    testing: Literal["dual", "primal"] | None = key('of the magnetic equation of a conductor; "dual" unless given')
    feed: Feed | None = None
    side: Literal["exterior", "interior"] | None = key('where the field is; "exterior" unless given')
    potential: Potential | None = key("on the surface")
    flux: float | None = key(
        "normal derivative of the potential on the surface, in V/m, outward normal", allow_inf_nan=False
    )

    _media: dict[str, Dispersive] = PrivateAttr(default_factory=dict)

    @model_validator(mode="after")
    def _complete(self) -> "Physics":
        problem = self.definition
        needed = problem.needed
        if self.wave:
            needed = (*self._clock(), *(key for key in needed if key != "speed_of_sound"))
        self.require_keys(f"the problem {self.problem!r}", needed, problem.optional)
        if isinstance(self.permeability, dict) and not isinstance(self.permittivity, dict):
            raise ValueError("a table of permeabilities by tag requires one of permittivities")
        if self.formulation is not None and self.formulation not in problem.formulations:
            allowed = ", ".join(map(repr, problem.formulations))
            raise ValueError(
                f"formulation = {self.formulation!r} is not supported by {self.problem!r}: choose {allowed}"
            )
        return self

    def _clock(self) -> tuple[str, ...]:
        """The keys that give the frequency of the wave."""
        if self.problem == "transmission":
            return ("frequency", "speed_of_sound")
        if (self.frequency is None) == (self.wavenumber is None):
            speed = " (with speed_of_sound)" if self.family == "acoustic" else ""
            raise ValueError(f"give either frequency{speed} or wavenumber")
        if self.wavenumber is not None:
            return ("wavenumber",)
        return ("frequency", "speed_of_sound") if self.family == "acoustic" else ("frequency",)

    @property
    def definition(self) -> "Problem":
        found = PROBLEMS.get(self.problem) or extension(GROUP, self.problem, Problem)
        assert found is not None  # the name is checked
        return found

    @property
    def family(self) -> str:
        return self.definition.family

    @property
    def wave(self) -> bool:
        """Whether there is a wavenumber."""
        return self.family != "static"

    @property
    def wavenumbers(self) -> NDArray[np.float64]:
        """Wavenumbers in 1/m, one for each frequency; empty for a static problem."""
        if not self.wave:
            return np.zeros(0)
        if self.frequency is None:
            return np.array([self.wavenumber])
        speed = self.speed_of_sound if self.family == "acoustic" else SPEED_OF_LIGHT
        assert speed is not None
        return 2 * np.pi * np.array(self.frequency) / speed

    @property
    def frequencies(self) -> Sequence[float]:
        """In Hz, those of waves in vacuum too."""
        if self.frequency is None and self.family != "acoustic":
            return (self.wavenumbers * SPEED_OF_LIGHT / (2 * np.pi)).tolist()
        return self.frequency or ()

    @property
    def named_media(self) -> Iterator[Use]:
        """Where media are named."""
        for name, column in MEDIA.items():
            given = getattr(self, name)
            for one in given.values() if isinstance(given, dict) else (given,):
                if isinstance(one, str):
                    yield "physics", name, None, one, column

    def with_media(self, media: dict[str, Dispersive]) -> "Physics":
        """The table with the media for which its names stand."""
        found = self.model_copy()
        found._media = media
        return found

    def constants(self, name: str, wavenumber: float) -> Any:
        """Numbers instead of media for one of the keys of MEDIA, at a wavenumber in 1/m outside."""
        speed = self.speed_of_sound if self.family == "acoustic" else SPEED_OF_LIGHT
        frequency = wavenumber * (speed or 0.0) / (2 * np.pi)

        def number(one: Any) -> Any:
            return self._media[one].at(MEDIA[name], frequency) if isinstance(one, str) else one

        return mapped(number, getattr(self, name))

    def interior_fluid(self, wavenumber: float) -> tuple[Any, Any]:
        """Wavenumber inside a fluid body, and its density over that of the fluid around; or tables of them by tag."""
        assert self.speed_of_sound and self.interior_speed_of_sound and self.density and self.interior_density
        path = wavenumber * self.speed_of_sound
        return (
            mapped(lambda speed: path / speed, self.constants("interior_speed_of_sound", wavenumber)),
            mapped(lambda density: density / self.density, self.constants("interior_density", wavenumber)),
        )

    def bodies(self, mesh: TriangleMesh, wavenumber: float) -> tuple[Any, tuple[Any, Any]]:
        """The surface of a dielectric body, or of several, and their relative permittivities and permeabilities."""
        permittivity = self.constants("permittivity", wavenumber)
        permeability = 1.0 if self.permeability is None else self.permeability
        if not isinstance(permittivity, dict):
            return mesh, (permittivity, permeability)
        tags = self.tags_of_bodies(mesh)
        surfaces = [mesh.restricted(tag) for tag in tags]
        return surfaces, (list(permittivity.values()), self.permeabilities(mesh, tags))

    def tags_of_bodies(self, mesh: TriangleMesh) -> list[int]:
        """The tags of several dielectric bodies, in the order of their permittivities; ValueError unless these are all
        tags of the mesh."""
        assert isinstance(self.permittivity, dict)
        tags = [int(mesh.tag_numbers(tag)[0]) for tag in self.permittivity]
        if sorted(tags) != np.unique(mesh.tags).tolist():
            raise ValueError(
                f"permittivity is given for the tags {list(self.permittivity)}, each surface once: the mesh has "
                f"{np.unique(mesh.tags).tolist()} and the names {dict(mesh.names)}"
            )
        return tags

    def permeabilities(self, mesh: TriangleMesh, tags: list[int]) -> list[complex]:
        """The permeability of each of several bodies, by their tags; ValueError unless it is given for these."""
        permeability = 1.0 if self.permeability is None else self.permeability
        if not isinstance(permeability, dict):
            return [permeability] * len(tags)
        other = {int(mesh.tag_numbers(tag)[0]): value for tag, value in permeability.items()}
        if sorted(other) != sorted(tags):
            given = list(permeability)
            raise ValueError(f"permeability is given for the tags {given}: give it for those of permittivity")
        return [other[tag] for tag in tags]

    def build(self, mesh: TriangleMesh, wavenumber: float = 0.0) -> Any:
        """The problem of `formulations` on a mesh, at a wavenumber in 1/m."""
        return self.definition.build(self, mesh, wavenumber)


Build = Callable[[Physics, TriangleMesh, float], Any]


def _fluid(physics: Physics, mesh: TriangleMesh, wavenumber: float) -> Any:
    interior, ratio = physics.interior_fluid(wavenumber)
    return formulations.FluidTransmission(
        mesh, wavenumber, interior_wavenumber=interior, density_ratio=ratio, rigid=physics.rigid or ()
    )


def _conductor(physics: Physics, mesh: TriangleMesh, wavenumber: float) -> Any:
    chosen: dict[str, Any] = {"formulation": physics.formulation or "cfie", "testing": physics.testing or "dual"}
    return formulations.PECScattering(mesh, wavenumber, **chosen)


def _dielectric(physics: Physics, mesh: TriangleMesh, wavenumber: float) -> Any:
    surfaces, constants = physics.bodies(mesh, wavenumber)
    chosen: dict[str, Any] = {"formulation": physics.formulation or "pmchwt"}
    return formulations.DielectricScattering(surfaces, wavenumber, *constants, **chosen)


def _antenna(physics: Physics, mesh: TriangleMesh, wavenumber: float) -> Any:
    assert physics.feed is not None
    return formulations.PECAntenna(mesh, wavenumber, physics.feed.gap)


@dataclass(frozen=True)
class Problem:
    """A problem on surfaces.

    title: in reports. family: the one of FAMILIES to which it belongs. build(physics, mesh, wavenumber): its problem of
    `formulations`. needed, optional: keys of [physics] that it needs in addition to those of the wavenumber, and those
    that it accepts. formulations: the names of its integral equations. penetrable: whether there is a field on both
    sides of the surface. osrc: whether the OSRC preconditioner applies.
    """

    title: str
    family: str
    build: Build
    needed: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    formulations: tuple[str, ...] = ()
    penetrable: bool = False
    osrc: bool = False

    def __post_init__(self) -> None:
        one_of(self.family, FAMILIES, "family of problems")


def _acoustic(surface: str, build: Build, needed: tuple[str, ...] = (), **details: Any) -> Problem:
    """Scattering of sound; with one fluid the density is not needed."""
    usual: dict[str, Any] = {"optional": ("density",), "osrc": True}
    return Problem(f"Acoustic scattering, {surface}", "acoustic", build, needed, **(details or usual))


def _electromagnetic(body: str, build: Build, **details: Any) -> Problem:
    return Problem(f"Electromagnetic scattering, {body}", "electromagnetic", build, **details)


def _static(given: str, problem: Callable[..., Any], key: str) -> Problem:
    def build(physics: Physics, mesh: TriangleMesh, wavenumber: float) -> Any:
        return problem(mesh, side=physics.side or "exterior")

    return Problem(f"Laplace problem, {given}", "static", build, (key,), ("side",))


PROBLEMS = {
    "sound-hard": _acoustic("sound-hard surface", lambda physics, *at: formulations.SoundHardScattering(*at)),
    "sound-soft": _acoustic("sound-soft surface", lambda physics, *at: formulations.SoundSoftScattering(*at)),
    "impedance": _acoustic(
        "impedance surface",
        lambda physics, mesh, k: formulations.ImpedanceScattering(mesh, k, admittance=physics.admittance),
        needed=("admittance",),
    ),
    "transmission": _acoustic("fluid in fluid", _fluid, FLUIDS, optional=("rigid",), penetrable=True),
    "conductor": _electromagnetic(
        "perfect conductor",
        _conductor,
        optional=("formulation", "testing"),
        formulations=("cfie", "efie", "mfie", "calderon"),
    ),
    "dielectric": _electromagnetic(
        "dielectric body",
        _dielectric,
        needed=("permittivity",),
        optional=("permeability", "formulation"),
        formulations=("pmchwt", "muller"),
        penetrable=True,
    ),
    "antenna": Problem("Antenna of perfect conductors, fed by a voltage", "antenna", _antenna, needed=("feed",)),
    "laplace-dirichlet": _static("potential given", formulations.LaplaceDirichlet, "potential"),
    "laplace-neumann": _static("flux given", formulations.LaplaceNeumann, "flux"),
}
"""All problems on surfaces; a new one of a known physics is an entry here."""
