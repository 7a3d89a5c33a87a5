"""Case files of bodies of varying material and of elastic structures in a fluid: [inhomogeneous] or [structure]."""

from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
from pydantic import BeforeValidator, WithJsonSchema, model_validator

from calderon.case.faces import Tag
from calderon.case.fluids import FluidMedium, FluidName, Fluids, medium_of
from calderon.case.mesh import AnyMesh, Keys, Unit
from calderon.case.output import Angles, NearFields
from calderon.case.quantities import Angle, Force, Frequencies, Place, Size
from calderon.case.solver import WaveSolver
from calderon.case.sound import Mirrors, Reflecting, SoundSlice, SoundSource, mirrors_key
from calderon.case.table import AT_MOST, CaseModel, Table, key
from calderon.formulations import Fluid
from calderon.kinds.bodies.materials import FLUIDS, MATERIAL, Graded, SolidMaterial, inner_fluid, solid_of

SHAPES: dict[str, Keys] = {
    "ball": (("h", "radius"), ()),
    "shell": (("h", "radius", "thickness"), ("layers",)),
    "layered_ball": (("h", "radii", "names"), ()),
    "box": (("low", "high", "cells"), ()),
}


def _cells(value: Any) -> Any:
    given = value if isinstance(value, list) else [value] * 3
    if len(given) != 3 or any(isinstance(each, bool) or not isinstance(each, int) or each < 1 for each in given):
        raise ValueError("a positive number of cells along each side, or a list of three, is needed")
    return tuple(given)


CELL = {"type": "integer", "minimum": 1}
CELLS = {"anyOf": [CELL, {"type": "array", "items": CELL, "minItems": 3, "maxItems": 3}]}


class BodyMesh(AnyMesh):
    """[mesh]: a file of tetrahedra (.msh, .vtu), or of a surface with the thickness of the wall behind it, or a shape
    with its parameters.

    thickness: of a wall, of `layers` layers of tetrahedra, on the inside of the surface. "shell": a hollow sphere with
    its outer radius. names: of the layers of a "layered_ball", by which materials are given.
    """

    SELECTORS: ClassVar = ("file", "shape")
    SHAPES: ClassVar = SHAPES
    file: str | None = key("tetrahedra, or with a thickness a surface, in the folder of the case")
    unit: Unit | None = key("of the lengths in the file; m unless given")
    shape: Literal["ball", "shell", "layered_ball", "box"] | None = key("it decides which other keys are accepted")
    h: Size | None = key("edge length of the tetrahedra")
    radius: Size | None = key("of the ball, outer one of the shell")
    thickness: Size | None = key("of the wall of a shell, or behind the surface of a file")
    layers: int | None = key("of tetrahedra in the wall; 1 unless given", ge=1, le=20)
    radii: tuple[Size, ...] | None = key("of the layers, from inside", min_length=2)
    names: tuple[str, ...] | None = key("of the layers, from inside")
    low: Place | None = key("lower corner of the box")
    high: Place | None = key("upper corner of the box")
    cells: Annotated[tuple[int, int, int] | None, BeforeValidator(_cells), WithJsonSchema(CELLS)] = key(
        "cubes along each side, one number or three"
    )

    @property
    def _source(self) -> tuple[str, Any, Keys]:
        source, chosen, keys = super()._source
        return source, chosen, ((), ("unit", "thickness", "layers")) if source == "file" else keys


def _one_or_by_tag(value: Any) -> Any:
    """A name, or a table of them by tag."""
    texts = value.values() if isinstance(value, dict) else [value]
    if not texts or not all(isinstance(each, str) for each in texts):
        raise ValueError('the name of a material is needed, or one for each part of the mesh, { core = "steel" }')
    return value


def _names(named: dict[str, Any]) -> Any:
    by_tag = {"type": "object", "additionalProperties": named, "minProperties": 1}
    return Annotated[str | dict[str, str], BeforeValidator(_one_or_by_tag), WithJsonSchema({"anyOf": [named, by_tag]})]


INNER = {"anyOf": [{"enum": [*FLUIDS]}, *MATERIAL["anyOf"][1:]]}


