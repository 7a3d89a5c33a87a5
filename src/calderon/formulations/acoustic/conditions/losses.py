"""Slopes of the pressure at walls with boundary layers, by a sparse operator along them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.formulations.acoustic.conditions.boundary_layers import LayerThickness
from calderon.operators.algebra import SparseOperator
from calderon.operators.sparse_factors import SparseFactors
from calderon.spaces import Space

Complex = NDArray[np.complex128]


@dataclass(frozen=True, eq=False)
class Losses:
    """r = dp/dnu of walls with boundary layers, from the pressure on them,

        M r = -(1 + i)/2 (d_v L + (gamma - 1) d_t k^2 M) p,

    M the mass matrix and L that of Laplace and Beltrami; no flow crosses the edges of these walls.

    space: functions of r on these walls alone. whole (n,): the function of pressure that each is a part of. matrix (n,
    pressures): M r from p.
    """

    space: Space
    whole: NDArray[np.int64]
    matrix: sp.csr_array

    @staticmethod
    def of(part: Space, walls: Sequence[tuple[NDArray[np.int64], LayerThickness]], wavenumber: complex) -> "Losses":
        """part: functions of pressure on all such walls. walls: the triangles of each, and its boundary layers.
        wavenumber: k in 1/m."""
        whole = np.unique(part.dofs)
        space = replace(part, dofs=np.searchsorted(whole, part.dofs), dimension=len(whole))
        matrix = sp.csr_array((len(whole), len(whole)), dtype=np.complex128)
        for triangles, layers in walls:
            own = np.isin(space.triangles, triangles)
            wall = replace(space, triangles=space.triangles[own], dofs=space.dofs[own])
            matrix = matrix + layers.viscous * wall.laplace_beltrami_matrix()
            matrix = matrix + layers.heat * wavenumber**2 * wall.mass_matrix()
        columns = sp.csr_array((np.ones(len(whole)), (np.arange(len(whole)), whole)), (len(whole), part.dimension))
        return Losses(space, whole, (-(1 + 1j) / 2 * (matrix @ columns)).tocsr())

    def of_pressure(self, trial: Space, functions: NDArray[np.bool_]) -> SparseOperator | None:
        """M r as an operator of some functions of pressure, a mask (pressures,), the space `trial`; None where none of
        them is on these walls."""
        columns = self.matrix[:, np.flatnonzero(functions)]
        if not columns.nnz:
            return None
        return SparseOperator("boundary layers", columns, trial, self.space, str(SparseFactors.of(columns).key))

    def slopes(self, pressure: Complex) -> Complex:
        """The coefficients (n,) of r, from those of the pressure."""
        return np.asarray(self.space.solve_mass(self.matrix @ pressure))


def joined(parts: Sequence[tuple[Space, Complex]]) -> tuple[Any, Complex]:
    """One space of functions on parts of a surface without common triangles, and its coefficients."""
    if len(parts) == 1:
        return parts[0]
    starts = np.cumsum([0, *(space.dimension for space, _ in parts)])
    triangles = np.concatenate([space.triangles for space, _ in parts])
    dofs = np.concatenate([space.dofs + start for (space, _), start in zip(parts, starts[:-1], strict=True)])
    order = np.argsort(triangles, kind="stable")
    space = replace(parts[0][0], triangles=triangles[order], dofs=dofs[order], dimension=int(starts[-1]))
    return space, np.concatenate([coefficients for _, coefficients in parts])
