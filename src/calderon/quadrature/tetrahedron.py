"""Gauss rules on the reference tetrahedron, for any degree."""

import functools
from dataclasses import dataclass

import numpy as np
import scipy


@dataclass(frozen=True, eq=False)
class TetrahedronRule:
    """Quadrature on the tetrahedron (0,0,0), (1,0,0), (0,1,0), (0,0,1).

    degree: every polynomial of total degree up to this is integrated exactly. points (n, 3); weights (n,), sum 1/6,
    positive.
    """

    degree: int
    points: np.ndarray
    weights: np.ndarray


@functools.cache
def tetrahedron_rule(degree: int) -> TetrahedronRule:
    """The conical product of Gauss-Jacobi rules, (degree // 2 + 1)^3 points. ValueError for a negative degree.

    Source: A. H. Stroud, Approximate Calculation of Multiple Integrals (1971), section 2.4.
    """
    if degree < 0:
        raise ValueError(f"no tetrahedron rule of degree {degree}: choose 0 or more")
    count = degree // 2 + 1
    (u, a), (v, b), (w, c) = (_unit_rule(count, alpha) for alpha in (0, 1, 2))
    grid = np.stack(np.meshgrid(u, v, w, indexing="ij"), axis=-1).reshape(-1, 3)
    x, y, z = grid.T
    points = np.stack([x * (1 - y) * (1 - z), y * (1 - z), z], axis=1)
    return TetrahedronRule(degree, points, np.einsum("i,j,k->ijk", a, b, c).ravel())


def _unit_rule(count: int, alpha: int) -> tuple[np.ndarray, np.ndarray]:
    """Gauss rule on [0, 1] for the weight (1 - x)^alpha."""
    x, w = scipy.special.roots_jacobi(count, alpha, 0)
    return (1 + x) / 2, w / 2 ** (alpha + 1)
