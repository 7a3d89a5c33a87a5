"""Fluids of case files of sound: known ones, constants, or columns by frequency."""

from dataclasses import replace
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, TypeAdapter, WithJsonSchema, model_validator

from calderon.case.media import NAMED, Dispersive, check_names
from calderon.case.quantities import Density, KinematicViscosity, Pressure, Size, Speed, quantity
from calderon.case.table import AT_MOST, choices, key
from calderon.formulations import Fluid
from calderon.formulations.acoustic.fluid import BOUNDARY_LAYER

KNOWN = ("air", "water", "sea-water")
"""Fluids that need no table of [media]: air and water of 20 degrees, sea water of 10 degrees at the surface."""
FluidName = Annotated[str, WithJsonSchema({"anyOf": [{"enum": [*KNOWN]}, NAMED]})]
OF_KIND = {"air": ("celsius", "pressure"), "water": ("celsius",), "sea-water": ("celsius", "salinity", "depth")}
"""Keys of a known fluid besides its loss, those of its function in `Fluid`."""
OF_ALL = ("loss", *BOUNDARY_LAYER)
"""Keys that go with any fluid."""


def _numbers(kind: str, unit: Any) -> Any:
    """One quantity of a kind, or a list of them."""

    def checked(value: Any) -> Any:
        if not isinstance(value, list):
            return quantity(value, kind)
        if len(value) > AT_MOST.rows:
            raise ValueError(f"{len(value)} rows: a medium has at most {AT_MOST.rows}")
        return tuple(quantity(one, kind) for one in value)

    one = TypeAdapter(unit).json_schema()
    several = {**one, "anyOf": [*one["anyOf"], {"type": "array", "items": one}]}
    return Annotated[float | tuple[float, ...] | None, BeforeValidator(checked), WithJsonSchema(several)]


class FluidMedium(Dispersive):
    """[media.NAME]: a fluid, which acoustics.fluid names: a known one with its temperature, its constants, or its
    density and speed of sound in columns by frequency, linear between them.

    kind: air (with celsius, pressure), water (celsius) or sea-water (celsius, salinity, depth). loss: the wavenumber is
    (omega / c) (1 + i loss), so that the level falls by 54.6 loss dB in a wavelength. kinematic_viscosity,
    heat_capacity_ratio and prandtl: for walls with viscothermal = true, known of air and water; air at 20 degrees has
    1.5e-5 m^2/s, 1.4 and 0.71. Columns are lists of equal
    length, or those of a CSV file whose first line names them, with numbers in Hz, kg/m^3 and m/s.
    """

    kind: Literal["air", "water", "sea-water"] | None = key("a known fluid, instead of constants")
    celsius: float | None = key("temperature of a known fluid; 20 degrees, of sea water 10, unless given")
    pressure: Pressure | None = key("of air; 101325 Pa unless given")
    salinity: float | None = key("of sea water in parts per thousand; 35 unless given")
    depth: Size | None = key("of sea water, below its surface; 0 unless given")
    loss: float = key("of sound, without unit", 0.0, ge=0, lt=1)
    kinematic_viscosity: KinematicViscosity | None = key("viscosity over density, for viscothermal walls")
    heat_capacity_ratio: float | None = key("at constant pressure over that at constant volume", ge=1)
    prandtl: float | None = key("kinematic viscosity over the diffusivity of heat", gt=0)
    density: _numbers("density", Density) = key("of a fluid, a number, or a list by frequency")  # type: ignore[valid-type]
    speed_of_sound: _numbers("speed", Speed) = key("of a fluid, a number, or a list by frequency")  # type: ignore[valid-type]

    @model_validator(mode="after")
    def _complete(self) -> "FluidMedium":
        if self.kind is not None:
            self.require_keys(f"kind = {self.kind!r}", (), (*OF_KIND[self.kind], *OF_ALL, "kind"))
            self.fluid_at(1.0)
        elif self.is_constant:
            self.require_keys("a fluid by its constants", ("density", "speed_of_sound"), OF_ALL)
        else:
            columns = ("frequency", "density", "speed_of_sound", "file")
            self.require_keys("a fluid by columns", (), (*columns, *OF_ALL))
            if any(isinstance(each, float) for each in (self.density, self.speed_of_sound)):
                raise ValueError("density and speed_of_sound are both numbers, or both lists by frequency")
            super()._complete()  # type: ignore[operator]
        return self

    @property
    def is_constant(self) -> bool:
        """Whether nothing depends on the frequency."""
        return self.kind is not None or (self.frequency is None and self.file is None)

    def fluid_at(self, frequency: float) -> Fluid:
        """The fluid at a frequency in Hz."""
        if self.kind is not None:
            given = self._given(OF_KIND[self.kind])
            made = {"air": Fluid.air, "water": Fluid.water, "sea-water": Fluid.sea_water}[self.kind](**given)
        elif self.is_constant:
            made = Fluid(self.density, self.speed_of_sound)
        else:
            made = Fluid(*(float(self.at(name, frequency).real) for name in ("density", "speed_of_sound")))
        return replace(made, **self._given(OF_ALL))

    def _given(self, names: tuple[str, ...]) -> dict[str, Any]:
        """The keys among some that are given."""
        return {name: value for name in names if (value := getattr(self, name)) is not None}


Fluids = Annotated[dict[str, FluidMedium], BeforeValidator(check_names)]


def medium_of(name: str, media: dict[str, FluidMedium]) -> FluidMedium:
    """The medium of a name in [media], or a known one; ValueError for others."""
    if name in media:
        return media[name]
    if name not in KNOWN:
        raise ValueError(f"no fluid has that name: {choices(name, (*media, *KNOWN))}")
    return FluidMedium(kind=name)  # type: ignore[arg-type]
