"""Edge functions on tetrahedra by scikit-fem: the matrix of Maxwell's equations, and its trace in RWG."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.coupling.finite_elements import VolumeElements
from calderon.coupling.traces import trace
from calderon.coupling.volumes import scikit_fem, skfem_mesh, used_volume
from calderon.spaces import RWG, EdgeSpace
from calderon.spaces.edge.volume_edge_function import VolumeEdgeFunction


@dataclass(frozen=True, eq=False)
class EdgeElements(VolumeElements):
    """One function for each edge of the tetrahedra (Nedelec, the first kind)."""

    @classmethod
    def of(cls, volume: Any) -> "EdgeElements":
        """The functions on a volume, which is given as for `boundary`."""
        return cls(used_volume(volume))

    @cached_property
    def basis(self) -> Any:
        """The basis of scikit-fem, with a rule of degree 4."""
        skfem = scikit_fem()
        return skfem.Basis(skfem_mesh(self.volume), skfem.ElementTetN0(), intorder=4)

    @cached_property
    def space(self) -> EdgeSpace:
        """The functions of currents on the boundary."""
        return RWG(self.volume.surface())

    @cached_property
    def trace(self) -> sp.csr_array:
        """T (space.dimension, dimension): M = E x n on the boundary."""
        return trace(self.basis, self.space)

    def matrix(self, wavenumber: float, permittivity: NDArray[Any], permeability: NDArray[Any]) -> sp.csr_array:
        """int curl v . mu^-1 curl u - k^2 v . eps u with numbers (nt, q) at the points, or tensors (nt, q, 3, 3)."""
        inverse = 1 / permeability if permeability.ndim == 2 else np.linalg.inv(permeability)
        square = -(wavenumber**2) * permittivity
        return self._assembled(inverse, lambda u: u.curl) + self._assembled(square, lambda u: u)

    def _assembled(self, constant: NDArray[Any], part: Callable[[Any], Any]) -> sp.csr_array:
        """int (C u) . v of a part of functions, their values or curls."""

        def form(u: Any, v: Any, w: Any) -> Any:
            one, other = part(u), part(v)
            if constant.ndim == 2:
                return constant * (one * other).sum(axis=0)
            return np.einsum("nqij,jnq,inq->nq", constant, one, other)

        found = scikit_fem().BilinearForm(form, dtype=constant.dtype.type).assemble(self.basis)
        return sp.csr_array(found)

    @property
    def description(self) -> str:
        """A line for the text of a problem."""
        return f"{self.dimension} edges of {self.volume.number_of_tetrahedra} tetrahedra are eliminated"

    def function(self, coefficients: NDArray[Any], label: str, unit: str) -> VolumeEdgeFunction:
        """The function with these coefficients."""
        basis, mesh = self.basis, self.volume
        ends = np.sort(basis.mesh.edges.T, axis=1)
        values = coefficients[basis.edge_dofs[0]][np.lexsort(ends.T[::-1])]  # edges in lexicographic order
        return VolumeEdgeFunction(mesh.vertices, mesh.tetrahedra, 1, np.asarray(values, np.complex128), label, unit)
