"""The fluid that sound travels in: air, fresh water, sea water, or any density and speed of sound."""

from dataclasses import dataclass

import numpy as np
from numpy.polynomial.polynomial import polyder, polyval

from calderon.formulations.checks import wavenumber_and_frequency
from calderon.validation import positive_length, real_number, wavenumber_of_a_wave

KELVIN = 273.15
LIGHTEST_LIQUID = 50.0
"""kg/m^3 from which a fluid counts as a liquid: liquid hydrogen has 71, gases at 20 bar have less."""
BOUNDARY_LAYER = ("kinematic_viscosity", "heat_capacity_ratio", "prandtl")
"""Numbers of a fluid that its boundary layers depend on."""


@dataclass(frozen=True)
class Fluid:
    """A homogeneous fluid at rest.

    density: rho in kg/m^3. speed_of_sound: c in m/s. loss: of sound, dimensionless, 0 for none: the wavenumber is
    k = (omega / c) (1 + i loss), so that the level falls by 54.6 loss dB in one wavelength. For losses at walls
    (`ViscothermalWall`) alone, None where they are not known: kinematic_viscosity: nu in m^2/s, the viscosity over the
    density; heat_capacity_ratio: gamma; prandtl: nu over the diffusivity of heat. ValueError for what is not positive,
    and for gamma below 1.

        cal.Fluid.air(20), cal.Fluid.water(10), cal.Fluid.sea_water(10, salinity=35, depth=100), cal.Fluid(870, 1380)
    """

    density: float
    speed_of_sound: float
    loss: float = 0.0
    kinematic_viscosity: float | None = None
    heat_capacity_ratio: float | None = None
    prandtl: float | None = None

    def __post_init__(self) -> None:
        for name in ("density", "speed_of_sound"):
            object.__setattr__(self, name, positive_length(getattr(self, name), name))
        loss = real_number(self.loss, "loss")
        if not 0 <= loss < 1:
            raise ValueError(f"loss is at least 0 and below 1, k = (omega / c) (1 + i loss): got {self.loss!r}")
        object.__setattr__(self, "loss", loss)
        for name in BOUNDARY_LAYER:
            if getattr(self, name) is not None:
                object.__setattr__(self, name, boundary_layer_number(getattr(self, name), name))

    @property
    def impedance(self) -> float:
        """rho c in Pa s/m."""
        return self.density * self.speed_of_sound

    @property
    def is_liquid(self) -> bool:
        """Whether it is as dense as a liquid, 50 kg/m^3 or more."""
        return self.density >= LIGHTEST_LIQUID

    @property
    def reference_pressure(self) -> float:
        """The pressure (root mean square) in Pa to which levels refer: 20 uPa in gases, 1 uPa in liquids (ISO 1683)."""
        return 1e-6 if self.is_liquid else 20e-6

    def angular_frequency(self, wavenumber: complex) -> float:
        """omega = c Re k in 1/s."""
        return float(np.real(wavenumber_of_a_wave(wavenumber))) * self.speed_of_sound

    @classmethod
    def air(cls, celsius: float = 20.0, pressure: float = 101325.0) -> "Fluid":
        """Dry air as an ideal gas: rho = p / (R T), c = sqrt(gamma R T), R = 287.05 J/(kg K), gamma = 1.4.

        celsius: from -100 to 100. pressure: p in Pa. Within 0.1 % of the values of ISO 9613-1 for dry air; humid air at
        20 degrees is faster by up to 0.4 %. L. E. Kinsler et al., Fundamentals of Acoustics (2000), section 5.6. The
        viscosity is Sutherland's, 1.458e-6 T^1.5 / (T + 110.4) Pa s (U.S. Standard Atmosphere, 1976), the Prandtl
        number 0.71, of 0 to 40 degrees.
        """
        kelvin = _within(celsius, -100.0, 100.0, "celsius") + KELVIN
        gas, gamma = 287.05, 1.4
        density = positive_length(pressure, "pressure") / (gas * kelvin)
        viscosity = 1.458e-6 * kelvin**1.5 / (kelvin + 110.4)
        return cls(density, float(np.sqrt(gamma * gas * kelvin)), 0.0, viscosity / density, gamma, 0.71)

    @classmethod
    def water(cls, celsius: float = 20.0) -> "Fluid":
        """Fresh water at atmospheric pressure, from 0 to 95 degrees.

        c: W. Marczak, J. Acoust. Soc. Am. 102 (1997) 2776. rho: G. S. Kell, J. Chem. Eng. Data 20 (1975) 97. Viscosity,
        1.002 mPa s at 20 degrees, within 1 %: CRC Handbook of Chemistry and Physics, 55th ed. (1974), F-49. Heat
        conductivity: M. L. V. Ramires et al., J. Phys. Chem. Ref. Data 24 (1995) 1377; with 4190 J/(kg K) it gives the
        Prandtl number, and gamma - 1 = (c d rho / d T / rho)^2 T / 4190.
        """
        t = _within(celsius, 0.0, 95.0, "celsius")
        speed = float(polyval(t, [1.402385e3, 5.038813, -5.799136e-2, 3.287156e-4, -1.398845e-6, 2.787860e-9]))
        mass = [999.83952, 16.945176, -7.9870401e-3, -46.170461e-6, 105.56302e-9, -280.54253e-12]
        kell, slope = 1 + 16.879850e-3 * t, polyval(t, polyder(mass))
        density = float(polyval(t, mass) / kell)
        expansion = 16.879850e-3 / kell - slope / polyval(t, mass)
        viscosity = 1.002e-3 * 10 ** ((1.3272 * (20 - t) - 1.053e-3 * (t - 20) ** 2) / (t + 105))
        conductivity = 0.6065 * polyval((t + KELVIN) / 298.15, [-1.48445, 4.12292, -1.63866])
        heat = 4190.0  # J/(kg K), within 0.7 % of that at all these temperatures
        gamma = 1 + (expansion * speed) ** 2 * (t + KELVIN) / heat
        return cls(
            density, speed, 0.0, float(viscosity / density), float(gamma), float(viscosity * heat / conductivity)
        )

    @classmethod
    def sea_water(cls, celsius: float = 10.0, salinity: float = 35.0, depth: float = 0.0) -> "Fluid":
        """Sea water, from 0 to 30 degrees. salinity: in parts per thousand, 30 to 40. depth: in m, up to 8000.

        c: K. V. Mackenzie, J. Acoust. Soc. Am. 70 (1981) 807. rho: at the surface the equation of state of UNESCO 1980,
        F. J. Millero and A. Poisson, Deep-Sea Res. 28A (1981) 625, and below it increased by g depth / c^2, the
        adiabatic compression.
        """
        t = _within(celsius, 0.0, 30.0, "celsius")
        s = _within(salinity, 30.0, 40.0, "salinity")
        d = _within(depth, 0.0, 8000.0, "depth")
        speed = polyval(t, [1448.96, 4.591, -5.304e-2, 2.374e-4]) + 1.340 * (s - 35) + 1.630e-2 * d + 1.675e-7 * d**2
        speed += -1.025e-2 * t * (s - 35) - 7.139e-13 * t * d**3
        fresh = polyval(t, [999.842594, 6.793952e-2, -9.095290e-3, 1.001685e-4, -1.120083e-6, 6.536332e-9])
        salt = polyval(t, [0.824493, -4.0899e-3, 7.6438e-5, -8.2467e-7, 5.3875e-9]) * s
        salt += polyval(t, [-5.72466e-3, 1.0227e-4, -1.6546e-6]) * s**1.5 + 4.8314e-4 * s**2
        return cls(float((fresh + salt) * (1 + 9.81 * d / speed**2)), float(speed))


