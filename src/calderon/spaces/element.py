"""Shape functions on the reference triangle (0,0), (1,0), (0,1): Lagrange elements of any degree.

Barycentric coordinates of a point (u, v): l_0 = 1 - u - v, l_1 = u, l_2 = v. The function of the node with barycentric
coordinates (i, j, k) / p is R_i(l_0) R_j(l_1) R_k(l_2), R_n(l) = prod_{m < n} (p l - m) / (m + 1) (Silvester 1969). The
vertices come first, then the nodes of the edges, edge i opposite to vertex i and from vertex i + 1 to vertex i + 2,
then those inside.
"""

import functools
import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from calderon.validation import unmasked


def barycentric(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """(3, n) barycentric coordinates of reference points (n, 2)."""
    u, v = np.asarray(points, dtype=float).T
    return np.stack([1 - u - v, u, v])


def reference_points(points: ArrayLike) -> NDArray[np.float64]:
    """Points (n, 2) of the reference triangle; ValueError for another shape, TypeError for what is not real."""
    array = unmasked(points, "reference points")
    if array.dtype.kind not in "fiu":
        raise TypeError(f"reference points must be real numbers, got an array of {array.dtype}")
    if array.ndim != 2 or array.shape[1] != 2:
        raise ValueError(f"reference points need shape (n, 2), coordinates within the triangle, got {array.shape}")
    return array.astype(np.float64)


@dataclass(frozen=True)
class Element:
    """Lagrange element of some degree; that of degree 0 has one node, the centroid."""

    degree: int

    @property
    def size(self) -> int:
        """Number of local functions."""
        return (self.degree + 1) * (self.degree + 2) // 2

    @property
    def indices(self) -> NDArray[np.int64]:
        """(size, 3) barycentric coordinates of the nodes times the degree."""
        return _indices(self.degree)

    @property
    def nodes(self) -> NDArray[np.float64]:
        """(size, 2) reference points at which the local functions are dual."""
        if self.degree == 0:
            return np.full((1, 2), 1 / 3)
        return self.indices[:, 1:] / self.degree

    @property
    def on_edge(self) -> NDArray[np.bool_]:
        """(3, size) whether a node lies on the edge opposite to each vertex, whose values its function determines."""
        return (self.indices.T == 0) & (self.degree > 0)

    def values(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """(size, n) values of the local functions at reference points (n, 2)."""
        points = np.asarray(points, dtype=float)
        if self.degree == 1:
            return barycentric(points)
        out = np.empty((self.size, len(points)))
        # some points at a time: tables of rules have millions, whose factors take several times the memory of values
        for low in range(0, len(points), 4096):
            part = slice(low, low + 4096)
            factors = self._factors(barycentric(points[part]))
            np.multiply(factors[0] * factors[1], factors[2], out=out[:, part])
        return out

    def gradients(self, points: NDArray[np.float64]) -> NDArray[np.float64]:
        """(size, n, 2) derivatives by (u, v) at reference points (n, 2)."""
        bary = barycentric(points)
        factors, slopes = self._factors(bary), self._factors(bary, derivative=True)
        total = np.zeros((self.size, bary.shape[1], 2))
        for c, gradient in enumerate(np.array([[-1.0, -1.0], [1.0, 0.0], [0.0, 1.0]])):  # of l_c
            others = factors[(c + 1) % 3] * factors[(c + 2) % 3]
            total += (slopes[c] * others)[:, :, None] * gradient
        return total

    def _factors(self, bary: NDArray[np.float64], derivative: bool = False) -> NDArray[np.float64]:
        """(3, size, n) R_i(l_0), R_j(l_1), R_k(l_2), or their derivatives."""
        rows, slopes = [np.ones_like(bary)], [np.zeros_like(bary)]
        for m in range(self.degree):
            factor = (self.degree * bary - m) / (m + 1)
            slopes.append(slopes[m] * factor + rows[m] * (self.degree / (m + 1)))
            rows.append(rows[m] * factor)
        table = np.stack(slopes if derivative else rows)
        return np.asarray(table[self.indices, np.arange(3)]).swapaxes(0, 1)

    @property
    def monomials(self) -> NDArray[np.float64]:
        """(size, size): row a has the coefficients of local function a in 1, u, v, u^2, u v, v^2, ..."""
        u, v = self.nodes.T
        powers = [(n - m, m) for n in range(self.degree + 1) for m in range(n + 1)]
        return np.asarray(np.linalg.inv(np.stack([u**a * v**b for a, b in powers])))

    def permuted(self, order: NDArray[np.integer]) -> NDArray[np.integer]:
        """(..., size): which original local function each local function becomes when vertex m is renamed order[...,
        m].
        """
        if self.degree == 1:  # one for each vertex
            return order
        return _permutations(self.degree)[order[..., 0], order[..., 1]].astype(order.dtype, copy=False)


@functools.cache
def _indices(degree: int) -> NDArray[np.int64]:
    if degree == 0:
        return np.zeros((1, 3), np.int64)
    corners = degree * np.eye(3, dtype=np.int64)
    edges = [
        (corners[(i + 1) % 3] * (degree - n) + corners[(i + 2) % 3] * n) // degree
        for i in range(3)
        for n in range(1, degree)
    ]
    inside = [(i, j, degree - i - j) for i in range(1, degree) for j in range(1, degree - i)]
    return np.array([*corners, *edges, *inside])


@functools.cache
def _permutations(degree: int) -> NDArray[np.int64]:
    """(3, 3, size): `Element.permuted` for vertices 0 and 1 renamed to these two, by matching nodes."""
    indices = _indices(degree)
    table = np.zeros((3, 3, len(indices)), np.int64)
    for order in itertools.permutations(range(3)):
        renamed = np.empty_like(indices)
        renamed[:, list(order)] = indices
        table[order[0], order[1]] = (renamed[:, None] == indices).all(axis=2).argmax(axis=1)
    return table
