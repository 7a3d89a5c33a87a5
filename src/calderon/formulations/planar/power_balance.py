"""Conductances of metal much smaller than the wavelength, from powers, where the currents do not hold them."""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.formulations.electromagnetic.power_balance import HELD, LEAST_ERROR
from calderon.formulations.planar.layered_currents import LayeredCurrents
from calderon.layers.sections import OPEN, Sections
from calderon.mesh.errors import warn_of_accuracy

Complex = NDArray[np.complex128]


def balanced(
    admittances: Complex, error: float, of: Callable[[NDArray[Any]], LayeredCurrents], local: sp.csr_array
) -> Complex:
    """Admittances (p, p) in S of a solution with a relative error; where a conductance is below that, all of them from
    what is radiated, carried by surface waves and lost in metal and loads: exact for the currents, unlike these.

    of: the currents for voltages (p,). local: real parts of sheet impedances and loads between functions, in ohm.
    AccuracyWarning for a negative conductance in layers with loss, whose part is not known apart.
    """
    y, ports = admittances.diagonal(), len(admittances)
    if np.all(y.real >= HELD * max(error, LEAST_ERROR) * np.abs(y)):
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
