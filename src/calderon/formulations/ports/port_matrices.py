"""Impedances and scattering matrices of the ports of a problem, from their admittances."""

from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from calderon.formulations.options import SolveChoices, named_options
from calderon.formulations.ports.feeds import reference_resistance
from calderon.formulations.ports.power_waves import scattering


class PortMatrices:
    """Matrices that follow from `admittance_matrix` of a problem with ports."""

    admittance_matrix: Any

    @named_options
    def impedance_matrix(self, **options: Unpack[SolveChoices]) -> NDArray[np.complex128]:
        """Z = Y^-1 (p, p) in ohm: U = Z I; options as in `solve`."""
        return np.asarray(np.linalg.inv(self.admittance_matrix(**options)), np.complex128)

    @named_options
    def scattering_matrix(self, reference: float = 50.0, **options: Unpack[SolveChoices]) -> NDArray[np.complex128]:
        """S = (1 - R Y)(1 + R Y)^-1 (p, p) for lines of the impedance R = `reference` in ohm at all ports, for
        exp(-i omega t): textbooks with exp(j omega t) have the conjugate. Options as in `solve`."""
        return scattering(self.admittance_matrix(**options), reference_resistance(reference))
