"""Conductors with handles: the net currents around them, which the magnetic equation does not see at low frequency.

At k = 0 a current J that flows around a ring and keeps its field out of the metal solves (I/2 - K) J = 0: the flux
through the hole, which determines it, is known to the electric equation alone, in which it has the factor k. The
combined equation therefore loses one net current for each handle, as soon as k d is below the error of its identity.
Here the electric equation on loops l around handles, without that factor,

    <l, A J> = -<l, E_inc> / (ik),   A = T / (ik) without charges, for <l, div J> = 0,

is added with the weight of the identity. Both hold for the exact current, at every frequency.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.formulations.linear_system import ThinTerm
from calderon.formulations.loops.scales import part_diameters
from calderon.operators import electric_field
from calderon.spaces import EdgeSpace
from calderon.spaces.edge.loops import FlowGraph

HANDLES_BELOW = 5.0
"""k times diameter of bodies from which the magnetic equation finds net currents as well as others."""


def loops_of_handles(space: EdgeSpace, wavenumber: float) -> sp.csr_array:
    """(dimension, m) coefficients of currents around the handles of parts of a surface with k times diameter below
    HANDLES_BELOW: two for each handle."""
    graph = FlowGraph.of(space)
    loops, sizes = graph.long_loops().tocsc(), wavenumber * part_diameters(graph)
    small = np.array([sizes[loops.indices[begin]] < HANDLES_BELOW for begin in loops.indptr[:-1]], bool)
    return loops[:, small].tocsr()


@dataclass(frozen=True, eq=False)
class Handles:
    """The equations of net currents in a space.

    loops: (dimension, m) coefficients of the currents l. pairing: <t, f> of its functions with those that test the
    magnetic equation. weight: of the latter. wavenumber: k.
    """

    space: EdgeSpace
    loops: sp.csr_array
    pairing: sp.csr_array
    weight: float
    wavenumber: float

    @cached_property
    def _fluxes(self) -> NDArray[np.complex128]:
        """(m, dimension) <l, A f>."""
        total = np.zeros(self.loops.shape[::-1], np.complex128)
        field = electric_field(self.wavenumber, self.space, charges=False)
        rows = np.flatnonzero(np.diff(self.loops.indptr))
        for n in range(0, len(rows), 256):
            part = rows[n : n + 256]
            total += self.loops[part].T @ field.entries(part, slice(None))
        return total / (1j * self.wavenumber)

    @cached_property
    def _currents(self) -> NDArray[np.complex128]:
        """(dimension, m) what the equations are multiplied with: the currents l that have unit fluxes, as the magnetic
        equation tests them."""
        strength = 10.0  # divides the error of the magnetic equation in net currents, for as large a condition number
        inductances = self._fluxes @ self.loops
        return np.asarray(self.pairing @ (self.loops @ (strength * self.weight * np.linalg.inv(inductances))))

    def term(self) -> ThinTerm:
        """The term that is added to the matrix."""
        return ThinTerm(f"the electric field along {self.loops.shape[1]} loops", self._currents, self._fluxes.T)

    def load(self, electric: NDArray[Any]) -> NDArray[Any]:
        """The vector that is added to right-hand sides, from <f, E_inc> (dimension, ...)."""
        return np.asarray(self._currents @ (self.loops.T @ electric) / (-1j * self.wavenumber))
