"""Shape functions on the reference triangle (0,0), (1,0), (0,1): one element per polynomial degree.

Barycentric coordinates of a point (u, v): l_0 = 1 - u - v, l_1 = u, l_2 = v. Local functions of the quadratic element:
three vertices, then three edges, edge i opposite to vertex i.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_BARYCENTRIC_GRADIENTS = np.array([[-1.0, -1.0], [1.0, 0.0], [0.0, 1.0]])


def barycentric(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """(3, n) barycentric coordinates of reference points (n, 2)."""
    u, v = np.asarray(points, dtype=float).T
    return np.stack([1 - u - v, u, v])


@dataclass(frozen=True)
class Element:
    """Lagrange element of degree 0, 1 or 2."""

    degree: int

    @property
    def size(self) -> int:
        """Number of local functions."""
        return (1, 3, 6)[self.degree]

    @property
    def nodes(self) -> NDArray[np.float64]:
        """(size, 2) reference points at which the local functions are dual."""
        corners = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
        if self.degree == 0:
            return corners.mean(axis=0, keepdims=True)
        middles = (corners[[1, 2, 0]] + corners[[2, 0, 1]]) / 2
        return corners if self.degree == 1 else np.concatenate([corners, middles])

    def values(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """(size, n) values of the local functions at reference points (n, 2)."""
        l0, l1, l2 = bary = barycentric(points)
        if self.degree == 0:
            return np.ones((1, len(points)))
        if self.degree == 1:
            return bary
        return np.stack([*(bary * (2 * bary - 1)), 4 * l1 * l2, 4 * l2 * l0, 4 * l0 * l1])

    def gradients(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """(size, n, 2) derivatives by (u, v) at reference points (n, 2)."""
        bary, slope = barycentric(points), _BARYCENTRIC_GRADIENTS
        if self.degree == 0:
            return np.zeros((1, len(points), 2))
        if self.degree == 1:
            return np.repeat(slope[:, None], len(points), axis=1)
        vertex = (4 * bary - 1)[:, :, None] * slope[:, None]
        edge = [4 * (bary[j][:, None] * slope[k] + bary[k][:, None] * slope[j]) for j, k in ((1, 2), (2, 0), (0, 1))]
        return np.concatenate([vertex, np.stack(edge)])

    @property
    def monomials(self) -> NDArray[np.float64]:
        """(size, size): row a has the coefficients of local function a in 1, u, v, u^2, u v, v^2."""
        u, v = self.nodes.T
        table = np.stack([np.ones_like(u), u, v, u * u, u * v, v * v])[: self.size]
        return np.asarray(np.linalg.inv(table))

    def permuted(self, order: NDArray[np.integer]) -> NDArray[np.integer]:
        """(..., size): which original local function each local function becomes when vertex m is renamed order[...,
        m].
        """
        if self.degree == 0:
            return np.zeros((*order.shape[:-1], 1), dtype=order.dtype)
        return order if self.degree == 1 else np.concatenate([order, order + 3], axis=-1)
