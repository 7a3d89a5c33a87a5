"""The region around all others, from which waves come."""

from typing import Any

import numpy as np

from calderon.exact import SPEED_OF_LIGHT, VACUUM_IMPEDANCE
from calderon.exact.vacuum import permittivity_of
from calderon.formulations.checks import SAME_IMPEDANCE, wavenumber_and_frequency
from calderon.mesh import Material
from calderon.validation import positive_length


def constants_around(name: str, medium: Material, frequency: float | None) -> tuple[float, float]:
    """Refractive index and wave impedance in ohm of the region of that name; frequency in Hz, None where a wavenumber
    is given instead. ValueError for loss, and for a permittivity that depends on the frequency without one."""
    if frequency is None and callable(medium.permittivity):
        raise ValueError(
            f"the region {name!r} around all others has a permittivity that depends on the frequency: give frequency= "
            "instead of wavenumber="
        )
    # whether there is loss does not depend on the frequency
    epsilon = permittivity_of(medium, 1.0 if frequency is None else frequency)
    if epsilon.imag != 0:
        raise ValueError(
            f"the region {name!r} around all others has loss, the permittivity {epsilon:.4g}: waves come from far away "
            "there, choose a Material without loss"
        )
    index = float(np.sqrt(epsilon.real * medium.permeability))
    return index, VACUUM_IMPEDANCE * medium.permeability / index


def settled(
    name: str, medium: Material, wavenumber: Any, frequency: Any, impedance: float | None, is_fed: bool
) -> tuple[float, float | None, float | None]:
    """The wavenumber in 1/m, the frequency in Hz, and the impedance in ohm, of the region of that name with SI units
    (`is_fed`) if none is given. ValueError for values that do not fit the medium."""
    index, eta = constants_around(name, medium, frequency)
    if impedance is not None:
        positive_length(impedance, "the impedance of the medium, in ohm,")
    if is_fed:
        if impedance is not None and not np.isclose(impedance, eta, rtol=SAME_IMPEDANCE, atol=0):
            raise ValueError(f"impedance={impedance:g} ohm, and the region around has {eta:.6g} ohm: leave it out, or "
                             "give wavenumber= without ports")  # fmt: skip
        impedance = eta
    k, hertz = wavenumber_and_frequency(wavenumber, frequency, SPEED_OF_LIGHT / index, "speed of light")
    if np.imag(k) != 0:
        raise ValueError(f"the region around all others has a real wavenumber, got {wavenumber!r}")
    return float(np.real(k)), hertz, impedance
