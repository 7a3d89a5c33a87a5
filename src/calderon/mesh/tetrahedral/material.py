"""The material of a volume."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from numbers import Complex, Real

import scipy.constants

from calderon.validation import finite_number, positive_length, real_number, refuse_gain


@dataclass(frozen=True)
class Material:
    """Constants of a linear medium.

    permittivity: relative to vacuum, a number, or a function of the frequency in Hz such as `Debye`, `ColeCole`,
    `Lorentz`, `Drude` or `PermittivityTable`, complex for exp(-i omega t). permeability relative to vacuum,
    conductivity in S/m, density in kg/m^3 (for the specific absorption rate; None if that is not needed). loss_tangent:
    the same at all frequencies, eps (1 + i tan delta). source: where the numbers are from. Fields in time need a number
    and no loss tangent. Raises ValueError unless the first two are positive and the others not negative.
    """

    permittivity: float | Callable[[float], complex] = 1.0
    permeability: float = 1.0
    conductivity: float = 0.0
    density: float | None = None
    loss_tangent: float = 0.0
    source: str = ""

    def __post_init__(self) -> None:
        for name in ("permittivity", "permeability", "conductivity", "loss_tangent"):
            value = getattr(self, name)
            if name == "permittivity" and callable(value):
                continue
            allowed = "positive" if name in ("permittivity", "permeability") else "not negative"
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

    def permittivity_at(self, frequency: float) -> complex:
        """eps (1 + i tan delta) at a frequency in Hz, without the conductivity; ValueError for a function with gain."""
        f, given = positive_length(frequency, "frequency"), self.permittivity
        value = finite_number(given(f), f"the permittivity at {f:g} Hz") if callable(given) else given
        refuse_gain(value, "the permittivity")
        return complex(value * (1 + 1j * self.loss_tangent))

    def at(self, frequency: float) -> "Material":
        """A medium of constants that equals this one at a frequency f in Hz: with eps (1 + i tan delta) there, its
        permittivity is the real part, its conductivity sigma + 2 pi f epsilon_0 times the imaginary part, and its loss
        tangent 0. ValueError for a permittivity with gain, or whose real part is not positive."""
        lossy = self.permittivity_at(frequency)
        loss = 2 * math.pi * frequency * scipy.constants.epsilon_0 * lossy.imag
        return replace(self, permittivity=lossy.real, conductivity=self.conductivity + loss, loss_tangent=0.0)

    def at_one_frequency(self, what: str) -> tuple[float, float, float]:
        """Permittivity, permeability and conductivity of fields in time; ValueError, of `what`, for those that depend
        on the frequency."""
        if not isinstance(self.permittivity, Real) or self.loss_tangent:
            raise ValueError(
                f"{what} depends on the frequency, by its permittivity or loss tangent: time-domain fields have no "
                "dispersion, use the constants at the frequency of interest, material.at(frequency)"
            )
        return float(self.permittivity), self.permeability, self.conductivity


def _advice(value: object) -> str:
    if isinstance(value, Complex) and not isinstance(value, Real):
        return "; loss at one frequency f is conductivity = 2 pi f epsilon_0 Im(permittivity), or a loss_tangent"
    return "; a permittivity alone may be a function of the frequency" * callable(value)
