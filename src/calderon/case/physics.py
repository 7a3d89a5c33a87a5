"""The [physics] table: the problem, the frequency or wavenumber, and the media."""

import math
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BeforeValidator, Field, model_validator

from calderon.case.quantities import Density, Frequency, Potential, Speed, Voltage, Wavenumber, positive_si
from calderon.case.table import Table

Point = tuple[float, float, float]
ACOUSTIC = ("sound-hard", "sound-soft", "impedance", "transmission")
ELECTROMAGNETIC = ("conductor", "dielectric")
FORMULATIONS = {"conductor": ("cfie", "efie", "mfie", "calderon"), "dielectric": ("pmchwt", "muller")}
MOST_FREQUENCIES = 10_000  # of a sweep: each is a solution of its own, kept until all are written
FLUIDS = ("speed_of_sound", "density", "interior_speed_of_sound", "interior_density")
# keys that a problem needs, and those it may have, besides problem and what gives the wavenumber
KEYS: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "sound-hard": ((), ("density",)),
    "sound-soft": ((), ("density",)),
    "impedance": (("admittance",), ("density",)),
    "transmission": (FLUIDS, ()),
    "conductor": ((), ("formulation", "testing")),
    "dielectric": (("permittivity",), ("permeability", "formulation")),
    "antenna": (("feed",), ()),
    "laplace-dirichlet": (("potential",), ("side",)),
    "laplace-neumann": (("flux",), ("side",)),
}


def _frequencies(value: Any) -> tuple[float, ...]:
    """One frequency, a list of them, or { start, stop, count } with both ends included."""
    if isinstance(value, dict):
        allowed = {"start", "stop", "count"}
        if set(value) != allowed:
            raise ValueError("a sweep is written { start = ..., stop = ..., count = ... }")
        count = value["count"]
        if not isinstance(count, int) or isinstance(count, bool) or not 2 <= count <= MOST_FREQUENCIES:
            raise ValueError(f"count = {count!r}: a whole number from 2 to {MOST_FREQUENCIES} is needed")
        start, stop = (positive_si(value[name], "frequency") for name in ("start", "stop"))
        return tuple(float(f) for f in np.linspace(start, stop, count))
    if isinstance(value, list):
        if not value:
            raise ValueError("the list of frequencies is empty")
        return tuple(positive_si(one, "frequency") for one in value)
    return (positive_si(value, "frequency"),)


def _complex(value: Any) -> complex:
    """A real number or [real, imaginary]."""
    parts = value if isinstance(value, list) else [value, 0.0]
    if len(parts) != 2 or any(isinstance(part, bool) or not isinstance(part, (int, float)) for part in parts):
        raise ValueError("write a number or [real, imaginary]")
    if not all(math.isfinite(part) for part in parts):
        raise ValueError("both parts must be finite")
    return complex(*parts)


def _by_tag(value: Any) -> complex | dict[int | str, complex]:
    """One number for the whole surface, or a table from tags, by number or name, to numbers."""
    if not isinstance(value, dict):
        return _complex(value)
    if not value:
        raise ValueError("the table by tag is empty: write { tag = number }, or one number for the whole surface")
    return {int(tag) if tag.lstrip("-").isdigit() else tag: _complex(one) for tag, one in value.items()}


def _passive(value: Any) -> complex | dict[int | str, complex]:
    """As _by_tag, of numbers with a real part that is not negative."""
    given = _by_tag(value)
    for one in given.values() if isinstance(given, dict) else (given,):
        if one.real < 0:
            raise ValueError(f"the real part {one.real:g} is negative: the surface would create energy, give 0 or more")
    return given


Constants = Annotated[complex | dict[int | str, complex], BeforeValidator(_by_tag)]
Admittance = Annotated[complex | dict[int | str, complex], BeforeValidator(_passive)]


