"""Numbers with units in case files: `200.0` is in SI units, `"200 Hz"`, `"1.2 kHz"` and `"10 deg"` give their unit.

Angles have no default unit: a bare 10 could be degrees or radians, so it is refused.
"""

import math
import re
from collections.abc import Callable
from typing import Annotated, Any

from pydantic import BeforeValidator

from calderon.mesh.units import METRES

DEGREE = math.pi / 180
UNITS: dict[str, dict[str, float]] = {
    "length": METRES,
    "frequency": {"Hz": 1.0, "kHz": 1e3, "MHz": 1e6, "GHz": 1e9},
    "speed": {"m/s": 1.0, "km/s": 1e3, "ft/s": 0.3048},
    "density": {"kg/m^3": 1.0, "kg/m3": 1.0, "g/cm^3": 1e3, "g/cm3": 1e3},
    "wavenumber": {"1/m": 1.0, "rad/m": 1.0},
    "pressure": {"Pa": 1.0, "kPa": 1e3, "uPa": 1e-6},
    "angle": {"deg": DEGREE, "rad": 1.0},
    "field strength": {"V/m": 1.0, "kV/m": 1e3, "mV/m": 1e-3},
    "voltage": {"V": 1.0, "kV": 1e3, "mV": 1e-3},
    "potential": {"V": 1.0, "kV": 1e3, "mV": 1e-3},
    "current": {"A": 1.0, "mA": 1e-3, "kA": 1e3},
    "conductivity": {"S/m": 1.0, "mS/m": 1e-3, "MS/m": 1e6},
    "power": {"W": 1.0, "mW": 1e-3, "kW": 1e3},
    "mass": {"kg": 1.0, "g": 1e-3, "mg": 1e-6},
    "time": {"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9, "ps": 1e-12},
}
NUMBER = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*(.*?)\s*")


def in_si(value: Any, kind: str) -> float:
    """The value in SI units; ValueError shows the format of a quantity of this kind."""
    units = UNITS[kind]
    spelled = ", ".join(units)
    example = f'"10 {next(iter(units))}"'
    if isinstance(value, bool) or not isinstance(value, (int, float, str)):
        raise ValueError(f"a {kind} is a number or a text such as {example}")
    if isinstance(value, str):
        match = NUMBER.fullmatch(value)
        if match is None or match[2] not in units:
            raise ValueError(f"a {kind} is written like {example}, in one of: {spelled}")
        number = float(match[1]) * units[match[2]]
    elif kind == "angle" and value != 0:
        raise ValueError(f'give the unit of an angle: "{value} deg" or "{value} rad"')
    else:
        number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"a {kind} must be finite")
    return number


def positive_si(value: Any, kind: str) -> float:
    """As in_si, and greater than zero."""
    number = in_si(value, kind)
    if number <= 0:
        raise ValueError(f"a {kind} here must be greater than zero")
    return number


def nonzero_si(value: Any, kind: str) -> float:
    """As in_si, and not zero: amplitudes, by which results are divided."""
    number = in_si(value, kind)
    if number == 0:
        raise ValueError(f"a {kind} here must not be zero, since there is no field without it: omit it for 1")
    return number


def not_negative_si(value: Any, kind: str) -> float:
    """As in_si, and zero or greater."""
    number = in_si(value, kind)
    if number < 0:
        raise ValueError(f"a {kind} here must not be negative")
    return number


def _quantity(kind: str, convert: Callable[[Any, str], float]) -> BeforeValidator:
    return BeforeValidator(lambda value: convert(value, kind))


Length = Annotated[float, _quantity("length", in_si)]
Size = Annotated[float, _quantity("length", positive_si)]
Frequency = Annotated[float, _quantity("frequency", positive_si)]
Speed = Annotated[float, _quantity("speed", positive_si)]
Density = Annotated[float, _quantity("density", positive_si)]
Wavenumber = Annotated[float, _quantity("wavenumber", positive_si)]
Pressure = Annotated[float, _quantity("pressure", nonzero_si)]
Angle = Annotated[float, _quantity("angle", in_si)]
Potential = Annotated[float, _quantity("potential", in_si)]
FieldStrength = Annotated[float, _quantity("field strength", nonzero_si)]
Voltage = Annotated[float, _quantity("voltage", nonzero_si)]
Current = Annotated[float, _quantity("current", in_si)]
Conductivity = Annotated[float, _quantity("conductivity", not_negative_si)]
Power = Annotated[float, _quantity("power", positive_si)]
Mass = Annotated[float, _quantity("mass", positive_si)]
Time = Annotated[float, _quantity("time", positive_si)]
