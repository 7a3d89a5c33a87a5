"""Matrices of the reference tetrahedron: derivatives, face masses lifted into the volume, interpolation."""

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
from numpy.typing import NDArray

from calderon.dg.operator.nodes import multi_indices, orthonormal_basis, tetrahedron_nodes
from calderon.quadrature import triangle_rule

ORDERS = range(1, 7)
OUTWARD = np.array([[1.0, 1, 1], [-1, 0, 0], [0, -1, 0], [0, 0, -1]])
"""Minus the gradient of the barycentric coordinate that vanishes on each face: the outward normal, scaled."""

EDGES_TO_CURL = np.array(
    [[[-1.0, 1], [0, -1], [1, 0]], [[0, 0], [0, 1], [-1, 0]], [[0, -1], [0, 0], [1, 0]], [[0, 1], [-1, 0], [0, 0]]]
)
"""(4, 3, 2): eps_klm OUTWARD_l s_m of each face for the two tangential components s that are kept of it."""


@dataclass(frozen=True, eq=False)
class ReferenceTetrahedron:
    """Polynomials of degree `order` on the unit tetrahedron by their values at n nodes.

    Faces are opposite the vertices 0 = origin, 1, 2, 3 on the axes; m nodes lie on each. A field has covariant
    components e_i = E . (v_i - v_0); with c^k = eps_klm (sum D_l e_m + sum over faces OUTWARD_l lift s_m), s the
    numerical trace less the own one, (curl E) . (v_i - v_0) = g_ik c^k / J. Source: J. Hesthaven and T.
    Warburton, Nodal Discontinuous Galerkin Methods (Springer, 2008), chapter 10.
    """

    order: int

    @property
    def size(self) -> int:
        """n = (order + 1)(order + 2)(order + 3) / 6."""
        return len(self.nodes)

    @property
    def face_size(self) -> int:
        """m = (order + 1)(order + 2) / 2."""
        return self.face_nodes.shape[1]

    @cached_property
    def nodes(self) -> NDArray[np.float64]:
        """(n, 3)."""
        return tetrahedron_nodes(self.order)

    @cached_property
    def face_nodes(self) -> NDArray[np.int64]:
        """(4, m) numbers of the nodes on each face, in the same order for every face with respect to its vertices in
        ascending order: two tetrahedra whose vertices are sorted by their numbers list a shared face alike."""
        indices = np.array(multi_indices(self.order))
        faces = []
        for opposite in range(4):
            on = np.flatnonzero(indices[:, opposite] == 0)
            others = np.delete(indices[on], opposite, axis=1)
            faces.append(on[np.lexsort(others.T)])
        return np.array(faces)

    @cached_property
    def vandermonde(self) -> NDArray[np.float64]:
        """(n, n) orthonormal polynomials at the nodes."""
        return orthonormal_basis(self.nodes, self.order)[0]

    @cached_property
    def mass(self) -> NDArray[np.float64]:
        """(n, n) integrals of products over the unit tetrahedron (volume 1/6)."""
        inverse = np.linalg.inv(self.vandermonde)
        return inverse.T @ inverse

    @cached_property
    def derivatives(self) -> NDArray[np.float64]:
        """(3, n, n): values at the nodes to derivatives at the nodes."""
        gradients = orthonormal_basis(self.nodes, self.order)[1]
        return gradients @ np.linalg.inv(self.vandermonde)

    @cached_property
    def face_mass(self) -> NDArray[np.float64]:
        """(m, m) integrals of products over a unit triangle (area 1/2): the same for all faces."""
        on = self.nodes[self.face_nodes[3]]  # the face z = 0
        values = _triangle_basis(on[:, :2], self.order)
        inverse = np.linalg.inv(values)
        return inverse.T @ inverse

    @cached_property
    def lift(self) -> NDArray[np.float64]:
        """(4, n, m): the inverse mass matrix times the integrals over each face."""
        inverse = self.vandermonde @ self.vandermonde.T
        return np.array([inverse[:, on] @ self.face_mass for on in self.face_nodes])

    @cached_property
    def centred_derivatives(self) -> NDArray[np.float64]:
        """(3, n, n) derivatives less the own half of the centred flux on all faces."""
        result = self.derivatives.copy()
        for face, on in enumerate(self.face_nodes):
            for axis in range(3):
                result[axis][:, on] -= OUTWARD[face, axis] / 2 * self.lift[face]
        return result

    def interpolation(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """(q, n): values at the nodes to values at points (q, 3)."""
        return orthonormal_basis(points, self.order)[0] @ np.linalg.inv(self.vandermonde)


@cache
def reference_tetrahedron(order: int) -> ReferenceTetrahedron:
    """The matrices of an order from 1 to 6. ValueError for another one."""
    if order not in ORDERS:
        raise ValueError(f"order={order!r}: choose a whole number from 1 to 6")
    return ReferenceTetrahedron(int(order))


def _triangle_basis(points: NDArray[np.float64], order: int) -> NDArray[np.float64]:
    """(q, m) values at points (q, 2) of m polynomials orthonormal on the unit triangle."""

    def legendre(x: NDArray[np.float64]) -> NDArray[np.float64]:
        first, second = (np.polynomial.legendre.legvander(2 * each - 1, order) for each in x.T)
        return np.stack([first[:, a] * second[:, b] for a in range(order + 1) for b in range(order + 1 - a)], axis=1)

    rule = triangle_rule(2 * order)
    upper = np.linalg.qr(np.sqrt(rule.weights)[:, None] * legendre(rule.points))[1]
    return np.asarray(np.linalg.solve(upper.T, legendre(points).T).T)