class InBody(Table):
    """Keys of [inhomogeneous] and [structure]."""

    frequency: Frequencies = key("one, a list, or { start, stop, count } with both ends", ...)
    fluid: FluidName = key("around the body, a known one or the name of a medium of [media]", "water")
    mirrors: Mirrors | None = mirrors_key()
    half_space: Reflecting | None = None

    @model_validator(mode="after")
    def _one_plane(self) -> Self:
        if self.mirrors and self.half_space:
            raise ValueError("mirrors and half_space: give one of them")
        return self

    @property
    def plane(self) -> Any:
        """The mirrors of the problem."""
        return self.mirrors if self.half_space is None else self.half_space.half_space

    def by_tag(self, named: Any) -> Any:
        """The material, or a table of materials by tag, as `named(name)` gives them."""
        given: Any = self.material  # type: ignore[attr-defined]
        if isinstance(given, str):
            return named(given)
        return {int(tag) if tag.lstrip("-").isdigit() else tag: named(name) for tag, name in given.items()}


class Inhomogeneous(InBody):
    """[inhomogeneous]: a body without shear waves, whose density and speed of sound vary, by finite elements.

    material: of the body, or by tag: a known fluid ("rubber", whose shear waves are left out), a medium of [media], or
    one of [graded], of a whole body. mirrors: planes in which the sound is even or odd, where the tetrahedra are those
    on one side of them.
    """

    material: _names(INNER) = key("of the body, or by tag or name of its parts", ...)  # type: ignore[valid-type]
    space: Literal["P1", "P2"] = key("of pressures: linear or quadratic", "P2")
    formulation: Literal["burton-miller", "johnson-nedelec", "symmetric"] = key("the equation", "burton-miller")


class Elastic(InBody):
    """[structure]: an elastic body in a fluid, by quadratic finite elements; its holes are empty, or full of a fluid.

    material: of the body, or by tag: "steel", "aluminium", "titanium", "GRP", "rubber", or one of [materials]. inside:
    of a body without mirrors. mirrors: planes in which the sound is even or odd, where the tetrahedra are those on one
    side of them; forces have their images.
    """

    material: _names(MATERIAL) = key("of the body, or by tag or name of its parts", ...)  # type: ignore[valid-type]
    inside: FluidName | None = key("the fluid in its holes, as `fluid`; they are empty unless given")


class BodyLoad(Table):
    """[[load]]: a force on a structure, peak values: spread over a part of its boundary by tag, or at a position in or
    on the body; there with the factor exp(i phase), time factor exp(-i omega t)."""

    force: tuple[Force, Force, Force] = key("a vector", ...)
    position: Place | None = key("where it acts")
    tag: Tag | None = key("name or number of a part of the boundary, over which it is spread")
    phase: Angle | None = key("of a force at a position; 0 unless given")

    @model_validator(mode="after")
    def _somewhere(self) -> "BodyLoad":
        if (self.position is None) == (self.tag is None):
            raise ValueError("a force acts at a position = [x, y, z], or on a tag of the boundary: give one of them")
        if self.tag is not None and self.phase is not None:
            raise ValueError("phase belongs to a force at a position")
        if not any(self.force):
            raise ValueError("force = [0, 0, 0] does nothing")
        return self

    @property
    def vector(self) -> np.ndarray:
        """The force (3,) with its phase."""
        return np.array(self.force) * np.exp(1j * (self.phase or 0.0))


class BodySlice(SoundSlice):
    """output.slice: a plane through body and fluid; by default around the body, through its middle."""

    plane: Literal["xy", "xz", "yz"] = key("to which it is parallel", "xz")
    points: int = key("along its longer side", 120, ge=8, le=1000)


class BodyOutput(NearFields):
    """[output]: what is computed from the solutions, drawn and written.

    surface: parts of the pressure on it. points: at which there are levels and spectra. target_strength: by
    direction, of a plane wave; over frequency there is that back to the source. slice: with the body open, pressures
    and, of a structure, how much it moves.
    """

    surface: tuple[Literal["abs", "real", "imag", "phase", "db"], ...] = key("what is drawn on the surface", ("abs",))
    points: tuple[Place, ...] = key("at which there are levels and spectra", (), max_length=AT_MOST.points)
    target_strength: Angles | None = None
    slice: BodySlice | None = None


