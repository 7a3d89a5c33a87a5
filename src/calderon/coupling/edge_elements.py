"""Edge functions on tetrahedra by scikit-fem: the matrix of Maxwell's equations, and its trace in RWG."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.coupling.finite_elements import VolumeElements, mirrored_volume
from calderon.coupling.traces import trace
from calderon.coupling.volumes import scikit_fem, skfem_mesh
from calderon.formulations.mirrors import Mirrors
from calderon.spaces import RWG, EdgeSpace
from calderon.spaces.edge.volume_edge_function import VolumeEdgeFunction
from calderon.spaces.mirror_images import MirroredFunctions


@dataclass(frozen=True, eq=False)
class EdgeElements(VolumeElements):
    """One function for each edge of the tetrahedra (Nedelec, the first kind). Electric fields have the parity of
    electric currents J in mirrors, E(R x) = p R E(x), and M = E x n the opposite one."""

    @classmethod
    def of(cls, volume: Any, mirrors: Mirrors = None) -> "EdgeElements":
        """The functions on a volume, which is given as for `boundary`. mirrors: as of `MirroredSurface.of`."""
        return cls(*mirrored_volume(volume, mirrors, of_currents=True))

    @cached_property
    def basis(self) -> Any:
        """The basis of scikit-fem, with a rule of degree 4."""
        skfem = scikit_fem()
        return skfem.Basis(skfem_mesh(self.volume), skfem.ElementTetN0(), intorder=4)

    @cached_property
    def space(self) -> EdgeSpace:
        """The functions of currents on the whole boundary."""
        return RWG(self.surface.whole)

    @cached_property
    def values(self) -> MirroredFunctions:
        """The functions of M that have unknowns."""
        return MirroredFunctions.of(self.space, self.surface.mirrored, self.surface.opposite)

    @cached_property
    def currents(self) -> MirroredFunctions:
        """The functions of J that have unknowns."""
        return self.surface.functions(self.space)

    @cached_property
    def free(self) -> NDArray[np.int64]:
        """The functions in the volume that are not zero by mirrors: those along edges in an odd one are."""
        kept, mirrored = np.ones(self.dimension, bool), self.surface.mirrored
        if mirrored is not None:
            ends = self.volume.vertices[self.basis.mesh.edges.T]
            for k in 2 ** np.arange(len(mirrored.planes)):  # the images by one mirror
                if self.surface.parities[k] < 0:
                    inside = (ends[:, :, np.flatnonzero(mirrored.signs[k] < 0)[0]] == 0).all(axis=1)
                    kept[self.basis.edge_dofs[0][inside]] = False
        return np.flatnonzero(kept)

    @cached_property
    def trace(self) -> sp.csr_array:
        """T (values.dimension, free functions): M = E x n on the boundary."""
        if self.surface.mirrored is None:
            return trace(self.basis, self.space)
        # each function by its triangle on the part, on which it may be -
        sides, number = self.space.sides[self.values.functions], self.surface.part.number_of_triangles
        first = sides[:, 0] // 3 < number
        own = np.where(first, sides[:, 0], sides[:, 1])
        part = replace(self.space, triangles=np.unique(own // 3), sides=np.stack([own, np.full(len(own), -1)], axis=1))
        signs = sp.diags_array(np.where(first, 1.0, -1.0))
        return sp.csr_array((signs @ trace(self.basis, part))[:, self.free])

    def matrix(self, wavenumber: float, permittivity: NDArray[Any], permeability: NDArray[Any]) -> sp.csr_array:
        """int curl v . mu^-1 curl u - k^2 v . eps u with numbers (nt, q) at the points, or tensors (nt, q, 3, 3)."""
        inverse = 1 / permeability if permeability.ndim == 2 else np.linalg.inv(permeability)
        square = -(wavenumber**2) * permittivity
        found = self._assembled(inverse, lambda u: u.curl) + self._assembled(square, lambda u: u)
        return found if self.surface.mirrored is None else sp.csr_array(found[self.free][:, self.free])

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
        """The function with these coefficients of the free functions, with its images in mirrors, but for those beyond
        the plane of a half space."""
        basis, mesh, whole = self.basis, self.volume, np.zeros(self.dimension, np.complex128)
        whole[self.free] = coefficients
        ends = np.sort(basis.mesh.edges.T, axis=1)
        values = whole[basis.edge_dofs[0]][np.lexsort(ends.T[::-1])]  # edges in lexicographic order
        part = VolumeEdgeFunction(mesh.vertices, mesh.tetrahedra, 1, values, label, unit)
        images = self.images
        return part if images is None else part.with_images(images, self.surface.parities)

    def constants_of_images(self, values: NDArray[Any]) -> NDArray[Any]:
        """Numbers (m nt,), or tensors (m nt, 3, 3), of the tetrahedra with their images from those of the part."""
        images = self.images
        if images is None:
            return values
        if values.ndim == 1:
            return np.tile(values, len(images.signs))
        return np.concatenate([values * np.outer(sign, sign) for sign in images.signs])
