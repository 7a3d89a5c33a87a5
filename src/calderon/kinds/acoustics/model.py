"""Case files of sound that bodies make: [mesh], [[face]], [acoustics], [[surface]], [[source]], [solver], [output]."""

from typing import Any, Literal, Self

import numpy as np
from pydantic import model_validator

from calderon.case.faces import Face, Tag
from calderon.case.fluids import FluidMedium, FluidName, Fluids, medium_of
from calderon.case.media import checked_media
from calderon.case.mesh import Mesh
from calderon.case.output import Angles, NearFields
from calderon.case.quantities import Frequencies, Frequency, Place
from calderon.case.solver import WaveSolver
from calderon.case.sound import Mirrors, Reflecting, SoundSlice, SoundSource, mirrors_key
from calderon.case.table import AT_MOST, CaseModel, Table, key
from calderon.formulations import Baffle, Fluid
from calderon.formulations.acoustic.results.third_octaves import third_octaves
from calderon.kinds.acoustics.walls import Wall


class Acoustics(Table):
    """[acoustics]: frequencies, the fluid, and on which side of the surface it is.

    fluid: a known one, or the name of a table [media.NAME]. side: "both" for a thin sheet, an open mesh with the fluid
    on both sides, at which sources sound. mirrors: planes in which the sound is even or odd, where the mesh is the part
    on one side of them; decompose: sources may then be neither, and are split into even and odd ones, each with a
    matrix. baffle: the mesh lies in a rigid plane, its normals into the fluid.
    interpolate: few frequencies of a band are solved, and levels and powers between them are those of rational
    functions; other results are of the solved ones.
    """

    frequency: Frequencies | None = key(
        "one, a list, or { start, stop, count } with both ends; left out where only resonances are computed"
    )
    fluid: FluidName = key("a known one, or the name of a medium of [media]", "air")
    side: Literal["exterior", "interior", "both"] = key("of the surface, on which the fluid is", "exterior")
    mirrors: Mirrors | None = mirrors_key()
    decompose: bool = key("whether sources that are neither even nor odd in the mirrors are split", False)
    half_space: Reflecting | None = None
    baffle: bool = key("whether the mesh lies in a rigid plane", False)
    space: Literal["P1", "P2"] = key("of pressures: linear or quadratic", "P1")
    interpolate: float | None = key("accepted error between few solved frequencies, such as 1e-3", gt=0, lt=1)

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        planes = [name for name in ("mirrors", "half_space", "baffle") if getattr(self, name)]
        if len(planes) > 1:
            raise ValueError(f"{' and '.join(planes)}: give one of them")
        if self.interpolate is not None and len(self.frequency or ()) < 3:
            raise ValueError("interpolate: a band has three frequencies at least")
        if self.baffle and self.side != "exterior":
            raise ValueError("baffle: the fluid is on the side of the normals, leave side out")
        if self.decompose and not self.mirrors:
            raise ValueError('decompose: it splits sources by planes of symmetry, give mirrors = { z = "even" }')
        if self.decompose and self.side == "both":
            raise ValueError("decompose: a sheet has sources that are as even or odd as its mirrors, or the whole mesh")
        return self

    @property
    def plane(self) -> Any:
        """The mirrors of the problem."""
        if self.half_space is not None:
            return self.half_space.half_space
        return Baffle() if self.baffle else self.mirrors


class Directivity(Angles):
    """output.directivity: levels far away by direction, and the beamwidth about the loudest of them, between the
    nearest directions in the plane that are `drop` decibels lower."""

    drop: float = key("of the beamwidth, in dB", 3.0, gt=0, le=20)


class Impulse(Table):
    """output.impulse: responses at the points in time; frequencies are df, 2 df, 3 df and so on, and rate / df is a
    whole number."""

    rate: Frequency = key("samples per second", ...)


class SoundOutput(NearFields):
    """[output]: what is computed from the solutions, drawn and written.

    points: at which there are levels, spectra and responses in time. a_weighted: levels by frequency and band are in
    dB(A). third_octaves: levels of powers and at points in bands, where the powers at the frequencies are "mean" (of
    one tone at a time, as of a velocity of 1 m/s), "density" (per Hz) or "tones" (of tones that sound together).
    four_pole: the inlet and the outlet of a duct, two parts of its surface, whose transmission loss is computed.
    resonances: lower and upper frequency between which modes of a room are computed, walls silent. estimate: the error
    by a solution on a second mesh.
    """

    surface: tuple[Literal["abs", "real", "imag", "phase", "db"], ...] = key("what is drawn on the surface", ("abs",))
    points: tuple[Place, ...] = key("at which there are levels and spectra", (), max_length=AT_MOST.points)
    directivity: Directivity | None = None
    slice: SoundSlice | None = None
    impulse: Impulse | None = None
    a_weighted: bool = key("whether levels are A-weighted", False)
    third_octaves: Literal["mean", "density", "tones"] | None = key("what the powers at the frequencies are, in bands")
    four_pole: tuple[Tag, Tag] | None = key("inlet and outlet of a duct, names or numbers of parts")
    resonances: tuple[Frequency, Frequency] | None = key("between which the modes of a room are computed")
    estimate: bool = key("estimate the error by a solution on a second mesh, at the last frequency", False)

    @model_validator(mode="after")
    def _of_points(self) -> Self:
        if self.impulse is not None and not self.points:
            raise ValueError("output.impulse: responses are those at output.points, give one")
        if self.resonances is not None and not self.resonances[0] < self.resonances[1]:
            raise ValueError("output.resonances: give the lower and the upper frequency of a band")
        return self

    @property
    def of_ducts(self) -> bool:
        """Whether something of a room is computed that needs no sound."""
        return self.four_pole is not None or self.resonances is not None


