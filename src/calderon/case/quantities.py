"""Numbers with units in case files: `200.0` is in SI units, `"200 Hz"`, `"1.2 kHz"` and `"10 deg"` give their unit.

Angles have no default unit: a bare 10 could be degrees or radians, so it is refused. Solids may be given in another
system of units than SI, one of SYSTEMS, in which bare numbers then are, and to which those with units are converted.
"""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np
from pydantic import (
    BeforeValidator,
    GetCoreSchemaHandler,
    GetJsonSchemaHandler,
    TypeAdapter,
    ValidationInfo,
    WithJsonSchema,
)
from pydantic_core.core_schema import (
    CoreSchema,
    no_info_plain_validator_function,
    with_info_before_validator_function,
)

from calderon.mesh.units import METRES
from calderon.validation import LARGEST, SMALLEST

UNITS: dict[str, dict[str, float]] = {
    "length": METRES,
    "frequency": {"Hz": 1.0, "kHz": 1e3, "MHz": 1e6, "GHz": 1e9},
    "speed": {"m/s": 1.0, "km/s": 1e3, "ft/s": 0.3048},
    "velocity": {"m/s": 1.0, "cm/s": 1e-2, "mm/s": 1e-3, "um/s": 1e-6},
    "density": {"kg/m^3": 1.0, "kg/m3": 1.0, "g/cm^3": 1e3, "g/cm3": 1e3, "t/mm^3": 1e12},
    "wavenumber": {"1/m": 1.0, "rad/m": 1.0},
    "pressure": {"Pa": 1.0, "kPa": 1e3, "uPa": 1e-6},
    "sound impedance": {"Pa s/m": 1.0, "kPa s/m": 1e3, "MPa s/m": 1e6, "rayl": 1.0},
    "flow resistivity": {"Pa s/m^2": 1.0, "kPa s/m^2": 1e3},
    "viscosity": {"Pa s": 1.0, "mPa s": 1e-3, "uPa s": 1e-6},
    "kinematic viscosity": {"m^2/s": 1.0, "mm^2/s": 1e-6, "cSt": 1e-6},
    "angle": {"deg": math.pi / 180, "rad": 1.0},
    "field strength": {"V/m": 1.0, "kV/m": 1e3, "mV/m": 1e-3},
    "voltage": {"V": 1.0, "kV": 1e3, "mV": 1e-3},
    "potential": {"V": 1.0, "kV": 1e3, "mV": 1e-3},
    "current": {"A": 1.0, "mA": 1e-3, "kA": 1e3},
    "conductivity": {"S/m": 1.0, "mS/m": 1e-3, "MS/m": 1e6},
    "resistance": {"ohm": 1.0, "mohm": 1e-3, "kohm": 1e3, "Mohm": 1e6},
    "inductance": {"H": 1.0, "mH": 1e-3, "uH": 1e-6, "nH": 1e-9, "pH": 1e-12},
    "capacitance": {"F": 1.0, "uF": 1e-6, "nF": 1e-9, "pF": 1e-12, "fF": 1e-15},
    "charge": {"C": 1.0, "mC": 1e-3, "uC": 1e-6, "nC": 1e-9, "pC": 1e-12, "e": 1.602176634e-19},
    "dipole moment": {"C m": 1.0, "D": 3.33564095e-30},
    "current moment": {"A m": 1.0, "mA m": 1e-3, "nA m": 1e-9},
    "magnetic moment": {"A m^2": 1.0, "mA m^2": 1e-3},
    "magnetic field strength": {"A/m": 1.0, "kA/m": 1e3},
    "power": {"W": 1.0, "mW": 1e-3, "kW": 1e3},
    "mass": {"t": 1e3, "kg": 1.0, "g": 1e-3, "mg": 1e-6},
    "stress": {
        "Pa": 1.0,
        "kPa": 1e3,
        "MPa": 1e6,
        "GPa": 1e9,
        "N/mm^2": 1e6,
        "psi": 6894.757293168,
        "ksi": 6894757.293168,
    },
    "force": {"N": 1.0, "kN": 1e3, "MN": 1e6},
    "moment": {"N m": 1.0, "N mm": 1e-3, "kN m": 1e3},
    "stiffness": {"N/m^3": 1.0, "N/mm^3": 1e9, "MPa/mm": 1e9},
    "acceleration": {"m/s^2": 1.0, "m/s2": 1.0, "mm/s^2": 1e-3},
    "angular velocity": {"rad/s": 1.0, "rpm": math.pi / 30},
    "expansion": {"1/K": 1.0, "um/(m K)": 1e-6},
    "temperature change": {"K": 1.0},
    "temperature": {"K": 1.0, "degC": 1.0},  # from a reference of the same scale
    "heat flux": {"W/m^2": 1.0, "kW/m^2": 1e3, "W/mm^2": 1e6},
    "heat conductivity": {"W/(m K)": 1.0},
    "time": {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "ps": 1e-12},
}
NUMBER = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*(.*?)\s*")


