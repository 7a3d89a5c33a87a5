"""Constants of vacuum in SI units, and the complex permittivity of a conducting medium.

CODATA 2018 values, as in SciPy. With the time factor exp(-i omega t), curl H = -i omega eps E + sigma E gives
eps_r + i sigma / (omega eps_0).
"""

from typing import Any

import numpy as np
import scipy.constants
from numpy.typing import ArrayLike

from calderon.validation import positive_length, unmasked

SPEED_OF_LIGHT = scipy.constants.speed_of_light  # m/s
VACUUM_PERMITTIVITY = scipy.constants.epsilon_0  # F/m
VACUUM_PERMEABILITY = scipy.constants.mu_0  # H/m
VACUUM_IMPEDANCE = VACUUM_PERMEABILITY * SPEED_OF_LIGHT  # ohm


def conducting_permittivity(relative: ArrayLike, conductivity: ArrayLike, frequency: float) -> np.ndarray | complex:
    """eps_r + i sigma / (2 pi f eps_0), without unit: `conductivity` sigma in S/m, `frequency` f in Hz; broadcast."""
    given = {"relative": unmasked(relative, "relative"), "conductivity": unmasked(conductivity, "conductivity")}
    for name, kinds in (("relative", "fiuc"), ("conductivity", "fiu")):
        if given[name].dtype.kind not in kinds or not np.isfinite(given[name]).all():
            raise ValueError(f"{name} must be finite numbers, got {given[name]!r}")
    loss = given["conductivity"] / (2 * np.pi * positive_length(frequency, "frequency") * VACUUM_PERMITTIVITY)
    if not np.all(loss >= 0):
        raise ValueError(f"conductivity must not be negative, got {conductivity!r}")
    value = given["relative"] + 1j * loss
    return complex(value) if np.ndim(value) == 0 else np.asarray(value)


def permittivity_of(medium: Any, frequency: float) -> complex:
    """The relative permittivity of a material at a frequency in Hz: eps (1 + i tan delta) + i sigma / (omega eps_0),
    eps a number or a function of the frequency. ValueError for a function with gain."""
    return complex(conducting_permittivity(medium.permittivity_at(frequency), medium.conductivity, frequency))
