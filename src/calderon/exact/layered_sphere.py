"""A layered sphere of named materials in vacuum, in SI units."""

from collections.abc import Mapping
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike

from calderon.exact.mie import MieScattering, mie_layered_sphere
from calderon.exact.vacuum import SPEED_OF_LIGHT, VACUUM_IMPEDANCE, conducting_permittivity
from calderon.validation import positive_length


class Medium(Protocol):
    """Relative permittivity and permeability, conductivity in S/m."""

    permittivity: float
    permeability: float
    conductivity: float


def layered_sphere(
    radii: ArrayLike,
    materials: Mapping[str, Medium],
    frequency: float,
    direction: ArrayLike = (0, 0, 1),
    polarization: ArrayLike = (1, 0, 0),
    amplitude: complex = 1.0,
) -> MieScattering:
    """Concentric layers in a plane wave: radii in m and materials from the inside out, frequency in Hz, amplitude in
    V/m; direction and polarization as for `mie_layered_sphere`."""
    omega = 2 * np.pi * positive_length(frequency, "frequency")
    layers = list(materials.values())
    return mie_layered_sphere(
        omega / SPEED_OF_LIGHT,
        radii,
        [complex(conducting_permittivity(each.permittivity, each.conductivity, frequency)) for each in layers],
        [each.permeability for each in layers],
        direction=direction,
        polarization=polarization,
        amplitude=amplitude,
        impedance=VACUUM_IMPEDANCE,
    )