class Feed(Table):
    """A voltage across edges of an antenna: on a straight line between two points, or between two tags."""

    line: tuple[Point, Point] | None = None
    between: tuple[str | int, str | int] | None = None
    voltage: Voltage = 1.0

    @model_validator(mode="after")
    def _one_place(self) -> "Feed":
        if (self.line is None) == (self.between is None):
            raise ValueError("a feed needs either line = [[x, y, z], [x, y, z]] or between = [tag, tag]")
        return self


class Physics(Table):
    """[physics]: the problem, the frequency or wavenumber, and the medium.

    Sound travels at speed_of_sound, electromagnetic waves at the speed of light in vacuum. admittance: rho c / Z of an
    impedance surface, without unit; a number or [real, imaginary], or a table of these by tag. permittivity,
    permeability: relative, of a dielectric body, with a positive imaginary part for loss; of several bodies, side by
    side or one within another, a table by the tags of their surfaces, of what is directly inside. formulation: the
    integral equation of a conductor or a dielectric body. testing: of a conductor's magnetic equation.
    """

    problem: Literal[
        "sound-hard", "sound-soft", "impedance", "transmission", "conductor", "dielectric", "antenna",
        "laplace-dirichlet", "laplace-neumann",
    ]  # fmt: skip
    frequency: Annotated[tuple[Frequency, ...], BeforeValidator(_frequencies)] | None = None
    wavenumber: Wavenumber | None = None
    speed_of_sound: Speed | None = None
    density: Density | None = None
    interior_speed_of_sound: Speed | None = None
    interior_density: Density | None = None
    admittance: Admittance | None = None
    permittivity: Constants | None = None
    permeability: Constants | None = None
    formulation: str | None = None
    testing: Literal["dual", "primal"] | None = None
    feed: Feed | None = None
    side: Literal["exterior", "interior"] | None = None
    potential: Potential | None = None
    flux: float | None = Field(default=None, allow_inf_nan=False)

    @model_validator(mode="after")
    def _complete(self) -> "Physics":
        needed, allowed = KEYS[self.problem]
        if self.wave:
            needed = (*self._clock(), *(key for key in needed if key != "speed_of_sound"))
        missing = [name for name in needed if getattr(self, name) is None]
        if missing:
            raise ValueError(f"the problem {self.problem!r} also needs {' and '.join(missing)}")
        strange = [name for name in self.model_fields_set if name not in {"problem", *needed, *allowed}]
        if strange:
            takes = ", ".join([*needed, *allowed])
            raise ValueError(
                f"{', '.join(sorted(strange))} is not supported by the problem {self.problem!r}: it accepts {takes}"
            )
        if isinstance(self.permeability, dict) and not isinstance(self.permittivity, dict):
            raise ValueError("a table of permeabilities by tag requires one of permittivities")
        if self.formulation is not None and self.formulation not in FORMULATIONS[self.problem]:
            choices = ", ".join(map(repr, FORMULATIONS[self.problem]))
            raise ValueError(
                f"formulation = {self.formulation!r} is not supported by {self.problem!r}: choose {choices}"
            )
        return self

    def _clock(self) -> tuple[str, ...]:
        """The keys that give the frequency of the wave."""
        if self.problem == "transmission":
            return ("frequency", "speed_of_sound")
        if (self.frequency is None) == (self.wavenumber is None):
            speed = " (with speed_of_sound)" if self.acoustic else ""
            raise ValueError(f"give either frequency{speed} or wavenumber")
        if self.wavenumber is not None:
            return ("wavenumber",)
        return ("frequency", "speed_of_sound") if self.acoustic else ("frequency",)

    @property
    def acoustic(self) -> bool:
        return self.problem in ACOUSTIC

    @property
    def electromagnetic(self) -> bool:
        """Whether an electromagnetic wave is scattered."""
        return self.problem in ELECTROMAGNETIC

    @property
    def wave(self) -> bool:
        """Whether there is a wavenumber."""
        return self.acoustic or self.electromagnetic or self.problem == "antenna"
