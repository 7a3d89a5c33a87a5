"""Vector fields with nodal components, such as displacements: a scalar space for each component."""

from dataclasses import dataclass
from functools import cached_property
from numbers import Integral
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from calderon.mesh import TriangleMesh
from calderon.spaces.coefficients import function_in
from calderon.spaces.element import Element
from calderon.spaces.interning import interned
from calderon.spaces.projection import ProjectionSpace
from calderon.spaces.space import Space
from calderon.spaces.supports import Carriers, carriers_of
from calderon.spaces.vector_space import VectorData


@dataclass(frozen=True, eq=False)
class NodalVectorSpace(ProjectionSpace):
    """Fields phi_i e_c with the functions phi_i of a scalar space and the unit vectors e_c of `components` axes.

    Unknowns are interleaved: number components * i + c is that of component c at node i, so that the coefficients
    as a table (scalar.dimension, components) are the vectors at the nodes, and each pair of nodes has a small dense
    block in a matrix. Built by `P0`, `P1`, `DP1` and `P2` with `components=`.
    """

    scalar: Space
    components: int

    def __repr__(self) -> str:
        return f"{self.name}({self.components} x {self.scalar.dimension} functions on {len(self.triangles)} triangles)"

    @property
    def name(self) -> str:
        """The name of the scalar space."""
        return self.scalar.name

    @property
    def value_shape(self) -> tuple[int, ...]:
        """The shape of a value: (components,)."""
        return (self.components,)

    @property
    def mesh(self) -> TriangleMesh:
        """The surface."""
        return self.scalar.mesh

    @property
    def element(self) -> Element:
        """The scalar element of each component."""
        return self.scalar.element

    @property
    def triangles(self) -> NDArray[np.int64]:
        """(m,) numbers of the triangles of the support."""
        return self.scalar.triangles

    @property
    def dimension(self) -> int:
        """Number of functions: components times nodes."""
        return self.components * self.scalar.dimension

    @property
    def is_continuous(self) -> bool:
        """Whether the functions are continuous across edges."""
        return self.scalar.is_continuous

    @cached_property
    def dofs(self) -> NDArray[np.int64]:
        """(m, size * components): function of each local one, interleaved as the unknowns are; -1 for none."""
        numbers = self.components * self.scalar.dofs[:, :, None] + np.arange(self.components)
        return np.where(self.scalar.dofs[:, :, None] < 0, -1, numbers).reshape(len(self.triangles), -1)

    @cached_property
    def carriers(self) -> Carriers:
        """The triangles of each function."""
        return carriers_of(self.dofs, self.dimension)

    @cached_property
    def nodes(self) -> NDArray[np.float64]:
        """(dimension, 3) the node of each function."""
        return np.repeat(self.scalar.nodes, self.components, axis=0)

    def expansion(self, points: NDArray[np.float64]) -> list[sp.csr_array]:
        """For each component the (m * n, dimension) sparse matrix: coefficients to values at reference points (n, 2)
        of each triangle in turn."""
        one = self.scalar.expansion(points)
        shape = (one.shape[0], self.dimension)
        return [
            sp.csr_array((one.data, self.components * one.indices + c, one.indptr), shape)
            for c in range(self.components)
        ]

    def mass_matrix(self, test: "NodalVectorSpace | None" = None) -> sp.csr_array:
        """(test.dimension, dimension) sparse matrix int phi_i . psi_j, exact: a multiple of the unit matrix for each
        pair of nodes. ValueError for spaces on different mesh objects or of different components."""
        test = self if test is None else test
        if not isinstance(test, NodalVectorSpace) or test.components != self.components:
            raise ValueError(
                f"{self!r} pairs with fields of as many components, got {test!r}: "
                f"try P1(mesh, components={self.components})"
            )
        return sp.kron(self.scalar.mass_matrix(test.scalar), sp.eye_array(self.components), format="csr")

    def load_vector(self, data: VectorData, degree: int | None = None) -> NDArray[Any]:
        """(dimension,) integrals int data . phi_i e_c. `data` is a vector, f(x) or f(x, n) with points and normals
        (n, 3) and values (n, components).

        degree: of the quadrature rule, default 4 plus that of the space. Raises ValueError for values of a wrong shape
        or not finite.
        """
        return self.scalar.load_table(data, degree, self.value_shape).ravel()

    def interpolation(self, data: VectorData) -> Any:
        """The `Function` that equals `data` at the nodes; `data` as in `load_vector`."""
        return function_in(self, self.scalar.node_values(data, self.value_shape).ravel())

    def solve_mass(self, right_hand_side: NDArray[Any]) -> NDArray[Any]:
        given = np.asarray(right_hand_side)
        return self.scalar.solve_mass(given.reshape(self.scalar.dimension, -1)).reshape(given.shape)


def with_components(space: Space, components: int) -> "Space | NodalVectorSpace":
    """The space itself for one component, else that of fields with so many. TypeError for what is no integer,
    ValueError for less than one."""
    if not isinstance(components, Integral) or isinstance(components, bool):
        raise TypeError(f"components={components!r} is not an integer: 1 for scalar functions, 3 for displacements")
    if components < 1:
        raise ValueError(f"components={components}: a function has 1 component, a displacement 3")
    if components == 1:
        return space
    key = "components", int(components), id(space)
    return interned(space.mesh, key, lambda: NodalVectorSpace(space, int(components)))
