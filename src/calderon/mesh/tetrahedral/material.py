"""The material of a volume."""

import math
from dataclasses import dataclass
from numbers import Complex, Real

from calderon.validation import positive_length, real_number


@dataclass(frozen=True)
class Material:
    """Constants of a linear medium.

    permittivity and permeability relative to vacuum, conductivity in S/m, density in kg/m^3 (for the specific
    absorption rate; None if that is not needed). Raises ValueError unless the first two are positive and the others
    not negative.
    """

    permittivity: float = 1.0
    permeability: float = 1.0
    conductivity: float = 0.0
    density: float | None = None

    def __post_init__(self) -> None:
        for name in ("permittivity", "permeability", "conductivity"):
            value, allowed = getattr(self, name), "not negative" if name == "conductivity" else "positive"
            try:
                number = real_number(value, name)
            except ValueError:
                number = math.nan
            if not (number > 0 or (number == 0 and allowed != "positive")):
                raise ValueError(f"{name}={value!r}: a finite number, {allowed}, is needed{_advice(value)}")
        if self.density is not None:
            try:
                positive_length(self.density, "density")
            except ValueError:
                text = f"density={self.density!r}: a positive number in kg/m^3, or None, is needed"
                raise ValueError(text) from None


def _advice(value: object) -> str:
    if isinstance(value, Complex) and not isinstance(value, Real):
        return "; loss at one frequency f is conductivity = 2 pi f epsilon_0 Im(permittivity)"
    return "; time-domain fields have no dispersion: use the constants at the frequency of interest" * callable(value)
