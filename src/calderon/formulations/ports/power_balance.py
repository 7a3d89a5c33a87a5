"""Resistances of antennas much smaller than the wavelength, from what they radiate.

The resistance of a coil without loss is (k a)^3 of its reactance, down to 1e-22 of it: below what a solution holds. The
far field holds it, since nothing large is taken from it.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.formulations.electromagnetic.antenna_solution import AntennaSolution
from calderon.formulations.planar.layered_currents import LayeredCurrents
from calderon.layers.sections import OPEN, Sections
from calderon.mesh.errors import warn_of_accuracy
from calderon.quadrature.sphere import far_field_products

Complex = NDArray[np.complex128]


def least_known(error: float) -> float:
    """The part of a quantity of a solution with that relative error that is known to 0.1 %."""
    return 1e3 * max(error, 1e-15)


def balanced(solution: AntennaSolution) -> AntennaSolution:
    """The solution; where the power of its voltages and currents lies below its error, with feed currents that give
    what is radiated (the least change that does) and a note in `info`."""
    voltages, through = solution.voltages, solution.feed_currents
    largest = float(np.abs(voltages) @ np.abs(through)) / 2
    known = float(np.vdot(through, voltages).real) / 2
    if not voltages.any() or known >= least_known(solution.info.residual) * largest:
        return solution
    radiated = solution.radiated_power()
    step = 2 * (radiated - known) / float(np.vdot(voltages, voltages).real)
    info = replace(solution.info, method=f"{solution.info.method}, resistances from the radiated power")
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
    return np.asarray(first.share * products.real / first.impedance.real + 1j * found.imag, np.complex128)


def balanced_admittances(
    admittances: Complex, error: float, of: Callable[[NDArray[Any]], LayeredCurrents], local: sp.csr_array
) -> Complex:
    """Admittances (p, p) in S of a solution with a relative error; where a conductance is below that, all of them from
    what is radiated, carried by surface waves and lost in metal and loads: exact for the currents, unlike these.

    of: the currents for voltages (p,). local: real parts of sheet impedances and loads between functions, in ohm.
    AccuracyWarning for a negative conductance in layers with loss, whose part is not known apart.
    """
    y, ports = admittances.diagonal(), len(admittances)
    if np.all(y.real >= least_known(error) * np.abs(y)):
        return admittances
    if not _is_lossless(of(np.eye(ports)[0]).sections):
        if y.real.min() < 0:
            warn_of_accuracy(
                f"a conductance of {y.real.min():.2g} S next to an admittance of {abs(y).max():.2g} S is below the "
                "error of the solution, and negative: take method='dense', a smaller rtol, or a higher frequency"
            )
        return admittances

    def power(voltages: NDArray[Any]) -> float:
        currents = of(voltages)
        x = currents.surface.coefficients
        return currents.radiated_power() + currents.carried_power() + float(np.vdot(x, local @ x).real) / 2

    unit = np.eye(ports)
    own = np.array([power(each) for each in unit])
    both = [[power(unit[i] + unit[j]) if i < j else 0.0 for j in range(ports)] for i in range(ports)]
    mutual = np.triu(np.array(both) - own - own[:, None], 1)
    return np.asarray(2 * np.diag(own) + mutual + mutual.T + 1j * admittances.imag)


def _is_lossless(sections: Sections) -> bool:
    walls = sections.walls[sections.ends != OPEN]
    return not (sections.eps.imag.any() or sections.mu.imag.any() or walls.real.any())
