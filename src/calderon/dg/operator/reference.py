"""The reference tetrahedron 0 <= x, y, z, x + y + z <= 1: interpolation nodes, orthonormal polynomials, derivatives,
face masses lifted into the volume."""

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
import scipy
from numpy.polynomial.legendre import Legendre
from numpy.typing import NDArray

from calderon.quadrature import triangle_rule

OUTWARD = np.array([[1.0, 1, 1], [-1, 0, 0], [0, -1, 0], [0, 0, -1]])
"""Minus the gradient of the barycentric coordinate that vanishes on each face: the outward normal, scaled."""

EDGES_TO_CURL = np.array(
    [[[-1.0, 1], [0, -1], [1, 0]], [[0, 0], [0, 1], [-1, 0]], [[0, -1], [0, 0], [1, 0]], [[0, 1], [-1, 0], [0, 0]]]
)
"""(4, 3, 2): eps_klm OUTWARD_l s_m of each face for the two tangential components s that are kept of it."""


@cache
def lobatto(order: int) -> tuple[float, ...]:
    """The order + 1 Gauss-Lobatto-Legendre points of [0, 1], exactly symmetric; 1/2 for order 0."""
    if order == 0:
        return (0.5,)
    inner = np.real(Legendre.basis(order).deriv().roots())
    points = np.concatenate([[0.0], (np.sort(inner) + 1) / 2, [1.0]])
    return tuple(float(p) for p in (points + 1 - points[::-1]) / 2)


@cache
def _barycentric(index: tuple[int, ...]) -> NDArray[np.float64]:
    """The node of a multi-index: mean of those of its faces, weighted by one-dimensional nodes."""
    if len(index) == 1:
        return np.ones(1)
    order = sum(index)
    node, total = np.zeros(len(index)), 0.0
    for i in range(len(index)):
        weight = lobatto(order)[order - index[i]]
        node += weight * np.insert(_barycentric(index[:i] + index[i + 1 :]), i, 0.0)
        total += weight
    return node / total


def multi_indices(order: int) -> list[tuple[int, int, int, int]]:
    """All (a, b, c, d) >= 0 with sum `order`: powers of the barycentric coordinates of the four vertices."""
    steps = range(order + 1)
    return [(order - i - j - k, k, j, i) for i in steps for j in steps for k in steps if i + j + k <= order]


def tetrahedron_nodes(order: int) -> NDArray[np.float64]:
    """(n, 3) nodes of degree `order`, n = (order + 1)(order + 2)(order + 3) / 6; those on a face or an edge depend on
    that alone, and edges carry Gauss-Lobatto points.

    Source: T. Isaac, Recursive, parameter-free, explicitly defined interpolation nodes for simplices, SIAM J. Sci.
    Comput. 42 (2020), A4046: Lebesgue constants as low as those of warp-and-blend nodes, without their parameter.
    """
    return np.array([_barycentric(index)[1:] for index in multi_indices(order)])


def _collapsed(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Coordinates (3, n) in the cube [-1, 1]^3 of points of the tetrahedron; any value where they are not unique."""
    r, s, t = 2 * points.T - 1
    top, side = -s - t, 1 - t
    a = np.where(np.abs(top) > 1e-14, 2 * (1 + r) / np.where(np.abs(top) > 1e-14, top, 1) - 1, -1.0)
    b = np.where(np.abs(side) > 1e-14, 2 * (1 + s) / np.where(np.abs(side) > 1e-14, side, 1) - 1, -1.0)
    return np.array([a, b, t])


def _jacobi(x: NDArray[np.float64], alpha: int, degree: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """P_degree^(alpha, 0)(x), normalised on [-1, 1] for the weight (1 - x)^alpha, and its derivative."""
    norm = np.sqrt((2 * degree + alpha + 1) / 2.0 ** (alpha + 1))
    jacobi = scipy.special.eval_jacobi
    slope = (degree + alpha + 1) / 2 * jacobi(degree - 1, alpha + 1, 1, x) if degree else np.zeros_like(x)
    return norm * jacobi(degree, alpha, 0, x), norm * slope


def orthonormal_basis(points: NDArray[np.float64], order: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Values (n, m) and gradients (3, n, m) at points (n, 3) of m polynomials of degree <= order, orthonormal on the
    tetrahedron. Source: Koornwinder (1975); Dubiner, J. Sci. Comput. 6 (1991)."""
    a, b, c = _collapsed(points)
    values, gradients = [], []
    for i, j, k, _ in multi_indices(order):
        # Jacobi polynomials of the three coordinates, and powers that make them polynomials of x, y, z
        (f, df), (g, dg), (h, dh) = _jacobi(a, 0, i), _jacobi(b, 2 * i + 1, j), _jacobi(c, 2 * (i + j) + 2, k)
        low, high = (1 - b) / 2, (1 - c) / 2
        scale = 2.0 ** (2 * i + j + 1.5) * 2**1.5
        power_b, power_c = low**i, high ** (i + j)
        less_b = low ** max(i - 1, 0)
        less_c = high ** max(i + j - 1, 0)
        values.append(scale * f * g * h * power_b * power_c)
        # derivatives along x, y, z by the chain rule, without negative powers
        along_a = df * g * h * less_b * less_c
        slope_b = f * h * less_c * (dg * power_b - (i / 2 * g * less_b if i else 0))
        slope_c = f * g * power_b * (dh * power_c - ((i + j) / 2 * h * less_c if i + j else 0))
        along_b = (1 + a) / 2 * along_a + slope_b
        along_c = (1 + a) / 2 * along_a + (1 + b) / 2 * slope_b + slope_c
        gradients.append(2 * scale * np.array([along_a, along_b, along_c]))
    return np.stack(values, axis=1), np.stack(gradients, axis=2)


@dataclass(frozen=True, eq=False)
class ReferenceTetrahedron:
    """Polynomials of degree `order` on the unit tetrahedron by their values at n nodes.

    Faces are opposite the vertices 0 = origin, 1, 2, 3 on the axes; m nodes lie on each. A field has covariant
    components e_i = E . (v_i - v_0); with c^k = eps_klm (sum D_l e_m + sum over faces OUTWARD_l lift s_m), s the
    numerical trace minus the own one, (curl E) . (v_i - v_0) = g_ik c^k / J. Source: J. Hesthaven and T.
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
        """(m, m) integrals of products of two functions over the unit triangle of area 1/2, for every face."""
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
        """(3, n, n) derivatives minus the own half of the centred flux on all faces."""
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
    if order not in range(1, 7):
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