LIMITS: dict[str, tuple[Callable[[float], bool], str]] = {
    "any": (lambda number: True, ""),
    "positive": (lambda number: number > 0, "must be greater than zero"),
    "not negative": (lambda number: number >= 0, "must not be negative"),
    # of amplitudes, by which results are divided
    "nonzero": (lambda number: number != 0, "must not be zero, since there is no field without it: omit it for 1"),
}


SYSTEMS: dict[str, dict[str, float]] = {
    "SI": {},
    "mm-N-MPa": {
        "length": 1e-3, "stress": 1e6, "mass": 1e3, "density": 1e12, "moment": 1e-3, "stiffness": 1e9,
        "acceleration": 1e-3, "heat flux": 1e3,
    },
}  # fmt: skip
"""Systems of units of solids: by the kind of quantity, how many SI units one unit is, if not one."""


def quantity(value: Any, kind: str, limit: str = "positive", system: str = "SI") -> float:
    """The value in a system of units, within one of the LIMITS; ValueError shows the format of a quantity of this
    kind."""
    units = UNITS[kind]
    spelled, one = ", ".join(units), f"{'an' if kind[0] in 'aei' else 'a'} {kind}"
    example = f'"10 {next(iter(units))}"'
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise ValueError(f"{one} is a number or a text such as {example}")
    if isinstance(value, str):
        match = NUMBER.fullmatch(value)
        if match is None or match[2] not in units:
            raise ValueError(f"{one} is written like {example}, in one of: {spelled}")
        number = float(match[1]) * units[match[2]] / SYSTEMS[system].get(kind, 1.0)
    elif kind == "angle" and value != 0:
        raise ValueError(f'give the unit of an angle: "{value} deg" or "{value} rad"')
    else:
        try:
            number = float(value)
        except OverflowError:  # an integer of hundreds of digits
            number = math.inf
    if not math.isfinite(number):
        raise ValueError(f"{one} must be finite")
    if number and not SMALLEST <= abs(number) <= LARGEST:
        raise ValueError(f"{one} must be 0 or between {SMALLEST:g} and {LARGEST:g}: check the unit")
    fits, text = LIMITS[limit]
    if not fits(number):
        raise ValueError(f"{one} here {text}")
    return number


UNITS_KEY = "x-quantity"
"""In a JSON schema: the kind of UNITS."""


@dataclass(frozen=True)
class Quantity:
    """A number of a kind of UNITS within one of the LIMITS, with or without a unit."""

    kind: str
    limit: str = "positive"

    def checked(self, value: Any, info: ValidationInfo) -> float:
        return quantity(value, self.kind, self.limit, (info.context or {}).get("units", "SI"))

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return with_info_before_validator_function(self.checked, handler(source))

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        spelled = "|".join(map(re.escape, UNITS[self.kind]))
        text = {"type": "string", "pattern": f"^{NUMBER.pattern.replace('(.*?)', f'({spelled})')}$"}
        plain = {"const": 0} if self.kind == "angle" else {"type": "number"}
        return {"anyOf": [plain, text], UNITS_KEY: self.kind}


Length = Annotated[float, Quantity("length", "any")]
Place = tuple[Length, Length, Length]
Size = Annotated[float, Quantity("length")]
Frequency = Annotated[float, Quantity("frequency")]
Speed = Annotated[float, Quantity("speed")]
Density = Annotated[float, Quantity("density")]
Mass = Annotated[float, Quantity("mass")]
Wavenumber = Annotated[float, Quantity("wavenumber")]
WallVelocity = Annotated[float, Quantity("velocity", "any")]
FlowResistivity = Annotated[float, Quantity("flow resistivity")]
Viscosity = Annotated[float, Quantity("viscosity")]
KinematicViscosity = Annotated[float, Quantity("kinematic viscosity")]
Pressure = Annotated[float, Quantity("pressure", "nonzero")]
Angle = Annotated[float, Quantity("angle", "any")]
Potential = Annotated[float, Quantity("potential", "any")]
FieldStrength = Annotated[float, Quantity("field strength", "nonzero")]
Voltage = Annotated[float, Quantity("voltage", "nonzero")]
Current = Annotated[float, Quantity("current", "any")]
Conductivity = Annotated[float, Quantity("conductivity", "not negative")]
Resistance = Annotated[float, Quantity("resistance")]
Inductance = Annotated[float, Quantity("inductance")]
Capacitance = Annotated[float, Quantity("capacitance")]
Charge = Annotated[float, Quantity("charge", "any")]
DipoleMoment = Annotated[float, Quantity("dipole moment", "any")]
CurrentMoment = Annotated[float, Quantity("current moment", "any")]
MagneticMoment = Annotated[float, Quantity("magnetic moment", "any")]
StaticField = Annotated[float, Quantity("field strength", "any")]
MagneticFieldStrength = Annotated[float, Quantity("magnetic field strength", "any")]
Power = Annotated[float, Quantity("power")]
Time = Annotated[float, Quantity("time")]
Stress = Annotated[float, Quantity("stress")]
SignedStress = Annotated[float, Quantity("stress", "any")]
Force = Annotated[float, Quantity("force", "any")]
Moment = Annotated[float, Quantity("moment", "any")]
Stiffness = Annotated[float, Quantity("stiffness")]
Acceleration = Annotated[float, Quantity("acceleration", "any")]
AngularVelocity = Annotated[float, Quantity("angular velocity", "any")]
Expansion = Annotated[float, Quantity("expansion", "any")]
Temperature = Annotated[float, Quantity("temperature", "any")]
HeatFlux = Annotated[float, Quantity("heat flux", "any")]
HeatConductivity = Annotated[float, Quantity("heat conductivity")]
TemperatureChange = Annotated[float, Quantity("temperature change", "any")]
MAX_FREQUENCIES = 10_000  # of a sweep: each is a solution of its own, kept until all are written