def _within(value: float, low: float, high: float, name: str) -> float:
    """A real number between two others."""
    number = real_number(value, name)
    if not low <= number <= high:
        raise ValueError(f"{name} = {value!r}: the formulas hold from {low:g} to {high:g}")
    return number


def boundary_layer_number(value: float, name: str) -> float:
    """One of BOUNDARY_LAYER; ValueError for what is not positive, and for a ratio of heat capacities below 1."""
    number = positive_length(value, name)
    if name == "heat_capacity_ratio" and number < 1:
        raise ValueError(
            f"heat_capacity_ratio is that at constant pressure over that at constant volume, 1 or more, got {value!r}"
        )
    return number


def wave_constants(wavenumber: complex | None, frequency: float | None, fluid: Fluid) -> tuple[complex | float, float]:
    """k in 1/m with the loss of the fluid, and the frequency in Hz, from one of them; ValueError for a loss that is
    given twice."""
    given, loss = wavenumber, fluid.loss
    if given is not None:
        k = complex(wavenumber_of_a_wave(given))
        if loss and k.imag and not np.isclose(k.imag, k.real * loss, rtol=1e-9, atol=0):
            raise ValueError(f"the wavenumber {k:g} and the fluid, loss {loss:g}, both state a loss: give one of them")
        given, loss = k.real, loss or k.imag / k.real
    real, hertz = wavenumber_and_frequency(given, frequency, fluid.speed_of_sound)
    assert hertz is not None
    return (real * (1 + 1j * loss) if loss else real), hertz
