"""The region around all others, from which waves come."""

import numpy as np

from calderon.exact import VACUUM_IMPEDANCE
from calderon.exact.vacuum import permittivity_of
from calderon.mesh import Material


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
