"""Sound of something else in case files: [[source]], planes that mirror it, and that in which it is drawn."""

from typing import Annotated, Any, Literal, Self

import numpy as np
from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator

from calderon.case.mesh import Keys
from calderon.case.output import Rectangle
from calderon.case.quantities import COMPLEX, Angle, Place, SoundAmplitude, complex_number
from calderon.case.table import Table, key
from calderon.case.waves import Travelling
from calderon.formulations import HalfSpace
from calderon.waves import Multipole, PlaneWave, PointSource

Ratio = Annotated[complex, BeforeValidator(complex_number), WithJsonSchema(COMPLEX)]

SOURCES: dict[str, Keys] = {
    "plane-wave": ((), ("direction", "azimuth", "elevation", "amplitude", "phase")),
    "point-source": (("position",), ("amplitude", "phase")),
    "multipole": (("position", "coefficients"), ()),
}
"""Keys of a source by its kind."""


class SoundSource(Travelling):
    """[[source]]: sound of something else, in the fluid: a plane wave by its direction, or a point source or a
    multipole by its position. All sources sound together.

    amplitude: of a plane wave the peak pressure, 1 Pa unless given; of a point source that at a distance of 1 m.
    phase: the factor exp(i phase), with the time factor exp(-i omega t). coefficients: of a multipole, one for each
    degree n and order m from -n to n, [real, imaginary] or real, in Pa.
    """

    kind: Literal["plane-wave", "point-source", "multipole"] = key("it decides which other keys are accepted", ...)
    position: Place | None = key("of a point source or a multipole")
    amplitude: SoundAmplitude | None = key("peak pressure, of a point source at 1 m; 1 Pa unless given")
    phase: Angle | None = key("0 unless given")
    coefficients: Annotated[tuple[Ratio, ...], Field(min_length=1, max_length=400)] | None = key("of a multipole")
    SELECTORS = ("kind",)

    @model_validator(mode="after")
    def _of_one_kind(self) -> Self:
        self.require_keys(f"kind = {self.kind!r}", *SOURCES[self.kind])
        if self.kind == "plane-wave":
            self.require_direction()
        self.wave  # noqa: B018  of numbers of coefficients that are no square
        return self

    @property
    def wave(self) -> Any:
        """The wave, without a wavenumber."""
        if self.kind == "multipole":
            return Multipole(self.position, self.coefficients)
        size = self.pressure
        if self.kind == "plane-wave":
            return PlaneWave(self.unit_direction, amplitude=size)
        return PointSource(self.position, amplitude=4 * np.pi * size)

    @property
    def pressure(self) -> complex:
        """The amplitude with its phase, real where it is."""
        size = (1.0 if self.amplitude is None else self.amplitude) * np.exp(1j * (self.phase or 0.0))
        return float(size.real) if size.imag == 0 else complex(size)


Axis = Literal["x", "y", "z"]
Mirrors = dict[Axis, Literal["even", "odd"]]


class Reflecting(Table):
    """half_space: a plane that reflects, through the origin; bodies are on one side of it, or stand on it."""

    plane: Axis = key('"z" for z = 0', ...)
    rigid: bool = key("a floor; false: it gives way, as the surface of the sea does", True)

    @property
    def half_space(self) -> HalfSpace:
        """The half space of a problem."""
        return HalfSpace(self.plane, self.rigid)


def mirrors_key() -> Any:
    """The key `mirrors` of a table."""
    return key('planes of symmetry, { z = "even" }', min_length=1)


class SoundSlice(Rectangle):
    """output.slice: by default around the body."""

    quantity: Literal["level", "real", "imag", "abs", "phase"] = key("what is drawn", "level")