def _frequencies(value: Any) -> tuple[float, ...]:
    """One frequency, a list of them, or { start, stop, count } with both ends included."""
    if isinstance(value, dict):
        allowed = {"start", "stop", "count"}
        if set(value) != allowed:
            raise ValueError("a sweep is written { start = ..., stop = ..., count = ... }")
        count = value["count"]
        if not isinstance(count, int) or isinstance(count, bool) or not 2 <= count <= MAX_FREQUENCIES:
            raise ValueError(f"count = {count!r}: a whole number from 2 to {MAX_FREQUENCIES} is needed")
        start, stop = (quantity(value[name], "frequency") for name in ("start", "stop"))
        given = tuple(float(f) for f in np.linspace(start, stop, count))
        if len(set(given)) < count:
            raise ValueError(f"{count} frequencies between start and stop are not all different")
        return given
    if isinstance(value, list):
        if not value:
            raise ValueError("the list of frequencies is empty")
        given = tuple(quantity(one, "frequency") for one in value)
        if len(set(given)) < len(given):
            raise ValueError("a frequency occurs twice in the list")
        return given
    return (quantity(value, "frequency"),)


FREQUENCY = TypeAdapter(Frequency).json_schema()
SWEEP = {
    "type": "object",
    "properties": {"start": FREQUENCY, "stop": FREQUENCY, "count": {"type": "integer", "minimum": 2}},
    "required": ["start", "stop", "count"],
    "additionalProperties": False,
}
FREQUENCIES = {**FREQUENCY, "anyOf": [*FREQUENCY["anyOf"], {"type": "array", "items": FREQUENCY, "minItems": 1}, SWEEP]}
"""In a JSON schema."""
Frequencies = Annotated[tuple[Frequency, ...], BeforeValidator(_frequencies), WithJsonSchema(FREQUENCIES)]


def complex_number(value: Any) -> complex:
    """A real number or [real, imaginary]."""
    parts = value if isinstance(value, list) else [value, 0.0]
    if len(parts) != 2 or any(isinstance(part, bool) or not isinstance(part, (int, float)) for part in parts):
        raise ValueError("write a number or [real, imaginary]")
    if not all(math.isfinite(part) for part in parts):
        raise ValueError("both parts must be finite")
    return complex(*parts)


COMPLEX = {"anyOf": [{"type": "number"}, {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}]}
"""In a JSON schema."""


@dataclass(frozen=True)
class ComplexQuantity:
    """A complex number of a kind of UNITS: a number with or without a unit, or [real, imaginary] of such."""

    kind: str

    def checked(self, value: Any) -> complex:
        parts = value if isinstance(value, list) else [value, 0.0]
        if len(parts) != 2:
            raise ValueError(f'write a {self.kind}, "1 {next(iter(UNITS[self.kind]))}", or [real, imaginary]')
        return complex(*(quantity(each, self.kind, "any") for each in parts))

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        return no_info_plain_validator_function(self.checked)

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> dict[str, Any]:
        part = TypeAdapter(Annotated[float, Quantity(self.kind, "any")]).json_schema()
        pair = {"type": "array", "items": part, "minItems": 2, "maxItems": 2}
        return {**part, "anyOf": [*part["anyOf"], pair]}


WallImpedance = Annotated[complex, ComplexQuantity("sound impedance")]
SoundAmplitude = Annotated[complex, ComplexQuantity("pressure")]
