"""The electric field equation of surfaces much smaller than the wavelength, with loops and charges apart.

T = ik (A - V / k^2): V of the charges, which currents without charges do not have, exceeds A by 1 / (k h)^2, h the
edges, so that rounding and iterations lose what flows in loops. With the projection Q onto currents that carry charges
(`spaces.loops`) and P = 1 - Q, V P = 0 and P^T V = 0 are taken out before they are computed, and with J = (P + b Q) x,
rows of the charges times a, a b = s^2 = (k h / 2)^2,

    [P^T A P, b P^T A Q; a Q^T A P, s^2 Q^T (A - V / k^2) Q]

has a condition that does not depend on k: A from integrals without charges, what charges see from T. a is the ratio of
the parts P^T g and Q^T g of the right-hand side g, from s^2 to 1, so that an iteration resolves both kinds of currents,
for voltages around loops (a = 1) as for plane waves (k h) and voltages between ends (s^2).

F. P. Andriulli, K. Cools, I. Bogaert, E. Michielssen, IEEE Trans. Antennas Propag. 61 (2013) 2077.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from calderon.formulations.scaling import Scaling
from calderon.solvers import sparse_inverse
from calderon.spaces.edge.loops import FlowGraph

SMALL = 0.5
"""Wavenumber times diameter below which loops and charges are kept apart: there the iterations of the plain equation
begin to grow like 1 / (k h)^2."""
COLUMNS = 256
"""Columns of a matrix that are projected together."""
Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class CurrentSplitting(Scaling):
    """Unknowns x of currents J = (P + b Q) x, and rows of charges times a, with a b = size^2."""

    graph: FlowGraph
    size: float
    rows: float

    @property
    def columns(self) -> float:
        """b."""
        return self.size**2 / self.rows

    def tested(self, rhs: Array) -> Array:
        """Right-hand sides (n, m) of the rows, from integrals against the functions."""
        loops, charged = _parts(rhs, self.graph.charging_transposed)
        return np.asarray(loops + self.rows * charged)

    def found(self, solution: Array) -> Array:
        """Coefficients (n, m) of currents."""
        loops, charged = _parts(solution, self.graph.charging)
        return np.asarray(loops + self.columns * charged)

    def for_sides(self, tested: Array) -> "CurrentSplitting":
        """The rows scaled for a right-hand side, to the next power of ten, so that few differ."""
        charged = self.graph.charging_transposed(tested)
        loops, charges = np.linalg.norm(tested - charged), np.linalg.norm(charged)
        ratio = float(loops / charges) if charges > loops else 1.0
        least = self.size**2
        return replace(self, rows=least if ratio <= least else min(1.0, 10.0 ** round(np.log10(ratio))))

    def array(self, currents: Array, whole: Array) -> Array:
        """The matrix (n, n) for a = b, from those of currents alone and of currents with charges, which are lost."""
        whole -= currents
        self._project(whole, lambda block, charged: charged)
        whole *= self.size**2
        self._project(currents, lambda block, charged: (block - charged) + self.size * charged)
        currents += whole
        return currents

    def _project(self, matrix: Array, combined: Any) -> None:
        for turned in (matrix, matrix.T):
            for low in range(0, len(matrix), COLUMNS):
                part = np.ascontiguousarray(turned[:, low : low + COLUMNS])
                turned[:, low : low + COLUMNS] = combined(part, self.graph.charging_transposed(part))


def _parts(values: Array, projected: Callable[[Array], Array]) -> tuple[Array, Array]:
    """P v and Q v; twice, so that P v has no more of charges than rounding leaves of a part of s^2."""
    charged = projected(values)
    loops = values - charged
    return loops - projected(loops), charged


def splitting_of(space: Any, wavenumber: float) -> CurrentSplitting:
    """The splitting of a space of edge functions with a = b = k h / 2, h the mean edge."""
    size = 0.5 * wavenumber * space.mesh.mean_edge_length
    return CurrentSplitting(FlowGraph.of(space), size, size)


class SplitMatrix(LinearOperator):
    """The matrix of rows and columns of loops and of charges, of two matrices that are stored in any way."""

    def __init__(self, currents: Any, whole: Any, splitting: CurrentSplitting) -> None:
        super().__init__(dtype=np.dtype(np.complex128), shape=whole.shape)
        self.currents, self.whole, self.splitting = currents, whole, splitting

    def _matmat(self, x: Array) -> Array:
        graph, b = self.splitting.graph, self.splitting.columns
        charged = graph.charging(x)
        both = self.currents @ np.concatenate([x - charged, charged], axis=1)
        of_loops, of_charges = np.split(np.asarray(both), 2, axis=1)
        seen_by_loops, seen_by_charges = of_loops + b * of_charges, of_loops + b * (self.whole @ charged)
        loops = _parts(seen_by_loops, graph.charging_transposed)[0]
        return np.asarray(loops + self.splitting.rows * graph.charging_transposed(seen_by_charges))

    def _matvec(self, x: Array) -> Array:
        return self._matmat(x.reshape(-1, 1)).ravel()

    def __str__(self) -> str:
        return f"{self.whole}, loops and charges apart"


class SplitArray(LinearOperator):
    """The matrix of loops and charges for a = b as an array, for LU factors."""

    def __init__(self, array: Array, whole: str) -> None:
        super().__init__(dtype=array.dtype, shape=array.shape)
        self._array, self.whole = array, whole

    def to_array(self) -> Array:
        """The entries themselves."""
        return self._array

    toarray = to_array

    def _matmat(self, x: Array) -> Array:
        return np.asarray(self._array @ x)

    _matvec = _matmat

    def __str__(self) -> str:
        return f"{self.whole}, loops and charges apart"


def near_inverse(splitting: CurrentSplitting, currents: sp.csc_array, whole: sp.csc_array) -> LinearOperator:
    """P (near entries of currents alone)^-1 P^T + Q (near entries of currents with charges)^-1 Q^T / s^2."""
    loops, charges = sparse_inverse(currents), sparse_inverse(whole)
    graph, scale = splitting.graph, splitting.size**-2

    def product(x: Array) -> Array:
        columns = x.reshape(len(x), -1)
        charged = graph.charging_transposed(columns)
        of_loops, of_charges = np.asarray(loops @ (columns - charged)), np.asarray(charges @ charged)
        return np.asarray(of_loops - graph.charging(of_loops) + scale * graph.charging(of_charges)).reshape(x.shape)

    return LinearOperator(currents.shape, matvec=product, matmat=product, dtype=np.dtype(np.complex128))