class SoundCase(CaseModel):
    """A whole case file of sound that bodies make."""

    mesh: Mesh
    acoustics: Acoustics
    face: tuple[Face, ...] = ()
    surface: tuple[Wall, ...] = ()
    source: tuple[SoundSource, ...] = key("sources in the fluid", (), max_length=AT_MOST.waves)
    solver: WaveSolver = WaveSolver()
    output: SoundOutput = SoundOutput()
    media: Fluids = {}

    @property
    def family(self) -> str:
        return "vibration"

    @model_validator(mode="after")
    def _fits_together(self) -> Self:
        acoustics, output = self.acoustics, self.output
        if acoustics.frequency is None and (self.sounds or output.four_pole or output.resonances is None):
            raise ValueError("acoustics.frequency: give one, a list, or { start, stop, count }")
        for one in self.surface:
            one.require_side(acoustics.side)
        if not self.sounds:
            self._require_silence()
        if acoustics.side != "exterior" and output.directivity is not None:
            where = "inside of a surface nothing goes away" if acoustics.side == "interior" else "a sheet has none"
            raise ValueError(f"output.directivity: {where}, leave it out")
        if acoustics.side == "interior" and any(one.kind == "plane-wave" for one in self.source):
            raise ValueError("a plane wave comes from outside: the interior accepts a point-source or a multipole")
        if acoustics.side != "interior" and output.of_ducts:
            raise ValueError('output.four_pole and output.resonances are of the inside: give side = "interior"')
        given = output.points or output.four_pole or any(one.moves for one in self.surface)
        if acoustics.interpolate is not None and not given:
            raise ValueError("acoustics.interpolate: it is of levels at points and of powers, give output.points")
        if output.third_octaves is not None:
            self._require_bands()
        return self

    @property
    def sounds(self) -> bool:
        """Whether walls or sources give sound."""
        return bool(self.source) or any(one.sounds for one in self.surface)

    @property
    def frequencies(self) -> tuple[float, ...]:
        """In Hz; where only resonances are computed, the highest of them."""
        return self.acoustics.frequency or self.output.resonances[1:]  # type: ignore[index]

    def _require_silence(self) -> None:
        """ValueError where nothing sounds, and where fields are requested all the same."""
        output, needed = self.output, "give a [[surface]] with a velocity or a pressure, or a [[source]]"
        if not output.of_ducts:
            raise ValueError(f"nothing sounds: {needed}")
        names = ("points", "directivity", "slice", "near_field", "impulse", "third_octaves", "estimate")
        if asked := [name for name in names if getattr(output, name)]:
            raise ValueError(f"output.{asked[0]}: nothing sounds, {needed}")

    def _require_bands(self) -> None:
        """ValueError for frequencies that no bands can be made of."""
        if not (self.output.points or any(one.moves for one in self.surface)):
            raise ValueError("output.third_octaves: they are of levels at points and of powers, give output.points")
        try:
            third_octaves(self.frequencies, np.ones(len(self.frequencies)), self.output.third_octaves or "mean")
        except ValueError as error:
            raise ValueError(f"output.third_octaves: {error}") from error

    def completed(self, file: Any) -> "SoundCase":
        name, media = self.acoustics.fluid, self.media
        if media:
            constant = {each for each, medium in media.items() if medium.is_constant}
            columns = ("density", "speed_of_sound") if name in media and name not in constant else ()
            uses = [("acoustics", "fluid", None, name, column) for column in columns]
            media = checked_media(file, uses, self.frequencies)  # type: ignore[assignment]
        with file.blamed("acoustics", "fluid"):
            medium = medium_of(name, media)
            if self.acoustics.interpolate is not None and not medium.is_constant:
                raise ValueError("interpolate needs a fluid whose constants do not depend on the frequency")
            if self.output.resonances is not None and not medium.is_constant:
                raise ValueError("resonances need a fluid whose constants do not depend on the frequency")
            if self.output.a_weighted and medium.fluid_at(max(self.frequencies)).is_liquid:
                raise ValueError("output.a_weighted is of hearing in air: leave it out in a liquid")
        return self.model_copy(update={"media": media})

    def estimated(self) -> "SoundCase":
        return self.model_copy(update={"output": self.output.model_copy(update={"estimate": True})})

    @property
    def medium(self) -> FluidMedium:
        """The medium of the fluid."""
        return medium_of(self.acoustics.fluid, self.media)

    def fluid_at(self, frequency: float) -> Fluid:
        """The fluid at a frequency in Hz."""
        return self.medium.fluid_at(frequency)

    @property
    def sources(self) -> Any:
        """All sources as one wave, None without any."""
        waves = [one.wave for one in self.source]
        return sum(waves[1:], start=waves[0]) if waves else None