class BodyCase(CaseModel):
    """The tables of both kinds of cases of bodies."""

    mesh: BodyMesh
    source: tuple[SoundSource, ...] = key("sources in the fluid", (), max_length=AT_MOST.waves)
    solver: WaveSolver = WaveSolver()
    output: BodyOutput = BodyOutput()
    media: Fluids = {}

    @property
    def body(self) -> InBody:
        """The table of the kind."""
        raise NotImplementedError

    @property
    def table(self) -> str:
        """Its name."""
        raise NotImplementedError

    @property
    def fluid(self) -> Fluid:
        """The fluid around."""
        return self._constant(self.body.fluid).fluid_at(max(self.body.frequency))

    @property
    def frequencies(self) -> tuple[float, ...]:
        """In Hz."""
        return self.body.frequency

    @property
    def plane_wave(self) -> SoundSource | None:
        """The plane wave that excites all sound, if one does."""
        alone = len(self.source) == 1 and self.source[0].kind == "plane-wave"
        return self.source[0] if alone else None

    @property
    def sources(self) -> Any:
        """All sources as one wave, None without any."""
        waves = [one.wave for one in self.source]
        return sum(waves[1:], start=waves[0]) if waves else None

    def _constant(self, name: str) -> FluidMedium:
        """A medium that does not depend on the frequency."""
        found = medium_of(name, self.media)
        if not found.is_constant:
            raise ValueError("a body and the fluid around it have constants that do not depend on the frequency")
        return found

    def completed(self, file: Any) -> Self:
        with file.blamed(self.table, "fluid"):
            _ = self.fluid
        with file.blamed(self.table, "material"):
            _ = self.materials_by_tag
        return self

    @property
    def materials_by_tag(self) -> Any:
        """Materials by tag; ValueError for names of none."""
        raise NotImplementedError

    @property
    def is_driven(self) -> bool:
        """Whether forces act on the body."""
        return False

    def _require_plane_wave(self) -> None:
        if self.output.target_strength is not None and (self.plane_wave is None or self.is_driven):
            raise ValueError("output.target_strength: it is of one plane wave alone, give one [[source]]")


class InhomogeneousCase(BodyCase):
    """A whole case file of a body of varying material."""

    inhomogeneous: Inhomogeneous
    graded: dict[str, Graded] = {}

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if not self.source:
            raise ValueError("nothing sounds: give a [[source]]")
        self._require_plane_wave()
        return self

    @property
    def body(self) -> Inhomogeneous:
        return self.inhomogeneous

    @property
    def table(self) -> str:
        return "inhomogeneous"

    @property
    def materials_by_tag(self) -> Any:
        found = self.body.by_tag(lambda name: inner_fluid(name, self.media, self.graded))
        several = list(found.values()) if isinstance(found, dict) else []
        if any(isinstance(each, Graded) for each in several):
            raise ValueError("a graded material is that of the whole body: name it alone")
        for each in several or [found]:
            if isinstance(each, FluidMedium) and not each.is_constant:
                raise ValueError("a body has constants that do not depend on the frequency")
        return found


class StructureCase(BodyCase):
    """A whole case file of an elastic structure in a fluid."""

    structure: Elastic
    materials: dict[str, SolidMaterial] = {}
    load: tuple[BodyLoad, ...] = key("forces on the structure", (), max_length=AT_MOST.waves)

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        if not self.source and not self.load:
            raise ValueError("nothing sounds: give a [[source]], or a [[load]]")
        self._require_plane_wave()
        return self

    @property
    def is_driven(self) -> bool:
        return bool(self.load)

    @property
    def inner_fluid(self) -> Fluid | None:
        """The fluid in holes, None where they are empty."""
        name = self.structure.inside
        return None if name is None else self._constant(name).fluid_at(max(self.frequencies))

    def completed(self, file: Any) -> Self:
        with file.blamed(self.table, "inside"):
            _ = self.inner_fluid
        return super().completed(file)

    @property
    def body(self) -> Elastic:
        return self.structure

    @property
    def table(self) -> str:
        return "structure"

    @property
    def materials_by_tag(self) -> Any:
        return self.body.by_tag(lambda name: solid_of(name, self.materials))
