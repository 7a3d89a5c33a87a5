"""Finite elements on tetrahedra by scikit-fem: matrices of a second-order equation, and traces on its boundary."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.coupling.traces import trace
from calderon.coupling.volumes import scikit_fem, skfem_mesh, used_volume
from calderon.mesh import TetrahedralMesh
from calderon.spaces import P1, P2, Space
from calderon.spaces.volume_function import VolumeFunction

DEGREES = {"P1": 1, "P2": 2}
"""The degree of the functions by the name of their space on the surface."""


@dataclass(frozen=True, eq=False)
class VolumeElements:
    """Functions on the tetrahedra of a volume without unused vertices, by a `basis` of scikit-fem."""

    volume: TetrahedralMesh

    basis: ClassVar[Any]

    @property
    def dimension(self) -> int:
        """Number of functions in the volume."""
        return int(self.basis.N)

    @property
    def points(self) -> NDArray[np.float64]:
        """(nt, q, 3) points of quadrature."""
        return np.moveaxis(np.asarray(self.basis.global_coordinates()), 0, -1)


@dataclass(frozen=True, eq=False)
class FiniteElements(VolumeElements):
    """Continuous functions of a degree, 1 or 2, on tetrahedra."""

    degree: int

    @classmethod
    def of(cls, volume: Any, degree: int) -> "FiniteElements":
        """The functions of a degree on a volume, which is given as for `boundary`."""
        return cls(used_volume(volume), degree)

    @cached_property
    def basis(self) -> Any:
        """The basis of scikit-fem, with a rule of degree 2 p + 2."""
        skfem = scikit_fem()
        element = skfem.ElementTetP1() if self.degree == 1 else skfem.ElementTetP2()
        return skfem.Basis(skfem_mesh(self.volume), element, intorder=2 * self.degree + 2)

    @cached_property
    def space(self) -> Space:
        """The functions of the same degree on the boundary."""
        return (P1 if self.degree == 1 else P2)(self.volume.surface())

    @cached_property
    def slopes(self) -> Space:
        """The space of normal derivatives on the boundary: linear functions, which are as accurate as quadratic ones
        on flat triangles, between which the normal jumps."""
        return P1(self.volume.surface())

    @cached_property
    def inclusion(self) -> sp.csr_array:
        """(space.dimension, slopes.dimension): `slopes` as functions of `space`."""
        space, kept = self.space, self.space.dofs.ravel()
        first = np.unique(kept, return_index=True)[1]
        return self.slopes.expansion(space.element.nodes)[first]

    @cached_property
    def pairing(self) -> sp.csr_array:
        """M (space.dimension, slopes.dimension), integrals of the functions on the boundary with `slopes`."""
        return self.slopes.mass_matrix(self.space)

    def robin(self, eta: complex) -> sp.csr_array:
        """R (slopes.dimension, space.dimension): values over eta as `slopes`, by the sums of their mass matrix, so that
        it is sparse; M R is symmetric."""
        return sp.csr_array(sp.diags_array(1 / (eta * self.slopes.mass_matrix().sum(axis=1))) @ self.pairing.T)

    @cached_property
    def trace(self) -> sp.csr_array:
        """T (space.dimension, dimension): values on the boundary."""
        return trace(self.basis, self.space)

    def stiffness(self, a: NDArray[Any]) -> sp.csr_array:
        """int a grad u . grad v with values a (nt, q) at the points, or tensors (nt, q, 3, 3)."""

        def form(u: Any, v: Any, w: Any) -> Any:
            if a.ndim == 2:
                return a * (u.grad * v.grad).sum(axis=0)
            return np.einsum("nqij,jnq,inq->nq", a, u.grad, v.grad)

        return self._assembled(form, a.dtype)

    def mass(self, n: NDArray[Any]) -> sp.csr_array:
        """int n u v with values n (nt, q) at the points."""
        return self._assembled(lambda u, v, w: n * u * v, n.dtype)

    def _assembled(self, form: Any, dtype: np.dtype[Any]) -> sp.csr_array:
        return sp.csr_array(scikit_fem().BilinearForm(form, dtype=dtype.type).assemble(self.basis))

    def load(self, density: NDArray[Any]) -> NDArray[Any]:
        """int f v with values f (nt, q) at the points."""
        return np.asarray(
            scikit_fem().LinearForm(lambda v, w: density * v, dtype=density.dtype.type).assemble(self.basis)
        )

    def flux_load(self, field: NDArray[Any]) -> NDArray[Any]:
        """int f . grad v with vectors f (nt, q, 3) at the points."""
        parts = np.moveaxis(field, -1, 0)
        form = scikit_fem().LinearForm(lambda v, w: (parts * v.grad).sum(axis=0), dtype=field.dtype.type)
        return np.asarray(form.assemble(self.basis))

    @property
    def description(self) -> str:
        """A line for the text of a problem."""
        return f"{self.dimension} unknowns in {self.volume.number_of_tetrahedra} tetrahedra are eliminated"

    def function(self, coefficients: NDArray[Any], label: str, unit: str) -> VolumeFunction:
        """The function with these coefficients."""
        basis, mesh = self.basis, self.volume
        values = coefficients[basis.nodal_dofs[0]]
        if self.degree == 2:  # edges in lexicographic order
            ends = np.sort(basis.mesh.edges.T, axis=1)
            values = np.concatenate([values, coefficients[basis.edge_dofs[0]][np.lexsort(ends.T[::-1])]])
        return VolumeFunction(mesh.vertices, mesh.tetrahedra, self.degree, np.asarray(values), label, unit)


def matrices(volume: Any) -> tuple[sp.csr_array, sp.csr_array]:
    """Stiffness and mass matrix (nv, nv) of linear tetrahedra, int grad phi_i . grad phi_j and int phi_i phi_j.

    volume: as for `boundary`; function i belongs to its vertex i. A vertex of no tetrahedron has rows of zeros.
    """
    skfem = scikit_fem()
    basis = skfem.Basis(skfem_mesh(volume), skfem.ElementTetP1(), intorder=2)
    stiffness = skfem.BilinearForm(lambda u, v, w: (u.grad * v.grad).sum(axis=0)).assemble(basis)
    mass = skfem.BilinearForm(lambda u, v, w: u * v).assemble(basis)
    return sp.csr_array(stiffness), sp.csr_array(mass)
