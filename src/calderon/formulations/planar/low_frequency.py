"""Metal between layers that is much smaller than the wavelength: loops and charges apart, see
`electromagnetic.low_frequency`, and conductances from powers where the currents do not hold them."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.formulations.electromagnetic.low_frequency import CurrentSplitting, SplitMatrix, near_inverse
from calderon.formulations.electromagnetic.power_balance import HELD, LEAST_ERROR
from calderon.formulations.planar.layered_currents import LayeredCurrents
from calderon.formulations.planar.planar_system import Bordered, Complex, DenseSystem
from calderon.formulations.preconditioners import sharing
from calderon.layers.sections import OPEN, Sections
from calderon.mesh.errors import AccuracyWarning
from calderon.solvers import gmres
from calderon.spaces import EdgeSpace
from calderon.validation import callers_level

APART = ", loops and charges apart"


class DenseSplit:
    """LU factors, of the matrices of currents alone and of currents with charges, which are lost."""

    error = 0.0

    def __init__(self, splitting: CurrentSplitting, currents: Complex, whole: Complex, why: str) -> None:
        self._splitting, self._system = splitting, DenseSystem(splitting.matrix(currents, whole), why)
        self.info = self._system.info + APART

    def __call__(self, sides: Complex) -> Complex:
        """Solutions (n, m) of right-hand sides."""
        return self._splitting.currents(self._system(self._splitting.sides(sides)))


class IterativeSplit:
    """GMRES, with the entries of functions that share a triangle as preconditioner."""

    def __init__(self, splitting: CurrentSplitting, currents: Bordered, whole: Bordered, rtol: float, why: str) -> None:
        self._splitting, self._matrices, self.error, self._why = splitting, (currents, whole), rtol, why
        self.info = f"{whole.operator}{why}{APART}"
        space: Any = splitting.graph.space
        self._inverse = near_inverse(splitting, *(near_entries(each, space) for each in self._matrices))

    def __call__(self, sides: Complex) -> Complex:
        """Solutions (n, m) of right-hand sides; ConvergenceError where the iteration fails."""
        found, record = np.zeros(sides.shape, complex), None
        for number, column in enumerate(sides.T):
            scaled = self._splitting.for_sides(column)
            matrix = SplitMatrix(*self._matrices, scaled)
            solution, record = gmres(matrix, scaled.sides(column), rtol=self.error, preconditioner=self._inverse)
            found[:, number] = scaled.currents(np.asarray(solution))
        self.info = f"{self._matrices[1].operator}{self._why}{APART}\n{record}"
        return found


def near_entries(matrix: Bordered, space: EdgeSpace) -> sp.csc_array:
    """The entries of functions that share a triangle."""
    first = matrix.operator.shape[0]
    flat, others = matrix.order[:first], matrix.order[first:]
    pattern = sharing(space).astype(bool).tocsr()
    i, j = pattern[flat][:, flat].tocoo().coords
    near = matrix.near[i, j]
    total = sp.coo_array((np.asarray(near).ravel(), (flat[i], flat[j])), pattern.shape)
    k, c = pattern[:, others].tocoo().coords
    border = sp.coo_array((matrix.columns[k, c], (k, others[c])), pattern.shape).tocsr()
    mirrored = border[flat].tocoo()
    below = sp.coo_array((mirrored.data, (mirrored.coords[1], flat[mirrored.coords[0]])), pattern.shape)
    return sp.csc_array(total.tocsc() + border.tocsc() + below.tocsc())


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
            warnings.warn(
                f"a conductance of {y.real.min():.2g} S next to an admittance of {abs(y).max():.2g} S is below the "
                "error of the solution, and negative: take method='dense', a smaller rtol, or a higher frequency",
                AccuracyWarning,
                stacklevel=callers_level(),
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
