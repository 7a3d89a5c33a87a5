"""Resistances of antennas much smaller than the wavelength, from what they radiate.

The resistance of a coil without loss is (k a)^3 of its reactance, down to 1e-22 of it: below what a solution holds. The
far field holds it, since nothing large is taken from it.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from calderon.formulations.electromagnetic.antenna_solution import AntennaSolution
from calderon.quadrature.sphere import far_field_products

HELD = 1e3
"""Errors of a solution that the power of the feeds must exceed to be known to 0.1 %."""
LEAST_ERROR = 1e-15
NOTE = "resistances from the radiated power"


def balanced(solution: AntennaSolution) -> AntennaSolution:
    """The solution; where the power of its voltages and currents lies below its error, with feed currents that give
    what is radiated (the least change that does) and a note in `info`."""
    voltages, through = solution.voltages, solution.feed_currents
    error = max(solution.info.residual, LEAST_ERROR) * float(np.abs(voltages) @ np.abs(through)) / 2
    known = float(np.vdot(through, voltages).real) / 2
    if not voltages.any() or known >= HELD * error:
        return solution
    radiated = solution.radiated_power()
    step = 2 * (radiated - known) / float(np.vdot(voltages, voltages).real)
    info = replace(solution.info, method=f"{solution.info.method}, {NOTE}")
    return replace(solution, feed_currents=through + step * voltages, info=info, power=radiated)


def admittances(solutions: Sequence[AntennaSolution]) -> NDArray[np.complex128]:
    """Y (p, p) in S of the solutions for 1 V at one feed after the other; its conductances are Re int F_i . conj(F_j) /
    eta where the currents do not hold them."""
    found = np.stack([one.feed_currents for one in solutions], axis=1)
    if all(one.power is None for one in solutions):
        return found
    first = solutions[0].currents
    vertices = first.electric_currents[0].space.mesh.vertices
    products = far_field_products([one.far_field for one in solutions], vertices, first.wavenumber)
    return np.asarray(products.real / first.impedance.real + 1j * found.imag, np.complex128)
